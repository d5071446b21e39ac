//! What can be decided, and why.

#![forbid(unsafe_code)]

use crate::algorithm::Algorithm;

/// The decision about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The host's own function, and why.
    Host(Why),
    /// An algorithm of Rondo's.
    Rondo {
        /// Which one.
        algorithm: Algorithm,
        /// Over all ranks, or over nodes.
        form: Form,
        /// Number of blocks of the message, or of the longest part.
        blocks: u32,
        /// Asked for, or chosen.
        why: Why,
    },
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

/// Why a call went where it went. Every rank of a call sees the same reason, save for an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Chosen by Rondo.
    Auto,
    /// A file of rules says so.
    Rule,
    /// Measured to be the fastest.
    Measured,
    /// To be measured.
    Trial,
    /// Few calls so far: Rondo would have to make a communicator and shared memory first.
    SetUp,
    /// Named by the option of the collective.
    Configured,
    /// `RONDO=off`.
    Off,
    /// A process may have memory that the processor cannot touch.
    Gpu,
    /// One or two ranks: nothing to gain.
    FewRanks,
    /// Below the collective's `_MIN_COMM_SIZE`.
    SmallComm,
    /// Inter-communicators are the host's.
    Inter,
    /// Below the collective's `_MIN_BYTES`.
    Small,
    /// All ranks on one node, and no better way there than the host's.
    OneNode,
    /// No data to move.
    Empty,
    /// Communicator, datatype, count or root is invalid: the host says so.
    Invalid,
    /// No room for a private communicator (`RONDO_MAX_COMMS`, or the host has no more).
    NoRoom,
    /// The ranks run different versions or builds of Rondo.
    Versions,
    /// This build does not fit the host.
    Unusable,
    /// A process of the communicator is of another `MPI_COMM_WORLD` than others.
    Outside,
    /// The first collective on a communicator comes while it is freed.
    Freed,
    /// Sessions without `MPI_Init`, or behind `MPI_Finalize`.
    NoWorld,
    /// A nonblocking collective.
    Nonblocking,
    /// A persistent collective; its initialisation is what is counted.
    Persistent,
}

impl Why {
    /// All reasons, in the order of their counters.
    pub const ALL: [Why; 23] = [
        Why::Auto,
        Why::Rule,
        Why::Measured,
        Why::Trial,
        Why::SetUp,
        Why::Configured,
        Why::Off,
        Why::Gpu,
        Why::FewRanks,
        Why::SmallComm,
        Why::Inter,
        Why::Small,
        Why::OneNode,
        Why::Empty,
        Why::Invalid,
        Why::NoRoom,
        Why::Versions,
        Why::Unusable,
        Why::Outside,
        Why::Freed,
        Why::NoWorld,
        Why::Nonblocking,
        Why::Persistent,
    ];

    /// Words for reports.
    pub fn text(self) -> &'static str {
        match self {
            Why::Auto => "auto",
            Why::Rule => "by a rule",
            Why::Measured => "measured",
            Why::Trial => "on trial",
            Why::SetUp => "too few calls so far",
            Why::Configured => "asked for",
            Why::Off => "RONDO=off",
            Why::Gpu => "a GPU's driver is loaded",
            Why::FewRanks => "one or two ranks",
            Why::SmallComm => "below the minimum number of ranks",
            Why::Inter => "inter-communicator",
            Why::Small => "below the minimum size",
            Why::OneNode => "all ranks on one node",
            Why::Empty => "no data",
            Why::Invalid => "invalid argument",
            Why::NoRoom => "no room for a private communicator",
            Why::Versions => "versions or builds of Rondo differ",
            Why::Unusable => "built for another MPI",
            Why::Outside => "processes of several MPI_COMM_WORLDs",
            Why::Freed => "communicator being freed",
            Why::NoWorld => "sessions without MPI_Init",
            Why::Nonblocking => "nonblocking",
            Why::Persistent => "persistent",
        }
    }
}

impl Choice {
    /// The same in another number of blocks.
    pub(super) fn with_blocks(mut self, change: impl FnOnce(u32) -> u32) -> Choice {
        if let Choice::Rondo { blocks, .. } = &mut self {
            *blocks = change(*blocks);
        }
        self
    }

    /// The same for another reason.
    pub fn because(self, reason: Why) -> Choice {
        match self {
            Choice::Host(_) => Choice::Host(reason),
            Choice::Rondo {
                algorithm,
                form,
                blocks,
                ..
            } => Choice::Rondo {
                algorithm,
                form,
                blocks,
                why: reason,
            },
        }
    }
}
