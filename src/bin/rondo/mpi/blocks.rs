//! The blocks of a call.

#![forbid(unsafe_code)]

use crate::Failure;
use std::ffi::c_int;

/// How many elements each rank has, one block behind the other.
#[derive(Default)]
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

    /// The same in a circle that begins with the block of `rank`. If every rank exchanges such blocks with all ranks, a
    /// block for a rank is as long as the one from it.
    pub fn turned(&self, rank: usize) -> Blocks {
        let circle = self.counts.iter().cycle().skip(rank);
        let counts: Vec<u64> = circle
            .take(self.counts.len())
            .map(|&it| it as u64)
            .collect();
        Blocks::new(&counts).expect("as many as before")
    }

    /// Displacements in bytes, of elements of so many.
    pub fn offsets(&self, element_bytes: usize) -> Result<Vec<c_int>, Failure> {
        let offset = |place: &c_int| place.checked_mul(element_bytes as c_int);
        let offsets: Option<Vec<c_int>> = self.displs.iter().map(offset).collect();
        let too_large = || Failure::Usage("a size is too large for displacements in bytes".into());
        offsets.ok_or_else(too_large)
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
