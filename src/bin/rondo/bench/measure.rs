//! One row: calls of the host and of Rondo in turns.

#![forbid(unsafe_code)]

use super::{
    batch::{Bench, Plan},
    report::Row,
    times::Times,
};
use crate::{
    Failure,
    mpi::{Call, Mpi, Side},
};
use rondo::algorithm::Algorithm;

const SIDES: [Side; 2] = [Side::Host, Side::Rondo];

/// Measures a call. All ranks do so together.
pub fn measure(mpi: &Mpi, call: &Call, plan: &Plan, mut row: Row) -> Result<Row, Failure> {
    let mut bench = Bench::new(mpi, call);
    for side in SIDES {
        bench.batch(side, 1, true)?;
    }
    row.calls = bench.calibrate(&SIDES)?;
    let algorithms = || {
        let names = Algorithm::ALL.iter().map(|algorithm| algorithm.name());
        names.chain(["host"])
    };
    let count = || algorithms().map(|name| mpi.calls(call.collective, name));
    let mut before = Vec::new();
    let series = bench.turns(&SIDES, row.calls, plan, || before = count().collect())?;
    let by = algorithms().zip(count().zip(before));
    let by: Vec<&str> = by
        .filter(|(_, (after, before))| after > before)
        .map(|(name, _)| name)
        .collect();
    // What needs no message at all is not counted.
    row.by = if by.is_empty() {
        "host".into()
    } else {
        by.join("+")
    };
    [row.host, row.rondo] = [0, 1].map(|which| Times::of(&series[which].times));
    row.ratio = row.host.median / row.rondo.median;
    row.root = call
        .collective
        .family()
        .has_root()
        .then(|| [0, 1].map(|which| Times::of(&series[which].roots).median));
    Ok(row)
}
