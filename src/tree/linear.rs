//! The star.

#![forbid(unsafe_code)]

use super::{Cost, Root, Tree};

/// The star: every rank sends its block to the root. The root receives from lower ranks, nearest first, then from
/// higher ones. Takes O(p) time.
///
/// # Panics
/// If there is no rank, or not the given one.
pub fn linear(blocks: &[u64], root: Root, cost: &Cost) -> Tree {
    // Nobody waits for anybody, so the order does not matter: the best root is the one that saves most by copying
    // its own block instead of receiving it.
    let saves =
        |rank: usize| i128::from(cost.message(blocks[rank])) - i128::from(cost.copy(blocks[rank]));
    let best = || (0..blocks.len()).rev().max_by_key(|&rank| saves(rank));
    let root = root
        .given(blocks.len())
        .or_else(best)
        .expect("there is at least one rank");
    let outwards = (0..root).rev().chain(root + 1..blocks.len());
    let joins: Vec<_> = outwards.map(|from| (root, from)).collect();
    Tree::from_joins(root, blocks, &joins)
}
