//! Deciding on broadcasts.

#![forbid(unsafe_code)]

use super::{Choice, Context, Form, Problem, SizeClass, Why, model_of};
use crate::algorithm::{Algorithm, BroadcastAlgorithm};
use crate::learn::{Candidate, Prior};
use crate::model;

/// How many times fewer blocks the second candidate has.
const FEWER: u32 = 4;

/// A broadcast.
#[derive(Clone, Copy, Debug)]
pub struct Broadcast<'a> {
    /// Where it is made.
    pub context: Context<'a>,
    /// Bytes of the message: count times type size, which is equal on all ranks by the rule of equal type signatures.
    pub bytes: u64,
}

impl Broadcast<'_> {
    fn form(&self) -> Form {
        self.context.facts.form(self.bytes, self.context.config)
    }

    /// The algorithm that the model finds fastest.
    fn fastest(&self) -> Algorithm {
        let Context { facts, config, .. } = self.context;
        facts.broadcast(self.form(), self.bytes, config)
    }
}

impl Problem for Broadcast<'_> {
    fn context(&self) -> Context<'_> {
        self.context
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.bytes)
    }

    fn automatic(&self) -> Result<Algorithm, Why> {
        let min = self.context.wish().min_bytes;
        self.context
            .facts
            .worthwhile(self.form(), self.bytes, min)?;
        Ok(self.fastest())
    }

    fn by(&self, algorithm: Algorithm, block_bytes: u64) -> Choice {
        let Context { facts, config, .. } = self.context;
        let (form, bytes) = (self.form(), self.bytes);
        let blocks = match algorithm.of_broadcast() {
            BroadcastAlgorithm::Binomial | BroadcastAlgorithm::Postal => model::least_blocks(bytes),
            BroadcastAlgorithm::Circulant if block_bytes > 0 => {
                model::blocks_of(bytes, block_bytes)
            }
            BroadcastAlgorithm::Circulant => {
                let rounds = facts.rounds(form, config);
                model_of(facts, form, config).blocks(rounds, bytes, facts.eager_bytes, 1)
            }
        };
        Choice::Rondo {
            algorithm,
            form,
            blocks,
            why: Why::Auto,
        }
    }

    fn candidate(&self, candidate: Candidate) -> Choice {
        let first = || self.by(self.fastest(), self.context.config.block_bytes);
        match candidate {
            Candidate::Host => Choice::Host(Why::Measured),
            Candidate::First => first(),
            Candidate::Second => first().with_blocks(|blocks| blocks.div_ceil(FEWER)),
        }
    }

    #[inline]
    fn size_class(&self, choice: Choice) -> Option<(SizeClass, Candidate)> {
        let default = self.context.default_by_bytes(choice)?;
        Some((SizeClass::of(self.bytes, true), default))
    }

    fn prior(&self, choice: Choice) -> Option<Prior> {
        let Context { facts, config, .. } = self.context;
        let (class, default) = self.size_class(choice)?;
        // Inside a node, blocks mean nothing.
        let several = match choice {
            Choice::Rondo {
                algorithm: Algorithm::Circulant,
                blocks,
                ..
            } => blocks >= 2 * FEWER && facts.nodes > 1,
            Choice::Rondo { .. } | Choice::Host(_) => false,
        };
        let second = several && config.block_bytes == 0;
        Some(facts.prior_by_bytes(self.bytes, (class, default), second))
    }
}
