//! Reduce-scatter in which every operand comes from its rank to where it is reduced, and there they are taken from left
//! to right: the bits of a loop over the ranks. Every rank sends, receives and reduces p - 1 blocks, as in
//! [`super::halving`], but in p - 1 messages of one block each.

#![forbid(unsafe_code)]

use super::{Group, Join, Script};
use std::ops::Range;

/// The blocks of the area: those of the own vector, of which each rank has `segments`, and those of the vectors that
/// come for this rank, whose blocks are `own`. Where these are much longer than those of others, p of them would be
/// many times as long as a vector: then there is one, in which the sum grows.
pub fn ordered_cut(
    p: u32,
    segments: u32,
    own: u32,
    counts: impl Iterator<Item = u64> + Clone,
) -> impl Iterator<Item = u64> {
    let mine = (counts.clone()).skip((own * segments) as usize);
    let mine = mine.take(segments as usize);
    let (longest, mean) = (
        mine.clone().sum::<u64>(),
        counts.clone().sum::<u64>() / u64::from(p) + 1,
    );
    let vectors = if longest > 2 * mean { 1 } else { p };
    counts.chain((0..vectors).flat_map(move |_| mine.clone()))
}

/// Adds everything. The result is in this rank's own blocks of its vector.
pub fn ordered(script: &mut Script, p: u32, rank: u32, segments: u32) {
    let group = Group::all(p, rank);
    let part = |other: u32| other * segments..(other + 1) * segments;
    for distance in 1..p {
        let to = group.after(distance);
        script.send(to, part(to));
    }
    if script.cut().blocks() == (p + 1) * segments {
        return one_by_one(script, p, (rank, part(rank)), part(p));
    }
    // The vector of this rank is where it was.
    let place = |other: u32| match other == rank {
        true => part(rank),
        false => part(p + other),
    };
    for distance in 1..p {
        let from = group.before(distance);
        script.receive(from, place(from), Join::Store);
    }
    for other in 1..p {
        script.fold(place(other - 1).start, place(other), Join::Left);
    }
    if rank + 1 < p {
        script.fold(place(p - 1).start, part(rank), Join::Store);
    }
}

/// Adds that what all ranks have for this one is joined as it comes, to what is at `sum`.
fn one_by_one(script: &mut Script, p: u32, (rank, own): (u32, Range<u32>), sum: Range<u32>) {
    let sum = if rank == 0 { own.clone() } else { sum };
    for other in 0..p {
        match (other == rank, other == 0) {
            (true, true) => {}
            (true, false) => script.fold(own.start, sum.clone(), Join::Right),
            (false, true) => script.receive(other, sum.clone(), Join::Store),
            (false, false) => script.receive(other, sum.clone(), Join::Right),
        }
    }
    if rank > 0 {
        script.fold(sum.start, own, Join::Store);
    }
}

/// Adds that every rank's own blocks come to the root. `blocks` says which they are.
pub fn collect(
    script: &mut Script,
    p: u32,
    rank: u32,
    root: u32,
    blocks: impl Fn(u32) -> Range<u32>,
) {
    if rank != root {
        script.send(root, blocks(rank));
        return;
    }
    let group = Group::all(p, rank);
    for distance in 1..p {
        let from = group.before(distance);
        script.receive(from, blocks(from), Join::Store);
    }
}
