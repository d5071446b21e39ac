//! From how many bytes on, and up to how many, Rondo is expected to be the faster one in a reduction.

#![forbid(unsafe_code)]

use super::{Reduction, SLOT_UNIT_MAX};
use crate::algorithm::Algorithm;
use crate::collective::{LEAST_BYTES, Reducing};
use crate::decide::{Context, Form, Why};
use std::ops::RangeInclusive;

/// The fewest bytes of a vector that halving reduces at least as fast as every host (docs/results/reductions.md):
/// between ranks that have a node each, and over nodes. It is for numbers of ranks that are powers of two, where hosts
/// have halving as well. Among others they need more rounds or more bytes, and Rondo does not: there
/// [`LEAST_BYTES`] is the limit.
const HALVING_BYTES: u64 = 128 << 10;
/// See [`HALVING_BYTES`].
const LANES_BYTES: u64 = 64 << 10;

/// The fewest bytes of a vector that ranks with a node each reduce to parts at least as fast as every host where few
/// rounds count and their number is no power of two: with less, a round more costs hosts next to nothing.
const SHORT_PARTS_BYTES: u64 = 512;

/// On nodes with more ranks than so many in the mean, leaders that gather short vectors are at least as fast as hosts,
/// whose ranks each send to other nodes; hosts with leaders of their own send as little.
const FULL_NODE: u64 = 3;

/// The fewest bytes of a vector that leaders reduce to a root at least as fast as every host.
const LEADERS_BYTES: u64 = 64 << 10;

/// The fewest bytes of a vector that the ranks of one node reduce through their memory by a user's operator.
const NODE_USER_BYTES: u64 = 16 << 10;

/// The bytes of a vector that the ranks of one node reduce through their memory at least as fast as every host
/// (docs/results/reductions.md): so that all have the result,
const NODE_BYTES: RangeInclusive<u64> = 4 << 10..=u64::MAX;
/// one of them,
const NODE_ROOT_BYTES: RangeInclusive<u64> = 8 << 10..=u64::MAX;
/// or each a part.
const NODE_PARTS_BYTES: RangeInclusive<u64> = 16 << 10..=u64::MAX;
/// The same where the host copies.
const NODE_PARTS_BYTES_BESIDE_COPIES: RangeInclusive<u64> = 16 << 10..=1 << 20;

/// Vectors of all ranks together that every rank takes to reduce them by itself, in bytes: more would take longer than
/// to reduce them in parts.
const GATHER_BYTES: u64 = 64 << 10;

impl Reduction<'_> {
    /// Are the vectors that travel together so short that one takes them all? Ranks that share memory better share what
    /// a user's operator has to do.
    pub(super) fn is_short(&self) -> bool {
        let vectors = match self.form(Algorithm::Gather) {
            Form::Nodes { .. } if self.context.facts.nodes > 1 => self.context.facts.nodes,
            Form::Nodes { .. } if !self.operator.built_in => return false,
            Form::Nodes { .. } | Form::Flat => self.context.facts.p,
        };
        self.bytes.saturating_mul(vectors.into()) <= GATHER_BYTES
    }

    /// Do few rounds count, where no ranks share the link of a node?
    pub(super) fn counts_flat_rounds(&self) -> bool {
        self.context.facts.widest == 1 && self.counts_rounds()
    }

    /// Is a scan by the model faster between one rank of each node, with memory inside nodes, than between all ranks? A
    /// clock may say so only if the bits do not change.
    fn scans_over_nodes(&self) -> bool {
        let Context { facts, config, .. } = self.context;
        let has_memory = config.shm && self.unit <= SLOT_UNIT_MAX;
        if !self.operator.exact || !has_memory || facts.host_leads || !facts.is_known(config) {
            return false;
        }
        let form = self.form(Algorithm::Doubling);
        form != Form::Flat && self.doubling_us(form) < self.doubling_us(Form::Flat)
    }

    /// Is Rondo expected to be the faster one?
    pub(super) fn worthwhile(&self) -> Result<(), Why> {
        let least = match self.context.wish().min_bytes {
            Some(min) => min,
            None if self.context.facts.nodes == 1 => return self.worthwhile_on_one_node(),
            None if !self.may_be_faster() || !self.operator.commutes => return Err(Why::Slower),
            None => self.least_bytes(),
        };
        match self.bytes < least {
            true => Err(Why::Small),
            false => Ok(()),
        }
    }

    /// May Rondo be the faster one over nodes, if vectors are long enough?
    fn may_be_faster(&self) -> bool {
        let Context { facts, config, .. } = self.context;
        let is_even = facts.places().is_some();
        let leads = || self.form(self.preferred()) != Form::Flat;
        match self.reducing() {
            // Ranks of a node would share its link.
            Reducing::All => is_even || leads(),
            Reducing::Scattered => {
                (is_even || (config.shm && leads())) && (!self.has_long_part() || facts.widest == 1)
            }
            Reducing::Root => true,
            // Elsewhere no faster than the usual algorithm of hosts.
            Reducing::Scan => self.counts_flat_rounds() || self.scans_over_nodes(),
        }
    }

    /// The fewest bytes of a vector from which on it is, where it may be.
    fn least_bytes(&self) -> u64 {
        let Context { facts, config, .. } = self.context;
        let is_between_powers = !facts.p.is_power_of_two();
        let is_full = u64::from(facts.p) > FULL_NODE * u64::from(facts.nodes) && !facts.host_leads;
        let leads = || self.form(self.preferred()) != Form::Flat;
        match self.reducing() {
            // Few messages of one rank of each node, and memory inside nodes.
            Reducing::All
                if self.operator.built_in
                    && config.shm
                    && is_full
                    && self.is_short()
                    && leads() =>
            {
                1
            }
            Reducing::All if self.is_short() && self.counts_rounds() => 1,
            Reducing::All if self.counts_flat_rounds() => 1,
            Reducing::Root if self.counts_flat_rounds() => 1,
            Reducing::Root | Reducing::Scattered if self.gains() => 1,
            Reducing::Scan => 1,
            // Two rounds less than hosts have.
            Reducing::Scattered if self.counts_flat_rounds() && is_between_powers => {
                SHORT_PARTS_BYTES
            }
            Reducing::Scattered if self.counts_flat_rounds() => LEAST_BYTES,
            // Each rank of a node has its share of what goes between nodes.
            Reducing::All if self.counts_rounds() => LEAST_BYTES,
            Reducing::All | Reducing::Scattered if is_between_powers => LEAST_BYTES,
            Reducing::All if facts.widest > 1 => LANES_BYTES,
            Reducing::All => HALVING_BYTES,
            Reducing::Scattered if facts.widest == 1 => HALVING_BYTES,
            Reducing::Root if facts.widest > 1 => LEADERS_BYTES,
            Reducing::Scattered if facts.places().is_none() => LANES_BYTES,
            Reducing::Scattered | Reducing::Root => LEAST_BYTES,
        }
    }

    /// Are there too few elements for every rank to have some of what a user's operator has to do?
    fn is_scanty(&self) -> bool {
        !self.operator.built_in && self.elements() < self.context.facts.p.into()
    }

    /// The same where all ranks share memory.
    fn worthwhile_on_one_node(&self) -> Result<(), Why> {
        let worth = match self.reducing() {
            Reducing::All => NODE_BYTES,
            Reducing::Root => NODE_ROOT_BYTES,
            Reducing::Scattered if self.context.facts.host_copies => NODE_PARTS_BYTES_BESIDE_COPIES,
            Reducing::Scattered => NODE_PARTS_BYTES,
            // Scans are hardly faster than the host's where few cores share them (docs/results/reductions.md).
            Reducing::Scan => return Err(Why::OneNode),
        };
        let least = match self.operator.built_in {
            true => *worth.start(),
            false => NODE_USER_BYTES.max(*worth.start()),
        };
        match self.form(self.preferred()) {
            Form::Flat => Err(Why::OneNode),
            Form::Nodes { .. } if self.is_scanty() => Err(Why::Slower),
            Form::Nodes { .. } if self.bytes < least => Err(Why::Small),
            Form::Nodes { .. } if self.bytes > *worth.end() => Err(Why::Slower),
            Form::Nodes { .. } => Ok(()),
        }
    }
}
