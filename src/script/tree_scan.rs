//! Prefix reductions up and down trees that are in order: a rank has at most one child with lower ranks and one with
//! higher ranks, and each subtree has consecutive ranks (J. L. Träff, lecture on collective operations, "Scan/Exscan:
//! Two phases, up and down"; two trees: P. Sanders, J. Speck, J. L. Träff, Parallel Computing 35(12), 2009).

#![forbid(unsafe_code)]

use super::scan::finish;
use super::{Join, Prefix, Script};
use crate::schedule::{Edge, Kin, TreeNeighbors};
use std::ops::Range;

/// What one rank does.
struct Scan<'a> {
    family: &'a TreeNeighbors,
    /// Blocks of a vector.
    n: u32,
    prefix: Prefix,
}

/// Adds a scan of `n` blocks up and down one tree, or two, of which each has every other block. The operands keep the
/// order of ranks.
///
/// Up: a rank joins what its lower child has to its own, and sends that, with what its higher child has joined to a
/// copy of it, to its parent. Down: what comes from the parent is the result over all ranks before the subtree. It goes
/// on to the lower child, and joined to what the rank has kept, to the higher one. Nobody asks what is before the first
/// rank, or what all ranks have up to the last one, so no message goes up or down there.
///
/// The area has so many vectors ([`Prefix::tree_places`]): the result over the lower child's ranks and this one; if it
/// is exclusive, the same without this rank; and what is on its way.
pub fn tree_scan(script: &mut Script, family: &TreeNeighbors, rank: u32, n: u32, prefix: Prefix) {
    let scan = Scan { family, n, prefix };
    scan.up(script);
    scan.down(script);
    finish(script, rank, n, prefix);
}

impl Scan<'_> {
    /// A block of the vector with this rank's own operand.
    fn own(&self, block: u32) -> Range<u32> {
        block..block + 1
    }

    /// Of the one without it.
    fn before(&self, block: u32) -> Range<u32> {
        self.own(self.n + block)
    }

    /// Of the one that is on its way.
    fn passing(&self, block: u32) -> Range<u32> {
        self.own((self.prefix.tree_places() - 1) * self.n + block)
    }

    /// Has this rank a child on that side in the same tree?
    fn has_child(&self, parent: &Edge, is_lower: bool) -> bool {
        let children = self.family.children().iter();
        let mut of_tree = children.filter(|child| child.tree == parent.tree);
        of_tree.any(|child| child.is_lower == is_lower)
    }

    /// Does a block come from the other child of the same tree, if there is one, before it comes from this one?
    fn comes_last(&self, child: &Edge) -> bool {
        let children = self.family.children().iter();
        let of_tree = children.filter(|other| other.tree == child.tree);
        // The first one of those that wait least, for all is backwards.
        of_tree.min_by_key(|other| other.wait) == Some(child)
    }

    /// In the order of a reduction ([`super::reduce_tree`]). What goes up is complete as soon as both children's is
    /// here, before anything of another block comes: or ranks of two trees could wait for each other.
    fn up(&self, script: &mut Script) {
        for (phase, kin, edge) in self.family.up(self.n) {
            let block = self.family.block(edge, phase);
            if block >= self.n {
                continue;
            }
            match kin {
                Kin::Child => self.take_from_below(script, edge, block),
                Kin::Parent if edge.is_lower && edge.is_outer => {}
                Kin::Parent => {
                    let what = match self.has_child(edge, false) {
                        true => self.passing(block),
                        false => self.own(block),
                    };
                    script.send(edge.peer, what);
                }
            }
        }
    }

    fn take_from_below(&self, script: &mut Script, child: &Edge, block: u32) {
        let (own, before, passing) = (self.own(block), self.before(block), self.passing(block));
        match (child.is_lower, self.prefix) {
            (true, Prefix::Inclusive) => script.receive(child.peer, own, Join::Left),
            (true, Prefix::Exclusive) => {
                script.receive(child.peer, before.clone(), Join::Store);
                script.fold(before.start, own, Join::Left);
            }
            (false, _) if child.is_outer => return,
            (false, _) => script.receive(child.peer, passing.clone(), Join::Store),
        }
        let mut children = self.family.children().iter();
        let passes =
            children.any(|other| other.tree == child.tree && !other.is_lower && !other.is_outer);
        if passes && self.comes_last(child) {
            script.fold(block, passing, Join::Left);
        }
    }

    /// In the order of a broadcast, the blocks of each tree as they came up.
    fn down(&self, script: &mut Script) {
        for (phase, kin, edge) in self.family.down(self.n) {
            let block = self.family.block_from_last(edge, phase, self.n);
            if block >= self.n {
                continue;
            }
            match (kin, edge.is_lower) {
                (Kin::Parent, false) | (Kin::Child, true) if edge.is_outer => {}
                (Kin::Parent, _) => self.take_from_above(script, edge, block),
                (Kin::Child, true) => script.send(edge.peer, self.passing(block)),
                (Kin::Child, false) => script.send(edge.peer, self.own(block)),
            }
        }
    }

    fn take_from_above(&self, script: &mut Script, parent: &Edge, block: u32) {
        let (own, before, passing) = (self.own(block), self.before(block), self.passing(block));
        match (self.has_child(parent, true), self.prefix) {
            (true, Prefix::Inclusive) => {
                script.receive(parent.peer, passing.clone(), Join::Store);
                script.fold(passing.start, own, Join::Left);
            }
            (false, Prefix::Inclusive) => script.receive(parent.peer, own, Join::Left),
            (true, Prefix::Exclusive) => {
                script.receive(parent.peer, passing.clone(), Join::Store);
                script.fold(passing.start, before, Join::Left);
                self.pass_on(script, parent, passing.start, own);
            }
            (false, Prefix::Exclusive) => {
                script.receive(parent.peer, before.clone(), Join::Store);
                self.pass_on(script, parent, before.start, own);
            }
        }
    }

    /// An exclusive result is not what the higher child gets, if there is one.
    fn pass_on(&self, script: &mut Script, parent: &Edge, came: u32, own: Range<u32>) {
        if self.has_child(parent, false) {
            script.fold(came, own, Join::Left);
        }
    }
}
