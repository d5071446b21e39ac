//! How many ranks may send to one in a reduction.

#![forbid(unsafe_code)]

use super::writing::Writing;
use crate::algorithm::{Algorithm, reduces_nothing, trees};
use crate::collective::Reducing;
use crate::decide::{Form, Method};
use crate::schedule::rounds_of;

impl Writing<'_> {
    /// Ranks that may send to one, if that can be more than this rank itself sends to; otherwise 0. It bounds what this
    /// rank leaves with others, so ranks need not agree on it.
    pub(super) fn crowd(&self) -> u32 {
        let facts = self.state.facts();
        let Method {
            algorithm, form, ..
        } = self.method;
        let has_leaders = match form {
            Form::Flat => false,
            Form::Nodes { lanes } => lanes == 1 || algorithm == Algorithm::Circulant,
        };
        match algorithm {
            // A grid of ranks, a chain, and binary trees, in which nobody gets much from many.
            _ if self.reducing == Reducing::Scan && form == Form::Flat => 0,
            Algorithm::Ordered if has_leaders && self.shares => facts.nodes,
            Algorithm::Ordered => facts.p - 1,
            // The parts of all come to the root.
            Algorithm::Halving | Algorithm::Ring if self.reducing == Reducing::Root => facts.p - 1,
            // Those of its node, and other leaders.
            _ if has_leaders && !self.shares => facts.widest - 1 + rounds_of(facts.nodes),
            // As many as send to a rank one after the other for each block.
            Algorithm::Postal | trees!(Algorithm) => {
                self.shape(algorithm).pace(facts.p).every.max(2)
            }
            // From both children, and from the parent.
            Algorithm::DualRoot => 3,
            Algorithm::Circulant
            | Algorithm::Ring
            | Algorithm::Halving
            | Algorithm::Split
            | Algorithm::Gather
            | Algorithm::Doubling
            | Algorithm::Pipelined
            | Algorithm::Dissemination
            | Algorithm::Census
            | Algorithm::ReduceBcast
            | Algorithm::Hypercube
            | Algorithm::FullLane
            | reduces_nothing!(Algorithm) => 0,
        }
    }
}
