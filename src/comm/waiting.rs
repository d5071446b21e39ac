//! Ranks that wait in the handshake for others that have not come, and perhaps never will, because they lack Rondo.

#![forbid(unsafe_code)]

use super::{State, end_early, record};
use crate::collective::Collective;
use crate::config;
use crate::host::{self, Code, Comm, Failure, Host, Mpi};
use crate::records;
use crate::report;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// A rank in the handshake, while others have not come.
pub struct Waiting {
    rank: u32,
    p: u32,
    timeout_s: u32,
    collective: Collective,
    said: bool,
}

/// How long a rank waits in its first handshake before it says so: some programs lack Rondo in some of their ranks.
const SAY_SO: Duration = Duration::from_secs(10);

/// How often it looks, if more than that depends on it.
const SOON: Duration = Duration::from_millis(500);

/// Has this process had its first handshake?
static SHOOK_HANDS: AtomicBool = AtomicBool::new(false);

/// Does `rondo check` know that this process waits in a handshake?
static TOLD: AtomicBool = AtomicBool::new(false);

/// It has, and does not wait any more.
pub fn shook_hands() {
    SHOOK_HANDS.store(true, Relaxed);
    if TOLD.swap(false, Relaxed) {
        record::waiting(false);
    }
}

impl Waiting {
    /// Rank `rank` of `p` in its first call of a collective there.
    pub fn new(rank: u32, p: u32, timeout_s: u32, collective: Collective) -> Waiting {
        // Enough ranks to have one in every program of the job, few enough to be read.
        let speaks = rank == 0 || rank.is_power_of_two() || rank + 1 == p;
        let speaks = speaks && !SHOOK_HANDS.load(Relaxed);
        Waiting {
            rank,
            p,
            timeout_s,
            collective,
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
    pub fn look(&mut self, host: &Host, mpi: &Mpi, comm: Comm, time: Duration) {
        if records::wanted() && !TOLD.swap(true, Relaxed) {
            record::waiting(true);
        }
        if time >= SAY_SO && !std::mem::replace(&mut self.said, true) {
            let (name, p, seconds) = (self.collective.mpi_name(), self.p, time.as_secs());
            let programs = match config::programs_of_job() {
                Some(programs @ 2..) => format!(" This job has {programs} programs."),
                _ => String::new(),
            };
            let line = format!(
                "{name}: rank {} of a communicator of {p} ranks has waited {seconds} s for the first collective of the \
                 others. If they come, all is well. If a rank lacks Rondo, they never do: every rank of the job has to \
                 have librondo.so in LD_PRELOAD, or none.{programs}",
                self.rank
            );
            report::line(host.world_rank(), &line);
        }
        let limit = Duration::from_secs(self.timeout_s.into());
        if self.timeout_s > 0 && time > limit {
            let why = "the first collective of the others has not come; a rank may lack Rondo";
            give_up(
                host,
                mpi,
                comm,
                (self.collective.mpi_name(), why),
                (self.rank, self.p),
                limit,
            );
        }
    }
}

impl State {
    /// Element-wise maximum of `numbers` over all ranks of `comm`, which are this communicator's, in their place.
    /// It is part of the collective under way, so it takes no longer than `RONDO_TIMEOUT_S` either. Collective.
    pub fn max(&self, mpi: &Mpi, comm: Comm, numbers: &mut [i64]) -> Result<(), Code> {
        let limit = Duration::from_secs(self.config.timeout_s.into());
        let interval = match limit.is_zero() {
            true => Duration::MAX,
            false => SOON,
        };
        let (name, place) = (report::under_way(), (self.rank, self.facts.p));
        mpi.max_in_time(comm, numbers, interval, move |time| {
            let host = host::host();
            if time > limit
                && let Ok(mpi) = host.mpi()
            {
                let why = "the ranks were about to agree";
                give_up(host, mpi, comm, (name, why), place, limit);
            }
        })
    }
}

/// Ends the job, because this rank has waited for others longer than it may.
fn give_up(
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
