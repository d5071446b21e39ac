//! How many ranks may send to one in a reduction.

#![forbid(unsafe_code)]

use super::Operation;
use super::writing::Writing;
use crate::algorithm::{Algorithm, trees};
use crate::collective::Family;
use crate::decide::Form;
use crate::schedule::rounds_of;

impl Writing<'_> {
    /// Ranks that may send to one, if that can be more than this rank itself sends to; otherwise 0. It bounds what this
    /// rank leaves with others, so ranks need not agree on it.
    pub(super) fn crowd(&self, algorithm: Algorithm, form: Form) -> u32 {
        let facts = self.state.facts();
        match (algorithm, form) {
            // A grid of ranks, a chain, and binary trees, in which nobody gets much from many.
            (_, Form::Flat) if self.call.collective().family() == Family::Scan => 0,
            (Algorithm::Ordered, _) => facts.p - 1,
            // The parts of all come to the root.
            (Algorithm::Halving | Algorithm::Ring, _)
                if self.call.collective().family() == Family::Reduction =>
            {
                facts.p - 1
            }
            (_, Form::Nodes { lanes: 1 }) | (Algorithm::Circulant, Form::Nodes { .. })
                if !self.shares =>
            {
                facts.widest - 1 + rounds_of(facts.nodes)
            }
            (Algorithm::Postal | trees!(Algorithm), _) => {
                // As many as send to a rank one after the other for each block.
                self.shape(algorithm).pace(facts.p).every.max(2)
            }
            // From both children, and from the parent.
            (Algorithm::DualRoot, _) => 3,
            _ => 0,
        }
    }
}
