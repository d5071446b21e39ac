//! What calls on a communicator show of its network: whether they contradict the figures that were measured, and at
//! what rate long ones go.

#![forbid(unsafe_code)]

use super::State;
use crate::decide::{self, Choice, Context, Facts, Method, SizeClass};
use crate::host::{self, Failure, Host, Mpi};
use crate::job::{self, KNOWN, Measuring};
use crate::learn::Candidate;
use crate::network::{self, Network, Placement};
use crate::report;
use crate::stats;
use std::sync::atomic::Ordering::Relaxed;

/// A rate that is measured again is another one if it is so many times as high, or as low.
const OTHER_RATE: f64 = 1.2;

impl State {
    /// Is the network to be measured again before the next call that is Rondo's? All ranks know alike.
    #[inline]
    pub fn is_contradicted(&self) -> bool {
        self.record.contradicted.load(Relaxed)
    }

    /// Measures the network. Collective.
    pub fn measure(&self, host: &Host, mpi: &Mpi) -> Result<(), Failure> {
        self.record.contradicted.store(false, Relaxed);
        let measuring = Measuring {
            channel: self.channel(),
            topology: self.topology(),
            config: &self.config,
            known: self.record.network.get(),
            times: self.record.network.times(),
        };
        self.learn(host, &measuring.measure(mpi)?);
        Ok(())
    }

    /// Calls took `nanos` nanoseconds in the mean on the slowest rank, where the least and the most that was expected
    /// of one of them are so many microseconds, and all calls of their size class together took `spent` nanoseconds. If
    /// that contradicts what is known of the network, it is measured again before the next call. All ranks say the
    /// same.
    pub fn compare(&self, nanos: u64, expected_us: (f64, f64), spent: u64) {
        let times = self.record.network.times();
        if times == 0 || !self.config.calibrate || !self.told.lacks(false) {
            return; // nothing was measured, or the user knows better
        }
        let is_contradicted = host::with_plain_floats(|| {
            let alpha_us = self.facts().models(&self.config).0.alpha_us;
            let [measured_us, spent_us] = [nanos, spent].map(|nanos| nanos as f64 / 1e3);
            network::is_contradicted(measured_us, expected_us, spent_us, times, alpha_us)
        });
        if is_contradicted {
            self.record.contradicted.store(true, Relaxed);
        }
    }

    /// Takes in a rate between nodes, in bytes per second, that long calls showed. The same on all ranks.
    ///
    /// A higher one than what is known counts at once, for nothing is faster than it can be. A lower one counts half,
    /// because much can make calls slower, above all at their beginning.
    pub fn learn_rate(&self, host: &Host, rate: u64) {
        if let Some(measured) = host::with_plain_floats(|| self.other_rate(rate)) {
            self.learn(host, &measured);
        }
    }

    /// The figures to take in for a rate, if it is another one.
    fn other_rate(&self, rate: u64) -> Option<Network> {
        if self.told.beta_ns_per_kb.is_some() {
            return None; // the user knows better
        }
        let known = self.record.network.get();
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

    /// Takes in figures that all ranks of the communicator agree on.
    fn learn(&self, host: &Host, measured: &Network) {
        host::with_plain_floats(|| {
            let before = self.facts();
            self.record.network.renew(measured);
            KNOWN.note(self.placement(), self.record.network.get());
            self.forget_others(before);
        });
        if self.config.trace && self.rank == 0 {
            let (p, nodes) = (self.facts.p, self.facts.nodes);
            let figures = network::origins(&self.told, &self.record.network.get());
            let line = format!("network of {p} ranks on {nodes} nodes: {figures}");
            report::line(host.world_rank(), &line);
        }
    }

    /// Its nodes.
    fn placement(&self) -> Placement {
        let names = job::job().map(|job| job.names_of(&self.record.ranks));
        job::placement(&names.unwrap_or_default())
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
        let mut learnt = self.record.learnt.lock();
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
