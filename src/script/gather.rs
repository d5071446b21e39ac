//! Reduction of short vectors on every rank: all get all vectors in few rounds and reduce them by themselves, in the
//! same order everywhere.

#![forbid(unsafe_code)]

use super::{Fold, Group, Join, Script, share, sub};
use crate::schedule::{Edge, Shape, Steps, TreeNeighbors};

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

/// Adds that all members get the vectors of all, of `n` blocks each. Places instead of members: at place i is the
/// vector of the member that is i before this one. So what a member has lies in one piece.
pub fn spread_vectors(script: &mut Script, group: &Group, steps: &Steps, n: u32) {
    for step in (0..steps.count()).map(|i| steps.step(i)) {
        script.send(group.after(step.distance), 0..step.width * n);
        let from = step.distance * n;
        let blocks = from..from + step.width * n;
        script.receive(group.before(step.distance), blocks, Join::Store);
    }
}

/// Adds the reduction of a block of `p` members, which is at `block` of each. The block where the result is.
fn join_blocks(script: &mut Script, fold: Fold, p: u32, block: impl Fn(u32) -> u32) -> u32 {
    for (left, to) in fold.pairs(p) {
        let to = block(to);
        script.fold(block(left), to..to + 1, Join::Left);
    }
    block(fold.result(p))
}

/// Adds the reduction of all vectors. The result is that of the blocks given to `Script::result`.
pub fn gather(script: &mut Script, p: u32, rank: u32, tree: GatherTree) {
    let n = script.cut().blocks() / p;
    for slice in 0..n {
        let block = |of| sub(rank, of, p) * n + slice;
        let own = join_blocks(script, tree.fold(slice), p, block);
        script.result(own..own + 1);
    }
}

/// The same over nodes: leaders get what their nodes have, exchange that, and hand the result out. The bits are those
/// of [`super::Lanes::allreduce`] where all nodes have as many ranks, and those of [`super::Leaders::allreduce`] where
/// they have not.
#[derive(Clone, Copy, Debug)]
pub struct GatherNodes<'a> {
    /// The leaders; `me` is that of this rank's node.
    pub leaders: Group<'a>,
    /// The ranks of this rank's node, of which the first one leads; none but the leader where they share memory.
    pub locals: &'a [u32],
    /// Ranks of a node, if all have as many.
    pub places: Option<u32>,
    /// This rank.
    pub rank: u32,
}

/// Elements of a vector that are evaluated alike: how many, in which order inside a node, and as those of which node.
struct Section {
    count: u64,
    local: Fold,
    node: u32,
}

/// How vectors of `total` elements are evaluated over so many nodes, with so many ranks each, if all have as many.
fn sections((nodes, places): (u32, Option<u32>), total: u64) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut add = |slice: u64, local: Fold| {
        for node in 0..nodes {
            match share(slice, nodes, node) {
                0 => break, // the later ones have no more
                count => sections.push(Section { count, local, node }),
            }
        }
    };
    match places {
        None => add(total, Fold::From(0)),
        Some(places) => (0..places).for_each(|i| add(share(total, places, i), Fold::Halving(i))),
    }
    sections
}

impl GatherNodes<'_> {
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
        if rank != leader && locals.is_empty() {
            script.begin(most, std::iter::empty());
            return;
        }
        let sections = sections((nodes, self.places), total);
        let n = sections.len() as u32;
        if rank != leader {
            script.begin(most, sections.iter().map(|section| section.count));
            script.send(leader, 0..n);
            script.receive(leader, 0..n, Join::Store);
            return;
        }
        let others = locals.iter().filter(|&&local| local != leader);
        let vectors = nodes + others.clone().count() as u32;
        let counts = (0..vectors).flat_map(|_| sections.iter().map(|section| section.count));
        script.begin(most, counts);
        // The result of a section, to the first vector.
        let join = |script: &mut Script, section: u32, fold, p, vector: &dyn Fn(u32) -> u32| {
            let result = join_blocks(script, fold, p, |member| vector(member) * n + section);
            if result != section {
                script.fold(result, section..section + 1, Join::Store);
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
            let width = locals.len() as u32;
            for (i, section) in (0..).zip(&sections) {
                join(script, i, section.local, width, &vector);
            }
        }

        // What all nodes have.
        spread_vectors(script, &leaders, steps, n);
        let vector = |node: u32| sub(me, node, nodes);
        for (i, section) in (0..).zip(&sections) {
            join(script, i, Fold::Halving(section.node), nodes, &vector);
        }
        script.result(0..n);
        for &local in locals.iter().filter(|&&local| local != leader) {
            script.send(local, 0..n);
        }
    }

    /// The same for an operator that is exact, so that bits do not depend on the order: what the ranks of a node have
    /// comes up a tree of the first shape, and the result goes down one of the second. Nodes may have different numbers
    /// of ranks.
    pub fn allreduce_exact(
        &self,
        script: &mut Script,
        most: u64,
        total: u64,
        (steps, [up, down]): (&Steps, [Shape; 2]),
    ) {
        let leader = self.leaders.rank(self.leaders.me);
        let place = self.locals.iter().position(|&local| local == self.rank);
        let (leads, place) = (self.rank == leader, place.unwrap_or(0) as u32);
        let vectors = match (leads, self.locals.is_empty()) {
            (true, _) => self.leaders.p,
            (false, false) => 1,
            (false, true) => 0,
        };
        script.begin(most, (0..vectors).map(|_| total));
        if vectors == 0 {
            return;
        }
        let mut tree = TreeNeighbors::default();
        let local = |edge: &Edge| self.locals[edge.peer as usize];
        if !self.locals.is_empty() {
            tree.set(up, self.locals.len() as u32, place, 0);
            for child in tree.children().iter().rev() {
                script.receive(local(child), 0..1, Join::Right);
            }
            for parent in tree.parents() {
                script.send(local(parent), 0..1);
            }
        }
        if leads {
            let nodes = self.leaders.p;
            spread_vectors(script, &self.leaders, steps, 1);
            let vector = |node: u32| sub(self.leaders.me, node, nodes);
            let result = join_blocks(script, Fold::Halving(0), nodes, vector);
            if result != 0 {
                script.fold(result, 0..1, Join::Store);
            }
        }
        if !self.locals.is_empty() {
            tree.set(down, self.locals.len() as u32, place, 0);
            for parent in tree.parents() {
                script.receive(local(parent), 0..1, Join::Store);
            }
            for child in tree.children() {
                script.send(local(child), 0..1);
            }
        }
        if leads {
            script.result(0..1);
        }
    }
}
