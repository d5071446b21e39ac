//! Trees for gather and scatter: published completion times, all ordered trees of a few ranks, simpler programs for
//! more, what theory promises, and what holds for every tree.

mod brute;
mod known;
mod limits;
mod plain;
mod theory;
mod valid;

use rondo::tree::Distribution;

/// The sizes of a distribution, without those of ranks in `empty`.
fn with_gaps(distribution: Distribution, p: usize, empty: impl Fn(usize) -> bool) -> Vec<u64> {
    let blocks = distribution.blocks(p, 10, p as u64);
    let gap = |(rank, block)| if empty(rank) { 0 } else { block };
    blocks.into_iter().enumerate().map(gap).collect()
}
