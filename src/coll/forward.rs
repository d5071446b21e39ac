//! Calls that are never Rondo's.

#![forbid(unsafe_code)]

use crate::collective::Collective;
use crate::config::StatsFormat;
use crate::decide::{Choice, Why};
use crate::host;
use crate::job;
use crate::stats;
use std::cell::Cell;
use std::ffi::c_int;
use std::time::Instant;

thread_local! {
    /// Is this thread in a call that is forwarded?
    static FORWARDED: Cell<bool> = const { Cell::new(false) };
}

/// A call that is forwarded, until it ends, be it by an exception.
struct Forwarding;

impl Drop for Forwarding {
    fn drop(&mut self) {
        FORWARDED.set(false);
    }
}

/// Counts a call that is never Rondo's and has `next` carry it out. A profiler that comes next may come back by the
/// other name: that is still the same call.
pub fn forward(collective: Collective, why: Why, next: impl FnOnce() -> c_int) -> c_int {
    if FORWARDED.replace(true) {
        return next();
    }
    let forwarding = Forwarding;
    let choice = Choice::Host(why);
    stats::count(collective, choice, 0);
    let host = host::host();
    let up = match host.mpi() {
        Ok(mpi) if mpi.world_is_up() => true,
        Ok(_) => {
            job::called_with_sessions();
            false
        }
        Err(_) => {
            job::process(host); // says so, once
            false
        }
    };
    let timed = up && job::process(host).stats.format != StatsFormat::Off;
    let start = timed.then(Instant::now);
    let code = next();
    if let Some(start) = start {
        stats::add_time(collective, choice, start.elapsed());
    }
    drop(forwarding);
    code
}
