//! Reduction of short vectors on every rank: all get all vectors in few rounds and reduce them by themselves, in the
//! same order everywhere.

#![forbid(unsafe_code)]

use super::{Group, Join, Script, share, skips, sub};
use crate::schedule::Steps;

/// In which order a rank evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// Left to right, in the order of ranks.
    Ranks,
    /// As [`super::halving`] would between the same ranks, with the same bits: the operator must be commutative.
    Halving,
}

impl Tree {
    /// Slices of a vector, each of which has a tree of its own.
    fn slices(self, p: u32) -> u32 {
        match self {
            Tree::Ranks => 1,
            Tree::Halving => p,
        }
    }
}

/// The blocks of the area for vectors of `count` elements: for each rank, this one first and then the one before it and
/// so on, the slices of its vector.
pub fn gather_cut(p: u32, tree: Tree, count: u64) -> impl Iterator<Item = u64> {
    let n = tree.slices(p);
    (0..p).flat_map(move |_| (0..n).map(move |i| share(count, n, i)))
}

/// Adds everything. The result is that of the blocks given to `Script::result`.
pub fn gather(script: &mut Script, p: u32, rank: u32, steps: &Steps, tree: Tree) {
    let n = tree.slices(p);
    // Places instead of ranks: at place i is the vector of rank - i. So what a rank has lies in one piece.
    for step in (0..steps.count()).map(|i| steps.step(i)) {
        let group = Group::all(p, rank);
        script.send(group.after(step.distance), 0..step.width * n);
        let from = step.distance * n;
        script.receive(
            group.before(step.distance),
            from..from + step.width * n,
            Join::Store,
        );
    }
    let place = |of: u32, slice: u32| sub(rank, of, p) * n + slice;
    match tree {
        Tree::Ranks => {
            for other in 1..p {
                let to = place(other, 0);
                script.fold(place(other - 1, 0), to..to + 1, Join::Left);
            }
            let last = place(p - 1, 0);
            script.result(last..last + 1);
        }
        Tree::Halving => {
            for slice in 0..n {
                for (low, high) in skips(p) {
                    for i in 0..high - low {
                        let to = place(sub(slice, i, p), slice);
                        let from = place(sub(slice, i + low, p), slice);
                        script.fold(from, to..to + 1, Join::Left);
                    }
                }
            }
            for slice in 0..n {
                let own = place(slice, slice);
                script.result(own..own + 1);
            }
        }
    }
}
