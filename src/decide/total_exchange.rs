//! Deciding on exchanges of blocks between all ranks.

#![forbid(unsafe_code)]

use super::problem::{doubt, is_doubted};
use super::{Choice, Context, Facts, Form, Method, Problem, Why, model_of};
use crate::algorithm::{Algorithm, TotalExchangeAlgorithm};
use crate::config::{Hierarchy, Setting};
use crate::learn::Prior;
use crate::model::{Model, Prediction, Reach};
use crate::schedule::Steps;

/// Vectors of a rank's blocks that an exchange on the circulant graph or in a grid has room for: the blocks, and copies
/// of those that travel in two rounds each way.
const VECTORS: u64 = 5;

/// The same where half of all blocks travel in each round.
const HALF_VECTORS: u64 = 3;

/// The same of an exchange over nodes, whose ranks may differ in what they are in charge of.
const NODE_VECTORS: u64 = 9;

/// How much faster an exchange over nodes must be by the model: hosts may have better algorithms than the usual ones.
const NODES_MARGIN: f64 = 1.05;

/// How much faster few rounds must be by the model.
const ROUNDS_MARGIN: f64 = 1.1;

/// Microseconds that a rank takes to find a block in memory that it shares, and to copy it.
const BLOCK_US: f64 = 0.02;

/// An exchange. Where all ranks know the size of a block, blocks go over nodes if that is faster by the model than each
/// straight to its rank, and than all in few rounds. All others are the host's unless the user says from where on they
/// are not: hosts have the same algorithms.
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
        let Some(bytes) = self.bytes else {
            return Algorithm::Linear;
        };
        let (straight, straight_us) = self.straight(bytes);
        match self.circulant_us(bytes) {
            Some(circulant_us) if circulant_us < straight_us => Algorithm::Circulant,
            Some(_) | None => straight,
        }
    }

    /// The way for blocks that travel once, be it over nodes, and its microseconds by the model.
    fn straight(&self, bytes: u64) -> (Algorithm, f64) {
        let facts = self.context.facts;
        match self.form(Algorithm::Linear) {
            Form::Nodes { lanes } => (Algorithm::Linear, self.nodes_us(bytes, lanes)),
            Form::Flat => {
                let block = bytes / u64::from(facts.p);
                let algorithm = match block <= facts.eager_bytes {
                    true => Algorithm::Linear,
                    false => Algorithm::Pairwise,
                };
                (algorithm, self.flat().straight_us(facts.p, bytes))
            }
        }
    }

    fn flat(&self) -> Model {
        model_of(self.context.facts, Form::Flat, self.context.config)
    }

    /// May a rank hold its blocks and those of others that pass through it, of which half travel in a round?
    fn has_room(&self, half: bool) -> bool {
        let vectors = if half { HALF_VECTORS } else { VECTORS };
        let bytes = self.bytes.unwrap_or(0).saturating_mul(vectors);
        bytes <= self.context.config.max_tmp_size
    }

    /// The same over nodes, for every rank.
    fn has_room_over_nodes(&self, bytes: u64, lanes: u32) -> bool {
        let Context { facts, config, .. } = self.context;
        facts.node_exchange_bytes(bytes, lanes) <= config.max_tmp_size
    }

    /// Ranks of each node that talk to another one, if this algorithm goes over nodes.
    fn lanes(&self, algorithm: Algorithm) -> u32 {
        let Context { facts, config, .. } = self.context;
        match algorithm == Algorithm::FullLane {
            true => facts.narrowest,
            false => facts.lanes(config),
        }
    }

    /// Are there nodes over which this algorithm might go?
    fn may_cross(&self, algorithm: Algorithm) -> bool {
        let facts = self.context.facts;
        let linear = algorithm == Algorithm::Linear && facts.nodes > 1 && facts.widest > 1;
        linear || (algorithm == Algorithm::FullLane && facts.full_lane().is_some())
    }

    /// Does this algorithm go over nodes by the options, but for want of memory?
    fn lacks_room_over_nodes(&self, algorithm: Algorithm) -> bool {
        let is_named = || self.context.wish().setting == Setting::Use(algorithm);
        let is_asked = match self.context.config.hierarchy {
            _ if algorithm == Algorithm::FullLane => true,
            Hierarchy::Leader | Hierarchy::Lanes => is_named(),
            Hierarchy::Flat | Hierarchy::Auto => false,
        };
        let lacks_room = |bytes| !self.has_room_over_nodes(bytes, self.lanes(algorithm));
        is_asked && self.may_cross(algorithm) && self.bytes.is_some_and(lacks_room)
    }

    /// Between whom this algorithm runs.
    fn form(&self, algorithm: Algorithm) -> Form {
        let Context { facts, config, .. } = self.context;
        let Some(bytes) = self.bytes else {
            return Form::Flat;
        };
        let lanes = self.lanes(algorithm);
        let over_nodes = self.may_cross(algorithm)
            && self.has_room_over_nodes(bytes, lanes)
            && match config.hierarchy {
                _ if algorithm == Algorithm::FullLane => true,
                Hierarchy::Flat => false,
                Hierarchy::Leader | Hierarchy::Lanes => true,
                Hierarchy::Auto => {
                    self.nodes_us(bytes, lanes) < self.flat().straight_us(facts.p, bytes)
                }
            };
        match over_nodes {
            true => Form::Nodes { lanes },
            false => Form::Flat,
        }
    }

    /// What the model says of it over so many lanes, where a rank's blocks have `bytes` bytes together. Rounds, and
    /// bytes that are sent, are those between nodes.
    pub fn over_nodes(&self, bytes: u64, lanes: u32) -> Prediction {
        let facts = self.context.facts;
        let (width, charge) = (u64::from(facts.widest), u64::from(facts.charge(lanes)));
        let receivers = width.div_ceil(facts.parts(lanes).into());
        Prediction {
            us: self.nodes_us(bytes, lanes),
            rounds: Some(1),
            sent: charge * width * receivers * (bytes / u64::from(facts.p)),
        }
    }

    /// Microseconds over nodes, by the model.
    fn nodes_us(&self, bytes: u64, lanes: u32) -> f64 {
        let Context { facts, config, .. } = self.context;
        let (between, inside) = facts.models(config);
        let inside_us = match config.shm {
            // Everything is written and read, twice.
            true => 2.0 * inside.straight_us(2, 2 * bytes) + BLOCK_US * f64::from(facts.p),
            // Places are as long as the longest one.
            false => {
                let (width, charge) = (u64::from(facts.widest), u64::from(facts.charge(lanes)));
                let place = width * (bytes / u64::from(facts.p));
                let out = place * (1 + charge * width.div_ceil(facts.parts(lanes).into()));
                let home = place * charge * width;
                let steps = Steps::new(facts.widest, facts.radix_inside(bytes, config));
                let us = |bytes| inside.packed_us(&steps, facts.widest, bytes);
                us(out) + us(home)
            }
        };
        // The link of a node carries the blocks of all its ranks.
        let load = bytes.saturating_mul(facts.widest.into());
        let crossing_us = between.straight_us(facts.charge(lanes) + 1, load);
        inside_us + crossing_us
    }

    /// Microseconds on the circulant graph by the model, if there is room for what passes through a rank.
    fn circulant_us(&self, bytes: u64) -> Option<f64> {
        let Context { facts, config, .. } = self.context;
        let radix = facts.exchange_radix(bytes, config);
        let steps = Steps::new(facts.p, radix);
        let us = || self.flat().packed_us(&steps, facts.p, bytes);
        self.has_room(radix == 2).then(us)
    }

    /// Microseconds in few rounds, as hosts have them, by the model, where ranks follow node after node: the rounds of
    /// short distances are inside nodes. Between two nodes a block travels once for each bit of their distance.
    fn rounds_us(&self, bytes: u64) -> f64 {
        let Context { facts, config, .. } = self.context;
        let (between, inside) = facts.models(config);
        let bits: u32 = (0..facts.nodes).map(u32::count_ones).sum();
        let load = bytes.saturating_mul(facts.widest.into()) / u64::from(facts.nodes);
        let rounds = f64::from(Reach::among(facts.nodes).rounds);
        let link_us = load.saturating_mul(bits.into()) as f64 / between.bytes_per_us();
        let steps = Steps::new(facts.widest, 2);
        inside.packed_us(&steps, facts.widest, bytes) + rounds * between.alpha_us + link_us
    }

    /// What is faster than what hosts do, if anything is: the way over nodes, or rounds of several messages, which they
    /// do not have.
    fn faster(&self) -> Option<Algorithm> {
        let Context { facts, config, .. } = self.context;
        let may = facts.nodes > 1 && facts.is_known(config);
        let bytes = self.bytes.filter(|_| may)?;
        let flat = self.flat();
        let straight_us = flat.straight_us(facts.p, bytes);
        if let Form::Nodes { lanes } = self.form(Algorithm::Linear) {
            let host_us = self.rounds_us(bytes).min(straight_us);
            let nodes_us = self.nodes_us(bytes, lanes);
            return (NODES_MARGIN * nodes_us < host_us).then_some(Algorithm::Linear);
        }
        // Where the link is busy throughout, blocks must not travel more than once.
        let is_short = facts.widest == 1 && !flat.fills_link(facts.p, bytes);
        let circulant_us = is_short.then(|| self.circulant_us(bytes))??;
        let rounds_us = flat.packed_us(&Steps::new(facts.p, 2), facts.p, bytes);
        (ROUNDS_MARGIN * circulant_us < rounds_us.min(straight_us)).then_some(Algorithm::Circulant)
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
            (Some(_) | None, _) => match self.faster() {
                Some(algorithm) => Ok(algorithm),
                None if self.context.facts.nodes == 1 => Err(Why::OneNode),
                None => Err(Why::Slower),
            },
        }
    }

    fn by(&self, algorithm: Algorithm, _block_bytes: u64) -> Choice {
        let Context { facts, config, .. } = self.context;
        let has_room = match algorithm.of_total_exchange() {
            TotalExchangeAlgorithm::Circulant => {
                self.has_room(facts.exchange_radix(self.bytes.unwrap_or(0), config) == 2)
            }
            TotalExchangeAlgorithm::Hypercube => self.has_room(facts.p.is_power_of_two()),
            TotalExchangeAlgorithm::Mesh => self.has_room(false),
            TotalExchangeAlgorithm::Pairwise
            | TotalExchangeAlgorithm::Linear
            | TotalExchangeAlgorithm::FullLane => true,
        };
        let in_lanes = self.context.collective.family().in_lanes(algorithm);
        let (algorithm, why) = match !has_room {
            true => (Algorithm::Pairwise, Why::Memory),
            false if self.lacks_room_over_nodes(algorithm) => (in_lanes, Why::Memory),
            false if algorithm == Algorithm::FullLane && !self.may_cross(algorithm) => {
                (in_lanes, Why::NoLanes)
            }
            false => (algorithm, Why::Auto),
        };
        Choice::Rondo(Method {
            algorithm,
            form: self.form(algorithm),
            blocks: 1,
            why,
        })
    }

    fn first(&self) -> Choice {
        self.by(self.automatic().unwrap_or_else(|_| self.fastest()), 0)
    }

    /// The other one of few rounds and blocks that travel once.
    fn second(&self) -> Option<(Algorithm, f64)> {
        let bytes = self.bytes?;
        let Choice::Rondo(Method { algorithm, .. }) = self.first() else {
            return None;
        };
        let (straight, straight_us) = self.straight(bytes);
        let circulant_us = self.circulant_us(bytes)?;
        match algorithm.of_total_exchange() {
            TotalExchangeAlgorithm::Circulant => Some((straight, straight_us / circulant_us)),
            TotalExchangeAlgorithm::Pairwise | TotalExchangeAlgorithm::Linear => {
                Some((Algorithm::Circulant, circulant_us / straight_us))
            }
            // The user's.
            TotalExchangeAlgorithm::Hypercube
            | TotalExchangeAlgorithm::Mesh
            | TotalExchangeAlgorithm::FullLane => None,
        }
    }

    fn prior(&self, choice: Choice) -> Option<Prior> {
        let (class, _) = self.size_class(choice)?;
        Some(doubt(class, self.second()))
    }

    fn predicted_us(&self) -> Option<f64> {
        let Context { facts, config, .. } = self.context;
        let knows = facts.nodes > 1 && facts.is_known(config);
        let bytes = self.bytes.filter(|_| knows)?;
        let Choice::Rondo(Method { algorithm, .. }) = self.first() else {
            return None;
        };
        match algorithm.of_total_exchange() {
            TotalExchangeAlgorithm::Circulant => self.circulant_us(bytes),
            TotalExchangeAlgorithm::Pairwise | TotalExchangeAlgorithm::Linear => {
                Some(self.straight(bytes).1)
            }
            // The user's.
            TotalExchangeAlgorithm::Hypercube
            | TotalExchangeAlgorithm::Mesh
            | TotalExchangeAlgorithm::FullLane => None,
        }
    }

    fn learns(&self, choice: Choice) -> bool {
        self.bytes.is_some() && is_doubted(choice)
    }
}

impl Facts {
    /// Bytes that a rank may hold in an exchange over nodes, of `bytes` bytes of each: what one may be in charge of.
    pub fn node_exchange_bytes(&self, bytes: u64, lanes: u32) -> u64 {
        let width = u64::from(self.widest);
        let most = match self.places() == Some(self.parts(lanes)) {
            true => self.p.into(), // every message is for the rank that receives it
            false => width.saturating_mul(1 + width * u64::from(self.charge(lanes))),
        };
        let block = bytes / u64::from(self.p);
        NODE_VECTORS.saturating_mul(most).saturating_mul(block)
    }

    /// Messages each way that one rank is in charge of, at the most.
    fn charge(&self, lanes: u32) -> u32 {
        (self.nodes - 1)
            .saturating_mul(self.parts(lanes))
            .div_ceil(self.narrowest.max(1))
    }

    /// Parts of what a node has for another one, a message each ([`crate::script::NodeExchange::new`]).
    fn parts(&self, lanes: u32) -> u32 {
        let cheap = self.narrowest / (self.nodes - 1).max(1);
        cheap.max(lanes)
    }
}
