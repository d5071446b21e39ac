//! Counters per (collective, algorithm, reason), and the report made of them.

#![forbid(unsafe_code)]

use crate::algorithm::Algorithm;
use crate::collective::Collective;
use crate::config::{Reproducible, Stats, StatsFormat};
use crate::decide::{Choice, Why};
use crate::files;
use crate::flow::Path;
use crate::learn::Saved;
use crate::network::Network;
use crate::report;
use parking_lot::Mutex;
use serde::Serialize;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Names of what carries calls out, in the order of their counters.
const IMPLEMENTATIONS: [&str; 1 + Algorithm::ALL.len()] = {
    let mut names = ["host"; 1 + Algorithm::ALL.len()];
    let mut i = 0;
    while i < Algorithm::ALL.len() {
        names[1 + i] = Algorithm::ALL[i].name();
        i += 1;
    }
    names
};

/// Place of a choice among the counters.
fn place(choice: Choice) -> (usize, Why) {
    match choice {
        Choice::Host(why) => (0, why),
        Choice::Rondo(method) => (1 + method.algorithm as usize, method.why),
    }
}

/// Name of what carries a choice out.
pub fn implementation(choice: Choice) -> &'static str {
    IMPLEMENTATIONS[place(choice).0]
}

struct Counter {
    calls: AtomicU64,
    bytes: AtomicU64,
    nanos: AtomicU64,
}

const COLUMNS: usize = IMPLEMENTATIONS.len() * Why::ALL.len();

static COUNTERS: [[Counter; COLUMNS]; Collective::COUNT] = [const {
    [const {
        Counter {
            calls: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
        }
    }; COLUMNS]
}; Collective::COUNT];

/// Calls whose saving is known, and nanoseconds that they saved on this rank, of each collective.
static SAVED: [(AtomicU64, AtomicI64); Collective::COUNT] =
    [const { (AtomicU64::new(0), AtomicI64::new(0)) }; Collective::COUNT];

/// Calls of reductions under each promise of their bits.
static PROMISED: [AtomicU64; Reproducible::NAMES.len()] =
    [const { AtomicU64::new(0) }; Reproducible::NAMES.len()];

/// What a communicator takes on this rank.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Bytes in this process.
    pub own: u64,
    /// Bytes that the ranks of its node share.
    pub shared: u64,
}

/// What communicators took, for each number of ranks and nodes.
static MEMORY: Mutex<Vec<Taken>> = Mutex::new(Vec::new());

/// Counts a communicator of so many ranks and nodes.
pub fn add_memory(ranks: u32, nodes: u32, memory: Memory) {
    let mut all = MEMORY.lock();
    let same = |taken: &&mut Taken| (taken.ranks, taken.nodes) == (ranks, nodes);
    match all.iter_mut().find(same) {
        Some(taken) => {
            taken.communicators += 1;
            taken.bytes = taken.bytes.max(memory.own);
            taken.shared_bytes = taken.shared_bytes.max(memory.shared);
        }
        None => all.push(Taken {
            ranks,
            nodes,
            communicators: 1,
            bytes: memory.own,
            shared_bytes: memory.shared,
        }),
    }
}

/// The window and the round trip on the communicator of the most nodes, and how many these are.
static PATH: Mutex<Option<(u32, Path)>> = Mutex::new(None);

/// This is known of a communicator of so many nodes.
pub fn note_path(nodes: u32, path: Path) {
    let mut known = PATH.lock();
    if known.is_none_or(|(others, _)| nodes >= others) {
        *known = Some((nodes, path));
    }
}

/// What is known of the communicator of the most nodes, if anything.
pub fn path() -> Option<Path> {
    PATH.lock().map(|(_, path)| path)
}

/// Counts a call of a reduction whose bits are promised.
pub fn count_promised(promise: Reproducible) {
    PROMISED[promise as usize].fetch_add(1, Relaxed);
}

/// Counts a call.
pub fn count(collective: Collective, choice: Choice, bytes: u64) {
    let (algorithm, why) = place(choice);
    let counter = &COUNTERS[collective as usize][algorithm * Why::ALL.len() + why as usize];
    counter.calls.fetch_add(1, Relaxed);
    if bytes != 0 {
        counter.bytes.fetch_add(bytes, Relaxed);
    }
}

/// Adds the time that a counted call took.
pub fn add_time(collective: Collective, choice: Choice, time: Duration) {
    let (algorithm, why) = place(choice);
    let counter = &COUNTERS[collective as usize][algorithm * Why::ALL.len() + why as usize];
    counter.nanos.fetch_add(time.as_nanos() as u64, Relaxed);
}

/// Adds what calls saved against the host's time.
pub fn add_saved(collective: Collective, saved: Saved) {
    let (calls, nanos) = &SAVED[collective as usize];
    calls.fetch_add(saved.calls, Relaxed);
    nanos.fetch_add(saved.nanos, Relaxed);
}

/// Calls on this rank so far; without an algorithm, those that Rondo carried out. `None` for a name
/// that is not known. Collectives go by either name, `bcast` or `MPI_Bcast`, and algorithms by any that they have.
pub fn calls(collective: &str, algorithm: Option<&str>) -> Option<u64> {
    let collective = Collective::named(collective)?;
    let wanted = match algorithm {
        None => 1..IMPLEMENTATIONS.len(),
        Some(name) => {
            let own = collective.family().algorithm(name);
            let of_another = || {
                let mut names = IMPLEMENTATIONS.iter();
                names.position(|a| a.eq_ignore_ascii_case(name))
            };
            let i = own.map(|algorithm| 1 + algorithm as usize);
            let i = i.or_else(of_another)?;
            i..i + 1
        }
    };
    let whys = Why::ALL.len();
    let counters = &COUNTERS[collective as usize][wanted.start * whys..wanted.end * whys];
    Some(counters.iter().map(|c| c.calls.load(Relaxed)).sum())
}

/// What is summed over ranks.
pub struct Sums {
    /// How many ranks.
    pub ranks: u32,
    /// Bytes and seconds of all counters, in a fixed order, and the calls and seconds that were saved in each
    /// collective.
    pub numbers: Vec<f64>,
    /// Bytes in a process that one communicator took, at the most of these ranks.
    pub most_memory: u64,
}

impl Sums {
    /// Those of this rank.
    pub fn of_this_rank() -> Sums {
        let all = COUNTERS.iter().flatten();
        let counters = all.flat_map(|c| {
            [
                c.bytes.load(Relaxed) as f64,
                c.nanos.load(Relaxed) as f64 / 1e9,
            ]
        });
        let saved = SAVED.iter().flat_map(|(calls, nanos)| {
            [calls.load(Relaxed) as f64, nanos.load(Relaxed) as f64 / 1e9]
        });
        Sums {
            ranks: 1,
            numbers: counters.chain(saved).collect(),
            most_memory: MEMORY
                .lock()
                .iter()
                .map(|taken| taken.bytes)
                .max()
                .unwrap_or(0),
        }
    }
}

/// The report of a job.
#[derive(Serialize)]
pub struct Report {
    /// Version of Rondo.
    pub version: &'static str,
    /// Version of the host library.
    pub host: String,
    /// Ranks of the job.
    pub ranks: u32,
    /// Ranks whose bytes and seconds are added up: all, or rank 0 alone where Rondo never saw a call
    /// on a communicator of all ranks.
    pub summed_ranks: u32,
    /// What ended the job before its time, if that is so: the counters are those of rank 0 until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// What the ranks agreed on when the job began, in words; nothing if it never did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// What rank 0 measured of the network, or was told.
    #[serde(skip_serializing_if = "Network::is_empty")]
    pub network: Network,
    /// How much a rank may have on its way between the most nodes that rank 0 knows of, and the round trip there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<Path>,
    /// One row for each (collective, algorithm, reason) that occurred.
    pub collectives: Vec<Row>,
    /// One row for each promise of the bits of reductions under which some were called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<Promised>,
    /// One row for each collective of which calls were measured by both.
    pub saved: Vec<Saving>,
    /// One row for each number of ranks and nodes of communicators.
    pub memory: Vec<Taken>,
    /// Bytes that a communicator took on any of the ranks, at the most; not known at an early end.
    #[serde(rename = "most_memory_bytes", skip_serializing_if = "Option::is_none")]
    pub most_memory: Option<u64>,
}

/// Memory of Rondo's for communicators of so many ranks on so many nodes.
#[derive(Clone, Serialize)]
pub struct Taken {
    /// Ranks.
    pub ranks: u32,
    /// Nodes.
    pub nodes: u32,
    /// How many there were on rank 0.
    pub communicators: u64,
    /// Bytes that one of them took on rank 0, at the most.
    pub bytes: u64,
    /// Bytes that the ranks of a node shared for one of them, at the most.
    pub shared_bytes: u64,
}

/// Reductions, scans included, under a promise of their bits.
#[derive(Serialize)]
pub struct Promised {
    /// The promise, as RONDO_REPRODUCIBLE has it.
    pub promise: &'static str,
    /// Calls on rank 0 that Rondo carried out, or left to the MPI library because of the promise.
    pub calls: u64,
}

/// What was saved in a collective.
#[derive(Serialize)]
pub struct Saving {
    /// Its name.
    pub collective: &'static str,
    /// Calls that Rondo carried out, of size classes in which the MPI library had some, too: the mean of the summed
    /// ranks.
    pub calls: u64,
    /// Seconds that they took less than as many calls of the MPI library's, in the mean of the summed ranks.
    pub seconds: f64,
}

/// What was saved in a collective, as a line.
pub fn saving(collective: &str, calls: u64, seconds: f64) -> String {
    let what = if seconds < 0.0 { "more" } else { "less" };
    let seconds = seconds.abs();
    format!(
        "{collective}: {calls} calls took {seconds:.6} s {what} per rank than the MPI library was measured to take"
    )
}

/// A row of the report.
#[derive(Serialize)]
pub struct Row {
    /// Name of the collective.
    pub collective: &'static str,
    /// What carried the calls out.
    pub algorithm: &'static str,
    /// Calls on rank 0.
    pub calls: u64,
    /// Bytes of the messages, summed over ranks: each call counts its message once per rank, and in a
    /// gather or scatter each rank's own block.
    pub bytes: u64,
    /// Seconds spent in the calls, summed over ranks.
    pub seconds: f64,
    /// Why.
    pub reason: &'static str,
}

/// The rows, from this rank's calls and the `sums` of some ranks.
fn rows(sums: &[f64]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut sums = sums.chunks_exact(2);
    for &collective in Collective::ALL {
        for (i, counter) in COUNTERS[collective as usize].iter().enumerate() {
            let sum = sums.next().unwrap_or(&[0.0, 0.0]);
            let calls = counter.calls.load(Relaxed);
            if calls == 0 && sum[0] == 0.0 && sum[1] == 0.0 {
                continue;
            }
            rows.push(Row {
                collective: collective.name(),
                algorithm: IMPLEMENTATIONS[i / Why::ALL.len()],
                calls,
                bytes: sum[0] as u64,
                seconds: sum[1],
                reason: Why::ALL[i % Why::ALL.len()].text(),
            });
        }
    }
    rows
}

/// How many reductions were called under which promise.
fn promises() -> Vec<Promised> {
    let all = Reproducible::NAMES.iter().zip(&PROMISED);
    let promises = all.map(|(&(promise, _), calls)| Promised {
        promise,
        calls: calls.load(Relaxed),
    });
    promises.filter(|promised| promised.calls > 0).collect()
}

/// What was saved, from the `sums` of so many ranks.
fn savings(sums: &[f64], summed_ranks: u32) -> Vec<Saving> {
    let saved = sums[sums.len() - 2 * Collective::COUNT..].chunks_exact(2);
    let all = Collective::ALL.iter().zip(saved);
    let savings = all.map(|(collective, of_all)| Saving {
        collective: collective.name(),
        calls: (of_all[0] / f64::from(summed_ranks)).round() as u64,
        seconds: of_all[1] / f64::from(summed_ranks),
    });
    savings.filter(|saving| saving.calls > 0).collect()
}

impl Report {
    /// The report of this rank, of so many, on what it knows and the `sums` of some ranks.
    pub fn new(host: String, ranks: u32, sums: &Sums) -> Report {
        Report {
            version: env!("CARGO_PKG_VERSION"),
            host,
            ranks,
            summed_ranks: sums.ranks,
            until: None,
            job: None,
            network: Network::NOTHING,
            in_flight: path(),
            collectives: rows(&sums.numbers),
            promises: promises(),
            saved: savings(&sums.numbers, sums.ranks),
            memory: MEMORY.lock().clone(),
            most_memory: (sums.ranks > 1).then_some(sums.most_memory),
        }
    }

    /// Writes it to where the options say; to the standard error if it cannot be written there.
    pub fn write(&self, to: &Stats) {
        let text = match to.format {
            StatsFormat::Json => self.json(),
            StatsFormat::Text | StatsFormat::Off => self.text(),
        };
        let Some(path) = &to.file else {
            return report::block(&text);
        };
        if let Err(error) = files::write(path, &text) {
            let line = format!("cannot write statistics to {}: {error}", path.display());
            report::line(0, &line);
            report::block(&text);
        }
    }

    /// One JSON object.
    pub fn json(&self) -> String {
        let text = serde_json::to_string(self).expect("names and numbers are always JSON");
        text + "\n"
    }

    /// A table for people.
    pub fn text(&self) -> String {
        let mut out = format!(
            "rondo {} on {}, {} ranks ({}calls of rank 0; bytes and seconds of {})\n",
            self.version,
            self.host,
            self.ranks,
            match &self.until {
                Some(end) => format!("until {end}; "),
                None => String::new(),
            },
            match self.summed_ranks {
                1 => "rank 0 too".to_owned(),
                n => format!("all {n} ranks"),
            }
        );
        let _ = writeln!(
            out,
            "{:<20} {:<13} {:>10} {:>16} {:>12}  reason",
            "collective", "algorithm", "calls", "bytes", "seconds"
        );
        for r in &self.collectives {
            let _ = writeln!(
                out,
                "{:<20} {:<13} {:>10} {:>16} {:>12.6}  {}",
                r.collective, r.algorithm, r.calls, r.bytes, r.seconds, r.reason
            );
        }
        if let Some(job) = &self.job {
            let _ = writeln!(out, "{job}");
        }
        if !self.network.is_empty() {
            let _ = writeln!(out, "network: {}", self.network.text());
        }
        if let Some(path) = &self.in_flight {
            let _ = writeln!(out, "in flight: {}", path.text());
        }
        for p in &self.promises {
            let _ = writeln!(
                out,
                "reductions under RONDO_REPRODUCIBLE={}: {} calls",
                p.promise, p.calls
            );
        }
        for m in self.memory.iter().filter(|m| m.ranks > 2) {
            let _ = writeln!(
                out,
                "memory: {} of {} ranks on {}: at most {} bytes on rank 0, and {} shared in a node, for each",
                counted(m.communicators, "communicator"),
                m.ranks,
                counted(m.nodes.into(), "node"),
                m.bytes,
                m.shared_bytes
            );
        }
        if let Some(bytes) = self.most_memory.filter(|bytes| *bytes > 0) {
            let _ = writeln!(
                out,
                "memory: at most {bytes} bytes on any rank, for one communicator"
            );
        }
        for s in &self.saved {
            let _ = writeln!(out, "{}", saving(s.collective, s.calls, s.seconds));
        }
        out
    }
}

/// So many of something.
fn counted(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}
