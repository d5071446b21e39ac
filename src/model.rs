//! The cost model: a message of b bytes takes alpha + beta b, its sender can begin the next one after gap + beta b, and
//! what follows for blocks. It is LogGP (Alexandrov et al., JPDC 44, 1997) with one overhead for both ends.

#![forbid(unsafe_code)]

mod predict;
mod radix;
mod regimes;

pub use predict::{Call, Prediction};

use crate::schedule::{Pace, Parts, Steps, postal};

/// Blocks at the most. The pipeline's ceil(log2 p) - 1 extra rounds are far below 1 % of the time
/// there, and the record of which blocks of a part have arrived stays at 1 KiB.
pub const BLOCKS_MAX: u32 = 8192;

/// With so many blocks a pipeline is full: ceil(log2 p) - 1 rounds more or less do not matter.
pub const FULL_PIPELINE: u64 = 512;

/// Bytes of a block at the most: the host counts the bytes of a message in a C `int`.
pub const BLOCK_BYTES_MAX: u64 = 1 << 30;

/// Cost in microseconds of one more piece in a message: finding, copying and noting it at both ends.
const PIECE_US: f64 = 0.02;

/// Cost in microseconds of an operand that is joined by itself, however short it is (measured).
const JOIN_US: f64 = 0.04;

/// A link that takes so many nanoseconds for 1024 bytes, as one of 1 Gbit/s does, is slow. One that has no time for the
/// long messages by which a network is measured is no faster.
pub const SLOW_NS_PER_KB: f64 = 8000.0;

/// A slow link may let short messages through faster than it is until there are too many of them. And processors have
/// work with its messages, so that these take longer between busy ones. Where that would mislead, it is taken for one
/// that needs so many nanoseconds for 1024 bytes,
const SUSTAINED_NS_PER_KB: f64 = 16_000.0;
/// and for a message so many microseconds, at the least.
const SUSTAINED_ALPHA_US: f64 = 50.0;

/// The part of the fixed cost of a message for which its receiver can do nothing else, as measured by
/// others for 100 Gbit/s: 0.6 us of 1.9 us.
const ROOT_SHARE: f64 = 0.3;

/// How many times as long as sending alone a rank is busy with sending a message and receiving another one: 0.6 us for
/// receiving against 0.3 us for sending, as measured by others for 100 Gbit/s.
const BOTH_ENDS: f64 = 3.0;

/// Nanoseconds that a block costs more for each of its bytes and each rank that passes it on: it is
/// copied twice, and longer messages have slower protocols. With 1.9 us for alpha this puts the
/// crossover near 1 KiB for 36 ranks and near 20 KiB for 576, where simulations find it.
const PASSING_NS: f64 = 1.5;

/// The shortest block that may go straight. With few ranks there is little to choose between the ways.
const LONG_BLOCK_MIN: u64 = 1024;

/// From here on all blocks go straight: hosts agree on such a message before they send it, so that most
/// of its fixed cost is not the root's time.
const LONG_BLOCK_MAX: u64 = 32 << 10;

/// Long blocks in flight at the root of a gather or scatter at the most, unless RONDO_WINDOW says otherwise: enough to
/// keep its link busy, few enough for every host's queues. Of more ranks, the root of a gather asks for each.
pub const ASKED_AT_A_TIME: u32 = 64;

/// The largest radix of an all-broadcast of whole parts: the number of messages at a time.
const RADIX_MAX: u32 = 64;

/// Where several ranks send to one at the same time, they get out of step. Bytes take so much longer (measured
/// on emulated links).
const OUT_OF_STEP: f64 = 0.1;

/// How long a pipeline on the circulant graph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Rounds until the first block is everywhere: ceil(log2 p).
    pub rounds: u32,
    /// Messages one after the other on a block's longest way, if there are several blocks: about floor(log2 p) + 1.
    pub latencies: u32,
}

impl Reach {
    /// Among so many ranks.
    pub fn among(ranks: u32) -> Reach {
        Reach {
            rounds: ranks.next_power_of_two().trailing_zeros(),
            latencies: (ranks.max(1).ilog2() + 1).min(ranks.saturating_sub(1)),
        }
    }

    /// One pipeline behind another.
    pub fn then(self, next: Reach) -> Reach {
        Reach {
            rounds: self.rounds + next.rounds,
            latencies: self.latencies + next.latencies,
        }
    }
}

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
    /// The schedule is a pipeline: a rank begins a round g + beta m / n after the one before, but its first block
    /// has come h latencies after the root's. T(n) = (n - 1 + q)(g + beta m / n) + h (alpha - g) has its least
    /// value at n = sqrt((q - 1) beta m / g). Here g is the time in which a rank sends one message and receives
    /// another; and alpha, if there are several parts. (With g = alpha this is Träff, arXiv 2205.10072, section 2,
    /// where a round ends with the arrival of its block.) A single block has h = q. Blocks of more than
    /// `eager_bytes` cost three times g and alpha, so there are more blocks than that, unless the time is less with
    /// longer ones ([`regimes`]). Every part costs a little in every round, which counts towards g.
    pub fn blocks(&self, reach: Reach, bytes: u64, eager_bytes: u64, parts: u64) -> u32 {
        clamp(self.circulant_in(reach, bytes, eager_bytes, parts).0, bytes)
    }

    /// The number of blocks as in [`Model::blocks`], and the microseconds that they take.
    fn circulant_in(&self, reach: Reach, bytes: u64, eager_bytes: u64, parts: u64) -> (u64, f64) {
        let best = |model: &Model| model.best_blocks(reach, bytes, parts);
        let time_us = |model: &Model, n| model.pipeline_us(reach, bytes, parts, n);
        self.in_regimes(bytes, eager_bytes, best, time_us)
    }

    /// The same for the model alone.
    fn best_blocks(&self, reach: Reach, bytes: u64, parts: u64) -> f64 {
        let (q, total_us) = (
            f64::from(reach.rounds.max(1)),
            self.beta_us() * bytes as f64,
        );
        let best = ((q - 1.0) * total_us / self.round_us(parts).max(1e-6)).sqrt();
        let several = best.round().max(1.0);
        let time = |n| self.pipeline_us(reach, bytes, parts, n);
        if time(1.0) <= time(several) {
            1.0
        } else {
            several
        }
    }

    /// T(n) as in [`Model::blocks`].
    fn pipeline_us(&self, reach: Reach, bytes: u64, parts: u64, n: f64) -> f64 {
        let (q, total_us) = (
            f64::from(reach.rounds.max(1)),
            self.beta_us() * bytes as f64,
        );
        let latencies = match n > 1.0 {
            true => f64::from(reach.latencies.max(1)),
            false => q,
        };
        (n - 1.0 + q) * (self.round_us(parts) + total_us / n)
            + latencies * (self.alpha_us - self.gap_of(parts))
    }

    /// Microseconds of a broadcast of `bytes` bytes on the circulant graph in the best number of blocks: T(n) as in
    /// [`Model::blocks`].
    pub fn broadcast_us(&self, reach: Reach, bytes: u64) -> f64 {
        let n = self.best_blocks(reach, bytes, 1);
        self.pipeline_us(reach, bytes, 1, n)
    }

    /// The same in so many blocks.
    pub fn broadcast_in_us(&self, reach: Reach, bytes: u64, blocks: u32) -> f64 {
        self.pipeline_us(reach, bytes, 1, f64::from(blocks.max(1)))
    }

    /// The number of blocks that makes a broadcast of `bytes` bytes to `ranks` ranks over relays fastest
    /// ([`crate::engine::Pattern::Relay`]): a multiple of the number of relays, so that all have as much to do.
    ///
    /// Each of the p - 1 relays has every (p-1)-th block, and passes it on in the time in which the root sends to the
    /// others. T(n) = (n - 1 + p - 1)(g + beta m / n) + 2 (alpha - g) has its least value at n = sqrt((p - 2) beta m /
    /// g). Blocks of more than `eager_bytes` are as in [`Model::blocks`].
    pub fn relay_blocks(&self, ranks: u32, bytes: u64, eager_bytes: u64) -> u32 {
        let relays = u64::from(ranks.max(2) - 1);
        let best = |model: &Model| model.best_turns(ranks, bytes) * relays as f64;
        let time_us = |model: &Model, n| model.relays_us(ranks, bytes, n);
        let (blocks, _) = self.in_regimes(bytes, eager_bytes, best, time_us);
        clamp(blocks.div_ceil(relays) * relays, bytes)
    }

    /// How often each relay has a block: the least of T(n) as in [`Model::relay_blocks`].
    fn best_turns(&self, ranks: u32, bytes: u64) -> f64 {
        let (relays, total_us) = (f64::from(ranks.max(2) - 1), self.beta_us() * bytes as f64);
        let best = ((relays - 1.0) * total_us / self.gap().max(1e-6)).sqrt();
        (best / relays).round().max(1.0)
    }

    /// Microseconds of a broadcast over relays in the best number of blocks.
    pub fn relay_us(&self, ranks: u32, bytes: u64) -> f64 {
        let relays = f64::from(ranks.max(2) - 1);
        self.relays_us(ranks, bytes, self.best_turns(ranks, bytes) * relays)
    }

    /// The same in so many blocks.
    pub fn relay_in_us(&self, ranks: u32, bytes: u64, blocks: u32) -> f64 {
        self.relays_us(ranks, bytes, f64::from(blocks.max(1)))
    }

    /// T(n) as in [`Model::relay_blocks`].
    fn relays_us(&self, ranks: u32, bytes: u64, n: f64) -> f64 {
        let (relays, total_us) = (f64::from(ranks.max(2) - 1), self.beta_us() * bytes as f64);
        (n - 1.0 + relays) * (self.gap() + total_us / n) + 2.0 * (self.alpha_us - self.gap())
    }

    /// The number of blocks that makes a broadcast of `bytes` bytes down a tree, or a reduction up it, fastest.
    ///
    /// A block comes `every` rounds after the one before, and the first one is everywhere after `first` rounds. T(n) =
    /// (first + every (n - 1))(g + beta m / n) + latencies (alpha - g) has its least value at n = sqrt((first - every)
    /// beta m / (every g)): the pipelining lemma (J. L. Träff, lecture on collective operations, "Pipelining lemma"),
    /// with g, and blocks of more than `eager_bytes`, as in [`Model::blocks`].
    pub fn tree_blocks(&self, pace: Pace, bytes: u64, eager_bytes: u64) -> u32 {
        clamp(self.best_down(pace, bytes, eager_bytes).0, bytes)
    }

    /// T(n) as in [`Model::tree_blocks`].
    fn paced_us(&self, pace: Pace, bytes: u64, n: f64) -> f64 {
        let rounds = f64::from(pace.first) + f64::from(pace.every) * (n - 1.0);
        rounds * (self.gap() + self.beta_us() * bytes as f64 / n)
            + f64::from(pace.latencies) * (self.alpha_us - self.gap())
    }

    /// The same for the model alone.
    fn best_tree_blocks(&self, pace: Pace, bytes: u64) -> f64 {
        let (first, every) = (f64::from(pace.first), f64::from(pace.every));
        let total_us = self.beta_us() * bytes as f64;
        let best = ((first - every).max(0.0) * total_us / (every * self.gap()).max(1e-6)).sqrt();
        best.round().max(1.0)
    }

    /// How many messages of `bytes` bytes a rank can begin while one travels. Messages that are under way share their
    /// sender's link; where that takes most of the time, this is 1.
    pub fn latency(&self, bytes: u64) -> u32 {
        let link_us = self.beta_us() * bytes as f64;
        let latency = (self.alpha_us + link_us) / (self.gap_us + link_us).max(1e-6);
        // More than there is room for costs less than fewer; but a little more than 1 is 1.
        ((latency - 0.25).ceil() as u32).clamp(1, postal::LATENCY_MAX)
    }

    /// Microseconds of a broadcast of a single block of `bytes` bytes to `p` ranks by a tree
    /// ([`crate::schedule::postal`]).
    pub fn tree_us(&self, p: u32, bytes: u64) -> f64 {
        let latency = self.latency(bytes);
        let message_us = self.alpha_us + self.beta_us() * bytes as f64;
        f64::from(postal::time(p, latency)) * message_us / f64::from(latency)
    }

    /// Microseconds of rounds of messages, of which one with so many parts keeps the link busy for `link_us`. In a
    /// round a rank begins a message g after the one before, or when that has left.
    fn rounds_us(&self, steps: &Steps, link_us: impl Fn(u32) -> f64) -> f64 {
        self.rounds_in_us(steps, 1, link_us)
    }

    /// The same where what is sent in one message there is sent in as many as parts have blocks.
    fn rounds_in_us(&self, steps: &Steps, blocks: u32, link_us: impl Fn(u32) -> f64) -> f64 {
        let n = f64::from(blocks.max(1));
        let mut sent = 0;
        let mut round_us = |(width, messages)| {
            sent += messages as usize;
            let last_us = link_us(steps.step(sent - 1).width) / n;
            let before_us = match f64::from(messages) * n - 1.0 {
                before if before > 0.0 => before * self.gap().max(link_us(width) / n),
                _ => 0.0,
            };
            self.alpha_us + before_us + last_us
        };
        steps.rounds().map(&mut round_us).sum()
    }

    /// Microseconds of an all-broadcast of equal whole parts of `part` bytes.
    pub fn whole_us(&self, steps: &Steps, part: f64) -> f64 {
        self.rounds_us(steps, |width| f64::from(width) * self.beta_us() * part)
    }

    /// Microseconds of the same rounds where no byte passes while another message is begun. A rank gets `bytes` bytes.
    fn spread_us(&self, steps: &Steps, bytes: u64) -> f64 {
        self.rounds_us(steps, |_| 0.0) + self.beta_us() * bytes as f64
    }

    /// Microseconds of an all-reduction of `bytes` bytes in which everyone of `p` takes the vectors of all, in these
    /// steps, and joins them, so many pieces of a vector one by one.
    pub fn gather_us(&self, p: u32, steps: &Steps, bytes: u64, pieces: u64) -> f64 {
        let others = u64::from(p.max(1) - 1);
        self.spread_us(steps, others * bytes) + JOIN_US * (others * pieces) as f64
    }

    /// Microseconds of the same in parts, which are reduced in ceil(log2 p) rounds and spread in these steps.
    pub fn halving_us(&self, p: u32, steps: &Steps, bytes: u64) -> f64 {
        let others = bytes - bytes / u64::from(p.max(1));
        let halved_us = f64::from(Reach::among(p).rounds) * self.alpha_us;
        halved_us + self.beta_us() * others as f64 + self.spread_us(steps, others)
    }

    /// Microseconds of the same inside a node of `locals` ranks by messages, before and behind `messages` messages
    /// between nodes: first the ranks exchange their parts, and then one of them passes on what it receives.
    pub fn whole_inside_us(&self, locals: u32, messages: usize, bytes: u64) -> f64 {
        let rounds_us = 2.0 * f64::from(Reach::among(locals).rounds) * self.alpha_us;
        let further = messages.saturating_sub(1) as f64;
        rounds_us + further * self.gap() + self.beta_us() * bytes as f64
    }

    /// Microseconds of a reduce-scatter in ceil(log2 p) rounds that keeps the order of ranks, each of which has `bytes`
    /// bytes for others: what is split sends up to half as much more.
    pub fn split_us(&self, p: u32, bytes: u64) -> f64 {
        f64::from(Reach::among(p).rounds) * self.alpha_us + 1.5 * self.beta_us() * bytes as f64
    }

    /// Microseconds of a scan of `bytes` bytes in ceil(log2 p) rounds between `p` ranks, of which `width` on a node
    /// share its link.
    pub fn scan_us(&self, (p, width): (u32, u32), bytes: u64) -> f64 {
        let link_us = self.beta_us() * bytes as f64;
        let round_us = |round| self.alpha_us + f64::from(width.min(1u32 << round)) * link_us;
        (0..Reach::among(p).rounds).map(round_us).sum()
    }

    /// Microseconds of the same between one rank of each of `nodes` nodes. In their memory the ranks of a node wait for
    /// each other three times, and all copy about three vectors at the same time.
    pub fn node_scan_us(&self, inside: &Model, (nodes, width): (u32, u32), bytes: u64) -> f64 {
        let vectors_us = f64::from(width) * inside.beta_us() * bytes as f64;
        self.scan_us((nodes, 1), bytes) + 3.0 * (inside.alpha_us + vectors_us)
    }

    /// Microseconds of a scan in so many blocks along `p` ranks.
    pub fn chain_us(&self, p: u32, bytes: u64, blocks: u32) -> f64 {
        let block_us = self.beta_us() * bytes as f64 / f64::from(blocks.max(1));
        let hops = f64::from(p.max(1) - 1);
        let others = f64::from(blocks.max(1) - 1);
        hops * (self.alpha_us + block_us) + others * block_us.max(self.gap())
    }

    /// Microseconds of an all-broadcast of `parts` in whole parts, and on the circulant graph in as many blocks as are
    /// best.
    pub fn all_broadcast_us(&self, parts: &Parts, eager_bytes: u64, radix: u32) -> (f64, f64) {
        let eager_bytes = eager_round(parts, eager_bytes);
        let contributors = parts.contributors().len() as u64;
        let reach = Reach::among(parts.p());
        (
            self.whole_parts_in_us(parts, radix, 1),
            self.circulant_in(reach, parts.total(), eager_bytes, contributors)
                .1,
        )
    }

    /// The same on the circulant graph in so many blocks.
    pub fn all_broadcast_in_us(&self, parts: &Parts, blocks: u32) -> f64 {
        let contributors = parts.contributors().len().max(1) as u64;
        let (reach, n) = (Reach::among(parts.p()), f64::from(blocks.max(1)));
        self.pipeline_us(reach, parts.total(), contributors, n)
    }

    /// The same in whole parts, of which the longest has so many blocks. The busiest rank counts in each message.
    pub fn whole_parts_in_us(&self, parts: &Parts, radix: u32, blocks: u32) -> f64 {
        let busiest = |width| (0..parts.p()).map(|first| parts.window(first, width)).max();
        let link_us = |width| busiest(width).unwrap_or(0) as f64 * self.beta_us();
        self.rounds_in_us(&Steps::new(parts.p(), radix), blocks, link_us)
    }

    /// Microseconds of an all-broadcast in which every one of `ranks` ranks passes on to the next one what it got,
    /// parts of up to `bytes` bytes.
    pub fn ring_us(&self, ranks: u32, bytes: u64) -> f64 {
        let steps = f64::from(ranks.max(1) - 1);
        steps * (self.alpha_us + self.beta_us() * bytes as f64)
    }

    /// The number of blocks of the longest part that makes an all-broadcast around a ring fastest. All parts are cut
    /// into blocks of about as many bytes (Träff et al., "A pipelined algorithm for large, irregular all-gather
    /// problems", International Journal of High Performance Computing Applications 24(1), 2010).
    ///
    /// A rank passes on m bytes, and the longest part of L bytes is at its end L - L / n bytes after its first block,
    /// which goes p - 1 ways. T(n) = (p - 1) alpha + beta max(m, (p - 2) L / n + L), and g for each of n m / L messages
    /// if parts are cut at all. For a part alone that is the pipelining lemma, n = sqrt((p - 2) beta m / g). Among
    /// others it need not be cut further than to their mean, because these travel while it is on its way: equal parts
    /// stay whole. More blocks for `eager_bytes` as in [`Model::blocks`].
    pub fn ring_blocks(&self, parts: &Parts, eager_bytes: u64) -> u32 {
        let (longest, all) = (parts.largest() as f64, parts.total() as f64);
        let ways = f64::from(parts.p().max(2) - 2);
        let beta_us = self.beta_us();
        let messages_us = |n: f64| self.gap() * n * all / longest.max(1.0);
        let time_us = |n: f64| beta_us * all.max(ways * longest / n + longest) + messages_us(n);
        let best = longest * (ways * beta_us / (self.gap() * all).max(1e-6)).sqrt();
        let enough = (ways * longest / (all - longest).max(1.0)).ceil();
        let several = best.round().min(enough).max(1.0);
        let blocks = match time_us(1.0) - messages_us(1.0) <= time_us(several) {
            true => 1,
            false => several as u64,
        };
        let short = parts.largest().div_ceil(eager_bytes.max(1));
        clamp(blocks.max(short), parts.largest())
    }

    /// Microseconds of a broadcast of `bytes` bytes in `rounds` rounds, in each of which who has all of it sends it to
    /// another rank: the usual binomial tree.
    pub fn binomial_us(&self, rounds: u32, bytes: u64) -> f64 {
        f64::from(rounds) * (self.alpha_us + self.beta_us() * bytes as f64)
    }

    /// Microseconds of a broadcast of `bytes` bytes to `ranks` ranks as hosts usually send short ones: by the binomial
    /// tree, or by the k-nomial one for k = 4, in which a rank sends to three others in a round, whichever is faster.
    pub fn usual_us(&self, ranks: u32, bytes: u64) -> f64 {
        let rounds = Reach::among(ranks).rounds;
        let link_us = self.beta_us() * bytes as f64;
        let more_us = 2.0 * self.gap_us.max(link_us);
        let knomial_us = f64::from(rounds.div_ceil(2)) * (self.alpha_us + link_us + more_us);
        self.binomial_us(rounds, bytes).min(knomial_us)
    }

    /// Microseconds of an exchange among `ranks` ranks, of `bytes` bytes of each, on the circulant graph in these
    /// rounds. A message has the blocks of one value of a digit, about as many as any other.
    pub fn packed_us(&self, steps: &Steps, ranks: u32, bytes: u64) -> f64 {
        let block_us = self.beta_us() * bytes as f64 / f64::from(ranks.max(1));
        let blocks = steps.travelling() as f64 / steps.count().max(1) as f64;
        self.rounds_us(steps, |_| blocks * (block_us + PIECE_US))
    }

    /// Microseconds of an exchange among `ranks` ranks, or of a reduce-scatter in the order of ranks, of `bytes` bytes
    /// of each, every block straight to its rank: messages are begun while others are on the link.
    pub fn straight_us(&self, ranks: u32, bytes: u64) -> f64 {
        let others = f64::from(ranks.max(2) - 2);
        self.alpha_us + (others * self.gap()).max(self.beta_us() * bytes as f64)
    }

    /// Is the link of a rank busy in such an exchange until the last byte has left?
    pub fn fills_link(&self, ranks: u32, bytes: u64) -> bool {
        let others = f64::from(ranks.max(2) - 2);
        self.beta_us() * bytes as f64 >= others * self.gap()
    }

    /// From how many bytes on a block of a gather or scatter among `p` ranks goes straight to or from the root. A root
    /// that gathers asks for so many blocks at a time; one that scatters does not ask.
    ///
    /// Straight, the root spends `ROOT_SHARE` alpha on each of p - 1 messages, or two gaps where most of alpha is the
    /// network's, but no less than it takes to ask for them; through the tree, the last block comes after q - 1 more
    /// messages, each of which takes `PASSING_NS` more for a byte of a block. In both the root's link carries every
    /// byte once, so beta does not matter. (docs/algorithms.md)
    pub fn long_block(&self, p: u32, asked_at_a_time: Option<u32>) -> u64 {
        let q = f64::from(p.max(2).next_power_of_two().trailing_zeros());
        let others = u64::from(p.max(1) - 1);
        let asked_us = asked_at_a_time.map_or(0.0, |most| self.asked_us(others, most));
        let straight_us = (self.root_us() * others as f64).max(asked_us);
        let saved_us = straight_us - self.alpha_us * (q - 1.0);
        let bytes = saved_us * 1000.0 / (q * PASSING_NS);
        (bytes as u64).clamp(LONG_BLOCK_MIN, LONG_BLOCK_MAX)
    }

    /// Microseconds in which a root asks for so many long blocks, if they are more than the `most` that it receives at
    /// a time: a round trip for each window.
    fn asked_us(&self, blocks: u64, most: u32) -> f64 {
        match blocks > u64::from(most) {
            true => 2.0 * self.alpha_us * blocks as f64 / f64::from(most.max(1)),
            false => 0.0,
        }
    }

    /// Microseconds in which a root has a short message from each of `p` ranks, or for each.
    pub fn one_by_one_us(&self, p: u32, gathers: bool) -> f64 {
        let each_us = match gathers {
            true => self.root_us(),
            false => self.gap_us,
        };
        self.alpha_us + f64::from(p.max(1) - 1) * each_us
    }

    /// What a root spends on each of many messages that come, or go, one after the other: receiving takes twice as long
    /// as sending, but nothing takes more of a message than its share.
    fn root_us(&self) -> f64 {
        (ROOT_SHARE * self.alpha_us).min((BOTH_ENDS - 1.0) * self.gap_us)
    }

    /// The model backwards: of a rank that many send to, which takes longer for each message than a sender does.
    pub fn backwards(&self) -> Model {
        Model {
            gap_us: self.gap_us.max(self.root_us()),
            ..*self
        }
    }

    /// Is the link slow?
    pub fn is_slow(&self) -> bool {
        self.beta_ns_per_kb >= SLOW_NS_PER_KB
    }

    /// The same for many calls of busy ranks.
    pub fn sustained(&self) -> Model {
        match self.is_slow() {
            true => Model {
                alpha_us: self.alpha_us.max(SUSTAINED_ALPHA_US),
                beta_ns_per_kb: self.beta_ns_per_kb.max(SUSTAINED_NS_PER_KB),
                ..*self
            },
            false => *self,
        }
    }

    /// What a round takes besides the time of its bytes, if its message has a block of each of so many parts.
    fn round_us(&self, parts: u64) -> f64 {
        self.gap_of(parts) + (parts - 1) as f64 * PIECE_US
    }

    /// What a round of a pipeline takes before the first byte. Among blocks of several parts there are always some that
    /// came in the round before, so that a rank waits for them.
    fn gap_of(&self, parts: u64) -> f64 {
        match parts {
            0 | 1 => self.gap(),
            _ => self.alpha_us,
        }
    }

    /// The gap of a pipeline, where a rank sends and receives in every round; no more than a whole message takes.
    fn gap(&self) -> f64 {
        (BOTH_ENDS * self.gap_us).min(self.alpha_us)
    }

    /// The cost of messages that the network puts into their places: no rank spends time on receiving one.
    pub fn placed(&self) -> Model {
        Model {
            alpha_us: self.alpha_us - self.receive_us(),
            ..*self
        }
    }

    /// What a rank spends on receiving a short message: what is left of both ends without sending.
    fn receive_us(&self) -> f64 {
        ((BOTH_ENDS - 1.0) * self.gap_us).min(self.alpha_us)
    }

    /// Bytes that pass in a microsecond.
    pub fn bytes_per_us(&self) -> f64 {
        self.beta_us().max(1e-9).recip()
    }

    /// Microseconds that so many bytes take.
    pub fn bytes_us(&self, bytes: u64) -> f64 {
        self.beta_us() * bytes as f64
    }

    fn beta_us(&self) -> f64 {
        self.beta_ns_per_kb / 1024.0 / 1000.0
    }
}

/// Bytes of a round of an all-broadcast on the circulant graph whose blocks are sent eagerly. A round has a block of
/// each part, and long ones travel alone; so what counts is the longest part.
pub fn eager_round(parts: &Parts, eager_bytes: u64) -> u64 {
    let round = u128::from(eager_bytes) * u128::from(parts.total());
    let round = round / u128::from(parts.largest().max(1));
    u64::try_from(round).unwrap_or(u64::MAX).max(1)
}

/// The number of blocks of about `size` bytes in a message of `bytes` bytes.
pub fn blocks_of(bytes: u64, size: u64) -> u32 {
    clamp(bytes.div_ceil(size.max(1)), bytes)
}

/// The blocks of a broadcast that is scattered among `ranks` ranks: as many for each of them, no longer than
/// `eager_bytes` unless they are many.
pub fn part_blocks(ranks: u32, bytes: u64, eager_bytes: u64) -> u32 {
    let short = bytes.div_ceil(eager_bytes.max(1)).min(FULL_PIPELINE);
    let ranks = u64::from(ranks.max(1));
    clamp(short.div_ceil(ranks).max(1) * ranks, bytes)
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
