//! Reductions around a ring: every rank sends to the one after it and to nobody else.

#![forbid(unsafe_code)]

use super::{Group, Join, Script, add, sub};
use std::ops::Range;

/// Adds a reduction of which every member has its own part, in p - 1 rounds: each member's part goes around the ring
/// and is joined by every other member's operand, from the member after it on and to the member itself. `blocks` says
/// which blocks of the area are the part of a member. The operands come in no order of ranks, so the operator must be
/// commutative.
pub fn ring_scatter(script: &mut Script, group: &Group, blocks: impl Fn(u32) -> Range<u32>) {
    let &Group { p, me, .. } = group;
    let (next, last) = (group.after(1), group.before(1));
    for distance in 1..p {
        script.send(next, blocks(sub(me, distance, p)));
        let part = blocks(sub(sub(me, distance, p), 1, p));
        script.receive(last, part, Join::Left);
    }
}

/// Adds a reduction of which every member has the result, in 2 (p - 1) rounds: that of [`ring_scatter`], then each part
/// goes around once more (P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", Journal of Parallel and Distributed Computing 69(2), 2009).
pub fn ring(script: &mut Script, group: &Group, blocks: impl Fn(u32) -> Range<u32>) {
    let &Group { p, me, .. } = group;
    let (next, last) = (group.after(1), group.before(1));
    ring_scatter(script, group, &blocks);
    for distance in 1..p {
        script.send(next, blocks(sub(add(me, 1, p), distance, p)));
        script.receive(last, blocks(sub(me, distance, p)), Join::Store);
    }
}
