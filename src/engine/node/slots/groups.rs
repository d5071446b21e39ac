//! How vectors are cut into groups of pieces, and where these lie in the ring of a node.

#![forbid(unsafe_code)]

use super::{LINE, Slots};
use crate::script::share;
use std::ops::Range;

/// Bytes of a slot, at the most. A group of a few ranks stays in the caches of a processor.
const SLOT_BYTES: u64 = 64 << 10;

/// Groups that lie in the ring at a time, at the most: what one rank reads, another one need not wait for to write.
const GROUPS: u64 = 4;

/// How vectors of elements are cut into pieces for the slots of a node, and where these lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    pub(super) ranks: u32,
    /// Bytes of an element.
    pub(super) unit: u64,
    /// Elements of the longest vector.
    pub(super) elements: u64,
    /// A vector has so many stripes, of lengths that differ by one element at the most.
    pub(super) stripes: u32,
    /// A slot has so many elements of each stripe.
    piece: u64,
    /// Groups that lie in the ring at a time.
    lap: u64,
    /// Is a piece joined at once?
    pub(super) whole: bool,
    order: Order,
    capacity: u64,
}

/// Which pieces are in the first group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Of every stripe, the first one.
    Usual,
    /// Of every stripe, the one before this one. From there on pieces go round, backwards.
    Before(u64),
    /// The last ones of the vector, which are side by side there.
    Backwards,
}

impl Groups {
    /// For a [`SlotExchange`] of parts, the longest of which has so many elements of `unit` bytes each, among `ranks`
    /// ranks, in a ring of `capacity` bytes, which has room for an element of every rank.
    pub fn new(ranks: u32, unit: u64, elements: u64, capacity: u64) -> Groups {
        Groups::with_stripes((ranks, 1), (unit, elements), capacity, (GROUPS, SLOT_BYTES))
    }

    /// For a [`SlotReduction`] of vectors of so many elements. Otherwise as for [`Groups::new`].
    pub fn striped(ranks: u32, unit: u64, elements: u64, capacity: u64) -> Groups {
        let stripes = (ranks, ranks);
        Groups::with_stripes(stripes, (unit, elements), capacity, (GROUPS, SLOT_BYTES))
    }

    /// The same where each join calls a function of the program's, which may take long to begin: in groups as large as
    /// the ring allows, with pieces that are joined at once.
    pub fn striped_for_calls(ranks: u32, unit: u64, elements: u64, capacity: u64) -> Groups {
        let stripes = (ranks, ranks);
        Groups {
            whole: true,
            ..Groups::with_stripes(stripes, (unit, elements), capacity, (1, u64::MAX))
        }
    }

    /// The same for a [`SlotReduction`] whose result is needed from the end on. It changes no order of evaluation.
    pub fn backwards(self) -> Groups {
        Groups {
            order: Order::Backwards,
            ..self
        }
    }

    /// The same where the elements of a stripe before this one are needed first, the last of them before the others,
    /// and then those behind it in the same way. It changes no order of evaluation.
    pub fn before(self, element: u64) -> Groups {
        let behind = element.div_ceil(self.piece) % self.count().max(1);
        Groups {
            order: Order::Before(behind),
            ..self
        }
    }

    /// For so many ranks and stripes, in slots of so many bytes at the most, so many groups of which the ring has room
    /// for.
    fn with_stripes(
        (ranks, stripes): (u32, u32),
        (unit, elements): (u64, u64),
        capacity: u64,
        (laps, slot_bytes): (u64, u64),
    ) -> Groups {
        let slots = u64::from(ranks.max(1));
        let room = (capacity / laps / slots / LINE * LINE).saturating_sub(LINE);
        let most = (room.min(slot_bytes) / unit.max(1)).max(1);
        // Whole cache lines, so that no two ranks write to one. Where slots are short, some ranks join nothing.
        let line = line_of(unit);
        let stripes = u64::from(stripes).clamp(1, (most / line).max(1));
        let piece = match most / stripes {
            piece if piece >= line => piece / line * line,
            piece => piece,
        };
        let groups = Groups {
            ranks,
            unit,
            elements,
            stripes: stripes as u32,
            piece: piece
                .min(elements.div_ceil(stripes).next_multiple_of(line))
                .max(1),
            lap: 1,
            whole: false,
            order: Order::Usual,
            capacity,
        };
        let lap = (capacity / groups.bytes()).clamp(1, laps);
        Groups { lap, ..groups }
    }

    /// How many groups there are.
    pub fn count(&self) -> u64 {
        let longest = self.elements.div_ceil(self.stripes.into());
        longest.div_ceil(self.piece)
    }

    /// Bytes of the ring that a call takes, from a position on that is a multiple of its capacity, or from any other
    /// one if it [`fits`](Groups::fits).
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
        let elements = u64::from(self.stripes) * self.piece;
        LINE + (elements * self.unit).next_multiple_of(LINE)
    }

    /// Bytes of a group.
    fn bytes(&self) -> u64 {
        self.slot_bytes() * u64::from(self.ranks)
    }

    /// Where a group begins in a call that begins at `begin`.
    fn start(&self, begin: u64, group: u64) -> u64 {
        begin + group / self.lap * self.capacity + group % self.lap * self.bytes()
    }

    /// Where a group ends.
    pub(super) fn end(&self, begin: u64, group: u64) -> u64 {
        self.start(begin, group) + self.bytes()
    }

    /// Where the slot of a rank begins.
    pub(super) fn slot(&self, begin: u64, group: u64, rank: u32) -> u64 {
        self.start(begin, group) + u64::from(rank) * self.slot_bytes()
    }

    /// Where an element of the piece of a stripe is in a slot.
    pub(super) fn element(&self, slot: u64, stripe: u32, element: u64) -> u64 {
        slot + LINE + (u64::from(stripe) * self.piece + element) * self.unit
    }

    /// The piece of a stripe in a group, of a vector of `of` elements.
    pub(super) fn piece(&self, group: u64, stripe: u32, of: u64) -> Range<u64> {
        let number = match self.order {
            Order::Usual => group,
            Order::Before(behind) => (behind + self.count() - 1 - group) % self.count(),
            Order::Backwards => self.count() - 1 - group,
        };
        self.pieces(&(number..number + 1), stripe, of)
    }

    /// These pieces of a stripe.
    fn pieces(&self, numbers: &Range<u64>, stripe: u32, of: u64) -> Range<u64> {
        let (n, before) = (u64::from(self.stripes), u64::from(stripe));
        let (first, step, end) = match self.order {
            Order::Usual | Order::Before(_) => {
                let first = of / n * before + before.min(of % n);
                (first, self.piece, first + share(of, self.stripes, stripe))
            }
            Order::Backwards => (before * self.piece, n * self.piece, of),
        };
        let last = match numbers.is_empty() {
            true => numbers.start * step,
            false => (numbers.end - 1) * step + self.piece,
        };
        (first + numbers.start * step).min(end)..(first + last).min(end)
    }

    /// Are all of these elements of the vector in one of the first `groups` groups?
    pub(super) fn are_within(&self, groups: u64, elements: &Range<u64>) -> bool {
        let count = self.count();
        let missing = match self.order {
            Order::Usual => [groups..count, 0..0],
            Order::Before(behind) if groups < behind => [0..behind - groups, behind..count],
            Order::Before(behind) => [behind..(behind + count - groups), 0..0],
            Order::Backwards => [0..count - groups, 0..0],
        };
        let meets =
            |missing: Range<u64>| missing.start.max(elements.start) < missing.end.min(elements.end);
        let mut missing = missing.iter().filter(|numbers| !numbers.is_empty());
        !missing.any(|numbers| {
            let mut stripes = 0..self.stripes;
            stripes.any(|stripe| meets(self.pieces(numbers, stripe, self.elements)))
        })
    }

    /// Puts the next group of a rank into the ring, if there is one and room for it, and counts it in `done`: of its
    /// elements from `first` on, of which it has `of`. The mark that shows which call it is in stands before the first.
    pub(super) fn put_next<S: Slots>(
        &self,
        slots: &mut S,
        (begin, me): (u64, u32),
        (first, of): (u64, u64),
        done: &mut u64,
    ) -> Result<bool, S::Error> {
        let group = *done;
        if group == self.count() || !slots.has_room(self.end(begin, group)) {
            return Ok(false);
        }
        let slot = self.slot(begin, group, me);
        if group == 0 {
            slots.mark(slot);
        }
        for stripe in 0..self.stripes {
            let piece = self.piece(group, stripe, of);
            if !piece.is_empty() {
                let elements = first + piece.start..first + piece.end;
                slots.put(self.element(slot, stripe, 0), elements)?;
            }
        }
        *done += 1;
        slots.publish(begin + *done);
        Ok(true)
    }
}

/// Elements of a cache line.
pub(super) fn line_of(unit: u64) -> u64 {
    (LINE / unit.max(1)).max(1)
}
