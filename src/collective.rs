//! The collectives that Rondo takes over, a row each, and the families that they form. What else is to be said of every
//! collective is made from these rows: options, counters, names in rules and in the tool.

#![forbid(unsafe_code)]

use crate::algorithm::{
    About, Algorithm, AllBroadcastAlgorithm, AllReductionAlgorithm, BarrierAlgorithm,
    BroadcastAlgorithm, HYPERCUBE, IrregularExchangeAlgorithm, ReductionAlgorithm, RootedAlgorithm,
    ScanAlgorithm, ScatteredReductionAlgorithm, TWO_PHASE, TotalExchangeAlgorithm,
};

/// Makes the enumeration of families, the list of all, and their names from the rows.
macro_rules! families {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)*) => {
        /// Collectives that move data between the same ranks in the same way. What decides on a call, and carries it
        /// out, is a family's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Family {
            $($(#[$doc])* $variant,)*
        }

        impl Family {
            /// All of them.
            pub const ALL: &[Family] = &[$(Family::$variant),*];

            /// The name in lists of what is to be tested.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Family::$variant => $name,)*
                }
            }
        }
    };
}

families! {
    /// The root has a message for all.
    Broadcast = "broadcast";
    /// Every rank has a message for all.
    AllBroadcast = "all-broadcast";
    /// The root has a block for every rank, or gets one of each. Few ranks know how much there is to move.
    Rooted = "rooted";
    /// Every rank has a vector, and all get the reduction of all of them.
    AllReduction = "all-reduction";
    /// Every rank has a vector, and the root gets the reduction of all of them.
    Reduction = "reduction";
    /// Every rank has a vector, and each gets its own part of the reduction of all of them.
    ScatteredReduction = "scattered-reduction";
    /// Every rank has a vector and gets the reduction of those of the ranks before it.
    Scan = "scans";
    /// Nobody has anything; no rank goes on before all have come.
    Barrier = "barriers";
    /// Every rank has a block for every rank, all of one size.
    TotalExchange = "total-exchange";
    /// The same with blocks of any sizes. No rank knows those of others.
    IrregularExchange = "irregular-exchange";
}

/// Who gets what of the reduction of all vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reducing {
    /// All ranks get it.
    All,
    /// The root gets it.
    Root,
    /// Every rank gets its own part of it.
    Scattered,
    /// Every rank gets that of the ranks before it.
    Scan,
}

impl Family {
    /// Has every rank a block for every rank?
    pub const fn is_exchange(self) -> bool {
        match self {
            Family::TotalExchange | Family::IrregularExchange => true,
            Family::Broadcast
            | Family::AllBroadcast
            | Family::Rooted
            | Family::AllReduction
            | Family::Reduction
            | Family::ScatteredReduction
            | Family::Scan
            | Family::Barrier => false,
        }
    }

    /// Are operands reduced?
    pub const fn reduces(self) -> bool {
        self.reducing().is_some()
    }

    /// Who gets what of the reduction, if operands are reduced.
    pub const fn reducing(self) -> Option<Reducing> {
        match self {
            Family::AllReduction => Some(Reducing::All),
            Family::Reduction => Some(Reducing::Root),
            Family::ScatteredReduction => Some(Reducing::Scattered),
            Family::Scan => Some(Reducing::Scan),
            Family::Broadcast
            | Family::AllBroadcast
            | Family::Rooted
            | Family::Barrier
            | Family::TotalExchange
            | Family::IrregularExchange => None,
        }
    }

    /// Do all ranks of a call know how many bytes it moves? Such collectives have a number of bytes below which they
    /// are the host's.
    pub const fn knows_bytes(self) -> bool {
        match self {
            Family::Broadcast
            | Family::AllBroadcast
            | Family::AllReduction
            | Family::Reduction
            | Family::ScatteredReduction
            | Family::Scan
            | Family::TotalExchange => true,
            Family::Rooted | Family::Barrier | Family::IrregularExchange => false,
        }
    }

    /// Of whom the bytes of a call are, in words that follow them.
    pub(crate) const fn whose_bytes(self) -> &'static str {
        match self {
            Family::Broadcast | Family::Rooted | Family::Barrier => "",
            Family::TotalExchange | Family::IrregularExchange => " of a rank's blocks together",
            Family::AllBroadcast => " of all ranks together",
            Family::AllReduction
            | Family::Reduction
            | Family::ScatteredReduction
            | Family::Scan => " of a rank's vector",
        }
    }

    /// Has a call a root?
    pub const fn has_root(self) -> bool {
        match self {
            Family::Broadcast | Family::Rooted | Family::Reduction => true,
            Family::AllBroadcast
            | Family::AllReduction
            | Family::ScatteredReduction
            | Family::Scan
            | Family::Barrier
            | Family::TotalExchange
            | Family::IrregularExchange => false,
        }
    }

    /// What can carry its calls out.
    pub const fn algorithms(self) -> &'static [Algorithm] {
        match self {
            Family::Broadcast => BroadcastAlgorithm::ALL,
            Family::AllBroadcast => AllBroadcastAlgorithm::ALL,
            Family::Rooted => RootedAlgorithm::ALL,
            Family::AllReduction => AllReductionAlgorithm::ALL,
            Family::Reduction => ReductionAlgorithm::ALL,
            Family::ScatteredReduction => ScatteredReductionAlgorithm::ALL,
            Family::Scan => ScanAlgorithm::ALL,
            Family::Barrier => BarrierAlgorithm::ALL,
            Family::TotalExchange => TotalExchangeAlgorithm::ALL,
            Family::IrregularExchange => IrregularExchangeAlgorithm::ALL,
        }
    }

    /// Other names that the literature has for algorithms of this family.
    pub const fn other_names(self) -> &'static [(&'static str, Algorithm)] {
        match self {
            Family::Broadcast => &[(TWO_PHASE, Algorithm::Relay)],
            Family::AllBroadcast => &[(HYPERCUBE, Algorithm::Doubling)],
            Family::AllReduction => &[
                (HYPERCUBE, Algorithm::Doubling),
                (TWO_PHASE, Algorithm::Ordered),
            ],
            Family::Reduction => &[
                (HYPERCUBE, Algorithm::Binomial),
                (TWO_PHASE, Algorithm::Ordered),
            ],
            Family::Rooted
            | Family::ScatteredReduction
            | Family::Scan
            | Family::Barrier
            | Family::TotalExchange
            | Family::IrregularExchange => &[],
        }
    }

    /// What runs in each lane where this algorithm is full-lane, or the algorithm itself if it is another one.
    pub fn in_lanes(self, algorithm: Algorithm) -> Algorithm {
        if algorithm != Algorithm::FullLane {
            return algorithm;
        }
        match self {
            Family::Broadcast | Family::AllBroadcast | Family::Reduction => Algorithm::Circulant,
            Family::AllReduction | Family::ScatteredReduction => Algorithm::Halving,
            Family::TotalExchange => Algorithm::Linear,
            Family::Rooted | Family::Scan | Family::Barrier | Family::IrregularExchange => {
                unreachable!("these have no full-lane")
            }
        }
    }

    /// The names of its algorithms, and behind them other names of some.
    pub fn names(self) -> impl Iterator<Item = (&'static str, Algorithm)> + Clone {
        let own = self.algorithms().iter();
        own.map(|&algorithm| (algorithm.name(), algorithm))
            .chain(self.other_names().iter().copied())
    }

    /// The algorithm of this name, be it another one of it, in letters of any case.
    pub fn algorithm(self, name: &str) -> Option<Algorithm> {
        let mut names = self.names();
        let found = names.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, algorithm)| algorithm)
    }

    /// What is to be said of each of these.
    pub const fn about(self) -> &'static [About] {
        match self {
            Family::Broadcast => BroadcastAlgorithm::ABOUT,
            Family::AllBroadcast => AllBroadcastAlgorithm::ABOUT,
            Family::Rooted => RootedAlgorithm::ABOUT,
            Family::AllReduction => AllReductionAlgorithm::ABOUT,
            Family::Reduction => ReductionAlgorithm::ABOUT,
            Family::ScatteredReduction => ScatteredReductionAlgorithm::ABOUT,
            Family::Scan => ScanAlgorithm::ABOUT,
            Family::Barrier => BarrierAlgorithm::ABOUT,
            Family::TotalExchange => TotalExchangeAlgorithm::ABOUT,
            Family::IrregularExchange => IrregularExchangeAlgorithm::ABOUT,
        }
    }

    /// The fewest ranks whose calls Rondo takes, unless something else is measured.
    pub const fn least_ranks(self) -> u32 {
        match self {
            Family::Broadcast
            | Family::AllBroadcast
            | Family::AllReduction
            | Family::Reduction
            | Family::ScatteredReduction
            | Family::Scan
            | Family::Barrier
            | Family::TotalExchange
            | Family::IrregularExchange => 3,
            Family::Rooted => 64,
        }
    }
}

/// The fewest bytes of a message, or of all parts of an all-broadcast, between nodes that Rondo carries out at least as
/// fast as every host (docs/results/long-messages.md).
pub const LEAST_BYTES: u64 = 32 << 10;

/// The same of broadcasts where one rank of a node sends to other nodes, once the network is measured.
pub const LEADERS_LEAST_BYTES: u64 = 4 << 10;

/// The same within a node, where the way is through a shared segment.
pub const NODE_LEAST_BYTES: u64 = 16 << 10;

struct Row {
    mpi_name: &'static str,
    name: &'static str,
    option: &'static str,
    min_bytes_option: &'static str,
    irregular: bool,
    family: Family,
    limits: Collective,
}

/// May the blocks of ranks differ in size?
macro_rules! is_irregular {
    (regular) => {
        false
    };
    (irregular) => {
        true
    };
}

/// Makes the enumeration, the list of all, and the rows: the MPI function, the name, the name of the option, whether
/// the blocks of ranks may differ in size, the family, and the collective whose limit holds for it.
macro_rules! collectives {
    ($(
        $variant:ident $mpi_name:literal = $name:literal $option:literal, $blocks:ident $family:ident,
        limits of $limits:ident;
    )*) => {
        /// A collective that Rondo takes over.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Collective {
            $(#[doc = concat!("`", $mpi_name, "`.")] $variant,)*
        }

        impl Collective {
            /// All of them, in the order of their counters.
            pub const ALL: &[Collective] = &[$(Collective::$variant),*];
        }

        const ROWS: &[Row] = &[$(Row {
            mpi_name: $mpi_name,
            name: $name,
            option: $option,
            min_bytes_option: concat!($option, "_MIN_BYTES"),
            irregular: is_irregular!($blocks),
            family: Family::$family,
            limits: Collective::$limits,
        }),*];
    };
}

collectives! {
    Bcast "MPI_Bcast" = "bcast" "BCAST", regular Broadcast, limits of Bcast;
    Allgatherv "MPI_Allgatherv" = "allgatherv" "ALLGATHERV", irregular AllBroadcast, limits of Allgatherv;
    Allgather "MPI_Allgather" = "allgather" "ALLGATHER", regular AllBroadcast, limits of Allgatherv;
    Gatherv "MPI_Gatherv" = "gatherv" "GATHERV", irregular Rooted, limits of Gatherv;
    Gather "MPI_Gather" = "gather" "GATHER", regular Rooted, limits of Gatherv;
    Scatterv "MPI_Scatterv" = "scatterv" "SCATTERV", irregular Rooted, limits of Scatterv;
    Scatter "MPI_Scatter" = "scatter" "SCATTER", regular Rooted, limits of Scatterv;
    Allreduce "MPI_Allreduce" = "allreduce" "ALLREDUCE", regular AllReduction, limits of Allreduce;
    Reduce "MPI_Reduce" = "reduce" "REDUCE", regular Reduction, limits of Reduce;
    ReduceScatter "MPI_Reduce_scatter" = "reduce_scatter" "REDUCE_SCATTER", irregular ScatteredReduction,
        limits of ReduceScatter;
    ReduceScatterBlock "MPI_Reduce_scatter_block" = "reduce_scatter_block" "REDUCE_SCATTER_BLOCK",
        regular ScatteredReduction, limits of ReduceScatter;
    Scan "MPI_Scan" = "scan" "SCAN", regular Scan, limits of Scan;
    Exscan "MPI_Exscan" = "exscan" "EXSCAN", regular Scan, limits of Scan;
    Barrier "MPI_Barrier" = "barrier" "BARRIER", regular Barrier, limits of Barrier;
    Alltoall "MPI_Alltoall" = "alltoall" "ALLTOALL", regular TotalExchange, limits of Alltoall;
    Alltoallv "MPI_Alltoallv" = "alltoallv" "ALLTOALLV", irregular IrregularExchange, limits of Alltoallv;
    Alltoallw "MPI_Alltoallw" = "alltoallw" "ALLTOALLW", irregular IrregularExchange, limits of Alltoallw;
}

impl Collective {
    /// How many there are.
    pub const COUNT: usize = Collective::ALL.len();

    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The MPI function.
    pub const fn mpi_name(self) -> &'static str {
        self.row().mpi_name
    }

    /// The name in options, rules and reports.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The MPI functions in a sentence.
    pub fn all_mpi_names() -> String {
        let names: Vec<&str> = Collective::ALL.iter().map(|c| c.mpi_name()).collect();
        let (last, others) = names.split_last().expect("the table has rows");
        format!("{} and {last}", others.join(", "))
    }

    /// The collective of this name, `bcast` or `MPI_Bcast`, in letters of any case.
    pub fn named(name: &str) -> Option<Collective> {
        let is = |row: &Row| {
            [row.name, row.mpi_name]
                .iter()
                .any(|n| n.eq_ignore_ascii_case(name))
        };
        Some(Collective::ALL[ROWS.iter().position(is)?])
    }

    /// May the blocks of ranks differ in size?
    pub const fn is_irregular(self) -> bool {
        self.row().irregular
    }

    /// Its family.
    pub const fn family(self) -> Family {
        self.row().family
    }

    /// What can carry it out.
    pub const fn algorithms(self) -> &'static [Algorithm] {
        self.family().algorithms()
    }

    /// The collective whose limit holds for it: the least bytes that automatic choice takes.
    pub const fn limits(self) -> Collective {
        self.row().limits
    }

    /// Has it an option for the fewest bytes?
    pub const fn has_min_bytes(self) -> bool {
        self as usize == self.limits() as usize && self.family().knows_bytes()
    }

    /// Without their common prefix, the options for the algorithm and for the fewest bytes, which
    /// [not all have](Collective::has_min_bytes).
    pub(crate) const fn options(self) -> [&'static str; 2] {
        let row = self.row();
        [row.option, row.min_bytes_option]
    }
}
