//! Packets between ranks of one node, through mailboxes in the memory that they share.
//!
//! In a gather, the rank that speaks for a node finds the packets of the others in their up mailboxes. In a
//! scatter, a rank finds its packet in its down mailbox, whoever on its node put it there. All else goes by
//! message, and so does a packet that is too long for a mailbox.
//!
//! A mailbox is free for the next packet when the one before was taken, and a down mailbox, which any rank of the
//! node may fill, when its owner has been through the scatter before: every owner marks every scatter, also
//! those in which it gets nothing, and those in which it only reports an error.
//!
//! Nothing here waits, and nothing here asks the host for messages: both are the wire's.

use super::in_flight::InFlight;
use crate::engine::rooted::Misfit;
use crate::host::call::RootedOp;
use crate::host::object::code::Code;
use crate::host::object::failure::Failure;
use crate::shm::{Found, Mailboxes, Side};
use crate::topology::Topology;
use std::collections::TryReserveError;

/// The way of packets within a node, in one call over nodes.
#[derive(Clone, Copy)]
pub struct Route<'a> {
    /// The nodes.
    pub nodes: &'a Topology,
    /// Those of this rank's node.
    pub mailboxes: &'a Mailboxes,
    /// This rank.
    pub rank: u32,
    /// The root.
    pub root: u32,
    /// What kind of call it is.
    pub op: RootedOp,
    /// The number of the call: the same on all ranks, more than that of any call before.
    pub call: u64,
}

/// What one call leaves to the next.
#[derive(Default)]
pub struct MailboxState {
    /// The last call in which this rank put a packet into its up mailbox, or marked it; and for whom.
    put: u64,
    reader: u32,
    /// A gather in which this rank was the reader, if its up mailbox is still to be marked.
    unmarked: Option<u64>,
    /// The last scatter; and the last one in which this rank took a packet from its down mailbox.
    scatter: u64,
    taken: u64,
    /// Packets to ranks whose mailboxes are not empty yet.
    waiting: Vec<(u32, Vec<u8>)>,
    /// Whose up mailboxes are looked into.
    expected: Vec<u32>,
    /// A packet as it comes out of a mailbox.
    taken_out: Vec<u8>,
}

impl MailboxState {
    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let waiting = self.waiting.iter().map(|(_, packet)| packet.capacity());
        self.waiting.capacity() * size_of::<(u32, Vec<u8>)>()
            + waiting.sum::<usize>()
            + self.expected.capacity() * size_of::<u32>()
            + self.taken_out.capacity()
    }
}

/// What [`LocalPackets::poll`] reports.
#[derive(Debug, PartialEq, Eq)]
pub enum MailboxEvent {
    /// A packet for this rank.
    Packet {
        /// Its sender.
        from: u32,
        /// What was sent.
        packet: Vec<u8>,
    },
    /// A packet of this rank is in its mailbox; the memory that it was in.
    Sent(Vec<u8>),
    /// A packet has to go as a message, for which its receiver looks from now on.
    Send {
        /// To whom.
        to: u32,
        /// What is to be sent.
        packet: Vec<u8>,
    },
    /// A packet comes as a message from this rank.
    Expect(u32),
}

/// Bytes behind a packet in a down mailbox: who put it there.
const SENDER_BYTES: usize = 4;

/// One rank's packets from and to others of its node in one call.
pub struct LocalPackets<'a> {
    route: Route<'a>,
    state: &'a mut MailboxState,
    /// The scatter before this one.
    previous: u64,
    /// May a packet still come into this rank's down mailbox?
    awaits: bool,
}

impl<'a> LocalPackets<'a> {
    /// Begins a call. To be made on every rank whose node has mailboxes, whatever it has to do in the call.
    pub fn new(route: Route<'a>, state: &'a mut MailboxState) -> LocalPackets<'a> {
        state.waiting.clear();
        state.expected.clear();
        let previous = state.scatter;
        if route.op == RootedOp::Scatter {
            state.scatter = route.call;
        }
        LocalPackets {
            route,
            state,
            previous,
            awaits: false,
        }
    }

    /// Makes room for all packets of the call.
    pub fn reserve(&mut self) -> Result<(), Code> {
        let most = self.route.nodes.widest() as usize;
        let mut reserve = || {
            self.state.waiting.try_reserve(most)?;
            self.state.expected.try_reserve(most)?;
            self.state.taken_out.clear();
            self.state
                .taken_out
                .try_reserve(self.route.mailboxes.room())
        };
        reserve().map_err(|_: TryReserveError| Code::no_mem())
    }

    /// Does `rank` share this rank's node?
    fn is_near(&self, rank: u32) -> bool {
        let nodes = self.route.nodes;
        nodes.node(rank) == nodes.node(self.route.rank)
    }

    /// Who speaks for this rank's node.
    fn leader(&self) -> u32 {
        let Route {
            nodes, rank, root, ..
        } = self.route;
        nodes.leader(nodes.node(rank), root)
    }

    /// Takes on a packet to rank `to`, or gives it back to be sent as a message.
    pub fn send_packet(&mut self, to: u32, mut packet: Vec<u8>) -> Option<Vec<u8>> {
        let Route {
            mailboxes,
            rank,
            op,
            ..
        } = self.route;
        let by_mailbox = match op {
            RootedOp::Gather => rank != to && self.leader() == to,
            RootedOp::Scatter => {
                let fits = packet.len() + SENDER_BYTES <= mailboxes.room();
                self.is_near(to) && fits && packet.try_reserve(SENDER_BYTES).is_ok()
            }
        };
        if !by_mailbox {
            return Some(packet);
        }
        if op == RootedOp::Scatter {
            packet.extend_from_slice(&rank.to_le_bytes());
        }
        self.state.waiting.push((to, packet));
        None
    }

    /// Expects a packet from rank `from`, or from anybody. May it come as a message?
    pub fn expect(&mut self, from: Option<u32>) -> bool {
        let Route { rank, op, .. } = self.route;
        match (op, from) {
            (RootedOp::Gather, Some(from)) if self.leader() == rank && self.is_near(from) => {
                self.state.expected.push(from);
                false
            }
            (RootedOp::Scatter, None) => {
                self.awaits = true;
                true
            }
            _ => true,
        }
    }

    /// The packet from anybody came as a message.
    pub fn came_as_message(&mut self) {
        self.awaits = false;
    }

    /// One thing that happened, if there is any.
    pub fn poll(&mut self, in_flight: &mut InFlight) -> Result<Option<MailboxEvent>, Failure> {
        for i in 0..self.state.waiting.len() {
            let (to, packet) = &self.state.waiting[i];
            let contents = (packet.len() <= self.route.mailboxes.room()).then_some(&packet[..]);
            if self.put(*to, contents) {
                let by_mailbox = contents.is_some();
                let (to, packet) = self.state.waiting.swap_remove(i);
                if self.route.op == RootedOp::Gather {
                    (self.state.put, self.state.reader) = (self.route.call, to);
                    self.state.unmarked = None;
                }
                return Ok(Some(match by_mailbox {
                    true => MailboxEvent::Sent(packet),
                    false => MailboxEvent::Send { to, packet },
                }));
            }
        }
        for i in 0..self.state.expected.len() {
            let from = self.state.expected[i];
            let Some(found) = self.take(Side::Up, from) else {
                continue;
            };
            self.state.expected.swap_remove(i);
            return Ok(Some(match found {
                Found::Packet(_) => MailboxEvent::Packet {
                    from,
                    packet: copy(&self.state.taken_out, in_flight)?,
                },
                Found::Elsewhere => MailboxEvent::Expect(from),
            }));
        }
        if !self.awaits || self.take(Side::Down, self.route.rank).is_none() {
            return Ok(None);
        }
        (self.awaits, self.state.taken) = (false, self.route.call);
        let Some((from, contents)) = sender(&self.state.taken_out) else {
            return Err(Misfit::Stranger(self.route.root).into());
        };
        let packet = copy(contents, in_flight)?;
        Ok(Some(MailboxEvent::Packet { from, packet }))
    }

    /// Puts a packet to rank `to` into its mailbox, or word that it comes as a message, if the mailbox is empty.
    fn put(&self, to: u32, contents: Option<&[u8]>) -> bool {
        let Route {
            nodes,
            mailboxes,
            rank,
            op,
            call,
            ..
        } = self.route;
        let (side, owner, previous) = match op {
            RootedOp::Gather => (Side::Up, rank, self.state.put),
            RootedOp::Scatter => (Side::Down, to, self.previous),
        };
        mailboxes.put(side, nodes.local(owner), previous, call, contents)
    }

    /// Takes the packet of this call out of a mailbox of `rank`, if it is there.
    fn take(&mut self, side: Side, rank: u32) -> Option<Found> {
        let Route {
            nodes,
            mailboxes,
            call,
            ..
        } = self.route;
        self.state.taken_out.clear();
        mailboxes.take(side, nodes.local(rank), call, &mut self.state.taken_out)
    }

    /// A rank that is waited for.
    pub fn awaited(&self) -> Option<u32> {
        let waiting = self.state.waiting.first().map(|(to, _)| *to);
        self.state.expected.first().copied().or(waiting)
    }

    /// To be called when nothing has happened for long: what cannot be right at the mailboxes, if anything.
    pub fn look_around(&mut self) -> Option<Misfit> {
        self.mark();
        if self.route.op == RootedOp::Gather && !self.state.waiting.is_empty() {
            self.take_back()
        } else {
            None
        }
        .or_else(|| self.misfit())
    }

    /// This rank's packet of the gather before may still lie in its mailbox. If its reader is through with that
    /// call, which it only reported an error of, the packet is nobody's. If the reader put a packet into its
    /// own mailbox then, the two did not agree on who reads.
    fn take_back(&mut self) -> Option<Misfit> {
        let (mailboxes, MailboxState { put, reader, .. }) = (self.route.mailboxes, &*self.state);
        let (put, reader) = (*put, *reader);
        let local = self.route.nodes.local(reader);
        let own = self.route.nodes.local(self.route.rank);
        if put == 0 || mailboxes.empty_since(Side::Up, own).is_some() {
            return None;
        }
        let newest = mailboxes.latest(Side::Up, local);
        if newest == put {
            return Some(Misfit::Stranger(reader));
        }
        let since = mailboxes.empty_since(Side::Up, local).unwrap_or(newest);
        if since >= put {
            let taken_out = &mut self.state.taken_out;
            mailboxes.take(Side::Up, own, put, taken_out);
        }
        None
    }

    /// Marks this rank's up mailbox, so that whose packets it did not take as a reader can see that it will not.
    /// That has to wait while a packet of its own is there.
    fn mark(&mut self) {
        let Some(call) = self.state.unmarked else {
            return;
        };
        let own = self.route.nodes.local(self.route.rank);
        self.route.mailboxes.pass(Side::Up, own, call);
        if self.route.mailboxes.empty_since(Side::Up, own) == Some(call) {
            (self.state.put, self.state.unmarked) = (call, None);
        }
    }

    fn misfit(&self) -> Option<Misfit> {
        let Route {
            nodes,
            mailboxes,
            rank,
            root,
            op,
            call,
        } = self.route;
        let later = |from: &&u32| mailboxes.latest(Side::Up, nodes.local(**from)) > call;
        if let Some(from) = self.state.expected.iter().find(later) {
            return Some(Misfit::Stranger(*from));
        }
        // Whoever is to get a packet is through with this call.
        let through = |(to, _): &&(u32, Vec<u8>)| {
            let since = mailboxes.empty_since(Side::Down, nodes.local(*to));
            op == RootedOp::Scatter && since.is_some_and(|since| since >= call)
        };
        if let Some((to, _)) = self.state.waiting.iter().find(through) {
            return Some(Misfit::Unexpected(*to));
        }
        // A packet lies in this rank's mailbox for which it did not look, or does not look now.
        let own = nodes.local(rank);
        let newest = mailboxes.latest(Side::Down, own);
        let right = newest <= self.state.taken
            || match (op, self.awaits) {
                (RootedOp::Scatter, true) => newest == call,
                (RootedOp::Scatter, false) => newest > call,
                (RootedOp::Gather, _) => newest >= call,
            };
        if right {
            return None;
        }
        let mut contents = Vec::new();
        mailboxes.take(Side::Down, own, newest, &mut contents);
        let from = sender(&contents).map_or(root, |(from, _)| from);
        Some(Misfit::Stranger(from))
    }
}

/// Who put a packet into a down mailbox, and the packet itself.
fn sender(contents: &[u8]) -> Option<(u32, &[u8])> {
    let (packet, from) = contents.split_last_chunk::<SENDER_BYTES>()?;
    Some((u32::from_le_bytes(*from), packet))
}

/// A packet in memory of its own.
fn copy(contents: &[u8], in_flight: &mut InFlight) -> Result<Vec<u8>, Failure> {
    let mut packet = in_flight.memory(contents.len())?;
    packet.extend_from_slice(contents);
    Ok(packet)
}

impl Drop for LocalPackets<'_> {
    /// Whoever fills this rank's down mailbox next need not know whether there was a packet in this call.
    fn drop(&mut self) {
        let Route {
            nodes,
            mailboxes,
            rank,
            op,
            call,
            ..
        } = self.route;
        if op == RootedOp::Scatter && self.state.taken != call {
            mailboxes.pass(Side::Down, nodes.local(rank), call);
        }
        if op == RootedOp::Gather && self.leader() == rank {
            self.state.unmarked = Some(call);
            self.mark();
        }
    }
}
