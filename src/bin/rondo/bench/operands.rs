//! The vectors that are reduced, and what comes of them.

#![forbid(unsafe_code)]

use super::{batch::Bench, data::expected};
use crate::mpi::{Op, join};
use rondo::collective::Collective;

/// The factor of every map of a rank: no power of it is 0.
const FACTOR: u32 = 3;

fn map(factor: u32, rest: u32) -> u64 {
    u64::from(factor) << 32 | u64::from(rest)
}

/// What a rank, of so many, has at a place of its vector. Of bytes one rank has what is expected, and the others have
/// nothing. Sums are of small whole numbers, so that they are the same in every order.
fn operand(op: Op, (rank, ranks): (usize, usize), place: usize, seed: u64) -> u64 {
    let byte = expected(place, seed);
    match op {
        Op::Xor if place % ranks == rank => byte.into(),
        Op::Xor => 0,
        Op::Sum => (f64::from(byte) + (rank * rank) as f64).to_bits(),
        Op::Ordered => map(FACTOR, u32::from(byte) + rank as u32),
    }
}

/// What the first of so many ranks have at a place, joined.
fn result(op: Op, (first, ranks): (usize, usize), seed: u64) -> impl Fn(usize) -> u64 {
    let squares: usize = (0..first).map(|rank| rank * rank).sum();
    let maps = |byte: u32| {
        let maps = (0..first).map(|rank| map(FACTOR, byte + rank as u32));
        maps.reduce(join).unwrap_or(0)
    };
    // One byte more adds as much everywhere.
    let (of_none, of_one) = (maps(0), maps(1));
    let slope = (of_one as u32).wrapping_sub(of_none as u32);
    move |place| {
        let byte = expected(place, seed);
        match op {
            Op::Xor if place % ranks < first => byte.into(),
            Op::Xor => 0,
            Op::Sum => (f64::from(byte) * first as f64 + squares as f64).to_bits(),
            Op::Ordered => {
                let rest = slope.wrapping_mul(byte.into()).wrapping_add(of_none as u32);
                map((of_none >> 32) as u32, rest)
            }
        }
    }
}

/// A byte, or a word.
fn put(element: &mut [u8], value: u64) {
    match element {
        [byte] => *byte = value as u8,
        word => word.copy_from_slice(&value.to_ne_bytes()),
    }
}

fn has(element: &[u8], value: u64) -> bool {
    match element {
        [byte] => *byte == value as u8,
        word => word == value.to_ne_bytes(),
    }
}

impl Bench<'_> {
    fn op(&self) -> Op {
        self.call.op.expect("the collective reduces")
    }

    /// Puts new operands where the call takes them from, and what is wrong where it puts results.
    pub(super) fn fill_vectors(&mut self) {
        let (op, seed, in_place) = (self.op(), self.seed, self.is_in_place());
        let (rank, ranks) = (self.mpi.rank, self.mpi.ranks);
        let mine = |place| operand(op, (rank, ranks), place, seed);
        for (place, element) in self.own.chunks_exact_mut(op.bytes()).enumerate() {
            put(element, mine(place));
        }
        for (place, element) in self.all.chunks_exact_mut(op.bytes()).enumerate() {
            let value = match in_place {
                true => mine(place),
                false => !operand(op, (place % ranks, ranks), place, seed),
            };
            put(element, value);
        }
    }

    /// Is the result right?
    pub(super) fn is_reduced(&self) -> bool {
        let (rank, ranks) = (self.mpi.rank, self.mpi.ranks);
        let (op, blocks) = (self.op(), self.call.blocks);
        let all = self.all.len() / op.bytes();
        let (from, count, first) = match self.call.collective {
            Collective::ReduceScatter | Collective::ReduceScatterBlock => {
                (blocks.before(rank), blocks.count(rank), ranks)
            }
            Collective::Scan => (0, all, rank + 1),
            Collective::Exscan if rank == 0 => return true,
            Collective::Exscan => (0, all, rank),
            Collective::Allreduce | Collective::Reduce => (0, all, ranks),
            Collective::Bcast
            | Collective::Allgatherv
            | Collective::Allgather
            | Collective::Gatherv
            | Collective::Gather
            | Collective::Scatterv
            | Collective::Scatter
            | Collective::Barrier
            | Collective::Alltoall
            | Collective::Alltoallv
            | Collective::Alltoallw => return true,
        };
        let result = result(op, (first, ranks), self.seed);
        let elements = self.all.chunks_exact(op.bytes()).take(count);
        (from..)
            .zip(elements)
            .all(|(place, element)| has(element, result(place)))
    }
}
