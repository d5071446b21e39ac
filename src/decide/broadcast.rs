//! Deciding on broadcasts.

#![forbid(unsafe_code)]

use super::problem::{SECOND_RATIO, Slower};
use super::{Choice, Context, Form, Problem, SizeClass, Why, model_of};
use crate::algorithm::{Algorithm, BroadcastAlgorithm};
use crate::learn::{Candidate, Prior};
use crate::model::{self, BLOCKS_MAX};

/// How many times fewer blocks the second candidate has, and how many times more the third one.
const FACTOR: u32 = 4;

/// Blocks of the third candidate are no shorter.
const SHORT_BLOCK: u64 = 2 << 10;

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
        (self.context.facts).worthwhile(self.form(), self.bytes, &self.context)?;
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
            Candidate::Second if self.fastest() == Algorithm::Postal => {
                self.by(Algorithm::Circulant, self.context.config.block_bytes)
            }
            Candidate::Second => first().with_blocks(|blocks| blocks.div_ceil(FACTOR)),
            Candidate::Third => first().with_blocks(|blocks| blocks.saturating_mul(FACTOR)),
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
        let (form, bytes) = (self.form(), self.bytes);
        let model = model_of(facts, form, config);
        let rounds = facts.rounds(form, config);
        let pipeline_us = model.broadcast_us(rounds, bytes);
        // Inside a node, blocks mean nothing.
        let free = facts.nodes > 1 && config.block_bytes == 0;
        let (second, third) = match choice {
            Choice::Rondo {
                algorithm: Algorithm::Circulant,
                blocks,
                ..
            } if free => {
                let more = u64::from(blocks) * u64::from(FACTOR);
                let fit = more <= BLOCKS_MAX.into() && bytes / more >= SHORT_BLOCK;
                let second = (blocks >= 2 * FACTOR).then_some(SECOND_RATIO);
                (second, fit.then_some(SECOND_RATIO))
            }
            Choice::Rondo {
                algorithm: Algorithm::Postal,
                ..
            } if free && bytes >= SHORT_BLOCK => {
                let tree_us = model.tree_us(1u32.checked_shl(rounds).unwrap_or(u32::MAX), bytes);
                (Some(pipeline_us / tree_us), None)
            }
            Choice::Rondo { .. } | Choice::Host(_) => (None, None),
        };
        let slower = Slower {
            host: model.binomial_us(rounds, bytes) / pipeline_us,
            second,
            third,
        };
        Some((self.context).prior_by_bytes(bytes, (class, default), &slower))
    }
}
