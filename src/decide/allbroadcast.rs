//! Deciding on all-broadcasts.

#![forbid(unsafe_code)]

use super::problem::{SECOND_RATIO, Slower, in_more_blocks};
use super::{Choice, Context, Form, Method, Problem, SizeClass, Why, model_of};
use crate::algorithm::{Algorithm, AllBroadcastAlgorithm};
use crate::learn::{Candidate, Prior};
use crate::model;
use crate::schedule::Parts;

/// An all-broadcast.
#[derive(Clone, Copy, Debug)]
pub struct AllBroadcast<'a> {
    /// Where it is made.
    pub context: Context<'a>,
    /// The parts of the ranks, which follow from the receive counts times the size of the receive type and are equal on
    /// all ranks.
    pub parts: &'a Parts,
    /// The parts of the nodes. Not looked at where every node has one rank.
    pub node_parts: &'a Parts,
}

impl<'a> AllBroadcast<'a> {
    fn total(&self) -> u64 {
        self.parts.total()
    }

    /// Between whom it should run, and the parts that travel.
    fn exchange(&self) -> (Form, &'a Parts) {
        let Context { facts, config, .. } = self.context;
        facts.exchange(self.parts, self.node_parts, config)
    }

    /// Microseconds by the model: of bruck and of circulant, in the user's blocks if their size is given.
    fn times_us(&self) -> (f64, f64) {
        let Context { facts, config, .. } = self.context;
        let (form, parts) = self.exchange();
        let radix = facts.radix(form, self.total(), config);
        let model = model_of(facts, form, config);
        match config.block_bytes {
            0 => model.all_broadcast_us(parts, facts.eager_bytes, radix),
            size => {
                let blocks = |bytes| model::blocks_of(bytes, size);
                let [longest, all] = [parts.largest(), self.total()].map(blocks);
                (
                    model.whole_parts_in_us(parts, radix, longest),
                    model.all_broadcast_in_us(parts, all),
                )
            }
        }
    }

    /// The algorithm that the model finds fastest.
    fn fastest(&self) -> Algorithm {
        let (_, parts) = self.exchange();
        if parts.largest() == parts.total() / u64::from(parts.p()) {
            return Algorithm::Bruck; // equal parts: no byte travels twice, in the fewest rounds
        }
        let (bruck_us, circulant_us) = self.times_us();
        match bruck_us <= circulant_us {
            true => Algorithm::Bruck,
            false => Algorithm::Circulant,
        }
    }
}

impl Problem for AllBroadcast<'_> {
    fn context(&self) -> Context<'_> {
        self.context
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.total())
    }

    fn automatic(&self) -> Result<Algorithm, Why> {
        let (form, _) = self.exchange();
        (self.context.facts).worthwhile(form, self.total(), &self.context)?;
        Ok(self.fastest())
    }

    fn by(&self, algorithm: Algorithm, block_bytes: u64) -> Choice {
        let Context { facts, config, .. } = self.context;
        let ((form, parts), algorithm, why) = match facts.asked_lanes(algorithm, config) {
            Ok(Some(form)) => ((form, self.node_parts), algorithm, Why::Auto),
            Ok(None) => (self.exchange(), algorithm, Why::Auto),
            Err(why) => (self.exchange(), Algorithm::Circulant, why),
        };
        let blocks = match algorithm.of_all_broadcast() {
            AllBroadcastAlgorithm::Circulant | AllBroadcastAlgorithm::FullLane
                if block_bytes > 0 =>
            {
                model::blocks_of(self.total(), block_bytes)
            }
            AllBroadcastAlgorithm::Circulant | AllBroadcastAlgorithm::FullLane => {
                let contributors = parts.contributors().len() as u64;
                let (model, reach) = (model_of(facts, form, config), facts.reach(form, config));
                let eager_bytes = model::eager_round(parts, facts.eager_bytes);
                model.blocks(reach, self.total(), eager_bytes, contributors)
            }
            AllBroadcastAlgorithm::Ring if block_bytes == 0 => {
                model_of(facts, form, config).ring_blocks(parts, facts.eager_bytes)
            }
            AllBroadcastAlgorithm::Bruck
            | AllBroadcastAlgorithm::Ring
            | AllBroadcastAlgorithm::Doubling
            | AllBroadcastAlgorithm::Neighbor
            | AllBroadcastAlgorithm::Mesh => {
                let size = match block_bytes {
                    0 => facts.eager_bytes,
                    size => size,
                };
                model::blocks_of(parts.largest(), size)
            }
        };
        Choice::Rondo(Method {
            algorithm,
            form,
            // So that the blocks of all parts can be numbered.
            blocks: blocks.min(u32::MAX / facts.p),
            why,
        })
    }

    fn first(&self) -> Choice {
        self.by(self.fastest(), self.context.config.block_bytes)
    }

    /// The other one of bruck and circulant. Where the parts are about equal, that is the ring and not the circulant
    /// pipeline: no byte travels twice, and each rank receives from one other rank only.
    fn second(&self) -> Option<(Algorithm, f64)> {
        let Context { facts, config, .. } = self.context;
        let (form, parts) = self.exchange();
        let (bruck_us, circulant_us) = self.times_us();
        if self.fastest() != Algorithm::Bruck {
            return Some((Algorithm::Bruck, bruck_us / circulant_us));
        }
        let equal = parts.largest() <= parts.total() / u64::from(parts.p()) * 5 / 4;
        Some(match equal {
            true => {
                let model = model_of(facts, form, config);
                let radix = facts.radix(form, self.total(), config);
                // Both in whole parts: pieces of them make the ring's steps longer as well.
                let (bruck_us, _) = model.all_broadcast_us(parts, facts.eager_bytes, radix);
                let ring_us = model.ring_us(parts.p(), parts.largest());
                (Algorithm::Ring, ring_us / bruck_us)
            }
            false => (Algorithm::Circulant, circulant_us / bruck_us),
        })
    }

    /// Circulant in more blocks, where it is the first.
    fn third_way(&self) -> Option<Choice> {
        let Context { facts, config, .. } = self.context;
        let (_, parts) = self.exchange();
        let more = in_more_blocks(self.first(), parts.largest())?;
        let fits = more.with_blocks(|blocks| blocks.min(u32::MAX / facts.p)) == more;
        (config.block_bytes == 0 && fits).then_some(more)
    }

    /// In the blocks that it has, which need not be as many as the model finds best.
    fn predicted_us(&self) -> Option<f64> {
        let Context { facts, config, .. } = self.context;
        let (form, parts) = self.exchange();
        // Messages inside nodes are not in these times.
        let whole = form == Form::Flat || config.shm;
        if facts.nodes == 1 || !facts.is_known(config) || !whole {
            return None;
        }
        let Choice::Rondo(Method {
            algorithm, blocks, ..
        }) = self.first()
        else {
            return None;
        };
        let (model, inside_us) = facts.timed(form, config);
        let between_us = match algorithm.of_all_broadcast() {
            AllBroadcastAlgorithm::Bruck
            | AllBroadcastAlgorithm::Ring
            | AllBroadcastAlgorithm::Doubling
            | AllBroadcastAlgorithm::Neighbor
            | AllBroadcastAlgorithm::Mesh => {
                let radix = facts.radix(form, self.total(), config);
                model.whole_parts_in_us(parts, radix, blocks)
            }
            AllBroadcastAlgorithm::Circulant | AllBroadcastAlgorithm::FullLane => {
                model.all_broadcast_in_us(parts, blocks)
            }
        };
        Some(between_us + inside_us)
    }

    #[inline]
    fn size_class(&self, choice: Choice) -> Option<(SizeClass, Candidate)> {
        let default = self.context.default_by_bytes(choice)?;
        let average = self.total() / u64::from(self.context.facts.p);
        let even = self.parts.largest() <= 2 * (average + 1);
        Some((SizeClass::of(self.total(), even), default))
    }

    fn prior(&self, choice: Choice) -> Option<Prior> {
        let Context { facts, .. } = self.context;
        let (class, default) = self.size_class(choice)?;
        // On one node there is a single way, and for one block there is only Bruck's.
        let several =
            matches!(choice, Choice::Rondo(method) if method.blocks > 1) && facts.nodes > 1;
        let second = several.then(|| self.second()).flatten();
        // The usual algorithms of hosts have as many rounds.
        let slower = Slower {
            host: 1.0,
            second: second.map(|(_, ratio)| ratio),
            third: (several && self.third_way().is_some()).then_some(SECOND_RATIO),
        };
        Some((self.context).prior_by_bytes(self.total(), (class, default), &slower))
    }
}
