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
    /// Every rank passes on to its right what it got from its left, long parts block by block; twice in a reduction.
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
    /// Broadcast or reduction over a k-nomial tree: in each round `RONDO_TREE_ARITY` times as many ranks have a block.
    Knomial = "knomial";
    /// Broadcast or reduction over a Fibonacci tree, block by block: binary, and all leaves are reached together.
    Fibonacci = "fibonacci";
    /// Broadcast or reduction over a binary tree in the order of ranks with the root where it is, block by block; a
    /// scan up and down it.
    InOrder = "in-order";
    /// Broadcast or reduction over two binary trees, each with every other block: what is a leaf in one of them is none
    /// in the other; a scan up and down them.
    TwoTree = "two-tree";
    /// Broadcast or reduction over a mesh of about sqrt(p) rows: first along a row, and then along all columns; an
    /// all-broadcast around all rows, and then around all columns; a scan, or an exchange of blocks, along all rows
    /// and then along all columns.
    Mesh = "mesh";
    /// A scan, or an exchange of blocks, along one dimension of a hypercube after the other. A broadcast in n - 1 +
    /// ceil(log2 p) rounds over as many trees of a hypercube as it has dimensions.
    Hypercube = "hypercube";
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
    /// Reduce-scatter in ceil(log2 p) rounds that keeps the order of ranks: where it goes past the last rank, what is
    /// reduced is split into two; followed by an all-broadcast of the parts where all ranks get everything.
    Split = "split";
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
    /// A reduction up and down two binary trees at the same time, whose roots exchange what they have, block by block.
    DualRoot = "dual-root";
    /// Over nodes, in lanes: each rank of a node leads one, for its share of the bytes (Träff and Hunold).
    /// [`crate::collective::Family::in_lanes`] says what goes on in a lane.
    FullLane = "full-lane";
}

/// The hypercube, where it has another name: ranks exchange what they have, or send it up one tree of it, along one
/// dimension after the other.
pub const HYPERCUBE: &str = "hypercube";
/// In two phases: each piece of a message goes to one rank, and from there to all others. In a reduction each piece is
/// reduced by one rank, from where the result goes on.
pub const TWO_PHASE: &str = "two-phase";

/// A pattern: the trees for many blocks of an enumeration of algorithms.
macro_rules! trees {
    ($algorithms:ident) => {
        $algorithms::Binomial
            | $algorithms::Chain
            | $algorithms::Linear
            | $algorithms::Binary
            | $algorithms::Kary
            | $algorithms::Knomial
            | $algorithms::Fibonacci
            | $algorithms::InOrder
            | $algorithms::TwoTree
            | $algorithms::Mesh
    };
}
pub(crate) use trees;

/// A pattern: the algorithms that carry out no reduction and no scan.
macro_rules! reduces_nothing {
    ($algorithms:ident) => {
        $algorithms::Bruck
            | $algorithms::Hybrid
            | $algorithms::Adaptive
            | $algorithms::Relay
            | $algorithms::ScatterAllgather
            | $algorithms::Neighbor
            | $algorithms::Pairwise
    };
}
pub(crate) use reduces_nothing;

/// Every symbol of the formulas of [`About`], and what it stands for.
pub const NOTATION: &[(&str, &str)] = &[
    ("p", "ranks"),
    ("q", "ceil(log2 p)"),
    (
        "m",
        "bytes of the message, of a rank's vector or blocks, or of all ranks together in an allgather",
    ),
    ("n", "blocks of the message, of the vector, or of each part"),
    ("b", "bytes of each rank's block"),
    ("alpha", "what a message takes, however short it is"),
    ("beta", "what each byte adds"),
    ("gamma", "what it takes to reduce a byte"),
    ("delta", "what it takes to pass a byte on"),
    ("g", "the least time from a message of a rank to its next"),
    (
        "g'",
        "the least time from a message of a rank that receives meanwhile to its next",
    ),
    ("o", "what the root spends on each of many messages"),
    (
        "h",
        "messages one after the other on a block's longest way, about floor(log2 p) + 1",
    ),
    ("log_k", "the logarithm to the base k"),
    ("log_K", "the logarithm to the base K"),
    (
        "T(k, s, d)",
        "(k + s (n-1)) (g' + beta m/n) + d (alpha - g'), in reductions with beta + gamma for beta",
    ),
    (
        "k",
        "of a logarithm the radix: a round has up to k - 1 messages of each rank; of a tree its rounds for one block",
    ),
    ("s", "of a tree the rounds from a block to the next"),
    ("d", "messages one after the other on the longest way"),
    ("K", "RONDO_TREE_ARITY"),
    (
        "Fib(i)",
        "Fibonacci numbers, of which Fib(1) and Fib(2) are 1",
    ),
    ("t", "the steps of a postal tree"),
    (
        "F(t)",
        "ranks reached in t steps: 1 for t < L, then F(t-1) + F(t-L)",
    ),
    (
        "L",
        "messages under way at a time: (alpha + beta m) / (g + beta m)",
    ),
    ("T", "bytes from which on a block goes straight"),
    ("f", "ranks along a dimension of a grid"),
    ("rows", "those of a mesh of ranks"),
    ("columns", "those of a mesh of ranks"),
];

/// What an algorithm does for a family of collectives, in formulas whose symbols [`NOTATION`] explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Which one.
    pub algorithm: Algorithm,
    /// How many rounds of messages it has.
    pub rounds: &'static str,
    /// What it takes where every rank has a node.
    pub time: &'static str,
    /// Where it is from.
    pub source: &'static str,
}

/// Makes an enumeration of the algorithms of each family, and the way to it. Whoever matches one sees no other family's
/// algorithms, so a new one is missing only where it belongs. A row is an algorithm with its rounds, its time and its
/// source.
macro_rules! families {
    ($($(#[$doc:meta])* $name:ident, $convert:ident {
        $($variant:ident: $rounds:literal, $time:literal, $source:expr;)*
    })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum $name {
                $(#[doc = concat!("[`Algorithm::", stringify!($variant), "`].")] $variant,)*
            }

            impl $name {
                /// All of them, in the order in which users see them.
                pub const ALL: &[Algorithm] = &[$(Algorithm::$variant),*];

                /// What is to be said of each, in the same order.
                pub const ABOUT: &[About] = &[$(About {
                    algorithm: Algorithm::$variant,
                    rounds: $rounds,
                    time: $time,
                    source: $source,
                }),*];
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

/// Papers and documents with several rows.
mod sources {
    pub const TRAEFF: &str = "J. L. Träff, arXiv 2205.10072";
    pub const BRUCK: &str = "J. Bruck et al., IEEE TPDS 8(11), 1997, section 4; J. L. Träff, arXiv 2205.10072, \
         algorithm 7";
    pub const HALVING: &str = "J. L. Träff, arXiv 2410.14234";
    pub const SKIPS: &str = "J. L. Träff, arXiv 2410.14234; for k > 2: J. Bruck et al., IEEE TPDS 8(11), 1997, \
         section 3";
    pub const REDUCTION: &str = "J. L. Träff, arXiv 2407.18004";
    pub const ORDERED: &str = "docs/algorithms.md, section Reductions";
    pub const ROOTED: &str = "docs/algorithms.md, section Gather and scatter";
    pub const BARRIER: &str = "D. Hensgen, R. Finkel, U. Manber, International Journal of Parallel Programming 17(1), \
         1988";
    pub const LECTURE: &str = "J. L. Träff, lecture on collective operations in MPI";
    pub const FIBONACCI: &str = "J. Bruck, R. Cypher, C.-T. Ho, SPDP 1992";
    pub const TWO_TREES: &str =
        "P. Sanders, J. Speck, J. L. Träff, Parallel Computing 35(12), 2009";
    pub const MESH: &str =
        "A. Grama et al., Introduction to Parallel Computing, 2003, sections 4.1.2 and 4.2.2";
    pub const EDGE_DISJOINT: &str = "S. L. Johnsson, C.-T. Ho, IEEE Transactions on Computers 38(9), 1989; B. Jia, \
         as in J. L. Träff, lecture on collective operations in MPI";
    pub const HYPERCUBE: &str =
        "A. Grama et al., Introduction to Parallel Computing, 2003, sections 4.1.3 and 4.2.3";
    pub const PREFIXES: &str =
        "A. Grama et al., Introduction to Parallel Computing, 2003, section 4.3";
    pub const PERSONALIZED: &str =
        "A. Grama et al., Introduction to Parallel Computing, 2003, sections 4.5.2 and 4.5.3";
    pub const FACTORS: &str = "D. König, Theorie der endlichen und unendlichen Graphen, 1936; docs/algorithms.md, \
         section Exchanges";
    pub const RING: &str =
        "P. Patarasuk, X. Yuan, Journal of Parallel and Distributed Computing 69(2), 2009";
    pub const LANES: &str = "J. L. Träff, S. Hunold, IEEE CLUSTER 2020";
    pub const GEIJN: &str =
        "R. A. van de Geijn et al.; J. L. Träff, lecture on collective operations";
    pub const MPICH: &str = "R. Thakur, R. Rabenseifner, W. Gropp, International Journal of High Performance \
         Computing Applications 19(1), 2005, section on reduce and allreduce";
}

families! {
    /// What can carry out a broadcast.
    BroadcastAlgorithm, of_broadcast {
        Circulant: "n - 1 + q", "(n-1+q) (g' + beta m/n) + h (alpha - g')",
            "J. L. Träff, arXiv 2205.10072, section 2";
        Binomial: "q", "q (alpha + beta m)", "docs/algorithms.md, section Broadcast";
        Postal: "-", "t (g + beta m), where t is the least number with F(t) >= p",
            "A. Bar-Noy, S. Kipnis, Mathematical Systems Theory 27, 1994, section 3";
        Relay: "n + p - 2", "(n+p-2) (g' + beta m/n) + 2 (alpha - g')",
            "L. Cherkasova, J. Lee, USENIX USITS 2003, section 3.1";
        Chain: "p - 2 + n", "T(k, s, d), k = d = p - 1, s = 1", sources::LECTURE;
        Linear: "(p - 1) n", "T(k, s, d), k = s = p - 1, d = 1", sources::LECTURE;
        Binary: "k + 2 (n-1)", "T(k, s, d), d = floor(log2 p), k = 2 d, s = 2", sources::LECTURE;
        Kary: "k + K (n-1)", "T(k, s, d), d = ceil(log_K (p (K-1) + 1)) - 1, k = K d, s = K",
            sources::LECTURE;
        Knomial: "k n", "T(k, s, d), d = ceil(log_K p), k = s = (K-1) (d-1) + ceil(p / K^(d-1)) - 1",
            sources::LECTURE;
        Fibonacci: "k + 2 (n-1)", "T(k, s, d), Fib(k + 3) > p, d = k, s = 2", sources::FIBONACCI;
        InOrder: "k + 2 (n-1)", "T(k, s, d), d = 1 + floor(log2 (p-1)), k = 2 d, s = 2", sources::LECTURE;
        TwoTree: "k + n - 1", "T(k, s, d), d = 1 + floor(log2 (p-1)), k about 2 d, s = 1", sources::TWO_TREES;
        Mesh: "k n", "T(k, s, d), k = s = d = the log2 of rows and of columns, each rounded up", sources::MESH;
        Hypercube: "n - 1 + q", "(n-1+q) (g' + beta m/n) + h (alpha - g')", sources::EDGE_DISJOINT;
        ScatterAllgather: "q + p - 1", "(q + p - 1) alpha + 2 (p-1)/p beta m",
            sources::GEIJN;
        FullLane: "those of circulant among nodes", "as circulant among nodes, whose ranks share a link",
            sources::LANES;
    }
    /// What can carry out an all-broadcast.
    AllBroadcastAlgorithm, of_all_broadcast {
        Circulant: "n - 1 + q", "(n-1+q) (g' + beta m/n) + h (alpha - g')",
            "J. L. Träff, arXiv 2205.10072, algorithm 9";
        Bruck: "ceil(log_k p)", "alpha a round + g' for each further message in it + beta (p-1)/p m", sources::BRUCK;
        Ring: "p - 1 for equal parts; n + p - 2 for one part",
            "(p-1) (alpha + beta m/p) for equal parts; (n+p-2) (g' + beta m/n) + (p-1) (alpha - g') for one",
            "J. L. Träff et al., International Journal of High Performance Computing Applications 24(1), 2010";
        Doubling: "q if p = 2^q, else floor(log2 p) + 2",
            "q alpha, up to one more unless p = 2^q; (p-1)/p beta m, twice that unless p = 2^q", sources::HYPERCUBE;
        Neighbor: "p/2, for odd p (p-1)/2 + 2",
            "p/2 alpha + (p-1)/p beta m, for odd p 2 alpha + (p-1)/p beta m more",
            "J. Chen, L. Zhang, Y. Zhang, W. Yuan, HPC Asia 2005";
        Mesh: "rows + columns - 2", "(rows + columns - 2) alpha + (p-1)/p beta m", sources::MESH;
        FullLane: "those of circulant among nodes", "as circulant among nodes, whose ranks share a link",
            sources::LANES;
    }
    /// What can carry out a gather or scatter.
    RootedAlgorithm, of_rooted {
        Hybrid: "q, or 1 from T bytes on", "as binomial for b < T, else as linear", sources::ROOTED;
        Adaptive: "q, and as many to find the tree", "as binomial, and the time to find the tree",
            "J. L. Träff, Parallel Computing 75, 2018";
        Binomial: "q", "q alpha + (p-1) beta b + q delta b", sources::ROOTED;
        Linear: "p - 1 messages",
            "gather: alpha + (p-1) (o + beta b); scatter: alpha + beta b + (p-2) max(g, beta b)", sources::ROOTED;
    }
    /// What can carry out a reduction of which all ranks have the result.
    AllReductionAlgorithm, of_all_reduction {
        Halving: "q + ceil(log_k p)", "q alpha + (p-1)/p m (beta + gamma) + the all-broadcast bruck of m",
            sources::HALVING;
        Gather: "ceil(log_k p)", "the all-broadcast bruck of p m + (p-1) gamma m", sources::BRUCK;
        Ordered: "p - 1 messages, and ceil(log_k p)",
            "alpha + max((p-2) g', (p-1)/p m beta) + (p-1)/p m gamma + the all-broadcast bruck of m", sources::ORDERED;
        Split: "q + ceil(log_k p)",
            "q alpha + up to 3/2 (p-1)/p m (beta + gamma) + the all-broadcast bruck of m", sources::ORDERED;
        Census: "q", "q (alpha + beta m) + up to 2 (q-1) gamma m",
            "A. Bar-Noy, S. Kipnis, B. Schieber, Parallel Processing Letters 3(1), 1993; J. L. Träff, \
             arXiv 2205.10072, algorithm 8";
        Dissemination: "q", "q (alpha + (beta + gamma) m)", sources::BARRIER;
        Doubling: "floor(log2 p), and 2 unless p = 2^q",
            "q alpha, up to one more unless p = 2^q; floor(log2 p) (beta + gamma) m, and (2 beta + gamma) m unless \
             p = 2^q",
            sources::MPICH;
        Ring: "2 (p-1)", "2 (p-1) alpha + (p-1)/p m (2 beta + gamma)",
            sources::RING;
        ReduceBcast: "2 (n - 1 + q)", "2 (n-1+q) (g' + beta m/n) + (n-1+q) gamma m/n + 2 h (alpha - g')",
            sources::TRAEFF;
        DualRoot: "k + 3 (n-1)", "T(k, s, d), d = 2 floor(log2 ceil(p/2)) + 1, k = 2 d - 1, s = 3",
            "J. L. Träff, arXiv 2109.12626";
        Binomial: "twice those of reduce", "twice that of reduce", sources::HYPERCUBE;
        Chain: "twice those of reduce", "twice that of reduce", sources::LECTURE;
        Linear: "twice those of reduce", "twice that of reduce", sources::LECTURE;
        Binary: "twice those of reduce", "twice that of reduce", sources::LECTURE;
        Kary: "twice those of reduce", "twice that of reduce", sources::LECTURE;
        Knomial: "twice those of reduce", "twice that of reduce", sources::LECTURE;
        Fibonacci: "twice those of reduce", "twice that of reduce", sources::FIBONACCI;
        InOrder: "twice those of reduce", "twice that of reduce", sources::LECTURE;
        TwoTree: "twice those of reduce", "twice that of reduce", sources::TWO_TREES;
        Mesh: "twice those of reduce", "twice that of reduce", sources::MESH;
        FullLane: "those of halving among nodes", "as halving among nodes, whose ranks share a link", sources::LANES;
    }
    /// What can carry out a reduction to a root.
    ReductionAlgorithm, of_reduction {
        Circulant: "n - 1 + q", "(n-1+q) (g' + (beta + gamma) m/n) + h (alpha - g')", sources::REDUCTION;
        Binomial: "q", "q (alpha + (beta + gamma) m)", sources::MPICH;
        Postal: "-", "t (g + (beta + gamma) m), where t is the least number with F(t) >= p",
            "A. Bar-Noy, S. Kipnis, Mathematical Systems Theory 27, 1994, section 3, backwards";
        Halving: "q + p - 1", "q alpha + (p-1)/p m (2 beta + gamma) + alpha + (p-2) o", sources::GEIJN;
        Ring: "2 (p-1)", "(p-1) alpha + (p-1)/p m (2 beta + gamma) + alpha + (p-2) o", sources::GEIJN;
        Ordered: "2 (p-1) messages",
            "alpha + max((p-2) g', (p-1)/p m beta) + (p-1)/p m (beta + gamma) + alpha + (p-2) o", sources::ORDERED;
        Chain: "p - 2 + n", "T(k, s, d), k = d = p - 1, s = 1", sources::LECTURE;
        Linear: "(p - 1) n", "T(k, s, d), k = s = p - 1, d = 1", sources::LECTURE;
        Binary: "k + 2 (n-1)", "T(k, s, d), d = floor(log2 p), k = 2 d, s = 2", sources::LECTURE;
        Kary: "k + K (n-1)", "T(k, s, d), d = ceil(log_K (p (K-1) + 1)) - 1, k = K d, s = K",
            sources::LECTURE;
        Knomial: "k n", "T(k, s, d), d = ceil(log_K p), k = s = (K-1) (d-1) + ceil(p / K^(d-1)) - 1",
            sources::LECTURE;
        Fibonacci: "k + 2 (n-1)", "T(k, s, d), Fib(k + 3) > p, d = k, s = 2", sources::FIBONACCI;
        InOrder: "k + 2 (n-1)", "T(k, s, d), d = 1 + floor(log2 (p-1)), k = 2 d, s = 2", sources::LECTURE;
        TwoTree: "k + n - 1", "T(k, s, d), d = 1 + floor(log2 (p-1)), k about 2 d, s = 1", sources::TWO_TREES;
        Mesh: "k n", "T(k, s, d), k = s = d = the log2 of rows and of columns, each rounded up", sources::MESH;
        FullLane: "those of circulant among nodes", "as circulant among nodes, whose ranks share a link",
            sources::LANES;
    }
    /// What can carry out a reduction of which every rank has a part.
    ScatteredReductionAlgorithm, of_scattered_reduction {
        Halving: "q", "q alpha + (p-1)/p m (beta + gamma)", sources::HALVING;
        Ordered: "p - 1 messages", "alpha + max((p-2) g', (p-1)/p m beta) + (p-1)/p m gamma", sources::ORDERED;
        Split: "q", "q alpha + up to 3/2 (p-1)/p m (beta + gamma)", sources::ORDERED;
        Circulant: "n - 1 + q", "(n-1+q) (g' + (beta + gamma) m/n) + h (alpha - g')",
            "J. L. Träff, arXiv 2205.10072, algorithm 9; arXiv 2407.18004";
        Ring: "p - 1", "(p-1) alpha + (p-1)/p m (beta + gamma)", sources::RING;
        FullLane: "those of halving among nodes", "as halving among nodes, whose ranks share a link", sources::LANES;
    }
    /// What can carry out a scan.
    ScanAlgorithm, of_scan {
        Doubling: "q", "q (alpha + (beta + gamma) m)",
            "W. D. Hillis, G. L. Steele, Communications of the ACM 29(12), 1986; exclusive: J. L. Träff, \
             arXiv 2507.04785";
        Pipelined: "p - 2 + n", "(p-1) (alpha + (beta + gamma) m/n) + (n-1) (g' + (beta + gamma) m/n)",
            "docs/algorithms.md, section Reductions";
        Hypercube: "q", "q (alpha + beta m) + (2 q - 1) gamma m", sources::PREFIXES;
        Mesh: "rows + columns - 2",
            "(rows + columns - 2) (alpha + (beta + gamma) m) + (columns - 1) gamma m", sources::PREFIXES;
        InOrder: "2 (k + 2 (n-1))", "2 T(k, s, d), d = floor(log2 p), k = 2 d, s = 2", sources::LECTURE;
        TwoTree: "2 (k + n - 1)", "2 T(k, s, d), d = 1 + floor(log2 (p-1)), k about 2 d, s = 1",
            sources::TWO_TREES;
    }
    /// What can carry out a barrier.
    BarrierAlgorithm, of_barrier {
        Dissemination: "ceil(log_k p)", "alpha a round + g' for each further message in it", sources::BARRIER;
    }
    /// What can carry out an exchange of blocks of one size between all ranks.
    TotalExchangeAlgorithm, of_total_exchange {
        Circulant: "ceil(log_k p), k by the model",
            "alpha a round + 2 g for each further message in it + ceil(log_k p) (k-1)/k beta m", sources::SKIPS;
        Pairwise: "p - 1, or p if p is odd",
            "max((p-1) (alpha + g + beta m/p)/2, alpha + max((p-2) g', beta m))", sources::FACTORS;
        Linear: "1", "alpha + max((p-2) g', beta m)", sources::FACTORS;
        Hypercube: "the sum of f - 1 over all prime factors f of p: q if p = 2^q",
            "the sum of max(alpha + 2 (f-2) g, (f-1) g') + (f-1)/f beta m", sources::PERSONALIZED;
        Mesh: "rows + columns - 2",
            "the sum of max(alpha + 2 (f-2) g, (f-1) g') + (f-1)/f beta m, f = rows and f = columns",
            sources::PERSONALIZED;
        FullLane: "1 among nodes", "as linear among nodes, whose ranks share a link", sources::LANES;
    }
    /// What can carry out an exchange of blocks of any sizes between all ranks.
    IrregularExchangeAlgorithm, of_irregular_exchange {
        Circulant: "2 q, and an allreduce", "2 q alpha + q beta (m + 8 p)/2 + an allreduce of 8 bytes",
            sources::HALVING;
        Pairwise: "p - 1, or p if p is odd",
            "max((p-1) (alpha + g + beta m/p)/2, alpha + max((p-2) g', beta m))", sources::FACTORS;
        Linear: "1", "alpha + max((p-2) g', beta m)", sources::FACTORS;
    }
}

impl From<IrregularExchangeAlgorithm> for TotalExchangeAlgorithm {
    fn from(algorithm: IrregularExchangeAlgorithm) -> TotalExchangeAlgorithm {
        match algorithm {
            IrregularExchangeAlgorithm::Circulant => TotalExchangeAlgorithm::Circulant,
            IrregularExchangeAlgorithm::Pairwise => TotalExchangeAlgorithm::Pairwise,
            IrregularExchangeAlgorithm::Linear => TotalExchangeAlgorithm::Linear,
        }
    }
}
