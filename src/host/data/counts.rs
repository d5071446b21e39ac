//! How many elements each rank has in a collective, and where they lie in a buffer.

use crate::schedule::Parts;
use std::ffi::{c_int, c_void};
use std::ptr;

/// A count, and by that the function that was called: `MPI_X` or `MPI_X_c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Of `MPI_X`.
    Int(c_int),
    /// Of `MPI_X_c`.
    Large(i64),
}

impl From<c_int> for Count {
    fn from(count: c_int) -> Count {
        Count::Int(count)
    }
}

impl From<i64> for Count {
    fn from(count: i64) -> Count {
        Count::Large(count)
    }
}

impl Count {
    /// As a word.
    pub fn bits(self) -> u64 {
        match self {
            Count::Int(count) => count as u64,
            Count::Large(count) => count as u64,
        }
    }

    /// The count, unless it is negative.
    pub fn get(self) -> Option<u64> {
        match self {
            Count::Int(count) => u64::try_from(count).ok(),
            Count::Large(count) => u64::try_from(count).ok(),
        }
    }
}

/// How many elements come from, or go to, each rank, and their places.
#[derive(Clone, Copy)]
pub enum Counts {
    /// As many for every rank, one behind the other.
    Regular(Count),
    /// Counts and displacements.
    Int(*const c_int, *const c_int),
    /// The same for the large-count functions.
    Large(*const i64, *const isize),
}

impl<C: Into<Count>> From<C> for Counts {
    fn from(count: C) -> Counts {
        Counts::Regular(count.into())
    }
}

impl From<(*const c_int, *const c_int)> for Counts {
    fn from((counts, displs): (*const c_int, *const c_int)) -> Counts {
        Counts::Int(counts, displs)
    }
}

impl From<(*const i64, *const isize)> for Counts {
    fn from((counts, displs): (*const i64, *const isize)) -> Counts {
        Counts::Large(counts, displs)
    }
}

impl Counts {
    /// States the bytes of each of `p` ranks, with `size` bytes in an element; `None` if a count is
    /// invalid. Whoever calls this vouches by the contract of the call that an array that is not null has an
    /// entry for every rank.
    pub(in crate::host) fn parts(&self, p: u32, size: u64, parts: &mut Parts) -> Option<()> {
        self.has_arrays().then_some(())?;
        let bytes = |count: Option<u64>| count?.checked_mul(size);
        match *self {
            Counts::Regular(count) => parts.set_equal(p, bytes(count.get())),
            Counts::Int(..) | Counts::Large(..) => {
                parts.set((0..p).map(|rank| bytes(self.count(rank))))
            }
        }
    }

    /// Elements of all of `p` ranks; `None` if a count is invalid, or an array is missing.
    pub(in crate::host) fn total(&self, p: u32) -> Option<u64> {
        match self {
            Counts::Regular(count) => count.get()?.checked_mul(p.into()),
            Counts::Int(..) | Counts::Large(..) => {
                (0..p).try_fold(0u64, |sum, rank| sum.checked_add(self.checked(rank)?))
            }
        }
    }

    /// As [`Counts::count`], of arrays that may be missing.
    pub(in crate::host) fn checked(&self, rank: u32) -> Option<u64> {
        self.has_arrays().then(|| self.count(rank))?
    }

    /// Are these the same arguments?
    pub(in crate::host) fn same(&self, other: &Counts) -> bool {
        match (self, other) {
            (Counts::Regular(one), Counts::Regular(other)) => one == other,
            (Counts::Int(one, _), Counts::Int(other, _)) => ptr::eq(*one, *other),
            (Counts::Large(one, _), Counts::Large(other, _)) => ptr::eq(*one, *other),
            (Counts::Regular(_) | Counts::Int(..) | Counts::Large(..), _) => false,
        }
    }

    fn has_arrays(&self) -> bool {
        match self {
            Counts::Regular(_) => true,
            Counts::Int(counts, displs) => !counts.is_null() && !displs.is_null(),
            Counts::Large(counts, displs) => !counts.is_null() && !displs.is_null(),
        }
    }

    /// Elements of `rank`, unless negative.
    pub(in crate::host) fn count(&self, rank: u32) -> Option<u64> {
        match *self {
            Counts::Regular(count) => count.get(),
            // SAFETY: the array has an entry for every rank, by the caller's contract.
            Counts::Int(counts, _) => u64::try_from(unsafe { *counts.add(rank as usize) }).ok(),
            // SAFETY: as above.
            Counts::Large(counts, _) => u64::try_from(unsafe { *counts.add(rank as usize) }).ok(),
        }
    }

    /// Place of the elements of `rank`, in extents of the type.
    fn displacement(&self, rank: u32) -> i64 {
        match *self {
            Counts::Regular(count) => {
                (count.get().unwrap_or(0) as i64).wrapping_mul(i64::from(rank))
            }
            // SAFETY: as in `count`.
            Counts::Int(_, displs) => i64::from(unsafe { *displs.add(rank as usize) }),
            // SAFETY: as in `count`.
            Counts::Large(_, displs) => unsafe { *displs.add(rank as usize) as i64 },
        }
    }
}

/// Is the block at `own` the very block that `rank` has among those at `all`? As those hosts ask who mind: with the
/// size of the type in place of its extent.
#[inline]
pub(in crate::host) fn is_alias(
    own: *const c_void,
    all: *const c_void,
    counts: &Counts,
    rank: u32,
    size: u64,
) -> bool {
    let bytes = counts.displacement(rank).wrapping_mul(size as i64);
    ptr::eq(own, all.wrapping_byte_offset(bytes as isize))
}

/// The places of the elements of all ranks in a buffer.
#[derive(Clone, Copy)]
pub struct Slots {
    pub base: *mut u8,
    /// Bytes from one element to the next.
    pub extent: i64,
    pub counts: Counts,
}

impl Slots {
    /// Where the elements of `rank` begin.
    pub fn address(&self, rank: u32) -> *mut u8 {
        let bytes = self.counts.displacement(rank).wrapping_mul(self.extent);
        self.base.wrapping_offset(bytes as isize)
    }
}
