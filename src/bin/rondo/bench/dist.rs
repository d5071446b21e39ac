//! How bytes are spread over the ranks.

#![forbid(unsafe_code)]

use rondo::tree::Distribution;
use std::str::FromStr;

/// A distribution of blocks, as `rondo tree` has them, or everything at one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dist {
    One,
    Of(Distribution),
}

/// An average block so large that rounding does not show, and the seed of the random distributions.
const AVERAGE: u64 = 1 << 20;
const SEED: u64 = 1;

impl Dist {
    pub const SAME: Dist = Dist::Of(Distribution::Same);

    pub fn name(self) -> &'static str {
        match self {
            Dist::One => "one",
            Dist::Of(distribution) => distribution.name(),
        }
    }

    /// What each of `ranks` has of `total`: all of it together, whatever the distribution. Parts are rounded down, and
    /// the last rank that has anything takes what is left.
    pub fn parts(self, ranks: usize, total: u64) -> Vec<u64> {
        let weights = match self {
            Dist::One => (0..ranks)
                .map(|rank| u64::from(rank == ranks / 2))
                .collect(),
            Dist::Of(distribution) => distribution.blocks(ranks, AVERAGE, SEED),
        };
        let sum: u64 = weights.iter().sum();
        let part = |weight: &u64| u128::from(total) * u128::from(*weight) / u128::from(sum);
        let mut parts: Vec<u64> = weights.iter().map(|weight| part(weight) as u64).collect();
        let left = total - parts.iter().sum::<u64>();
        let last = weights.iter().rposition(|&weight| weight > 0);
        parts[last.expect("somebody has something")] += left;
        parts
    }
}

impl FromStr for Dist {
    type Err = String;

    fn from_str(text: &str) -> Result<Dist, String> {
        let all = || {
            [Dist::One]
                .into_iter()
                .chain(Distribution::ALL.map(Dist::Of))
        };
        let names = || all().map(Dist::name).collect::<Vec<_>>().join(", ");
        all()
            .find(|dist| dist.name() == text)
            .ok_or_else(|| format!("take some of {}", names()))
    }
}
