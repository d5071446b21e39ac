//! Who carries a call out, and how. Pure: same facts, same answer, on every rank. That is the whole
//! safety argument, so nothing that ranks may see differently may enter here.

#![forbid(unsafe_code)]

mod allbroadcast;
mod barrier;
mod broadcast;
mod choice;
mod learnt;
mod problem;
mod reduction;
mod rooted;
mod size_class;
mod total_exchange;
mod trees;

pub use allbroadcast::AllBroadcast;
pub use barrier::Barrier;
pub use broadcast::Broadcast;
pub use choice::{Choice, Form, Method, Why};
pub use learnt::{forget_others, learnt_rules};
pub use problem::{Context, Problem, hosts_anyway, typical};
pub use reduction::{OperatorProperties, Reduction, SLOT_UNIT_MAX};
pub use rooted::{Rooted, asked_at_a_time, long_block};
pub use size_class::SizeClass;
pub use total_exchange::TotalExchange;
pub use trees::shape;

use crate::algorithm::Algorithm;
use crate::collective::{Family, LEADERS_LEAST_BYTES, LEAST_BYTES, NODE_LEAST_BYTES};
use crate::config::{Config, Hierarchy};
use crate::model::{Model, Reach};
use crate::network::Network;
use crate::schedule::{Parts, Shape, Steps};

/// No short call of Rondo's is expected to take more times as long as the host's, where nothing is known of the
/// network.
const UNKNOWN_BELOW_MAX: f64 = 32.0;

/// If a rank can begin so many short messages while one travels, most of the time of short calls is the network's, of
/// which Rondo takes the least, and not the processor's.
const OVERLAP: f64 = 6.0;

/// No relays among more ranks: each sends to all others.
const RELAY_RANKS_MAX: u32 = 64;

/// Among fewer ranks two trees are no way of their own: relays are about as fast there by the model, and gain more by
/// the bursts that links let through.
const TWO_TREE_RANKS_MIN: u32 = 17;

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
    /// Do the ranks of each node follow each other?
    pub consecutive: bool,
    /// Messages up to this length are fast on this host; above it, sooner or later, comes the
    /// rendezvous protocol with its round trips.
    pub eager_bytes: u64,
    /// From so many bytes on the network puts a message into its place: its receiver spends no time on it. `u64::MAX`
    /// if nothing is known of that.
    pub placed_bytes: u64,
    /// Does the host reduce short vectors inside nodes before one rank of each sends them to others?
    pub host_leads: bool,
    /// Does the host copy long vectors from process to process, where ranks of one node reduce each to a part?
    pub host_copies: bool,
    /// What has been found out of the network. What the user says goes before.
    pub network: Network,
}

impl Facts {
    /// Ranks of a node, if all nodes have as many.
    pub fn places(&self) -> Option<u32> {
        (self.widest == self.narrowest).then_some(self.widest)
    }

    /// Are so many bytes of a call enough for Rondo to be faster? If the user does not say it, that follows from what
    /// is known of the network, or was measured elsewhere.
    fn worthwhile(&self, form: Form, bytes: u64, context: &Context) -> Result<(), Why> {
        let min = context.wish().min_bytes;
        if self.nodes == 1 && form == Form::Flat && min.is_none() {
            return Err(Why::OneNode);
        }
        if bytes < min.unwrap_or_else(|| self.least_bytes(form, context)) {
            return Err(Why::Small);
        }
        Ok(())
    }

    /// The fewest bytes of calls that Rondo is expected to carry out faster than the host.
    fn least_bytes(&self, form: Form, context: &Context) -> u64 {
        let config = context.config;
        if self.nodes == 1 {
            return NODE_LEAST_BYTES;
        }
        if !self.is_known(config) {
            return LEAST_BYTES;
        }
        match (form, context.collective.family()) {
            // A node sends one message where the host sends one for each of its ranks.
            (Form::Nodes { .. }, Family::AllBroadcast) => 1,
            // As fast, where leaders would have messages inside as well.
            (Form::Flat, Family::AllBroadcast)
                if self.widest > 1 && !config.shm && config.hierarchy == Hierarchy::Auto =>
            {
                1
            }
            (Form::Nodes { .. }, _) if config.shm => LEADERS_LEAST_BYTES,
            _ if self.is_far(config) => 1,
            _ => LEAST_BYTES,
        }
    }

    /// Is it known what a short message between nodes takes?
    fn is_known(&self, config: &Config) -> bool {
        !config.network.or(&self.network).lacks(false)
    }

    /// Can a rank begin so many short messages while one travels that the network decides what short calls take?
    fn is_far(&self, config: &Config) -> bool {
        let (between, _) = self.models(config);
        self.is_known(config) && between.alpha_us >= OVERLAP * between.gap_us
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
            Hierarchy::Auto if self.nodes > 1 && self.flat_is_faster(bytes, config) => Form::Flat,
            Hierarchy::Auto | Hierarchy::Leader | Hierarchy::Lanes => Form::Nodes {
                lanes: self.lanes(config),
            },
        }
    }

    /// Ranks of each node that talk to other nodes, where not every rank does.
    fn lanes(&self, config: &Config) -> u32 {
        match config.hierarchy {
            Hierarchy::Lanes if self.nodes > 1 => config.lanes.clamp(1, self.narrowest),
            Hierarchy::Auto | Hierarchy::Flat | Hierarchy::Leader | Hierarchy::Lanes => 1,
        }
    }

    /// Lanes that all ranks of each node lead, if there are any between nodes.
    fn full_lane(&self) -> Option<Form> {
        let lanes = self.narrowest;
        (self.nodes > 1 && lanes > 1).then_some(Form::Nodes { lanes })
    }

    /// The same for a broadcast or all-broadcast by this algorithm, if it is full-lane. Its data pass through memory
    /// inside nodes.
    fn asked_lanes(&self, algorithm: Algorithm, config: &Config) -> Result<Option<Form>, Why> {
        if algorithm != Algorithm::FullLane {
            return Ok(None);
        }
        let form = self.full_lane().filter(|_| config.shm);
        form.map(Some).ok_or(Why::NoLanes)
    }

    /// Between whom an all-broadcast of `parts` should run, and the parts that travel: of ranks, or those of nodes.
    fn exchange<'a>(
        &self,
        parts: &'a Parts,
        node_parts: &'a Parts,
        config: &Config,
    ) -> (Form, &'a Parts) {
        let form = match self.form(parts.total(), config) {
            Form::Nodes { .. } if self.short_is_flat(parts, config) => Form::Flat,
            form @ (Form::Flat | Form::Nodes { .. }) => form,
        };
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
        let leaders = self.leaders(config);
        let leaders_us =
            leaders.broadcast_us(Reach::among(self.nodes), bytes) + self.inside_us(config);
        flat.broadcast_us(Reach::among(self.p), bytes) < leaders_us
    }

    /// Microseconds of a short message inside a node from its leader to the last rank, or the other way round.
    fn inside_us(&self, config: &Config) -> f64 {
        let (_, inside) = self.models(config);
        let steps = if config.shm { 1 } else { log(self.widest) };
        f64::from(steps) * inside.alpha_us
    }

    /// The cost of messages between leaders. What they receive passes through the memory of the node, beside the
    /// network and at its own pace.
    fn leaders(&self, config: &Config) -> Model {
        let (between, inside) = self.models(config);
        Model {
            beta_ns_per_kb: between.beta_ns_per_kb.max(inside.beta_ns_per_kb),
            ..between
        }
    }

    /// The cost of messages in calls of this form whose times are compared with what the model says, and microseconds
    /// until the last byte is with all ranks of a node.
    fn timed(&self, form: Form, config: &Config) -> (Model, f64) {
        match form {
            Form::Nodes { .. } if self.nodes > 1 && config.shm => {
                (self.leaders(config), self.inside_us(config))
            }
            Form::Flat | Form::Nodes { .. } => (model_of(*self, form, config), 0.0),
        }
    }

    /// Are ranks that each send for themselves faster than leaders in an all-broadcast that is so short that the link
    /// of their node does not matter? Where data do not pass through shared memory, leaders have messages inside as
    /// well.
    fn short_is_flat(&self, parts: &Parts, config: &Config) -> bool {
        let bytes = parts.total();
        let even = parts.largest() <= 2 * (bytes / u64::from(self.p) + 1);
        if config.shm || config.hierarchy != Hierarchy::Auto || self.nodes == 1 || !even {
            return false;
        }
        let steps = |form, ranks| Steps::new(ranks, self.radix(form, bytes, config));
        let leaders = Form::Nodes { lanes: 1 };
        let of_nodes = steps(leaders, self.nodes);
        let (between, inside) = self.models(config);
        let part_of = |senders: u32| bytes as f64 / f64::from(senders.max(1));
        let leaders_us = between.whole_us(&of_nodes, part_of(self.nodes))
            + inside.whole_inside_us(self.widest, of_nodes.count(), bytes);
        let flat = model_of(*self, Form::Flat, config);
        flat.whole_us(&steps(Form::Flat, self.p), part_of(self.p)) < leaders_us
    }

    /// How many times as long as the host Rondo may take below its minimum, where the network is not known: the
    /// shorter, the longer.
    fn below(&self, bytes: u64) -> f64 {
        let min = match self.nodes {
            1 => NODE_LEAST_BYTES,
            _ => LEAST_BYTES,
        };
        (min as f64 / bytes.max(1) as f64).clamp(1.0, UNKNOWN_BELOW_MAX)
    }

    /// The number of blocks of a broadcast on the circulant graph that the network puts into their places, and its
    /// microseconds, if that is faster. A tree has more messages under way at a time, and gains nothing by it.
    fn circulant_in_place(&self, form: Form, bytes: u64, config: &Config) -> Option<(u32, f64)> {
        let most = bytes / self.placed_bytes.max(1);
        if most == 0 {
            return None;
        }
        let (between, reach) = (model_of(*self, form, config), self.reach(form, config));
        let blocks = between.blocks(reach, bytes, self.eager_bytes, 1);
        let blocks = u64::from(blocks).min(most) as u32;
        let us = between.placed().broadcast_in_us(reach, bytes, blocks);
        (us < between.broadcast_us(reach, bytes)).then_some((blocks, us))
    }

    /// The ways for a broadcast with their times by the model, in microseconds, fastest first.
    fn broadcasts(&self, form: Form, bytes: u64, config: &Config) -> Ways {
        let between = model_of(*self, form, config);
        let circulant_us = match self.circulant_in_place(form, bytes, config) {
            Some((_, us)) => us,
            None => between.broadcast_us(self.reach(form, config), bytes),
        };
        let mut ways = Ways::of(Algorithm::Circulant, circulant_us);
        let (ranks, locals) = match form {
            Form::Nodes { .. } if self.nodes == 1 => return ways, // no messages
            Form::Flat => (self.p, 1),
            Form::Nodes { .. } if config.shm => (self.nodes, 1),
            Form::Nodes { .. } => (self.nodes, self.widest),
        };
        // A tree for the latency 1 is no better than a block on the circulant graph.
        if self.latencies(bytes, config).0 > 1 {
            let (_, inside) = self.models(config);
            let tree_us = between.tree_us(ranks, bytes) + inside.tree_us(locals, bytes);
            ways.add(Algorithm::Postal, tree_us);
        }
        if locals == 1 && (3..=RELAY_RANKS_MAX).contains(&ranks) {
            ways.add(Algorithm::Relay, between.relay_us(ranks, bytes));
        }
        if locals == 1 && ranks >= TWO_TREE_RANKS_MIN {
            let pace = Shape::Two.pace(ranks);
            ways.add(
                Algorithm::TwoTree,
                between.down_us(pace, bytes, self.eager_bytes),
            );
        }
        ways
    }

    /// The radix of an all-broadcast of whole parts, of `bytes` bytes in all, between those of this form.
    pub fn radix(&self, form: Form, bytes: u64, config: &Config) -> u32 {
        match config.radix {
            0 => model_of(*self, form, config).radix(self.members(form), bytes),
            radix => radix,
        }
    }

    /// The same behind a reduction.
    pub fn radix_behind(&self, form: Form, bytes: u64, config: &Config) -> u32 {
        match config.radix {
            0 => model_of(*self, form, config).radix_behind(self.members(form), bytes),
            radix => radix,
        }
    }

    /// The radix of an exchange among all ranks on the circulant graph, of `bytes` bytes of each.
    pub fn exchange_radix(&self, bytes: u64, config: &Config) -> u32 {
        match config.radix {
            0 => model_of(*self, Form::Flat, config).exchange_radix(self.p, bytes),
            radix => radix,
        }
    }

    /// The same inside nodes, by messages.
    pub fn radix_inside(&self, bytes: u64, config: &Config) -> u32 {
        match config.radix {
            0 => self.models(config).1.exchange_radix(self.widest, bytes),
            radix => radix,
        }
    }

    /// How many exchange with each other in this form.
    pub fn members(&self, form: Form) -> u32 {
        match form {
            Form::Flat => self.p,
            Form::Nodes { .. } => self.nodes,
        }
    }

    /// The cost of messages between nodes, and inside a node.
    pub fn models(&self, config: &Config) -> (Model, Model) {
        config.network.or(&self.network).models()
    }

    /// The latencies of a tree for blocks of `bytes` bytes, between nodes and between the ranks of a node.
    pub fn latencies(&self, bytes: u64, config: &Config) -> (u32, u32) {
        let (between, inside) = self.models(config);
        (between.latency(bytes), inside.latency(bytes))
    }

    /// The length of the pipeline.
    fn reach(&self, form: Form, config: &Config) -> Reach {
        match form {
            Form::Nodes { .. } if self.nodes > 1 && config.shm => Reach::among(self.nodes),
            Form::Nodes { .. } if self.nodes > 1 => {
                Reach::among(self.nodes).then(Reach::among(self.widest))
            }
            Form::Nodes { .. } | Form::Flat => Reach::among(self.p),
        }
    }
}

/// The ways for a call, with their times.
#[derive(Clone, Copy, Debug)]
struct Ways {
    first: (Algorithm, f64),
    second: Option<(Algorithm, f64)>,
}

impl Ways {
    fn of(algorithm: Algorithm, us: f64) -> Ways {
        Ways {
            first: (algorithm, us),
            second: None,
        }
    }

    /// One more way. Of equal ones the first counts.
    fn add(&mut self, algorithm: Algorithm, us: f64) {
        if us < self.first.1 {
            (self.first, self.second) = ((algorithm, us), Some(self.first));
        } else if self.second.is_none_or(|second| us < second.1) {
            self.second = Some((algorithm, us));
        }
    }
}

/// ceil(log2) of a number of ranks.
fn log(ranks: u32) -> u32 {
    ranks.next_power_of_two().trailing_zeros()
}

/// The cost of messages for an algorithm of this form: where every rank sends for itself, those of a node share its
/// link.
pub fn model_of(facts: Facts, form: Form, config: &Config) -> Model {
    let sharing = match form {
        Form::Flat if facts.nodes > 1 => f64::from(facts.widest),
        Form::Flat | Form::Nodes { .. } => 1.0,
    };
    let (between, _) = facts.models(config);
    Model {
        beta_ns_per_kb: sharing * between.beta_ns_per_kb,
        ..between
    }
}
