//! Rows: who is measured, and what comes of it.

#![forbid(unsafe_code)]

use super::{
    Args,
    cases::Case,
    contest::Contest,
    report::{Row, Times},
};
use crate::{
    Failure,
    mpi::{Call, Comm, Mpi, Side},
};
use rondo::algorithm::Algorithm;
use rondo::collective::Collective;

/// What `--algorithm` takes for all.
const ALL: &str = "all";

/// Has one of the collectives an algorithm of each of these names? What none has would only be missing in the table.
pub fn check_names(names: &[String], collectives: &[Collective]) -> Result<(), Failure> {
    let has = |name: &String| {
        let mut all = collectives.iter();
        name == ALL || all.any(|it| it.family().algorithm(name).is_some())
    };
    let Some(name) = names.iter().find(|name| !has(name)) else {
        return Ok(());
    };
    let all: Vec<&str> = collectives.iter().map(|it| it.name()).collect();
    Err(Failure::Usage(format!(
        "{name} is no algorithm of {}: 'rondo algorithms' lists those of each collective",
        all.join(", ")
    )))
}

/// The algorithms of these names, or all, each with a communicator on which it has all calls. All ranks together.
pub fn contenders<'a>(
    mpi: &'a Mpi,
    collective: Collective,
    names: &[String],
) -> Result<Vec<(&'static str, Comm<'a>)>, Failure> {
    let is = |name: &str, algorithm| collective.family().algorithm(name) == Some(algorithm);
    let mut all = Vec::new();
    for &algorithm in collective.algorithms() {
        if names.iter().any(|name| name == ALL || is(name, algorithm)) {
            let comm = mpi.by_algorithm(collective, algorithm.name(), 0)?;
            all.push((algorithm.name(), comm));
        }
    }
    Ok(all)
}

/// Measures a case, all ranks together: a row for Rondo by its own choice, or for each contender that carries the call
/// out, in each of which the MPI library has the same times.
pub fn measure(
    mpi: &Mpi,
    case: &Case,
    args: &Args,
    contenders: &[(&'static str, Comm)],
) -> Result<Vec<Row>, Failure> {
    let call = Call {
        collective: case.collective,
        blocks: &case.blocks,
        op: case.op,
        root: args.root,
    };
    let mut contest = Contest::new(mpi, &call, args.check);
    contest.batch(Side::Host, 1, true)?;
    let (mut fit, mut sides) = (Vec::new(), vec![Side::Host]);
    for (name, comm) in contenders {
        let side = Side::Under(comm);
        if contest.seconds_of(name, side)?.is_some() {
            fit.push(*name);
            sides.push(side);
        }
    }
    if contenders.is_empty() {
        contest.batch(Side::Rondo, 1, true)?;
        sides.push(Side::Rondo);
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
    let host = Times::of(&series[0].times);
    let rows = series[1..].iter().enumerate().map(|(i, series_of)| {
        let rondo = Times::of(&series_of.times);
        let roots = [&series[0], series_of].map(|series| Times::of(&series.roots).median);
        Row {
            collective: case.collective.name().into(),
            dist: case.dist.map(|dist| dist.name().into()),
            op: case.op.map(|op| op.name().into()),
            size: case.size,
            total: (case.blocks.total() * call.element_bytes()) as u64,
            calls,
            host,
            rondo,
            ratio: host.median / rondo.median,
            root: case.collective.family().has_root().then_some(roots),
            by: fit.get(i).map_or(by.clone(), |name| (*name).to_owned()),
        }
    });
    Ok(rows.collect())
}

/// How many calls of a collective each algorithm and the MPI library have had on this rank.
fn counts(mpi: &Mpi, collective: Collective) -> Vec<(&'static str, u64)> {
    let names = Algorithm::ALL.iter().map(|algorithm| algorithm.name());
    let count = |name| (name, mpi.calls(collective, name));
    names.chain(["host"]).map(count).collect()
}
