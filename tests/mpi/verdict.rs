//! Whether a run did what its row of the list says.

use crate::crashes::CRASHES;
use crate::list::{Expect, Same, Says, Statistic, Test};
use crate::mistaken::MISTAKEN;
use crate::process::Outcome;
use serde::Deserialize;
use std::path::Path;

/// Prefix of every line that Rondo writes for its user.
const MESSAGE: &str = "rondo: ";

/// Beginning of the report of statistics, in its first line: "rondo 0.2.0 on Open MPI v4.1.4, 8 ranks".
const REPORT: &str = "rondo ";

/// Checks exit status and output.
pub fn ending(test: &Test, outcome: &Outcome, ranks: u32, limit: u64) -> Result<(), String> {
    if test.expect == Expect::Outlives {
        // The launcher has its own view of a job that lost a process, and sometimes does not end.
        return passed(test, outcome);
    }
    let Some(status) = outcome.status else {
        return Err(format!("not finished within {limit} s on {ranks} ranks"));
    };
    match test.expect {
        Expect::Pass => {
            let is_mistaken = status == 1 && outcome.stderr.contains(MISTAKEN);
            ensure(status == 0 || is_mistaken, format!("status {status}"))?;
            passed(test, outcome) // said behind MPI_Finalize
        }
        Expect::Outlives => unreachable!("judged above"),
        Expect::Silent => {
            let quiet = outcome.stdout.is_empty() && outcome.stderr.is_empty();
            ensure(
                status == 0 && quiet,
                format!("status {status}, or some output"),
            )
        }
        Expect::Abort | Expect::Refused => {
            ensure(
                is_abort(outcome),
                format!("not an abort, or a crash, status {status}"),
            )?;
            ensure(
                !outcome.stdout.contains("SILENT"),
                "nobody was told of the error",
            )?;
            let named = test.expect == Expect::Abort || names_collective(test, outcome);
            ensure(named, format!("{} is not named", test.names()))
        }
    }
}

fn passed(test: &Test, outcome: &Outcome) -> Result<(), String> {
    let verdict = format!("PASS {}", test.program);
    let last = outcome
        .stdout
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty());
    ensure(
        last == Some(&verdict),
        format!("the last line is not \"{verdict}\""),
    )?;
    // On a busy machine, a rank may come late to the first collective.
    let is_unasked = |line: &&str| line.contains(MESSAGE) && !line.contains("all is well");
    let message = outcome.stderr.lines().find(is_unasked);
    ensure(
        test.messages || !test.says.is_empty() || message.is_none(),
        "Rondo wrote a message",
    )
}

/// What MPICH's launcher says if it fails itself while ranks abort at the same time, once in thousands of runs. Then it
/// may leave a rank that nobody tells that the job has ended.
const LOST: &str = "launcher returned error waiting for completion";

/// Did nothing of the run stay behind, but a rank that the launcher lost?
pub fn nothing_left(outcome: &Outcome) -> Result<(), String> {
    let lost = outcome.stderr.contains(LOST);
    let left = outcome.left.iter();
    let left: Vec<&str> = left
        .filter(|what| !(lost && what.starts_with("process ")))
        .map(String::as_str)
        .collect();
    ensure(left.is_empty(), format!("left behind: {}", left.join(", ")))
}

/// Are the texts in Rondo's messages, as often as they are to be?
pub fn said(texts: &[Says], outcome: &Outcome) -> Result<(), String> {
    let ours = |line: &&str| line.contains(MESSAGE) || line.starts_with(REPORT);
    let messages = || outcome.stderr.lines().filter(ours);
    for Says { text, times } in texts {
        let lines = messages().filter(|line| line.contains(text)).count();
        let right = times.map_or(lines > 0, |times| lines == times);
        let wanted = times.map_or("at least one".to_owned(), |times| times.to_string());
        ensure(
            right,
            format!("{lines} messages with \"{text}\", not {wanted}"),
        )?;
    }
    Ok(())
}

/// Did the job end itself, other than by a crash and other than in success?
pub fn is_abort(outcome: &Outcome) -> bool {
    let said = |text: &str| outcome.stdout.contains(text) || outcome.stderr.contains(text);
    let passed = outcome.stdout.lines().any(|line| line.starts_with("PASS "));
    outcome.status.is_some_and(|s| s != 0) && !CRASHES.iter().any(|crash| said(crash)) && !passed
}

/// Does the output say which collective went wrong?
pub fn names_collective(test: &Test, outcome: &Outcome) -> bool {
    outcome.stderr.contains(test.names()) || outcome.stdout.contains(test.names())
}

/// The status of a job of MPICH whose launcher killed a rank that was still aborting. Its bare run ends so once in
/// forty times, and otherwise with the status that the ranks gave: both say that the job aborted.
const KILLED: i32 = 9;

/// What the bare run showed, for the modes that follow it.
#[derive(Default)]
pub struct Bare {
    seen: Option<(Option<i32>, String)>,
}

impl Bare {
    /// Remembers the bare run, and compares the others with it.
    pub fn compare(&mut self, same: Option<Same>, bare: bool, now: &Outcome) -> Result<(), String> {
        let Some(same) = same else { return Ok(()) };
        if bare {
            self.seen = Some((now.status, now.stdout.clone()));
            return Ok(());
        }
        let (status, stdout) = self
            .seen
            .as_ref()
            .ok_or("there is no bare run to compare with")?;
        match same {
            Same::Status => ensure(
                *status == now.status || [*status, now.status].contains(&Some(KILLED)),
                format!("status {:?}, where the bare run has {status:?}", now.status),
            ),
            Same::Output => {
                let pairs = stdout.lines().zip(now.stdout.lines());
                let differ = pairs.into_iter().find(|(bare, ours)| bare != ours);
                let lines = (stdout.lines().count(), now.stdout.lines().count());
                ensure(
                    differ.is_none() && lines.0 == lines.1,
                    format!("not the bare run's output: {differ:?}, {lines:?} lines"),
                )
            }
        }
    }
}

/// The parts of the statistics file that are checked. The others must be there too.
#[derive(Deserialize)]
struct File {
    version: String,
    host: String,
    ranks: u32,
    collectives: Vec<Row>,
    #[serde(rename = "saved")]
    _saved: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Row {
    collective: String,
    algorithm: String,
    calls: u64,
    bytes: u64,
    seconds: f64,
    reason: String,
}

/// Calls that Rondo counted.
pub struct Ran(Row);

impl Ran {
    pub fn is(&self, collective: &str, algorithm: &str) -> bool {
        self.0.calls > 0 && self.0.collective == collective && self.0.algorithm == algorithm
    }
}

/// What the statistics file of a run says.
pub fn ran(file: &Path) -> Result<Vec<Ran>, String> {
    Ok(read(file)?.1.collectives.into_iter().map(Ran).collect())
}

/// The statistics file of a run, and its text.
fn read(file: &Path) -> Result<(String, File), String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let stats = serde_json::from_str(&text).map_err(|e| format!("{e} in {text}"))?;
    Ok((text, stats))
}

/// Checks the statistics file of a run: each named collective and algorithm has its calls and bytes, for the reason
/// that is named or over all reasons together, and no other has any.
pub fn statistics(want: &[Statistic], file: &Path, ranks: u32) -> Result<(), String> {
    let (text, stats) = read(file)?;
    let check = |stats: File| {
        ensure(
            stats.ranks == ranks,
            format!("\"ranks\" is {}", stats.ranks),
        )?;
        ensure(
            !stats.version.is_empty() && !stats.host.is_empty(),
            "no version, or no host",
        )?;
        for row in &stats.collectives {
            ensure(!row.reason.is_empty(), "a row without its reason")?;
            ensure(
                row.seconds > 0.0 && row.seconds.is_finite(),
                "a row without its time",
            )?;
            let known = want.iter().any(|w| is(row, w)) || is_by_the_way(row, want);
            let (collective, algorithm, reason) = (&row.collective, &row.algorithm, &row.reason);
            let unexpected = format!("unexpected: {collective} by {algorithm} ({reason})");
            ensure(known, unexpected)?;
        }
        want.iter()
            .try_for_each(|w| has(&stats.collectives, w, ranks))
    };
    check(stats).map_err(|why| format!("{why} in {text}"))
}

/// Programs agree on their verdict by a reduction, and wait for each other, where nothing is said of such calls.
fn is_by_the_way(row: &Row, want: &[Statistic]) -> bool {
    let collective = &row.collective;
    let is_said = want.iter().any(|w| w.collective == *collective);
    let agrees = ["allreduce", "barrier"].contains(&collective.as_str());
    agrees && row.algorithm == "host" && !is_said
}

fn is(row: &Row, want: &Statistic) -> bool {
    let reason = want.reason.as_ref().unwrap_or(&row.reason);
    (&row.collective, &row.algorithm, &row.reason) == (&want.collective, &want.algorithm, reason)
}

fn has(rows: &[Row], want: &Statistic, ranks: u32) -> Result<(), String> {
    let rows = rows.iter().filter(|row| is(row, want));
    let (calls, bytes) = rows.fold((0, 0), |sum, row| (sum.0 + row.calls, sum.1 + row.bytes));
    let wanted = want
        .bytes_per_rank
        .map_or(bytes, |each| each * u64::from(ranks));
    ensure(
        (calls, bytes) == (want.calls, wanted),
        format!(
            "{} by {}: {calls} calls and {bytes} bytes, not {} and {wanted}",
            want.collective, want.algorithm, want.calls
        ),
    )
}

fn ensure(holds: bool, otherwise: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}
