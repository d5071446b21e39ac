//! The cost model: a message of b bytes takes alpha + beta b, its sender can begin the next one after gap + beta b, and
//! what follows for blocks. It is LogGP (Alexandrov et al., JPDC 44, 1997) with one overhead for both ends.

#![forbid(unsafe_code)]

use crate::algorithm::Algorithm;
use crate::schedule::{Circulant, Parts, postal};

/// Blocks at the most. The pipeline's ceil(log2 p) - 1 extra rounds are far below 1 % of the time
/// there, and the record of which blocks of a part have arrived stays at 1 KiB.
pub const BLOCKS_MAX: u32 = 8192;

/// With this many blocks the pipeline is full: ceil(log2 p) - 1 rounds more or less do not matter,
/// and blocks may become longer.
const FULL_PIPELINE: u64 = 512;

/// Bytes of a block at the most: the host counts the bytes of a message in a C `int`.
pub const BLOCK_BYTES_MAX: u64 = 1 << 30;

/// Cost in microseconds of one more piece in a message: finding, copying and noting it at both ends.
const PIECE_US: f64 = 0.02;

/// The part of the fixed cost of a message for which its receiver can do nothing else, as measured by
/// others for 100 Gbit/s: 0.6 us of 1.9 us.
const ROOT_SHARE: f64 = 0.3;

/// How many times as long as sending alone a rank is busy with sending a message and receiving another one: 0.6 us for
/// receiving against 0.3 us for sending, as measured by others for 100 Gbit/s.
pub const BOTH_ENDS: f64 = 3.0;

/// Nanoseconds that a block costs more for each of its bytes and each rank that passes it on: it is
/// copied twice, and longer messages have slower protocols. With 1.9 us for alpha this puts the
/// crossover near 1 KiB for 36 ranks and near 20 KiB for 576, where simulations find it.
const PASSING_NS: f64 = 1.5;

/// The shortest block that may go straight. With few ranks there is little to choose between the ways.
const LONG_BLOCK_MIN: u64 = 1024;

/// From here on all blocks go straight: hosts agree on such a message before they send it, so that most
/// of its fixed cost is not the root's time.
const LONG_BLOCK_MAX: u64 = 32 << 10;

/// Cost of a message between two ranks.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Microseconds that a message takes however short it is.
    pub alpha_us: f64,
    /// Microseconds from the beginning of a short message to when its sender can begin the next one.
    pub gap_us: f64,
    /// Cost in nanoseconds for every 1024 bytes.
    pub beta_ns_per_kb: f64,
}

impl Model {
    /// The number of blocks that makes a broadcast of `bytes` bytes fastest whose first block is everywhere
    /// after q = `rounds` rounds, or an all-broadcast of as many in parts of `parts` ranks.
    ///
    /// The schedule is a pipeline: a rank begins a round g + beta m / n after the one before, but its first block has
    /// come q latencies after the root's. T(n) = (n - 1 + q)(g + beta m / n) + q (alpha - g) has its least value at n =
    /// sqrt((q - 1) beta m / g). Here g is the time in which a rank sends one message and receives another. (With g =
    /// alpha this is Träff, arXiv 2205.10072, section 2, where a round ends with the arrival of its block.) The model
    /// knows nothing of protocols, so there are more blocks than that where they would exceed `eager_bytes` and the
    /// pipeline is not full. Every part costs a little in every round, which counts towards g.
    pub fn blocks(&self, rounds: u32, bytes: u64, eager_bytes: u64, parts: u64) -> u32 {
        let best = self.best_blocks(rounds, bytes, parts);
        let short = bytes.div_ceil(eager_bytes).min(FULL_PIPELINE);
        clamp((best.round() as u64).max(short), bytes)
    }

    /// The same for the model alone.
    fn best_blocks(&self, rounds: u32, bytes: u64, parts: u64) -> f64 {
        let (q, total_us) = (f64::from(rounds.max(1)), self.beta_us() * bytes as f64);
        ((q - 1.0) * total_us / self.round_us(parts).max(1e-6)).sqrt()
    }

    /// T(n) as in [`Model::blocks`].
    fn pipeline_us(&self, rounds: u32, bytes: u64, parts: u64, n: f64) -> f64 {
        let (q, total_us) = (f64::from(rounds.max(1)), self.beta_us() * bytes as f64);
        (n - 1.0 + q) * (self.round_us(parts) + total_us / n) + q * (self.alpha_us - self.gap())
    }

    /// Microseconds of a broadcast of `bytes` bytes whose first block is everywhere after `rounds` rounds, in
    /// the best number of blocks: T(n) as in [`Model::blocks`].
    pub fn broadcast_us(&self, rounds: u32, bytes: u64) -> f64 {
        let n = self.best_blocks(rounds, bytes, 1).round().max(1.0);
        self.pipeline_us(rounds, bytes, 1, n)
    }

    /// How many messages of `bytes` bytes a rank can begin while one travels. Messages that are under way share their
    /// sender's link, and where that takes most of the time, more of them are not faster: then this is 1.
    pub fn latency(&self, bytes: u64) -> u32 {
        let link_us = self.beta_us() * bytes as f64;
        let latency = (self.alpha_us + link_us) / (self.gap_us + link_us).max(1e-6);
        let latency = (latency.ceil() as u32).clamp(1, postal::LATENCY_MAX);
        match f64::from(latency) * link_us > self.alpha_us {
            true => 1,
            false => latency,
        }
    }

    /// Microseconds of a broadcast of a single block of `bytes` bytes to `p` ranks by a tree
    /// ([`crate::schedule::postal`]).
    pub fn tree_us(&self, p: u32, bytes: u64) -> f64 {
        let latency = self.latency(bytes);
        let message_us = self.alpha_us + self.beta_us() * bytes as f64;
        f64::from(postal::time(p, latency)) * message_us / f64::from(latency)
    }

    /// The faster way for an all-broadcast of `parts`.
    pub fn all_broadcast(&self, parts: &Parts, eager_bytes: u64) -> Algorithm {
        if parts.largest() == parts.total() / u64::from(parts.p()) {
            return Algorithm::Bruck; // equal parts: no byte travels twice, in the fewest rounds
        }
        let (bruck_us, circulant_us) = self.all_broadcast_us(parts, eager_bytes);
        match bruck_us <= circulant_us {
            true => Algorithm::Bruck,
            false => Algorithm::Circulant,
        }
    }

    /// Microseconds of an all-broadcast of `parts` in whole parts in q rounds, where the busiest rank counts in each;
    /// and in as many blocks as are best.
    pub fn all_broadcast_us(&self, parts: &Parts, eager_bytes: u64) -> (f64, f64) {
        let (p, m) = (parts.p(), parts.total());
        let graph = Circulant::new(p);
        let q = graph.q() as f64;
        let busiest = |skips: &[u32]| {
            let width = skips[1] - skips[0];
            (0..p).map(|first| parts.window(first, width)).max()
        };
        let whole: u64 = graph.skips().windows(2).filter_map(busiest).sum();
        let contributors = parts.contributors().len() as u64;
        let n = f64::from(self.blocks(graph.q() as u32, m, eager_bytes, contributors));
        let bruck_us = q * self.alpha_us + whole as f64 * self.beta_us();
        (
            bruck_us,
            self.pipeline_us(graph.q() as u32, m, contributors, n),
        )
    }

    /// Microseconds of a broadcast of `bytes` bytes in `rounds` rounds, in each of which who has all of it sends it to
    /// another rank: the usual binomial tree.
    pub fn binomial_us(&self, rounds: u32, bytes: u64) -> f64 {
        f64::from(rounds) * (self.alpha_us + self.beta_us() * bytes as f64)
    }

    /// From how many bytes on a block of a gather or scatter among `p` ranks goes straight from or to the
    /// root.
    ///
    /// Straight, the root spends `ROOT_SHARE` alpha on each of p - 1 messages, or two gaps where most of alpha is the
    /// network's; through the tree, the
    /// last block comes after q - 1 more messages, each of which takes `PASSING_NS` more for a byte of
    /// a block. In both the root's link carries every byte once, so beta does not matter. (docs/algorithms.md)
    pub fn long_block(&self, p: u32) -> u64 {
        let q = f64::from(p.max(2).next_power_of_two().trailing_zeros());
        // Receiving takes twice as long as sending; but nothing takes more of a message than its share.
        let root_us = (ROOT_SHARE * self.alpha_us).min((BOTH_ENDS - 1.0) * self.gap_us);
        let saved_us = root_us * (f64::from(p) - 1.0) - self.alpha_us * (q - 1.0);
        let bytes = saved_us * 1000.0 / (q * PASSING_NS);
        (bytes as u64).clamp(LONG_BLOCK_MIN, LONG_BLOCK_MAX)
    }

    /// What a round takes besides the time of its bytes, if its message has a block of each of so many parts.
    fn round_us(&self, parts: u64) -> f64 {
        self.gap() + (parts - 1) as f64 * PIECE_US
    }

    /// The gap of a pipeline, where a rank sends and receives in every round; no more than a whole message takes.
    fn gap(&self) -> f64 {
        (BOTH_ENDS * self.gap_us).min(self.alpha_us)
    }

    /// Bytes that pass in a microsecond.
    pub fn bytes_per_us(&self) -> f64 {
        self.beta_us().max(1e-9).recip()
    }

    fn beta_us(&self) -> f64 {
        self.beta_ns_per_kb / 1024.0 / 1000.0
    }
}

/// The number of blocks of about `size` bytes in a message of `bytes` bytes.
pub fn blocks_of(bytes: u64, size: u64) -> u32 {
    clamp(bytes.div_ceil(size.max(1)), bytes)
}

/// The fewest blocks that the host can carry.
pub fn least_blocks(bytes: u64) -> u32 {
    clamp(1, bytes)
}

/// Keeps a number of blocks within what makes sense: none empty, none too long for the host, and not
/// more than `BLOCKS_MAX` unless they would be too long.
fn clamp(blocks: u64, bytes: u64) -> u32 {
    let least = bytes.div_ceil(BLOCK_BYTES_MAX).max(1);
    let most = bytes.clamp(1, u64::from(BLOCKS_MAX)).max(least);
    u32::try_from(blocks.clamp(least, most)).unwrap_or(u32::MAX)
}
