//! Measuring the figures of the network that the cost model needs, where neither the user nor rules say them.
//!
//! The leaders of two nodes each, and two ranks of each node, send each other a few messages; then all ranks agree. It
//! takes a private communicator, because a program's receive from any rank with any tag would take such messages. What
//! was measured serves all communicators of a process on the same nodes, and those of its peers: in the handshake each
//! rank tells what it knows.

#![forbid(unsafe_code)]

use super::{FEW_CALLS, State, is_alive};
use crate::collective::{Family, LEAST_BYTES};
use crate::decide::{self, Choice, Context, Facts, Method, SizeClass};
use crate::host::{self, Code, Comm, Failure, Host, Mpi, Peer, Probe};
use crate::learn::Candidate;
use crate::model::SLOW_NS_PER_KB;
use crate::network::{self, Known, Network};
use crate::report;
use crate::stats;
use std::sync::atomic::Ordering::Relaxed;

/// What this process knows.
pub static KNOWN: Known = Known::new();

/// What a call does about figures of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figures {
    /// They are known, or nobody asks for them.
    There,
    /// They are to be measured now. It is said once.
    Missing,
    /// A later call will have them measured, if there is one.
    Later,
}

/// Calls of fewer bytes, or of blocks of fewer bytes, move next to nothing: the sizes of other messages, settings,
/// objects of a script.
const TINY_BYTES: u64 = 1 << 10;

/// So many of them on a communicator do without figures of the network.
const FEW_TINY: u32 = match FEW_CALLS {
    0 => 0,
    1.. => 8,
};

/// A rate that is measured again is another one if it is so many times as high, or as low.
const OTHER_RATE: f64 = 1.2;

impl State {
    /// Are figures of the network missing, about which a call may do something?
    #[inline]
    pub fn is_uncalibrated(&self) -> bool {
        self.uncalibrated.load(Relaxed)
    }

    /// What the next call, which is one of this family, does about figures of the network that are missing. All ranks
    /// know so many bytes of it, if any, and whether it is Rondo's without these figures, and so do alike.
    ///
    /// What is measured takes a private communicator. A program that makes many communicators, and reduces or
    /// broadcasts a few numbers on each, does not have to pay for it.
    #[inline]
    pub fn figures(&self, family: Family, known: Option<u64>, is_rondos: bool) -> Figures {
        if !self.is_uncalibrated() {
            return Figures::There;
        }
        let is_below = |least| known.is_some_and(|bytes| bytes < least);
        let [tiny, others] = &self.early;
        let without = match family {
            Family::Barrier | Family::IrregularExchange => Some((others, FEW_CALLS)),
            Family::AllReduction
            | Family::Reduction
            | Family::ScatteredReduction
            | Family::Scan => is_below(LEAST_BYTES).then_some((others, FEW_CALLS)),
            Family::Broadcast | Family::AllBroadcast | Family::TotalExchange => {
                (!is_rondos && is_below(TINY_BYTES)).then_some((tiny, FEW_TINY))
            }
            // Of how many bytes a gatherv or scatterv is, not all ranks know.
            Family::Rooted => (!is_rondos && (known.is_none() || is_below(TINY_BYTES)))
                .then_some((tiny, FEW_TINY)),
        };
        if without.is_some_and(|(count, few)| count.fetch_add(1, Relaxed) < few) {
            return Figures::Later;
        }
        self.uncalibrated.store(false, Relaxed);
        Figures::Missing
    }

    /// Takes in what the ranks have measured of these nodes on other communicators since the handshake. Collective.
    /// True if nothing is missing any more. If the network is measured again, what is known is what calls contradicted.
    pub fn learn_from_others(&self, mpi: &Mpi) -> Result<bool, Code> {
        if self.network.times() > 0 {
            return Ok(false);
        }
        let serial = self.serial;
        let mut numbers = KNOWN.numbers(Some(self.placement));
        self.max(mpi, self.comm, &mut numbers)?;
        if !is_alive(serial) {
            return Err(Code::intern()); // an error handler freed the communicator and came back with success
        }
        Ok(host::with_plain_floats(|| {
            let before = self.facts();
            self.network.join(&numbers);
            self.forget_others(before);
            !self.facts().network.lacks(self.sends_inside_nodes())
        }))
    }

    /// Measures the network. Collective.
    pub fn calibrate(&self, host: &Host, mpi: &Mpi, private: Comm) -> Result<(), Failure> {
        let node = self.topology.node(self.rank);
        // Of the same number on all ranks, like all figures.
        let (pair, other) = network::pair(node, self.topology.nodes(), self.network.times());
        let measured = self.measure(mpi, private, other)?;
        let mut offers = network::offers(&measured, pair);
        (self.max(mpi, private, &mut offers))
            .map_err(|code| Failure::Host(code, "agreeing on the network"))?;
        let agreed = host::with_plain_floats(|| network::agreed(&offers));
        self.learn(host, mpi, private, &agreed)
    }

    /// Calls took `nanos` nanoseconds in the mean on the slowest rank, where the least and the most that was expected
    /// of one of them are so many microseconds, and all calls of their size class together took `spent` nanoseconds. If
    /// that contradicts what is known of the network, it is measured again before the next call. All ranks say the
    /// same.
    pub fn compare(&self, nanos: u64, expected_us: (f64, f64), spent: u64) {
        let times = self.network.times();
        if times == 0 || !self.config.calibrate || !self.told().lacks(false) {
            return; // nothing was measured, or the user knows better
        }
        let is_contradicted = host::with_plain_floats(|| {
            let alpha_us = self.facts().models(&self.config).0.alpha_us;
            let [measured_us, spent_us] = [nanos, spent].map(|nanos| nanos as f64 / 1e3);
            network::is_contradicted(measured_us, expected_us, spent_us, times, alpha_us)
        });
        if is_contradicted {
            self.uncalibrated.store(true, Relaxed);
        }
    }

    /// The figures that this rank measures: a leader, those between its node and the `other` one; and the lowest rank
    /// of a node, those inside it.
    fn measure(&self, mpi: &Mpi, private: Comm, other: Option<u32>) -> Result<Network, Failure> {
        let topology = &self.topology;
        let node = topology.node(self.rank);
        let locals = topology.locals(node);
        let mut measured = Network::default();
        let peer = |rank| Peer {
            comm: private,
            rank,
            timeout_s: self.config.timeout_s,
        };
        if let Some(other) = other.filter(|_| locals[0] == self.rank) {
            let partner = topology.locals(other)[0];
            let probe = pair(mpi, peer(partner), node < other, true)?;
            measured.alpha_us = probe.latency.map(|seconds| seconds * 1e6);
            measured.gap_us = probe.sending.map(|seconds| seconds * 1e6);
            // Where long messages would have taken too long, the link is slow; but it may let a short one through
            // faster than it is. What long calls showed is better.
            let slow = (probe.slow_byte).map(|seconds| (seconds * 1024e9).max(SLOW_NS_PER_KB));
            let slow = slow.filter(|_| self.network.get().beta_ns_per_kb.is_none());
            measured.beta_ns_per_kb = probe.per_byte.map(|seconds| seconds * 1024e9).or(slow);
        }
        if self.sends_inside_nodes()
            && let [first, second, ..] = *locals
            && (first == self.rank || second == self.rank)
        {
            let asks = first == self.rank;
            let partner = if asks { second } else { first };
            let probe = pair(mpi, peer(partner), asks, false)?;
            measured.node_alpha_us = probe.latency.map(|seconds| seconds * 1e6);
            measured.node_beta_ns_per_kb = probe.per_byte.map(|seconds| seconds * 1024e9);
        }
        Ok(measured)
    }

    /// Do the ranks of a node send each other messages?
    pub(super) fn sends_inside_nodes(&self) -> bool {
        self.facts.widest > 1 && !self.config.shm
    }

    /// Takes in a rate between nodes, in bytes per second, that long calls showed. The same on all ranks. Collective.
    ///
    /// A higher one than what is known counts at once, for nothing is faster than it can be. A lower one counts half,
    /// because much can make calls slower, above all at their beginning.
    pub fn learn_rate(
        &self,
        host: &Host,
        mpi: &Mpi,
        private: Comm,
        rate: u64,
    ) -> Result<(), Failure> {
        match host::with_plain_floats(|| self.other_rate(rate)) {
            Some(measured) => self.learn(host, mpi, private, &measured),
            None => Ok(()),
        }
    }

    /// The figures to take in for a rate, if it is another one.
    fn other_rate(&self, rate: u64) -> Option<Network> {
        if self.told().beta_ns_per_kb.is_some() {
            return None; // the user knows better
        }
        let known = self.network.get();
        let mut beta_ns_per_kb = 1024e9 / rate.max(1) as f64;
        if let Some(known) = known.beta_ns_per_kb.filter(|&known| known < beta_ns_per_kb) {
            beta_ns_per_kb = (beta_ns_per_kb * known).sqrt();
        }
        let ratio = (known.beta_ns_per_kb)
            .map(|known| (known / beta_ns_per_kb).max(beta_ns_per_kb / known));
        let is_other = ratio.is_none_or(|ratio| ratio > OTHER_RATE);
        (self.config.calibrate && is_other).then(|| Network {
            beta_ns_per_kb: Some(beta_ns_per_kb),
            ..Network::default()
        })
    }

    /// Takes in figures that all ranks of the communicator agree on. They are newer than what any of these ranks knows
    /// from other communicators, so that it counts in later ones. Collective.
    fn learn(
        &self,
        host: &Host,
        mpi: &Mpi,
        private: Comm,
        measured: &Network,
    ) -> Result<(), Failure> {
        let mut known = KNOWN.numbers(Some(self.placement));
        (self.max(mpi, private, &mut known))
            .map_err(|code| Failure::Host(code, "agreeing on the network"))?;
        host::with_plain_floats(|| {
            let before = self.facts();
            self.network.renew(measured, &known);
            KNOWN.join(self.placement, &self.network.numbers());
            self.forget_others(before);
        });
        if self.config.trace && self.rank == 0 {
            let (p, nodes) = (self.facts.p, self.facts.nodes);
            let figures = network::origins(&self.told(), &self.network.get());
            let line = format!("network of {p} ranks on {nodes} nodes: {figures}");
            report::line(host.world_rank(), &line);
        }
        Ok(())
    }
}

impl State {
    /// Forgets what was measured of candidates that are other algorithms now than with the facts of `before`, or have
    /// blocks of another size: what the model names first, or second, follows from the figures of the network. All
    /// ranks do so before the same call.
    fn forget_others(&self, before: Facts) {
        let by = |facts, collective, class, candidate| {
            let context = Context {
                collective,
                facts,
                config: &self.config,
            };
            match decide::typical(context, SizeClass::with(class), candidate) {
                Choice::Host(_) => None,
                Choice::Rondo(method) => Some(method),
            }
        };
        let are_alike = |one: Method, other: Method| {
            let (few, many) = (one.blocks.min(other.blocks), one.blocks.max(other.blocks));
            (one.algorithm, one.form) == (other.algorithm, other.form)
                && many <= few.saturating_mul(2)
        };
        let now = self.facts();
        let mut learnt = self.learnt.lock();
        learnt.take_saved(stats::add_saved);
        learnt.forget(|collective, class| {
            // What parts that are not even ask for is not known here.
            if !SizeClass::with(class).even && !collective.family().reduces() {
                return true;
            }
            let is_other = |candidate| {
                let ways = [before, now].map(|facts| by(facts, collective, class, candidate));
                match ways {
                    [None, None] => false,
                    [Some(one), Some(other)] => !are_alike(one, other),
                    [None, Some(_)] | [Some(_), None] => true,
                }
            };
            Candidate::ALL.into_iter().any(is_other)
        });
    }
}

/// This rank and another one measure: one asks, and knows the result.
fn pair(mpi: &Mpi, partner: Peer, asks: bool, gap: bool) -> Result<Probe, Failure> {
    match asks {
        true => mpi.probe(partner, gap),
        false => {
            mpi.answer_probe(partner)?;
            Ok(Probe::default())
        }
    }
}
