//! Deciding on reductions and scans.
//!
//! The order in which operands are reduced decides the last bits of a sum of floating-point numbers. So unless an
//! operator is exact, nothing that a clock showed enters here: neither what is measured of the network nor who was
//! faster, unless the user has Rondo promise nothing (docs/reproducibility.md). But a clock may choose between two ways
//! that give the same bits.

#![forbid(unsafe_code)]

mod blocks;
mod limits;
mod times;

use super::problem::{default_of, doubt, is_doubted};
use super::{Choice, Context, Form, Method, Problem, SizeClass, Why};
use crate::algorithm::{
    Algorithm, AllReductionAlgorithm, ReductionAlgorithm, ScanAlgorithm,
    ScatteredReductionAlgorithm, reduces_nothing, trees,
};
use crate::collective::{LEAST_BYTES, Reducing};
use crate::config::{Hierarchy, Reproducible};
use crate::learn::{Candidate, Prior};
use crate::model::Model;
use crate::rules::Ruling;
use crate::schedule::Steps;

/// Where halving is the choice, the fullest messages of its rounds have together no more than so many times the bytes
/// of the vector. With equal parts they have about as many.
const UNEVEN: u64 = 2;

/// Bytes of the longest element for which there are slots in the memory that the ranks of a node share, however little
/// there is of it. Those of predefined types are shorter.
pub const SLOT_UNIT_MAX: u64 = 192;

/// How much faster a pipeline along the ranks must be by the model.
const PIPELINE_MARGIN: f64 = 1.1;

/// What an operator allows. All ranks know the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorProperties {
    /// May operands change places?
    pub commutes: bool,
    /// Is the result the same, to the last bit, in every order?
    pub exact: bool,
    /// Are operator and datatype predefined? Others may be slow.
    pub built_in: bool,
    /// May operands count twice?
    pub idempotent: bool,
}

impl OperatorProperties {
    /// An operator that allows everything.
    pub const ANY: OperatorProperties = OperatorProperties {
        commutes: true,
        exact: true,
        built_in: true,
        idempotent: true,
    };

    /// A sum of floating-point numbers.
    pub const INEXACT: OperatorProperties = OperatorProperties {
        commutes: true,
        exact: false,
        built_in: true,
        idempotent: false,
    };
}

/// A reduction or a scan.
#[derive(Clone, Copy, Debug)]
pub struct Reduction<'a> {
    /// Where it is made.
    pub context: Context<'a>,
    /// Bytes of a rank's vector.
    pub bytes: u64,
    /// Bytes of an element.
    pub unit: u64,
    /// Bytes of the longest part of a rank, where ranks get parts of the result.
    pub longest: u64,
    /// Bytes of the fullest messages of all rounds of halving, one after the other; of equal parts, about as many as
    /// the vector has.
    pub fullest: u64,
    /// What the operator allows.
    pub operator: OperatorProperties,
}

/// Does an algorithm keep the order of ranks over nodes, between one rank of each?
fn goes_in_order(algorithm: Algorithm) -> bool {
    let in_order = [
        Algorithm::Gather,
        Algorithm::Ordered,
        Algorithm::Split,
        Algorithm::Doubling,
    ];
    in_order.contains(&algorithm)
}

impl Reduction<'_> {
    /// What is promised of the bits of this call.
    fn promise(&self) -> Reproducible {
        match self.operator.exact {
            true => Reproducible::Off,
            false => self.context.config.reproducible,
        }
    }

    /// Must operands be taken from left to right, rank by rank?
    pub fn is_ordered(&self) -> bool {
        !self.operator.commutes || self.promise() == Reproducible::Order
    }

    /// Does the host give the same bits as Rondo, as far as any are promised?
    fn may_be_hosts(&self) -> bool {
        self.promise() == Reproducible::Off
    }

    /// Are bits promised that only Rondo has?
    fn is_promised(&self) -> bool {
        matches!(
            self.promise(),
            Reproducible::Placement | Reproducible::Order
        )
    }

    /// The call by the algorithm that has them.
    fn as_promised(&self) -> Choice {
        self.first().because(Why::Promise)
    }

    /// This choice, unless the bits of the host are promised, which only the host has.
    fn with_bits(&self, choice: Choice) -> Choice {
        match choice {
            Choice::Rondo(_) if self.promise() == Reproducible::Host => Choice::Host(Why::Promise),
            Choice::Host(_) | Choice::Rondo(_) => choice,
        }
    }

    /// Who gets what of the result.
    fn reducing(&self) -> Reducing {
        let reducing = self.context.collective.family().reducing();
        reducing.expect("the collective reduces")
    }

    /// Elements of a vector.
    fn elements(&self) -> u64 {
        self.bytes / self.unit.max(1)
    }

    /// May a rank hold the vectors of all?
    fn has_room(&self) -> bool {
        let Context { facts, config, .. } = self.context;
        self.bytes.saturating_mul(facts.p.into()) <= config.max_tmp_size
    }

    /// The algorithm that keeps the order of ranks.
    fn ordered(&self) -> Algorithm {
        match self.reducing() {
            Reducing::All if self.is_short() => Algorithm::Gather,
            Reducing::Scan => Algorithm::Pipelined,
            Reducing::All | Reducing::Scattered if self.is_for_a_split() => Algorithm::Split,
            Reducing::All | Reducing::Root | Reducing::Scattered => Algorithm::Ordered,
        }
    }

    /// Are few rounds by the model faster than a message to every other rank, where only the order of ranks counts?
    /// Whether ranks share memory must not count where the bits do not depend on it.
    fn is_for_a_split(&self) -> bool {
        let (facts, model) = (self.context.facts, self.model());
        let form = self.form(Algorithm::Ordered);
        let p = facts.members(form);
        let others = self.bytes - self.bytes / u64::from(p.max(1));
        !self.is_promised()
            && (form == Form::Flat || facts.nodes > 1)
            && model.split_us(p, others) < model.straight_us(p, others)
    }

    /// The cost of messages between those that reduce. The order of operands depends on blocks and trees: so unless it
    /// changes no bit, this is what the user says of the network, and nothing that was measured.
    fn model(&self) -> Model {
        let Context { facts, config, .. } = self.context;
        match self.operator.exact {
            true => facts.models(config).0,
            false => config.network.models().0,
        }
    }

    /// The latency of the tree [`Algorithm::Postal`].
    pub fn latency(&self) -> u32 {
        self.model().backwards().latency(self.bytes)
    }

    /// Are there two ways over nodes with the same bits: leaders, or lanes, halve and spread a short vector, or leaders
    /// gather what their nodes have?
    fn has_two_ways(&self) -> bool {
        let over_nodes = |algorithm| self.form(algorithm) != Form::Flat;
        self.reducing() == Reducing::All
            && self.context.facts.nodes > 1
            && over_nodes(Algorithm::Halving)
            && over_nodes(Algorithm::Gather)
            && self.is_short()
    }

    /// Is halving the faster one of them by the model? What was measured of the network counts.
    fn is_for_halving(&self) -> bool {
        self.is_cut_freely() && self.has_two_ways() && self.halving_ratio() < 1.0
    }

    /// Has a vector the same bits in whatever pieces it is reduced? An operator of the user's may round the last
    /// elements of a piece otherwise than the first ones, as vectorised loops do.
    fn is_cut_freely(&self) -> bool {
        self.operator.exact || self.operator.built_in
    }

    /// How many times as long as a gather over nodes halving takes by the model.
    fn halving_ratio(&self) -> f64 {
        let Context { facts, config, .. } = self.context;
        let (gather_us, halving_us) = self.times_us(&facts.models(config).0.sustained());
        halving_us / gather_us.max(1e-3)
    }

    /// Microseconds of a short vector between nodes, gathered and halved.
    fn times_us(&self, model: &Model) -> (f64, f64) {
        let Context { facts, config, .. } = self.context;
        // Elements that are evaluated alike are joined together.
        let pieces = match self.operator.exact {
            true => 1,
            false => self.elements().min(facts.p.into()),
        };
        let (nodes, leaders) = (facts.nodes, Form::Nodes { lanes: 1 });
        let steps = Steps::new(nodes, facts.radix_behind(leaders, self.bytes, config));
        (
            model.gather_us(nodes, &steps, self.bytes, pieces),
            model.halving_us(nodes, &steps, self.bytes),
        )
    }

    /// The algorithm for a commutative operator.
    fn usual(&self) -> Algorithm {
        match self.reducing() {
            Reducing::All if self.is_short() && !self.is_for_halving() => Algorithm::Gather,
            Reducing::All if self.counts_flat_rounds() && self.bytes < LEAST_BYTES => {
                Algorithm::Census
            }
            Reducing::Root if self.is_for_a_tree() => Algorithm::Postal,
            Reducing::Root => Algorithm::Circulant,
            Reducing::Scan if self.scans_through_memory() || self.is_for_a_pipeline() => {
                Algorithm::Pipelined
            }
            Reducing::Scan => Algorithm::Doubling,
            Reducing::Scattered if self.is_uneven() => Algorithm::Circulant,
            Reducing::All | Reducing::Scattered => Algorithm::Halving,
        }
    }

    /// The algorithm for this operator.
    fn preferred(&self) -> Algorithm {
        match self.is_ordered() {
            true => self.ordered(),
            false => self.usual(),
        }
    }

    /// Does an algorithm keep the order of ranks, as it is carried out?
    fn keeps_order(&self, algorithm: Algorithm) -> bool {
        match self.reducing() {
            Reducing::All => match algorithm.of_all_reduction() {
                AllReductionAlgorithm::Halving
                | AllReductionAlgorithm::Census
                | AllReductionAlgorithm::Dissemination
                | AllReductionAlgorithm::Ring
                | AllReductionAlgorithm::ReduceBcast
                | AllReductionAlgorithm::FullLane => false,
                AllReductionAlgorithm::Split
                | AllReductionAlgorithm::Doubling
                | AllReductionAlgorithm::DualRoot => self.promise() != Reproducible::Order,
                trees!(AllReductionAlgorithm) => self.tree_keeps_order(algorithm),
                AllReductionAlgorithm::Gather | AllReductionAlgorithm::Ordered => true,
            },
            Reducing::Root => match algorithm.of_reduction() {
                ReductionAlgorithm::Circulant
                | ReductionAlgorithm::Halving
                | ReductionAlgorithm::Ring
                | ReductionAlgorithm::FullLane => false,
                ReductionAlgorithm::Postal | trees!(ReductionAlgorithm) => {
                    self.tree_keeps_order(algorithm)
                }
                ReductionAlgorithm::Ordered => true,
            },
            Reducing::Scattered => match algorithm.of_scattered_reduction() {
                ScatteredReductionAlgorithm::Halving
                | ScatteredReductionAlgorithm::Circulant
                | ScatteredReductionAlgorithm::Ring
                | ScatteredReductionAlgorithm::FullLane => false,
                ScatteredReductionAlgorithm::Split => self.promise() != Reproducible::Order,
                ScatteredReductionAlgorithm::Ordered => true,
            },
            Reducing::Scan => match algorithm.of_scan() {
                ScanAlgorithm::Doubling
                | ScanAlgorithm::Hypercube
                | ScanAlgorithm::Mesh
                | ScanAlgorithm::InOrder
                | ScanAlgorithm::TwoTree => self.promise() != Reproducible::Order,
                ScanAlgorithm::Pipelined => true,
            },
        }
    }

    /// Does a tree? The result of each is the same as in the order of ranks, but only a star, which takes one operand
    /// after the other, gives its bits.
    fn tree_keeps_order(&self, tree: Algorithm) -> bool {
        tree == Algorithm::Linear || self.promise() != Reproducible::Order
    }

    /// Must what goes over nodes keep the order of ranks, because it is a scan, or the operator does not commute?
    fn is_in_order(&self) -> bool {
        self.context.facts.nodes > 1
            && (self.reducing() == Reducing::Scan || !self.operator.commutes)
    }

    /// Between whom. On one node that is through the memory that its ranks share, where there is a way with the same
    /// bits as by messages.
    fn form(&self, algorithm: Algorithm) -> Form {
        let Context { facts, config, .. } = self.context;
        let is_placed = self.promise() == Reproducible::Placement;
        let is_one = facts.nodes == 1;
        let is_flat = match is_one {
            true => !config.shm || self.unit > SLOT_UNIT_MAX,
            false => self.is_promised() || (self.is_in_order() && !facts.consecutive),
        };
        match algorithm {
            _ if facts.widest == 1 || is_flat => Form::Flat,
            _ if self.is_in_order() && !goes_in_order(algorithm) => Form::Flat,
            Algorithm::FullLane => self.full_lane().unwrap_or(Form::Flat),
            _ if config.hierarchy == Hierarchy::Flat => Form::Flat,
            _ if self.is_in_order() => Form::Nodes { lanes: 1 },
            Algorithm::Ordered | Algorithm::Gather | Algorithm::Pipelined if is_one => {
                Form::Nodes { lanes: facts.p }
            }
            // The parts of all ranks come to the root.
            Algorithm::Halving if self.reducing() == Reducing::Root => Form::Flat,
            Algorithm::Halving if let Some(places) = facts.places() => {
                Form::Nodes { lanes: places }
            }
            // One rank of each node halves.
            Algorithm::Halving | Algorithm::Gather => Form::Nodes { lanes: 1 },
            // Over nodes its tree is another one. In a reduce-scatter every rank is a root.
            Algorithm::Circulant if self.reducing() == Reducing::Root && !is_placed => {
                Form::Nodes {
                    lanes: facts.lanes(config),
                }
            }
            Algorithm::Circulant
            | Algorithm::Ring
            | Algorithm::Postal
            | Algorithm::Ordered
            | Algorithm::Split
            | Algorithm::Doubling
            | Algorithm::Pipelined
            | Algorithm::Dissemination
            | Algorithm::Census
            | Algorithm::ReduceBcast
            | Algorithm::Hypercube
            | Algorithm::DualRoot
            | reduces_nothing!(Algorithm)
            | trees!(Algorithm) => Form::Flat,
        }
    }

    /// The lanes of full-lane. Halving has them between nodes of as many ranks only.
    fn full_lane(&self) -> Option<Form> {
        let facts = self.context.facts;
        let needs_even = self.reducing() != Reducing::Root;
        let fits = !needs_even || facts.places().is_some();
        facts.full_lane().filter(|_| fits)
    }

    /// Is a long vector by the model scanned faster in blocks along the ranks than in few rounds of all of it? What was
    /// measured may say so of exact operators only, and others keep to one order.
    fn is_for_a_pipeline(&self) -> bool {
        let Context { facts, config, .. } = self.context;
        if !self.operator.exact || facts.nodes == 1 {
            return false;
        }
        let (between, _) = facts.models(config);
        let doubling_us = self.doubling_us(self.form(Algorithm::Doubling));
        let pipelined_us = between.chain_us(facts.p, self.bytes, self.chain_blocks());
        PIPELINE_MARGIN * pipelined_us < doubling_us
    }

    /// Microseconds of a scan by doubling between these, by the model.
    fn doubling_us(&self, form: Form) -> f64 {
        let Context { facts, config, .. } = self.context;
        let (between, inside) = facts.models(config);
        match form {
            Form::Flat => between.scan_us((facts.p, facts.widest), self.bytes),
            Form::Nodes { .. } => {
                between.node_scan_us(&inside, (facts.nodes, facts.widest), self.bytes)
            }
        }
    }

    /// Does a scan pass through the memory that the ranks of the only node share? There it keeps to the order of ranks,
    /// which a scan between nodes does not, unless it must.
    fn scans_through_memory(&self) -> bool {
        let is_placed = self.promise() == Reproducible::Placement;
        !is_placed && self.form(Algorithm::Pipelined) != Form::Flat
    }
}

impl Reduction<'_> {
    /// Why not even an operator that commutes allows an algorithm, if it does not; or nodes or promises do not.
    fn refuses(&self, algorithm: Algorithm) -> Option<Why> {
        if algorithm == Algorithm::FullLane {
            let lacks_lanes = !self.is_ordered() && self.form(algorithm) == Form::Flat;
            return lacks_lanes.then(|| match self.full_lane() {
                Some(_) => Why::Promise,
                None => Why::NoLanes,
            });
        }
        if self.reducing() != Reducing::All {
            return None;
        }
        let (needs_exact, repeats) = match algorithm.of_all_reduction() {
            AllReductionAlgorithm::Census => (true, false),
            AllReductionAlgorithm::Dissemination => (true, true),
            AllReductionAlgorithm::Halving
            | AllReductionAlgorithm::Gather
            | AllReductionAlgorithm::Ordered
            | AllReductionAlgorithm::Split
            | AllReductionAlgorithm::Doubling
            | AllReductionAlgorithm::DualRoot
            | AllReductionAlgorithm::Ring
            | AllReductionAlgorithm::ReduceBcast
            | AllReductionAlgorithm::FullLane
            | trees!(AllReductionAlgorithm) => (false, false),
        };
        match self.operator {
            OperatorProperties { exact: false, .. } if needs_exact => Some(Why::Inexact),
            OperatorProperties {
                idempotent: false, ..
            } if repeats => Some(Why::Repeats),
            OperatorProperties { .. } => None,
        }
    }

    /// Are parts so long, or long ones so close together, that halving would take much longer than with equal parts?
    fn has_long_part(&self) -> bool {
        self.fullest > self.bytes.saturating_mul(UNEVEN)
    }

    /// Is the circulant reduction faster than halving between all ranks, which it is to replace? Where the bits do not
    /// depend on the nodes, no form may count.
    fn is_uneven(&self) -> bool {
        let flat = self.promise() == Reproducible::Placement
            || self.form(Algorithm::Halving) == Form::Flat;
        self.has_long_part() && flat
    }
}

impl Problem for Reduction<'_> {
    fn context(&self) -> Context<'_> {
        self.context
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.bytes)
    }

    fn choose(&self) -> Choice {
        match super::problem::choose(self) {
            // Where the same bits are promised, nothing but the bits counts, not even who was asked for.
            Choice::Host(
                Why::OneNode | Why::Small | Why::SmallComm | Why::Slower | Why::Configured,
            ) if self.is_promised() => self.as_promised(),
            choice @ (Choice::Host(_) | Choice::Rondo(_)) => self.with_bits(choice),
        }
    }

    fn ruled(&self, ruling: Ruling) -> Choice {
        match super::problem::ruled(self, ruling) {
            Choice::Host(Why::Rule) if self.is_promised() => self.as_promised(),
            choice @ (Choice::Host(_) | Choice::Rondo(_)) => self.with_bits(choice),
        }
    }

    fn automatic(&self) -> Result<Algorithm, Why> {
        self.worthwhile()?;
        Ok(self.preferred())
    }

    fn by(&self, algorithm: Algorithm, block_bytes: u64) -> Choice {
        let (algorithm, otherwise) = match self.refuses(algorithm) {
            Some(why) => (self.usual(), why),
            None => (algorithm, Why::Auto),
        };
        let (algorithm, why) = match self.is_ordered() && !self.keeps_order(algorithm) {
            true => (self.ordered(), Why::Order),
            false if algorithm == Algorithm::Gather && !self.has_room() => {
                let other = match self.is_ordered() {
                    true => Algorithm::Ordered,
                    false => Algorithm::Halving,
                };
                (other, Why::Memory)
            }
            false => (algorithm, otherwise),
        };
        let form = self.form(algorithm);
        Choice::Rondo(Method {
            algorithm,
            form,
            blocks: self.blocks(algorithm, form, block_bytes),
            why,
        })
    }

    fn first(&self) -> Choice {
        self.by(self.preferred(), self.context.config.block_bytes)
    }

    /// The other one of two ways with the same bits.
    fn second(&self) -> Option<(Algorithm, f64)> {
        if self.reducing() == Reducing::Root && !self.is_ordered() && self.counts_rounds() {
            let ratio = self.tree_ratio();
            return Some(match self.is_for_a_tree() {
                true => (Algorithm::Circulant, ratio.recip()),
                false => (Algorithm::Postal, ratio),
            });
        }
        let ratio = self.has_two_ways().then(|| self.halving_ratio())?;
        Some(match self.is_for_halving() {
            true => (Algorithm::Gather, ratio.recip()),
            false => (Algorithm::Halving, ratio),
        })
    }

    /// Of short vectors of all ranks, each on a node of its own: what passes inside nodes is not known, nor is what the
    /// reducing itself takes of long ones, and by an operator of the program's own.
    fn predicted_us(&self) -> Option<f64> {
        let Context { facts, config, .. } = self.context;
        let is_messages = facts.widest == 1 && self.operator.built_in;
        let is_short = self.reducing() == Reducing::All && self.is_short();
        if !is_messages || !is_short || !facts.is_known(config) {
            return None;
        }
        let Choice::Rondo(Method { algorithm, .. }) = self.first() else {
            return None;
        };
        let (gather_us, halving_us) = self.times_us(&facts.models(config).0);
        if algorithm == Algorithm::Gather {
            Some(gather_us)
        } else {
            (algorithm == Algorithm::Halving).then_some(halving_us)
        }
    }

    /// Calls that may be the host's, and others that may not, have classes of their own.
    #[inline]
    fn size_class(&self, choice: Choice) -> Option<(SizeClass, Candidate)> {
        let class = SizeClass::of(self.bytes, self.may_be_hosts());
        default_of(choice).map(|default| (class, default))
    }

    /// The host is tried where it gives the same bits as Rondo.
    fn prior(&self, choice: Choice) -> Option<Prior> {
        let (class, _) = self.size_class(choice)?;
        let mut prior = doubt(class, self.second());
        if !self.may_be_hosts() {
            prior.expected[Candidate::Host as usize] = None;
        }
        Some(prior)
    }

    /// Where the host and Rondo, or two ways of Rondo's, give the same bits.
    #[inline]
    fn learns(&self, choice: Choice) -> bool {
        let has_others = || self.is_cut_freely() && self.has_two_ways();
        is_doubted(choice) && (self.may_be_hosts() || has_others())
    }
}
