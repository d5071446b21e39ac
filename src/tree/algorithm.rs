//! The algorithms by name.

#![forbid(unsafe_code)]

use super::{Cost, Root, Tree, adaptive, binary, binomial, linear, optimal, two_kinds};

/// A constructor of trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The star: [`linear`].
    Linear,
    /// At most two children: [`binary`].
    Binary,
    /// The same tree whatever the sizes: [`binomial`].
    Binomial,
    /// The binomial tree that goes by the sizes: [`adaptive`].
    Adaptive,
    /// The best ordered tree: [`optimal`].
    Optimal,
    /// Small and large blocks apart: [`two_kinds`].
    TwoKinds,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 6] = [
        Algorithm::Linear,
        Algorithm::Binary,
        Algorithm::Binomial,
        Algorithm::Adaptive,
        Algorithm::Optimal,
        Algorithm::TwoKinds,
    ];

    /// The name that users know.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Linear => "linear",
            Algorithm::Binary => "binary",
            Algorithm::Binomial => "binomial",
            Algorithm::Adaptive => "adaptive",
            Algorithm::Optimal => "optimal",
            Algorithm::TwoKinds => "two-kinds",
        }
    }

    /// Whether its trees are ordered.
    pub fn is_ordered(self) -> bool {
        self != Algorithm::TwoKinds
    }

    /// Whether it fills a table of all ranges of ranks, which takes 8 p^2 bytes and more.
    pub fn is_program(self) -> bool {
        matches!(self, Algorithm::Binary | Algorithm::Optimal)
    }

    /// Its tree.
    ///
    /// # Panics
    /// If there is no rank, or not the given one.
    pub fn tree(self, blocks: &[u64], root: Root, cost: &Cost) -> Tree {
        match self {
            Algorithm::Linear => linear(blocks, root, cost),
            Algorithm::Binary => binary(blocks, root, cost),
            Algorithm::Binomial => binomial(blocks, root, cost),
            Algorithm::Adaptive => adaptive(blocks, root),
            Algorithm::Optimal => optimal(blocks, root, cost),
            Algorithm::TwoKinds => two_kinds(blocks, root, cost),
        }
    }
}
