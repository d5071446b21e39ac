//! The private communicator.

#![forbid(unsafe_code)]

use super::State;
use crate::host::{Code, Comm, Group, Mpi};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Private communicators of this process.
static PRIVATE: AtomicU32 = AtomicU32::new(0);

/// One of them is gone.
pub fn forget() {
    PRIVATE.fetch_sub(1, Relaxed);
}

impl State {
    /// Has the private communicator been made? All ranks know alike.
    pub fn is_set_up(&self) -> bool {
        matches!(self.private.get(), Some(Some(_)))
    }

    /// The private communicator, made now if this is the first time. Collective then. `None` if there is no room for
    /// it, which all ranks learn alike and for good. An error was raised by the host.
    ///
    /// No lock is held, for the host may call the error handler of the user's.
    pub fn private(&self, mpi: &Mpi) -> Result<Option<Comm>, Code> {
        if let Some(private) = self.private.get() {
            return Ok(*private);
        }
        if self.duplicated.load(Relaxed) {
            return Ok(None);
        }
        let full = PRIVATE.load(Relaxed) >= self.config.max_comms;
        let max = |numbers: &mut [i64]| self.max(mpi, self.comm, numbers);
        let made = agree_on_private(mpi, self.comm, full, max)?;
        if made.is_some() {
            PRIVATE.fetch_add(1, Relaxed);
        }
        Ok(*self.private.get_or_init(|| made))
    }
}

/// Makes a communicator of the ranks of `comm` if all of them have room for one and none says that it has enough. `max`
/// gives the maxima over all ranks.
pub fn agree_on_private(
    mpi: &Mpi,
    comm: Comm,
    enough: bool,
    max: impl Fn(&mut [i64]) -> Result<(), Code>,
) -> Result<Option<Comm>, Code> {
    let group = match !enough && mpi.has_room() {
        true => Group::of(mpi, comm).ok(),
        false => None,
    };
    let mut refused = [i64::from(group.is_none())];
    max(&mut refused)?;
    let Some(group) = group.filter(|_| refused[0] == 0) else {
        return Ok(None);
    };
    // It may fail all the same, if no name for a communicator is free on all ranks. Whether it does may differ between
    // ranks, so they compare what they got.
    let made = mpi.private(comm, &group).ok();
    // One that does not serve is freed with those of the others, which may wait for that.
    let serves = made.is_some_and(|comm| mpi.return_errors(comm).is_ok());
    let mut failed = [i64::from(!serves)];
    let agreed = max(&mut failed);
    if agreed.is_err() || failed[0] != 0 {
        made.inspect(|&comm| mpi.free(comm));
        return agreed.map(|()| None);
    }
    Ok(made)
}
