//! The blocks of a call.

#![forbid(unsafe_code)]

use std::ffi::c_int;

/// How many elements each rank has, one block behind the other.
pub struct CountsAndDispls {
    pub(super) counts: Vec<c_int>,
    pub(super) displs: Vec<c_int>,
    pub(super) total: c_int,
}

impl CountsAndDispls {
    /// `None` if all together are more than MPI can count.
    pub fn new(counts: &[u64]) -> Option<CountsAndDispls> {
        let mut displs = Vec::new();
        let mut total: c_int = 0;
        for &count in counts {
            displs.push(total);
            total = total.checked_add(c_int::try_from(count).ok()?)?;
        }
        let counts = counts.iter().map(|&count| count as c_int).collect();
        Some(CountsAndDispls {
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
