//! Between whom the messages of a call pass, and what is done inside nodes.

#![forbid(unsafe_code)]

use super::ask::Question;
use rondo::algorithm::Algorithm;
use rondo::collective::Family;
use rondo::decide::{Form, long_block, model_of};
use rondo::model::Model;

/// Between whom messages pass.
pub(super) struct Between {
    /// The cost of one.
    pub(super) model: Model,
    /// How many exchange them.
    pub(super) members: u32,
    /// Bytes as in [`Call`].
    pub(super) bytes: u64,
    /// Microseconds inside nodes before and behind.
    pub(super) inside_us: f64,
}

impl Question<'_> {
    /// From how many bytes on a block of a gather or scatter goes straight from or to the root.
    pub(super) fn long_block(&self, algorithm: Algorithm) -> u64 {
        match self.collective.family() {
            Family::Rooted => long_block(self.context(), algorithm.of_rooted()),
            _ => u64::MAX,
        }
    }

    /// Who exchanges messages in this form.
    pub(super) fn between(&self, algorithm: Algorithm, form: Form) -> Result<Between, String> {
        let facts = self.facts();
        let (between, inside) = facts.models(self.config);
        let form = match form {
            // Long blocks go straight between all ranks.
            Form::Nodes { .. } if self.bytes >= self.long_block(algorithm) => Form::Flat,
            form @ (Form::Flat | Form::Nodes { .. }) => form,
        };
        let model = match form {
            Form::Flat if facts.nodes == 1 => inside,
            // What counts is the link of the root, which every byte crosses once.
            Form::Flat if self.collective.family() == Family::Rooted => between,
            Form::Flat => model_of(facts, form, self.config),
            Form::Nodes { .. } if facts.nodes == 1 => {
                return Err("on one node data pass through shared memory, without messages".into());
            }
            Form::Nodes { .. } => between,
        };
        let alone = Between {
            model,
            members: facts.members(form),
            bytes: self.bytes,
            inside_us: 0.0,
        };
        if form == Form::Flat {
            return Ok(alone);
        }
        // Through the memory of a node, beside the network and at its own pace (`Facts::flat_is_faster`).
        let beside = Model {
            beta_ns_per_kb: between.beta_ns_per_kb.max(inside.beta_ns_per_kb),
            ..between
        };
        let in_memory_us = |copied| {
            inside.reduction_inside_us(facts.widest, self.gamma_ns_per_kb, self.bytes, copied)
        };
        Ok(match self.collective.family() {
            Family::Broadcast | Family::AllBroadcast => Between {
                model: beside,
                inside_us: inside.alpha_us,
                ..alone
            },
            Family::Barrier => Between {
                inside_us: 2.0 * inside.alpha_us,
                ..alone
            },
            // The blocks of a node travel together, and pass through its memory from or to its leader.
            Family::Rooted => Between {
                bytes: self.bytes * u64::from(facts.widest),
                inside_us: inside.star_us(facts.widest, self.bytes),
                ..alone
            },
            // Everyone puts its vector in, and gets the result, or its part.
            Family::AllReduction => Between {
                inside_us: in_memory_us(self.bytes),
                ..alone
            },
            Family::ScatteredReduction => Between {
                inside_us: in_memory_us(self.bytes.div_ceil(self.ranks.into())),
                ..alone
            },
            // The leader joins block by block what its node has.
            Family::Reduction => Between {
                model: Model {
                    beta_ns_per_kb: beside.beta_ns_per_kb
                        + self.gamma_ns_per_kb * f64::from(facts.widest - 1),
                    ..beside
                },
                inside_us: inside.alpha_us,
                ..alone
            },
            Family::Scan | Family::TotalExchange | Family::IrregularExchange => {
                unreachable!("predicted by the formulas by which Rondo decides");
            }
        })
    }
}
