//! What is in the buffers of a call before it, and has to be there when it is over.

#![forbid(unsafe_code)]

use crate::mpi::{Call, Op};
use rondo::collective::{Collective, Family};
use std::ops::Range;

/// The contents of a rank's two buffers when a call is over. What the call fills is wrong in every byte before.
pub struct Answers {
    own: Vec<u8>,
    all: Vec<u8>,
    filled: Filled,
}

/// Which buffer a call fills on a rank.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Filled {
    Own,
    All,
    Neither,
    /// MPI leaves it open what is in `all` behind the call.
    AllWithAnything,
}

impl Answers {
    /// Those of a rank of so many. Each `seed` gives other data.
    pub fn new(call: &Call, rank: usize, ranks: usize, seed: u64) -> Answers {
        let of = Place { rank, ranks, seed };
        let blocks = call.blocks;
        let mine = blocks.before(rank)..blocks.before(rank) + blocks.count(rank);
        let (own, all) = match (call.collective.family(), call.op) {
            (family, _) if family.is_exchange() => (
                of.exchanged(call, |other| (rank, other)),
                of.exchanged(call, |other| (other, rank)),
            ),
            (Family::ScatteredReduction, Some(op)) => (
                of.operand(op, 0..blocks.total()),
                of.result(op, ranks, mine),
            ),
            (_, Some(op)) => {
                let joined = match call.collective {
                    Collective::Scan => rank + 1,
                    Collective::Exscan => rank,
                    _ => ranks,
                };
                let vector = 0..blocks.total();
                (
                    of.operand(op, vector.clone()),
                    of.result(op, joined, vector),
                )
            }
            (_, None) => (of.message(mine), of.message(0..blocks.total())),
        };
        let is_scatter = matches!(call.collective, Collective::Scatter | Collective::Scatterv);
        let is_broadcast = call.collective.family() == Family::Broadcast;
        let filled = match call.collective {
            Collective::Exscan if rank == 0 => Filled::AllWithAnything,
            _ if is_scatter => Filled::Own,
            _ if is_broadcast && rank == 0 => Filled::Neither,
            _ => Filled::All,
        };
        Answers { own, all, filled }
    }

    /// Fills buffers, which may be shorter where they are not significant.
    pub fn prepare(&self, own: &mut [u8], all: &mut [u8]) {
        let put = |buffer: &mut [u8], contents: &[u8], is_wrong: bool| {
            let mask = if is_wrong { 0xff } else { 0 };
            for (byte, is) in buffer.iter_mut().zip(contents) {
                *byte = is ^ mask;
            }
        };
        put(own, &self.own, self.filled == Filled::Own);
        put(all, &self.all, self.filled == Filled::All);
    }

    /// Are they right, and everything else as it was?
    pub fn are_in(&self, own: &[u8], all: &[u8]) -> bool {
        let is_right = own == &self.own[..own.len()];
        is_right && (self.filled == Filled::AllWithAnything || all == &self.all[..all.len()])
    }
}

/// Whose data they are.
struct Place {
    rank: usize,
    ranks: usize,
    seed: u64,
}

impl Place {
    /// The byte at a place of the message of all blocks. Blocks at wrong places show, because no distance repeats the
    /// bytes.
    fn byte(&self, place: usize) -> u8 {
        let mixed = (place as u64 + 977 * self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 56) as u8
    }

    fn message(&self, places: Range<usize>) -> Vec<u8> {
        places.map(|place| self.byte(place)).collect()
    }

    /// The bytes of the blocks for all ranks, or of all ranks, where every rank has a block for every rank: `way` says
    /// from whom to whom that of another rank goes.
    fn exchanged(&self, call: &Call, way: impl Fn(usize) -> (usize, usize)) -> Vec<u8> {
        let turned = call.blocks.turned(self.rank);
        let block = |other: usize| {
            let (from, to) = way(other);
            let first = (from * self.ranks + to) << 24;
            self.message(first..first + turned.count(other))
        };
        (0..self.ranks).flat_map(block).collect()
    }

    /// This rank's vector. Of bytes one rank has the message's, and the others have nothing. Sums are of small whole
    /// numbers, so that they are the same in every order.
    fn operand(&self, op: Op, places: Range<usize>) -> Vec<u8> {
        let (rank, ranks) = (self.rank, self.ranks);
        self.vector(op, places, |place| {
            (place % ranks == rank, 1.0, (rank * rank) as f64)
        })
    }

    /// What the first ranks have, joined.
    fn result(&self, op: Op, first: usize, places: Range<usize>) -> Vec<u8> {
        let squares: usize = (0..first).map(|rank| rank * rank).sum();
        let ranks = self.ranks;
        self.vector(op, places, |place| {
            (place % ranks < first, first as f64, squares as f64)
        })
    }

    /// Elements: for each place whether the byte is there, and by which number it is multiplied, and what is added, in
    /// a sum.
    fn vector(
        &self,
        op: Op,
        places: Range<usize>,
        parts: impl Fn(usize) -> (bool, f64, f64),
    ) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(places.len() * op.bytes());
        for place in places {
            let (is_there, factor, more) = parts(place);
            match op {
                Op::Xor if is_there => bytes.push(self.byte(place)),
                Op::Xor => bytes.push(0),
                Op::Sum => {
                    let number = f64::from(self.byte(place)) * factor + more;
                    bytes.extend(number.to_ne_bytes());
                }
            }
        }
        bytes
    }
}
