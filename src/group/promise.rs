//! Promises of the bits of reductions: what the program asks for by hints, and lines that say that one is not kept.

#![forbid(unsafe_code)]

use super::{STATE, State};
use crate::config::{self, Config, Reproducible};
use crate::decide::Why;
use crate::host::{Attribute, Comm, Host, Mpi};
use crate::report;
use once_cell::sync::OnceCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What the program asked for on communicators that had no state yet.
pub static PROMISED: Attribute<Comm, Reproducible> = Attribute::new();

/// The program asks, by a hint, for a promise of the bits of reductions on `comm`. Like an option, it is that of rank 0
/// once the ranks agree, at the first call. Local.
#[cold]
pub fn promise(host: &Host, mpi: &Mpi, comm: Comm, value: &str) {
    let promise = config::among(value, Reproducible::NAMES);
    let trouble = match (promise, STATE.get(mpi, comm)) {
        (Err(_), _) => {
            let names: Vec<&str> = Reproducible::NAMES.iter().map(|(name, _)| *name).collect();
            format!("is {value:?}, but may be {}", names.join(", "))
        }
        (Ok(promise), Ok(Some(state))) if state.config.reproducible == promise => return,
        (Ok(_), Ok(Some(_))) => "comes after the first collective on the communicator".to_owned(),
        (Ok(promise), _) => {
            // Without room for an attribute, the host has none for the state either.
            let _ = PROMISED.set(mpi, comm, promise);
            return;
        }
    };
    if mpi.rank(comm) == Ok(0) {
        let line = format!("the hint rondo_reproducible {trouble}; it is ignored");
        report::line(host.world_rank(), &line);
    }
}

/// Ranks of a communicator from which on bits are promised: two operands have one order.
const PROMISED_FROM: u32 = 3;

/// Says once for each reason that reductions have the host's bits though others were promised, on a communicator
/// without a state. It reads the options by itself: what else is done at a process's first call is not due without
/// `MPI_Init`.
#[cold]
pub fn report_bits_on(host: &Host, mpi: &Mpi, comm: Comm, why: Why) {
    static PROMISE: OnceCell<Reproducible> = OnceCell::new();
    let promise = *PROMISE.get_or_init(|| Config::load().config.promise());
    report_broken(host, why, promise, || {
        mpi.rank(comm) == Ok(0) && mpi.size(comm).is_ok_and(|p| p >= PROMISED_FROM)
    });
}

fn report_broken(host: &Host, why: Why, promise: Reproducible, speaks: impl FnOnce() -> bool) {
    /// A bit for each reason.
    static REPORTED: AtomicU64 = AtomicU64::new(0);
    let bit = 1 << why as u32;
    if promise.is_kept_by_host() || REPORTED.load(Relaxed) & bit != 0 || !speaks() {
        return;
    }
    if REPORTED.fetch_or(bit, Relaxed) & bit != 0 {
        return; // another thread was faster
    }
    let remedy = match why == Why::Gpu {
        true => "; RONDO_GPU=off (no buffers on a GPU) keeps the promise",
        false => "",
    };
    report::line(
        host.world_rank(),
        &format!(
            "{}: sums have the MPI library's bits here, and not those that are promised{remedy}",
            why.text()
        ),
    );
}

impl State {
    /// Says once for each reason that reductions have the host's bits though others were promised.
    #[cold]
    pub fn report_broken_promise(&self, host: &Host, why: Why) {
        let speaks = self.rank == 0 && self.facts.p >= PROMISED_FROM;
        report_broken(host, why, self.config.promise(), || speaks);
    }
}
