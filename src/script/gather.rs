//! Reduction of short vectors on every rank: all get all vectors in few rounds and reduce them by themselves, in the
//! same order everywhere.

#![forbid(unsafe_code)]

use super::{Fold, Group, Join, Script, share, sub};
use crate::schedule::Steps;

/// In which order a rank evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatherTree {
    /// Left to right, in the order of ranks.
    Ranks,
    /// As [`super::halving`] would between the same ranks, with the same bits: the operator must be commutative.
    Halving,
}

impl GatherTree {
    /// Slices of a vector, each of which has a tree of its own.
    fn slices(self, p: u32) -> u32 {
        match self {
            GatherTree::Ranks => 1,
            GatherTree::Halving => p,
        }
    }

    /// The order of evaluation of a slice.
    fn fold(self, slice: u32) -> Fold {
        match self {
            GatherTree::Ranks => Fold::From(0),
            GatherTree::Halving => Fold::Halving(slice),
        }
    }
}

/// The blocks of the area for vectors of `count` elements: for each rank, this one first and then the one before it and
/// so on, the slices of its vector.
pub fn gather_cut(p: u32, tree: GatherTree, count: u64) -> impl Iterator<Item = u64> {
    let n = tree.slices(p);
    (0..p).flat_map(move |_| (0..n).map(move |i| share(count, n, i)))
}

/// Adds that all get all vectors.
pub fn exchange(script: &mut Script, p: u32, rank: u32, steps: &Steps, tree: GatherTree) {
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
}

/// Adds the reduction of all vectors. The result is that of the blocks given to `Script::result`.
pub fn gather(script: &mut Script, p: u32, rank: u32, tree: GatherTree) {
    let n = tree.slices(p);
    let place = |of: u32, slice: u32| sub(rank, of, p) * n + slice;
    for slice in 0..n {
        let fold = tree.fold(slice);
        for (left, to) in fold.pairs(p) {
            let to = place(to, slice);
            script.fold(place(left, slice), to..to + 1, Join::Left);
        }
    }
    for slice in 0..n {
        let own = place(tree.fold(slice).result(p), slice);
        script.result(own..own + 1);
    }
}
