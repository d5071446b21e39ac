//! Who might carry a call out faster than whom the rules chose, and what is expected of each before it is tried.

#![forbid(unsafe_code)]

use super::{
    Choice, Facts, MIN_BYTES, NODE_MIN_BYTES, Why, allgather_by, bcast_by, model_of, rooted_by,
};
use crate::config::{Algorithm, Config, Setting};
use crate::learn::{Candidate, Lesson};
use crate::rules::Ruling;
use crate::schedule::Parts;

/// How many times fewer blocks the second candidate for a broadcast has.
const FEWER: u32 = 4;

/// Microseconds in which what Rondo needs on a communicator is made: a private communicator, and segments.
pub const SET_UP_US: u32 = 3000;

/// What a challenger must make better: less may be chance.
const MARGIN: f64 = 0.98;

/// The same where calls of all sizes are taken together, because not every rank knows them.
const MIXED_MARGIN: f64 = 0.85;

/// No short call of Rondo's is expected to take more times as long as the host's.
const BELOW_MAX: f64 = 32.0;

/// How many times as long another candidate may take if nothing is known of it. A program whose calls are few should
/// learn soon whether the host is the better choice after all.
const UNKNOWN_RATIO: f64 = 1.1;

/// The same of the way that the model finds slower.
const SECOND_RATIO: f64 = 1.5;

/// The same of Rondo's gather and scatter where the rules leave them to the host.
const ROOTED_RATIO: f64 = 3.5;

/// Calls that are alike: of about as many bytes, distributed evenly or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Binary digits of the bytes; 0 if nobody knows these.
    digits: u8,
    /// Has no rank much more than the average?
    pub even: bool,
}

impl Kind {
    fn of(bytes: u64, even: bool) -> Kind {
        let digits = (64 - bytes.leading_zeros()) as u8;
        Kind { digits, even }
    }

    fn number(self) -> u8 {
        2 * self.digits + u8::from(!self.even)
    }

    /// The kind with this number.
    pub fn with(number: u8) -> Kind {
        Kind {
            digits: number / 2,
            even: number.is_multiple_of(2),
        }
    }

    /// The least and the most bytes of such calls, up to 2^53.
    pub fn bounds(self) -> (u64, u64) {
        match self.digits {
            0 => (0, 1 << 53),
            digits @ 1..=53 => (1 << (digits - 1), (1 << digits) - 1),
            _ => (1 << 53, 1 << 53),
        }
    }

    /// Bytes of one in the middle.
    pub fn bytes(self) -> u64 {
        let (least, most) = self.bounds();
        if self.digits == 0 {
            1
        } else {
            least.midpoint(most)
        }
    }
}

/// What an all-broadcast of equal parts is that one of the candidates carries out.
pub fn even_allgather_candidate(
    facts: Facts,
    bytes: u64,
    config: &Config,
    candidate: Candidate,
) -> Choice {
    let even = |among: u32| {
        let mut parts = Parts::default();
        let part = Some(bytes.div_ceil(among.into()));
        // So few bytes that their sum is a number.
        let _ = parts.set((0..among).map(|_| part));
        parts
    };
    let (parts, blobs) = (even(facts.p), even(facts.nodes));
    allgather_candidate(facts, &parts, &blobs, config, candidate)
}

impl Facts {
    /// How many times as long as the host Rondo may take below its minimum: the shorter, the longer.
    fn below(&self, bytes: u64) -> f64 {
        let min = match self.nodes {
            1 => NODE_MIN_BYTES,
            _ => MIN_BYTES,
        };
        (min as f64 / bytes.max(1) as f64).clamp(1.0, BELOW_MAX)
    }
}

/// What a broadcast is that one of the candidates carries out.
pub fn bcast_candidate(facts: Facts, bytes: u64, config: &Config, candidate: Candidate) -> Choice {
    let form = facts.form(bytes, config);
    let algorithm = facts.broadcast(form, bytes, config);
    let first = bcast_by(facts, form, (algorithm, config.block_bytes), bytes, config);
    match (candidate, first) {
        (Candidate::Host, _) => Choice::Host(Why::Measured),
        (
            Candidate::Second,
            Choice::Rondo {
                algorithm, blocks, ..
            },
        ) => Choice::Rondo {
            algorithm,
            form,
            blocks: blocks.div_ceil(FEWER),
            why: Why::Auto,
        },
        _ => first,
    }
}

/// What a broadcast is by a file of rules.
pub fn bcast_ruled(facts: Facts, bytes: u64, config: &Config, ruling: Ruling) -> Choice {
    match ruling.setting {
        Setting::Use(algorithm) => {
            let form = facts.form(bytes, config);
            bcast_by(facts, form, (algorithm, ruling.block_bytes), bytes, config)
        }
        _ => Choice::Host(Why::Rule),
    }
}

/// The kind of a broadcast, and who has it by the rules; `None` if there is nothing to learn.
#[inline]
pub fn bcast_kind(bytes: u64, config: &Config, choice: Choice) -> Option<(u8, Candidate)> {
    let default = match choice {
        Choice::Rondo { why: Why::Auto, .. } => Candidate::First,
        Choice::Host(Why::Small) if config.bcast_min_bytes.is_none() => Candidate::Host,
        _ => return None,
    };
    Some((Kind::of(bytes, true).number(), default))
}

/// What may be learnt about broadcasts like this one, for which the rules made this choice.
pub fn bcast_lesson(facts: Facts, bytes: u64, config: &Config, choice: Choice) -> Option<Lesson> {
    let (kind, default) = bcast_kind(bytes, config, choice)?;
    // Inside a node, blocks mean nothing.
    let several = matches!(choice, Choice::Rondo { algorithm: Algorithm::Circulant, blocks, .. } if blocks >= 2 * FEWER)
        && facts.nodes > 1;
    Some(Lesson {
        kind,
        default,
        expected: [
            Some(UNKNOWN_RATIO),
            Some(facts.below(bytes)),
            (several && config.block_bytes == 0).then_some(SECOND_RATIO),
        ],
        waits: facts.nodes == 1,
        margin: MARGIN,
    })
}

/// What an all-broadcast is that one of the candidates carries out.
pub fn allgather_candidate(
    facts: Facts,
    parts: &Parts,
    blobs: &Parts,
    config: &Config,
    candidate: Candidate,
) -> Choice {
    let bytes = parts.total();
    let (form, parts) = facts.exchange(parts, blobs, config);
    let model = model_of(facts, form, config);
    let first = model.all_broadcast(parts, facts.eager_bytes);
    let algorithm = match (candidate, first) {
        (Candidate::Host, _) => return Choice::Host(Why::Measured),
        (Candidate::Second, Algorithm::Bruck) => Algorithm::Circulant,
        (Candidate::Second, _) => Algorithm::Bruck,
        (Candidate::First, first) => first,
    };
    allgather_by(
        facts,
        form,
        (algorithm, config.block_bytes),
        parts,
        bytes,
        config,
    )
}

/// What an all-broadcast is by a file of rules.
pub fn allgather_ruled(
    facts: Facts,
    parts: &Parts,
    blobs: &Parts,
    config: &Config,
    ruling: Ruling,
) -> Choice {
    let bytes = parts.total();
    let (form, parts) = facts.exchange(parts, blobs, config);
    match ruling.setting {
        Setting::Use(algorithm) => {
            let how = (algorithm, ruling.block_bytes);
            allgather_by(facts, form, how, parts, bytes, config)
        }
        _ => Choice::Host(Why::Rule),
    }
}

/// The kind of an all-broadcast, and who has it by the rules; `None` if there is nothing to learn.
#[inline]
pub fn allgather_kind(
    facts: Facts,
    parts: &Parts,
    config: &Config,
    choice: Choice,
) -> Option<(u8, Candidate)> {
    let default = match choice {
        Choice::Rondo { why: Why::Auto, .. } => Candidate::First,
        Choice::Host(Why::Small) if config.allgatherv_min_bytes.is_none() => Candidate::Host,
        _ => return None,
    };
    let even = parts.largest() <= 2 * (parts.total() / u64::from(facts.p) + 1);
    Some((Kind::of(parts.total(), even).number(), default))
}

/// What may be learnt about all-broadcasts like this one, for which the rules made this choice.
pub fn allgather_lesson(
    facts: Facts,
    parts: &Parts,
    config: &Config,
    choice: Choice,
) -> Option<Lesson> {
    let (kind, default) = allgather_kind(facts, parts, config, choice)?;
    // On one node there is a single way, and for one block there is only Bruck's.
    let several = matches!(choice, Choice::Rondo { blocks, .. } if blocks > 1) && facts.nodes > 1;
    Some(Lesson {
        kind,
        default,
        expected: [
            Some(UNKNOWN_RATIO),
            Some(facts.below(parts.total())),
            several.then_some(SECOND_RATIO),
        ],
        waits: facts.nodes == 1,
        margin: MARGIN,
    })
}

/// What a gather or scatter is that one of the candidates carries out.
pub fn rooted_candidate(
    facts: Facts,
    block: Option<u64>,
    config: &Config,
    candidate: Candidate,
) -> Choice {
    match candidate {
        Candidate::Host => Choice::Host(Why::Measured),
        _ => rooted_by(facts, block, Algorithm::Hybrid, config),
    }
}

/// What a gather or scatter is by a file of rules.
pub fn rooted_ruled(facts: Facts, block: Option<u64>, config: &Config, ruling: Ruling) -> Choice {
    match ruling.setting {
        Setting::Use(algorithm) => rooted_by(facts, block, algorithm, config),
        _ => Choice::Host(Why::Rule),
    }
}

/// The kind of a gather or scatter, and who has it by the rules; `None` if there is nothing to learn.
#[inline]
pub fn rooted_kind(
    block: Option<u64>,
    min_comm_size: Option<u32>,
    choice: Choice,
) -> Option<(u8, Candidate)> {
    let default = match choice {
        Choice::Rondo { why: Why::Auto, .. } => Candidate::First,
        Choice::Host(Why::SmallComm) if min_comm_size.is_none() => Candidate::Host,
        Choice::Host(Why::OneNode) => Candidate::Host,
        _ => return None,
    };
    Some((Kind::of(block.unwrap_or(0), true).number(), default))
}

/// What may be learnt about gathers or scatters like this one, for which the rules made this choice.
pub fn rooted_lesson(
    block: Option<u64>,
    min_comm_size: Option<u32>,
    choice: Choice,
) -> Option<Lesson> {
    let (kind, default) = rooted_kind(block, min_comm_size, choice)?;
    Some(Lesson {
        kind,
        default,
        expected: [Some(UNKNOWN_RATIO), Some(ROOTED_RATIO), None],
        waits: false,
        margin: if block.is_some() {
            MARGIN
        } else {
            MIXED_MARGIN
        },
    })
}
