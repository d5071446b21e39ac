//! What concerns the process.

#![forbid(unsafe_code)]

use super::record;
use crate::config::{self, Config, Gpu};
use crate::host::{self, Host};
use crate::report;
use once_cell::sync::OnceCell;

/// Its configuration, loaded at the first call.
pub static PROCESS: OnceCell<config::Loaded> = OnceCell::new();

/// Things to be done once per process, at its first call.
pub fn process(host: &Host) -> &'static Config {
    let loaded = PROCESS.get_or_init(|| {
        let loaded = match host::rights::exceed_those_of_the_user() {
            true => Config::load().without_files(),
            false => Config::load(),
        };
        let loaded = match host.mpi().is_ok_and(|mpi| mpi.has_parent()) {
            true => loaded.of_spawned(std::process::id()),
            false => loaded,
        };
        let loaded = loaded.in_place();
        report::on_panic(host.world_rank());
        let rank = match host.mpi() {
            // Of a library whose handles nobody knows, no rank is known; the launcher may tell.
            Err(_) if host.world_rank() < 0 => config::place_in_job().0.unwrap_or(0) as i32,
            Ok(_) | Err(_) => host.world_rank(),
        };
        if rank == 0 {
            for warning in &loaded.warnings {
                report::line(0, warning);
            }
            if loaded.config.help {
                report::block(&config::help(&loaded));
            }
            if let Err(why) = host.mpi() {
                report::line(0, &why.text);
            }
        }
        record::called(host, &loaded);
        if loaded.config.gpu == Gpu::Off {
            host::ignore_drivers();
        }
        loaded
    });
    &loaded.config
}
