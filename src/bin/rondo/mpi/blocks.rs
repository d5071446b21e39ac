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

    /// The first `ranks` of the blocks in a circle, beginning with that of `rank`: counts and displacements. If every
    /// rank exchanges such blocks with all ranks, a block for a rank is as long as the one from it.
    pub fn turned(&self, rank: usize, ranks: usize) -> (Vec<c_int>, Vec<c_int>) {
        let circle = self.counts.iter().cycle().skip(rank);
        let counts: Vec<c_int> = circle.take(ranks).copied().collect();
        let place = |end: &mut c_int, count: &c_int| {
            let start = *end;
            *end += count;
            Some(start)
        };
        let displs = counts.iter().scan(0, place).collect();
        (counts, displs)
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
