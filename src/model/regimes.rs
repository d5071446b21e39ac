//! Two regimes: blocks that the host sends eagerly, and longer ones, for which it asks first.

#![forbid(unsafe_code)]

use super::{BLOCKS_MAX, Model};
use crate::schedule::Pace;

/// How many messages one is for which the host asks first: a request and an answer go before it (rendezvous).
const RENDEZVOUS: f64 = 3.0;

/// How many times as long the bytes of such a message take on a slow link, as those of TCP are: processes have to wake
/// up in between, with nothing on the link meanwhile (measured: docs/results/long-messages.md).
const SLOW_RENDEZVOUS: f64 = 1.25;

/// Longer blocks than eager ones are at least so many. Inside a node a block goes through memory when it is there as a
/// whole, and meanwhile the next one is on the network: of one in so many blocks nothing else hides that. And a call
/// that goes on is seen to.
const LONG_BLOCKS: u64 = 128;

impl Model {
    /// Microseconds down a tree, in the blocks of [`Model::tree_blocks`].
    pub fn down_us(&self, pace: Pace, bytes: u64, eager_bytes: u64) -> f64 {
        self.best_down(pace, bytes, eager_bytes).1
    }

    /// Blocks and microseconds down a tree.
    pub(super) fn best_down(&self, pace: Pace, bytes: u64, eager_bytes: u64) -> (u64, f64) {
        let best = |model: &Model| model.best_tree_blocks(pace, bytes);
        let time_us = |model: &Model, n| model.paced_us(pace, bytes, n);
        self.in_regimes(bytes, eager_bytes, best, time_us)
    }

    /// The cost of messages for which the host asks first.
    pub(super) fn rendezvous(&self) -> Model {
        let longer = if self.is_slow() { SLOW_RENDEZVOUS } else { 1.0 };
        Model {
            alpha_us: RENDEZVOUS * self.alpha_us,
            gap_us: RENDEZVOUS * self.gap_us,
            beta_ns_per_kb: longer * self.beta_ns_per_kb,
        }
    }

    /// The number of blocks for a message of `bytes` bytes and the microseconds that they take, if `best` says by the
    /// cost of a block how many would be best, and `time_us` what so many take: eager ones, or fewer and longer ones,
    /// but enough of them, if these are faster after all.
    pub(super) fn in_regimes(
        &self,
        bytes: u64,
        eager_bytes: u64,
        best: impl Fn(&Model) -> f64,
        time_us: impl Fn(&Model, f64) -> f64,
    ) -> (u64, f64) {
        let fewest = bytes.div_ceil(eager_bytes.max(1));
        let eager = (best(self) as u64).max(fewest);
        let asking = self.rendezvous();
        let long = (best(&asking) as u64)
            .max(LONG_BLOCKS)
            .min(fewest.max(2) - 1);
        let (eager_us, long_us) = (time_us(self, eager as f64), time_us(&asking, long as f64));
        let is_long = fewest > BLOCKS_MAX.into() || fewest > 1 && long_us < eager_us;
        match is_long {
            true => (long, long_us),
            false => (eager, eager_us),
        }
    }
}
