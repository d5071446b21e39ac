//! What every algorithm takes by the model: time, rounds, and the bytes that the busiest rank sends.
//!
//! The formulas of docs/algorithms.md, a function for each algorithm, with messages followed one by one and with what
//! else ranks and networks spend on them. Ranks have a node each, or share the link of one in a larger beta. All parts
//! are equal.

#![forbid(unsafe_code)]

mod messages;
mod moving;
mod reducing;

use super::{Model, Reach};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, Family};
use crate::schedule::{Shape, Steps};

/// What is to be carried out, and how.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The collective.
    pub collective: Collective,
    /// How many ranks.
    pub p: u32,
    /// Bytes: of the message, of a rank's vector, of all parts of an all-broadcast, of a block of a gather or scatter.
    pub bytes: u64,
    /// Blocks of the message, of the vector, or of each part.
    pub blocks: u32,
    /// Its tree, if it has one.
    pub tree: Option<Shape>,
    /// How the rounds of whole parts grow ([`Steps`]).
    pub radix: u32,
    /// From so many bytes on a block of a gather or scatter goes straight from or to the root.
    pub long_block: u64,
    /// Long blocks that the root of a gather receives at a time.
    pub asked_at_a_time: u32,
    /// Nanoseconds to reduce 1024 bytes.
    pub gamma_ns_per_kb: f64,
    /// From so many bytes on the network puts a message into its place: its receiver spends no time on it, and its
    /// sender waits until it is there.
    pub placed_bytes: u64,
    /// Copying inside a rank takes no time, as in a simulation.
    pub copies_free: bool,
}

/// What an algorithm takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Microseconds from when all ranks begin to when the last one ends.
    pub us: f64,
    /// Rounds: messages one after the other, if no message waits for anything but its rank's messages before, and
    /// those that bring what it sends. `None`: there are none.
    pub rounds: Option<u64>,
    /// Bytes that a rank sends, of the rank that sends most.
    pub sent: u64,
}

impl Model {
    /// What `algorithm` takes for a call of its family.
    ///
    /// # Panics
    /// If the algorithm is none of the collective's.
    pub fn predict(&self, algorithm: Algorithm, call: &Call) -> Prediction {
        let family = call.collective.family();
        let algorithm = family.in_lanes(algorithm);
        match family {
            Family::Broadcast => self.predict_broadcast(algorithm.of_broadcast(), call),
            Family::AllBroadcast => self.predict_all_broadcast(algorithm.of_all_broadcast(), call),
            Family::Rooted => self.predict_rooted(algorithm.of_rooted(), call),
            Family::AllReduction => self.predict_all_reduction(algorithm.of_all_reduction(), call),
            Family::Reduction => self.predict_reduction(algorithm.of_reduction(), call),
            Family::ScatteredReduction => {
                self.predict_scattered(algorithm.of_scattered_reduction(), call)
            }
            Family::Scan => self.predict_scan(algorithm.of_scan(), call),
            Family::Barrier => self.predict_barrier(algorithm.of_barrier(), call),
            Family::TotalExchange => self.predict_exchange(algorithm.of_total_exchange(), call),
            Family::IrregularExchange => {
                self.predict_irregular_exchange(algorithm.of_irregular_exchange(), call)
            }
        }
    }

    /// The same model if every byte that comes is reduced as well.
    fn reducing(&self, call: &Call) -> Model {
        Model {
            beta_ns_per_kb: self.beta_ns_per_kb + call.gamma_ns_per_kb,
            ..*self
        }
    }
}

impl Call {
    /// Ranks.
    fn ranks(&self) -> u64 {
        self.p.max(1).into()
    }

    /// Does the network put a message of so many bytes into its place?
    fn is_placed(&self, bytes: u64) -> bool {
        bytes >= self.placed_bytes
    }

    /// ceil(log2 p).
    fn q(&self) -> u64 {
        Reach::among(self.p).rounds.into()
    }

    fn n(&self) -> u64 {
        self.blocks.max(1).into()
    }

    /// Bytes of the longest block.
    fn block(&self) -> u64 {
        self.bytes.div_ceil(self.n())
    }

    /// Bytes of all parts but the shortest one.
    fn others(&self) -> u64 {
        self.bytes - self.bytes / self.ranks()
    }

    /// Latencies that doubling does without, of the two that it has more where p is 2^d and e more: e ranks of the 2^d
    /// begin a message later. The lateness reaches others, but who was late gets from others what is there already.
    /// So those that wait for a message at the end are in time for it, unless e is more than half of 2^d.
    fn early(&self) -> f64 {
        let among = 1 << self.p.max(1).ilog2();
        let more = self.p - among;
        f64::from(u8::from(more > 0 && 2 * more <= among))
    }

    /// Rounds of a pipeline on the circulant graph.
    fn pipelined(&self) -> u64 {
        match self.q() {
            0 => 0,
            q => self.n() - 1 + q,
        }
    }

    fn steps(&self) -> Steps {
        Steps::new(self.p, self.radix)
    }

    /// Rounds of whole parts.
    fn stepped(&self) -> u64 {
        self.steps().rounds().count() as u64
    }
}
