//! The end: what is reported when `MPI_Finalize` is called, or when the job ends before its time.
//!
//! The call is one moment for all ranks, before any of the program's own callbacks, whenever a rank first met Rondo.
//! Nothing is freed: collectives that those callbacks call go the way of all others.
//!
//! If the job is aborted, or this process is ended by SIGTERM, rank 0 reports what it did itself until then.

#![forbid(unsafe_code)]

use super::measure::KNOWN;
use super::process::PROCESS;
use super::{BEGUN, Begun, group_with_room, job, private, ruled};
use crate::config::{self, StatsFormat};
use crate::group;
use crate::host::{self, Abi, Code, Comm, Host, Mpi};
use crate::network::Network;
use crate::report;
use crate::stats::{Report, Sums};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// The host, and the ranks of the job: asked for in time, because at an early end MPI may not be called.
static HEADING: OnceCell<(String, u32)> = OnceCell::new();

/// Will all ranks of `MPI_COMM_WORLD` add up their statistics?
pub static ADD_UP: AtomicBool = AtomicBool::new(false);

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
        heading(mpi)
    });
}

/// The job ends now: `why` says what ends it. Local; no lock is waited for that a call may hold.
pub fn end_early(why: &str) {
    let (Some(loaded), Some(heading)) = (PROCESS.get(), HEADING.get()) else {
        return;
    };
    group::each(PATIENCE, |state| state.account());
    let sums = Sums::of_this_rank();
    write(heading.clone(), &loaded.config.stats, &sums, Some(why));
}

/// Ends the job in a call of this name, with a line that says why.
pub fn abort(name: &str, line: &str, code: Code) -> ! {
    let host = host::host();
    end_early(&format!("{name} failed"));
    report::fatal(host.world_rank(), &format!("{line}; aborting the job"));
    match host.mpi() {
        Ok(mpi) => mpi.abort(mpi.world(), code),
        Err(_) => std::process::abort(),
    }
}

fn heading(mpi: &Mpi) -> (String, u32) {
    (mpi.version(), mpi.size(mpi.world()).unwrap_or(1))
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
    group::each(Duration::MAX, |state| state.account());
    write_statistics(host, mpi, &loaded.config.stats);
    ruled::save(host, mpi);
    mpi.free_own_self();
}

fn write_statistics(host: &Host, mpi: &Mpi, stats: &config::Stats) {
    let mut sums = Sums::of_this_rank();
    if ADD_UP.load(Relaxed) {
        add_up(mpi, &mut sums);
    }
    if host.world_rank() == 0 && stats.format != StatsFormat::Off {
        write(heading(mpi), stats, &sums, None);
    }
}

/// Writes the report. Another thread that ends the process meanwhile comes here first, and waits.
fn write((host, ranks): (String, u32), stats: &config::Stats, sums: &Sums, until: Option<&str>) {
    let Some(mut written) = WRITTEN.try_lock_for(PATIENCE) else {
        return; // a report is stuck, on a full pipe for example
    };
    if !std::mem::replace(&mut *written, true) {
        let mut report = Report::new(host, ranks, sums);
        report.until = until.map(str::to_owned);
        report.job = BEGUN.get().map(Begun::describe);
        report.network = network();
        report.write(stats);
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

/// Adds the sums of all ranks up, on rank 0, by a communicator of Rondo's own: what the program does on
/// `MPI_COMM_WORLD` must not meet it. If there is no room for one, rank 0 reports what it did itself.
fn add_up(mpi: &Mpi, sums: &mut Sums) {
    let of_job = job().map(|job| job.comm);
    let Some(own) = of_job.or_else(|| late(mpi).ok().flatten()) else {
        return;
    };
    let mut most = [sums.most_memory as i64];
    let added = mpi.sum_to_root(own, &mut sums.numbers);
    if mpi.max(own, &mut most).and(added).is_ok() {
        sums.ranks = mpi.size(own).unwrap_or(1);
        sums.most_memory = most[0] as u64;
    }
}

/// A communicator of all ranks of the world, unless a rank has none. Collective.
fn late(mpi: &Mpi) -> Result<Option<Comm>, Code> {
    let group = group_with_room(mpi);
    let mut refused = [i64::from(group.is_none())];
    mpi.max(mpi.world(), &mut refused)?;
    let made = (group.filter(|_| refused[0] == 0)).and_then(|group| private(mpi, &group));
    let mut failed = [i64::from(made.is_none())];
    mpi.max(mpi.world(), &mut failed)?;
    Ok(made.filter(|_| failed[0] == 0))
}
