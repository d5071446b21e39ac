//! [`Wire`] over the host's point-to-point messages.

use super::line::Line;
use super::patience::{
    Patience, Pending, first_message, peek, probe, verify, wait, was_taken_back,
};
use super::script_wire::Staged;
use super::start::Envelope;
use super::view::View;
use crate::engine::rooted::Misfit;
use crate::engine::{Event, Limits, Piece, Wire};
use crate::flow::{Flow, Verdict};
use crate::host::data::data::Data;
use crate::host::data::lent;
use crate::host::data::staging::{Run, Staging, StagingRoom};
use crate::host::library::abi::Abi;
use crate::host::library::handle::Comm;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::host::object::code::Code;
use crate::host::object::failure::{Failure, at};
use std::collections::TryReserveError;
use std::time::{Duration, Instant};

/// Where time is simulated, from this length on a send is complete only when its message has reached a receive
/// (`MPI_Issend`): that costs nothing there, and keeps ranks in step. Elsewhere, [`Flow`] says which ones are.
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
}

impl Receive {
    /// Has it its message, and not been taken back? `status` is that of a receive that is complete.
    pub(super) fn check(
        &self,
        mpi: &Mpi,
        from: u32,
        status: &sys::MPI_Status,
    ) -> Result<(), Failure> {
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
    pub(super) receives: Line<Receive>,
    pub(super) sends: Line<Sending>,
    /// In-flight control.
    pub flow: Flow,
    /// An earlier call, which this rank left with an error, may have left messages.
    pub strayed: bool,
    staged_in: Staging,
    staged_out: Staging,
    /// The message at hand.
    runs: Vec<Run>,
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

/// What the wires of a call have in common.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The host.
    pub mpi: &'a Mpi,
    /// The private communicator.
    pub comm: Comm,
    /// What tells this call's messages from those of any other call, see [`super::tags::call_tag`].
    pub tag: i32,
    /// What is exchanged.
    pub data: &'a Data<'a>,
    /// If the data are packed: is that to be done as they are sent, as at the root of a broadcast, or
    /// are they to be unpacked?
    pub packs: bool,
    /// See `RONDO_SYNC_FREQ`.
    pub sync_freq: u32,
    /// See `RONDO_TIMEOUT_S`.
    pub timeout_s: u32,
}

impl Job<'_> {
    /// Puts what has arrived where the user wants it: the first `arrived` bytes, or all at the end.
    pub fn unpack(&self, arrived: u64) -> Result<(), Failure> {
        match self.data {
            Data::Packed(packed) if !self.packs => packed.unpack(self.mpi, self.comm, arrived),
            Data::Packed(_) | Data::Run(_) | Data::Parts(_) => Ok(()),
        }
    }

    /// The envelope of a message from or to a rank.
    fn envelope(&self, rank: u32) -> Envelope {
        Envelope {
            rank,
            tag: self.tag,
            comm: self.comm,
        }
    }

    /// Sees to it that the first `end` bytes can be sent.
    pub(in crate::host) fn pack(&self, end: u64) -> Result<(), Failure> {
        match self.data {
            Data::Packed(packed) if self.packs => packed.pack(self.mpi, self.comm, end),
            Data::Packed(_) | Data::Run(_) | Data::Parts(_) => Ok(()),
        }
    }
}

/// A wire of a call.
pub struct MpiWire<'a> {
    job: Job<'a>,
    requests: &'a mut Requests,
    view: View<'a>,
    patience: Patience,
    /// Times are counted from here on.
    start: Instant,
}

impl<'a> MpiWire<'a> {
    /// A wire as `view` has it.
    pub fn new(job: &Job<'a>, requests: &'a mut Requests, view: View<'a>) -> MpiWire<'a> {
        requests.receives.begin();
        requests.sends.begin();
        requests.flow.begin(job.sync_freq);
        MpiWire {
            job: *job,
            requests,
            view,
            patience: Patience::new(job.timeout_s),
            start: Instant::now(),
        }
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
///
/// If this rank has left an earlier call, a message of that one says nothing: then no receive is taken back.
pub(super) fn look_around(
    mpi: &Mpi,
    comm: Comm,
    requests: &mut Requests,
    patience: &Patience,
    idle: Duration,
) -> Result<(), Failure> {
    let mut missing = None;
    for (from, message, receive) in requests.receives.pending() {
        // One behind the oldest may have come, and its rank may be in a later call by now.
        if let Some(status) = peek(mpi, message)? {
            receive.check(mpi, from, &status)?;
            continue;
        }
        missing = missing.or(Some(from));
        let first = match receive.doubted || requests.strayed {
            true => None,
            false => first_message(mpi, comm, Some(from))?,
        };
        if first.is_some_and(|message| message.MPI_TAG != receive.tag) {
            message.take_back(mpi)?;
            receive.doubted = true;
        }
    }
    patience.check(idle, missing)
}

impl MpiWire<'_> {
    /// Waits where time is simulated: it passes while a rank waits in the host, and a little in a search.
    fn let_time_pass(&mut self) -> Result<(), Failure> {
        if let View::Nodes { .. } = self.view {
            // The leader of a node may have messages under way inside it as well.
            let comm = self.job.comm;
            probe(self.job.mpi, comm, sys::MPI_ANY_SOURCE, self.job.tag)?;
            return Ok(());
        }
        let Requests {
            receives, sends, ..
        } = &mut *self.requests;
        let receive = receives.pending().next().map(|(_, message, _)| message);
        let send = sends.pending().next().map(|(_, message, _)| message);
        wait(self.job.mpi, receive.into_iter().chain(send))
    }
}

impl Drop for MpiWire<'_> {
    fn drop(&mut self) {
        self.requests.leave();
    }
}

impl Wire for MpiWire<'_> {
    type Error = Failure;

    fn recv(&mut self, from: u32, pieces: &[Piece]) -> Result<bool, Failure> {
        let from = self.view.rank(from);
        let view = self.view;
        let len = view.runs(self.job.data, pieces, &mut self.requests.runs);
        let (address, staged) = match self.requests.runs[..] {
            [run] => (run.address, None),
            _ => match self.requests.staged_in.reserve(&self.requests.runs, len) {
                Some((address, number)) => (address, Some(number)),
                None => return Ok(false),
            },
        };
        let chunk = self.job.mpi.bytes_at(address, len);
        // SAFETY: the pieces lie inside the parts, whose memory is the user's buffer (by the caller's
        // MPI contract), the packed copy or staging memory; nothing else touches these bytes until
        // the request is complete, and the call does not return before. Messages fit an int.
        let request = unsafe { self.job.mpi.start_receive(chunk, self.job.envelope(from)) }?;
        let receive = Receive {
            staged,
            ..Receive::new(len, self.job.tag)
        };
        self.requests
            .receives
            .push(from, Pending::new(request), receive);
        Ok(true)
    }

    fn send(&mut self, to: u32, pieces: &[Piece], more: u64) -> Result<bool, Failure> {
        let to = self.view.rank(to);
        let view = self.view;
        let len = view.runs(self.job.data, pieces, &mut self.requests.runs);
        let synchronous = match self.requests.flow.ask(to, len, more) {
            _ if Abi::BUILT.is_simulated() => len >= SYNCHRONOUS_BYTES,
            Verdict::Wait => return Ok(false),
            Verdict::Synchronous => true,
            Verdict::Standard => false,
        };
        let end = pieces.iter().map(|piece| self.view.end(piece)).max();
        self.job.pack(end.unwrap_or(0))?;
        let (address, staged) = match self.requests.runs[..] {
            [run] => (run.address, None),
            _ => match self.requests.staged_out.reserve(&self.requests.runs, len) {
                Some((address, number)) => {
                    let (mpi, comm) = (self.job.mpi, self.job.comm);
                    (self.requests.staged_out.gather(mpi, comm)).map_err(at("packing"))?;
                    (address, Some(number))
                }
                None => return Ok(false),
            },
        };
        let chunk = self.job.mpi.bytes_at(address, len);
        let envelope = self.job.envelope(to);
        // SAFETY: as in `recv`; the bytes are there, because the engine sends only blocks that have
        // arrived, or that are this rank's own.
        let request = unsafe { self.job.mpi.start_send(chunk, envelope, synchronous) }?;
        let message = Pending::of_send(self.job.mpi, request, synchronous)?;
        let mark = synchronous.then(|| self.start.elapsed().as_nanos() as u64);
        self.requests.flow.sent(to, len, mark, false);
        let sending = Sending {
            staged,
            synchronous,
        };
        self.requests.sends.push(to, message, sending);
        Ok(true)
    }

    fn poll(&mut self) -> Result<Option<Event>, Failure> {
        let (mpi, requests) = (self.job.mpi, &mut *self.requests);
        let event = if let Some((number, from, status, receive)) = requests.receives.poll(mpi)? {
            receive.check(mpi, from, &status)?;
            verify(mpi, &status, from, receive.len)?;
            if let Some(staged) = receive.staged {
                let unpacked = requests.staged_in.scatter(mpi, self.job.comm, staged);
                unpacked.map_err(at("unpacking"))?;
                requests.staged_in.release(staged);
            }
            Event::Received(number)
        } else if let Some((_, to, _, sending)) = requests.sends.poll(mpi)? {
            if let Some(staged) = sending.staged {
                requests.staged_out.release(staged);
            }
            if sending.synchronous {
                let now = self.start.elapsed().as_nanos() as u64;
                requests.flow.acknowledged(to, now);
            }
            Event::Sent
        } else {
            return Ok(None);
        };
        self.patience.moved();
        Ok(Some(event))
    }

    fn idle(&mut self, arrived: u64) -> Result<(), Failure> {
        self.job.unpack(self.view.arrived(arrived))?;
        if Abi::BUILT.is_simulated() {
            return self.let_time_pass();
        }
        match self.patience.wait() {
            Some(idle) => look_around(
                self.job.mpi,
                self.job.comm,
                self.requests,
                &self.patience,
                idle,
            ),
            None => Ok(()),
        }
    }
}
