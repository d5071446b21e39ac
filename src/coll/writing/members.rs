//! Who carries out a script that keeps the order of ranks: all ranks, or nodes that hold ranks which follow each other.

#![forbid(unsafe_code)]

use super::Writing;
use crate::collective::Reducing;
use crate::group::State;
use crate::script::{Cut, Members, Script};

/// All ranks, or where leaders keep the order of ranks all nodes, whose ranks share memory or do not.
pub fn members(state: &State, in_order: bool, shares: bool) -> Members {
    let (topology, rank) = (state.topology(), state.rank());
    if !in_order {
        return Members {
            p: state.p(),
            me: rank,
            place: 0,
            width: 1,
        };
    }
    Members {
        p: topology.nodes(),
        me: topology.node(rank),
        place: topology.local(rank),
        width: match shares {
            true => 1,
            false => state.locals().len() as u32,
        },
    }
}

impl Writing<'_> {
    /// Ranks of a node, if all have as many and each sends to other nodes.
    pub fn places(&self) -> Option<u32> {
        self.state.facts.places().filter(|_| !self.in_order)
    }

    /// Does this rank neither lead its node nor get a result from others, where ranks share memory?
    pub(super) fn idles(&self) -> bool {
        let is_lowest = self.state.topology().local(self.rank()) == 0;
        let by_lowest = self.reducing != Reducing::Root || self.in_order;
        let has_leaders = self.shares && self.method.has_leaders() && by_lowest;
        has_leaders && !is_lowest && self.rank() != self.root
    }

    /// Which member the root is, or leads.
    pub(super) fn member_of_root(&self) -> Option<u32> {
        let (topology, root) = (self.state.topology(), self.root);
        match self.in_order {
            true => (topology.local(root) == 0).then(|| topology.node(root)),
            false => Some(root),
        }
    }

    /// The vector, cut into the parts of all ranks, or of all members where ranks are to have none.
    pub fn parts_cut(&self) -> Cut {
        let parts = match self.reducing == Reducing::Scattered {
            true => self.p(),
            false => self.members.p,
        };
        Cut::of((0..parts).map(|part| self.part(part)))
    }

    /// Elements of the parts of all members: a node has those of its ranks together.
    pub(super) fn every_part(&self) -> Vec<u64> {
        let (topology, cut) = (self.state.topology(), self.parts_cut());
        let together = self.in_order && self.reducing == Reducing::Scattered;
        let parts = |member: u32| match together {
            true => topology.start(member)..topology.start(member + 1),
            false => member..member + 1,
        };
        let members = 0..self.members.p;
        members.map(|member| cut.count(&parts(member))).collect()
    }

    /// Over nodes ranks take the place of the numbers in a script.
    pub(super) fn name_ranks(&self, script: &mut Script) {
        if self.in_order {
            let topology = self.state.topology();
            script.name_ranks(&self.members, self.root, &|node| topology.start(node));
        }
    }
}
