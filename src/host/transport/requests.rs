//! Requests in flight of everything but gathers and scatters, the memory that they keep, and what their wires have in
//! common.

use super::channel::Channel;
use super::patience::Patience;
use super::pending::{Pending, first_message, peek, test, verify, was_taken_back};
use super::script_wire::Staged;
use crate::engine::rooted::Misfit;
use crate::engine::{Limits, Line, Sends};
use crate::flow::{Flow, Verdict};
use crate::host::data::lent;
use crate::host::data::staging::{Run, Staging, StagingRoom};
use crate::host::library::abi::Abi;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::host::object::code::Code;
use crate::host::object::failure::Failure;
use std::collections::TryReserveError;
use std::time::{Duration, Instant};

/// From this length on a packet of a gather or scatter is complete only when it has reached a receive (`MPI_Issend`).
/// Where time is simulated, so is every message: that costs nothing there, and keeps ranks in step. Elsewhere, [`Flow`]
/// says which ones are.
pub const SYNCHRONOUS_BYTES: u64 = 4096;

/// A receive in flight.
#[derive(Clone, Copy)]
pub(super) struct Receive {
    pub(super) len: u64,
    /// Its number in staging memory, if it is to be taken from there to its places.
    pub(super) staged: Option<u32>,
    /// What its message goes by.
    pub(super) tag: i32,
    /// Has it been taken back, should no message have met it?
    pub(super) doubted: bool,
}

impl Receive {
    /// One of so many bytes in their place.
    pub(super) fn new(len: u64, tag: i32) -> Receive {
        Receive {
            len,
            staged: None,
            tag,
            doubted: false,
        }
    }

    /// Has it its message, and not been taken back? `status` is that of a receive that is complete.
    fn check(&self, mpi: &Mpi, from: u32, status: &sys::MPI_Status) -> Result<(), Failure> {
        if self.doubted && was_taken_back(mpi, status)? {
            return Err(Misfit::Stranger(from).into());
        }
        Ok(())
    }
}

/// A send in flight.
#[derive(Clone, Copy)]
pub(super) struct Sending {
    pub(super) staged: Option<u32>,
    pub(super) synchronous: bool,
}

/// The requests in flight, what is known of the edges to other ranks, and the staging memory for messages whose pieces
/// do not lie side by side. The memory is kept from call to call so that a call allocates nothing.
#[derive(Default)]
pub struct Requests {
    pub(super) receives: Line<Pending, Receive>,
    pub(super) sends: Sends<Pending, Sending>,
    /// In-flight control.
    pub flow: Flow,
    pub(super) staged_in: Staging,
    pub(super) staged_out: Staging,
    /// The message at hand.
    pub(super) runs: Vec<Run>,
    /// Operands on their way.
    pub(super) operands: Staged,
    /// Blocks that are on their way to ranks and have been replaced.
    pub(super) copies: Vec<(u32, Vec<u8>)>,
}

// SAFETY: requests are handles that any thread may pass to MPI; a communicator's requests are used by
// one call at a time.
unsafe impl Send for Requests {}

impl Requests {
    /// Makes room for messages within these limits, to and from at most `neighbors` ranks each, and for staging, so
    /// that a wire does not allocate.
    pub fn reserve(
        &mut self,
        limits: &Limits,
        neighbors: u32,
        staging: StagingRoom,
    ) -> Result<(), Code> {
        let mut reserve = || {
            self.receives.reserve(limits.receives)?;
            self.sends.reserve(limits.sends)?;
            self.flow.reserve(limits.sends, neighbors)?;
            self.runs.clear();
            self.runs.try_reserve(staging.pieces)?;
            self.staged_in.begin(&staging)?;
            self.staged_out.begin(&staging)
        };
        reserve().map_err(|_: TryReserveError| Code::no_mem())
    }

    /// A call begins for which there is room.
    pub(super) fn begin(&mut self) {
        self.receives.begin();
        self.sends.begin();
        self.flow.begin();
    }

    /// A wire is dropped. If messages are under way, something failed.
    pub(super) fn leave(&mut self) {
        if self.receives.pending().next().is_some() || self.sends.pending().next().is_some() {
            lent::give_up();
        }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.receives.bytes()
            + self.sends.bytes()
            + self.flow.bytes()
            + self.runs.capacity() * size_of::<Run>()
            + self.staged_in.bytes()
            + self.staged_out.bytes()
            + self.operands.bytes()
    }
}

/// What the wires have in common.
impl Requests {
    /// May a message of `len` bytes leave to rank `to`, to which about `more` bytes follow in this call, and is it to
    /// be sent synchronously? It may go `ahead` of others, which wait for something.
    pub(super) fn may_send(&mut self, to: u32, len: u64, more: u64, ahead: bool) -> Option<bool> {
        // Where time is simulated, nothing tells the flow that short messages have arrived.
        let simulated = Abi::BUILT.is_simulated();
        let has_room = || simulated || self.flow.has_room(to, len);
        // What is in its turn must be found complete whenever it is.
        if ahead && !(self.flow.wire_holds(len) && has_room() && self.sends.is_by_itself(to)) {
            return None;
        }
        if simulated {
            return Some(len >= SYNCHRONOUS_BYTES);
        }
        match self.flow.ask(to, len, more) {
            Verdict::Wait => None,
            Verdict::Synchronous => Some(true),
            Verdict::Standard => Some(false),
        }
    }

    /// A message of `len` bytes has been started to rank `to`, `ahead` of others or in its turn. Times are counted from
    /// `start` on.
    pub(super) fn sent(
        &mut self,
        (to, len): (u32, u64),
        message: Pending,
        sending: Sending,
        ahead: bool,
        start: Instant,
    ) {
        let mark = (sending.synchronous).then(|| start.elapsed().as_nanos() as u64);
        self.flow.sent(to, len, mark, ahead);
        (self.sends).push(to, sending.synchronous, message, sending);
    }

    /// A receive that is complete, and has the message that it should: its number, its rank, and what is known of it.
    pub(super) fn received(&mut self, mpi: &Mpi) -> Result<Option<(u32, u32, Receive)>, Failure> {
        let Some((number, from, status, receive)) =
            self.receives.poll(|message| test(mpi, message))?
        else {
            return Ok(None);
        };
        receive.check(mpi, from, &status)?;
        // What an `int` cannot count was told apart by its tag.
        if receive.len <= i32::MAX as u64 {
            verify(mpi, &status, from, receive.len)?;
        }
        Ok(Some((number, from, receive)))
    }

    /// A send that is complete: its number, its rank, and what is known of it.
    pub(super) fn delivered(
        &mut self,
        mpi: &Mpi,
        start: Instant,
    ) -> Result<Option<(u32, u32, Sending)>, Failure> {
        let Some((number, to, _, sending)) = self.sends.poll(|message| test(mpi, message))? else {
            return Ok(None);
        };
        if sending.synchronous {
            let now = start.elapsed().as_nanos() as u64;
            self.flow.acknowledged(to, now);
        }
        Ok(Some((number, to, sending)))
    }

    /// Nothing can be done before an operation is complete: lets a moment pass, and looks around when it is time to.
    pub(super) fn be_patient(
        &mut self,
        mpi: &Mpi,
        channel: Channel<'_>,
        patience: &mut Patience,
    ) -> Result<(), Failure> {
        match patience.wait() {
            Some(idle) => self.look_around(mpi, channel, patience, idle),
            None => Ok(()),
        }
    }

    /// Nothing has happened for so long: is it because the ranks disagree about the call?
    ///
    /// Looks for a message of another call from a rank whose message to this call is still missing. That rank sent all
    /// its messages to this call before any to a later one, and MPI matches messages of one rank in order: a probe for
    /// any tag finds none that was sent behind one which could have been found. So the missing message has met its
    /// receive, or it will not come any more, because that rank takes this call for another.
    ///
    /// Order of matching is not order of completion: a message that has met its receive is found by no probe, though
    /// the rest of it may be under way for as long as it takes. So the receive is taken back, which has no effect if
    /// its message has met it.
    fn look_around(
        &mut self,
        mpi: &Mpi,
        channel: Channel<'_>,
        patience: &Patience,
        idle: Duration,
    ) -> Result<(), Failure> {
        let mut missing = None;
        for (from, message, receive) in self.receives.pending() {
            // One behind the oldest may have come, and its rank may be in a later call by now.
            if let Some(status) = peek(mpi, message)? {
                receive.check(mpi, from, &status)?;
                continue;
            }
            let first = match receive.doubted {
                true => None,
                false => first_message(mpi, channel, Some(from))?,
            };
            if first.is_some_and(|message| message.MPI_TAG != receive.tag) {
                // The search for messages may have brought this one as well.
                if let Some(status) = peek(mpi, message)? {
                    receive.check(mpi, from, &status)?;
                    continue;
                }
                message.take_back(mpi)?;
                receive.doubted = true;
            }
            missing = missing.or(Some(from));
        }
        patience.check(idle, missing)
    }
}
