//! Requests in flight of gathers and scatters, and the memory that they keep.

use super::pending::wait_any;
use crate::flow::{MESSAGE_BYTES, SMALL_WINDOW, bound_among};
use crate::host::data::elements::Message;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::host::object::code::{Code, check};
use crate::host::object::failure::{Failure, at};
use std::collections::TryReserveError;
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// What belongs to a request in flight.
pub(in crate::host) enum Transfer {
    /// A packet from a rank, of so many bytes, which are not the memory's before it is complete.
    IncomingPacket(u32, usize, Vec<u8>),
    /// A packet.
    OutgoingPacket(Vec<u8>),
    /// A block of so many bytes from a rank, and the message in the user's memory. If it is doubted, its receive has
    /// been taken back, should no message have met it.
    IncomingBlock {
        from: u32,
        bytes: u64,
        doubted: bool,
        _message: Message,
    },
    /// A block, of this rank in a gather and of the other one in a scatter, to a rank.
    OutgoingBlock {
        to: u32,
        block: u32,
        _message: Message,
    },
}

/// The packets and blocks of a communicator's calls, in flight and, kept for later, at rest.
///
/// All requests are tested by one call of the host, because each call makes it look for messages.
#[derive(Default)]
pub struct InFlight {
    /// Whose packets are to come; `MPI_ANY_SOURCE` for one of anybody.
    pub(in crate::host) expected: Vec<c_int>,
    pub(in crate::host) requests: Vec<sys::MPI_Request>,
    pub(in crate::host) transfers: Vec<Transfer>,
    /// The ranks whose blocks are here. A block is all that a rank sends in a call but packets, so another one belongs
    /// to a later call, whatever its tag says: so many calls may be made that a tag comes again.
    pub(in crate::host) through: Vec<u32>,
    /// Packets from anybody that belong to later calls: their calls and senders.
    pub(in crate::host) later: Vec<(u64, u32, Vec<u8>)>,
    /// Ranks in ascending order, and bytes that may lie there, because they have not come so far yet.
    owed: Vec<(u32, u64)>,
    /// How many may lie at each.
    bound: u64,
    /// A request that was waited for, with its status.
    pub(in crate::host) complete: Option<(usize, sys::MPI_Status)>,
    memory: Vec<Vec<u8>>,
}

// SAFETY: requests and datatypes are handles that any thread may pass to MPI; a communicator's
// requests are used by one call at a time.
unsafe impl Send for InFlight {}

impl InFlight {
    /// Bytes on the heap, but packets that are under way.
    pub fn bytes(&self) -> usize {
        self.expected.capacity() * size_of::<c_int>()
            + self.requests.capacity() * size_of::<sys::MPI_Request>()
            + self.transfers.capacity() * size_of::<Transfer>()
            + self.through.capacity() * size_of::<u32>()
            + self.later.capacity() * size_of::<(u64, u32, Vec<u8>)>()
            + self.owed.capacity() * size_of::<(u32, u64)>()
            + self.memory.capacity() * size_of::<Vec<u8>>()
            + self.memory.iter().map(Vec::capacity).sum::<usize>()
    }

    /// Makes room for so many requests at a time, in a call of `p` ranks.
    pub fn reserve(&mut self, requests: usize, p: u32) -> Result<(), Code> {
        self.through.clear();
        self.bound = (bound_among(p - 1) / 2).max(SMALL_WINDOW);
        let mut reserve = || {
            self.requests.try_reserve(requests)?;
            self.transfers.try_reserve(requests)?;
            self.expected.try_reserve(requests)?;
            self.through.try_reserve(requests)?;
            let more = KEPT.0.saturating_sub(self.memory.len());
            self.memory.try_reserve(more)
        };
        reserve().map_err(|_: TryReserveError| Code::no_mem())
    }

    /// Is a message of so many bytes to this rank to be synchronous, if it is not anyway? Over many calls, each of
    /// which leaves something in the memory of a rank that is late, one is every so often. No call ends before its
    /// messages are complete, so then the rank is through with all calls before.
    pub(in crate::host) fn is_due(&mut self, to: u32, bytes: u64, is_synchronous: bool) -> bool {
        let found = self.owed.binary_search_by_key(&to, |&(rank, _)| rank);
        let place = found.unwrap_or_else(|place| {
            self.owed.insert(place, (to, 0));
            place
        });
        let owed = &mut self.owed[place].1;
        *owed += bytes + MESSAGE_BYTES;
        let due = is_synchronous || *owed >= self.bound;
        if due {
            *owed = 0;
        }
        due
    }

    /// Memory for so many bytes.
    pub fn memory(&mut self, bytes: usize) -> Result<Vec<u8>, Failure> {
        let memory = &mut self.memory;
        // The one that fits best, so that the large ones are there for large packets.
        let fits = |i: &usize| memory[*i].capacity() >= bytes;
        let best = (0..memory.len())
            .filter(fits)
            .min_by_key(|&i| memory[i].capacity());
        let mut packet = match best.or(memory.len().checked_sub(1)) {
            Some(i) => memory.swap_remove(i),
            None => Vec::new(),
        };
        if packet.capacity() < bytes {
            let room = match bytes {
                ..=PAGE_BYTES => bytes.next_power_of_two().max(MEMORY_BYTES),
                _ => bytes.next_multiple_of(PAGE_BYTES),
            };
            packet
                .try_reserve_exact(room)
                .map_err(|_| Failure::Host(Code::no_mem(), "making room for blocks"))?;
        }
        Ok(packet)
    }

    /// Takes memory back.
    pub fn give_back(&mut self, mut memory: Vec<u8>) {
        let (pieces, bytes) = KEPT;
        let kept: usize = self.memory.iter().map(Vec::capacity).sum();
        if kept + memory.capacity() <= bytes && self.memory.len() < pieces {
            memory.clear();
            self.memory.push(memory);
        }
    }

    /// The block of a rank is here. Where there are more ranks than requests, nobody sends one before it is asked to:
    /// then it does not matter who is known.
    pub(in crate::host) fn through(&mut self, rank: u32) {
        if self.through.len() < self.through.capacity() {
            self.through.push(rank);
        }
    }

    pub(in crate::host) fn add(&mut self, request: sys::MPI_Request, transfer: Transfer) {
        self.requests.push(request);
        self.transfers.push(transfer);
    }

    /// What belongs to a request that is complete, and its status.
    pub(in crate::host) fn take(
        &mut self,
        mpi: &Mpi,
    ) -> Result<Option<(Transfer, sys::MPI_Status)>, Failure> {
        let complete = match self.complete.take() {
            None if self.requests.is_empty() => None,
            None => self.test(mpi)?,
            complete => complete,
        };
        Ok(complete.map(|(which, status)| {
            // The order of the others stays: the oldest is looked at first.
            self.requests.remove(which);
            (self.transfers.remove(which), status)
        }))
    }

    /// A request that is complete, and its status.
    fn test(&mut self, mpi: &Mpi) -> Result<Option<(usize, sys::MPI_Status)>, Failure> {
        let (count, requests) = (self.requests.len() as c_int, self.requests.as_mut_ptr());
        let (mut which, mut done): (c_int, c_int) = (0, 0);
        let mut status = MaybeUninit::<sys::MPI_Status>::zeroed();
        // SAFETY: the requests are ones that the host gave out and has not completed yet.
        check(unsafe {
            (mpi.f.testany)(count, requests, &mut which, &mut done, status.as_mut_ptr())
        })
        .map_err(at("a message failed"))?;
        // SMPI's tests do not see sends that were complete at once; when only such are left, it says so.
        if which == sys::MPI_UNDEFINED && done != 0 {
            return wait_any(mpi, &mut self.requests).map(Some);
        }
        // SAFETY: MPI_Status is a struct of integers, for which zero is a value.
        Ok((done != 0).then(|| (which as usize, unsafe { status.assume_init() })))
    }

    /// A rank whose block has not come.
    pub(in crate::host) fn missing(&self) -> Option<u32> {
        self.transfers.iter().find_map(|flight| match flight {
            Transfer::IncomingBlock { from, .. } => Some(*from),
            Transfer::IncomingPacket(..)
            | Transfer::OutgoingPacket(_)
            | Transfer::OutgoingBlock { .. } => None,
        })
    }
}

/// Memory that is kept from call to call: pieces, and bytes of all of them.
const KEPT: (usize, usize) = (32, 8 << 20);

/// The smallest piece of memory.
const MEMORY_BYTES: usize = 256;

/// From here on, pieces are a multiple of this; below, a power of two.
const PAGE_BYTES: usize = 4096;
