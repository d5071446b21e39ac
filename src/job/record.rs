//! What this process tells `rondo check`, and when.

#![forbid(unsafe_code)]

use super::proposal::BUILD;
use crate::config::{self, Loaded};
use crate::host::{self, Abi, Host};
use crate::records::{self, Called, Concern, Warning};
use crate::shm::Arena;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The library was loaded. Nearly always there is nothing to do.
pub fn loaded() {
    if let Some(folder) = config::check_folder()
        && !host::rights::exceed_those_of_the_user()
    {
        records::begin(folder, std::hint::black_box(BUILD), config::place_in_job());
    }
}

/// The process exits: it may have loaded MPI since it began.
pub fn exits() {
    if records::wanted() {
        records::change(records::Record::find_mpi);
    }
}

/// The first call has come.
pub fn called(host: &Host, loaded: &Loaded) {
    if !records::wanted() {
        return;
    }
    let config = &loaded.config;
    let mut called = Called {
        rank: host.world_rank(),
        node: config.node.clone(),
        node_is_given: !config.node.is_empty(),
        enabled: config.enabled,
        shm: config.shm && !Abi::BUILT.is_simulated(),
        warnings: (loaded.warnings.iter())
            .map(|text| Warning {
                text: text.clone(),
                kind: Concern::Option,
            })
            .collect(),
        ..Called::default()
    };
    match host.mpi() {
        Err(why) => called.trouble = Some(why.clone()),
        Ok(mpi) if config.node.is_empty() => called.node = mpi.node_name(),
        Ok(_) => {}
    }
    if called.shm {
        let made = Arena::create(config.shm_bytes);
        called.no_memory = made.err().map(|error| error.to_string());
    }
    records::change(|record| record.called = Some(called));
}

/// A call has come without `MPI_Init`.
pub fn called_with_sessions() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Relaxed) {
        records::change(|record| record.sessions = true);
    }
}

/// The process was warned of something else than of the value of an option.
pub fn warned(kind: Concern, text: String) {
    records::change(|record| {
        if let Some(called) = &mut record.called {
            called.warnings.push(Warning { text, kind });
        }
    });
}

/// The program has called `MPI_Finalize`.
pub fn finalized() {
    records::change(|record| record.finalized = true);
}
