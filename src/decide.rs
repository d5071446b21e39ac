//! Who carries a call out, and how. Pure: same facts, same answer, on every rank. That is the whole
//! safety argument, so nothing that ranks may see differently may enter here.

#![forbid(unsafe_code)]

mod allbroadcast;
mod broadcast;
mod choice;
mod problem;
mod rooted;
mod size_class;

pub use allbroadcast::AllBroadcast;
pub use broadcast::Broadcast;
pub use choice::{Choice, Form, Why};
pub use problem::{Context, Problem, SET_UP_US, typical};
pub use rooted::{Rooted, long_block};
pub use size_class::SizeClass;

use crate::algorithm::Algorithm;
use crate::collective::{LEAST_BYTES, NODE_LEAST_BYTES};
use crate::config::{Config, Hierarchy};
use crate::model::Model;
use crate::schedule::Parts;

/// No short call of Rondo's is expected to take more times as long as the host's.
const BELOW_MAX: f64 = 32.0;

/// What every rank of a communicator knows about it.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Number of ranks.
    pub p: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// Ranks of the node that has most, and of the one that has least.
    pub widest: u32,
    /// See `widest`.
    pub narrowest: u32,
    /// Messages up to this length are fast on this host; above it, sooner or later, comes the
    /// rendezvous protocol with its round trips.
    pub eager_bytes: u64,
}

impl Facts {
    /// Are so many bytes enough for Rondo to be faster? `min` is what the user says of it, `None`: as
    /// measured.
    fn worthwhile(&self, form: Form, bytes: u64, min: Option<u64>) -> Result<(), Why> {
        let measured = match (self.nodes, form) {
            (1, Form::Flat) if min.is_none() => return Err(Why::OneNode),
            (1, Form::Nodes { .. }) => NODE_LEAST_BYTES,
            _ => LEAST_BYTES,
        };
        if bytes < min.unwrap_or(measured) {
            return Err(Why::Small);
        }
        Ok(())
    }

    /// Between whom an algorithm for `bytes` bytes should run.
    fn form(&self, bytes: u64, config: &Config) -> Form {
        // On one node there are no leaders, only the segment.
        let pointless = self.widest == 1 || (self.nodes == 1 && !config.shm);
        if pointless {
            return Form::Flat;
        }
        match config.hierarchy {
            Hierarchy::Flat => Form::Flat,
            Hierarchy::Lanes if self.nodes > 1 => Form::Nodes {
                lanes: config.lanes.clamp(1, self.narrowest),
            },
            Hierarchy::Auto if self.nodes > 1 && self.flat_is_faster(bytes, config) => Form::Flat,
            Hierarchy::Auto | Hierarchy::Leader | Hierarchy::Lanes => Form::Nodes { lanes: 1 },
        }
    }

    /// Between whom an all-broadcast of `parts` should run, and the parts that travel: of ranks, or those of nodes.
    fn exchange<'a>(
        &self,
        parts: &'a Parts,
        node_parts: &'a Parts,
        config: &Config,
    ) -> (Form, &'a Parts) {
        let form = self.form(parts.total(), config);
        match form {
            Form::Nodes { .. } if self.nodes > 1 => (form, node_parts),
            Form::Nodes { .. } | Form::Flat => (form, parts),
        }
    }

    /// Are ranks that each send for themselves faster than leaders? They share the link of their node, over
    /// which every byte comes up to once for each of them. With leaders it comes once, but passes through the
    /// memory of the node, beside the network and at its own pace. Lanes would change neither.
    fn flat_is_faster(&self, bytes: u64, config: &Config) -> bool {
        let flat = model_of(*self, Form::Flat, config);
        let slower = config.beta_ns_per_kb.max(config.node_beta_ns_per_kb);
        let leaders = Model {
            beta_ns_per_kb: slower,
            ..model(config)
        };
        let steps_inside = if config.shm { 1 } else { log(self.widest) };
        let leaders_us = leaders.broadcast_us(log(self.nodes), bytes)
            + f64::from(steps_inside) * config.node_alpha_us;
        flat.broadcast_us(log(self.p), bytes) < leaders_us
    }

    /// How many times as long as the host Rondo may take below its minimum: the shorter, the longer.
    fn below(&self, bytes: u64) -> f64 {
        let min = match self.nodes {
            1 => NODE_LEAST_BYTES,
            _ => LEAST_BYTES,
        };
        (min as f64 / bytes.max(1) as f64).clamp(1.0, BELOW_MAX)
    }

    /// The faster way for a broadcast: as many blocks as are best, or a tree for one of them.
    fn broadcast(&self, form: Form, bytes: u64, config: &Config) -> Algorithm {
        // A tree for the latency 1 is no better than a block on the circulant graph.
        if latencies(bytes, config).0 == 1 {
            return Algorithm::Circulant;
        }
        let (ranks, locals) = match form {
            Form::Nodes { .. } if self.nodes == 1 => return Algorithm::Circulant, // no messages
            Form::Flat => (self.p, 1),
            Form::Nodes { .. } if config.shm => (self.nodes, 1),
            Form::Nodes { .. } => (self.nodes, self.widest),
        };
        let between = model_of(*self, form, config);
        let circulant_us = between.broadcast_us(self.rounds(form, config), bytes);
        let tree_us = |model: Model, ranks| model.tree_us(ranks, bytes);
        match tree_us(between, ranks) + tree_us(node_model(config), locals) < circulant_us {
            true => Algorithm::Postal,
            false => Algorithm::Circulant,
        }
    }

    /// Rounds until the first block is everywhere, and so the length of the pipeline.
    fn rounds(&self, form: Form, config: &Config) -> u32 {
        match form {
            Form::Nodes { .. } if self.nodes > 1 && config.shm => log(self.nodes),
            Form::Nodes { .. } if self.nodes > 1 => log(self.nodes) + log(self.widest),
            Form::Nodes { .. } | Form::Flat => log(self.p),
        }
    }
}

/// The latencies of a tree for blocks of `bytes` bytes, between nodes and between the ranks of a node.
pub fn latencies(bytes: u64, config: &Config) -> (u32, u32) {
    let latency = |model: Model| model.latency(bytes);
    (latency(model(config)), latency(node_model(config)))
}

/// ceil(log2) of a number of ranks.
fn log(ranks: u32) -> u32 {
    ranks.next_power_of_two().trailing_zeros()
}

/// The cost of messages between nodes.
fn model(config: &Config) -> Model {
    Model {
        alpha_us: config.alpha_us,
        gap_us: config.gap_us,
        beta_ns_per_kb: config.beta_ns_per_kb,
    }
}

/// The cost of messages inside a node.
fn node_model(config: &Config) -> Model {
    Model {
        alpha_us: config.node_alpha_us,
        gap_us: config.gap_us,
        beta_ns_per_kb: config.node_beta_ns_per_kb,
    }
}

/// The same for an algorithm of this form: where every rank sends for itself, those of a node share its
/// link.
fn model_of(facts: Facts, form: Form, config: &Config) -> Model {
    let sharing = match form {
        Form::Flat if facts.nodes > 1 => f64::from(facts.widest),
        Form::Flat | Form::Nodes { .. } => 1.0,
    };
    let model = model(config);
    Model {
        beta_ns_per_kb: sharing * model.beta_ns_per_kb,
        ..model
    }
}
