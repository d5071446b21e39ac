//! Rows: what is measured, and what comes of it.

#![forbid(unsafe_code)]

use super::{
    Args,
    cases::Case,
    contest::Contest,
    report::{Row, Times},
};
use crate::{
    Failure,
    mpi::{Call, Mpi, Side},
};
use rondo::algorithm::Algorithm;
use rondo::collective::Collective;

/// Measures a case, all ranks together.
pub fn measure(mpi: &Mpi, case: &Case, args: &Args) -> Result<Row, Failure> {
    let call = Call {
        collective: case.collective,
        blocks: &case.blocks,
        op: case.op,
    };
    let mut contest = Contest::new(mpi, &call, args.check);
    let sides = [Side::Host, Side::Rondo];
    for side in sides {
        contest.batch(side, 1, true)?;
    }
    let calls = contest.calibrate(&sides)?;
    contest.turns(&sides, calls, args.warm_up as usize)?;
    let before = counts(mpi, case.collective);
    let series = contest.turns(&sides, calls, args.batches as usize)?;
    let counted = counts(mpi, case.collective).into_iter().zip(before);
    let counted = counted.filter(|((_, after), (_, before))| after > before);
    let by: Vec<&str> = counted.map(|((name, _), _)| name).collect();
    let by = match &by[..] {
        // What needs no message at all is not counted.
        [] => "host".to_owned(),
        by => by.join("+"),
    };
    let (host, rondo) = (Times::of(&series[0]), Times::of(&series[1]));
    Ok(Row {
        collective: case.collective.name().into(),
        dist: case.dist.map(|dist| dist.name().into()),
        op: case.op.map(|op| op.name().into()),
        size: case.size,
        total: (case.blocks.total() * call.element_bytes()) as u64,
        calls,
        host,
        rondo,
        ratio: host.median / rondo.median,
        by,
    })
}

/// How many calls of a collective each algorithm and the MPI library have had on this rank.
fn counts(mpi: &Mpi, collective: Collective) -> Vec<(&'static str, u64)> {
    let names = Algorithm::ALL.iter().map(|algorithm| algorithm.name());
    let count = |name| (name, mpi.calls(collective, name));
    names.chain(["host"]).map(count).collect()
}
