//! Every algorithm of a collective and the MPI library, in turns in one run.

#![forbid(unsafe_code)]

use super::{
    batch::{Bench, Plan},
    report::Row,
    times::Times,
};
use crate::{
    Failure,
    mpi::{Call, Comm, Mpi, Side},
};
use rondo::{algorithm::Algorithm, collective::Collective};

/// Algorithms of a collective, each with a communicator on which it has all calls.
pub struct Algorithms<'a> {
    mpi: &'a Mpi,
    collective: Collective,
    all: Vec<(Algorithm, Comm<'a>)>,
}

impl<'a> Algorithms<'a> {
    /// Those of these names, or all. All ranks together.
    pub fn new(
        mpi: &'a Mpi,
        collective: Collective,
        names: &[String],
    ) -> Result<Algorithms<'a>, Failure> {
        let is = |name: &str, algorithm| collective.family().algorithm(name) == Some(algorithm);
        let of = collective.algorithms().iter();
        let of = of.filter(|&&algorithm| {
            let mut names = names.iter();
            names.any(|name| name == ALL || is(name, algorithm))
        });
        let with_comm = |&algorithm: &Algorithm| {
            let comm = mpi.by_algorithm(collective, algorithm.name(), 0)?;
            Ok((algorithm, comm))
        };
        Ok(Algorithms {
            mpi,
            collective,
            all: of.map(with_comm).collect::<Result<_, Failure>>()?,
        })
    }

    pub fn is_of(&self, collective: Collective) -> bool {
        self.collective == collective
    }

    /// Measures a call: a row for each algorithm that carries it out, in each of which the MPI library has the same
    /// times. What does not fit the call has no row.
    pub fn measure(&self, call: &Call, plan: &Plan, row: &Row) -> Result<Vec<Row>, Failure> {
        let mut bench = Bench::new(self.mpi, call);
        bench.batch(Side::Host, 1, true)?;
        let (mut fit, mut sides) = (Vec::new(), vec![Side::Host]);
        for (algorithm, comm) in &self.all {
            let side = Side::Under(comm);
            if bench.is_carried_out(algorithm.name(), side)? {
                fit.push(algorithm.name());
                sides.push(side);
            }
        }
        let calls = bench.calibrate(&sides)?;
        let series = bench.turns(&sides, calls, plan, || ())?;
        let host = Times::of(&series[0].times);
        let has_root = self.collective.family().has_root();
        let root = |which: usize| Times::of(&series[which].roots).median;
        let rows = fit.into_iter().zip(1..).map(|(name, which)| {
            let rondo = Times::of(&series[which].times);
            Row {
                calls,
                host,
                rondo,
                ratio: host.median / rondo.median,
                root: has_root.then(|| [root(0), root(which)]),
                by: name.into(),
                ..row.clone()
            }
        });
        Ok(rows.collect())
    }
}

/// What `--algorithm` takes for all.
pub const ALL: &str = "all";

/// A name that `--algorithm` takes.
pub fn name(text: &str) -> Result<String, String> {
    let is_of = |collective: &Collective| collective.family().algorithm(text).is_some();
    match text == ALL || Collective::ALL.iter().any(is_of) {
        true => Ok(text.into()),
        false => Err("take all, or names that 'rondo algorithms' lists".into()),
    }
}

/// Has one of the collectives an algorithm of each of these names? What none has would only be missing in the table.
pub fn check(names: &[String], collectives: &[Collective]) -> Result<(), Failure> {
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
