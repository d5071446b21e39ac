//! Memory of GPUs: what the ranks of a communicator tell each other of it.

#![forbid(unsafe_code)]

use super::{STATE, State};
use crate::config::Gpu;
use crate::decide::Why;
use crate::host::{self, Abi, Asserted, Attribute, Comm, Failure, Host, Mpi};
use crate::report;
use std::sync::atomic::Ordering::Relaxed;

/// Whether this process said by a hint that it passes no memory of GPUs to calls on a communicator that has no state
/// yet.
pub static ASSERTED: Attribute<Comm, bool> = Attribute::new();

/// The program lists, by a hint (MPI 4.1, section 7.4.4), the kinds of memory that this process passes to calls on
/// `comm`. Local.
#[cold]
pub fn assert_memory(mpi: &Mpi, comm: Comm, kinds: &str) {
    let only = are_of_processor(kinds);
    match STATE.get(mpi, comm) {
        Ok(Some(state)) => state.asserted.store(only, Relaxed),
        // Without room for an attribute, the host has none for the state either.
        Ok(None) => drop(ASSERTED.set(mpi, comm, only)),
        Err(_) => {}
    }
}

/// Longer lists may have been cut off.
const KINDS_MAX: usize = 255;

/// Can the processor touch memory of all these kinds? What stands behind a colon restricts a kind.
fn are_of_processor(kinds: &str) -> bool {
    let kind = |one: &str| one.split(':').next().unwrap_or("").trim().to_owned();
    kinds.len() < KINDS_MAX
        && (kinds.split(',').map(kind)).all(|kind| kind == "system" || kind == "mpi")
}

impl State {
    /// Did this process assert that it passes no memory of GPUs to calls on this communicator, and does that count?
    fn is_asserted(&self) -> bool {
        self.asserted.load(Relaxed) && self.config.gpu != Gpu::Host
    }

    /// Are the ranks to tell each other, in the call of this number, whether one of them may have got memory of a GPU?
    pub fn asks_for_gpus(&self, sequence: u64) -> bool {
        // More often at first: where most calls are the host's, Rondo's come slowly.
        let due = match sequence {
            ..128 => sequence.is_multiple_of(8),
            _ => sequence.is_multiple_of(1024) || sequence.is_power_of_two(),
        };
        due && self.gpu_may_come && !Abi::BUILT.is_simulated()
    }

    /// A call begins that Rondo carries out: looks for a GPU's driver if the program may have loaded one meanwhile.
    /// What the program asserted counts as long as the result lives.
    #[inline]
    pub fn look_for_driver(&self) -> Asserted {
        if self.gpu_may_come {
            host::look_for_driver();
        }
        Asserted::in_call(self.is_asserted())
    }

    /// Asks all ranks whether one has loaded a GPU's driver since the first call. If that is a reason, all calls from
    /// this one on are the host's. Collective.
    pub fn ask_for_gpus(&self, host: &Host, mpi: &Mpi) -> Result<bool, Failure> {
        let mut found = [(host::look_for_driver() && !self.is_asserted()).into()];
        self.max(mpi, &mut found)?;
        let leaves = found[0] > 0;
        if leaves {
            self.report_broken_promise(host, Why::Gpu);
        }
        if leaves && !self.gpu.swap(true, Relaxed) && self.rank == 0 && self.config.trace {
            let (p, why) = (self.facts.p, Why::Gpu.text());
            let line = format!("all further calls on this communicator of {p} ranks: host ({why})");
            report::line(host.world_rank(), &line);
        }
        Ok(leaves)
    }
}
