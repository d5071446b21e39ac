//! All-broadcasts of whole parts in which what a rank sends in a step is one range of parts, or two; and the broadcast
//! that scatters a message and then goes around a ring.
//!
//! Steps have the same number on both ends, and a rank sends what it had before the step. No part comes to a rank
//! twice.
//!
//! Some ways are for 2^d ranks, or for an even number. Then as many of the first ranks as there are too many go in
//! pairs: the odd one of a pair gives its part to the even one first, and gets everything else from it in the end.

#![forbid(unsafe_code)]

use super::grid::columns;
use super::rounds::rounds_of;
use std::ops::Range;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// Pairs of ranks exchange what they have, then pairs of pairs and so on: the all-to-all broadcast on a hypercube
    /// (A. Grama et al., "Introduction to Parallel Computing", 2003, section 4.2.3), for other numbers in pairs.
    Doubling,
    /// A rank exchanges two parts with the rank on one side and the one on the other side in turn: p/2 steps (J. Chen,
    /// L. Zhang, Y. Zhang, W. Yuan, "Performance evaluation of allgather algorithms on terascale Linux cluster with
    /// fast Ethernet", HPC Asia 2005), for odd numbers with one pair.
    Neighbours,
    /// Ranks are a mesh, as near to a square as p has divisors: around each row, and then the parts of whole rows
    /// around each column (Grama et al., section 4.2.2).
    Mesh,
    /// The broadcast of rank 0, whose message has a part for every rank: each gets what its subtree of a binomial tree
    /// needs, and then parts go around a ring, but not to who has them (R. A. van de Geijn et al.; J. L. Träff, lecture
    /// on collective operations).
    Scatter,
}

/// One direction of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The other rank.
    pub peer: u32,
    /// The parts that travel.
    pub parts: [Range<u32>; 2],
}

impl Move {
    fn of(peer: u32, parts: Range<u32>) -> Option<Move> {
        let parts = [parts, 0..0];
        Some(Move { peer, parts })
    }

    /// How many parts travel.
    pub fn count(&self) -> u32 {
        self.parts.iter().map(|range| range.end - range.start).sum()
    }

    /// The i-th of them.
    pub fn part(&self, i: u32) -> u32 {
        let [first, second] = &self.parts;
        match i < first.end - first.start {
            true => first.start + i,
            false => second.start + (i - (first.end - first.start)),
        }
    }
}

/// p ranks of which the first 2 `extra` are pairs.
#[derive(Clone, Copy)]
struct Pairs {
    p: u32,
    extra: u32,
}

impl Pairs {
    /// The members: pairs, and the ranks after them.
    fn members(self) -> u32 {
        self.p - self.extra
    }

    /// The first rank of a member.
    fn first(self, member: u32) -> u32 {
        member + member.min(self.extra)
    }

    /// The ranks of some members.
    fn ranks(self, members: Range<u32>) -> Range<u32> {
        self.first(members.start)..self.first(members.end)
    }

    /// A step of `rank`, if it is the first or the last one of `count`; else the member that it stands for in the
    /// steps between, if it is not the odd one of a pair.
    fn step(self, rank: u32, (k, count): (u32, u32), sends: bool) -> Result<u32, Option<Move>> {
        let is_paired = rank < 2 * self.extra;
        let is_odd = is_paired && rank % 2 == 1;
        let others = |of: u32| [0..of, of + 1..self.p];
        if self.extra > 0 && (k == 0 || k + 1 == count) {
            // The odd one sends first and receives last.
            let moves = is_paired && (is_odd == ((k == 0) == sends));
            let odd = rank | 1;
            let parts = match k {
                0 => [odd..odd + 1, 0..0],
                _ => others(odd),
            };
            let peer = rank ^ 1;
            return Err(moves.then_some(Move { peer, parts }));
        }
        match is_odd {
            true => Err(None),
            false => Ok(rank - (rank / 2).min(self.extra)),
        }
    }
}

impl Moves {
    /// Is there a single part, whose blocks are shared out, and not one of every rank?
    pub fn has_one_part(self) -> bool {
        match self {
            Moves::Scatter => true,
            Moves::Doubling | Moves::Neighbours | Moves::Mesh => false,
        }
    }

    fn pairs(self, p: u32) -> Pairs {
        let extra = match self {
            Moves::Doubling => p - (1 << p.max(1).ilog2()),
            Moves::Neighbours if p > 1 => p % 2,
            Moves::Neighbours | Moves::Mesh | Moves::Scatter => 0,
        };
        Pairs { p, extra }
    }

    /// Are there pairs of which one does without the other between its first and its last step?
    pub fn has_pairs(self, p: u32) -> bool {
        self.pairs(p).extra > 0
    }

    /// Steps of a rank, in some of which it may have nothing to do.
    pub fn count(self, p: u32) -> u32 {
        let pairs = self.pairs(p);
        let more = 2 * u32::from(pairs.extra > 0);
        more + match self {
            Moves::Doubling => pairs.members().max(1).ilog2(),
            Moves::Neighbours => pairs.members() / 2,
            Moves::Mesh => columns(p) - 1 + p / columns(p) - 1,
            Moves::Scatter => rounds_of(p) + p - 1,
        }
    }

    /// What `rank` of `p` sends, or receives, in step `k`.
    pub fn step(self, p: u32, rank: u32, k: u32, sends: bool) -> Option<Move> {
        let pairs = self.pairs(p);
        let member = match pairs.step(rank, (k, self.count(p)), sends) {
            Ok(member) => member,
            Err(step) => return step,
        };
        let k = k - u32::from(pairs.extra > 0);
        match self {
            Moves::Doubling => {
                let other = member ^ (1 << k);
                let whose = if sends { member } else { other };
                let first = whose >> k << k;
                Move::of(pairs.first(other), pairs.ranks(first..first + (1 << k)))
            }
            Moves::Neighbours => {
                let (other, parts) = neighbour(pairs.members(), member, k, sends);
                Move::of(pairs.first(other), pairs.ranks(parts))
            }
            Moves::Mesh => Some(mesh(p, rank, k, sends)),
            Moves::Scatter => scatter(p, rank, k, sends),
        }
    }
}

/// Of an even number of members. In step 0 those of a pair exchange their parts, and then each sends on the two parts
/// that it got last: to the lower side and to the upper one in turn.
fn neighbour(n: u32, member: u32, k: u32, sends: bool) -> (u32, Range<u32>) {
    // In odd steps even members look down.
    let up = (member + k).is_multiple_of(2);
    let other = match up {
        true => (member + 1) % n,
        false => (member + n - 1) % n,
    };
    if k == 0 {
        let whose = if sends { member } else { other };
        return (other, whose..whose + 1);
    }
    // What a member has got in step k >= 1: pairs below and above its own in turn, ever farther.
    let got = |member: u32, k: u32| {
        let far = k.div_ceil(2) * 2;
        let down = member.is_multiple_of(2) != k.is_multiple_of(2);
        let own = member - member % 2;
        match (k, down) {
            (0, _) => own,
            (_, true) => (own + n - far) % n,
            (_, false) => (own + far) % n,
        }
    };
    let first = match sends {
        true => got(member, k - 1),
        false => got(member, k),
    };
    (other, first..first + 2)
}

fn mesh(p: u32, rank: u32, k: u32, sends: bool) -> Move {
    let columns = columns(p);
    let rows = p / columns;
    let (i, j) = (rank / columns, rank % columns);
    let back = u32::from(!sends);
    // On a ring of n, what goes to the next one, or comes from the one before, in step k.
    let around = |at: u32, n: u32, k: u32| {
        let peer = if sends { at + 1 } else { at + n - 1 } % n;
        (peer, (at + 2 * n - k - back) % n)
    };
    let (peer, parts) = match k < columns - 1 {
        true => {
            let (peer, part) = around(j, columns, k);
            let part = i * columns + part;
            (i * columns + peer, part..part + 1)
        }
        false => {
            let (peer, part) = around(i, rows, k - (columns - 1));
            (peer * columns + j, part * columns..(part + 1) * columns)
        }
    };
    let parts = [parts, 0..0];
    Move { peer, parts }
}

/// The end of the subtree of a rank in the binomial tree from rank 0.
fn end(p: u32, rank: u32) -> u32 {
    match rank {
        0 => p,
        _ => (rank + (rank & rank.wrapping_neg())).min(p),
    }
}

fn scatter(p: u32, rank: u32, k: u32, sends: bool) -> Option<Move> {
    let q = rounds_of(p);
    if let Some(place) = (q.checked_sub(k + 1)).filter(|_| k < q) {
        let distance = 1 << place;
        let child = if sends { rank + distance } else { rank };
        let is_child = child < p && child & child.wrapping_neg() == distance && child > 0;
        // The parent of a child has none of its lower bits either.
        let fits = child.wrapping_sub(distance) == rank || !sends;
        let peer = if sends {
            child
        } else {
            rank.wrapping_sub(distance)
        };
        return (is_child && fits)
            .then(|| Move::of(peer, child..end(p, child)))
            .flatten();
    }
    let step = k - q;
    let (from, to) = match sends {
        true => (rank, (rank + 1) % p),
        false => ((rank + p - 1) % p, rank),
    };
    let part = (from + p - step) % p;
    let has = (to..end(p, to)).contains(&part);
    match has {
        true => None,
        false => Move::of(if sends { to } else { from }, part..part + 1),
    }
}
