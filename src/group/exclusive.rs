//! What one collective at a time may use on a communicator.

#![forbid(unsafe_code)]

use crate::host::{self, Code};
use crate::job;
use crate::report;
use parking_lot::{Mutex, MutexGuard};
use std::time::Duration;

/// What calls on a communicator use one after the other, as MPI asks of collectives there.
#[derive(Default)]
pub struct Exclusive<T>(Mutex<T>);

/// A report of statistics looks at it for a moment, from a thread of its own. What takes longer is another call.
const PATIENCE: Duration = Duration::from_secs(1);

impl<T> Exclusive<T> {
    /// For a call. If another one has it, a thread of the program's makes two calls at a time, or an operator called
    /// this one, which would wait for itself for ever: the job ends.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.try_lock_for(PATIENCE).unwrap_or_else(|| refuse())
    }

    /// For whoever has all of it.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// If no call has it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock()
    }
}

#[cold]
fn refuse() -> ! {
    let host = host::host();
    let name = report::under_way();
    job::end_early(&format!("{name} failed"));
    report::fatal(
        host.world_rank(),
        &format!(
            "{name}: called while another collective on this communicator is under way, by an operator or by another \
             thread; aborting the job"
        ),
    );
    match host.mpi() {
        Ok(mpi) => mpi.abort(mpi.world(), Code::intern()),
        Err(_) => std::process::abort(),
    }
}
