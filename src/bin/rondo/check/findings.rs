//! From what is known of a job to what is said of it.

#![forbid(unsafe_code)]

mod machine;
mod reach;

use super::{
    job::End,
    ranks::{Ranks, Reach},
};
use crate::program::Program;
use machine::{gpus, memory, nodes};
use reach::{build, calls, reach};
use rondo::decide::Why;
use rondo::records::{Concern, Kind, Warning};
use serde::Serialize;
use serde_json::Value;
use std::{collections::BTreeSet, ffi::OsString, path::PathBuf};

/// All that is known of a job.
pub struct Evidence {
    /// How it ended.
    pub end: End,
    /// What its ranks wrote.
    pub ranks: Ranks,
    /// What rank 0 counted, if it came to that.
    pub statistics: Option<Value>,
    /// The programs in the command.
    pub programs: Vec<Program>,
    /// The library that was to be preloaded.
    pub library: PathBuf,
    /// A word for the launcher that may have kept the library out.
    pub against: Option<OsString>,
}

/// Something that was looked at.
#[derive(Serialize)]
pub struct Finding {
    /// A word for scripts.
    pub kind: Kind,
    /// What is the case.
    pub what: String,
    /// What to do about it, if it is a problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

fn fine(kind: Kind, what: impl Into<String>) -> Finding {
    let what = what.into();
    let advice = None;
    Finding { kind, what, advice }
}

fn problem(kind: Kind, what: impl Into<String>, advice: impl Into<String>) -> Finding {
    Finding {
        advice: Some(advice.into()),
        ..fine(kind, what)
    }
}

/// How many calls of rank 0 were left to the MPI library for this reason, as it counted them.
fn left(evidence: &Evidence, why: Why) -> u64 {
    let statistics = evidence.statistics.as_ref();
    let rows = statistics.and_then(|all| all["collectives"].as_array());
    let left = rows.into_iter().flatten();
    let left = left.filter(|row| row["reason"] == why.text());
    left.filter_map(|row| row["calls"].as_u64()).sum()
}

/// All findings.
pub fn all(evidence: &Evidence) -> Vec<Finding> {
    let mut all = vec![];
    all.extend(reach(evidence));
    let called = evidence.ranks.callers().next().is_some();
    let build = if called { build(evidence) } else { vec![] };
    // A library that cannot work there passes every call on, and looks at nothing.
    let passes = [Kind::DoesNotFit, Kind::UnknownMpi, Kind::Outlives];
    let fits = build.iter().all(|it| !passes.contains(&it.kind));
    let calls = calls(evidence).into_iter();
    all.extend(calls.filter(|it| fits || it.advice.is_some()));
    all.extend(build);
    if called {
        all.extend(switches(evidence));
    }
    if called && fits {
        all.extend(memory(evidence));
        all.extend(counts(evidence));
        all.extend(gpus(evidence));
        all.extend(nodes(evidence));
    }
    // What else is to be said of the end, if no rank began?
    if all.iter().all(|it| it.kind != Kind::NotStarted) {
        all.extend(end(evidence));
    }
    all
}

/// Is something switched off, or misspelt, or are rules ignored?
fn switches(evidence: &Evidence) -> Vec<Finding> {
    let mut found = vec![];
    if evidence
        .ranks
        .callers()
        .any(|(_, _, called)| !called.enabled)
    {
        found.push(problem(
            Kind::SwitchedOff,
            "RONDO=off leaves every call to the MPI library",
            "unset RONDO",
        ));
    }
    let callers = evidence.ranks.callers();
    let warnings: BTreeSet<&Warning> = callers
        .flat_map(|(_, _, called)| &called.warnings)
        .collect();
    for Warning { text, kind } in warnings {
        let advice = match kind {
            Concern::RulesIgnored => "mend the file, or name another one, or unset RONDO_RULES",
            Concern::OptionsDiffer => {
                "something changes them on some ranks, though 'rondo check' hands them to all: a script on the way, \
                 what a shell reads at its start, or options for one of several programs"
            }
            Concern::Option => "'rondo info' lists all options and their values",
        };
        found.push(problem(Kind::Option, text, advice));
    }
    found
}

/// Did rank 0 write what it counted? Where it lacks the library, or called nothing, it has counted nothing.
fn counts(evidence: &Evidence) -> Option<Finding> {
    let counted = evidence.ranks.reach(0) == Reach::Calls;
    if !counted || evidence.statistics.is_some() || evidence.end != End::Status(0) {
        return None;
    }
    let what = "rank 0 wrote no statistics, so that nobody knows who carried out which calls";
    let advice = "let rank 0 call MPI_Finalize, where they are written, and see the folder of --folder, and leave \
                  RONDO_STATS to 'rondo check'";
    Some(problem(Kind::NoStatistics, what, advice))
}

/// How did the job end?
fn end(evidence: &Evidence) -> Vec<Finding> {
    let without = "try it with RONDO=off; if it ends well then, 'rondo run --trace' shows what Rondo did last";
    vec![match evidence.end {
        End::Status(0) => fine(Kind::End, "the job ended well"),
        End::Status(status) => {
            let what = format!("the job ended with status {status}");
            problem(Kind::JobFailed, what, without)
        }
        End::Signal(signal) => {
            let what = format!("the launcher was ended by signal {signal}");
            problem(Kind::JobFailed, what, without)
        }
        End::Limit(limit) => problem(
            Kind::JobHung,
            format!(
                "the job had not ended after {} s, and was ended",
                limit.as_secs()
            ),
            format!("take a smaller problem, or a longer --limit; if it hangs, {without}"),
        ),
        End::Waiting => problem(
            Kind::JobHung,
            "ranks waited for ranks without the library, and the job was ended",
            "all ranks need the library, or none: see above",
        ),
    }]
}
