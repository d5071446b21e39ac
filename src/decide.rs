//! Who carries a call out, and how. Pure: same facts, same answer, on every rank. That is the whole
//! safety argument, so nothing that ranks may see differently may enter here.

#![forbid(unsafe_code)]

mod candidates;
mod choice;

pub use candidates::{
    Kind, SET_UP_US, allgather_candidate, allgather_kind, allgather_lesson, allgather_ruled,
    bcast_candidate, bcast_kind, bcast_lesson, bcast_ruled, even_allgather_candidate,
    rooted_candidate, rooted_kind, rooted_lesson, rooted_ruled,
};
pub use choice::{Choice, Form, Why};

use crate::config::{Algorithm, Config, Hierarchy, Setting};
use crate::model::{self, Model};
use crate::schedule::Parts;

/// The shortest broadcast, and the least total of an all-broadcast, between nodes that measures at
/// least as fast on every host (docs/results/cluster.md).
const MIN_BYTES: u64 = 32 << 10;

/// The same within a node, where the way is through a shared segment.
const NODE_MIN_BYTES: u64 = 16 << 10;

/// The fewest ranks whose gathers and scatters are Rondo's by the rules.
const ROOTED_MIN_COMM_SIZE: u32 = 64;

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

/// What a user may say of a collective.
struct Wish {
    setting: Setting,
    /// The fewest ranks that automatic choice takes.
    min_comm_size: u32,
}

impl Facts {
    /// The algorithm and why, or why the host has the call. `bytes` are those of the message, where all
    /// ranks know them; `auto` is what Rondo would choose.
    fn choose(
        &self,
        wish: Wish,
        bytes: Option<u64>,
        config: &Config,
        auto: impl FnOnce() -> Result<Algorithm, Why>,
    ) -> Result<(Algorithm, Why), Why> {
        if !config.enabled {
            return Err(Why::Off);
        }
        if self.p < 3 {
            return Err(Why::FewRanks);
        }
        if bytes == Some(0) {
            return Err(Why::Empty);
        }
        match wish.setting {
            Setting::Host => Err(Why::Configured),
            Setting::Use(algorithm) => Ok((algorithm, Why::Configured)),
            Setting::Auto if self.p < wish.min_comm_size => Err(Why::SmallComm),
            Setting::Auto => auto().map(|algorithm| (algorithm, Why::Auto)),
        }
    }

    /// Are so many bytes enough for Rondo to be faster? `min` is what the user says of it, `None`: as
    /// measured.
    fn worthwhile(&self, form: Form, bytes: u64, min: Option<u64>) -> Result<(), Why> {
        let measured = match (self.nodes, form) {
            (1, Form::Flat) if min.is_none() => return Err(Why::OneNode),
            (1, Form::Nodes { .. }) => NODE_MIN_BYTES,
            _ => MIN_BYTES,
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
        match config.hierarchy {
            _ if pointless => Form::Flat,
            Hierarchy::Flat => Form::Flat,
            Hierarchy::Lanes if self.nodes > 1 => Form::Nodes {
                lanes: config.lanes.clamp(1, self.narrowest),
            },
            Hierarchy::Auto if self.nodes > 1 && self.flat_is_faster(bytes, config) => Form::Flat,
            _ => Form::Nodes { lanes: 1 },
        }
    }

    /// Between whom an all-broadcast of `parts` should run, and the parts that travel: of ranks, or those of nodes, `blobs`.
    fn exchange<'a>(
        &self,
        parts: &'a Parts,
        blobs: &'a Parts,
        config: &Config,
    ) -> (Form, &'a Parts) {
        let form = self.form(parts.total(), config);
        match form {
            Form::Nodes { .. } if self.nodes > 1 => (form, blobs),
            _ => (form, parts),
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
        let tree_us = |model: Model, ranks| model.tree_us(ranks, config.gap_us, bytes);
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
            _ => log(self.p),
        }
    }
}

/// The latencies of a tree for blocks of `bytes` bytes, between nodes and between the ranks of a node.
pub fn latencies(bytes: u64, config: &Config) -> (u32, u32) {
    let latency = |model: Model| model.latency(config.gap_us, bytes);
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
        beta_ns_per_kb: config.beta_ns_per_kb,
    }
}

/// The cost of messages inside a node.
fn node_model(config: &Config) -> Model {
    Model {
        alpha_us: config.node_alpha_us,
        beta_ns_per_kb: config.node_beta_ns_per_kb,
    }
}

/// The same for an algorithm of this form: where every rank sends for itself, those of a node share its
/// link.
fn model_of(facts: Facts, form: Form, config: &Config) -> Model {
    let sharing = match form {
        Form::Flat if facts.nodes > 1 => f64::from(facts.widest),
        _ => 1.0,
    };
    let model = model(config);
    Model {
        beta_ns_per_kb: sharing * model.beta_ns_per_kb,
        ..model
    }
}

/// Decides on a broadcast of `bytes` bytes. `bytes` is count times type size, which is equal on all
/// ranks by the rule of equal type signatures; `config` is that of the communicator.
pub fn bcast(facts: Facts, bytes: u64, config: &Config) -> Choice {
    let wish = Wish {
        setting: config.bcast,
        min_comm_size: config.bcast_min_comm_size,
    };
    let form = facts.form(bytes, config);
    let auto = || {
        facts.worthwhile(form, bytes, config.bcast_min_bytes)?;
        Ok(facts.broadcast(form, bytes, config))
    };
    match facts.choose(wish, Some(bytes), config, auto) {
        Ok((algorithm, why)) => {
            let size = config.block_bytes;
            bcast_by(facts, form, (algorithm, size), bytes, config).because(why)
        }
        Err(why) => Choice::Host(why),
    }
}

/// A broadcast by this algorithm, in blocks of this size; 0: as the model says.
fn bcast_by(
    facts: Facts,
    form: Form,
    (algorithm, size): (Algorithm, u64),
    bytes: u64,
    config: &Config,
) -> Choice {
    let blocks = match (algorithm, size) {
        (Algorithm::Binomial | Algorithm::Postal, _) => model::least_blocks(bytes),
        (_, 0) => {
            let rounds = facts.rounds(form, config);
            model_of(facts, form, config).blocks(rounds, bytes, facts.eager_bytes, 1)
        }
        (_, size) => model::blocks_of(bytes, size),
    };
    Choice::Rondo {
        algorithm,
        form,
        blocks,
        why: Why::Auto,
    }
}

/// Decides on an all-broadcast of `parts`, which follow from the receive counts times the size of the
/// receive type and are equal on all ranks. `setting` is that of the collective. `blobs` are the parts
/// of the nodes.
pub fn allgather(
    facts: Facts,
    parts: &Parts,
    blobs: &Parts,
    setting: Setting,
    config: &Config,
) -> Choice {
    let bytes = parts.total();
    let (form, parts) = facts.exchange(parts, blobs, config);
    let model = model_of(facts, form, config);
    let wish = Wish {
        setting,
        min_comm_size: config.allgatherv_min_comm_size,
    };
    let auto = || {
        facts.worthwhile(form, bytes, config.allgatherv_min_bytes)?;
        Ok(model.all_broadcast(parts, facts.eager_bytes))
    };
    match facts.choose(wish, Some(bytes), config, auto) {
        Ok((algorithm, why)) => {
            let size = config.block_bytes;
            allgather_by(facts, form, (algorithm, size), parts, bytes, config).because(why)
        }
        Err(why) => Choice::Host(why),
    }
}

/// An all-broadcast by this algorithm in blocks of this size, of parts of ranks or of nodes, `bytes` in all.
fn allgather_by(
    facts: Facts,
    form: Form,
    (algorithm, size): (Algorithm, u64),
    parts: &Parts,
    bytes: u64,
    config: &Config,
) -> Choice {
    let model = model_of(facts, form, config);
    let contributors = parts.contributors().len() as u64;
    let blocks = match (algorithm, size) {
        (Algorithm::Circulant, 0) => {
            let rounds = facts.rounds(form, config);
            model.blocks(rounds, bytes, facts.eager_bytes, contributors)
        }
        (Algorithm::Circulant, size) => model::blocks_of(bytes, size),
        (_, 0) => model::blocks_of(parts.largest(), facts.eager_bytes),
        (_, size) => model::blocks_of(parts.largest(), size),
    };
    Choice::Rondo {
        algorithm,
        form,
        // So that the blocks of all parts can be numbered.
        blocks: blocks.min(u32::MAX / facts.p),
        why: Why::Auto,
    }
}

/// Decides on a gather or scatter. `block` are the bytes of every rank's block, where all ranks know
/// them; `setting` and `min_comm_size` are those of the collective.
pub fn rooted(
    facts: Facts,
    block: Option<u64>,
    setting: Setting,
    min_comm_size: Option<u32>,
    config: &Config,
) -> Choice {
    let wish = Wish {
        setting,
        min_comm_size: min_comm_size.unwrap_or(ROOTED_MIN_COMM_SIZE),
    };
    let auto = || match facts.nodes {
        1 => Err(Why::OneNode),
        _ => Ok(Algorithm::Hybrid),
    };
    match facts.choose(wish, block, config, auto) {
        Ok((algorithm, why)) => rooted_by(facts, block, algorithm, config).because(why),
        Err(why) => Choice::Host(why),
    }
}

/// A gather or scatter by this algorithm.
fn rooted_by(facts: Facts, block: Option<u64>, algorithm: Algorithm, config: &Config) -> Choice {
    Choice::Rondo {
        algorithm,
        form: match algorithm {
            Algorithm::Hybrid | Algorithm::Binomial => facts.form(block.unwrap_or(0), config),
            _ => Form::Flat,
        },
        blocks: 1,
        why: Why::Auto,
    }
}

/// From how many bytes on a block goes straight from or to the root.
///
/// With p ranks, the blocks that a rank passes on are less than p, and it may hold each twice, as it came
/// and as it goes. So they take up no more than [`Config::max_tmp_size`] if none is longer than a
/// 2p-th of it.
pub fn long_block(facts: Facts, algorithm: Algorithm, config: &Config) -> u64 {
    let wanted = match algorithm {
        Algorithm::Linear => 1,
        Algorithm::Hybrid => config
            .short_msg
            .unwrap_or_else(|| model(config).long_block(facts.p)),
        _ => u64::MAX,
    };
    wanted.min(config.max_tmp_size / (2 * u64::from(facts.p)) + 1)
}
