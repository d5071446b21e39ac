//! Reduce-scatter by halving (Träff, arXiv 2410.14234).
//!
//! Rank r has x_r[j] for every rank j. In the round of skip s it sends to r + s what concerns the ranks from r + s on
//! and receives the same of r - s, which it joins to its own. After q = ceil(log2 p) rounds it has the sum for itself
//! alone. Every rank sends, receives and reduces p - 1 blocks. The operands come in no order of ranks, so the operator
//! must be commutative.

#![forbid(unsafe_code)]

use super::{Group, Join, Script, add, backwards, skips};
use std::ops::Range;

/// What the fullest messages of the rounds have together, if each rank has a part of such a size: a round takes as long
/// as its longest message. O(p log p) time.
pub fn fullest_rounds(parts: &[u64]) -> u64 {
    let p = parts.len();
    let fullest = |count: usize| {
        let mut window: u64 = parts[..count].iter().sum();
        let mut most = window;
        let entering = parts[count..].iter().chain(&parts[..count]);
        for (leaving, entering) in parts.iter().zip(entering) {
            window = window - leaving + entering;
            most = most.max(window);
        }
        most
    };
    let rounds = skips(p as u32);
    let counts = rounds.map(|(low, high)| (high - low) as usize);
    counts.map(fullest).sum()
}

/// Adds the rounds among the members of `group`. `blocks` says which blocks of the area concern a range of members.
///
/// In a round the last members come first: it is their blocks that the receiver sends in the next one, while it still
/// receives the others.
pub fn halving<I: Iterator<Item = Range<u32>>>(
    script: &mut Script,
    group: &Group,
    blocks: impl Fn(Range<u32>) -> I,
) {
    let &Group { p, me, .. } = group;
    for (low, high) in skips(p) {
        let count = high - low;
        backwards(
            script,
            (add(me, low, p), count, p),
            &blocks,
            |script, blocks| {
                script.send(group.after(low), blocks);
            },
        );
        backwards(script, (me, count, p), &blocks, |script, blocks| {
            script.receive(group.before(low), blocks, Join::Left);
        });
    }
}
