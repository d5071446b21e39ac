//! What can be decided, and why.

#![forbid(unsafe_code)]

use crate::algorithm::Algorithm;

/// The decision about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The host's own function, and why.
    Host(Why),
    /// Rondo, and how.
    Rondo(Method),
}

/// How Rondo carries a call out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// Over all ranks, or over nodes.
    pub form: Form,
    /// Number of blocks of the message, or of the longest part.
    pub blocks: u32,
    /// Asked for, or chosen.
    pub why: Why,
}

/// Between whom an algorithm runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All ranks of the communicator.
    Flat,
    /// So many ranks of each node, the leaders of its lanes; inside the nodes, data pass through shared
    /// memory.
    Nodes {
        /// Leaders of a node.
        lanes: u32,
    },
}

/// Makes the enumeration of reasons, the list of all, and their words from the rows.
macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident = $text:literal;)*) => {
        /// Why a call went where it went. Every rank of a call sees the same reason, save for an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Why {
            $($(#[$doc])* $variant,)*
        }

        impl Why {
            /// All reasons, in the order of their counters.
            pub const ALL: &[Why] = &[$(Why::$variant),*];

            /// Words for reports.
            pub fn text(self) -> &'static str {
                match self {
                    $(Why::$variant => $text,)*
                }
            }
        }
    };
}

reasons! {
    /// Chosen by Rondo.
    Auto = "auto";
    /// A file of rules says so.
    Rule = "by a rule";
    /// Measured to be the fastest.
    Measured = "measured";
    /// To be measured.
    Trial = "on trial";
    /// The job has several programs, and nothing says that all have Rondo (`RONDO_MPMD`).
    Programs = "several programs";
    /// Rondo did not see `MPI_Init`, and the first collective on `MPI_COMM_WORLD`, in which the job begins, has not
    /// come, or came where threads call MPI at the same time.
    NotBegun = "MPI_Init not seen";
    /// Named by the option of the collective.
    Configured = "asked for";
    /// `RONDO=off`.
    Off = "RONDO=off";
    /// A process may have memory that the processor cannot touch.
    Gpu = "a GPU's driver is loaded";
    /// One or two ranks: nothing to gain.
    FewRanks = "one or two ranks";
    /// Below the collective's `_MIN_COMM_SIZE`.
    SmallComm = "below the minimum number of ranks";
    /// Inter-communicators are the host's.
    Inter = "inter-communicator";
    /// Below the collective's `_MIN_BYTES`.
    Small = "below the minimum size";
    /// All ranks on one node, and no better way there than the host's.
    OneNode = "all ranks on one node";
    /// No faster than the host's, by what is known.
    Slower = "no faster than the MPI library";
    /// The operator allows no other order of operands than that of ranks.
    Order = "the order of ranks counts";
    /// The algorithm that was asked for would give each rank other bits by this operator.
    Inexact = "the operator is inexact";
    /// The algorithm that was asked for would have operands count twice.
    Repeats = "the operator is not idempotent";
    /// The algorithm that was asked for would take more than `RONDO_MAX_TMP_SIZE`.
    Memory = "too long for the memory of a rank";
    /// The algorithm that was asked for is for several nodes of several ranks. In a broadcast or all-broadcast they
    /// must share memory. In an allreduce or reduce-scatter all nodes must have as many.
    NoLanes = "no lanes between nodes";
    /// What `RONDO_REPRODUCIBLE` promises of the result's bits.
    Promise = "the promise of the same bits";
    /// No data to move.
    Empty = "no data";
    /// Communicator, datatype, count or root is invalid: the host says so. Or the operator is one that the host alone
    /// knows.
    Invalid = "invalid argument";
    /// No number is free for the communicator, or the host had no room for the job's private one.
    NoRoom = "no room for the communicator";
    /// The ranks run different versions or builds of Rondo.
    Versions = "versions or builds of Rondo differ";
    /// MPICH is told to go on without processes that fail.
    Outlives = "the job is to outlive failed processes";
    /// This build does not fit the host.
    Unusable = "built for another MPI";
    /// A process of the communicator is of another `MPI_COMM_WORLD` than others.
    Outside = "processes of several MPI_COMM_WORLDs";
    /// The first collective on a communicator comes while it is freed.
    Freed = "communicator being freed";
    /// A thread communicator of MPICH.
    Threads = "threads as ranks";
    /// Sessions without `MPI_Init`, or behind `MPI_Finalize`.
    NoWorld = "sessions without MPI_Init";
    /// A nonblocking collective.
    Nonblocking = "nonblocking";
    /// A persistent collective; its initialisation is what is counted.
    Persistent = "persistent";
}

impl Choice {
    /// The same in another number of blocks.
    pub(super) fn with_blocks(mut self, change: impl FnOnce(u32) -> u32) -> Choice {
        if let Choice::Rondo(method) = &mut self {
            method.blocks = change(method.blocks);
        }
        self
    }

    /// May rules for a machine, or measurement, say otherwise in some collective?
    #[inline]
    pub fn is_open(&self) -> bool {
        match self {
            Choice::Rondo(method) => method.why == Why::Auto,
            Choice::Host(why) => {
                matches!(
                    why,
                    Why::OneNode | Why::Small | Why::Slower | Why::SmallComm
                )
            }
        }
    }

    /// Are the bits of a reduction those that are promised, because of the promise or because Rondo gives no others?
    pub fn is_promised(&self) -> bool {
        matches!(self, Choice::Rondo(_) | Choice::Host(Why::Promise))
    }

    /// The same for another reason.
    pub fn because(self, reason: Why) -> Choice {
        match self {
            Choice::Host(_) => Choice::Host(reason),
            Choice::Rondo(method) => Choice::Rondo(Method {
                why: reason,
                ..method
            }),
        }
    }
}

impl Method {
    /// Is there one rank of each node that sends to others?
    pub fn has_leaders(&self) -> bool {
        self.form == Form::Nodes { lanes: 1 }
    }
}
