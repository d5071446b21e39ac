//! Messages in flight, and what the host says of them and of messages that have arrived.

use super::channel::Channel;
use crate::engine::rooted::Misfit;
use crate::host::library::abi::Abi;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::host::object::code::check;
use crate::host::object::failure::{Failure, at};
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// A message in flight.
pub(in crate::host) struct Pending {
    request: sys::MPI_Request,
    /// Of a message that `wait` or `peek` found complete.
    status: Option<sys::MPI_Status>,
}

impl Pending {
    /// A message whose request the host gave out.
    pub fn new(request: sys::MPI_Request) -> Pending {
        Pending {
            request,
            status: None,
        }
    }

    /// A message that is being sent. Where time is simulated, tests do not see sends that were complete at once.
    pub fn of_send(
        mpi: &Mpi,
        request: sys::MPI_Request,
        synchronous: bool,
    ) -> Result<Pending, Failure> {
        let mut pending = Pending::new(request);
        if Abi::BUILT.is_simulated() && !synchronous {
            wait(mpi, std::iter::once(&mut pending))?;
        }
        Ok(pending)
    }

    /// Takes a receive back that `peek` has just found incomplete.
    pub fn take_back(&mut self, mpi: &Mpi) -> Result<(), Failure> {
        take_back(mpi, &mut self.request)
    }
}

/// Tests a message; its status if it is complete.
pub(in crate::host) fn test(
    mpi: &Mpi,
    pending: &mut Pending,
) -> Result<Option<sys::MPI_Status>, Failure> {
    if let Some(status) = pending.status.take() {
        return Ok(Some(status));
    }
    let request = &mut pending.request;
    let mut done: c_int = 0;
    let mut status = MaybeUninit::<sys::MPI_Status>::zeroed();
    // SAFETY: the request is one that the host gave out and has not completed yet.
    check(unsafe { (mpi.f.test)(request, &mut done, status.as_mut_ptr()) })
        .map_err(at("a message failed"))?;
    // SAFETY: MPI_Status is a struct of integers, for which zero is a value.
    Ok((done != 0).then(|| unsafe { status.assume_init() }))
}

/// The status of a message if it is complete, kept for the next test.
pub(in crate::host) fn peek(
    mpi: &Mpi,
    pending: &mut Pending,
) -> Result<Option<sys::MPI_Status>, Failure> {
    pending.status = test(mpi, pending)?;
    Ok(pending.status)
}

/// Which of these requests, of which there is one at least, is complete first, and its status. Waits in the host,
/// where nothing else would happen while this rank polled: where time is simulated.
pub(in crate::host) fn wait_any(
    mpi: &Mpi,
    requests: &mut [sys::MPI_Request],
) -> Result<(usize, sys::MPI_Status), Failure> {
    let mut which: c_int = 0;
    let mut status = MaybeUninit::<sys::MPI_Status>::zeroed();
    // SAFETY: the requests are ones that the host gave out and has not completed yet.
    check(unsafe {
        (mpi.f.waitany)(
            requests.len() as c_int,
            requests.as_mut_ptr(),
            &mut which,
            status.as_mut_ptr(),
        )
    })
    .map_err(at("a message failed"))?;
    // SAFETY: MPI_Status is a struct of integers, for which zero is a value.
    Ok((which as usize, unsafe { status.assume_init() }))
}

/// Waits for the first of these messages, unless one is complete already.
pub(in crate::host) fn wait<'a>(
    mpi: &Mpi,
    pending: impl Iterator<Item = &'a mut Pending>,
) -> Result<(), Failure> {
    let mut pending: Vec<&mut Pending> = pending.collect();
    if pending.iter().any(|pending| pending.status.is_some()) {
        return Ok(());
    }
    let mut requests: Vec<_> = pending.iter().map(|pending| pending.request).collect();
    let (which, status) = wait_any(mpi, &mut requests)?;
    pending[which].status = Some(status);
    Ok(())
}

/// Takes a receive back if no message has met it. Whether that was so shows when it is complete: [`was_taken_back`].
///
/// A receive may be incomplete for long though its message has met it: the rest of the message is under way, perhaps on
/// a link that is slower than the one by which later messages have come already. To wait longer would not tell one
/// from the other, for MPI promises no time. `MPI_Cancel` tells them apart: either the receive is cancelled, or its
/// message comes as if nothing had been asked.
pub(in crate::host) fn take_back(mpi: &Mpi, request: &mut sys::MPI_Request) -> Result<(), Failure> {
    // SAFETY: the request is a receive that the host gave out and that was not found complete.
    check(unsafe { (mpi.f.cancel)(request) }).map_err(at("asking for a message"))
}

/// Did no message meet the receive with this status, which [`take_back`] was called for?
pub(in crate::host) fn was_taken_back(
    mpi: &Mpi,
    status: &sys::MPI_Status,
) -> Result<bool, Failure> {
    let mut cancelled: c_int = 0;
    // SAFETY: the status is one that the host filled in; the flag is a place of the right type.
    check(unsafe { (mpi.f.test_cancelled)(status, &mut cancelled) })
        .map_err(at("looking at a message"))?;
    Ok(cancelled != 0)
}

/// The first message that has arrived and no receive took, from this rank or from any: its sender and its tag. If it is
/// one of another communicator's, there is none: that says nothing of this one.
pub(in crate::host) fn first_message(
    mpi: &Mpi,
    channel: Channel<'_>,
    from: Option<u32>,
) -> Result<Option<sys::MPI_Status>, Failure> {
    let from = from.map_or(sys::MPI_ANY_SOURCE, |from| from as c_int);
    probe(mpi, channel, from, sys::MPI_ANY_TAG)
}

/// The status of a message of the channel's that has arrived and no receive took, with the rank that it came from.
pub(in crate::host) fn probe(
    mpi: &Mpi,
    channel: Channel<'_>,
    from: c_int,
    tag: c_int,
) -> Result<Option<sys::MPI_Status>, Failure> {
    let mut found: c_int = 0;
    let mut status = MaybeUninit::<sys::MPI_Status>::zeroed();
    let from = match u32::try_from(from) {
        Ok(rank) => channel.world_rank(rank),
        Err(_) => from,
    };
    // SAFETY: the communicator is valid; flag and status are places of the right type.
    check(unsafe { (mpi.f.iprobe)(from, tag, channel.comm.0, &mut found, status.as_mut_ptr()) })
        .map_err(at("looking for messages"))?;
    // SAFETY: MPI_Status is a struct of integers, for which zero is a value.
    let mut status = unsafe { status.assume_init() };
    if found == 0 || !channel.tags.has(status.MPI_TAG) {
        return Ok(None);
    }
    status.MPI_SOURCE = channel.rank_of(status.MPI_SOURCE) as c_int;
    Ok(Some(status))
}

/// Bytes of a message.
pub(in crate::host) fn length(mpi: &Mpi, status: &sys::MPI_Status) -> Result<u64, Failure> {
    let mut got: c_int = 0;
    // SAFETY: the status is one that the host filled in.
    check(unsafe { (mpi.f.get_count)(status, mpi.h.byte, &mut got) })
        .map_err(at("looking at a message"))?;
    Ok(got as u64)
}

/// Is this message as long as it should be?
pub(in crate::host) fn verify(
    mpi: &Mpi,
    status: &sys::MPI_Status,
    from: u32,
    len: u64,
) -> Result<(), Failure> {
    if length(mpi, status)? == len {
        Ok(())
    } else {
        Err(Misfit::Stranger(from).into())
    }
}
