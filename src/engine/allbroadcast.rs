//! Any number of broadcasts at a time, pipelined.
//!
//! A pattern speaks of rounds in which every rank sends and receives one message at a time (Träff,
//! arXiv 2205.10072, section 2). Rounds are only an order here: receives are posted ahead within a
//! window, a send leaves as soon as its blocks are there, and nothing waits for the end of a round. Per
//! pair of ranks both sides post in the order of rounds, which is all that matching needs.

#![forbid(unsafe_code)]

use super::pattern::{Cursor, Direction};
use super::{Engine, Event, Order, Piece, Progress, Window, Wire};
use std::collections::VecDeque;

/// What the wire has completed is taken in by so many at a time: a leader on a network that is as fast as it has work
/// to do between them, and the ranks of its node wait for what it has.
const EVENTS: usize = 4;

/// Memory that one collective leaves to the next.
#[derive(Default)]
pub struct Scratch {
    /// Which blocks are here, a bit each.
    here: Vec<u64>,
    /// The pieces of all receives that are held, oldest first, and how many belong to each.
    arriving: VecDeque<u32>,
    receives: Window<u32>,
    incoming: Vec<Piece>,
    outgoing: Vec<Piece>,
}

impl Scratch {
    /// Makes room as well, so that it does not depend on who receives how much in which call whether
    /// a later one has to allocate.
    fn clear(&mut self, blocks: u32, parts: usize, receives: u32) {
        self.here.clear();
        self.here.resize(blocks.div_ceil(64) as usize, 0);
        self.receives.clear(receives as usize);
        self.arriving.clear();
        self.arriving.reserve(2 * parts + receives as usize);
        for pieces in [&mut self.incoming, &mut self.outgoing] {
            pieces.clear();
            pieces.reserve(parts);
        }
    }

    fn set(&mut self, block: u32) {
        self.here[block as usize / 64] |= 1 << (block % 64);
    }

    fn has(&self, block: u32) -> bool {
        self.here[block as usize / 64] >> (block % 64) & 1 != 0
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.here.capacity() * size_of::<u64>()
            + self.arriving.capacity() * size_of::<u32>()
            + self.receives.bytes()
            + (self.incoming.capacity() + self.outgoing.capacity()) * size_of::<Piece>()
    }
}

/// How much may happen at a time.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Receives in flight, at least 1.
    pub receives: u32,
    /// Sends in flight, at least 1.
    pub sends: u32,
    /// Bytes up to which pieces share a message. The same on all ranks.
    pub message: u64,
}

/// The next message of one way, if there is one.
#[derive(Default)]
struct Next {
    at: Cursor,
    /// The other rank; the pieces are in the scratch memory.
    peer: Option<u32>,
}

/// Broadcasts in progress on one rank.
pub struct AllBroadcast<'a> {
    order: Order<'a>,
    limits: Limits,
    scratch: &'a mut Scratch,
    receive: Next,
    send: Next,
    /// Pieces of the next send that are known to be here.
    ready: usize,
    /// Sends in flight.
    sends: u32,
    /// The number from which on blocks of this rank's own part are not there yet.
    own_end: u32,
    /// What is here without a gap: parts, their bytes, and blocks of the part after them.
    front: (usize, u64, u32),
}

impl<'a> AllBroadcast<'a> {
    /// Begins the broadcast of all parts of `order`.
    pub fn new(order: Order<'a>, limits: Limits, scratch: &'a mut Scratch) -> AllBroadcast<'a> {
        scratch.clear(order.blocks(), order.parts().len(), limits.receives);
        let mut all = AllBroadcast {
            order,
            limits,
            scratch,
            receive: Next::default(),
            send: Next::default(),
            ready: 0,
            sends: 0,
            own_end: u32::MAX,
            front: (0, 0, 0),
        };
        all.next_receive();
        all.next_send();
        all
    }

    /// Only the first `blocks` blocks of this rank's own part are there; without this call, all are.
    pub fn allow(&mut self, blocks: u32) {
        let parts = self.order.parts();
        let own = parts.iter().find(|part| part.root == self.order.rank());
        self.own_end = own.map_or(0, |part| part.first.saturating_add(blocks));
    }

    /// Messages received so far without a gap, in the order of receives.
    pub fn received(&self) -> u32 {
        self.scratch.receives.gone()
    }

    /// Is this block here?
    fn has(&self, root: u32, block: u32) -> bool {
        if root == self.order.rank() {
            block < self.own_end
        } else {
            self.scratch.has(block)
        }
    }

    fn next_receive(&mut self) {
        let (most, pieces) = (self.limits.message, &mut self.scratch.incoming);
        self.receive.peer =
            self.order
                .message(&mut self.receive.at, Direction::Receive, most, pieces);
    }

    fn next_send(&mut self) {
        let (most, pieces) = (self.limits.message, &mut self.scratch.outgoing);
        self.send.peer = self
            .order
            .message(&mut self.send.at, Direction::Send, most, pieces);
        self.ready = 0;
    }

    /// Posts receives in order while the window has room.
    fn post_receives<W: Wire>(&mut self, wire: &mut W) -> Result<bool, W::Error> {
        let mut moved = false;
        while let Some(from) = self.receive.peer
            && self.scratch.receives.held() < self.limits.receives.max(1)
        {
            let pieces = &self.scratch.incoming;
            if !wire.recv(from, pieces)? {
                break;
            }
            self.scratch.receives.begin(pieces.len() as u32);
            let numbers = pieces.iter().map(|piece| piece.number);
            self.scratch.arriving.extend(numbers);
            moved = true;
            self.next_receive();
        }
        Ok(moved)
    }

    /// The receive of this number is complete.
    fn take(&mut self, number: u32) {
        let (mut start, mut end) = (0, 0);
        for &pieces in self.scratch.receives.up_to(number) {
            (start, end) = (end, end + pieces as usize);
        }
        for i in start..end {
            self.scratch.set(self.scratch.arriving[i]);
        }
        let Scratch {
            arriving, receives, ..
        } = &mut *self.scratch;
        receives.end(number, |pieces| drop(arriving.drain(..pieces as usize)));
    }

    /// Posts sends in order while the window has room and the blocks of the next one are here.
    ///
    /// A later send whose blocks are here could overtake one that still waits. It would take its
    /// receiver's turn from another rank and cost rounds (9 instead of 8 for a broadcast with p = 13
    /// and n = 5).
    fn post_sends<W: Wire>(&mut self, wire: &mut W) -> Result<bool, W::Error> {
        let mut moved = false;
        while let Some(to) = self.send.peer
            && self.sends < self.limits.sends.max(1)
        {
            let pieces = &self.scratch.outgoing;
            let waiting = pieces[self.ready..]
                .iter()
                .position(|piece| !self.has(piece.root, piece.number));
            if let Some(waiting) = waiting {
                self.ready += waiting;
                break;
            }
            self.ready = pieces.len();
            let bytes = pieces.iter().map(|piece| piece.span.len).sum();
            if !wire.send(to, pieces, self.order.more(&self.send.at, bytes))? {
                break;
            }
            self.sends += 1;
            moved = true;
            self.next_send();
        }
        Ok(moved)
    }

    /// Bytes at the front of all parts, in the order of ranks, that are all here.
    pub fn arrived(&mut self) -> u64 {
        let (mut part, mut bytes, mut block) = self.front;
        let parts = self.order.parts();
        let arrived = loop {
            let Some(next) = parts.get(part) else {
                break bytes;
            };
            let count = next.blocks.count();
            while block < count
                && (next.blocks.span(block).len == 0 || self.has(next.root, next.first + block))
            {
                block += 1;
            }
            let here = match block {
                0 => bytes,
                n => bytes + next.blocks.span(n - 1).end(),
            };
            if block < count {
                break here;
            }
            (part, bytes, block) = (part + 1, here, 0);
        };
        self.front = (part, bytes, block);
        arrived
    }
}

impl<W: Wire> Engine<W> for AllBroadcast<'_> {
    type Error = W::Error;

    /// Starts receives within the window, starts sends whose blocks are here, takes in what the wire has completed.
    fn advance(&mut self, wire: &mut W) -> Result<Progress, W::Error> {
        let mut moved = self.post_receives(wire)?;
        moved |= self.post_sends(wire)?;
        for _ in 0..EVENTS {
            let Some(event) = wire.poll()? else { break };
            moved = true;
            match event {
                Event::Received(number) => self.take(number),
                Event::Sent => self.sends -= 1,
            }
            // Forward first, then look for more: others wait for these blocks.
            self.post_sends(wire)?;
            self.post_receives(wire)?;
        }
        let posted = self.receive.peer.is_none() && self.send.peer.is_none();
        let complete = posted && self.scratch.receives.held() == 0 && self.sends == 0;
        Ok(Progress::of(complete, moved))
    }

    fn idle(&mut self, wire: &mut W) -> Result<(), W::Error> {
        wire.idle(self.arrived())
    }
}
