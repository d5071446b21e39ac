#![forbid(unsafe_code)]
//! The algorithms by their names, and what a user may say of one collective.

/// An algorithm of Rondo's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Broadcast or all-broadcast of n blocks over the circulant graph, in n - 1 + ceil(log2 p) rounds.
    Circulant,
    /// A binomial tree: the circulant broadcast of one block, or a gather or scatter of all blocks
    /// through a tree that ignores their sizes.
    Binomial,
    /// The circulant all-broadcast of whole parts, ceil(log2 p) rounds like Bruck's algorithm.
    Bruck,
    /// Every rank passes on to its right what it got from its left, in p - 1 rounds.
    Ring,
    /// Gather or scatter: short blocks through a binomial tree, long ones straight from or to the root.
    Hybrid,
    /// Gather or scatter through a binomial tree that follows from the sizes of the blocks.
    Adaptive,
    /// Gather or scatter with every block straight from or to the root.
    Linear,
    /// Broadcast of one block through a tree for messages that take longer than it takes to send them.
    Postal,
}

impl Algorithm {
    /// All algorithms; the position in this list is what ranks exchange.
    pub const ALL: [Algorithm; 8] = [
        Algorithm::Circulant,
        Algorithm::Binomial,
        Algorithm::Bruck,
        Algorithm::Ring,
        Algorithm::Hybrid,
        Algorithm::Adaptive,
        Algorithm::Linear,
        Algorithm::Postal,
    ];

    /// The name that users write.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Circulant => "circulant",
            Algorithm::Binomial => "binomial",
            Algorithm::Bruck => "bruck",
            Algorithm::Ring => "ring",
            Algorithm::Hybrid => "hybrid",
            Algorithm::Adaptive => "adaptive",
            Algorithm::Linear => "linear",
            Algorithm::Postal => "postal",
        }
    }
}

/// Who is to carry a collective out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Rondo chooses for every call.
    Auto,
    /// Every call goes to the MPI library.
    Host,
    /// This algorithm, for every size.
    Use(Algorithm),
}

impl Setting {
    /// What can be said of a collective that has these algorithms.
    pub fn among(algorithms: &[Algorithm]) -> impl Iterator<Item = Setting> + Clone {
        let named = algorithms.iter().copied().map(Setting::Use);
        [Setting::Auto, Setting::Host].into_iter().chain(named)
    }

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Setting::Auto => "auto",
            Setting::Host => "host",
            Setting::Use(algorithm) => algorithm.name(),
        }
    }

    /// The number that ranks exchange.
    pub(crate) fn to_word(self) -> u64 {
        let place = Setting::among(&Algorithm::ALL).position(|setting| setting == self);
        place.map_or(u64::MAX, |place| place as u64)
    }

    /// The setting behind a number; `None` if it is none of a collective with these algorithms.
    pub(crate) fn from_word(word: u64, algorithms: &[Algorithm]) -> Option<Setting> {
        Setting::among(algorithms).find(|setting| setting.to_word() == word)
    }
}
