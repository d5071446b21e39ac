//! The algorithms by which Rondo carries out collectives, a row each.

#![forbid(unsafe_code)]

/// Makes the enumeration, the list of all, and their names from the rows.
macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)*) => {
        /// An algorithm of Rondo's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Algorithm {
            $($(#[$doc])* $variant,)*
        }

        impl Algorithm {
            /// All algorithms; the position in this list is what ranks exchange.
            pub const ALL: &[Algorithm] = &[$(Algorithm::$variant),*];

            /// The name that users write.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Algorithm::$variant => $name,)*
                }
            }
        }
    };
}

algorithms! {
    /// Broadcast or all-broadcast of n blocks over the circulant graph, in n - 1 + ceil(log2 p) rounds.
    Circulant = "circulant";
    /// A binomial tree: the circulant broadcast of one block, or a gather or scatter of all blocks
    /// through a tree that ignores their sizes.
    Binomial = "binomial";
    /// The circulant all-broadcast of whole parts, ceil(log2 p) rounds like Bruck's algorithm.
    Bruck = "bruck";
    /// Every rank passes on to its right what it got from its left, in p - 1 rounds.
    Ring = "ring";
    /// Gather or scatter: short blocks through a binomial tree, long ones straight from or to the root.
    Hybrid = "hybrid";
    /// Gather or scatter through a binomial tree that follows from the sizes of the blocks.
    Adaptive = "adaptive";
    /// Gather or scatter with every block straight from or to the root.
    Linear = "linear";
    /// Broadcast of one block through a tree for messages that take longer than it takes to send them.
    Postal = "postal";
}
