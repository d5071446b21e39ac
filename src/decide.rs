//! Who carries a call out, and how. Pure: same facts, same answer, on every rank. That is the whole
//! safety argument, so nothing that ranks may see differently may enter here.

#![forbid(unsafe_code)]

use crate::config::{Algorithm, Config};
use crate::model::{self, Model};

/// The decision about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The host's own function, and why.
    Host(Why),
    /// The circulant n-block broadcast with this many blocks.
    Circulant {
        /// Number of blocks, n >= 2 unless the message is too short.
        blocks: u32,
        /// Asked for, or chosen.
        why: Why,
    },
    /// The same schedule with a single block: ceil(log2 p) rounds, a binomial tree for any p. More
    /// blocks only where one would not fit a message of the host.
    Binomial {
        /// Number of blocks, 1 unless the message exceeds 1 GiB.
        blocks: u32,
        /// Asked for, or chosen.
        why: Why,
    },
}

/// Why a call went where it went. Every rank of a call sees the same reason, save for an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Chosen by Rondo.
    Auto,
    /// Named by the option of the collective.
    Configured,
    /// `RONDO=off`.
    Off,
    /// `RONDO_PMPI=off` and the call came by its `PMPI_` name.
    Pmpi,
    /// One or two ranks: nothing to gain.
    FewRanks,
    /// Inter-communicators are the host's.
    Inter,
    /// Below the collective's `_MIN_BYTES`.
    Small,
    /// All ranks on one node: the host's shared memory is faster, as measured.
    OneNode,
    /// No data to move.
    Empty,
    /// Communicator, datatype, count or root is invalid: the host says so.
    Invalid,
    /// No room for a private communicator (`RONDO_MAX_COMMS`, or the host has no more).
    NoRoom,
    /// The ranks run different versions of Rondo.
    Versions,
    /// This build does not fit the host.
    Unusable,
    /// `MPI_Finalize` is under way.
    Ending,
}

impl Why {
    /// All reasons, in the order of their counters.
    pub const ALL: [Why; 14] = [
        Why::Auto,
        Why::Configured,
        Why::Off,
        Why::Pmpi,
        Why::FewRanks,
        Why::Inter,
        Why::Small,
        Why::OneNode,
        Why::Empty,
        Why::Invalid,
        Why::NoRoom,
        Why::Versions,
        Why::Unusable,
        Why::Ending,
    ];

    /// Words for reports.
    pub fn text(self) -> &'static str {
        match self {
            Why::Auto => "auto",
            Why::Configured => "asked for",
            Why::Off => "RONDO=off",
            Why::Pmpi => "RONDO_PMPI=off",
            Why::FewRanks => "one or two ranks",
            Why::Inter => "inter-communicator",
            Why::Small => "below the minimum size",
            Why::OneNode => "all ranks on one node",
            Why::Empty => "no data",
            Why::Invalid => "invalid argument",
            Why::NoRoom => "no room for a private communicator",
            Why::Versions => "versions of Rondo differ",
            Why::Unusable => "built for another MPI",
            Why::Ending => "MPI is being finalized",
        }
    }
}

/// The shortest broadcast between nodes that measures better on every host (docs/results.md).
const MIN_BYTES: u64 = 32 << 10;

/// What every rank of a communicator knows about it.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Number of ranks.
    pub p: u32,
    /// Do all ranks share a node, and so the host's shared memory?
    pub one_node: bool,
    /// Messages up to this length are fast on this host; above it, sooner or later, comes the
    /// rendezvous protocol with its round trips.
    pub eager_bytes: u64,
}

/// Decides on a broadcast of `bytes` bytes. `bytes` is count times type size, which is equal on all
/// ranks by the rule of equal type signatures; `config` is that of the communicator.
pub fn bcast(facts: Facts, bytes: u64, config: &Config) -> Choice {
    let p = facts.p;
    if !config.enabled {
        return Choice::Host(Why::Off);
    }
    if p < 3 {
        return Choice::Host(Why::FewRanks);
    }
    if bytes == 0 {
        return Choice::Host(Why::Empty);
    }
    let (circulant, why) = match config.bcast {
        Algorithm::Host => return Choice::Host(Why::Configured),
        Algorithm::Auto => match config.bcast_min_bytes {
            None if facts.one_node => return Choice::Host(Why::OneNode),
            min if bytes < min.unwrap_or(MIN_BYTES) => return Choice::Host(Why::Small),
            _ => (true, Why::Auto),
        },
        Algorithm::Circulant => (true, Why::Configured),
        Algorithm::Binomial => (false, Why::Configured),
    };
    if !circulant {
        return Choice::Binomial {
            blocks: model::least_blocks(bytes),
            why,
        };
    }
    let model = Model {
        alpha_us: config.alpha_us,
        beta_ns_per_kb: config.beta_ns_per_kb,
    };
    let blocks = match config.block_bytes {
        0 => model.blocks(p, bytes, facts.eager_bytes),
        size => model::blocks_of(bytes, size),
    };
    Choice::Circulant { blocks, why }
}
