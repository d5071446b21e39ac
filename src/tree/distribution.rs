//! Distributions of block sizes to try trees on.

#![forbid(unsafe_code)]

use fastrand::Rng;

/// How large blocks are, from rank to rank. b is their average, about; divisions round down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// All b.
    Same,
    /// From 1 to 2b, any with the same probability.
    Random,
    /// The random ones, largest first.
    RandomDecreasing,
    /// The random ones, smallest first.
    RandomIncreasing,
    /// b/2, and from 1 to b more, any with the same probability.
    RandomBucket,
    /// rho b with probability 1/rho, else 1.
    Spikes,
    /// Falling evenly from 2b + 1.
    Decreasing,
    /// Rising evenly to 2b + 1.
    Increasing,
    /// b + b/2 at even ranks, b - b/2 at odd ones.
    Alternating,
    /// The first rho ranks share everything, the others have 1 each.
    Skewed,
    /// Half of everything at the first rank, the other half at the last one.
    TwoBlocks,
}

use Distribution::*;

/// The parameter of spikes and skewed blocks.
const RHO: u64 = 5;

impl Distribution {
    /// All of them.
    pub const ALL: [Distribution; 11] = [
        Same,
        Random,
        RandomDecreasing,
        RandomIncreasing,
        RandomBucket,
        Spikes,
        Decreasing,
        Increasing,
        Alternating,
        Skewed,
        TwoBlocks,
    ];

    /// The name that users know.
    pub fn name(self) -> &'static str {
        match self {
            Same => "same",
            Random => "random",
            RandomDecreasing => "random-decreasing",
            RandomIncreasing => "random-increasing",
            RandomBucket => "random-bucket",
            Spikes => "spikes",
            Decreasing => "decreasing",
            Increasing => "increasing",
            Alternating => "alternating",
            Skewed => "skewed",
            TwoBlocks => "two-blocks",
        }
    }

    /// The sizes for `p` ranks with an average of `b`. The random ones follow from the seed and are the same on
    /// every machine; the others ignore it.
    ///
    /// # Panics
    /// May do so if 2 p b does not fit 64 bits.
    pub fn blocks(self, p: usize, b: u64, seed: u64) -> Vec<u64> {
        let n = p as u64;
        let mut random = Rng::with_seed(seed);
        let size = |i: u64| match self {
            Same => b,
            Random | RandomDecreasing | RandomIncreasing => random.u64(1..=2 * b),
            RandomBucket => b / 2 + random.u64(1..=b),
            Spikes if random.u64(0..RHO) == 0 => RHO * b,
            Spikes => 1,
            Decreasing => 2 * b * (n - i) / n + 1,
            Increasing => 2 * b * (i + 1) / n + 1,
            Alternating if i.is_multiple_of(2) => b + b / 2,
            Alternating => b - b / 2,
            Skewed if i < RHO => b * n / RHO,
            Skewed => 1,
            TwoBlocks if i == 0 || i == n - 1 => b * n / 2,
            TwoBlocks => 0,
        };
        let mut blocks: Vec<u64> = (0..n).map(size).collect();
        match self {
            RandomDecreasing => blocks.sort_unstable_by(|a, b| b.cmp(a)),
            RandomIncreasing => blocks.sort_unstable(),
            Same | Random | RandomBucket | Spikes | Decreasing | Increasing | Alternating
            | Skewed | TwoBlocks => {}
        }
        blocks
    }
}
