//! [`Wire`] over the host's point-to-point messages.

use super::channel::Channel;
use super::patience::Patience;
use super::pending::{Pending, probe, wait};
use super::requests::{Receive, Requests, Sending};
use super::start::Envelope;
use super::view::View;
use crate::engine::{Event, Piece, Wire};
use crate::host::data::data::Data;
use crate::host::library::abi::Abi;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::host::object::failure::{Failure, at};
use std::time::Instant;

/// What the wires of a call have in common.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The host.
    pub mpi: &'a Mpi,
    /// How its messages travel.
    pub channel: Channel<'a>,
    /// What tells this call's messages from those of any other call, see [`super::tags::call_tag`].
    pub tag: i32,
    /// What is exchanged.
    pub data: &'a Data<'a>,
    /// If the data are packed: is that to be done as they are sent, as at the root of a broadcast, or
    /// are they to be unpacked?
    pub packs: bool,
}

impl<'a> Job<'a> {
    /// Puts what has arrived where the user wants it: the first `arrived` bytes, or all at the end.
    pub fn unpack(&self, arrived: u64) -> Result<(), Failure> {
        match self.data {
            Data::Packed(packed) if !self.packs => {
                packed.unpack(self.mpi, self.channel.comm, arrived)
            }
            Data::Packed(_) | Data::Run(_) | Data::Parts(_) => Ok(()),
        }
    }

    /// The envelope of a message from or to a rank.
    fn envelope(&self, rank: u32) -> Envelope<'a> {
        self.channel.envelope(rank, self.tag)
    }

    /// Sees to it that the first `end` bytes can be sent.
    pub(in crate::host) fn pack(&self, end: u64) -> Result<(), Failure> {
        match self.data {
            Data::Packed(packed) if self.packs => packed.pack(self.mpi, self.channel.comm, end),
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
        requests.begin();
        MpiWire {
            job: *job,
            requests,
            view,
            patience: Patience::new(job.channel.timeout_s),
            start: Instant::now(),
        }
    }
}

impl MpiWire<'_> {
    /// Waits where time is simulated: it passes while a rank waits in the host, and a little in a search.
    fn let_time_pass(&mut self) -> Result<(), Failure> {
        if let View::Nodes { .. } = self.view {
            // The leader of a node may have messages under way inside it as well.
            let channel = self.job.channel;
            probe(self.job.mpi, channel, sys::MPI_ANY_SOURCE, self.job.tag)?;
            return Ok(());
        }
        let Requests {
            receives, sends, ..
        } = &mut *self.requests;
        let receive = receives.pending().next().map(|(_, message, _)| message);
        let send = sends.pending().next().map(|(_, message)| message);
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
        let Some(synchronous) = self.requests.may_send(to, len, more, false) else {
            return Ok(false);
        };
        let end = pieces.iter().map(|piece| self.view.end(piece)).max();
        self.job.pack(end.unwrap_or(0))?;
        let (address, staged) = match self.requests.runs[..] {
            [run] => (run.address, None),
            _ => match self.requests.staged_out.reserve(&self.requests.runs, len) {
                Some((address, number)) => {
                    let (mpi, channel) = (self.job.mpi, self.job.channel.comm);
                    (self.requests.staged_out.gather(mpi, channel)).map_err(at("packing"))?;
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
        let sending = Sending {
            staged,
            synchronous,
        };
        (self.requests).sent((to, len), message, sending, false, self.start);
        Ok(true)
    }

    fn poll(&mut self) -> Result<Option<Event>, Failure> {
        let (mpi, requests) = (self.job.mpi, &mut *self.requests);
        let event = if let Some((number, _, receive)) = requests.received(mpi)? {
            if let Some(staged) = receive.staged {
                let unpacked = requests
                    .staged_in
                    .scatter(mpi, self.job.channel.comm, staged);
                unpacked.map_err(at("unpacking"))?;
                requests.staged_in.release(staged);
            }
            Event::Received(number)
        } else if let Some((_, _, sending)) = requests.delivered(mpi, self.start)? {
            if let Some(staged) = sending.staged {
                requests.staged_out.release(staged);
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
        (self.requests).be_patient(self.job.mpi, self.job.channel, &mut self.patience)
    }
}
