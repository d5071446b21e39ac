//! The broadcast of n blocks over a hypercube, in n - 1 + ceil(log2 p) rounds: as few as there can be.
//!
//! Among p = 2^d ranks, rank u exchanges in round j with the rank whose number differs in bit k = j mod d, and the
//! root, rank 0, sends block j: so every d-th block goes down the same of d binomial trees that have no edge in common
//! (S. L. Johnsson, C.-T. Ho, "Optimum broadcasting and personalized communication in hypercubes", IEEE Transactions on
//! Computers 38(9), 1989). Let gap be the distance from bit k of u up to its next bit that is set, around; d for the
//! root. The rank sends block j - d if bit k is set, and block j - d + gap if it is not (B. Jia, as in J. L. Träff's
//! lecture on collective operations in MPI). After the round it has all blocks up to j - d + gap. Blocks below 0 do not
//! travel, and block n - 1 stands for those after it: so every rank gets every block once.
//!
//! If p is between 2^d and 2^(d+1), each rank from 2^d on makes a pair with one below, but not with the root, and the
//! pair is one rank of the hypercube. In a round one of them receives from another pair, and sends its partner what
//! came in the round before; the partner sends to another pair, and receives that. They change places where what came
//! is what goes out next, after each round in which bit k is set. One round more brings both what they lack. So a rank
//! sends at most one block in a round and receives at most one, whatever p is.

#![forbid(unsafe_code)]

use super::rounds::rounds_of;

/// The hypercube, and how many blocks the root has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hypercube {
    p: u32,
    /// Dimensions: floor(log2 p).
    d: u32,
    n: u32,
}

/// A block on its way between two ranks, seen from one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The other rank.
    pub peer: u32,
    /// Which block.
    pub block: u32,
}

impl Hypercube {
    /// That of `p` ranks, of which rank 0 has `blocks` blocks, both at least 1.
    pub fn new(p: u32, blocks: u32) -> Hypercube {
        Hypercube {
            p,
            d: p.ilog2(),
            n: blocks,
        }
    }

    /// How many dimensions it has.
    pub fn dimensions(&self) -> u32 {
        self.d
    }

    /// How many rounds there are.
    pub fn rounds(&self) -> u32 {
        match self.p {
            1 => 0,
            p => self.n - 1 + rounds_of(p),
        }
    }

    /// What rank `v` sends, or receives, in a round.
    pub fn transfer(&self, v: u32, round: u32, sends: bool) -> Option<Transfer> {
        let (d, last) = (self.d, self.n - 1);
        let unit = match v >> d {
            0 => v,
            _ => v - (1 << d) + 1,
        };
        let [receiver, sender] = self.pair(unit, round);
        let (is_pair, partner) = (receiver != sender, receiver ^ sender ^ v);
        let inside = |block| {
            let peer = partner;
            is_pair.then_some(Transfer { peer, block })
        };
        if is_pair && sends == (v == receiver) {
            // What came from outside in the round before.
            return inside(round.checked_sub(d + 1)?);
        }
        if round == last + d {
            return inside(last);
        }
        let k = round % d;
        let other = unit ^ (1 << k);
        let (from, to) = if sends { (unit, other) } else { (other, unit) };
        let block = (round + self.ahead(from, k)).checked_sub(d)?.min(last);
        let [receiver, sender] = self.pair(other, round);
        let peer = if sends { receiver } else { sender };
        // The root has everything.
        (to != 0).then_some(Transfer { peer, block })
    }

    /// The ranks of a pair: which of them receives from other pairs in a round, and which one sends to them. Both are
    /// the same if it is no pair.
    fn pair(&self, unit: u32, round: u32) -> [u32; 2] {
        let extra = self.p - (1 << self.d);
        if unit == 0 || unit > extra {
            return [unit, unit];
        }
        let partner = unit + (1 << self.d) - 1;
        // Bits that were set in the rounds before.
        let (turns, part) = (round / self.d, (1 << (round % self.d)) - 1);
        let changes = turns * unit.count_ones() + (unit & part).count_ones();
        match changes % 2 {
            0 => [unit, partner],
            _ => [partner, unit],
        }
    }

    /// How far the block that `unit` sends over dimension `k` is ahead of what all have by then.
    fn ahead(&self, unit: u32, k: u32) -> u32 {
        match (unit >> k, unit) {
            (_, 0) => self.d,
            (above, _) if above & 1 == 1 => 0,
            (0, below) => self.d - k + below.trailing_zeros(),
            (above, _) => above.trailing_zeros(),
        }
    }
}
