//! What ways over nodes take by the model of the measured network, and the usual algorithms of hosts. A clock has a
//! say in that: so it is asked for exact operators only.

#![forbid(unsafe_code)]

use super::{Reduction, SLOT_UNIT_MAX};
use crate::algorithm::Algorithm;
use crate::collective::Reducing;
use crate::decide::{Context, Form};
use crate::model::{Model, Reach};

/// A call of fewer bytes than were found to be enough elsewhere has to be so many times as fast by the model, which
/// leaves out what it costs to take the call, but takes all messages of a tree for those between nodes.
const GAIN: f64 = 1.2;

/// Rounds in which so many ranks have to do with each other.
fn rounds(ranks: u32) -> f64 {
    f64::from(Reach::among(ranks).rounds)
}

/// The same network if no byte took time.
fn without_bytes(model: Model) -> Model {
    Model {
        beta_ns_per_kb: 0.0,
        ..model
    }
}

/// Between nodes, and inside a node.
type Models = (Model, Model);

impl Reduction<'_> {
    /// Where messages travel for long, few rounds count. A clock may say so only if the bits do not change.
    pub(super) fn counts_rounds(&self) -> bool {
        let Context { facts, config, .. } = self.context;
        self.operator.exact && facts.nodes > 1 && facts.is_far(config)
    }

    /// Is the algorithm for a root, or for parts, over nodes of several ranks clearly faster than the usual ones of
    /// hosts? A slow link may let short vectors through as if they had no bytes: there it must be faster both ways.
    pub(super) fn gains(&self) -> bool {
        if !self.counts_rounds() || self.context.facts.widest == 1 {
            return false;
        }
        let (between, inside) = self.context.facts.models(self.context.config);
        let is_faster = |models| GAIN * self.own_us(models) <= self.host_us(models);
        is_faster((between, inside))
            && (!between.is_slow() || is_faster((without_bytes(between), inside)))
    }

    /// Microseconds of the algorithm for an operator that commutes; what is not known is never faster.
    fn own_us(&self, models: Models) -> f64 {
        match self.reducing() {
            Reducing::Root if self.is_for_a_tree() => self.tree_us(models),
            Reducing::Root => self.circulant_us(models),
            Reducing::Scattered => self.parts_us(models),
            Reducing::All | Reducing::Scan => f64::INFINITY,
        }
    }

    /// Microseconds of the usual algorithms: a binomial tree, or halving and what follows it. Inside nodes all ranks
    /// are partners of neighbours.
    fn host_us(&self, (between, inside): Models) -> f64 {
        let (facts, bytes) = (self.context.facts, self.bytes);
        let tree_us = |model: &Model, ranks| model.binomial_us(Reach::among(ranks).rounds, bytes);
        let tree_us = tree_us(&between, facts.nodes) + tree_us(&inside, facts.widest);
        // Ranks of a node share its link. Those that are no power of two have a neighbour reduce for them.
        let in_pairs = match facts.p.is_power_of_two() {
            true => 0.0,
            false => 2.0,
        };
        let inside_us = (rounds(facts.widest) + in_pairs) * inside.alpha_us;
        let halved_us = |senders: u32| {
            let sent = self.others() * u64::from(senders);
            between.binomial_us(1, sent)
                + (rounds(facts.nodes) - 1.0) * between.alpha_us
                + inside_us
        };
        match self.reducing() {
            // The parts come to the root as they were halved.
            Reducing::Root => tree_us.min(2.0 * halved_us(1)),
            Reducing::Scattered => halved_us(facts.widest).min(tree_us + halved_us(1)),
            Reducing::All | Reducing::Scan => tree_us,
        }
    }

    /// Bytes of all parts but the one of a node.
    fn others(&self) -> u64 {
        self.bytes - self.bytes / u64::from(self.context.facts.nodes.max(1))
    }

    /// Is a tree by the model faster than many blocks on the circulant graph?
    pub(super) fn is_for_a_tree(&self) -> bool {
        self.counts_rounds() && self.tree_ratio() < 1.0
    }

    /// How many times as long as blocks on the circulant graph the tree takes.
    pub(super) fn tree_ratio(&self) -> f64 {
        let Context { facts, config, .. } = self.context;
        let models = facts.models(config);
        self.tree_us(models) / self.circulant_us(models).max(1e-3)
    }

    /// Microseconds of a tree of all ranks. If those of a node follow each other, few of its messages share a link.
    fn tree_us(&self, (between, _): Models) -> f64 {
        let facts = self.context.facts;
        let sharing = match facts.consecutive {
            true => 1.0,
            false => f64::from(facts.widest),
        };
        let model = Model {
            beta_ns_per_kb: sharing * between.beta_ns_per_kb,
            ..between
        };
        model.backwards().tree_us(facts.p, self.bytes)
    }

    /// Microseconds of blocks on the circulant graph.
    fn circulant_us(&self, (between, inside): Models) -> f64 {
        let facts = self.context.facts;
        let bytes = self.bytes;
        let form = self.form(Algorithm::Circulant);
        let between_us = between.broadcast_us(Reach::among(facts.members(form)), bytes);
        match form {
            Form::Flat => between_us,
            Form::Nodes { .. } if self.has_memory() => between_us + self.memory_us(&inside),
            // All ranks of a node send to its leader.
            Form::Nodes { .. } => {
                between_us + inside.one_by_one_us(facts.widest, true) + inside.bytes_us(bytes)
            }
        }
    }

    /// Microseconds of halving in lanes, which share the link of a node.
    fn parts_us(&self, (between, inside): Models) -> f64 {
        let facts = self.context.facts;
        // Ranks without a part: what hosts do with them is not known, and some are fast.
        let is_scanty = self.elements() < facts.p.into();
        if facts.places().is_none() || is_scanty || self.form(Algorithm::Halving) == Form::Flat {
            return f64::INFINITY;
        }
        let inside_us = match self.has_memory() {
            true => self.memory_us(&inside),
            false => rounds(facts.widest) * inside.alpha_us + inside.bytes_us(self.bytes),
        };
        rounds(facts.nodes) * between.alpha_us + between.bytes_us(self.others()) + inside_us
    }

    /// Do the ranks of a node reduce through memory?
    fn has_memory(&self) -> bool {
        self.context.config.shm && self.unit <= SLOT_UNIT_MAX
    }

    /// Microseconds in that memory: each rank writes its vector, and reads as many bytes of what all wrote.
    fn memory_us(&self, inside: &Model) -> f64 {
        2.0 * (inside.alpha_us + inside.bytes_us(self.bytes))
    }
}
