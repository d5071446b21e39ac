//! Deciding on barriers.

#![forbid(unsafe_code)]

use super::problem::is_doubted;
use super::{Choice, Context, Form, Method, Problem, Why};
use crate::algorithm::Algorithm;
use crate::config::Hierarchy;

/// A barrier.
#[derive(Clone, Copy, Debug)]
pub struct Barrier<'a> {
    /// Where it is made.
    pub context: Context<'a>,
}

impl Problem for Barrier<'_> {
    fn context(&self) -> Context<'_> {
        self.context
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn automatic(&self) -> Result<Algorithm, Why> {
        let Context { facts, config, .. } = self.context;
        match facts.nodes {
            1 => Err(Why::OneNode),
            _ if facts.is_far(config) => Ok(Algorithm::Dissemination),
            _ => Err(Why::Slower),
        }
    }

    fn by(&self, algorithm: Algorithm, _block_bytes: u64) -> Choice {
        let Context { facts, config, .. } = self.context;
        let shares = config.shm && config.hierarchy != Hierarchy::Flat && facts.widest > 1;
        Choice::Rondo(Method {
            algorithm,
            form: match shares {
                true => Form::Nodes { lanes: 1 },
                false => Form::Flat,
            },
            blocks: 1,
            why: Why::Auto,
        })
    }

    fn first(&self) -> Choice {
        self.by(Algorithm::Dissemination, 0)
    }

    /// A network may have a barrier of its own, which no messages can match.
    fn learns(&self, choice: Choice) -> bool {
        is_doubted(choice)
    }
}
