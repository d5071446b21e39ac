//! Aligned groups of ranks, from which binomial trees are made.
//!
//! In round d, ranks g 2^d to (g + 1) 2^d - 1 are a group, and two neighbours become one. Groups are
//! aligned with the ranks and not with the root, so that ranks of one node stay together in the first
//! rounds, whoever is the root.

#![forbid(unsafe_code)]

use std::ops::Range;

/// The groups of p ranks, and the binomial tree over them that ignores sizes: the last rank of a group
/// is its leader, only the root never sends.
///
/// The tree is the one of [`super::binomial`], in O(log p) for a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    p: u32,
    root: u32,
}

impl Groups {
    /// The groups of `p` > `root` ranks.
    pub fn new(p: u32, root: u32) -> Groups {
        assert!(root < p, "there is no root {root} of {p} ranks");
        Groups { p, root }
    }

    /// Rounds until there is one group: ceil(log2 p).
    pub fn rounds(&self) -> u32 {
        self.p.next_power_of_two().trailing_zeros()
    }

    /// The group of `rank` in `round`.
    pub fn group(&self, round: u32, rank: u32) -> Range<u32> {
        self.ranks(round, rank >> round)
    }

    /// The group that joins with that of `rank` in `round`; empty if there is none.
    pub fn sibling(&self, round: u32, rank: u32) -> Range<u32> {
        self.ranks(round, (rank >> round) ^ 1)
    }

    fn ranks(&self, round: u32, group: u32) -> Range<u32> {
        let bound = |group: u64| (group << round).min(self.p.into()) as u32;
        bound(group.into())..bound(u64::from(group) + 1)
    }

    /// The leader of a group that is not empty.
    pub fn leader(&self, group: &Range<u32>) -> u32 {
        if group.contains(&self.root) {
            self.root
        } else {
            group.end - 1
        }
    }

    /// The rounds in which the group of `rank` takes in another one, of which it is still the leader.
    fn led(&self, rank: u32) -> impl Iterator<Item = u32> + use<> {
        let groups = *self;
        (0..self.rounds())
            .take_while(move |round| groups.leader(&groups.group(round + 1, rank)) == rank)
    }

    /// The children of `rank` in the tree with the ranks below each, in the order of rounds.
    pub fn children(&self, rank: u32) -> impl Iterator<Item = (u32, Range<u32>)> + use<> {
        let groups = *self;
        self.led(rank)
            .map(move |round| groups.sibling(round, rank))
            .filter(|group| !group.is_empty())
            .map(move |group| (groups.leader(&group), group))
    }

    /// The parent of `rank`; `None` for the root.
    pub fn parent(&self, rank: u32) -> Option<u32> {
        let led = self.led(rank).count() as u32;
        (rank != self.root).then(|| self.leader(&self.group(led + 1, rank)))
    }
}

/// What the adaptive binomial tree knows of a group: its root, which receives all other blocks of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// The rank that has everything in the end.
    pub root: u32,
    /// Bytes of that rank's own block.
    pub own: u64,
    /// Bytes of all ranks of the group.
    pub total: u64,
}

impl Content {
    /// A rank alone, with `bytes` bytes.
    pub fn single(rank: u32, bytes: u64) -> Content {
        Content {
            root: rank,
            own: bytes,
            total: bytes,
        }
    }

    /// Does this group send to the other one? The one whose root has less to receive does, because it
    /// is ready first; then the one whose root has the smaller block; then the lower one. But
    /// `given`, the root of all, never sends.
    pub fn sends_to(&self, other: &Content, is_lower: bool, given: Option<u32>) -> bool {
        let weight = |group: &Content, upper: bool| (group.total - group.own, group.own, upper);
        match given {
            Some(given) if given == self.root => false,
            Some(given) if given == other.root => true,
            _ => weight(self, !is_lower) < weight(other, is_lower),
        }
    }

    /// This group after it received all of the other one.
    pub fn with(&self, other: &Content) -> Content {
        Content {
            total: self.total.saturating_add(other.total),
            ..*self
        }
    }
}
