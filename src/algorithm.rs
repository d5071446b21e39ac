//! The algorithms by which Rondo carries out collectives, a row each, and those of each family of collectives.

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
    /// Broadcast or all-broadcast of n blocks over the circulant graph, in n - 1 + ceil(log2 p) rounds, or backwards
    /// the reduction to one rank or to all. An exchange of blocks between all ranks in ceil(log2 p) rounds.
    Circulant = "circulant";
    /// A binomial tree: a broadcast of one block, or of several if their size is told; a reduction, to all ranks up and
    /// down the tree, as by all trees below; or a gather or scatter of all blocks through a tree that ignores their
    /// sizes.
    Binomial = "binomial";
    /// The all-broadcast of whole parts in ceil(log2 p) rounds, or fewer of several messages each, like Bruck's
    /// algorithm.
    Bruck = "bruck";
    /// Every rank passes on to its right what it got from its left, in p - 1 rounds; twice in a reduction.
    Ring = "ring";
    /// Gather or scatter: short blocks through a binomial tree, long ones straight from or to the root.
    Hybrid = "hybrid";
    /// Gather or scatter through a binomial tree that follows from the sizes of the blocks.
    Adaptive = "adaptive";
    /// Gather or scatter with every block straight from or to the root; a broadcast or reduction in which the root has
    /// to do with every rank; an exchange of blocks between all ranks, many at a time.
    Linear = "linear";
    /// Broadcast of one block through a tree for messages that take longer than it takes to send them.
    Postal = "postal";
    /// Broadcast in which every block goes from the root to one rank and from there to all others: two messages one
    /// after the other, however many ranks there are.
    Relay = "relay";
    /// Broadcast or reduction along a chain of all ranks, block by block.
    Chain = "chain";
    /// Broadcast or reduction over the complete binary tree, block by block.
    Binary = "binary";
    /// Broadcast or reduction over a tree in which a rank has `RONDO_TREE_ARITY` children, block by block.
    Kary = "kary";
    /// Broadcast or reduction over a Fibonacci tree, block by block: binary, and all leaves are reached together.
    Fibonacci = "fibonacci";
    /// Broadcast or reduction over a binary tree in the order of ranks with the root where it is, block by block.
    InOrder = "in-order";
    /// Broadcast or reduction over two binary trees, each with every other block: what is a leaf in one of them is none
    /// in the other.
    TwoTree = "two-tree";
    /// Broadcast or reduction over a mesh of about sqrt(p) rows: first along a row, and then along all columns; an
    /// all-broadcast around all rows, and then around all columns.
    Mesh = "mesh";
    /// Broadcast by a scatter down a binomial tree and an all-broadcast around a ring (van de Geijn).
    ScatterAllgather = "scatter-allgather";
    /// All-broadcast in p/2 rounds: two parts to the rank on one side and to the one on the other side in turn.
    Neighbor = "neighbor";
    /// Reduce-scatter in ceil(log2 p) rounds, each with half as much as the one before; followed by an all-broadcast of
    /// the parts where all ranks get everything.
    Halving = "halving";
    /// Every rank gets all vectors and reduces them by itself.
    Gather = "gather";
    /// Every operand goes to the rank that reduces it, which takes them from left to right in the order of ranks.
    Ordered = "ordered";
    /// A scan in ceil(log2 p) rounds, or a reduction or an all-broadcast in as many: pairs of ranks, then of pairs
    /// and so on, exchange what they have.
    Doubling = "doubling";
    /// A scan along the ranks, block by block.
    Pipelined = "pipelined";
    /// A barrier in ceil(log2 p) rounds of a message, or in fewer of several. A reduction in as many rounds, in which
    /// operands may count twice.
    Dissemination = "dissemination";
    /// A reduction in ceil(log2 p) rounds of whole vectors, whose operands come in another order on each rank.
    Census = "census";
    /// The circulant reduction to rank 0, block by block, and the broadcast of each block as soon as it is reduced.
    ReduceBcast = "reduce-bcast";
    /// Every rank exchanges blocks with one other rank after the other.
    Pairwise = "pairwise";
}

/// Makes an enumeration of the algorithms of each family, and the way to it. Whoever matches one sees no other family's
/// algorithms, so a new one is missing only where it belongs.
macro_rules! families {
    ($($(#[$doc:meta])* $name:ident, $convert:ident: $($variant:ident)*;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum $name {
                $(#[doc = concat!("[`Algorithm::", stringify!($variant), "`].")] $variant,)*
            }

            impl $name {
                /// All of them, in the order in which users see them.
                pub const ALL: &[Algorithm] = &[$(Algorithm::$variant),*];
            }
        )*

        impl Algorithm {
            $(
                /// This algorithm as one of its family.
                ///
                /// # Panics
                /// If it is none of the family's; options and rules accept no other.
                #[inline]
                pub fn $convert(self) -> $name {
                    $(
                        if self == Algorithm::$variant {
                            return $name::$variant;
                        }
                    )*
                    self.is_foreign(stringify!($name))
                }
            )*

            const fn is_of_a_family(self) -> bool {
                $($(
                    if self as usize == Algorithm::$variant as usize {
                        return true;
                    }
                )*)*
                false
            }

            #[cold]
            fn is_foreign(self, family: &str) -> ! {
                unreachable!("{} is no {family}", self.name())
            }
        }

        const _: () = {
            let mut i = 0;
            while i < Algorithm::ALL.len() {
                assert!(Algorithm::ALL[i].is_of_a_family(), "an algorithm is of no family");
                i += 1;
            }
        };
    };
}

families! {
    /// What can carry out a broadcast.
    BroadcastAlgorithm, of_broadcast: Circulant Binomial Postal Relay Chain Linear Binary Kary Fibonacci InOrder TwoTree
        Mesh ScatterAllgather;
    /// What can carry out an all-broadcast.
    AllBroadcastAlgorithm, of_all_broadcast: Circulant Bruck Ring Doubling Neighbor Mesh;
    /// What can carry out a gather or scatter.
    RootedAlgorithm, of_rooted: Hybrid Adaptive Binomial Linear;
    /// What can carry out a reduction of which all ranks have the result.
    AllReductionAlgorithm, of_all_reduction: Halving Gather Ordered Census Dissemination Doubling Ring ReduceBcast
        Binomial Chain Linear Binary Kary Fibonacci InOrder TwoTree Mesh;
    /// What can carry out a reduction to a root.
    ReductionAlgorithm, of_reduction: Circulant Binomial Ordered Chain Linear Binary Kary Fibonacci InOrder TwoTree
        Mesh;
    /// What can carry out a reduction of which every rank has a part.
    ScatteredReductionAlgorithm, of_scattered_reduction: Halving Ordered Circulant;
    /// What can carry out a scan.
    ScanAlgorithm, of_scan: Doubling Pipelined;
    /// What can carry out a barrier.
    BarrierAlgorithm, of_barrier: Dissemination;
    /// What can carry out an exchange of blocks of one size between all ranks.
    TotalExchangeAlgorithm, of_total_exchange: Circulant Pairwise Linear;
    /// What can carry out an exchange of blocks of any sizes between all ranks.
    IrregularExchangeAlgorithm, of_irregular_exchange: Pairwise Linear;
}

impl From<IrregularExchangeAlgorithm> for TotalExchangeAlgorithm {
    fn from(algorithm: IrregularExchangeAlgorithm) -> TotalExchangeAlgorithm {
        match algorithm {
            IrregularExchangeAlgorithm::Pairwise => TotalExchangeAlgorithm::Pairwise,
            IrregularExchangeAlgorithm::Linear => TotalExchangeAlgorithm::Linear,
        }
    }
}
