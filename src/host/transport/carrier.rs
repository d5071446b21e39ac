//! [`Carrier`] over the host's point-to-point messages.

use super::mailbox::{LocalMail, News};
use super::patience::{
    Patience, first_message, length, probe, take_back, verify, wait_any, was_taken_back,
};
use super::pool::{Flight, Post};
use super::start::Envelope;
use super::tags::Tags;
use super::wire::SYNCHRONOUS_BYTES;
use crate::engine::rooted::{Carrier, Event, Misfit};
use crate::host::data::blocks::Blocks;
use crate::host::library::abi::Abi;
use crate::host::library::handle::Comm;
use crate::host::library::sys;
use crate::host::library::table::Usable;
use crate::host::object::failure::{Failure, at};
use std::ffi::c_int;
use std::time::Duration;

/// One rank's carrier in one call.
pub struct MpiCarrier<'a> {
    host: &'a Usable,
    comm: Comm,
    root: u32,
    tags: Tags,
    post: &'a mut Post,
    blocks: Option<Blocks<'a>>,
    /// Letters of others on its node, if these do not come as messages.
    local: Option<LocalMail<'a>>,
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
            local: None,
            patience: Patience::new(timeout_s),
        }
    }

    /// The same, with letters of others on its node by this way.
    pub fn with_local(self, local: Option<LocalMail<'a>>) -> MpiCarrier<'a> {
        MpiCarrier { local, ..self }
    }

    fn envelope(&self, rank: u32, tag: c_int) -> Envelope {
        Envelope {
            rank,
            tag,
            comm: self.comm,
        }
    }

    fn blocks(&self) -> &Blocks<'a> {
        self.blocks
            .as_ref()
            .expect("a rank without blocks is not asked for one")
    }

    /// Starts receiving the mail that has arrived.
    fn fetch(&mut self) -> Result<(), Failure> {
        let mut i = 0;
        while i < self.post.expected.len() {
            let from = self.post.expected[i];
            match probe(self.host, self.comm, from, self.tags.mail())? {
                Some(status) => {
                    self.post.expected.swap_remove(i);
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

    /// Starts receiving mail with this status. It was sent to this call, and nobody else takes it.
    fn receive(&mut self, status: &sys::MPI_Status) -> Result<(), Failure> {
        let bytes = length(self.host, status)? as usize;
        let mut mail = self.memory(bytes)?;
        mail.resize(bytes, 0);
        let from = status.MPI_SOURCE as u32;
        let chunk = self.host.bytes_at(mail.as_mut_ptr(), bytes as u64);
        let envelope = self.envelope(from, self.tags.mail());
        // SAFETY: the memory is as large, is not touched before the request is complete, and is kept
        // until then.
        let request = unsafe { self.host.start_receive(chunk, envelope) }?;
        self.post.add(request, Flight::Arriving(from, mail));
        Ok(())
    }

    /// Starts sending mail as a message.
    fn send_mail(&mut self, to: u32, mut mail: Vec<u8>) -> Result<(), Failure> {
        let bytes = mail.len() as u64;
        let chunk = self.host.bytes_at(mail.as_mut_ptr(), bytes);
        let envelope = self.envelope(to, self.tags.mail());
        // SAFETY: the memory is kept and not touched until the request is complete.
        let request = unsafe {
            self.host
                .start_send(chunk, envelope, bytes >= SYNCHRONOUS_BYTES)
        }?;
        self.post.add(request, Flight::Leaving(mail));
        Ok(())
    }

    /// One thing that happened at the boxes of this node.
    fn poll_boxes(&mut self) -> Result<Option<Event>, Failure> {
        while let Some(local) = &mut self.local
            && let Some(news) = local.poll(self.post)?
        {
            match news {
                News::Mail { from, mail } => {
                    // It does not come from anybody else any more.
                    let mut expected = self.post.expected.iter();
                    let any = expected.position(|from| *from == sys::MPI_ANY_SOURCE);
                    any.map(|any| self.post.expected.swap_remove(any));
                    return Ok(Some(Event::Mail { from, mail }));
                }
                News::Sent(memory) => {
                    self.give_back(memory);
                    return Ok(Some(Event::Sent));
                }
                News::Send { to, mail } => self.send_mail(to, mail)?,
                News::Expect(from) => self.post.expected.push(from as c_int),
            }
        }
        Ok(None)
    }

    /// A rank that waits for nothing but boxes has no message to ask the host for, but it is the host
    /// that moves other traffic of this rank, for which others may wait.
    fn drive(&self) -> Result<(), Failure> {
        if self.local.is_some() && self.post.requests.is_empty() && self.post.expected.is_empty() {
            probe(self.host, self.comm, sys::MPI_ANY_SOURCE, self.tags.mail())?;
        }
        Ok(())
    }

    /// Nothing has happened for so long: is it because the ranks disagree about the call?
    fn look_around(&mut self, idle: Duration) -> Result<(), Failure> {
        if let Some(misfit) = self.local.as_mut().and_then(LocalMail::look_around) {
            return Err(misfit.into());
        }
        let strange = self.stranger()?;
        self.patience.suspect(strange)?;
        self.doubt()?;
        let block = self.post.missing();
        let mail = self
            .post
            .expected
            .iter()
            .find_map(|&from| u32::try_from(from).ok());
        let local = self.local.as_ref().and_then(LocalMail::awaited);
        self.patience.check(idle, block.or(mail).or(local))
    }

    /// The sender of a message that should not be there, if one is: mail to a rank that expects none any
    /// more; mail that an earlier call left; a block of this call, all of which have been asked for.
    fn stranger(&self) -> Result<Option<u32>, Failure> {
        let (host, comm, tags) = (self.host, self.comm, self.tags);
        if self.post.expected.is_empty()
            && let Some(status) = probe(host, comm, sys::MPI_ANY_SOURCE, tags.mail())?
        {
            return Ok(Some(status.MPI_SOURCE as u32));
        }
        for from in [None, Some(self.root)] {
            if let Some((from, tag)) = first_message(host, comm, from)?
                && (tags.is_late(tag) || tags.is_block(tag))
            {
                return Ok(Some(from));
            }
        }
        Ok(None)
    }

    /// Doubts blocks that are missing while another message from their rank is there. As in `MpiWire::look_around`,
    /// they will not come any more unless they have met their receives.
    fn doubt(&mut self) -> Result<(), Failure> {
        let (host, comm, mail) = (self.host, self.comm, self.tags.mail());
        let Post {
            requests, flights, ..
        } = &mut *self.post;
        for (request, flight) in requests.iter_mut().zip(flights) {
            if let Flight::Received { from, doubted, .. } = flight
                && !*doubted
                && let Some((_, tag)) = first_message(host, comm, Some(*from))?
                && tag != mail
            {
                take_back(host, request)?;
                *doubted = true;
            }
        }
        Ok(())
    }
}

impl Carrier for MpiCarrier<'_> {
    type Error = Failure;

    fn memory(&mut self, bytes: usize) -> Result<Vec<u8>, Failure> {
        self.post.memory(bytes)
    }

    fn give_back(&mut self, memory: Vec<u8>) {
        self.post.give_back(memory);
    }

    fn mail(&mut self, to: u32, mail: Vec<u8>) -> Result<(), Failure> {
        let mail = match &mut self.local {
            Some(local) => local.mail(to, mail),
            None => Some(mail),
        };
        mail.map_or(Ok(()), |mail| self.send_mail(to, mail))
    }

    fn send(&mut self, block: u32, to: u32) -> Result<(), Failure> {
        let blocks = self.blocks();
        let message = blocks.message(self.host, block).map_err(at("sending"))?;
        let (chunk, bytes) = (message.chunk(), blocks.bytes(block));
        let envelope = self.envelope(to, self.tags.block(bytes));
        // SAFETY: the elements lie there by the contract of whoever made the call, until it returns, which
        // it does not before the request is complete.
        let request = unsafe { self.host.start_send(chunk, envelope, false) }?;
        self.post.add(request, Flight::Sent { _message: message });
        Ok(())
    }

    fn recv(&mut self, block: u32, from: u32) -> Result<(), Failure> {
        let blocks = self.blocks();
        let message = blocks.message(self.host, block).map_err(at("receiving"))?;
        let (chunk, bytes) = (message.chunk(), blocks.bytes(block));
        let envelope = self.envelope(from, self.tags.block(bytes));
        // SAFETY: as in `send`; nothing else touches the block.
        let request = unsafe { self.host.start_receive(chunk, envelope) }?;
        let flight = Flight::Received {
            from,
            bytes,
            doubted: false,
            _message: message,
        };
        self.post.add(request, flight);
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

    fn expect(&mut self, from: Option<u32>) {
        if let Some(local) = &mut self.local
            && !local.expect(from)
        {
            return;
        }
        let from = from.map_or(sys::MPI_ANY_SOURCE, |from| from as c_int);
        self.post.expected.push(from);
    }

    fn poll(&mut self) -> Result<Option<Event>, Failure> {
        if let Some(event) = self.poll_boxes()? {
            self.patience.moved();
            return Ok(Some(event));
        }
        self.fetch()?;
        let host = self.host;
        let Some((flight, status)) = self.post.take(host)? else {
            self.drive()?;
            return Ok(None);
        };
        self.patience.moved();
        Ok(Some(match flight {
            Flight::Arriving(from, mail) => Event::Mail { from, mail },
            Flight::Received {
                from,
                bytes,
                doubted,
                ..
            } => {
                if doubted && was_taken_back(host, &status)? {
                    return Err(Misfit::Stranger(from).into());
                }
                // The tag tells sizes apart, but not always.
                if bytes <= c_int::MAX as u64 {
                    verify(host, &status, from, bytes)?;
                }
                Event::Received
            }
            Flight::Leaving(memory) => {
                self.give_back(memory);
                Event::Sent
            }
            Flight::Sent { .. } => Event::Sent,
        }))
    }

    fn idle(&mut self) -> Result<(), Failure> {
        // Where time is simulated, it passes in a search for mail as well.
        if Abi::BUILT.is_simulated() && self.post.expected.is_empty() {
            self.post.complete = Some(wait_any(self.host, &mut self.post.requests)?);
            return Ok(());
        }
        match self.patience.wait() {
            Some(idle) => self.look_around(idle),
            None => Ok(()),
        }
    }
}
