//! Deciding on broadcasts.

#![forbid(unsafe_code)]

use super::problem::{FACTOR, SECOND_RATIO, SHORT_BLOCK, Slower, in_more_blocks};
use super::{Choice, Context, Form, Method, Problem, SizeClass, Ways, Why, model_of};
use crate::algorithm::{Algorithm, BroadcastAlgorithm, trees};
use crate::learn::{Candidate, Prior};
use crate::model;
use crate::schedule::Pace;

/// A call of fewer bytes than were found to be enough elsewhere has to be so many times as fast by the model, which
/// leaves out what it costs to take the call.
const GAIN: f64 = 1.3;

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

    /// The algorithms by the model, fastest first.
    fn ways(&self) -> Ways {
        let Context { facts, config, .. } = self.context;
        facts.broadcasts(self.form(), self.bytes, config)
    }

    /// What the model finds second, and how many times as long it takes.
    fn runner_up(&self) -> Option<(Algorithm, f64)> {
        let ways = self.ways();
        let (algorithm, us) = ways.second?;
        Some((algorithm, us / ways.first.1))
    }

    /// The third candidate and how many times as long it takes, if it is another algorithm: what the model finds
    /// second, where that is not the second candidate, and not much slower. More blocks gain less: only where a message
    /// costs a small part of what the model says are a quarter as many not nearly as good.
    fn third(&self) -> Option<(Algorithm, f64)> {
        let third = self.runner_up()?;
        (has_fewer(self.first()) && third.1 < SECOND_RATIO).then_some(third)
    }

    /// What the usual algorithms of hosts take by the model.
    fn host_us(&self) -> f64 {
        let Context { facts, config, .. } = self.context;
        let form = self.form();
        let inside_us = match form {
            Form::Nodes { .. } => facts.models(config).1.usual_us(facts.widest, self.bytes),
            Form::Flat => 0.0,
        };
        let between = model_of(facts, form, config);
        between.usual_us(facts.members(form), self.bytes) + inside_us
    }

    /// Does the model clearly say that Rondo is faster than the usual algorithms of hosts?
    fn gains(&self) -> bool {
        let Context { facts, config, .. } = self.context;
        let (_, inside_us) = facts.timed(self.form(), config);
        // On near networks it knows too little: of what processors do, and of bursts that links let through.
        facts.nodes > 1
            && facts.is_far(config)
            && GAIN * (self.ways().first.1 + inside_us) <= self.host_us()
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
        match (self.context.facts).worthwhile(self.form(), self.bytes, &self.context) {
            // The least bytes are what was measured elsewhere.
            Err(Why::Small) if self.context.wish().min_bytes.is_none() && self.gains() => {}
            worth => worth?,
        }
        Ok(self.ways().first.0)
    }

    fn by(&self, algorithm: Algorithm, block_bytes: u64) -> Choice {
        let Context { facts, config, .. } = self.context;
        let bytes = self.bytes;
        let (form, algorithm, why) = match facts.asked_lanes(algorithm, config) {
            Ok(form) => (form.unwrap_or_else(|| self.form()), algorithm, Why::Auto),
            Err(why) => (self.form(), Algorithm::Circulant, why),
        };
        let blocks = match algorithm.of_broadcast() {
            BroadcastAlgorithm::Postal => model::least_blocks(bytes),
            BroadcastAlgorithm::Binomial if block_bytes == 0 => model::least_blocks(bytes),
            _ if block_bytes > 0 => model::blocks_of(bytes, block_bytes),
            BroadcastAlgorithm::Circulant
            | BroadcastAlgorithm::Hypercube
            | BroadcastAlgorithm::FullLane => match facts.circulant_in_place(form, bytes, config) {
                Some((blocks, _)) => blocks,
                None => {
                    let reach = facts.reach(form, config);
                    model_of(facts, form, config).blocks(reach, bytes, facts.eager_bytes, 1)
                }
            },
            BroadcastAlgorithm::Relay => {
                let model = model_of(facts, form, config);
                model.relay_blocks(facts.members(form), bytes, facts.eager_bytes)
            }
            BroadcastAlgorithm::ScatterAllgather => {
                model::part_blocks(facts.members(form), bytes, facts.eager_bytes)
            }
            trees!(BroadcastAlgorithm) => {
                let members = facts.members(form);
                // Of these trees none depends on the latency.
                let shape = super::shape(algorithm, members, 1, config);
                let pace = shape.map_or(Pace::ALONE, |shape| shape.pace(members));
                model_of(facts, form, config).tree_blocks(pace, bytes, facts.eager_bytes)
            }
        };
        Choice::Rondo(Method {
            algorithm,
            form,
            blocks,
            why,
        })
    }

    fn first(&self) -> Choice {
        self.by(self.ways().first.0, self.context.config.block_bytes)
    }

    /// The second candidate and how many times as long it takes: what the model finds second. If circulant is the
    /// first, it is that with fewer blocks, where it has enough, and nothing that is much slower.
    fn second(&self) -> Option<(Algorithm, f64)> {
        let first = self.first();
        let second = self.runner_up()?;
        let is_near = !is_circulant(first) || second.1 < SECOND_RATIO;
        (is_near && !has_fewer(first)).then_some(second)
    }

    fn candidate(&self, candidate: Candidate) -> Choice {
        match candidate {
            Candidate::Host => Choice::Host(Why::Measured),
            Candidate::First => self.first(),
            Candidate::Second => match self.second() {
                Some((algorithm, _)) => self.by(algorithm, self.context.config.block_bytes),
                None => (self.first()).with_blocks(|blocks| {
                    let fewer = blocks.div_ceil(FACTOR);
                    fewer.max(model::least_blocks(self.bytes))
                }),
            },
            Candidate::Third => match self.third() {
                Some((algorithm, _)) => self.by(algorithm, self.context.config.block_bytes),
                None => in_more_blocks(self.first(), self.bytes).unwrap_or_else(|| self.first()),
            },
        }
    }

    /// In the blocks that it has, which need not be as many as the model finds best.
    fn predicted_us(&self) -> Option<f64> {
        let Context { facts, config, .. } = self.context;
        let Choice::Rondo(method) = self.first() else {
            return None;
        };
        if facts.nodes == 1 || !facts.is_known(config) {
            return None;
        }
        let (form, blocks) = (method.form, method.blocks);
        let (model, inside_us) = facts.timed(form, config);
        let between_us = if method.algorithm == Algorithm::Circulant {
            model.broadcast_in_us(facts.reach(form, config), self.bytes, blocks)
        } else if method.algorithm == Algorithm::Relay {
            model.relay_in_us(facts.members(form), self.bytes, blocks)
        } else if method.algorithm == Algorithm::TwoTree {
            self.ways().first.1
        } else if form == Form::Flat || config.shm {
            model.tree_us(facts.members(form), self.bytes) // in a single block
        } else {
            self.ways().first.1 // with the trees inside nodes
        };
        Some(between_us + inside_us)
    }

    #[inline]
    fn size_class(&self, choice: Choice) -> Option<(SizeClass, Candidate)> {
        let default = self.context.default_by_bytes(choice)?;
        Some((SizeClass::of(self.bytes, true), default))
    }

    fn prior(&self, choice: Choice) -> Option<Prior> {
        let Context { facts, config, .. } = self.context;
        let (class, default) = self.size_class(choice)?;
        let bytes = self.bytes;
        // Inside a node, blocks mean nothing.
        let free = facts.nodes > 1 && config.block_bytes == 0;
        let (second, third) = match choice {
            Choice::Rondo(Method {
                algorithm: Algorithm::Circulant,
                ..
            }) if free => {
                let fit = in_more_blocks(choice, bytes).is_some();
                let fewer = has_fewer(choice).then_some(SECOND_RATIO);
                let second = self.second().map(|(_, ratio)| ratio).or(fewer);
                let third = self.third().map(|(_, ratio)| ratio);
                (second, third.or(fit.then_some(SECOND_RATIO)))
            }
            Choice::Rondo(Method {
                algorithm: Algorithm::Postal | Algorithm::Relay,
                ..
            }) if free && bytes >= SHORT_BLOCK => {
                let fit = in_more_blocks(choice, bytes).is_some();
                let second = self.second().map(|(_, ratio)| ratio);
                (second, fit.then_some(SECOND_RATIO))
            }
            Choice::Rondo(_) | Choice::Host(_) => (None, None),
        };
        let slower = Slower {
            host: self.host_us() / self.ways().first.1,
            second,
            third,
        };
        Some((self.context).prior_by_bytes(bytes, (class, default), &slower))
    }
}

fn is_circulant(choice: Choice) -> bool {
    matches!(choice, Choice::Rondo(method) if method.algorithm == Algorithm::Circulant)
}

/// Has it so many blocks that fewer of them are another way?
fn has_fewer(choice: Choice) -> bool {
    is_circulant(choice) && matches!(choice, Choice::Rondo(method) if method.blocks >= 2 * FACTOR)
}
