//! [`Carrier`] over the host's point-to-point messages.

use super::blocks::Blocks;
use super::call::Way;
use super::elements::Message;
use super::failure::{Failure, at};
use super::handles::{Code, Comm, check};
use super::patience::{Patience, first_message, is_overdue, length, probe, test, verify};
use super::table::Usable;
use super::wire::{SYNCHRONOUS_BYTES, call_tag};
use crate::engine::rooted::{Carrier, Event};
use mpi_sys as sys;
use std::ffi::c_int;
use std::time::Duration;

/// Requests of one kind that are looked at in one poll.
const LOOKS: usize = 4;

/// Requests in flight of one kind, each with what belongs to it.
struct Flights<T> {
    flights: Vec<(sys::MPI_Request, T)>,
    /// Where the next look begins: so that all have their turn, though only a few are looked at in a
    /// poll. Each look makes the host look for messages, which costs more than a look itself.
    next: usize,
}

impl<T> Default for Flights<T> {
    fn default() -> Self {
        Flights {
            flights: Vec::new(),
            next: 0,
        }
    }
}

impl<T> Flights<T> {
    /// What belongs to one that is complete, and its status.
    fn take(&mut self, host: &Usable) -> Result<Option<(T, sys::MPI_Status)>, Failure> {
        for _ in 0..LOOKS.min(self.flights.len()) {
            let i = self.next % self.flights.len();
            if let Some(status) = test(host, &mut self.flights[i].0)? {
                self.next = i; // of the one that takes its place
                return Ok(Some((self.flights.swap_remove(i).1, status)));
            }
            self.next = i + 1;
        }
        Ok(None)
    }
}

/// A block on its way, in the user's memory.
struct Flight {
    other: u32,
    bytes: u64,
    _message: Message,
}

/// The mail and blocks of a communicator's calls, in flight and, kept for later, at rest.
#[derive(Default)]
pub struct Post {
    arriving: Flights<(u32, Vec<u8>)>,
    leaving: Flights<Vec<u8>>,
    received: Flights<Flight>,
    sent: Flights<Flight>,
    memory: Vec<Vec<u8>>,
}

// SAFETY: requests and datatypes are handles that any thread may pass to MPI; a communicator's
// requests are used by one call at a time.
unsafe impl Send for Post {}

impl Post {
    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let memory: usize = self.memory.iter().map(Vec::capacity).sum();
        memory + self.memory.capacity() * size_of::<Vec<u8>>()
    }
}

/// Memory that is kept from call to call: pieces, and bytes in each.
const KEPT: (usize, usize) = (32, 1 << 20);

/// The tags of a call.
///
/// Mail is received from anybody, so its tag must be that of no other call that may be under way: the
/// upper half of the tags are the numbers of calls, twice, even for a gather and odd for a scatter. Blocks are
/// received from a certain rank, whose messages come in order; their tags are hashes. The lowest bits
/// are a hash of the size, so that a rank can tell a block of another size in the same call from one of
/// another call.
#[derive(Clone, Copy)]
pub struct Tags {
    mail: u32,
    block: c_int,
    mask: u32,
}

impl Tags {
    const SIZE_BITS: c_int = 0x3f;

    /// The tags of the call of this number; the ranks must agree on all `facts`. `mask` are the bits that a
    /// tag may have.
    pub fn new(way: Way, sequence: u64, facts: [u64; 3], mask: u32) -> Tags {
        let [a, b, c] = facts;
        let half = mask >> 1;
        let number = (sequence as u32) << 1 | u32::from(way == Way::Scatter);
        Tags {
            mail: (number & half) | (mask ^ half),
            block: call_tag([a, b, c, sequence], mask) & !Tags::SIZE_BITS,
            mask,
        }
    }

    fn mail(&self) -> c_int {
        self.mail as c_int
    }

    fn block(&self, bytes: u64) -> c_int {
        self.block | (call_tag([bytes, 0, 0, 0], self.mask) & Tags::SIZE_BITS)
    }

    /// Is this the tag of a block of this call, of whatever size?
    fn is_block(&self, tag: c_int) -> bool {
        tag & !Tags::SIZE_BITS == self.block
    }

    /// Is this the tag of mail that this rank did not expect from an earlier scatter?
    ///
    /// Mail of an earlier gather is what others sent to a root that only reported an error.
    fn is_late(&self, tag: c_int) -> bool {
        let half = self.mask >> 1;
        let behind = self.mail.wrapping_sub(tag as u32) & half;
        tag as u32 > half && tag & 1 == 1 && (1..=half / 2).contains(&behind)
    }
}

/// One rank's carrier in one call.
pub struct MpiCarrier<'a> {
    host: &'a Usable,
    comm: Comm,
    root: u32,
    tags: Tags,
    post: &'a mut Post,
    blocks: Option<Blocks<'a>>,
    patience: Patience,
}

impl<'a> MpiCarrier<'a> {
    /// A carrier over `comm` for `blocks`, if this rank has any.
    pub fn new(
        host: &'a Usable,
        comm: Comm,
        root: u32,
        tags: Tags,
        post: &'a mut Post,
        blocks: Option<Blocks<'a>>,
        timeout_s: u32,
    ) -> MpiCarrier<'a> {
        MpiCarrier {
            host,
            comm,
            root,
            tags,
            post,
            blocks,
            patience: Patience::new(timeout_s),
        }
    }

    fn blocks(&self) -> &Blocks<'a> {
        self.blocks
            .as_ref()
            .expect("a rank without blocks is not asked for one")
    }

    /// Starts receiving mail that has arrived.
    fn fetch(&mut self) -> Result<bool, Failure> {
        let Some(status) = probe(self.host, self.comm, sys::MPI_ANY_SOURCE, self.tags.mail())?
        else {
            return Ok(false);
        };
        let bytes = length(self.host, &status)? as usize;
        let mut mail = self.memory(bytes)?;
        mail.resize(bytes, 0);
        let mut request = self.host.h.request_null;
        // SAFETY: the memory is as large, is not touched before the request is complete, and is kept
        // until then. No other receive takes this message: nobody else receives mail of this call.
        check(unsafe {
            (self.host.f.irecv)(
                mail.as_mut_ptr().cast(),
                bytes as c_int,
                self.host.h.byte,
                status.MPI_SOURCE,
                self.tags.mail(),
                self.comm.0,
                &mut request,
            )
        })
        .map_err(at("receiving"))?;
        let from = status.MPI_SOURCE as u32;
        self.post.arriving.flights.push((request, (from, mail)));
        Ok(true)
    }

    /// Nothing has happened for so long: is it because the ranks disagree about the call?
    fn look_around(&mut self, idle: Duration) -> Result<(), Failure> {
        let strange = self.stranger(idle)?;
        self.patience.suspect(strange)?;
        let oldest = self.post.received.flights.first();
        self.patience
            .check(idle, oldest.map(|(_, flight)| flight.other))
    }

    /// The sender of a message that should not be there, if one is: mail that an earlier call left; a
    /// block of this call, all of which have been asked for; any message from a rank whose block is missing, because
    /// messages of one rank come in order.
    fn stranger(&self, idle: Duration) -> Result<Option<u32>, Failure> {
        let tags = self.tags;
        for from in [None, Some(self.root)] {
            if let Some((from, tag)) = first_message(self.host, self.comm, from)?
                && (tags.is_late(tag) || tags.is_block(tag))
            {
                return Ok(Some(from));
            }
        }
        for (_, flight) in &self.post.received.flights {
            if is_overdue(flight.bytes, idle)
                && let Some((from, tag)) = first_message(self.host, self.comm, Some(flight.other))?
                && tag != tags.mail()
            {
                return Ok(Some(from));
            }
        }
        Ok(None)
    }
}

impl Carrier for MpiCarrier<'_> {
    type Error = Failure;

    fn memory(&mut self, bytes: usize) -> Result<Vec<u8>, Failure> {
        let memory = &mut self.post.memory;
        let enough = memory.iter().position(|m| m.capacity() >= bytes);
        let mut mail = match enough.or(memory.len().checked_sub(1)) {
            Some(i) => memory.swap_remove(i),
            None => Vec::new(),
        };
        mail.try_reserve(bytes)
            .map_err(|_| Failure::Host(Code::no_mem(), "making room for blocks"))?;
        Ok(mail)
    }

    fn give_back(&mut self, mut memory: Vec<u8>) {
        let (pieces, bytes) = KEPT;
        if memory.capacity() <= bytes && self.post.memory.len() < pieces {
            memory.clear();
            self.post.memory.push(memory);
        }
    }

    fn mail(&mut self, to: u32, mail: Vec<u8>) -> Result<(), Failure> {
        let mut request = self.host.h.request_null;
        let send = match mail.len() as u64 {
            ..SYNCHRONOUS_BYTES => self.host.f.isend,
            _ => self.host.f.issend,
        };
        // SAFETY: the memory is kept and not touched until the request is complete.
        check(unsafe {
            send(
                mail.as_ptr().cast(),
                mail.len() as c_int,
                self.host.h.byte,
                to as c_int,
                self.tags.mail(),
                self.comm.0,
                &mut request,
            )
        })
        .map_err(at("sending"))?;
        self.post.leaving.flights.push((request, mail));
        Ok(())
    }

    fn send(&mut self, block: u32, to: u32) -> Result<(), Failure> {
        let blocks = self.blocks();
        let message = blocks.message(self.host, block).map_err(at("sending"))?;
        let (chunk, bytes) = (message.chunk(), blocks.bytes(block));
        let mut request = self.host.h.request_null;
        // SAFETY: the elements lie there by the contract of whoever made the call, until it returns, which
        // it does not before the request is complete.
        check(unsafe {
            (self.host.f.isend)(
                chunk.address.cast_const().cast(),
                chunk.count,
                chunk.datatype,
                to as c_int,
                self.tags.block(bytes),
                self.comm.0,
                &mut request,
            )
        })
        .map_err(at("sending"))?;
        let flight = Flight {
            other: to,
            bytes,
            _message: message,
        };
        self.post.sent.flights.push((request, flight));
        Ok(())
    }

    fn recv(&mut self, block: u32, from: u32) -> Result<(), Failure> {
        let blocks = self.blocks();
        let message = blocks.message(self.host, block).map_err(at("receiving"))?;
        let (chunk, bytes) = (message.chunk(), blocks.bytes(block));
        let mut request = self.host.h.request_null;
        // SAFETY: as in `send`; nothing else touches the block.
        check(unsafe {
            (self.host.f.irecv)(
                chunk.address.cast(),
                chunk.count,
                chunk.datatype,
                from as c_int,
                self.tags.block(bytes),
                self.comm.0,
                &mut request,
            )
        })
        .map_err(at("receiving"))?;
        let flight = Flight {
            other: from,
            bytes,
            _message: message,
        };
        self.post.received.flights.push((request, flight));
        Ok(())
    }

    fn read(&mut self, block: u32, mail: &mut Vec<u8>) -> Result<(), Failure> {
        self.blocks()
            .read(self.host, self.comm, block, mail)
            .map_err(at("packing"))
    }

    fn write(&mut self, block: u32, bytes: &[u8]) -> Result<(), Failure> {
        self.blocks()
            .write(self.host, self.comm, block, bytes)
            .map_err(at("unpacking"))
    }

    fn poll(&mut self) -> Result<Option<Event>, Failure> {
        while self.fetch()? {}
        let host = self.host;
        let event = if let Some(((from, mail), _)) = self.post.arriving.take(host)? {
            Event::Mail { from, mail }
        } else if let Some((flight, status)) = self.post.received.take(host)? {
            // The tag tells sizes apart, but not always.
            if flight.bytes <= c_int::MAX as u64 {
                verify(host, &status, flight.other, flight.bytes)?;
            }
            Event::Received
        } else if let Some((memory, _)) = self.post.leaving.take(host)? {
            self.give_back(memory);
            Event::Sent
        } else if self.post.sent.take(host)?.is_some() {
            Event::Sent
        } else {
            return Ok(None);
        };
        self.patience.moved();
        Ok(Some(event))
    }

    fn idle(&mut self) -> Result<(), Failure> {
        match self.patience.wait() {
            Some(idle) => self.look_around(idle),
            None => Ok(()),
        }
    }
}
