//! Reduce-scatter in which every operand comes from its rank to where it is reduced, and there they are taken from left
//! to right: the bits of a loop over the ranks. Every rank sends, receives and reduces p - 1 blocks, as in
//! [`super::halving`], but in p - 1 messages of one block each.
//!
//! A rank reduces the elements that it is to have, unless these are many more than those of others: then all reduce
//! equally many, and send on what is another's.

#![forbid(unsafe_code)]

use super::{Group, Join, Script, add, share};
use std::ops::Range;

/// Which blocks of a vector a rank reduces (its *share*), and which it is to have in the end (its *part*).
pub struct Shares {
    /// The elements of each block.
    blocks: Vec<u64>,
    /// The blocks up to which the shares reach, and the parts.
    shares: Vec<u32>,
    parts: Vec<u32>,
}

impl Shares {
    /// For parts of so many elements. Every part and every share is so many blocks, or some times as many.
    pub fn new(parts: &[u64], segments: u32) -> Shares {
        let mut pieces = parts.to_vec();
        let mut shares: Vec<u32> = (1..=parts.len() as u32).collect();
        let mut of_parts = shares.clone();
        if is_uneven(parts) {
            let p = parts.len() as u32;
            let total = parts.iter().sum();
            let part_ends = ends_of(parts.iter().copied());
            let share_ends = ends_of((0..p).map(|rank| share(total, p, rank)));
            let mut ends: Vec<u64> = part_ends.iter().chain(&share_ends).copied().collect();
            ends.sort_unstable();
            ends.dedup();
            ends.retain(|&end| end > 0);
            let up_to = |end: u64| ends.partition_point(|&other| other <= end) as u32;
            of_parts = part_ends.iter().map(|&end| up_to(end)).collect();
            shares = share_ends.iter().map(|&end| up_to(end)).collect();
            let firsts = std::iter::once(0).chain(ends.iter().copied());
            pieces = firsts.zip(&ends).map(|(first, end)| end - first).collect();
        }
        let scaled = |ends: Vec<u32>| ends.into_iter().map(|end| end * segments).collect();
        let cut = |&piece: &u64| (0..segments).map(move |i| share(piece, segments, i));
        Shares {
            blocks: pieces.iter().flat_map(cut).collect(),
            shares: scaled(shares),
            parts: scaled(of_parts),
        }
    }

    /// The blocks of a rank's part.
    pub fn part(&self, rank: u32) -> Range<u32> {
        between(&self.parts, rank)
    }

    fn share(&self, rank: u32) -> Range<u32> {
        between(&self.shares, rank)
    }

    fn ranks(&self) -> u32 {
        self.parts.len() as u32
    }

    /// Blocks of a vector.
    pub fn vector(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// The blocks of the area: those of the own vector, and those of the vectors that come for this rank.
    pub fn cut(&self, rank: u32) -> impl Iterator<Item = u64> + Clone {
        let share = self.share(rank);
        let mine = &self.blocks[share.start as usize..share.end as usize];
        let vectors = (0..self.ranks()).flat_map(move |_| mine.iter().copied());
        self.blocks.iter().copied().chain(vectors)
    }
}

/// Where each of these ends, if they lie one behind the other.
fn ends_of(counts: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut end = 0;
    counts
        .map(|count| {
            end += count;
            end
        })
        .collect()
}

/// Have some many more elements than others?
fn is_uneven(parts: &[u64]) -> bool {
    let mean = parts.iter().sum::<u64>() / parts.len() as u64 + 1;
    parts.iter().any(|&part| part > 2 * mean)
}

/// Elements that a rank reduces, for parts of so many.
pub fn reduced_by(parts: &[u64], rank: u32) -> u64 {
    match is_uneven(parts) {
        true => share(parts.iter().sum(), parts.len() as u32, rank),
        false => parts[rank as usize],
    }
}

fn between(ends: &[u32], rank: u32) -> Range<u32> {
    let rank = rank as usize;
    let start = if rank == 0 { 0 } else { ends[rank - 1] };
    start..ends[rank]
}

/// Adds everything, for an area that is cut by [`Shares::cut`]. The result is in the blocks of this rank's part of its
/// vector.
pub fn ordered(script: &mut Script, rank: u32, shares: &Shares) {
    let p = shares.ranks();
    let group = Group::all(p, rank);
    for distance in 1..p {
        let to = group.after(distance);
        script.send(to, shares.share(to));
    }
    // The vector of this rank is where it was.
    let own = shares.share(rank);
    let (first, length) = (shares.vector(), own.end - own.start);
    let place = |other: u32| match other == rank {
        true => own.clone(),
        false => first + other * length..first + (other + 1) * length,
    };
    for distance in 1..p {
        let from = group.before(distance);
        script.receive(from, place(from), Join::Store);
    }
    for other in 1..p {
        script.fold(place(other - 1).start, place(other), Join::Left);
    }
    if rank + 1 < p {
        script.fold(place(p - 1).start, own, Join::Store);
    }
    hand_on(script, rank, shares);
}

/// Adds that what a rank has reduced comes to those whose part it is.
fn hand_on(script: &mut Script, rank: u32, shares: &Shares) {
    let p = shares.ranks();
    let both = |one: Range<u32>, other: Range<u32>| {
        let start = one.start.max(other.start);
        start..one.end.min(other.end).max(start)
    };
    for distance in 1..p {
        let to = add(rank, distance, p);
        script.send(to, both(shares.share(rank), shares.part(to)));
    }
    for distance in 1..p {
        let from = add(rank, p - distance, p);
        let blocks = both(shares.share(from), shares.part(rank));
        script.receive(from, blocks, Join::Store);
    }
}

/// Adds that every rank's own blocks come to the root. `blocks` says which they are. A root that is none of these ranks
/// has the number p.
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
    for others in [0..rank, rank + 1..p] {
        for from in others.rev() {
            script.receive(from, blocks(from), Join::Store);
        }
    }
}
