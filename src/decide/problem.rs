//! What is asked about a call: who carries it out by the built-in choice, who might be faster, and what is expected of
//! each before it is tried.

#![forbid(unsafe_code)]

use super::{
    AllBroadcast, Barrier, Broadcast, Choice, Facts, Method, OperatorProperties, Reduction, Rooted,
    SizeClass, TotalExchange, Why,
};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, Family};
use crate::config::{Config, Setting, Wish};
use crate::learn::{Candidate, Prior};
use crate::model::BLOCKS_MAX;
use crate::rules::Ruling;
use crate::schedule::Parts;

/// What a challenger must make better: less may be chance.
pub(super) const MARGIN: f64 = 0.98;

/// How many times as long another candidate may take if nothing is known of it. A program whose calls are few should
/// learn soon whether the host is the better choice after all.
pub(super) const UNKNOWN_RATIO: f64 = 1.1;

/// The same of the way that the model finds slower.
pub(super) const SECOND_RATIO: f64 = 1.5;

/// How many times fewer or more blocks another candidate has.
pub(super) const FACTOR: u32 = 4;

/// Blocks of a candidate with more of them are no shorter.
pub(super) const SHORT_BLOCK: u64 = 2 << 10;

/// Circulant or relay in more blocks, of a message of so many bytes, if it is the choice and they are not too short.
pub(super) fn in_more_blocks(choice: Choice, bytes: u64) -> Option<Choice> {
    let Choice::Rondo(Method {
        algorithm: Algorithm::Circulant | Algorithm::Relay,
        blocks,
        ..
    }) = choice
    else {
        return None;
    };
    let more = blocks.saturating_mul(FACTOR);
    let fit = more <= BLOCKS_MAX && bytes / u64::from(more.max(1)) >= SHORT_BLOCK;
    fit.then(|| choice.with_blocks(|_| more))
}

/// Where a call is made: the collective, the communicator, and the configuration of the communicator.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The collective.
    pub collective: Collective,
    /// What all ranks know of the communicator.
    pub facts: Facts,
    /// The configuration that all ranks share.
    pub config: &'a Config,
}

impl Context<'_> {
    /// What the user says of the collective.
    pub(super) fn wish(&self) -> Wish {
        self.config.wish(self.collective)
    }

    /// Who has the calls by this choice, the built-in one, where it is a minimum of bytes that may be measured to be
    /// another one. `None` if there is nothing to learn.
    #[inline]
    pub(super) fn default_by_bytes(&self, choice: Choice) -> Option<Candidate> {
        match choice {
            Choice::Rondo(Method { why: Why::Auto, .. }) => Some(Candidate::First),
            Choice::Host(Why::Small) if self.wish().min_bytes.is_none() => Some(Candidate::Host),
            Choice::Rondo(_) | Choice::Host(_) => None,
        }
    }
}

/// Who has the calls by this choice, the built-in one, where a file of rules may say otherwise, whatever the bytes.
#[inline]
pub(super) fn default_of(choice: Choice) -> Option<Candidate> {
    match choice {
        Choice::Rondo(Method { why: Why::Auto, .. }) => Some(Candidate::First),
        Choice::Host(Why::OneNode | Why::Small | Why::Slower) => Some(Candidate::Host),
        Choice::Rondo(_) | Choice::Host(_) => None,
    }
}

/// Is it Rondo's by the built-in choice, so that one only has to find out whether the host is faster after all?
#[inline]
pub(super) fn is_doubted(choice: Choice) -> bool {
    matches!(choice, Choice::Rondo(Method { why: Why::Auto, .. }))
}

/// What is expected of the host where such calls are Rondo's: a program in which it is the better choice should not
/// have to wait. And of a second way of Rondo's, as the model says.
pub(super) fn doubt(class: SizeClass, second: Option<(Algorithm, f64)>) -> Prior {
    let second = second.map(|(_, ratio)| by_model(ratio));
    Prior {
        class: class.number(),
        default: Candidate::First,
        expected: [Some(UNKNOWN_RATIO), None, second, None],
        margin: MARGIN,
    }
}

/// How many times as long as Rondo's first way the others take by the model.
pub(super) struct Slower {
    /// The host, if it has the usual algorithm.
    pub host: f64,
    /// A second way of Rondo's, if there is one.
    pub second: Option<f64>,
    /// A third one.
    pub third: Option<f64>,
}

/// What the model says of the host counts up to here: the host may have a better algorithm.
const HOST_RATIO_MAX: f64 = 2.0;

/// What the model says of Rondo where the host begins counts up to here.
const MODEL_BELOW_MAX: f64 = 4.0;

/// What the model says of the second way counts up to here: the model may be wrong.
const SECOND_RATIO_MAX: f64 = 4.0;

/// How many times as long as the first way the second one may take, where the model says that.
fn by_model(ratio: f64) -> f64 {
    ratio.clamp(UNKNOWN_RATIO, SECOND_RATIO_MAX)
}

impl Context<'_> {
    /// What is expected of calls of `bytes` bytes whose size class and default these are, by the model where the
    /// network is known.
    pub(super) fn prior_by_bytes(
        &self,
        bytes: u64,
        (class, default): (SizeClass, Candidate),
        slower: &Slower,
    ) -> Prior {
        let known = self.facts.is_known(self.config);
        let other = |slower: Option<f64>| {
            slower.map(|ratio| match known {
                true => by_model(ratio),
                false => SECOND_RATIO,
            })
        };
        Prior {
            class: class.number(),
            default,
            expected: [
                Some(match known {
                    true => slower.host.clamp(UNKNOWN_RATIO, HOST_RATIO_MAX),
                    false => UNKNOWN_RATIO,
                }),
                Some(match known {
                    true => slower.host.recip().clamp(UNKNOWN_RATIO, MODEL_BELOW_MAX),
                    false => self.facts.below(bytes),
                }),
                other(slower.second),
                other(slower.third),
            ],
            margin: MARGIN,
        }
    }
}

/// A call of a family of collectives, as all its ranks know it.
pub trait Problem {
    /// Where it is made.
    fn context(&self) -> Context<'_>;

    /// The bytes of the message, or of each rank's block, if all ranks know them.
    fn bytes(&self) -> Option<u64>;

    /// The fewest ranks whose calls automatic choice takes.
    fn least_ranks(&self) -> u32 {
        self.context().collective.family().least_ranks()
    }

    /// The algorithm by the built-in choice where the user leaves the choice to Rondo, or why the host has the call.
    fn automatic(&self) -> Result<Algorithm, Why>;

    /// The call as this algorithm carries it out, in blocks of this size; 0: as the model says.
    fn by(&self, algorithm: Algorithm, block_bytes: u64) -> Choice;

    /// The call as Rondo carries it out, if it is to be Rondo's.
    fn first(&self) -> Choice;

    /// Another way of Rondo's for the call, and how many times as long as the first it takes by the model.
    fn second(&self) -> Option<(Algorithm, f64)> {
        None
    }

    /// A third way of Rondo's for the call.
    fn third_way(&self) -> Option<Choice> {
        None
    }

    /// The call as a candidate carries it out.
    fn candidate(&self, candidate: Candidate) -> Choice {
        match candidate {
            Candidate::Host => Choice::Host(Why::Measured),
            Candidate::Second => match self.second() {
                Some((algorithm, _)) => self.by(algorithm, self.context().config.block_bytes),
                None => self.first(),
            },
            Candidate::Third => self.third_way().unwrap_or_else(|| self.first()),
            Candidate::First => self.first(),
        }
    }

    /// The size class, and who has its calls by this choice, the built-in one. `None` if there is nothing to learn.
    #[inline]
    fn size_class(&self, choice: Choice) -> Option<(SizeClass, Candidate)> {
        let class = SizeClass::of(self.bytes().unwrap_or(0), true);
        default_of(choice).map(|default| (class, default))
    }

    /// May a clock say who has the call, where this is the built-in choice?
    #[inline]
    fn learns(&self, _choice: Choice) -> bool {
        true
    }

    /// What is expected of each candidate before any is tried, if this is the built-in choice.
    fn prior(&self, choice: Choice) -> Option<Prior> {
        let (class, _) = self.size_class(choice)?;
        Some(doubt(class, self.second()))
    }

    /// Microseconds of the first candidate by the model, where that rests on what is known of the network.
    fn predicted_us(&self) -> Option<f64> {
        None
    }

    /// Decides by the built-in choice, unless an option names who has the call.
    fn choose(&self) -> Choice {
        choose(self)
    }

    /// Decides by a file of rules.
    fn ruled(&self, ruling: Ruling) -> Choice {
        ruled(self, ruling)
    }
}

/// The choice for an algorithm that was asked for in this way. Where another one takes its place, the reason of that
/// stays.
fn as_asked(choice: Choice, asked: Why) -> Choice {
    match choice {
        Choice::Rondo(Method {
            why:
                Why::Order | Why::Inexact | Why::Repeats | Why::Memory | Why::NoLanes | Why::Promise,
            ..
        }) => choice,
        Choice::Rondo(_) | Choice::Host(_) => choice.because(asked),
    }
}

/// Decides a call by a rule, by what all families have in common.
pub(super) fn ruled<P: Problem + ?Sized>(call: &P, ruling: Ruling) -> Choice {
    match ruling.setting {
        Setting::Use(algorithm) => as_asked(call.by(algorithm, ruling.block_bytes), Why::Rule),
        Setting::Host | Setting::Auto => Choice::Host(Why::Rule),
    }
}

/// Why the host has a call among `p` ranks, of `bytes` bytes if all ranks know them, whatever the network is.
#[inline]
pub fn hosts_anyway(config: &Config, p: u32, bytes: Option<u64>) -> Option<Why> {
    match bytes {
        _ if !config.enabled => Some(Why::Off),
        _ if p < 3 => Some(Why::FewRanks),
        Some(0) => Some(Why::Empty),
        Some(_) | None => None,
    }
}

/// Decides a call by what all families have in common.
pub(super) fn choose<P: Problem + ?Sized>(call: &P) -> Choice {
    let Context { facts, config, .. } = call.context();
    let wish = call.context().wish();
    if let Some(why) = hosts_anyway(config, facts.p, call.bytes()) {
        return Choice::Host(why);
    }
    match wish.setting {
        Setting::Host => Choice::Host(Why::Configured),
        Setting::Use(algorithm) => {
            as_asked(call.by(algorithm, config.block_bytes), Why::Configured)
        }
        Setting::Auto if facts.p < call.least_ranks() => Choice::Host(Why::SmallComm),
        Setting::Auto => match call.automatic() {
            Ok(algorithm) => call.by(algorithm, config.block_bytes),
            Err(why) => Choice::Host(why),
        },
    }
}

/// What a candidate does with a typical call of a size class: its parts, if there are any, are equal.
pub fn typical(context: Context, class: SizeClass, candidate: Candidate) -> Choice {
    let bytes = class.bytes();
    match context.collective.family() {
        Family::Broadcast => Broadcast { context, bytes }.candidate(candidate),
        Family::AllBroadcast => {
            let even = |among: u32| {
                let mut parts = Parts::default();
                let part = Some(bytes.div_ceil(among.into()));
                // So few bytes that their sum is a number.
                let _ = parts.set((0..among).map(|_| part));
                parts
            };
            let call = AllBroadcast {
                context,
                parts: &even(context.facts.p),
                node_parts: &even(context.facts.nodes),
            };
            call.candidate(candidate)
        }
        Family::Rooted => {
            let block = Some(bytes);
            Rooted { context, block }.candidate(candidate)
        }
        Family::AllReduction | Family::Reduction | Family::ScatteredReduction | Family::Scan => {
            let call = Reduction {
                context,
                bytes,
                unit: 8,
                longest: bytes.div_ceil(context.facts.p.into()),
                fullest: bytes,
                operator: match class.even {
                    true => OperatorProperties::ANY,
                    false => OperatorProperties::INEXACT,
                },
            };
            call.candidate(candidate)
        }
        Family::Barrier => Barrier { context }.candidate(candidate),
        Family::TotalExchange | Family::IrregularExchange => {
            let bytes = (context.collective.family().knows_bytes()).then_some(bytes);
            TotalExchange { context, bytes }.candidate(candidate)
        }
    }
}
