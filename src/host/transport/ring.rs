//! [`Local`] and [`Slots`] over the shared segment of a node.

use super::channel::Channel;
use super::patience::Patience;
use super::pending::probe;
use super::wire::Job;
use crate::engine::node::{Local, MARK, NodeRing, Places, Slots};
use crate::engine::rooted::Misfit;
use crate::host::data::operands::{Area, Operands};
use crate::host::library::table::Mpi;
use crate::host::object::failure::Failure;
use crate::schedule::Span;
use crate::shm::Ring;
use std::ffi::c_int;
use std::ops::Range;
use std::time::Duration;

/// Idle polls between two calls of the host, which moves the user's own messages then: a rank of a node
/// that waits here may have a message under way that another one waits for before it comes here.
const POLLS_PER_PROBE: u32 = 8;

/// One rank's end of the ring in one call: what it shows the other ranks of the node, waiting for them, and the data of
/// the call.
pub struct RingEnd<'a, D> {
    mpi: &'a Mpi,
    channel: Channel<'a>,
    tag: i32,
    ring: &'a mut Ring,
    /// The ranks of the node.
    locals: &'a [u32],
    /// The number of the call in the upper half and a hash of what the ranks must agree on in the lower.
    call: u64,
    patience: Patience,
    polls: u32,
    /// The rank of the node that was waited for at the last look around, if it was in a later call.
    ahead: Option<u32>,
    data: D,
}

/// A call, as the ranks of a node know it.
#[derive(Clone, Copy)]
pub struct NodeCall<'a> {
    /// The host.
    pub mpi: &'a Mpi,
    /// The channel communicator.
    pub channel: Channel<'a>,
    /// A hash of what the ranks must agree on.
    pub tag: i32,
    /// The number of the call.
    pub number: u64,
    /// The ranks of the node.
    pub locals: &'a [u32],
}

impl<'a, D> RingEnd<'a, D> {
    fn of(call: NodeCall<'a>, ring: &'a mut Ring, data: D) -> RingEnd<'a, D> {
        let word = call.number << 32 | u64::from(call.tag as u32);
        ring.enter(word);
        RingEnd {
            mpi: call.mpi,
            channel: call.channel,
            tag: call.tag,
            ring,
            locals: call.locals,
            call: word,
            patience: Patience::new(call.channel.timeout_s),
            polls: 0,
            ahead: None,
            data,
        }
    }

    fn stranger(&self, local: u32) -> Failure {
        Misfit::Stranger(self.locals[local as usize]).into()
    }

    /// Nothing has happened for so long: is the rank whose bytes are missing in another call, or does it take
    /// this one for another?
    ///
    /// What a rank has for this call it published before it went on. So if it is found in another call, and is still
    /// waited for at the next look, with looks at the ring in between, it takes this call for another. Others that are
    /// late as well say nothing of it.
    fn look_around(&mut self, idle: Duration, waiting: Option<u32>) -> Result<(), Failure> {
        let from = waiting.map(|local| self.locals[local as usize]);
        let strange = waiting.filter(|&local| {
            let theirs = self.ring.call_of(local);
            // Numbers wrap after 2^32 calls.
            let ahead = (theirs >> 32).wrapping_sub(self.call >> 32) as u32;
            theirs != self.call && ahead < 1 << 31
        });
        let before = std::mem::replace(&mut self.ahead, strange);
        match strange {
            Some(local) if before == strange => Err(self.stranger(local)),
            _ => self.patience.check(idle, from),
        }
    }
}

impl<D> NodeRing for RingEnd<'_, D> {
    type Error = Failure;

    fn has_room(&mut self, end: u64) -> bool {
        self.ring.has_room(end)
    }

    fn mark(&mut self, at: u64) {
        let mark = self.call.to_ne_bytes();
        // SAFETY: the ring has room, and these positions are this rank's to write.
        unsafe { self.ring.write(at, mark.as_ptr(), mark.len()) };
    }

    fn check(&mut self, at: u64, writer: u32) -> Result<(), Failure> {
        let mut mark = [0; MARK as usize];
        // SAFETY: the writer has published these bytes, and nobody writes there before this rank
        // releases them.
        unsafe { self.ring.read(at, mark.as_mut_ptr(), mark.len()) };
        if u64::from_ne_bytes(mark) == self.call {
            Ok(())
        } else {
            Err(self.stranger(writer))
        }
    }

    fn publish(&mut self, until: u64) {
        self.patience.moved();
        self.ring.publish(until);
    }

    fn written(&self, writer: u32) -> u64 {
        self.ring.written(writer)
    }

    fn release(&mut self, until: u64) {
        self.patience.moved();
        self.ring.release(until);
    }

    fn idle(&mut self, waiting: Option<u32>) -> Result<(), Failure> {
        self.polls = self.polls.wrapping_add(1);
        if self.polls.is_multiple_of(POLLS_PER_PROBE) {
            // A rank sends itself nothing: what counts is that the host looks.
            let me = self.locals[self.ring.me() as usize];
            probe(self.mpi, self.channel, me as c_int, self.tag)?;
        }
        match self.patience.wait() {
            Some(idle) => self.look_around(idle, waiting),
            None => Ok(()),
        }
    }
}

/// What an all-broadcast has: the job, and where its bytes are.
pub struct Exchanged<'a> {
    job: Job<'a>,
    places: Places<'a>,
}

/// The ring as an all-broadcast sees it.
pub type RingLocal<'a> = RingEnd<'a, Exchanged<'a>>;

impl<'a> RingLocal<'a> {
    /// The ring in the call of this number; `job.tag` is a hash of what the ranks must agree on.
    pub fn new(
        job: Job<'a>,
        ring: &'a mut Ring,
        places: Places<'a>,
        locals: &'a [u32],
        number: u64,
    ) -> RingLocal<'a> {
        let call = NodeCall {
            mpi: job.mpi,
            channel: job.channel,
            tag: job.tag,
            number,
            locals,
        };
        RingEnd::of(call, ring, Exchanged { job, places })
    }
}

impl Local for RingLocal<'_> {
    fn capacity(&self) -> u64 {
        self.ring.capacity()
    }

    fn put(&mut self, at: u64, span: Span) -> Result<(), Failure> {
        self.data.job.pack(span.end())?;
        let Exchanged { job, places } = &self.data;
        let (data, mut at) = (job.data, at);
        places.each(span, |rank, span| {
            let from = data.part(rank).wrapping_add(span.offset as usize);
            // SAFETY: the bytes are the user's, by the contract of whoever made the call, or lie in the
            // packed copy; they are this rank's own or have arrived. Room as in `mark`.
            unsafe { self.ring.write(at, from.cast_const(), span.len as usize) };
            at += span.len;
        });
        Ok(())
    }

    fn get(&mut self, at: u64, span: Span) -> Result<(), Failure> {
        let Exchanged { job, places } = &self.data;
        let (data, mut at) = (job.data, at);
        places.each(span, |rank, span| {
            let to = data.part(rank).wrapping_add(span.offset as usize);
            // SAFETY: the place is the user's, by the contract of whoever made the call, or lies in the
            // packed copy, and nothing else is received there. The bytes are there, as in `check`.
            unsafe { self.ring.read(at, to, span.len as usize) };
            at += span.len;
        });
        Ok(())
    }
}

/// Where elements come from and go to.
#[derive(Clone, Copy)]
pub struct SlotVectors<'a> {
    /// What is known of them.
    pub operands: &'a Operands<'a>,
    /// This rank's vector.
    pub from: Area,
    /// The result.
    pub to: Area,
}

/// The ring as a reduction sees it, or a barrier, in which nothing is reduced.
pub type RingSlots<'a> = RingEnd<'a, Option<SlotVectors<'a>>>;

impl<'a> RingSlots<'a> {
    /// The ring in a call that begins at the position `begin`, below which this rank needs nothing any more.
    pub fn new(
        call: NodeCall<'a>,
        ring: &'a mut Ring,
        begin: u64,
        vectors: Option<SlotVectors<'a>>,
    ) -> RingSlots<'a> {
        ring.release(begin);
        RingEnd::of(call, ring, vectors)
    }

    /// The address of so many elements in the ring.
    fn address(&self, operands: &Operands, at: u64, count: u64) -> *mut u8 {
        self.ring.address(at, operands.bytes(count) as usize)
    }
}

impl Slots for RingSlots<'_> {
    fn same(&mut self, rank: u32) -> Result<(), Failure> {
        match self.ring.call_of(rank) == self.call {
            true => Ok(()),
            false => Err(self.stranger(rank)),
        }
    }

    fn put(&mut self, at: u64, elements: Range<u64>) -> Result<(), Failure> {
        let Some(SlotVectors { operands, from, .. }) = self.data else {
            return Ok(());
        };
        let count = elements.end - elements.start;
        let to = self.address(operands, at, count);
        // SAFETY: this rank's vector can be read, by the contract of the call or because Rondo made it. The slot is
        // this rank's, has room, and nobody reads it before this rank publishes it.
        unsafe { operands.pack_elements(operands.place(from, elements.start), to, count) }
    }

    fn join(&mut self, left: u64, to: u64, count: u64) -> Result<(), Failure> {
        let Some(SlotVectors { operands, .. }) = self.data else {
            return Ok(());
        };
        let [left, to] = [left, to].map(|at| self.address(operands, at, count));
        // SAFETY: all ranks have published their slots, and these elements are this rank's to join: nobody else touches
        // them before it publishes that they are joined. Slots do not overlap.
        unsafe { operands.join_packed(left, to, count) }
    }

    fn get(&mut self, at: u64, elements: Range<u64>) -> Result<(), Failure> {
        let Some(SlotVectors { operands, to, .. }) = self.data else {
            return Ok(());
        };
        let count = elements.end - elements.start;
        let from = self.address(operands, at, count);
        // SAFETY: who wrote or joined these elements has published them, and nobody writes there before this rank
        // releases them. The result has room for them, by the contract of the call or because Rondo made it.
        unsafe { operands.unpack_elements(from, operands.place(to, elements.start), count) }
    }

    fn publish_joined(&mut self, until: u64) {
        self.patience.moved();
        self.ring.publish_joined(until);
    }

    fn joined(&self, rank: u32) -> u64 {
        self.ring.joined(rank)
    }
}
