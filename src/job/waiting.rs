//! Ranks that wait at the beginning of the job for others that have not come, and perhaps never will, because they lack
//! Rondo.

#![forbid(unsafe_code)]

use super::{end_early, record};
use crate::config;
use crate::host::{Comm, Failure, Host, Mpi};
use crate::records;
use crate::report;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// A rank while others have not come.
pub struct Waiting {
    rank: u32,
    p: u32,
    timeout_s: u32,
    name: &'static str,
    said: bool,
}

/// How long a rank waits before it says so: some programs lack Rondo in some of their ranks.
const SAY_SO: Duration = Duration::from_secs(10);

/// How often it looks, if more than that depends on it.
const SOON: Duration = Duration::from_millis(500);

/// Does `rondo check` know that this process waits?
static TOLD: AtomicBool = AtomicBool::new(false);

/// The others have come.
pub fn is_over() {
    if TOLD.swap(false, Relaxed) {
        record::waiting(false);
    }
}

impl Waiting {
    /// Rank `rank` of `p` of the world in the call of this name.
    pub fn new(rank: u32, p: u32, timeout_s: u32, name: &'static str) -> Waiting {
        // Enough ranks to have one in every program of the job, few enough to be read.
        let speaks = rank == 0 || rank.is_power_of_two() || rank + 1 == p;
        Waiting {
            rank,
            p,
            timeout_s,
            name,
            said: !speaks,
        }
    }

    /// How often it is to look around.
    pub fn interval(&self) -> Duration {
        match (self.timeout_s, self.said) {
            _ if records::wanted() => SOON,
            (0, true) => Duration::MAX,
            (0, false) => SAY_SO,
            _ => SOON,
        }
    }

    /// Nothing has come for so long.
    pub fn look(&mut self, host: &Host, mpi: &Mpi, time: Duration) {
        if records::wanted() && !TOLD.swap(true, Relaxed) {
            record::waiting(true);
        }
        if time >= SAY_SO && !std::mem::replace(&mut self.said, true) {
            let (name, p, seconds) = (self.name, self.p, time.as_secs());
            let programs = match config::programs_of_job() {
                Some(programs @ 2..) => format!(" This job has {programs} programs."),
                _ => String::new(),
            };
            let line = format!(
                "{name}: rank {} of {p} has waited {seconds} s for the others to begin the job. If they come, all is \
                 well. If a rank lacks Rondo, they never do: every rank of the job has to have librondo.so in \
                 LD_PRELOAD, or none ('rondo check' says which have it).{programs}",
                self.rank
            );
            report::line(host.world_rank(), &line);
        }
        let limit = Duration::from_secs(self.timeout_s.into());
        if self.timeout_s > 0 && time > limit {
            let why = "the others have not come; a rank may lack Rondo";
            let place = (self.rank, self.p);
            give_up(host, mpi, mpi.world(), (self.name, why), place, limit);
        }
    }
}

/// How often a rank that waits for others looks at the clock, if a time is set after which the job ends.
pub fn interval(timeout_s: u32) -> Duration {
    match timeout_s {
        0 => Duration::MAX,
        _ => SOON,
    }
}

/// Ends the job, because this rank has waited for others longer than it may.
pub fn give_up(
    host: &Host,
    mpi: &Mpi,
    comm: Comm,
    (name, why): (&str, &str),
    (rank, p): (u32, u32),
    limit: Duration,
) {
    let failure = Failure::Timeout(limit, None);
    let text = failure.text(mpi);
    let line = format!("{name} failed on rank {rank} of {p}: {text}; {why}; aborting the job");
    end_early(&format!("{name} failed"));
    report::fatal(host.world_rank(), &line);
    mpi.abort(comm, failure.code());
}
