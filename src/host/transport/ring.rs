//! [`Local`] over the shared segment of a node.

use super::patience::{Patience, probe};
use super::wire::Job;
use crate::engine::node::{Local, MARK, Places};
use crate::engine::rooted::Misfit;
use crate::host::object::failure::Failure;
use crate::schedule::Span;
use crate::shm::Ring;
use std::ffi::c_int;
use std::time::Duration;

/// Idle polls between two calls of the host, which moves the user's own messages then: a rank of a node
/// that waits here may have a message under way that another one waits for before it comes here.
const POLLS_PER_PROBE: u32 = 8;

/// One rank's end of the ring in one call.
pub struct RingLocal<'a> {
    job: Job<'a>,
    ring: &'a mut Ring,
    places: Places<'a>,
    /// The ranks of the node.
    locals: &'a [u32],
    /// The number of the call in the upper half and a hash of what the ranks must agree on in the lower.
    call: u64,
    patience: Patience,
    polls: u32,
}

impl<'a> RingLocal<'a> {
    /// The ring in the call of this number; the ranks must agree on the `facts`.
    pub fn new(
        job: Job<'a>,
        ring: &'a mut Ring,
        places: Places<'a>,
        locals: &'a [u32],
        number: u64,
    ) -> RingLocal<'a> {
        let call = number << 32 | u64::from(job.tag as u32);
        ring.enter(call);
        RingLocal {
            job,
            ring,
            places,
            locals,
            call,
            patience: Patience::new(job.timeout_s),
            polls: 0,
        }
    }

    fn stranger(&self, local: u32) -> Failure {
        Misfit::Stranger(self.locals[local as usize]).into()
    }

    /// Nothing has happened for so long: is the rank whose bytes are missing in another call, or does it take
    /// this one for another?
    fn look_around(&mut self, idle: Duration, waiting: Option<u32>) -> Result<(), Failure> {
        let from = waiting.map(|local| self.locals[local as usize]);
        let strange = waiting.filter(|&local| {
            let theirs = self.ring.call_of(local);
            // Numbers wrap after 2^32 calls.
            let ahead = (theirs >> 32).wrapping_sub(self.call >> 32) as u32;
            theirs != self.call && ahead < 1 << 31
        });
        self.patience.suspect(strange.and(from))?;
        self.patience.check(idle, from)
    }
}

impl Local for RingLocal<'_> {
    type Error = Failure;

    fn capacity(&self) -> u64 {
        self.ring.capacity()
    }

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

    fn put(&mut self, at: u64, span: Span) -> Result<(), Failure> {
        self.job.pack(span.end())?;
        let mut at = at;
        self.places.each(span, |rank, span| {
            let from = self.job.data.part(rank).wrapping_add(span.offset as usize);
            // SAFETY: the bytes are the user's, by the contract of whoever made the call, or lie in the
            // packed copy; they are this rank's own or have arrived. Room as in `mark`.
            unsafe { self.ring.write(at, from.cast_const(), span.len as usize) };
            at += span.len;
        });
        Ok(())
    }

    fn get(&mut self, at: u64, span: Span) -> Result<(), Failure> {
        let mut at = at;
        self.places.each(span, |rank, span| {
            let to = self.job.data.part(rank).wrapping_add(span.offset as usize);
            // SAFETY: the place is the user's, by the contract of whoever made the call, or lies in the
            // packed copy, and nothing else is received there. The bytes are there, as in `check`.
            unsafe { self.ring.read(at, to, span.len as usize) };
            at += span.len;
        });
        Ok(())
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
            probe(self.job.mpi, self.job.comm, me as c_int, self.job.tag)?;
        }
        match self.patience.wait() {
            Some(idle) => self.look_around(idle, waiting),
            None => Ok(()),
        }
    }
}
