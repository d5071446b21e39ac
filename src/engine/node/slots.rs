//! Vectors that pass through slots in the ring of a node.
//!
//! Every rank has a slot in a *group*, which takes a piece of its vector. A few groups lie in the ring at a time, or
//! one that fills it. In a [`SlotReduction`] all ranks put the same elements of their vectors into the slots of a
//! group: a piece of every *stripe* of the vector, which has as many as there are ranks. Each rank then joins the
//! pieces of its stripe, in place, which no other rank touches meanwhile; and who needs the result reads it. In a
//! [`SlotExchange`] every rank puts in what it has, and all read; in a [`SlotShuffle`] each reads some of it.

#![forbid(unsafe_code)]

mod groups;
mod shuffle;

pub use groups::Groups;
use groups::line_of;
pub use shuffle::SlotShuffle;

use super::NodeRing;
use crate::engine::{Engine, Progress};
use crate::script::Fold;
use std::ops::Range;

/// Bytes that stay in the nearest cache of a processor while they are joined.
const NEAR_BYTES: u64 = 16 << 10;

/// Slots begin at multiples of a cache line, and with one for the mark.
pub(super) const LINE: u64 = 64;

/// The ring as a reduction or a barrier sees it, and its way to the elements of a call. Positions are those of the
/// ring. Elements are numbered in the vectors of the call; in a slot they lie side by side, so many bytes each.
pub trait Slots: NodeRing {
    /// Checks that rank `rank` of the node, which cannot have left this call, is in it.
    fn same(&mut self, rank: u32) -> Result<(), Self::Error>;

    /// Copies these elements of this rank's vector to the position `at`.
    fn put(&mut self, at: u64, elements: Range<u64>) -> Result<(), Self::Error>;

    /// Makes the elements at `left` the left operands of those at `to`, where the results are then.
    fn join(&mut self, left: u64, to: u64, count: u64) -> Result<(), Self::Error>;

    /// Copies elements from the position `at` to the place of these elements.
    fn get(&mut self, at: u64, elements: Range<u64>) -> Result<(), Self::Error>;

    /// This rank has joined all that is its share below `until`.
    fn publish_joined(&mut self, until: u64);

    /// Below this position rank `rank` of the node has joined all that is its share.
    fn joined(&self, rank: u32) -> u64;
}

/// Waiting until all ranks of a node have done so many groups.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Others {
    /// All have done so many.
    done: u64,
    /// The rank that had not done more at the last look.
    pub(super) behind: u32,
}

impl Others {
    /// Have all done `groups`? `done` says how many a rank has.
    pub(super) fn have(&mut self, groups: u64, ranks: u32, done: impl Fn(u32) -> u64) -> bool {
        if self.done >= groups {
            return true;
        }
        for rank in (self.behind..ranks).chain(0..self.behind) {
            if done(rank) < groups {
                self.behind = rank;
                return false;
            }
        }
        self.done = groups;
        true
    }
}

/// Elements that a rank gets: these of the result, to the place of the elements from `to` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// These of the result.
    pub elements: Range<u64>,
    /// To this place on.
    pub to: u64,
    /// Of these operands.
    pub of: Operand,
}

/// The operands of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Those of all ranks.
    All,
    /// Those of the ranks up to this one: of a [`Fold::From`] rank 0, which leaves each of them in a slot of its own.
    Upto(u32),
}

/// A part of the vectors of a reduction, with an order of evaluation of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// It ends before this element, and begins where the one before it ends.
    pub end: u64,
    /// How its elements are joined.
    pub fold: Fold,
}

/// The reduction of the vectors of the ranks of a node, as one of them does it.
pub struct SlotReduction<'a> {
    groups: Groups,
    begin: u64,
    me: u32,
    trees: &'a [Tree],
    wants: &'a [Want],
    put: u64,
    joined: u64,
    got: u64,
    /// So many stripes of the next group this rank has got, its own first.
    stripes: u32,
    others: Others,
}

impl<'a> SlotReduction<'a> {
    /// Begins at the position `begin` of the ring on rank `me` of the node. All ranks give the same trees; the last one
    /// ends where the vectors end.
    pub fn new(
        groups: Groups,
        begin: u64,
        me: u32,
        trees: &'a [Tree],
        wants: &'a [Want],
    ) -> SlotReduction<'a> {
        SlotReduction {
            groups,
            begin,
            me,
            trees,
            wants,
            put: 0,
            joined: 0,
            got: 0,
            stripes: 0,
            others: Others::default(),
        }
    }

    /// How many groups there are.
    pub fn groups(&self) -> u64 {
        self.groups.count()
    }

    /// Has this rank got all that it wants to these places?
    pub fn has(&self, places: &Range<u64>) -> bool {
        self.got == self.groups.count()
            || self.wants.iter().all(|want| {
                let end = want.to + (want.elements.end - want.elements.start);
                let (from, until) = (places.start.max(want.to), places.end.min(end));
                let at = |place| place - want.to + want.elements.start;
                from >= until || (self.groups).are_within(self.got, &(at(from)..at(until)))
            })
    }

    /// Which rank is waited for, if it is one.
    pub fn waiting(&self) -> Option<u32> {
        match self.joined < self.put {
            true => Some(self.others.behind),
            false if self.got < self.joined => Some(self.next_stripe()),
            false => None,
        }
    }

    /// The stripe of the next group that this rank looks at next, which is the number of the rank that joins it.
    fn next_stripe(&self) -> u32 {
        (self.me + self.stripes) % self.groups.stripes
    }

    fn check<S: Slots>(&self, slots: &mut S) -> Result<(), S::Error> {
        let others = (0..self.groups.ranks).filter(|&rank| rank != self.me);
        for rank in others {
            slots.check(self.groups.slot(self.begin, 0, rank), rank)?;
        }
        Ok(())
    }

    /// Calls `each` with the parts of some elements and how each is joined.
    fn parts<E>(
        &self,
        elements: Range<u64>,
        mut each: impl FnMut(Range<u64>, Fold) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut from = elements.start;
        let first = self.trees.partition_point(|tree| tree.end <= from);
        for tree in &self.trees[first..] {
            if from >= elements.end {
                break;
            }
            let end = tree.end.min(elements.end);
            if from < end {
                each(from..end, tree.fold)?;
                from = end;
            }
        }
        Ok(())
    }

    /// Joins the piece of this rank's stripe in the next group.
    fn join<S: Slots>(&mut self, slots: &mut S) -> Result<(), S::Error> {
        let groups = self.groups;
        if self.me >= groups.stripes {
            return Ok(());
        }
        let piece = groups.piece(self.joined, self.me, groups.elements);
        let (ranks, line) = (groups.ranks, line_of(groups.unit));
        // So few elements at a time that those of all ranks stay in the nearest cache.
        let near = NEAR_BYTES / u64::from(ranks) / groups.unit.max(1) / line * line;
        let near = match groups.whole {
            true => u64::MAX,
            false => near.max(line),
        };
        let mut from = piece.start;
        while from < piece.end {
            let end = from.saturating_add(near).min(piece.end);
            self.parts(from..end, |part, fold| {
                let at = |rank| {
                    let slot = groups.slot(self.begin, self.joined, rank);
                    groups.element(slot, self.me, part.start - piece.start)
                };
                (fold.pairs(ranks))
                    .try_for_each(|(left, to)| slots.join(at(left), at(to), part.end - part.start))
            })?;
            from = end;
        }
        Ok(())
    }

    /// Gets what this rank wants of the next group and what is there. Was there anything?
    fn get_group<S: Slots>(&mut self, slots: &mut S) -> Result<bool, S::Error> {
        let groups = self.groups;
        let mut moved = false;
        while self.stripes < groups.stripes {
            let stripe = self.next_stripe();
            let piece = groups.piece(self.got, stripe, groups.elements);
            let is_wanted =
                |want: &&Want| want.elements.start < piece.end && piece.start < want.elements.end;
            let mut wanted = self.wants.iter().filter(is_wanted).peekable();
            if wanted.peek().is_some() && !piece.is_empty() {
                if slots.joined(stripe) < self.begin + self.got + 1 {
                    return Ok(moved);
                }
                for want in wanted {
                    let from = want.elements.start.max(piece.start);
                    let until = want.elements.end.min(piece.end);
                    self.parts(from..until, |part, fold| {
                        let holder = match want.of {
                            Operand::All => fold.result(groups.ranks),
                            Operand::Upto(rank) => rank,
                        };
                        let slot = groups.slot(self.begin, self.got, holder);
                        let at = groups.element(slot, stripe, part.start - piece.start);
                        let to = want.to + (part.start - want.elements.start);
                        slots.get(at, to..to + (part.end - part.start))
                    })?;
                }
                moved = true;
            }
            self.stripes += 1;
        }
        self.stripes = 0;
        self.got += 1;
        slots.release(groups.end(self.begin, self.got - 1));
        Ok(true)
    }
}

impl<S: Slots> Engine<S> for SlotReduction<'_> {
    type Error = S::Error;

    fn advance(&mut self, slots: &mut S) -> Result<Progress, S::Error> {
        let begin = self.begin;
        let mut moved = self.got < self.joined && self.get_group(slots)?;
        if self.joined < self.put {
            let next = self.joined + 1;
            let is_put = |rank| slots.written(rank).saturating_sub(begin);
            if self.others.have(next, self.groups.ranks, is_put) {
                if self.joined == 0 {
                    self.check(slots)?;
                }
                self.join(slots)?;
                self.joined = next;
                slots.publish_joined(begin + next);
                moved = true;
            }
        }
        let own = (0, self.groups.elements);
        moved |= (self.groups).put_next(slots, (begin, self.me), own, &mut self.put)?;
        Ok(Progress::of(self.got == self.groups.count(), moved))
    }

    fn idle(&mut self, slots: &mut S) -> Result<(), S::Error> {
        slots.idle(self.waiting())
    }
}

/// The exchange of what the ranks of a node have, as one of them does it.
pub struct SlotExchange<'a> {
    groups: Groups,
    begin: u64,
    me: u32,
    /// The elements of each rank.
    parts: &'a [Range<u64>],
    put: u64,
    got: u64,
    others: Others,
}

impl<'a> SlotExchange<'a> {
    /// Begins at the position `begin` of the ring on rank `me` of the node. All ranks give parts of the same lengths;
    /// the longest has the elements that `groups` was made for.
    pub fn new(groups: Groups, begin: u64, me: u32, parts: &'a [Range<u64>]) -> SlotExchange<'a> {
        SlotExchange {
            groups,
            begin,
            me,
            parts,
            put: 0,
            got: 0,
            others: Others::default(),
        }
    }

    /// Which rank is waited for, if it is one.
    pub fn waiting(&self) -> Option<u32> {
        (self.got < self.put).then_some(self.others.behind)
    }
}

impl<S: Slots> Engine<S> for SlotExchange<'_> {
    type Error = S::Error;

    fn advance(&mut self, slots: &mut S) -> Result<Progress, S::Error> {
        let (groups, parts, begin) = (self.groups, self.parts, self.begin);
        // The elements of a rank in the next group.
        let next = self.got;
        let piece = |rank: u32| {
            let part = &parts[rank as usize];
            let piece = groups.piece(next, 0, part.end - part.start);
            part.start + piece.start..part.start + piece.end
        };
        let mut moved = false;
        if next < self.put {
            // Nobody waits for a rank that has nothing there. Marks are in the first group.
            let is_put = |rank| match piece(rank).is_empty() {
                true => next + 1,
                false => slots.written(rank).saturating_sub(begin),
            };
            if self.others.have(next + 1, groups.ranks, is_put) {
                for rank in (0..groups.ranks).filter(|&rank| rank != self.me) {
                    let (slot, piece) = (groups.slot(begin, next, rank), piece(rank));
                    if piece.is_empty() {
                        continue;
                    }
                    if next == 0 {
                        slots.check(slot, rank)?;
                    }
                    slots.get(groups.element(slot, 0, 0), piece)?;
                }
                self.got += 1;
                slots.release(groups.end(begin, next));
                moved = true;
            }
        }
        let part = &parts[self.me as usize];
        let own = (part.start, part.end - part.start);
        moved |= groups.put_next(slots, (begin, self.me), own, &mut self.put)?;
        Ok(Progress::of(self.got == groups.count(), moved))
    }

    fn idle(&mut self, slots: &mut S) -> Result<(), S::Error> {
        slots.idle(self.waiting())
    }
}
