//! Scatter: the root puts the short blocks into a tree, long ones go straight to their ranks.
//!
//! The tree has only ranks with short blocks. A packet names the places whose blocks it has and their
//! sizes; the receiver finds its own block, and its own children, among them. It need not know
//! beforehand whose child it is. Ranks with nothing take no part.

#![forbid(unsafe_code)]

use super::packet::{self, HEADING, NUMBER, PacketType, Reader};
use super::{Entry, Misfit, RootedEvent, RootedTree, RootedWire, Scratch, Terms, adaptive};
use crate::engine::{Engine, Progress};
use crate::schedule::Parts;
use crate::tree::Hierarchy;

/// One rank's part in a scatter.
pub struct Scatter<'a> {
    terms: Terms<'a>,
    tree: Hierarchy<'a>,
    own: u64,
    parts: Option<&'a Parts>,
    scratch: &'a mut Scratch,
    /// The packet that came.
    packet: Vec<u8>,
    /// Is this rank's block, or packet, still to come?
    expects: bool,
    /// Is it still to be said that it is expected?
    silent: bool,
    /// The parts of the tree below this one have not got their packets yet.
    parts_left: u32,
    /// Sends in flight.
    sends: u32,
    /// At the root: the ranks below this one need no further look for long blocks.
    looked: u32,
}

impl<'a> Scatter<'a> {
    /// Begins a scatter on a rank that gets `own` bytes; `parts` are the sizes of all blocks, at the
    /// root.
    pub fn new(
        terms: Terms<'a>,
        own: u64,
        parts: Option<&'a Parts>,
        scratch: &'a mut Scratch,
    ) -> Self {
        debug_assert_eq!(terms.is_root(), parts.is_some());
        scratch.entries.clear();
        let tree = terms.tree();
        let mut parts_left = 0;
        if let Some(parts) = parts {
            let ranks = parts.contributors().iter().copied();
            let short = |&rank: &u32| terms.is_short(parts.span(rank).len);
            let entry = |rank| Entry {
                place: tree.place(rank),
                bytes: parts.span(rank).len,
                start: 0,
            };
            scratch.entries.extend(ranks.filter(short).map(entry));
            if !scratch.entries.is_sorted_by_key(|entry| entry.place) {
                scratch.entries.sort_unstable_by_key(|entry| entry.place);
            }
            parts_left = tree.parts(terms.rank);
        }
        let expects = parts.is_none() && own > 0;
        Scatter {
            terms,
            tree,
            own,
            parts,
            scratch,
            packet: Vec::new(),
            expects,
            silent: expects,
            parts_left,
            sends: 0,
            looked: 0,
        }
    }

    /// Starts what can be started: first what others have to pass on, the longest way first.
    fn start<W: RootedWire>(&mut self, wire: &mut W) -> Result<bool, W::Error> {
        let mut moved = false;
        if self.silent {
            (self.silent, moved) = (false, true);
            if self.terms.is_long(self.own) {
                wire.recv(self.terms.rank, self.terms.root)?;
            } else {
                wire.expect(None);
            }
        }
        while self.parts_left > 0 && self.sends < self.terms.window {
            self.parts_left -= 1;
            moved |= self.write(self.parts_left, wire)?;
        }
        let Some(parts) = self.parts else {
            return Ok(moved);
        };
        while self.looked < self.terms.p && self.sends < self.terms.window {
            let rank = self.looked;
            self.looked += 1;
            if rank != self.terms.root && self.terms.is_long(parts.span(rank).len) {
                wire.send(rank, rank)?;
                self.sends += 1;
                moved = true;
            }
        }
        Ok(moved)
    }

    /// Writes to the leader of this part of the tree, if it has any short blocks.
    fn write<W: RootedWire>(&mut self, part: u32, wire: &mut W) -> Result<bool, W::Error> {
        let Terms {
            rank, root, shape, ..
        } = self.terms;
        let (tree, places) = (self.tree, self.tree.part(part, rank));
        let all = &self.scratch.entries;
        let from = all.partition_point(|entry| entry.place < places.start);
        let until = all.partition_point(|entry| entry.place < places.end);
        let entries = &all[from..until];
        let leader = match (entries.last(), shape) {
            (None, _) => return Ok(false),
            // Parts are rounds then.
            (Some(_), RootedTree::Adaptive) => entries[adaptive::root(entries, part)].place,
            // The first one of its node, whose others it serves.
            (Some(last), _) => {
                let home = tree.home(last.place);
                entries[entries.partition_point(|entry| entry.place < home.start)].place
            }
        };
        let bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
        let numbers = NUMBER * (1 + 2 * entries.len());
        let mut packet = wire.memory(HEADING + numbers + bytes as usize)?;
        packet::begin(&mut packet, PacketType::Scatter, root);
        packet::put(&mut packet, entries.len() as u64);
        let mut before = 0;
        for entry in entries {
            packet::put(&mut packet, (entry.place - before).into());
            packet::put(&mut packet, entry.bytes);
            before = entry.place;
        }
        for entry in entries {
            if self.parts.is_some() {
                wire.read(tree.rank(entry.place), &mut packet)?;
            } else {
                packet.extend_from_slice(entry.of(&self.packet));
            }
        }
        self.sends += 1;
        wire.send_packet(tree.rank(leader), packet)?;
        Ok(true)
    }

    /// Takes the packet in.
    fn take<W: RootedWire>(
        &mut self,
        from: u32,
        packet: Vec<u8>,
        wire: &mut W,
    ) -> Result<(), W::Error> {
        let Terms { rank, root, .. } = self.terms;
        let place = self.tree.place(rank);
        let expected = self.expects && self.terms.is_short(self.own);
        let entries = &mut self.scratch.entries;
        let own = read(&packet, root, self.terms.p, entries)
            .filter(|()| expected)
            .and_then(|()| {
                let own = entries
                    .binary_search_by_key(&place, |entry| entry.place)
                    .ok()?;
                Some(entries[own])
            });
        let own = own.ok_or(Misfit::Stranger(from))?;
        if own.bytes != self.own {
            let (own, root) = (self.own, own.bytes);
            return Err(Misfit::Block { rank, own, root }.into());
        }
        wire.write(rank, own.of(&packet))?;
        self.packet = packet;
        self.expects = false;
        self.parts_left = self.tree.parts(rank);
        Ok(())
    }
}

impl Entry {
    /// The block, in the packet.
    fn of<'a>(&self, packet: &'a [u8]) -> &'a [u8] {
        &packet[self.start..self.start + self.bytes as usize]
    }
}

/// Reads which blocks a packet has; `None` if it is not such a packet.
fn read(packet: &[u8], root: u32, p: u32, entries: &mut Vec<Entry>) -> Option<()> {
    let mut reader = Reader::new(packet, PacketType::Scatter, root)?;
    let (mut place, mut start) = (0u32, 0usize);
    for i in 0..reader.number()? {
        let step = reader.rank()?;
        place = place
            .checked_add(step)
            .filter(|place| *place < p && (i == 0 || step > 0))?;
        let bytes = reader.number()?;
        entries.push(Entry {
            place,
            bytes,
            start,
        });
        start = start.checked_add(bytes as usize)?;
    }
    // From here on no start lies beyond the end.
    (start as u64 == reader.left()).then_some(())?;
    let data = reader.at();
    entries.iter_mut().for_each(|entry| entry.start += data);
    Some(())
}

impl<W: RootedWire> Engine<W> for Scatter<'_> {
    type Error = W::Error;

    fn advance(&mut self, wire: &mut W) -> Result<Progress, W::Error> {
        let mut moved = self.start(wire)?;
        while let Some(event) = wire.poll()? {
            moved = true;
            match event {
                RootedEvent::Packet { from, packet } => self.take(from, packet, wire)?,
                RootedEvent::Received => self.expects = false,
                RootedEvent::Sent => self.sends -= 1,
            }
            self.start(wire)?;
        }
        let root_done = self.parts.is_none() || self.looked == self.terms.p;
        let done = !self.expects && self.parts_left == 0 && self.sends == 0 && root_done;
        if done {
            wire.give_back(std::mem::take(&mut self.packet));
        }
        Ok(Progress::of(done, moved))
    }

    fn idle(&mut self, wire: &mut W) -> Result<(), W::Error> {
        wire.idle()
    }
}
