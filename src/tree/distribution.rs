//! Distributions of block sizes to try trees on.

#![forbid(unsafe_code)]

/// How large blocks are, from rank to rank. b is their average, about; divisions round down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// All b.
    Same,
    /// From 1 to 2b, any with the same probability.
    Random,
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

/// The parameter of spikes and skewed blocks.
pub const RHO: u64 = 5;

impl Distribution {
    /// All of them.
    pub const ALL: [Distribution; 9] = [
        Distribution::Same,
        Distribution::Random,
        Distribution::RandomBucket,
        Distribution::Spikes,
        Distribution::Decreasing,
        Distribution::Increasing,
        Distribution::Alternating,
        Distribution::Skewed,
        Distribution::TwoBlocks,
    ];

    /// The sizes for `p` ranks with an average of `b`. The random ones follow from the seed and are
    /// the same on every machine; the others ignore it.
    pub fn blocks(self, p: usize, b: u64, seed: u64) -> Vec<u64> {
        let n = p as u64;
        let mut random = Random(seed);
        let size = |i: u64| match self {
            Distribution::Same => b,
            Distribution::Random => 1 + random.below(2 * b),
            Distribution::RandomBucket => b / 2 + 1 + random.below(b),
            Distribution::Spikes if random.below(RHO) == 0 => RHO * b,
            Distribution::Spikes => 1,
            Distribution::Decreasing => 2 * b * (n - i) / n + 1,
            Distribution::Increasing => 2 * b * (i + 1) / n + 1,
            Distribution::Alternating if i.is_multiple_of(2) => b + b / 2,
            Distribution::Alternating => b - b / 2,
            Distribution::Skewed if i < RHO => b * n / RHO,
            Distribution::Skewed => 1,
            Distribution::TwoBlocks if i == 0 || i == n - 1 => b * n / 2,
            Distribution::TwoBlocks => 0,
        };
        (0..n).map(size).collect()
    }
}

/// The generator SplitMix64: short, and well mixed from any seed.
struct Random(u64);

impl Random {
    /// A number below `bound`; 0 if that is 0.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        // The high half of the product: no division, and even enough for any bound in use.
        ((u128::from(z) * u128::from(bound)) >> 64) as u64
    }
}
