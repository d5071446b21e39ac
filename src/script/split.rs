//! Reduce-scatter in ceil(log2 p) rounds that keeps the order of ranks, for operators that do not commute
//! (docs/algorithms.md, section Reductions).
//!
//! A rank has a sum for each distance to a rank that is to get it, at first its own operand. Every distance is a sum of
//! different skips of the circulant graph, the largest first. In the round of a skip, smallest skips first, all
//! distances that contain it leave: the sum goes that far and becomes one for the distance that is left. By then the
//! sum that is there has as many operands as the skip is long, so what comes is its left neighbour.
//!
//! Operands are those of a row of ranks up to the own one. Where the row goes past the last rank, the sum is split into
//! two: one begins at rank 0, the other ends at the last rank. In the end the former is the left operand. So a rank
//! sends p - 1 blocks, as in [`super::halving`], and up to half as many more.
//!
//! Sums lie in such an order that those which leave in a round lie side by side, and those that they join in one or two
//! rows.

#![forbid(unsafe_code)]

use super::{Group, Join, Script, add, skips};
use std::ops::Range;

/// Sums that go the same way: the places that they leave, and those of the sums that they join.
struct Row {
    leaving: Range<u32>,
    joined: Range<u32>,
}

/// The distances in the order in which their sums lie. In front of each are the skips of which it consists, the first
/// one as the highest bit: that is the order.
fn distances(p: u32) -> Vec<(u32, u32)> {
    let rounds = skips(p).count() as u32;
    let consists_of = |distance: u32| {
        let (mut left, mut bits) = (distance, 0);
        for (k, (skip, _)) in (0..rounds).rev().zip(skips(p)) {
            if skip <= left {
                left -= skip;
                bits |= 1 << (u32::BITS - 1 - k);
            }
        }
        bits
    };
    let mut all: Vec<_> = (0..p).map(|d| (consists_of(d), d)).collect();
    all.sort_unstable();
    all
}

/// The blocks of the area: those of the own vector, in which each rank has a part, and those of two vectors of sums.
/// `counts` says how many elements the blocks of a rank's part have.
pub fn split_cut<I: Iterator<Item = u64>>(
    p: u32,
    rank: u32,
    counts: impl Fn(u32) -> I,
) -> Vec<u64> {
    let sums = distances(p).into_iter();
    let sums: Vec<u64> = (sums.flat_map(|(_, distance)| counts(add(rank, distance, p)))).collect();
    let own = (0..p).flat_map(&counts);
    own.chain(sums.iter().copied())
        .chain(sums.iter().copied())
        .collect()
}

/// Adds everything, for an area that is cut by [`split_cut`], with so many blocks for each part. The result is in this
/// rank's own blocks of its vector.
pub fn split(script: &mut Script, p: u32, rank: u32, segments: u32) {
    let group = Group::all(p, rank);
    let blocks = |first: u32, places: Range<u32>| {
        (first + places.start) * segments..(first + places.end) * segments
    };
    let own = |rank: u32| blocks(0, rank..rank + 1);
    let from_first = |places: Range<u32>| blocks(p, places);
    let to_last = |places: Range<u32>| blocks(2 * p, places);

    let distances = distances(p);
    let mut places = vec![0; p as usize];
    for (place, &(_, distance)) in (0..).zip(&distances) {
        places[distance as usize] = place;
        let operand = own(add(rank, distance, p));
        script.fold(operand.start, from_first(place..place + 1), Join::Store);
    }
    // How many operands the sum in each place has.
    let mut operands = vec![1; p as usize];
    let mut skips: Vec<u32> = skips(p).map(|(skip, _)| skip).collect();
    skips.reverse();
    for (k, skip) in (0..).zip(skips) {
        let rows = rows(&distances, k, |distance| places[(distance - skip) as usize]);
        let (to, from) = (group.after(skip), group.before(skip));
        for Row { leaving, .. } in &rows {
            script.send(to, from_first(leaving.clone()));
            if to > rank {
                for split in split_of(&operands, leaving, rank) {
                    script.send(to, to_last(split));
                }
            }
        }
        for Row { leaving, joined } in &rows {
            if from < rank {
                script.receive(from, from_first(joined.clone()), Join::Left);
                for split in split_of(&operands, leaving, from) {
                    let start = joined.start + (split.start - leaving.start);
                    let end = start + (split.end - split.start);
                    script.receive(from, to_last(start..end), Join::Store);
                }
                continue;
            }
            // What comes ends at the last rank. What is there begins at rank 0, or before it.
            let join = match rank + 1 == skip {
                true => Join::Store,
                false => Join::Left,
            };
            script.receive(from, to_last(joined.clone()), join);
        }
        for Row { leaving, joined } in rows {
            for (left, place) in leaving.zip(joined) {
                operands[place as usize] += operands[left as usize];
            }
        }
    }
    script.fold(from_first(0..1).start, own(rank), Join::Store);
    if rank + 1 < p {
        script.fold(to_last(0..1).start, own(rank), Join::Right);
    }
}

/// What leaves in round k. `joins` says where the sum of a distance goes.
fn rows(distances: &[(u32, u32)], k: u32, joins: impl Fn(u32) -> u32) -> Vec<Row> {
    let start = distances.partition_point(|(bits, _)| bits.leading_zeros() > k);
    let end = distances.partition_point(|(bits, _)| bits.leading_zeros() >= k);
    let mut rows: Vec<Row> = Vec::new();
    for (place, &(_, distance)) in (0..).zip(distances).take(end).skip(start) {
        let joined = joins(distance);
        match rows.last_mut() {
            Some(row) if row.joined.end == joined => {
                row.leaving.end += 1;
                row.joined.end += 1;
            }
            Some(_) | None => rows.push(Row {
                leaving: place..place + 1,
                joined: joined..joined + 1,
            }),
        }
    }
    rows
}

/// The places of sums of a rank that are split, side by side: their rows of operands begin before rank 0.
fn split_of(operands: &[u32], places: &Range<u32>, rank: u32) -> impl Iterator<Item = Range<u32>> {
    let mut rest = places.clone();
    let is_split = move |place: &u32| operands[*place as usize] > rank + 1;
    std::iter::from_fn(move || {
        let start = rest.by_ref().find(is_split)?;
        while rest.clone().next().as_ref().is_some_and(is_split) {
            rest.next();
        }
        Some(start..rest.start)
    })
}
