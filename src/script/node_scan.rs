//! A scan over nodes that hold consecutive ranks (J. L. Träff, lecture on collective operations, "Hierarchical
//! collectives"): along the ranks of each node, and an exclusive one among the last ranks of all nodes, which then have
//! what their nodes have together. The lecture has a reduction first and the scan inside the nodes last. Here that scan
//! is the reduction as well, and what is before a node joins what each of its ranks has.

#![forbid(unsafe_code)]

use super::scan::{along, rounds};
use super::{Group, Join, Prefix, Script};
use std::ops::Range;

/// Such a scan, as one rank sees it. It keeps the order of ranks. Nodes may have different numbers of them.
#[derive(Clone, Copy, Debug)]
pub struct NodeScan<'a> {
    /// The ranks of this rank's node, and which of them it is.
    pub node: Group<'a>,
    /// The leaders, which are the last ranks of all nodes; `me` is that of this rank's node.
    pub leaders: Group<'a>,
    /// Blocks of a vector.
    pub n: u32,
    /// What a rank gets.
    pub prefix: Prefix,
}

impl NodeScan<'_> {
    /// In the area, the vector of what the node has, on its leader; elsewhere and before, of this rank's own.
    pub const WHOLE: u32 = 0;
    /// The vector of what all nodes before this one have.
    pub const BEFORE: u32 = 1;

    /// The vector of what the ranks of the node have up to this one, or up to the one before.
    pub fn inside(&self) -> u32 {
        Prefix::Exclusive.places(self.leaders.p)
    }

    /// Vectors in the area.
    pub fn places(&self) -> u32 {
        self.inside() + 1
    }

    /// Does this rank send to other nodes?
    pub fn leads(&self) -> bool {
        self.node.me + 1 == self.node.p
    }

    /// Are there ranks before this node?
    pub fn is_behind(&self) -> bool {
        self.leaders.me > 0
    }

    /// Is there an operand of this rank's node?
    fn has_inside(&self) -> bool {
        self.prefix == Prefix::Inclusive || self.node.me > 0
    }

    /// The blocks of a vector.
    fn blocks(&self, vector: u32) -> Range<u32> {
        vector * self.n..(vector + 1) * self.n
    }

    /// Adds all of it, by messages inside the node as well.
    pub fn by_messages(&self, script: &mut Script) {
        along(script, &self.node, self.n, self.prefix);
        if self.has_inside() {
            let from = match self.prefix {
                Prefix::Inclusive => 0,
                Prefix::Exclusive => self.n, // where it came
            };
            script.fold(from, self.blocks(self.inside()), Join::Store);
        }
        self.between(script);
        if self.is_behind() {
            let before = self.blocks(Self::BEFORE);
            if self.leads() {
                for local in 0..self.node.me {
                    script.send(self.node.rank(local), before.clone());
                }
            } else {
                let leader = self.node.rank(self.node.p - 1);
                script.receive(leader, before, Join::Store);
            }
        }
        self.join(script);
    }

    /// Adds what leaders do among themselves.
    pub fn between(&self, script: &mut Script) {
        if self.leads() {
            rounds(script, &self.leaders, self.n, Prefix::Exclusive);
        }
    }

    /// Adds that what is before the node joins what the rank has inside it, and says where the result is.
    pub fn join(&self, script: &mut Script) {
        let (before, inside) = (self.blocks(Self::BEFORE), self.blocks(self.inside()));
        if !self.has_inside() {
            if self.is_behind() {
                script.result(before);
            }
            return;
        }
        if self.is_behind() {
            script.fold(before.start, inside.clone(), Join::Left);
        }
        script.result(inside);
    }
}
