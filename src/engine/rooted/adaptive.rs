//! The ranks find the adaptive binomial tree by themselves: three short messages a round.
//!
//! Each group has a fixed root, its last rank, which knows the group's content: its current root and
//! what that has to receive. In every round the fixed roots of two groups tell each other, decide alike, and
//! tell the current roots what to do (Träff, "Practical, distributed, low overhead algorithms for
//! irregular gather and scatter collectives", Parallel Computing 75, 2018, section 3).

#![forbid(unsafe_code)]

use super::packet::{self, HEADING, NUMBER, PacketType, Reader};
use super::{Child, Entry, Misfit, RootedWire, Scratch, Terms};
use crate::tree::{Content, Groups};
use std::ops::Range;

/// One rank's part in finding the tree.
pub struct Search {
    round: u32,
    /// The content of this rank's group, if it is the fixed root.
    fixed: Option<Content>,
    /// Is this rank the current root of its group?
    leads: bool,
    /// Whom it sends to, once it is not.
    parent: Option<u32>,
    /// Whose packet is expected in this round, once that has been said.
    from: Option<u32>,
}

impl Search {
    /// Begins; this rank has `bytes` bytes for the tree.
    pub fn new(rank: u32, bytes: u64) -> Search {
        Search {
            round: 0,
            fixed: Some(Content::single(rank, bytes)),
            leads: true,
            parent: None,
            from: None,
        }
    }

    /// The parent, once the search is over.
    pub fn parent(&self) -> Option<u32> {
        self.parent
    }

    /// Goes on as far as packets have come; is the search over? Packets of one rank are in `scratch` in the
    /// order in which they were written; children are put there. `sent` counts the packets.
    pub fn advance<W: RootedWire>(
        &mut self,
        terms: &Terms,
        scratch: &mut Scratch,
        wire: &mut W,
        sent: &mut u32,
    ) -> Result<bool, W::Error> {
        let groups = Groups::new(terms.p, terms.root);
        while self.round < groups.rounds() && (self.fixed.is_some() || self.leads) {
            let group = groups.group(self.round, terms.rank);
            let sibling = groups.sibling(self.round, terms.rank);
            if sibling.is_empty() {
                self.round += 1;
                continue;
            }
            // Fixed roots hear from each other, a current root from its fixed root.
            let from = match self.fixed {
                Some(_) => sibling.end - 1,
                None => group.end - 1,
            };
            if self.from.is_none() {
                if let Some(content) = self.fixed {
                    let numbers = [content.root.into(), content.own, content.total];
                    self.write(from, PacketType::State, numbers, terms, wire)?;
                    *sent += 1;
                }
                wire.expect(Some(from));
                self.from = Some(from);
            }
            let Some(place) = scratch.packets.iter().position(|packet| packet.0 == from) else {
                return Ok(false);
            };
            let (_, packet) = scratch.packets.remove(place);
            let read = self.read(&packet, terms, &sibling);
            wire.give_back(packet);
            let (root, numbers) = read.ok_or(Misfit::Stranger(from))?;
            let sends = match self.fixed {
                None => numbers[0] != 0,
                Some(content) => {
                    let [own, total] = numbers;
                    let other = Content { root, own, total };
                    let lower = group.start < sibling.start;
                    let sends = content.sends_to(&other, lower, Some(terms.root));
                    if !self.leads {
                        let numbers = [root.into(), sends.into(), 0];
                        self.write(content.root, PacketType::Join, numbers, terms, wire)?;
                        *sent += 1;
                    }
                    let joined = match sends {
                        true => other.with(&content),
                        false => content.with(&other),
                    };
                    self.fixed = (!lower).then_some(joined);
                    sends
                }
            };
            if self.leads && sends {
                self.leads = false;
                self.parent = Some(root);
            } else if self.leads {
                scratch.children.push(Child::new(root, sibling));
            }
            self.from = None;
            self.round += 1;
        }
        if let Some((from, _)) = scratch.packets.first() {
            return Err(Misfit::Stranger(*from).into());
        }
        Ok(true)
    }

    fn write<W: RootedWire>(
        &self,
        to: u32,
        packet_type: PacketType,
        numbers: [u64; 3],
        terms: &Terms,
        wire: &mut W,
    ) -> Result<(), W::Error> {
        let mut packet = wire.memory(HEADING + 4 * NUMBER)?;
        packet::begin(&mut packet, packet_type, terms.root);
        packet::put(&mut packet, self.round.into());
        for number in numbers {
            packet::put(&mut packet, number);
        }
        wire.send_packet(to, packet)
    }

    /// The sibling's current root and two more numbers; `None` if this is not the packet.
    fn read(&self, packet: &[u8], terms: &Terms, sibling: &Range<u32>) -> Option<(u32, [u64; 2])> {
        let packet_type = match self.fixed {
            Some(_) => PacketType::State,
            None => PacketType::Join,
        };
        let mut reader = Reader::new(packet, packet_type, terms.root)?;
        let (round, root) = (reader.rank()?, reader.rank()?);
        let numbers = [reader.number()?, reader.number()?];
        let fits = round == self.round
            && sibling.contains(&root)
            && (packet_type == PacketType::Join || numbers[0] <= numbers[1])
            && reader.left() == 0;
        fits.then_some((root, numbers))
    }
}

/// Which of `entries`, the short blocks of a group in the order of places (which are ranks here), is the
/// root of the group's adaptive tree, if the root of all is not among them? The group has 2^`round` ranks.
pub fn root(entries: &[Entry], round: u32) -> usize {
    content(entries, round).0
}

fn content(entries: &[Entry], round: u32) -> (usize, Content) {
    if let [entry] = entries {
        return (0, Content::single(entry.place, entry.bytes));
    }
    let round = round - 1;
    let middle = entries.partition_point(|e| e.place >> round & 1 == 0);
    let (lower, upper) = entries.split_at(middle);
    if lower.is_empty() || upper.is_empty() {
        return content(entries, round);
    }
    let (low, high) = (content(lower, round), content(upper, round));
    if low.1.sends_to(&high.1, true, None) {
        (middle + high.0, high.1.with(&low.1))
    } else {
        (low.0, low.1.with(&high.1))
    }
}
