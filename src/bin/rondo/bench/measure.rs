//! One row: calls of the host and of Rondo in turns.

#![forbid(unsafe_code)]

use super::{
    batch::{Bench, Plan},
    cases::Case,
    report::Row,
    times::Times,
};
use crate::{
    Failure,
    mpi::{Call, Mpi, Op, Side},
};
use rondo::{algorithm::Algorithm, collective::Collective};
use std::time::Instant;

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
    if let (Collective::Exscan, Some(op)) = (call.collective, call.op) {
        row.local = Some(local(mpi, (call, op), row.calls, plan)?);
    }
    Ok(row)
}

/// Microseconds of a reduction of two of the call's vectors on a rank: of the slowest one, median over the batches.
fn local(mpi: &Mpi, (call, op): (&Call, Op), calls: usize, plan: &Plan) -> Result<f64, Failure> {
    let bytes = call.blocks.total() * call.datatype.extent;
    let (operand, mut result) = (vec![1; bytes], vec![2; bytes]);
    let mut times = Vec::new();
    for batch in 0..plan.warm_up + plan.batches {
        let start = Instant::now();
        for _ in 0..calls {
            mpi.reduce_local(op, &operand, &mut result)?;
        }
        if batch >= plan.warm_up {
            times.push(start.elapsed().as_secs_f64() * 1e6 / calls as f64);
        }
    }
    let mut slowest = [Times::of(&times).median];
    mpi.largest(&mut slowest)?;
    Ok(slowest[0])
}

/// The row of a case that was not measured yet, in elements of so many bytes.
pub fn unmeasured(case: &Case, element_bytes: usize) -> Row {
    let nothing = Times::of(&[0.0]);
    Row {
        collective: case.collective.name().into(),
        dist: case.dist.map(|dist| dist.name().into()),
        op: case.op.map(|op| op.name().into()),
        size: case.size,
        total: (case.blocks.total() * element_bytes) as u64,
        calls: 0,
        host: nothing,
        rondo: nothing,
        ratio: 0.0,
        root: None,
        local: None,
        by: String::new(),
        predicted: None,
    }
}
