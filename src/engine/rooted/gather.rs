//! Gather: short blocks travel up a tree with their sizes in front, long ones go straight to the root.
//!
//! Every rank with a parent sends it one packet, also if it has no short block: the parent could not
//! know. The packet has the sizes of all blocks below, long ones too, so that the root can tell
//! whose count is not what it expects.

#![forbid(unsafe_code)]

use super::adaptive::Search;
use super::packet::{self, HEADING, NUMBER, PacketType, Reader};
use super::{Child, Misfit, RootedEvent, RootedTree, RootedWire, Scratch, Terms};
use crate::engine::{Engine, Progress};
use crate::schedule::Parts;
use std::ops::Range;

/// One rank's part in a gather.
pub struct Gather<'a> {
    terms: Terms<'a>,
    /// Bytes of this rank's block.
    own: u64,
    /// The sizes of all blocks, at the root.
    parts: Option<&'a Parts>,
    scratch: &'a mut Scratch,
    /// The search for an adaptive tree, until it is over.
    search: Option<Search>,
    /// Is it still to be said that packets of the children are expected?
    silent: bool,
    parent: Option<u32>,
    /// Is this rank's packet to its parent still to be written?
    unwritten: bool,
    /// What is to happen next with its long block.
    long: Long,
    /// Does the root ask for long blocks, because it has no room for all at once?
    asks: bool,
    /// Sends in flight.
    sends: u32,
    /// At the root: the ranks below this one need no further look for long blocks; how many are in flight.
    looked: u32,
    receives: u32,
}

/// What is to happen next with a long block of this rank.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Long {
    /// Nothing: it is on its way, or there is none.
    Nothing,
    /// It is to be said that the root will ask.
    Expect,
    /// The root asks.
    Wait,
    /// It is sent.
    Send,
}

impl<'a> Gather<'a> {
    /// Begins a gather on a rank with `own` bytes; `parts` are the sizes of all blocks, at the root.
    pub fn new(
        terms: Terms<'a>,
        own: u64,
        parts: Option<&'a Parts>,
        scratch: &'a mut Scratch,
    ) -> Self {
        debug_assert_eq!(terms.is_root(), parts.is_some());
        scratch.children.clear();
        scratch.packets.clear();
        let tree = terms.tree();
        let is_known = matches!(terms.shape, RootedTree::Binomial | RootedTree::Nodes(_));
        if is_known {
            let child = |(rank, places)| Child::new(rank, places);
            scratch
                .children
                .extend(tree.children(terms.rank).map(child));
        }
        let short = if terms.is_short(own) { own } else { 0 };
        let asks = terms.p - 1 > terms.window;
        Gather {
            terms,
            own,
            parts,
            scratch,
            search: (terms.shape == RootedTree::Adaptive).then(|| Search::new(terms.rank, short)),
            silent: true,
            parent: tree.parent(terms.rank).filter(|_| is_known),
            unwritten: !terms.is_root() && terms.shape != RootedTree::Star,
            long: match terms.is_long(own) && !terms.is_root() {
                false => Long::Nothing,
                true if asks => Long::Expect,
                true => Long::Send,
            },
            asks,
            sends: 0,
            looked: 0,
            receives: 0,
        }
    }

    /// Starts what can be started.
    fn start<W: RootedWire>(&mut self, wire: &mut W) -> Result<bool, W::Error> {
        let mut moved = false;
        match self.long {
            Long::Expect => {
                wire.expect(Some(self.terms.root));
                self.long = Long::Wait;
            }
            Long::Send => {
                wire.send(self.terms.rank, self.terms.root)?;
                self.sends += 1;
                self.long = Long::Nothing;
                moved = true;
            }
            Long::Wait | Long::Nothing => {}
        }
        if let Some(parts) = self.parts {
            moved |= self.receive_long(parts, wire)?;
        }
        if let Some(search) = &mut self.search
            && search.advance(&self.terms, self.scratch, wire, &mut self.sends)?
        {
            self.parent = search.parent();
            self.search = None;
            moved = true;
        }
        if self.silent && self.search.is_none() {
            self.silent = false;
            for child in &self.scratch.children {
                wire.expect(Some(child.rank));
            }
        }
        if self.unwritten && self.search.is_none() && self.missing() == 0 {
            self.write(wire)?;
            (self.unwritten, moved) = (false, true);
        }
        Ok(moved)
    }

    /// Children whose packets have not come.
    fn missing(&self) -> usize {
        let missing = |child: &&Child| child.blocks.is_none();
        self.scratch.children.iter().filter(missing).count()
    }

    /// At the root: receives long blocks as far as the window has room.
    fn receive_long<W: RootedWire>(
        &mut self,
        parts: &Parts,
        wire: &mut W,
    ) -> Result<bool, W::Error> {
        let mut moved = false;
        while self.receives < self.terms.window && self.looked < self.terms.p {
            let rank = self.looked;
            self.looked += 1;
            if rank == self.terms.rank || !self.terms.is_long(parts.span(rank).len) {
                continue;
            }
            wire.recv(rank, rank)?;
            self.receives += 1;
            moved = true;
            if self.asks {
                let mut packet = wire.memory(HEADING)?;
                packet::begin(&mut packet, PacketType::Go, self.terms.root);
                wire.send_packet(rank, packet)?;
                self.sends += 1;
            }
        }
        Ok(moved)
    }

    /// Takes a packet in.
    fn take<W: RootedWire>(
        &mut self,
        from: u32,
        packet: Vec<u8>,
        wire: &mut W,
    ) -> Result<(), W::Error> {
        let stranger = || W::Error::from(Misfit::Stranger(from));
        let root = self.terms.root;
        let asks = from == root && Reader::new(&packet, PacketType::Go, root).is_some();
        if asks && self.long == Long::Wait {
            self.long = Long::Send;
            wire.give_back(packet);
            return Ok(());
        }
        if self.search.is_some() {
            self.scratch.packets.push((from, packet));
            return Ok(());
        }
        let mut children = self.scratch.children.iter_mut();
        let child = children.find(|child| child.rank == from && child.blocks.is_none());
        let child = child.ok_or_else(stranger)?;
        let blocks =
            GatherPacket::of(packet, child.places.len(), &self.terms).ok_or_else(stranger)?;
        match self.parts {
            Some(parts) => {
                blocks.deliver(child.places.clone(), parts, &self.terms, wire)?;
                child.blocks = Some(GatherPacket::default());
                wire.give_back(blocks.packet);
            }
            None => child.blocks = Some(blocks),
        }
        Ok(())
    }

    /// Writes this rank's packet: the sizes of all blocks below it, then the short ones.
    fn write<W: RootedWire>(&mut self, wire: &mut W) -> Result<(), W::Error> {
        let Terms { rank, root, .. } = self.terms;
        let children = &mut self.scratch.children;
        children.sort_unstable_by_key(|child| child.places.start);
        // This rank stands between the children with lower places and the others.
        let place = self.terms.tree().place(rank);
        let own = children.partition_point(|child| child.places.start < place);
        let below: usize = children
            .iter()
            .map(|child| child.packet().packet.len())
            .sum();
        let short = self.terms.is_short(self.own);
        let room = if short { self.own as usize } else { 0 };
        let mut packet = wire.memory(HEADING + NUMBER + room + below)?;
        packet::begin(&mut packet, PacketType::Gather, root);
        let (lower, upper) = children.split_at(own);
        for child in lower {
            packet.extend_from_slice(child.packet().sizes());
        }
        packet::put(&mut packet, self.own);
        for child in upper {
            packet.extend_from_slice(child.packet().sizes());
        }
        for child in lower {
            packet.extend_from_slice(child.packet().data());
        }
        if short {
            wire.read(rank, &mut packet)?;
        }
        for child in upper {
            packet.extend_from_slice(child.packet().data());
        }
        for child in self.scratch.children.drain(..) {
            wire.give_back(child.blocks.unwrap_or_default().packet);
        }
        self.sends += 1;
        wire.send_packet(self.parent.unwrap_or(root), packet)
    }
}

impl<W: RootedWire> Engine<W> for Gather<'_> {
    type Error = W::Error;

    fn advance(&mut self, wire: &mut W) -> Result<Progress, W::Error> {
        let mut moved = self.start(wire)?;
        while let Some(event) = wire.poll()? {
            moved = true;
            match event {
                RootedEvent::Packet { from, packet } => self.take(from, packet, wire)?,
                RootedEvent::Received => self.receives -= 1,
                RootedEvent::Sent => self.sends -= 1,
            }
            self.start(wire)?;
        }
        let sent = !self.unwritten && self.long == Long::Nothing && self.sends == 0;
        let received = match self.parts {
            Some(_) => self.looked == self.terms.p && self.receives == 0,
            None => true,
        };
        // A search that is not over, or a child that is missing, keeps a rank from writing; the root
        // writes nothing.
        let complete = self.search.is_none() && self.missing() == 0;
        Ok(Progress::of(sent && received && complete, moved))
    }

    fn idle(&mut self, wire: &mut W) -> Result<(), W::Error> {
        wire.idle()
    }
}

impl Child {
    fn packet(&self) -> &GatherPacket {
        self.blocks
            .as_ref()
            .expect("nothing is written before all packets are here")
    }
}

/// A packet with blocks, and where in it sizes and blocks begin.
#[derive(Debug, Default)]
pub(super) struct GatherPacket {
    packet: Vec<u8>,
    sizes: usize,
    data: usize,
}

impl GatherPacket {
    /// The blocks of `ranks` ranks in `packet`; `None` if they are not.
    fn of(packet: Vec<u8>, ranks: usize, terms: &Terms) -> Option<GatherPacket> {
        let mut reader = Reader::new(&packet, PacketType::Gather, terms.root)?;
        let sizes = reader.at();
        let mut short = 0u64;
        for _ in 0..ranks {
            let bytes = reader.number()?;
            if terms.is_short(bytes) {
                short = short.checked_add(bytes)?;
            }
        }
        let data = reader.at();
        (short == reader.left()).then_some(GatherPacket {
            packet,
            sizes,
            data,
        })
    }

    fn sizes(&self) -> &[u8] {
        &self.packet[self.sizes..self.data]
    }

    fn data(&self) -> &[u8] {
        &self.packet[self.data..]
    }

    /// Puts the short blocks of the ranks at `places` where they belong, if all sizes are what the root
    /// expects.
    fn deliver<W: RootedWire>(
        &self,
        places: Range<u32>,
        parts: &Parts,
        terms: &Terms,
        wire: &mut W,
    ) -> Result<(), W::Error> {
        let mut sizes = Reader::behind(&self.packet, self.sizes);
        let mut data = self.data();
        let tree = terms.tree();
        for rank in places.map(|place| tree.rank(place)) {
            let (own, root) = (sizes.number().unwrap_or(0), parts.span(rank).len);
            if own != root {
                return Err(Misfit::Block { rank, own, root }.into());
            }
            if terms.is_short(own) {
                let (block, rest) = data.split_at(own as usize);
                wire.write(rank, block)?;
                data = rest;
            }
        }
        Ok(())
    }
}
