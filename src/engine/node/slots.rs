//! Vectors that pass through slots in the ring of a node.
//!
//! Every rank has a slot in a *group*, which takes a piece of its vector. A few groups lie in the ring at a time. In a
//! [`SlotReduction`] all ranks put the same piece of their vectors into the slots of a group. Each rank then joins a
//! share of the piece, in place, which no other rank touches meanwhile; and who needs the result reads it. In a
//! [`SlotExchange`] every rank puts in what it has, and all read.

#![forbid(unsafe_code)]

use crate::script::{Fold, share};
use std::ops::Range;

/// Bytes of a slot, at the most. A group of a few ranks stays in the caches of a processor.
const SLOT_BYTES: u64 = 64 << 10;

/// Bytes that stay in the nearest cache of a processor while they are joined.
const NEAR_BYTES: u64 = 16 << 10;

/// Groups that lie in the ring at a time, at the most: what one rank reads, another one need not wait for to write.
const GROUPS: u64 = 4;

/// Slots begin at multiples of a cache line, and with one for the mark.
const LINE: u64 = 64;

/// One rank's view of the ring of its node, and its way to the elements of a call. Positions are those of the ring.
/// Elements are numbered in the vectors of the call; in a slot they lie side by side, so many bytes each.
pub trait Slots {
    /// Why the collective cannot go on.
    type Error;

    /// Have all ranks done with what the positions below `end` take the room of?
    fn has_room(&mut self, end: u64) -> bool;

    /// Writes the mark of this call, of at most [`super::MARK`] bytes.
    fn mark(&mut self, at: u64);

    /// Checks the mark of rank `writer` of the node.
    fn check(&mut self, at: u64, writer: u32) -> Result<(), Self::Error>;

    /// Checks that rank `rank` of the node, which cannot have left this call, is in it.
    fn same(&mut self, rank: u32) -> Result<(), Self::Error>;

    /// Copies these elements of this rank's vector to the position `at`.
    fn put(&mut self, at: u64, elements: Range<u64>) -> Result<(), Self::Error>;

    /// Makes the elements at `left` the left operands of those at `to`, where the results are then.
    fn join(&mut self, left: u64, to: u64, count: u64) -> Result<(), Self::Error>;

    /// Copies elements from the position `at` to the place of these elements.
    fn get(&mut self, at: u64, elements: Range<u64>) -> Result<(), Self::Error>;

    /// This rank has written all that is its own below `until`.
    fn publish(&mut self, until: u64);

    /// Below this position rank `writer` of the node has written all that is its own.
    fn written(&self, writer: u32) -> u64;

    /// This rank has joined all that is its share below `until`.
    fn publish_joined(&mut self, until: u64);

    /// Below this position rank `rank` of the node has joined all that is its share.
    fn joined(&self, rank: u32) -> u64;

    /// This rank needs no bytes below `until` any more, and has written those that are its own.
    fn release(&mut self, until: u64);

    /// Called when nothing can be done; `waiting` is the rank of the node that is waited for, if it is one.
    fn idle(&mut self, waiting: Option<u32>) -> Result<(), Self::Error>;
}

/// Calls `advance` until all is done. It gives the rank that is waited for as well, if it is one.
pub fn run_slots<S: Slots>(
    slots: &mut S,
    mut advance: impl FnMut(&mut S) -> Result<(Step, Option<u32>), S::Error>,
) -> Result<(), S::Error> {
    loop {
        match advance(slots)? {
            (Step::Done, _) => return Ok(()),
            (Step::Moved, _) => {}
            (Step::Waiting, waiting) => slots.idle(waiting)?,
        }
    }
}

/// How vectors of elements are cut into pieces for the slots of a node, and where these lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    ranks: u32,
    /// Bytes of an element.
    unit: u64,
    /// Elements of the longest vector.
    elements: u64,
    /// Elements of a slot.
    piece: u64,
    /// Groups that lie in the ring at a time.
    lap: u64,
    capacity: u64,
}

impl Groups {
    /// For the vectors of `ranks` ranks, the longest of which has so many elements of `unit` bytes each, in a ring of
    /// `capacity` bytes, which has room for an element of every rank.
    pub fn new(ranks: u32, unit: u64, elements: u64, capacity: u64) -> Groups {
        let slots = u64::from(ranks.max(1));
        let room = |groups: u64| (capacity / groups / slots / LINE * LINE).saturating_sub(LINE);
        let most = room(GROUPS).min(SLOT_BYTES) / unit.max(1);
        let piece = match most {
            0 => 1,
            most => most.min(elements.max(1)),
        };
        let groups = Groups {
            ranks,
            unit,
            elements,
            piece,
            lap: 1,
            capacity,
        };
        let lap = (capacity / groups.bytes()).clamp(1, GROUPS);
        Groups { lap, ..groups }
    }

    /// How many groups there are.
    pub fn count(&self) -> u64 {
        self.elements.div_ceil(self.piece)
    }

    /// Bytes of the ring that a call takes, from a position on that is a multiple of its capacity, or from any other one
    /// if it [`fits`](Groups::fits).
    pub fn through(&self) -> u64 {
        match self.fits() {
            true => self.count() * self.bytes(),
            false => self.count().div_ceil(self.lap) * self.capacity,
        }
    }

    /// Do all groups lie in the ring at a time?
    pub fn fits(&self) -> bool {
        self.count() <= self.lap
    }

    /// Bytes from one slot to the next.
    fn slot_bytes(&self) -> u64 {
        LINE + (self.piece * self.unit).next_multiple_of(LINE)
    }

    /// Bytes of a group.
    fn bytes(&self) -> u64 {
        self.slot_bytes() * u64::from(self.ranks)
    }

    /// Where a group begins in a call that begins at `begin`.
    fn start(&self, begin: u64, group: u64) -> u64 {
        begin + group / self.lap * self.capacity + group % self.lap * self.bytes()
    }

    /// Where the slot of a rank begins.
    fn slot(&self, begin: u64, group: u64, rank: u32) -> u64 {
        self.start(begin, group) + u64::from(rank) * self.slot_bytes()
    }

    /// Where an element of a slot is.
    fn element(&self, slot: u64, element: u64) -> u64 {
        slot + LINE + element * self.unit
    }

    /// The numbers of the elements of a group in vectors of so many.
    fn elements(&self, group: u64, of: u64) -> Range<u64> {
        let from = (group * self.piece).min(of);
        from..(from + self.piece).min(of)
    }

    /// What a rank puts in, among them the mark that shows which call it is in.
    fn put<S: Slots>(
        &self,
        slots: &mut S,
        (begin, group, me): (u64, u64, u32),
        elements: Range<u64>,
    ) -> Result<(), S::Error> {
        let slot = self.slot(begin, group, me);
        if group == 0 {
            slots.mark(slot);
        }
        slots.put(self.element(slot, 0), elements)
    }
}

/// Waiting until all ranks of a node have done so many groups.
#[derive(Clone, Copy, Debug, Default)]
struct Others {
    /// All have done so many.
    done: u64,
    /// The rank that had not done more at the last look.
    behind: u32,
}

impl Others {
    /// Have all done `groups`? `done` says how many a rank has.
    fn have(&mut self, groups: u64, ranks: u32, done: impl Fn(u32) -> u64) -> bool {
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
}

/// A part of the vectors of a reduction, with an order of evaluation of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// It ends before this element, and begins where the one before it ends.
    pub end: u64,
    /// How its elements are joined.
    pub fold: Fold,
}

/// Says that all is done, or that a rank waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something was done.
    Moved,
    /// Nothing could be.
    Waiting,
    /// There is nothing left to do.
    Done,
}

/// The reduction of the vectors of the ranks of a node, as one of them does it.
pub struct SlotReduction<'a> {
    groups: Groups,
    begin: u64,
    me: u32,
    trees: &'a [Tree],
    /// Ascending.
    wants: &'a [Want],
    put: u64,
    joined: u64,
    got: u64,
    others_put: Others,
    others_joined: Others,
    /// The first tree and the first want that may concern the next group.
    tree: usize,
    want: usize,
}

impl<'a> SlotReduction<'a> {
    /// Begins at the position `begin` of the ring on rank `me` of the node. All ranks give the same trees.
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
            others_put: Others::default(),
            others_joined: Others::default(),
            tree: 0,
            want: 0,
        }
    }

    /// The first `elements` elements of what this rank wants are there if they come before this one of the vector.
    pub fn there(&self) -> u64 {
        self.groups.elements(self.got, self.groups.elements).start
    }

    /// Which rank is waited for, if it is one.
    pub fn waiting(&self) -> Option<u32> {
        match self.joined < self.put {
            true => Some(self.others_put.behind),
            false if self.got < self.joined => Some(self.others_joined.behind),
            false => None,
        }
    }

    /// Does what can be done now.
    pub fn advance<S: Slots>(&mut self, slots: &mut S) -> Result<Step, S::Error> {
        let (n, ranks, begin) = (self.groups.count(), self.groups.ranks, self.begin);
        if self.got == n {
            return Ok(Step::Done);
        }
        let mut moved = false;
        if self.got < self.joined {
            let wanted = self.is_wanted();
            let next = self.got + 1;
            let is_joined = |rank| slots.joined(rank).saturating_sub(begin);
            if !wanted || self.others_joined.have(next, ranks, is_joined) {
                if wanted {
                    self.get(slots)?;
                }
                self.got = next;
                slots.release(self.groups.start(begin, next - 1) + self.groups.bytes());
                moved = true;
            }
        }
        if self.joined < self.put {
            let next = self.joined + 1;
            let is_put = |rank| slots.written(rank).saturating_sub(begin);
            if self.others_put.have(next, ranks, is_put) {
                if self.joined == 0 {
                    self.check(slots)?;
                }
                self.join(slots)?;
                self.joined = next;
                slots.publish_joined(begin + next);
                moved = true;
            }
        }
        if self.put < n && slots.has_room(self.groups.start(begin, self.put) + self.groups.bytes())
        {
            let elements = self.groups.elements(self.put, self.groups.elements);
            (self.groups).put(slots, (begin, self.put, self.me), elements)?;
            self.put += 1;
            slots.publish(begin + self.put);
            moved = true;
        }
        Ok(match (self.got == n, moved) {
            (true, _) => Step::Done,
            (false, true) => Step::Moved,
            (false, false) => Step::Waiting,
        })
    }

    fn check<S: Slots>(&self, slots: &mut S) -> Result<(), S::Error> {
        let others = (0..self.groups.ranks).filter(|&rank| rank != self.me);
        for rank in others {
            slots.check(self.groups.slot(self.begin, 0, rank), rank)?;
        }
        Ok(())
    }

    /// Joins this rank's share of the next group.
    fn join<S: Slots>(&mut self, slots: &mut S) -> Result<(), S::Error> {
        let Groups { ranks, unit, .. } = self.groups;
        let all = self.groups.elements(self.joined, self.groups.elements);
        // Shares of whole cache lines, where elements allow it.
        let line = (LINE / unit.max(1)).max(1);
        let lines = (all.end - all.start).div_ceil(line);
        let from = (0..self.me)
            .map(|rank| share(lines, ranks, rank))
            .sum::<u64>()
            * line;
        let until = from + share(lines, ranks, self.me) * line;
        let mut from = (all.start + from).min(all.end);
        let until = (all.start + until).min(all.end);
        while self
            .trees
            .get(self.tree)
            .is_some_and(|tree| tree.end <= all.start)
        {
            self.tree += 1;
        }
        // So few elements at a time that those of all ranks stay in the nearest cache.
        let near = (NEAR_BYTES / u64::from(ranks) / unit.max(1) / line * line).max(line);
        let mut tree = self.tree;
        while from < until {
            let &Tree { end, fold } = &self.trees[tree];
            let count = end.min(until).saturating_sub(from).min(near);
            if count > 0 {
                let at = |rank| {
                    let slot = self.groups.slot(self.begin, self.joined, rank);
                    self.groups.element(slot, from - all.start)
                };
                for (left, to) in fold.pairs(ranks) {
                    slots.join(at(left), at(to), count)?;
                }
            }
            from += count;
            if from >= end {
                tree += 1;
            }
        }
        Ok(())
    }

    /// Does this rank want elements of the next group?
    fn is_wanted(&mut self) -> bool {
        let all = self.groups.elements(self.got, self.groups.elements);
        let wants = &self.wants[self.want..];
        let over = |want: &Want| want.elements.end <= all.start || want.elements.is_empty();
        self.want += wants.iter().take_while(|want| over(want)).count();
        let next = self.wants.get(self.want);
        next.is_some_and(|want| want.elements.start < all.end)
    }

    /// Copies what this rank wants of the next group.
    fn get<S: Slots>(&self, slots: &mut S) -> Result<(), S::Error> {
        let ranks = self.groups.ranks;
        let all = self.groups.elements(self.got, self.groups.elements);
        let first = self.trees.partition_point(|tree| tree.end <= all.start);
        for want in &self.wants[self.want..] {
            if want.elements.start >= all.end {
                break;
            }
            let mut from = want.elements.start.max(all.start);
            let until = want.elements.end.min(all.end);
            let mut tree = first;
            while from < until {
                let &Tree { end, fold } = &self.trees[tree];
                let count = end.min(until).saturating_sub(from);
                if count > 0 {
                    let slot = self.groups.slot(self.begin, self.got, fold.result(ranks));
                    let to = want.to + (from - want.elements.start);
                    slots.get(self.groups.element(slot, from - all.start), to..to + count)?;
                }
                from += count;
                tree += 1;
            }
        }
        Ok(())
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

    /// The elements of a rank in a group.
    fn piece(&self, rank: u32, group: u64) -> Range<u64> {
        let part = &self.parts[rank as usize];
        let piece = self.groups.elements(group, part.end - part.start);
        part.start + piece.start..part.start + piece.end
    }

    /// Does what can be done now.
    pub fn advance<S: Slots>(&mut self, slots: &mut S) -> Result<Step, S::Error> {
        let (n, begin) = (self.groups.count(), self.begin);
        let mut moved = false;
        if self.got < self.put {
            let next = self.got + 1;
            // Nobody waits for a rank that has nothing there. Marks are in the first group.
            let is_put = |rank| match self.piece(rank, next - 1).is_empty() {
                true => next,
                false => slots.written(rank).saturating_sub(begin),
            };
            let mut others = self.others;
            let are_put = others.have(next, self.groups.ranks, is_put);
            self.others = others;
            if are_put {
                for rank in (0..self.groups.ranks).filter(|&rank| rank != self.me) {
                    let slot = self.groups.slot(begin, self.got, rank);
                    let piece = self.piece(rank, self.got);
                    if piece.is_empty() {
                        continue;
                    }
                    if self.got == 0 {
                        slots.check(slot, rank)?;
                    }
                    slots.get(self.groups.element(slot, 0), piece)?;
                }
                self.got = next;
                slots.release(self.groups.start(begin, next - 1) + self.groups.bytes());
                moved = true;
            }
        }
        if self.put < n && slots.has_room(self.groups.start(begin, self.put) + self.groups.bytes())
        {
            let piece = self.piece(self.me, self.put);
            (self.groups).put(slots, (begin, self.put, self.me), piece)?;
            self.put += 1;
            slots.publish(begin + self.put);
            moved = true;
        }
        Ok(match (self.got == n, moved) {
            (true, _) => Step::Done,
            (false, true) => Step::Moved,
            (false, false) => Step::Waiting,
        })
    }
}

/// Bytes of the ring that a [`Gate`] takes.
pub const GATE_BYTES: u64 = LINE;

/// What the ranks of a node pass together: all come to one of them, the leader, who lets them go on.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// Ranks of the node.
    pub ranks: u32,
    /// This rank.
    pub me: u32,
    /// The leader.
    pub leader: u32,
    /// The position in the ring at which the call begins.
    pub begin: u64,
}

impl Gate {
    /// Comes to the gate. On the leader, all are there then.
    pub fn come<S: Slots>(&self, slots: &mut S) -> Result<(), S::Error> {
        let &Gate {
            ranks,
            me,
            leader,
            begin,
        } = self;
        slots.publish(begin + 1);
        if me != leader {
            return Ok(());
        }
        let mut others = Others::default();
        run_slots(slots, |slots| {
            let is_there = |rank| slots.written(rank).saturating_sub(begin);
            Ok(match others.have(1, ranks, is_there) {
                true => (Step::Done, None),
                false => (Step::Waiting, Some(others.behind)),
            })
        })?;
        (0..ranks)
            .filter(|&rank| rank != me)
            .try_for_each(|rank| slots.same(rank))
    }

    /// Goes on: the leader when it may, the others when it does.
    pub fn pass<S: Slots>(&self, slots: &mut S) -> Result<(), S::Error> {
        let &Gate {
            me, leader, begin, ..
        } = self;
        match me == leader {
            true => slots.publish_joined(begin + 1),
            false => run_slots(slots, |slots| {
                Ok(match slots.joined(leader) > begin {
                    true => (Step::Done, None),
                    false => (Step::Waiting, Some(leader)),
                })
            })?,
        }
        slots.release(begin + GATE_BYTES);
        Ok(())
    }
}
