//! Ranks that wait for others to agree: perhaps these never come, because they lack Rondo.

#![forbid(unsafe_code)]

use super::abort;
use crate::config;
use crate::host::{self, Failure, Host};
use crate::records;
use crate::report;
use std::time::Duration;

/// A rank while others have not come.
#[derive(Clone, Copy)]
pub struct Waiting {
    /// Its rank among those that are to agree.
    pub rank: u32,
    /// How many ranks there are.
    pub p: u32,
    /// The call under way.
    pub name: &'static str,
    /// See `RONDO_TIMEOUT_S`.
    pub timeout_s: u32,
}

/// How long a rank waits for the job to begin before it says so: some programs lack Rondo in some of their ranks.
const SAY_SO: Duration = Duration::from_secs(10);

/// How often it looks, if more than that depends on it.
const SOON: Duration = Duration::from_millis(500);

impl Waiting {
    /// How often it is to look at the clock: [`Waiting::look`].
    pub fn interval(&self) -> Duration {
        match self.timeout_s {
            0 => Duration::MAX,
            _ => SOON,
        }
    }

    /// Ends the job if this rank has waited longer than it may.
    pub fn look(&self, time: Duration) {
        let limit = Duration::from_secs(self.timeout_s.into());
        if self.timeout_s > 0
            && time > limit
            && let Ok(mpi) = host::host().mpi()
        {
            let failure = Failure::Timeout(limit, None);
            let (name, rank, p, text) = (self.name, self.rank, self.p, failure.text(mpi));
            let line = format!(
                "{name} failed on rank {rank} of {p}: {text}; the ranks were about to agree, and one may lack Rondo"
            );
            abort(name, &line, failure.code());
        }
    }

    /// For the beginning of the job, where a rank also says that it waits: how often it looks, and what it does then.
    pub fn at_the_beginning(self, host: &'static Host) -> (Duration, impl FnMut(Duration) + Send) {
        // Enough ranks to have one in every program of the job, few enough to be read.
        let speaks = self.rank == 0 || self.rank.is_power_of_two() || self.rank + 1 == self.p;
        let interval = match speaks {
            _ if records::wanted() => SOON,
            true => self.interval().min(SAY_SO),
            false => self.interval(),
        };
        let (mut told, mut said) = (false, !speaks);
        let look = move |time: Duration| {
            if !std::mem::replace(&mut told, true) {
                records::change(|record| record.waiting = true);
            }
            if time >= SAY_SO && !std::mem::replace(&mut said, true) {
                let Waiting { name, rank, p, .. } = self;
                let seconds = time.as_secs();
                let programs = match config::programs_of_job() {
                    Some(programs @ 2..) => format!(" This job has {programs} programs."),
                    _ => String::new(),
                };
                let line = format!(
                    "{name}: rank {rank} of {p} has waited {seconds} s for the others to begin the job. If they come, \
                     all is well. If a rank lacks Rondo, they never do: every rank of the job has to have librondo.so \
                     in LD_PRELOAD, or none ('rondo check' says which have it).{programs}"
                );
                report::line(host.world_rank(), &line);
            }
            self.look(time);
        };
        (interval, look)
    }
}
