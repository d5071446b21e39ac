//! [`ScriptWire`] for blocks that lie in the user's memory and go straight to their ranks.

use super::channel::Channel;
use super::patience::Patience;
use super::pending::Pending;
use super::requests::{Receive, Requests, Sending};
use super::start::Envelope;
use super::tags::call_tag;
use crate::engine::{Complete, Limits, ScriptWire};
use crate::host::data::blocks::UserBlocks;
use crate::host::data::elements::Message;
use crate::host::data::sides::{Side, Sides};
use crate::host::data::staging::StagingRoom;
use crate::host::library::table::Mpi;
use crate::host::object::attr::Datatype;
use crate::host::object::code::Code;
use crate::host::object::failure::{Failure, at};
use crate::script::{Cut, Join, Source, Take};
use std::ops::Range;
use std::time::Instant;

/// What a wire is made for.
#[derive(Clone, Copy)]
pub struct PairsJob<'a> {
    /// The host.
    pub mpi: &'a Mpi,
    /// The channel communicator.
    pub channel: Channel<'a>,
    /// What tells this call's messages from those of any other call. The size of a message does so too: only its two
    /// ends know it.
    pub facts: [u64; 2],
    /// The blocks of the script: those for all ranks, and those of all ranks.
    pub sides: &'a Sides,
    /// Their bytes.
    pub cut: &'a Cut,
}

/// A wire for a script of [`crate::script::pairs`].
pub struct MpiPairsWire<'a> {
    job: PairsJob<'a>,
    requests: &'a mut Requests,
    patience: Patience,
    /// Times are counted from here on.
    start: Instant,
}

impl Requests {
    /// Makes room for messages within these limits, to and from all of `p` ranks.
    pub fn reserve_pairs(&mut self, limits: &Limits, p: u32) -> Result<(), Code> {
        self.copies.clear();
        self.reserve(limits, p - 1, StagingRoom::none())?;
        self.flow.meet(0..p).map_err(|_| Code::no_mem())
    }
}

impl<'a> MpiPairsWire<'a> {
    /// A wire for which [`Requests::reserve_pairs`] made room.
    pub fn new(job: PairsJob<'a>, requests: &'a mut Requests) -> MpiPairsWire<'a> {
        requests.begin();
        MpiPairsWire {
            patience: Patience::new(job.channel.timeout_s),
            start: Instant::now(),
            job,
            requests,
        }
    }

    fn envelope(&self, rank: u32, bytes: u64) -> Envelope<'_> {
        let ([a, b], channel) = (self.job.facts, self.job.channel);
        channel.envelope(rank, call_tag([a, b, bytes, 0], channel.tags))
    }

    /// The block of `rank` on one side, which has bytes.
    fn block(&self, side: &Side, rank: u32) -> Result<UserBlocks<'static>, Failure> {
        let block = side.block(self.job.mpi, rank);
        let block = block.map_err(at("looking at a block"))?;
        block.ok_or(Failure::Host(Code::intern(), "looking at a block"))
    }
}

impl Drop for MpiPairsWire<'_> {
    fn drop(&mut self) {
        self.requests.leave();
    }
}

impl ScriptWire for MpiPairsWire<'_> {
    type Error = Failure;

    fn receive(&mut self, from: u32, blocks: &Range<u32>, _join: Join) -> Result<bool, Failure> {
        let (mpi, bytes) = (self.job.mpi, self.job.cut.count(blocks));
        let block = self.block(&self.job.sides.receive, from)?;
        let message = block.message(mpi, from).map_err(at("receiving"))?;
        let envelope = self.envelope(from, bytes);
        // SAFETY: the elements lie there by the contract of whoever made the call, until it returns, which it does not
        // before the request is complete. What is in place has been copied. The host keeps what it needs of a type that
        // is freed while a message is under way.
        let request = unsafe { mpi.start_receive(message.chunk(), envelope) }?;
        let receive = Receive::new(bytes, envelope.tag);
        (self.requests.receives).push(from, Pending::new(request), receive);
        Ok(true)
    }

    fn send(&mut self, to: u32, blocks: &Range<u32>, ahead: bool) -> Result<bool, Failure> {
        let (mpi, bytes) = (self.job.mpi, self.job.cut.count(blocks));
        // Nothing follows it to the same rank.
        let Some(synchronous) = self.requests.may_send(to, bytes, 0, ahead) else {
            return Ok(false);
        };
        let message = match &self.job.sides.send {
            Some(side) => self.block(side, to)?.message(mpi, to),
            None => {
                let copies = &mut self.requests.copies;
                let copy = copies.iter_mut().find(|(rank, _)| *rank == to);
                let (_, copy) = copy.ok_or(Failure::Host(Code::intern(), "sending"))?;
                let (address, bytes) = (copy.as_mut_ptr(), copy.len() as u64);
                Message::new(mpi, address, bytes, Datatype(mpi.h.byte), 1)
            }
        };
        let message = message.map_err(at("sending"))?;
        let envelope = self.envelope(to, bytes);
        // SAFETY: as in `receive`. A copy has as many bytes, and stays where it is until its send is complete.
        let request = unsafe { mpi.start_send(message.chunk(), envelope, synchronous) }?;
        let message = Pending::of_send(mpi, request, synchronous)?;
        let sending = Sending {
            staged: None,
            synchronous,
        };
        (self.requests).sent((to, bytes), message, sending, ahead, self.start);
        Ok(true)
    }

    fn poll(&mut self) -> Result<Option<Complete>, Failure> {
        let Some((complete, rank)) = self.requests.complete(self.job.mpi, self.start)? else {
            return Ok(None);
        };
        if let Complete::Send(_) = complete {
            self.requests.copies.retain(|(to, _)| *to != rank);
        }
        self.patience.moved();
        Ok(Some(complete))
    }

    fn take(&mut self, _receive: Option<u32>, take: &Take) -> Result<(), Failure> {
        if let Source::Rank(_) = take.source {
            return Ok(()); // it came to its place
        }
        // A block that is to be replaced, and goes to the rank of its copy.
        let rank = take.blocks.start;
        let block = self.block(&self.job.sides.receive, rank)?;
        let mut copy = Vec::new();
        (block.read(self.job.mpi, self.job.channel.comm, rank, &mut copy))
            .map_err(at("packing"))?;
        self.requests.copies.push((rank, copy));
        Ok(())
    }

    fn idle(&mut self) -> Result<(), Failure> {
        (self.requests).idle(self.job.mpi, self.job.channel, &mut self.patience)
    }
}
