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
    /// Slices of a vector of `count` elements, each of which has a tree of its own.
    fn slices(self, p: u32, count: u64) -> u32 {
        match self {
            GatherTree::Ranks => 1,
            // The others have no elements.
            GatherTree::Halving => u64::from(p).min(count.max(1)) as u32,
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
    let n = tree.slices(p, count);
    (0..p).flat_map(move |_| (0..n).map(move |i| share(count, n, i)))
}

/// Adds that all get all vectors.
pub fn spread_vectors(script: &mut Script, p: u32, rank: u32, steps: &Steps) {
    let n = script.cut().blocks() / p;
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
    let n = script.cut().blocks() / p;
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

/// The same over nodes, all with as many ranks: leaders get what their nodes have, exchange that, and hand the result
/// out. The bits are those of [`super::Lanes::allreduce`].
#[derive(Clone, Copy, Debug)]
pub struct GatherNodes<'a> {
    /// The leaders; `me` is that of this rank's node.
    pub leaders: Group<'a>,
    /// The ranks of this rank's node, of which the first one leads; none but the leader where they share memory.
    pub locals: &'a [u32],
    /// Ranks of a node.
    pub places: u32,
    /// This rank.
    pub rank: u32,
}

/// Elements of a vector that are evaluated alike: how many, as those of which place of a node, and of which node.
struct Run {
    count: u64,
    place: u32,
    node: u32,
}

impl GatherNodes<'_> {
    /// How vectors of `total` elements are evaluated.
    fn runs(&self, total: u64) -> Vec<Run> {
        let mut runs = Vec::new();
        for place in 0..self.places {
            let slice = share(total, self.places, place);
            for node in 0..self.leaders.p {
                match share(slice, self.leaders.p, node) {
                    0 => break, // the later ones have no more
                    count => runs.push(Run { count, place, node }),
                }
            }
        }
        runs
    }

    /// Writes the same reduction for a rank that has the vectors of all ranks already, in the order of ranks; `rank`
    /// says which one is in a place of a node.
    pub fn reduce(&self, script: &mut Script, total: u64, rank: impl Fn(u32, u32) -> u32) {
        let (nodes, places) = (self.leaders.p, self.places);
        let runs = self.runs(total);
        let n = runs.len() as u32;
        let counts = (0..nodes * places).flat_map(|_| runs.iter().map(|run| run.count));
        script.begin(u64::MAX, counts);
        for (run, &Run { place, node, .. }) in (0..).zip(&runs) {
            let block = |node, place| rank(node, place) * n + run;
            for of in 0..nodes {
                for (left, to) in Fold::Halving(place).pairs(places) {
                    let to = block(of, to);
                    script.fold(block(of, left), to..to + 1, Join::Left);
                }
            }
            for (left, to) in Fold::Halving(node).pairs(nodes) {
                let to = block(to, place);
                script.fold(block(left, place), to..to + 1, Join::Left);
            }
            let result = block(node, place);
            script.result(result..result + 1);
        }
    }

    /// Writes everything for vectors of `total` elements, with messages of no more than `most`. The area has the vector
    /// of this rank first, where the result is in the end.
    pub fn allreduce(&self, script: &mut Script, most: u64, total: u64, steps: &Steps) {
        let &GatherNodes {
            leaders,
            locals,
            rank,
            ..
        } = self;
        let (nodes, me) = (leaders.p, leaders.me);
        let leader = leaders.rank(me);
        let runs = self.runs(total);
        let n = runs.len() as u32;
        if rank != leader {
            if !locals.is_empty() {
                script.begin(most, runs.iter().map(|run| run.count));
                script.send(leader, 0..n);
                script.receive(leader, 0..n, Join::Store);
            } else {
                script.begin(most, std::iter::empty());
            }
            return;
        }
        let others = locals.iter().filter(|&&local| local != leader);
        let vectors = nodes + others.clone().count() as u32;
        let counts = (0..vectors).flat_map(|_| runs.iter().map(|run| run.count));
        script.begin(most, counts);
        let block = |vector: u32, run: usize| vector * n + run as u32;
        let join = |script: &mut Script, from: u32, to: u32, join| {
            if from != to {
                script.fold(from, to..to + 1, join);
            }
        };

        // What the node has, vectors behind those of the leaders.
        for (vector, &local) in (nodes..).zip(others) {
            script.receive(local, vector * n..(vector + 1) * n, Join::Store);
        }
        if vectors > nodes {
            let vector = |place: u32| match place {
                0 => 0,
                place => nodes + place - 1,
            };
            for (i, run) in runs.iter().enumerate() {
                let fold = Fold::Halving(run.place);
                for (left, to) in fold.pairs(self.places) {
                    join(
                        script,
                        block(vector(left), i),
                        block(vector(to), i),
                        Join::Left,
                    );
                }
                let result = vector(fold.result(self.places));
                join(script, block(result, i), block(0, i), Join::Store);
            }
        }

        // What all nodes have: at place i is the vector of node me - i.
        for step in (0..steps.count()).map(|i| steps.step(i)) {
            script.send(leaders.after(step.distance), 0..step.width * n);
            let from = step.distance * n;
            let blocks = from..from + step.width * n;
            script.receive(leaders.before(step.distance), blocks, Join::Store);
        }
        for (i, run) in runs.iter().enumerate() {
            let vector = |node: u32| sub(me, node, nodes);
            let fold = Fold::Halving(run.node);
            for (left, to) in fold.pairs(nodes) {
                join(
                    script,
                    block(vector(left), i),
                    block(vector(to), i),
                    Join::Left,
                );
            }
            let result = vector(fold.result(nodes));
            join(script, block(result, i), block(0, i), Join::Store);
        }
        script.result(0..n);
        for &local in locals.iter().filter(|&&local| local != leader) {
            script.send(local, 0..n);
        }
    }
}
