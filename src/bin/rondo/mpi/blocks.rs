//! The blocks of a call.

#![forbid(unsafe_code)]

use crate::Failure;
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

    /// The counts in a circle, beginning with that of `rank`. If every rank exchanges such blocks with all ranks, a
    /// block for a rank is as long as the one from it.
    pub fn turned_counts(&self, rank: usize) -> Vec<c_int> {
        let circle = self.counts.iter().cycle().skip(rank);
        circle.take(self.counts.len()).copied().collect()
    }

    /// The same with displacements, of elements that have `extent` bytes of memory; none, unless `is_exchange` says so.
    pub fn turned(&self, rank: usize, is_exchange: bool, extent: usize) -> Result<Turned, Failure> {
        let counts = match is_exchange {
            true => self.turned_counts(rank),
            false => Vec::new(),
        };
        let place = |end: &mut c_int, count: &c_int| {
            let start = *end;
            *end += count;
            Some(start)
        };
        let displs: Vec<c_int> = counts.iter().scan(0, place).collect();
        let offset = |place: &c_int| place.checked_mul(extent as c_int);
        let offsets: Option<Vec<c_int>> = displs.iter().map(offset).collect();
        let too_large = || Failure::Usage("a size is too large for displacements in bytes".into());
        Ok(Turned {
            counts,
            displs,
            offsets: offsets.ok_or_else(too_large)?,
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

/// What a rank exchanges with all ranks: counts, displacements in elements, and displacements in bytes.
pub struct Turned {
    counts: Vec<c_int>,
    displs: Vec<c_int>,
    offsets: Vec<c_int>,
}

impl Turned {
    /// A type for each rank.
    pub fn types<T: Copy>(&self, datatype: T) -> Vec<T> {
        vec![datatype; self.counts.len()]
    }

    /// The three arrays, as MPI takes them.
    pub fn pointers(&self) -> (*const c_int, *const c_int, *const c_int) {
        let Turned {
            counts,
            displs,
            offsets,
        } = self;
        (counts.as_ptr(), displs.as_ptr(), offsets.as_ptr())
    }
}
