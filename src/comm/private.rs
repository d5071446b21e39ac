//! The private communicator.

#![forbid(unsafe_code)]

use super::{State, is_alive};
use crate::host::{Code, Comm, Group, Mpi};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Communicators of this process that may have a private one.
static PLACES: AtomicU32 = AtomicU32::new(0);

/// One of the `RONDO_MAX_COMMS` places of communicators that may have a private one. It is taken for the handshake, and
/// given back if there the ranks find that one of them has given away all, or else when the communicator is freed. So
/// threads whose handshakes are under way at the same time do not have the last one both. Whether and when a private
/// one is made follows from clocks as well, so that may not decide who has a place: bits of sums would depend on it.
pub struct Place(());

impl Place {
    /// Takes one, and says how many this process had given away before.
    pub fn take() -> (Place, u32) {
        let taken = PLACES.fetch_add(1, Relaxed);
        (Place(()), taken)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        PLACES.fetch_sub(1, Relaxed);
    }
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
        if self.place.is_none() || self.duplicated.load(Relaxed) {
            return Ok(None);
        }
        // An error handler of the user's, which the host may call meanwhile, may free the communicator.
        let serial = self.serial;
        let max = |numbers: &mut [i64]| match is_alive(serial) {
            true => self.max(mpi, self.comm, numbers),
            false => Err(Code::intern()),
        };
        let made = agree_on_private(mpi, self.comm, max)?;
        match is_alive(serial) {
            true => Ok(*self.private.get_or_init(|| made)),
            false => Err(Code::intern()),
        }
    }

    /// The same for a call whose bits no clock may choose. Whether another call has had one made may follow from
    /// clocks. So where `MPI_Comm_idup` keeps it from being made, such calls have one only if one of them had it
    /// before.
    pub fn private_for_bits(&self, mpi: &Mpi) -> Result<Option<Comm>, Code> {
        if self.duplicated.load(Relaxed) && !self.reduced.load(Relaxed) {
            return Ok(None);
        }
        let private = self.private(mpi)?;
        if private.is_some() {
            self.reduced.store(true, Relaxed);
        }
        Ok(private)
    }
}

/// Makes a communicator of the ranks of `comm` if all of them have room for one. `max` gives the maxima over all ranks.
pub fn agree_on_private(
    mpi: &Mpi,
    comm: Comm,
    max: impl Fn(&mut [i64]) -> Result<(), Code>,
) -> Result<Option<Comm>, Code> {
    let group = match mpi.has_room() {
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
