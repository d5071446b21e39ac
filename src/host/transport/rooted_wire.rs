//! [`RootedWire`] over the host's point-to-point messages.

use super::channel::Channel;
use super::in_flight::{InFlight, Transfer};
use super::local_packets::{LocalPackets, MailboxEvent};
use super::patience::Patience;
use super::pending::{first_message, length, probe, take_back, verify, wait_any, was_taken_back};
use super::requests::SYNCHRONOUS_BYTES;
use super::start::Envelope;
use super::tags::Tags;
use crate::engine::rooted::{Misfit, RootedEvent, RootedWire};
use crate::host::call::RootedOp;
use crate::host::data::blocks::UserBlocks;
use crate::host::library::abi::Abi;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::host::object::code::Code;
use crate::host::object::failure::{Failure, at};
use std::ffi::c_int;
use std::time::Duration;

/// One rank's part in one gather or scatter.
pub struct MpiRootedWire<'a> {
    mpi: &'a Mpi,
    channel: Channel<'a>,
    root: u32,
    /// The number of the call, which all its packets carry behind them: that in their tag comes again.
    call: u64,
    tags: Tags,
    in_flight: &'a mut InFlight,
    blocks: Option<UserBlocks<'a>>,
    /// Packets of others on its node, if these do not come as messages.
    local: Option<LocalPackets<'a>>,
    patience: Patience,
}

impl<'a> MpiRootedWire<'a> {
    /// A wire over `channel` for `blocks`, if this rank has any.
    pub fn new(
        mpi: &'a Mpi,
        channel: Channel<'a>,
        (root, call): (u32, u64),
        tags: Tags,
        in_flight: &'a mut InFlight,
        blocks: Option<UserBlocks<'a>>,
    ) -> MpiRootedWire<'a> {
        MpiRootedWire {
            mpi,
            channel,
            root,
            call,
            tags,
            in_flight,
            blocks,
            local: None,
            patience: Patience::new(channel.timeout_s),
        }
    }

    /// The same, with packets of others on its node by this way.
    pub fn with_local(self, local: Option<LocalPackets<'a>>) -> MpiRootedWire<'a> {
        MpiRootedWire { local, ..self }
    }

    fn envelope(&self, rank: u32, tag: c_int) -> Envelope<'a> {
        self.channel.envelope(rank, tag)
    }

    fn blocks(&self) -> &UserBlocks<'a> {
        self.blocks
            .as_ref()
            .expect("a rank without blocks is not asked for one")
    }

    /// A packet of this call that came in an earlier one, if one is expected from anybody.
    fn take_kept(&mut self) -> Option<RootedEvent> {
        let InFlight {
            expected, later, ..
        } = &mut *self.in_flight;
        let any = (expected.iter()).position(|&from| from == sys::MPI_ANY_SOURCE)?;
        let kept = later.iter().position(|&(call, ..)| call == self.call)?;
        expected.swap_remove(any);
        let (_, from, packet) = later.swap_remove(kept);
        Some(RootedEvent::Packet { from, packet })
    }

    /// Starts receiving the packets that have arrived.
    fn fetch(&mut self) -> Result<(), Failure> {
        let mut i = 0;
        while i < self.in_flight.expected.len() {
            let from = self.in_flight.expected[i];
            match probe(self.mpi, self.channel, from, self.tags.packet())? {
                Some(status) => {
                    self.in_flight.expected.swap_remove(i);
                    if from == sys::MPI_ANY_SOURCE
                        && let Some(local) = &mut self.local
                    {
                        local.came_as_message();
                    }
                    self.receive(&status)?;
                }
                None => i += 1,
            }
        }
        Ok(())
    }

    /// Starts receiving the packet with this status. It was sent to this call, and nobody else takes it.
    fn receive(&mut self, status: &sys::MPI_Status) -> Result<(), Failure> {
        let bytes = length(self.mpi, status)? as usize;
        let mut packet = self.memory(bytes)?;
        let from = status.MPI_SOURCE as u32;
        let chunk = self.mpi.bytes_at(packet.as_mut_ptr(), bytes as u64);
        let envelope = self.envelope(from, self.tags.packet());
        // SAFETY: the memory is as large, is not touched before the request is complete, and is kept
        // until then.
        let request = unsafe { self.mpi.start_receive(chunk, envelope) }?;
        self.in_flight
            .add(request, Transfer::IncomingPacket(from, bytes, packet));
        Ok(())
    }

    /// Starts sending a packet as a message.
    fn start_packet(&mut self, to: u32, mut packet: Vec<u8>) -> Result<(), Failure> {
        let number = self.call.to_le_bytes();
        let room = packet.try_reserve(number.len());
        room.map_err(|_| Failure::memory(Code::no_mem()))?;
        packet.extend_from_slice(&number);
        let bytes = packet.len() as u64;
        let chunk = self.mpi.bytes_at(packet.as_mut_ptr(), bytes);
        let envelope = self.envelope(to, self.tags.packet());
        let is_synchronous = (self.in_flight).is_due(to, bytes, bytes >= SYNCHRONOUS_BYTES);
        // SAFETY: the memory is kept and not touched until the request is complete.
        let request = unsafe { self.mpi.start_send(chunk, envelope, is_synchronous) }?;
        self.in_flight
            .add(request, Transfer::OutgoingPacket(packet));
        Ok(())
    }

    /// One thing that happened at the mailboxes of this node.
    fn poll_mailboxes(&mut self) -> Result<Option<RootedEvent>, Failure> {
        while let Some(local) = &mut self.local
            && let Some(news) = local.poll(self.in_flight)?
        {
            match news {
                MailboxEvent::Packet { from, packet } => {
                    // It does not come from anybody else any more.
                    let mut expected = self.in_flight.expected.iter();
                    let any = expected.position(|from| *from == sys::MPI_ANY_SOURCE);
                    any.map(|any| self.in_flight.expected.swap_remove(any));
                    return Ok(Some(RootedEvent::Packet { from, packet }));
                }
                MailboxEvent::Sent(memory) => {
                    self.give_back(memory);
                    return Ok(Some(RootedEvent::Sent));
                }
                MailboxEvent::Send { to, packet } => self.start_packet(to, packet)?,
                MailboxEvent::Expect(from) => self.in_flight.expected.push(from as c_int),
            }
        }
        Ok(None)
    }

    /// A rank that waits for nothing but mailboxes has no message to ask the host for, but it is the host
    /// that moves other traffic of this rank, for which others may wait.
    fn drive(&self) -> Result<(), Failure> {
        if self.local.is_some()
            && self.in_flight.requests.is_empty()
            && self.in_flight.expected.is_empty()
        {
            probe(
                self.mpi,
                self.channel,
                sys::MPI_ANY_SOURCE,
                self.tags.packet(),
            )?;
        }
        Ok(())
    }

    /// Nothing has happened for so long: is it because the ranks disagree about the call?
    fn look_around(&mut self, idle: Duration) -> Result<(), Failure> {
        if let Some(misfit) = self.local.as_mut().and_then(LocalPackets::look_around) {
            return Err(misfit.into());
        }
        let strange = self.stranger()?;
        self.patience.suspect(strange)?;
        self.doubt()?;
        let block = self.in_flight.missing();
        let packet = self
            .in_flight
            .expected
            .iter()
            .find_map(|&from| u32::try_from(from).ok());
        let local = self.local.as_ref().and_then(LocalPackets::awaited);
        self.patience.check(idle, block.or(packet).or(local))
    }

    /// The sender of a message that should not be there, if one is: a packet to a rank that expects none any
    /// more; a packet that an earlier call left; a block of this call, all of which have been asked for; or one of this
    /// call with another root, from a rank that does not take this one's.
    fn stranger(&self) -> Result<Option<u32>, Failure> {
        let (mpi, channel, tags) = (self.mpi, self.channel, self.tags);
        if !channel.tags.tells_calls_apart() {
            return Ok(None);
        }
        if self.in_flight.expected.is_empty()
            && let Some(status) = probe(mpi, channel, sys::MPI_ANY_SOURCE, tags.packet())?
        {
            return Ok(Some(status.MPI_SOURCE as u32));
        }
        for from in [None, Some(self.root)] {
            let Some(message) = first_message(mpi, channel, from)? else {
                continue;
            };
            // Messages of later calls may be here, of other ranks that are through.
            let bytes = length(mpi, &message)?;
            let late = tags.is_late(message.MPI_TAG);
            let is_through = self
                .in_flight
                .through
                .contains(&(message.MPI_SOURCE as u32));
            // In a scatter only the root sends blocks; from others a later call may have the same tag.
            let may_send = tags.op == RootedOp::Gather || message.MPI_SOURCE as u32 == self.root;
            let is_block = message.MPI_TAG == tags.block(bytes);
            if late || (is_block && may_send && !is_through) {
                return Ok(Some(message.MPI_SOURCE as u32));
            }
        }
        for flight in &self.in_flight.transfers {
            // In a scatter, the other rank may take itself for the root, and in a gather this one: either way the rank
            // whose block it is.
            if let Transfer::OutgoingBlock { to, block, .. } = *flight
                && block != self.root
                && let Some(message) = first_message(mpi, channel, Some(to))?
                && message.MPI_TAG == tags.block_of(block, length(mpi, &message)?)
            {
                return Ok(Some(to));
            }
        }
        Ok(None)
    }

    /// Doubts blocks that are missing while another message from their rank is there. As in `Requests::look_around`,
    /// they will not come any more unless they have met their receives.
    fn doubt(&mut self) -> Result<(), Failure> {
        let (mpi, channel, packet) = (self.mpi, self.channel, self.tags.packet());
        let InFlight {
            requests,
            transfers,
            ..
        } = &mut *self.in_flight;
        for (request, flight) in requests.iter_mut().zip(transfers) {
            if let Transfer::IncomingBlock { from, doubted, .. } = flight
                && !*doubted
                && let Some(message) = first_message(mpi, channel, Some(*from))?
                && message.MPI_TAG != packet
            {
                take_back(mpi, request)?;
                *doubted = true;
            }
        }
        Ok(())
    }
}

impl RootedWire for MpiRootedWire<'_> {
    type Error = Failure;

    fn memory(&mut self, bytes: usize) -> Result<Vec<u8>, Failure> {
        self.in_flight.memory(bytes)
    }

    fn give_back(&mut self, memory: Vec<u8>) {
        self.in_flight.give_back(memory);
    }

    fn send_packet(&mut self, to: u32, packet: Vec<u8>) -> Result<(), Failure> {
        let packet = match &mut self.local {
            Some(local) => local.send_packet(to, packet),
            None => Some(packet),
        };
        packet.map_or(Ok(()), |packet| self.start_packet(to, packet))
    }

    fn send(&mut self, block: u32, to: u32) -> Result<(), Failure> {
        let blocks = self.blocks();
        let message = blocks.message(self.mpi, block).map_err(at("sending"))?;
        let (chunk, bytes) = (message.chunk(), blocks.bytes(block));
        let envelope = self.envelope(to, self.tags.block(bytes));
        let is_synchronous = self.in_flight.is_due(to, bytes, false);
        // SAFETY: the elements lie there by the contract of whoever made the call, until it returns, which
        // it does not before the request is complete.
        let request = unsafe { self.mpi.start_send(chunk, envelope, is_synchronous) }?;
        self.in_flight.add(
            request,
            Transfer::OutgoingBlock {
                to,
                block,
                _message: message,
            },
        );
        Ok(())
    }

    fn recv(&mut self, block: u32, from: u32) -> Result<(), Failure> {
        let blocks = self.blocks();
        let message = blocks.message(self.mpi, block).map_err(at("receiving"))?;
        let (chunk, bytes) = (message.chunk(), blocks.bytes(block));
        let envelope = self.envelope(from, self.tags.block(bytes));
        // SAFETY: as in `send`; nothing else touches the block.
        let request = unsafe { self.mpi.start_receive(chunk, envelope) }?;
        let flight = Transfer::IncomingBlock {
            from,
            bytes,
            doubted: false,
            _message: message,
        };
        self.in_flight.add(request, flight);
        Ok(())
    }

    fn read(&mut self, block: u32, packet: &mut Vec<u8>) -> Result<(), Failure> {
        self.blocks()
            .read(self.mpi, self.channel.comm, block, packet)
            .map_err(at("packing"))
    }

    fn write(&mut self, block: u32, bytes: &[u8]) -> Result<(), Failure> {
        self.blocks()
            .write(self.mpi, self.channel.comm, block, bytes)
            .map_err(at("unpacking"))
    }

    fn expect(&mut self, from: Option<u32>) {
        if let Some(local) = &mut self.local
            && !local.expect(from)
        {
            return;
        }
        let from = from.map_or(sys::MPI_ANY_SOURCE, |from| from as c_int);
        self.in_flight.expected.push(from);
    }

    fn poll(&mut self) -> Result<Option<RootedEvent>, Failure> {
        if let Some(event) = self.poll_mailboxes()? {
            self.patience.moved();
            return Ok(Some(event));
        }
        if let Some(event) = self.take_kept() {
            return Ok(Some(event));
        }
        self.fetch()?;
        let mpi = self.mpi;
        let Some((flight, status)) = self.in_flight.take(mpi)? else {
            self.drive()?;
            return Ok(None);
        };
        self.patience.moved();
        Ok(Some(match flight {
            Transfer::IncomingPacket(from, bytes, mut packet) => {
                verify(mpi, &status, from, bytes as u64)?;
                // SAFETY: there is room for so many bytes, and a message that has as many came into it.
                unsafe { packet.set_len(bytes) };
                let Some((_, number)) = packet.split_last_chunk() else {
                    return Err(Misfit::Stranger(from).into());
                };
                let call = u64::from_le_bytes(*number);
                packet.truncate(bytes - size_of_val(number));
                if call != self.call && self.tags.op == RootedOp::Gather {
                    return Err(Misfit::Stranger(from).into());
                }
                if call != self.call {
                    // Its root is ahead by as many calls as there are numbers in a tag, or more.
                    self.in_flight.later.push((call, from, packet));
                    self.expect(None);
                    return Ok(None);
                }
                RootedEvent::Packet { from, packet }
            }
            Transfer::IncomingBlock {
                from,
                bytes,
                doubted,
                ..
            } => {
                if doubted && was_taken_back(mpi, &status)? {
                    return Err(Misfit::Stranger(from).into());
                }
                // The tag tells sizes apart, but not always.
                if bytes <= c_int::MAX as u64 {
                    verify(mpi, &status, from, bytes)?;
                }
                self.in_flight.through(from);
                RootedEvent::Received
            }
            Transfer::OutgoingPacket(memory) => {
                self.give_back(memory);
                RootedEvent::Sent
            }
            Transfer::OutgoingBlock { .. } => RootedEvent::Sent,
        }))
    }

    fn idle(&mut self) -> Result<(), Failure> {
        // Where time is simulated, it passes in a search for packets as well.
        if Abi::BUILT.is_simulated() && self.in_flight.expected.is_empty() {
            self.in_flight.complete = Some(wait_any(self.mpi, &mut self.in_flight.requests)?);
            return Ok(());
        }
        match self.patience.wait() {
            Some(idle) => self.look_around(idle),
            None => Ok(()),
        }
    }
}
