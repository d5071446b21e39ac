//! What calls on a communicator show of its network: whether they contradict the figures that were measured, and at
//! what rate long ones go.

#![forbid(unsafe_code)]

use super::State;
use crate::decide;
use crate::host::{self, Failure, Mpi};
use crate::job::{self, KNOWN, Measuring};
use crate::network::{self, Network, Placement};
use crate::stats;
use std::sync::atomic::Ordering::Relaxed;

impl State {
    /// Is the network to be measured again before the next call that is Rondo's? All ranks know alike.
    #[inline]
    pub fn is_contradicted(&self) -> bool {
        self.record.contradicted.load(Relaxed)
    }

    /// Measures the network. Collective.
    pub fn measure(&self, mpi: &Mpi) -> Result<(), Failure> {
        self.record.contradicted.store(false, Relaxed);
        let measuring = Measuring {
            channel: self.channel(),
            topology: self.topology(),
            config: self.config,
            known: self.record.network.get(),
            times: self.record.network.times(),
        };
        self.learn(&measuring.measure(mpi)?);
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
            let alpha_us = self.facts().models(self.config).0.alpha_us;
            let [measured_us, spent_us] = [nanos, spent].map(|nanos| nanos as f64 / 1e3);
            network::is_contradicted(measured_us, expected_us, spent_us, times, alpha_us)
        });
        if is_contradicted {
            self.record.contradicted.store(true, Relaxed);
        }
    }

    /// Takes in a rate between nodes, in bytes per second, that long calls showed. The same on all ranks.
    pub fn learn_rate(&self, rate: u64) {
        let known = self.record.network.get();
        // The user may know better.
        let learns = self.config.calibrate && self.told.beta_ns_per_kb.is_none();
        let other = host::with_plain_floats(|| learns.then(|| known.other_rate(rate)).flatten());
        other.inspect(|measured| self.learn(measured));
    }

    /// Takes in figures that all ranks of the communicator agree on, before the same call.
    fn learn(&self, measured: &Network) {
        host::with_plain_floats(|| {
            let before = self.facts();
            self.record.network.renew(measured);
            let names = job::job().map(|job| job.names_of(&self.record.ranks));
            let nodes = Placement::of(&names.unwrap_or_default());
            KNOWN.note(nodes, self.record.network.get());
            let mut learnt = self.record.learnt.lock();
            learnt.take_saved(stats::add_saved);
            decide::forget_others(&mut learnt, self.config, before, self.facts());
        });
        if self.config.trace && self.rank == 0 {
            let (p, nodes) = (self.facts.p, self.facts.nodes);
            job::tell_of_network(p, nodes, &self.told, &self.record.network.get());
        }
    }
}
