//! The end: what is reported when `MPI_Finalize` is called, or when the job ends before its time.
//!
//! The call is one moment for all ranks, before any of the program's own callbacks, whenever a rank first met Rondo.
//! Nothing is freed: collectives that those callbacks call go the way of all others.
//!
//! If the job is aborted, or this process is ended by SIGTERM, rank 0 reports what it did itself until then.

#![forbid(unsafe_code)]

use super::measure::KNOWN;
use super::process::PROCESS;
use super::{BEGUN, Begun, job, private, ruled};
use crate::config::{self, StatsFormat};
use crate::files;
use crate::group;
use crate::host::{self, Abi, Host, Mpi};
use crate::network::Network;
use crate::report;
use crate::stats::{self, Report};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// What a report begins with: asked for in time, because at an early end MPI may not be called.
struct Heading {
    host: String,
    ranks: u32,
}

static HEADING: OnceCell<Heading> = OnceCell::new();

/// Will all ranks of `MPI_COMM_WORLD` add up their statistics?
static ADD_UP: AtomicBool = AtomicBool::new(false);

/// The ranks of the world agreed that they will.
pub fn adds_up() {
    ADD_UP.store(true, Relaxed);
}

/// Were the statistics written? They are once.
static WRITTEN: Mutex<bool> = Mutex::new(false);

/// An end waits no longer for another one, or for a thread that this process no longer has.
const PATIENCE: Duration = Duration::from_secs(2);

/// Gets ready for an early end, if this process is to report then.
pub fn prepare(host: &Host, mpi: &Mpi, stats: &config::Stats) {
    if host.world_rank() != 0 || stats.format == StatsFormat::Off || Abi::BUILT.is_simulated() {
        return;
    }
    HEADING.get_or_init(|| {
        // Where the system does not allow it, there are no statistics at such an end.
        let _ = host::before_termination(&[libc::SIGTERM], || end_early("SIGTERM"));
        Heading {
            host: mpi.version(),
            ranks: mpi.size(mpi.world()).unwrap_or(1),
        }
    });
}

/// The job ends now: `why` says what ends it. Local; no lock is waited for that a call may hold.
pub fn end_early(why: &str) {
    let (Some(loaded), Some(heading)) = (PROCESS.get(), HEADING.get()) else {
        return;
    };
    group::account_all(PATIENCE);
    let sums = stats::sums();
    write(heading, &loaded.config.stats, &sums, 1, 0, Some(why));
}

/// The start of `MPI_Finalize`. Collective over `MPI_COMM_WORLD` if statistics are added up.
pub fn end() {
    let host = host::host();
    let Ok(mpi) = host.mpi() else { return };
    // The same call comes by both of its names if a profiler is behind. Invalid ones are the host's to refuse.
    if Abi::BUILT.is_simulated() || !mpi.world_is_up() || !mpi.world_ends() {
        return;
    }
    // A process that Rondo saw no collective of has nothing to tell.
    let Some(loaded) = PROCESS.get() else { return };
    group::account_all(Duration::MAX);
    write_statistics(host, mpi, &loaded.config.stats);
    ruled::save(host, mpi);
    mpi.free_own_self();
}

fn write_statistics(host: &Host, mpi: &Mpi, stats: &config::Stats) {
    let (mut sums, mut most) = (stats::sums(), stats::most_memory());
    let all = ADD_UP.load(Relaxed) && add_up(mpi, &mut sums, &mut most);
    if host.world_rank() != 0 || stats.format == StatsFormat::Off {
        return;
    }
    let ranks = mpi.size(mpi.world()).unwrap_or(1);
    let host = mpi.version();
    let summed_ranks = if all { ranks } else { 1 };
    let heading = Heading { host, ranks };
    write(&heading, stats, &sums, summed_ranks, most, None);
}

/// Writes the report, with the `sums` of so many ranks, and the most memory that one of them took for a communicator,
/// which is left out if it is of rank 0 alone. The process may be ended by another thread meanwhile, but that
/// thread comes here first, and waits.
fn write(
    heading: &Heading,
    stats: &config::Stats,
    sums: &[f64],
    summed_ranks: u32,
    most_memory: u64,
    until: Option<&str>,
) {
    let Some(mut written) = WRITTEN.try_lock_for(PATIENCE) else {
        return; // a report is stuck, on a full pipe for example
    };
    if std::mem::replace(&mut *written, true) {
        return;
    }
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        host: heading.host.clone(),
        ranks: heading.ranks,
        summed_ranks,
        until: until.map(str::to_owned),
        job: BEGUN.get().map(Begun::describe),
        network: network(),
        in_flight: stats::path(),
        collectives: stats::rows(sums),
        promises: stats::promises(),
        saved: stats::savings(sums, summed_ranks),
        memory: stats::memory(),
        most_memory: (summed_ranks > 1).then_some(most_memory),
    };
    let text = match stats.format {
        StatsFormat::Json => report.json(),
        StatsFormat::Text | StatsFormat::Off => report.text(),
    };
    match &stats.file {
        None => report::block(&text),
        Some(path) => {
            if let Err(error) = files::write(path, &text) {
                report::line(
                    0,
                    &format!("cannot write statistics to {}: {error}", path.display()),
                );
                report::block(&text);
            }
        }
    }
}

/// A figure of the network that this process knows, by its name in files of rules.
pub fn figure(name: &str) -> Option<f64> {
    host::with_plain_floats(|| network().named(name))
}

/// What this process goes by: what it was told before what it knows.
fn network() -> Network {
    let told = PROCESS.get().map(|loaded| loaded.config.network);
    let told = told.unwrap_or_default().or(&ruled::network());
    told.or(&KNOWN.get().1)
}

/// Adds the sums of all ranks up, on rank 0, and finds the most memory of all, by a communicator of Rondo's own: what
/// the program does on `MPI_COMM_WORLD` must not meet it. If there is no room for one, rank 0 reports what it did
/// itself.
fn add_up(mpi: &Mpi, sums: &mut [f64], most: &mut u64) -> bool {
    let of_job = job().map(|job| job.comm);
    let Some(own) = of_job.or_else(|| private(mpi, mpi.world()).ok().flatten()) else {
        return false;
    };
    let added = mpi.sum_to_root(own, sums);
    let mut bytes = [*most as i64];
    let found = mpi.max(own, &mut bytes);
    *most = bytes[0] as u64;
    added.is_ok() && found.is_ok()
}
