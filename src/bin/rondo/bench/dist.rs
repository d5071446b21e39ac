//! How bytes are spread over the ranks.

#![forbid(unsafe_code)]

use clap::ValueEnum;

/// A distribution of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Dist {
    /// All ranks have the same.
    Same,
    /// The rank in the middle has everything.
    One,
}

impl Dist {
    pub fn name(self) -> &'static str {
        match self {
            Dist::Same => "same",
            Dist::One => "one",
        }
    }

    /// What each of `ranks` has of `total`: all of it together. The last rank takes what cannot be shared.
    pub fn parts(self, ranks: usize, total: u64) -> Vec<u64> {
        let (each, more) = match self {
            Dist::Same => (total / ranks as u64, ranks - 1),
            Dist::One => (0, ranks / 2),
        };
        let mut parts = vec![each; ranks];
        parts[more] += total - each * ranks as u64;
        parts
    }
}
