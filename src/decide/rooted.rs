//! Deciding on gathers and scatters.

#![forbid(unsafe_code)]

use super::problem::{MARGIN, UNKNOWN_RATIO};
use super::{Choice, Context, Form, Method, Problem, SizeClass, Why};
use crate::algorithm::{Algorithm, RootedAlgorithm};
use crate::collective::{Collective, Family};
use crate::config::Config;
use crate::learn::{Candidate, Prior};
use crate::model::{ASKED_AT_A_TIME, Reach};

/// How many times as long as the host Rondo may take where the built-in choice leaves the call to the host.
const RATIO: f64 = 3.5;

/// What a challenger must make better where calls of all sizes are taken together, because not every rank knows them.
const MIXED_MARGIN: f64 = 0.85;

/// By how much the host must be slower by the model for Rondo to take calls of fewer ranks than usual.
const GAIN: f64 = 1.5;

/// A gather or scatter.
#[derive(Clone, Copy, Debug)]
pub struct Rooted<'a> {
    /// Where it is made.
    pub context: Context<'a>,
    /// The bytes of every rank's block, where all ranks know them.
    pub block: Option<u64>,
}

impl Rooted<'_> {
    /// How many times as long as Rondo the host takes by the model, where the network is known. If not all ranks know
    /// how long the blocks are, the root of the host has a message with each of them, however short they are.
    fn gain(&self) -> Option<f64> {
        let Context {
            collective,
            facts,
            config,
        } = self.context;
        if facts.nodes == 1 || !facts.is_known(config) {
            return None;
        }
        let long = long_block(self.context, RootedAlgorithm::Hybrid);
        if self.block.is_some_and(|block| block >= long) {
            return Some(1.0); // straight, as by the host
        }
        let (between, _) = facts.models(config);
        let tree_us = |ranks| between.binomial_us(Reach::among(ranks).rounds, 0);
        let form = facts.form(self.block.unwrap_or(0), config);
        let own_us = match form {
            Form::Flat => tree_us(facts.p),
            Form::Nodes { .. } => tree_us(facts.nodes) + facts.inside_us(config),
        };
        // The root may be on the node that has most ranks.
        let far = facts.p - facts.widest + 1;
        let straight_us = between.one_by_one_us(far, is_gather(collective));
        Some(match self.block {
            Some(_) => straight_us.min(tree_us(facts.p)) / own_us,
            None => straight_us / own_us,
        })
    }
}

impl Problem for Rooted<'_> {
    fn context(&self) -> Context<'_> {
        self.context
    }

    /// Fewer where the network decides what short messages take, and the tree has much fewer of them than the root
    /// would have: between busy processors, those in a row take longer than the model says.
    fn least_ranks(&self) -> u32 {
        let Context { facts, config, .. } = self.context;
        let usual = Family::Rooted.least_ranks();
        let fewer = facts.p < usual && facts.is_far(config);
        match fewer && self.gain().is_some_and(|gain| gain >= GAIN) {
            true => facts.p,
            false => usual,
        }
    }

    fn bytes(&self) -> Option<u64> {
        self.block
    }

    fn automatic(&self) -> Result<Algorithm, Why> {
        if self.context.facts.nodes == 1 {
            return Err(Why::OneNode);
        }
        if self.gain().is_some_and(|gain| gain < 1.0) {
            return Err(Why::Slower);
        }
        Ok(Algorithm::Hybrid)
    }

    fn by(&self, algorithm: Algorithm, _block_bytes: u64) -> Choice {
        let Context { facts, config, .. } = self.context;
        Choice::Rondo(Method {
            algorithm,
            form: match algorithm.of_rooted() {
                RootedAlgorithm::Hybrid | RootedAlgorithm::Binomial => {
                    match facts.form(self.block.unwrap_or(0), config) {
                        Form::Flat => Form::Flat,
                        // Lanes would have more packets of short blocks; long ones are sent by every rank anyway.
                        Form::Nodes { .. } => Form::Nodes { lanes: 1 },
                    }
                }
                RootedAlgorithm::Adaptive | RootedAlgorithm::Linear => Form::Flat,
            },
            blocks: 1,
            why: Why::Auto,
        })
    }

    fn first(&self) -> Choice {
        self.by(Algorithm::Hybrid, 0)
    }

    #[inline]
    fn size_class(&self, choice: Choice) -> Option<(SizeClass, Candidate)> {
        let default = match choice {
            Choice::Rondo(Method { why: Why::Auto, .. }) => Candidate::First,
            Choice::Host(Why::SmallComm | Why::OneNode | Why::Slower) => Candidate::Host,
            Choice::Rondo(_) | Choice::Host(_) => return None,
        };
        Some((SizeClass::of(self.block.unwrap_or(0), true), default))
    }

    fn prior(&self, choice: Choice) -> Option<Prior> {
        let (class, default) = self.size_class(choice)?;
        Some(Prior {
            class: class.number(),
            default,
            expected: [Some(UNKNOWN_RATIO), Some(RATIO), None, None],
            margin: match self.block {
                Some(_) => MARGIN,
                None => MIXED_MARGIN,
            },
        })
    }
}

fn is_gather(collective: Collective) -> bool {
    matches!(collective, Collective::Gather | Collective::Gatherv)
}

/// Long blocks in flight at the root of a gather or scatter.
pub fn asked_at_a_time(config: &Config) -> u32 {
    match config.window {
        0 => ASKED_AT_A_TIME,
        window => window,
    }
}

/// From how many bytes on a block goes straight from or to the root.
///
/// With p ranks, the blocks that a rank passes on are less than p, and it may hold each twice, as it came
/// and as it goes. So they take up no more than `RONDO_MAX_TMP_SIZE` if none is longer than a
/// 2p-th of it.
pub fn long_block(context: Context, algorithm: RootedAlgorithm) -> u64 {
    let Context {
        collective,
        facts,
        config,
    } = context;
    let asked = is_gather(collective).then_some(asked_at_a_time(config));
    let wanted = match algorithm {
        RootedAlgorithm::Linear => 1,
        RootedAlgorithm::Hybrid => config
            .short_msg
            .unwrap_or_else(|| facts.models(config).0.long_block(facts.p, asked)),
        RootedAlgorithm::Adaptive | RootedAlgorithm::Binomial => u64::MAX,
    };
    wanted.min(config.max_tmp_size / (2 * u64::from(facts.p)) + 1)
}
