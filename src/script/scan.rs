//! Prefix reductions. All keep the order of ranks.

#![forbid(unsafe_code)]

use super::{Group, Join, Script};
use crate::schedule::rounds_of;

/// Which prefix a rank gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// Its own vector is the last operand.
    Inclusive,
    /// The vector of the rank before it is; rank 0 gets nothing.
    Exclusive,
}

impl Prefix {
    /// Vectors in the area of [`doubling`] among p ranks.
    pub fn places(self, p: u32) -> u32 {
        match self {
            Prefix::Inclusive => 1,
            Prefix::Exclusive if is_tripled(p) => 2,
            Prefix::Exclusive => 3,
        }
    }

    /// Vectors in the area of [`super::tree_scan`].
    pub fn tree_places(self) -> u32 {
        match self {
            Prefix::Inclusive => 2,
            Prefix::Exclusive => 3,
        }
    }
}

/// Does an exclusive scan among p ranks take no more rounds by [`tripling`] than by doubling?
fn is_tripled(p: u32) -> bool {
    let covered = 3u64 << rounds_of(p) >> 2;
    u64::from(p) <= covered + 1
}

/// Adds a scan in ceil(log2 p) rounds (W. D. Hillis, G. L. Steele, "Data parallel algorithms", Communications of the
/// ACM 29(12), 1986): after each, a rank has the result over twice as many ranks, itself the last one.
///
/// The area has `n` blocks for each of its vectors ([`Prefix::places`]): the result so far, and, where it is exclusive,
/// the same without the own vector, and what has come. An exclusive scan is one by `tripling` where that has as many
/// rounds.
pub fn doubling(script: &mut Script, p: u32, rank: u32, n: u32, prefix: Prefix) {
    rounds(script, &Group::all(p, rank), n, prefix);
    finish(script, rank, n, prefix);
}

/// The same between the members of a group, without saying where the result is.
pub(super) fn rounds(script: &mut Script, group: &Group, n: u32, prefix: Prefix) {
    let &Group { p, me, .. } = group;
    if prefix == Prefix::Exclusive && is_tripled(p) {
        return tripling(script, group, n);
    }
    let mut distance = 1;
    let mut first = true;
    while distance < p {
        if me + distance < p {
            script.send(group.rank(me + distance), 0..n);
        }
        if let Some(from) = me.checked_sub(distance) {
            let from = group.rank(from);
            match prefix {
                Prefix::Inclusive => script.receive(from, 0..n, Join::Left),
                Prefix::Exclusive => {
                    script.receive(from, 2 * n..3 * n, Join::Store);
                    script.fold(2 * n, 0..n, Join::Left);
                    let join = if first { Join::Store } else { Join::Left };
                    script.fold(2 * n, n..2 * n, join);
                }
            }
            first = false;
        }
        distance *= 2;
    }
}

/// Adds an exclusive scan whose messages go 1, 2, 3, 6, 12, ... ranks far (Träff, arXiv 2507.04785, the 123-doubling),
/// in ceil(log2 (p - 1) + log2 (4 / 3)) rounds. After three of them a rank has the result over the three ranks before
/// it, then over twice as many in each round. The own vector is an operand in the second round only, so a rank reduces
/// once a round.
fn tripling(script: &mut Script, group: &Group, n: u32) {
    let &Group { p, me, .. } = group;
    let (own, before) = (0..n, n..2 * n);
    let (mut distance, mut round) = (1, 0);
    // Ranks that are covered after the rounds so far.
    let mut covered = 0;
    while covered + 1 < p {
        if me + distance < p {
            let to = group.rank(me + distance);
            match round {
                0 => script.send(to, own.clone()),
                1 => {
                    if me > 0 {
                        script.fold(before.start, own.clone(), Join::Left);
                    }
                    script.send(to, own.clone());
                }
                // Nothing is before rank 0.
                _ if me > 0 => script.send(to, before.clone()),
                _ => {}
            }
        }
        let least = if round < 2 { 0 } else { 1 };
        if me >= distance + least {
            let join = if round == 0 { Join::Store } else { Join::Left };
            script.receive(group.rank(me - distance), before.clone(), join);
        }
        (covered, distance) = match round {
            0 => (1, 2),
            1 => (3, 3),
            _ => (2 * covered, 2 * covered),
        };
        round += 1;
    }
}

/// Adds a scan in which every rank passes the result on to the next one, block by block: p - 2 + n steps, and the bits
/// of a loop over the ranks.
pub fn chain(script: &mut Script, p: u32, rank: u32, n: u32, prefix: Prefix) {
    along(script, &Group::all(p, rank), n, prefix);
    finish(script, rank, n, prefix);
}

/// The same along the members of a group, without saying where the result is.
pub(super) fn along(script: &mut Script, group: &Group, n: u32, prefix: Prefix) {
    for block in 0..n {
        let own = block..block + 1;
        if let Some(before) = group.me.checked_sub(1) {
            let from = group.rank(before);
            match prefix {
                Prefix::Inclusive => script.receive(from, own.clone(), Join::Left),
                Prefix::Exclusive => {
                    script.receive(from, n + block..n + block + 1, Join::Store);
                    script.fold(n + block, own.clone(), Join::Left);
                }
            }
        }
        if group.me + 1 < group.p {
            script.send(group.rank(group.me + 1), own);
        }
    }
}

/// Says where the result is.
pub(super) fn finish(script: &mut Script, rank: u32, n: u32, prefix: Prefix) {
    match prefix {
        Prefix::Inclusive => script.result(0..n),
        Prefix::Exclusive if rank > 0 => script.result(n..2 * n),
        Prefix::Exclusive => {}
    }
}
