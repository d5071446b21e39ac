//! The end: what is reported when `MPI_Finalize` is called.
//!
//! The call is one moment for all ranks, before any of the program's own callbacks, whenever a rank first met Rondo.
//! Nothing is freed: collectives that those callbacks call go the way of all others.

#![forbid(unsafe_code)]

use super::calibration::KNOWN;
use super::process::PROCESS;
use super::{ADD_UP, ALIVE, ruled};
use crate::config::{self, StatsFormat};
use crate::host::{self, Abi, Group, Host, Mpi};
use crate::report;
use crate::stats::{self, Report};
use std::sync::atomic::Ordering::Relaxed;

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
    ALIVE.lock().iter().for_each(|state| state.account());
    write_statistics(host, mpi, &loaded.config.stats);
    ruled::save(host, mpi);
    mpi.free_own_self();
}

fn write_statistics(host: &Host, mpi: &Mpi, stats: &config::Stats) {
    let mut sums = stats::sums();
    let all = ADD_UP.load(Relaxed) && add_up(mpi, &mut sums);
    if host.world_rank() != 0 || stats.format == StatsFormat::Off {
        return;
    }
    let ranks = mpi.size(mpi.world()).unwrap_or(1);
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        host: mpi.version(),
        ranks,
        summed_ranks: if all { ranks } else { 1 },
        network: KNOWN.get(),
        collectives: stats::rows(&sums),
        promises: stats::promises(),
        saved: stats::savings(),
    };
    let text = match stats.format {
        StatsFormat::Json => report.json(),
        StatsFormat::Text | StatsFormat::Off => report.text(),
    };
    match &stats.file {
        None => report::block(&text),
        Some(path) => {
            if let Err(error) = std::fs::write(path, &text) {
                report::line(
                    0,
                    &format!("cannot write statistics to {}: {error}", path.display()),
                );
                report::block(&text);
            }
        }
    }
}

/// Adds the sums of all ranks up, on rank 0, by a communicator of Rondo's own: what the program does on
/// `MPI_COMM_WORLD` must not meet it. Were there no room for one, rank 0 would report what it did itself.
fn add_up(mpi: &Mpi, sums: &mut [f64]) -> bool {
    let world = mpi.world();
    let Ok(own) = Group::of(mpi, world).and_then(|group| mpi.private(world, &group)) else {
        return false;
    };
    let added = mpi.sum_to_root(own, sums);
    mpi.free(own);
    added.is_ok()
}
