//! Deciding on exchanges of blocks between all ranks.

#![forbid(unsafe_code)]

use super::{Choice, Context, Form, Problem, SizeClass, Why, model_of};
use crate::algorithm::Algorithm;
use crate::learn::{Candidate, Prior};

/// Vectors of a rank's blocks that an exchange on the circulant graph has room for: the blocks, and copies of those
/// that travel in two rounds each way.
const VECTORS: u64 = 3;

/// An exchange. No measurement shows yet where one of Rondo's is faster than that of every host, so all of them are the
/// host's unless the user says from where on they are not.
#[derive(Clone, Copy, Debug)]
pub struct TotalExchange<'a> {
    /// Where it is made.
    pub context: Context<'a>,
    /// The bytes of a rank's blocks together, where all ranks know them.
    pub bytes: Option<u64>,
}

impl TotalExchange<'_> {
    /// The fastest algorithm by the model. Without bytes, any.
    fn fastest(&self) -> Algorithm {
        let Context { facts, config, .. } = self.context;
        let Some(bytes) = self.bytes else {
            return Algorithm::Linear;
        };
        let model = model_of(facts, Form::Flat, config);
        let [circulant_us, linear_us] = model.exchange_us(facts.p, bytes);
        match bytes / u64::from(facts.p) {
            _ if circulant_us < linear_us && self.has_room() => Algorithm::Circulant,
            block if block <= facts.eager_bytes => Algorithm::Linear,
            _ => Algorithm::Pairwise,
        }
    }

    /// May a rank hold its blocks and those of others that pass through it?
    fn has_room(&self) -> bool {
        let bytes = self.bytes.unwrap_or(0).saturating_mul(VECTORS);
        bytes <= self.context.config.max_tmp_size
    }
}

impl Problem for TotalExchange<'_> {
    fn context(&self) -> Context<'_> {
        self.context
    }

    fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    fn automatic(&self) -> Result<Algorithm, Why> {
        let wish = self.context.wish();
        match (self.bytes, wish.min_bytes) {
            (Some(bytes), Some(least)) if bytes < least => Err(Why::Small),
            (Some(_), Some(_)) => Ok(self.fastest()),
            // So few ranks have gone to the host already.
            (None, _) if wish.min_comm_size.is_some() => Ok(self.fastest()),
            (Some(_) | None, _) if self.context.facts.nodes == 1 => Err(Why::OneNode),
            (Some(_) | None, _) => Err(Why::Slower),
        }
    }

    fn by(&self, algorithm: Algorithm, _block_bytes: u64) -> Choice {
        let (algorithm, why) = match algorithm == Algorithm::Circulant && !self.has_room() {
            true => (Algorithm::Pairwise, Why::Memory),
            false => (algorithm, Why::Auto),
        };
        Choice::Rondo {
            algorithm,
            form: Form::Flat,
            blocks: 1,
            why,
        }
    }

    fn candidate(&self, candidate: Candidate) -> Choice {
        match candidate {
            Candidate::Host => Choice::Host(Why::Measured),
            Candidate::First | Candidate::Second | Candidate::Third => self.by(self.fastest(), 0),
        }
    }

    fn size_class(&self, choice: Choice) -> Option<(SizeClass, Candidate)> {
        // Clocks choose nothing; rules may.
        let default = match choice {
            Choice::Rondo { why: Why::Auto, .. } => Candidate::First,
            Choice::Host(Why::OneNode | Why::Small | Why::Slower) => Candidate::Host,
            Choice::Rondo { .. } | Choice::Host(_) => return None,
        };
        Some((SizeClass::of(self.bytes.unwrap_or(0), true), default))
    }

    fn prior(&self, _choice: Choice) -> Option<Prior> {
        None
    }
}
