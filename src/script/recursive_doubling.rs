//! Reduction of whole vectors on every rank by recursive doubling.

#![forbid(unsafe_code)]

use super::{Group, Join, Script};

/// Adds everything for an area of `n` blocks, all of them the vector.
///
/// Pairs of members exchange what they have, then pairs of pairs and so on (R. Thakur, R. Rabenseifner, W. Gropp,
/// "Optimization of collective communication operations in MPICH", International Journal of High Performance Computing
/// Applications 19(1), 2005, the section on reduce and allreduce). If p is no power of two, some members join the one
/// after them at first, and get the result from it at the end. Every partial result is one of consecutive members, and
/// both members of a pair have the lower one as the left operand: so operands keep their order, and all members get the
/// same bits.
pub fn recursive_doubling(script: &mut Script, group: &Group, n: u32) {
    let &Group { p, me, .. } = group;
    let all = 1 << p.ilog2();
    // Two for one, as many times as there are members too many.
    let rest = p - all;
    let member = |place: u32| match place < rest {
        true => 2 * place + 1,
        false => place + rest,
    };
    if me < 2 * rest && me.is_multiple_of(2) {
        let other = group.rank(me + 1);
        script.send(other, 0..n);
        script.receive(other, 0..n, Join::Store);
        return;
    }
    let mut place = me - rest.min(me);
    if me < 2 * rest {
        place = me / 2;
        script.receive(group.rank(me - 1), 0..n, Join::Left);
    }
    let mut distance = 1;
    while distance < all {
        let other = place ^ distance;
        let join = match other < place {
            true => Join::Left,
            false => Join::Right,
        };
        script.send(group.rank(member(other)), 0..n);
        script.receive(group.rank(member(other)), 0..n, join);
        distance *= 2;
    }
    if me < 2 * rest {
        script.send(group.rank(me - 1), 0..n);
    }
}
