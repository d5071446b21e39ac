//! Which collectives there are, and on what.

#![forbid(unsafe_code)]

use std::ffi::c_int;

/// The collectives that Rondo takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "lower")]
pub enum Collective {
    Bcast,
    Allgatherv,
    Gatherv,
    Scatterv,
    Allgather,
    Gather,
    Scatter,
}

use Collective::*;

impl Collective {
    /// As Rondo's counters and options call it.
    pub fn name(self) -> &'static str {
        match self {
            Bcast => "bcast",
            Allgatherv => "allgatherv",
            Gatherv => "gatherv",
            Scatterv => "scatterv",
            Allgather => "allgather",
            Gather => "gather",
            Scatter => "scatter",
        }
    }

    /// May the blocks differ?
    pub fn is_irregular(self) -> bool {
        matches!(self, Allgatherv | Gatherv | Scatterv)
    }

    /// Is a size that of all ranks together, and not that of a block?
    pub fn size_is_total(self) -> bool {
        matches!(self, Bcast | Allgather | Allgatherv)
    }

    pub fn has_root(self) -> bool {
        !matches!(self, Allgather | Allgatherv)
    }

    /// Is the memory of all blocks significant on a rank?
    pub fn needs_all(self, is_root: bool) -> bool {
        is_root || matches!(self, Bcast | Allgather | Allgatherv)
    }
}

/// How many elements each rank has, one block behind the other.
pub struct Blocks {
    pub(super) counts: Vec<c_int>,
    pub(super) displs: Vec<c_int>,
    pub(super) total: c_int,
}

impl Blocks {
    /// `None` if all together are more than MPI can count.
    pub fn new(counts: &[u64]) -> Option<Blocks> {
        let mut displs = Vec::new();
        let mut total: c_int = 0;
        for &count in counts {
            displs.push(total);
            total = total.checked_add(c_int::try_from(count).ok()?)?;
        }
        let counts = counts.iter().map(|&count| count as c_int).collect();
        Some(Blocks {
            counts,
            displs,
            total,
        })
    }

    pub fn count(&self, rank: usize) -> usize {
        self.counts[rank] as usize
    }

    /// How many elements come before those of a rank.
    pub fn before(&self, rank: usize) -> usize {
        self.displs[rank] as usize
    }

    pub fn total(&self) -> usize {
        self.total as usize
    }
}
