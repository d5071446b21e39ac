//! Vectors of the ranks of a node, of each of which every rank gets some elements.

#![forbid(unsafe_code)]

use super::{Groups, Others, Slots, Want};
use crate::engine::{Engine, Progress};
use std::ops::Range;

/// Every rank puts its vector into the slots, and gets what it wants of each, as one of them does it.
pub struct SlotShuffle<'a> {
    groups: Groups,
    begin: u64,
    me: u32,
    /// This rank's vector among its elements.
    own: Range<u64>,
    /// What this rank wants of the vector of each rank, whose elements count from 0.
    wants: &'a [Vec<Want>],
    put: u64,
    got: u64,
    others: Others,
}

impl<'a> SlotShuffle<'a> {
    /// Begins at the position `begin` of the ring on rank `me` of the node, with [`Groups::new`] for the longest
    /// vector. What is wanted of a vector is in ascending order.
    pub fn new(
        groups: Groups,
        begin: u64,
        me: u32,
        own: Range<u64>,
        wants: &'a [Vec<Want>],
    ) -> SlotShuffle<'a> {
        SlotShuffle {
            groups,
            begin,
            me,
            own,
            wants,
            put: 0,
            got: 0,
            others: Others::default(),
        }
    }

    /// Which rank is waited for, if it is one.
    pub fn waiting(&self) -> Option<u32> {
        (self.got < self.put).then_some(self.others.behind)
    }

    /// Gets what this rank wants of the vector of `rank` in the next group.
    fn get<S: Slots>(&self, slots: &mut S, rank: u32) -> Result<(), S::Error> {
        let groups = self.groups;
        let piece = groups.piece(self.got, 0, groups.elements);
        let at = groups.element(groups.slot(self.begin, self.got, rank), 0, 0);
        let wants = &self.wants[rank as usize];
        let first = wants.partition_point(|want| want.elements.end <= piece.start);
        let here = wants[first..].iter();
        for want in here.take_while(|want| want.elements.start < piece.end) {
            let from = want.elements.start.max(piece.start);
            let until = want.elements.end.min(piece.end);
            let to = want.to + (from - want.elements.start);
            let place = at + (from - piece.start) * groups.unit;
            slots.get(place, to..to + (until - from))?;
        }
        Ok(())
    }
}

impl<S: Slots> Engine<S> for SlotShuffle<'_> {
    type Error = S::Error;

    fn advance(&mut self, slots: &mut S) -> Result<Progress, S::Error> {
        let (groups, begin, next) = (self.groups, self.begin, self.got);
        let mut moved = false;
        if next < self.put {
            let is_put = |rank| slots.written(rank).saturating_sub(begin);
            if self.others.have(next + 1, groups.ranks, is_put) {
                // Not all ranks begin with the same one.
                for rank in (self.me..groups.ranks).chain(0..self.me) {
                    if next == 0 && rank != self.me {
                        slots.check(groups.slot(begin, 0, rank), rank)?;
                    }
                    self.get(slots, rank)?;
                }
                self.got += 1;
                slots.release(groups.end(begin, next));
                moved = true;
            }
        }
        let own = (self.own.start, self.own.end - self.own.start);
        moved |= groups.put_next(slots, (begin, self.me), own, &mut self.put)?;
        Ok(Progress::of(self.got == groups.count(), moved))
    }

    fn idle(&mut self, slots: &mut S) -> Result<(), S::Error> {
        slots.idle(self.waiting())
    }
}
