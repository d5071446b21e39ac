//! Reduce-scatter by halving (Träff, arXiv 2410.14234).
//!
//! Rank r has x_r[j] for every rank j. In the round of skip s it sends to r + s what concerns the ranks from r + s on
//! and receives the same of r - s, which it joins to its own. After q = ceil(log2 p) rounds it has the sum for itself
//! alone. Every rank sends, receives and reduces p - 1 blocks. The operands come in no order of ranks, so the operator
//! must be commutative.

#![forbid(unsafe_code)]

use super::{Group, Join, Script, add, around, skips};
use std::ops::Range;

/// Adds the rounds among the members of `group`. `blocks` says which blocks of the area concern a range of members.
pub fn halving<I: Iterator<Item = Range<u32>>>(
    script: &mut Script,
    group: &Group,
    blocks: impl Fn(Range<u32>) -> I,
) {
    let &Group { p, me, .. } = group;
    for (low, high) in skips(p) {
        let count = high - low;
        around(add(me, low, p), count, p, |members| {
            for blocks in blocks(members) {
                script.send(group.after(low), blocks);
            }
        });
        around(me, count, p, |members| {
            for blocks in blocks(members) {
                script.receive(group.before(low), blocks, Join::Left);
            }
        });
    }
}
