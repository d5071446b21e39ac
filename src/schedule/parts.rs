//! The division of an all-broadcast's total among the ranks that contribute to it.

#![forbid(unsafe_code)]

use super::Span;
use crate::hash;

/// How many bytes each of p ranks contributes: m_0, m_1, ..., and m in all.
///
/// The parts are thought of as one message, in the order of the ranks. The value is kept from call to
/// call, so that stating the parts of a further call allocates nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Where the part of each rank begins, and at the end the total: p + 1 numbers.
    starts: Vec<u64>,
    /// The ranks that contribute at least a byte, ascending.
    contributors: Vec<u32>,
    largest: u64,
}

impl Parts {
    /// States the bytes of each rank. `None` if one is not a number of bytes, or the total is not.
    pub fn set(&mut self, bytes: impl Iterator<Item = Option<u64>>) -> Option<()> {
        self.starts.clear();
        self.contributors.clear();
        self.largest = 0;
        self.starts.push(0);
        let mut total = 0u64;
        for (rank, bytes) in (0..).zip(bytes) {
            let bytes = bytes?;
            total = total.checked_add(bytes)?;
            self.starts.push(total);
            if bytes > 0 {
                self.contributors.push(rank);
                self.largest = self.largest.max(bytes);
            }
        }
        Some(())
    }

    /// States that each of `p` ranks has `bytes` bytes, which takes no time if the parts are these already: most calls
    /// are of the same parts as the one before. `None` as for [`Parts::set`].
    pub fn set_equal(&mut self, p: u32, bytes: Option<u64>) -> Option<()> {
        match self.p() == p && bytes.is_some() && self.equal() == bytes {
            true => Some(()),
            false => self.set((0..p).map(|_| bytes)),
        }
    }

    /// The bytes of each rank, if all have as many.
    pub fn equal(&self) -> Option<u64> {
        let all = self.largest.checked_mul(self.p().into());
        (self.p() > 0 && all == Some(self.total())).then_some(self.largest)
    }

    /// Number of ranks, p.
    pub fn p(&self) -> u32 {
        self.starts.len().saturating_sub(1) as u32
    }

    /// Bytes of all ranks together.
    pub fn total(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Bytes of the rank that contributes most.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// The ranks that contribute at least a byte, ascending.
    pub fn contributors(&self) -> &[u32] {
        &self.contributors
    }

    /// The part of `rank` within the total.
    pub fn span(&self, rank: u32) -> Span {
        let [start, end] = [0, 1].map(|i| self.starts[rank as usize + i]);
        Span {
            offset: start,
            len: end - start,
        }
    }

    /// The rank that has byte `at` of the total.
    pub fn find(&self, at: u64) -> u32 {
        self.starts.partition_point(|&start| start <= at) as u32 - 1
    }

    /// Bytes that `count` ranks from `first` on contribute together, counted round the ring.
    pub fn window(&self, first: u32, count: u32) -> u64 {
        let (first, end) = (first as usize, first as usize + count as usize);
        let p = self.p() as usize;
        if end <= p {
            self.starts[end] - self.starts[first]
        } else {
            self.total() - self.starts[first] + self.starts[end - p]
        }
    }

    /// A number that differs between different parts, as far as a number can.
    pub fn hash(&self) -> u64 {
        hash::of_words(self.starts.iter().copied())
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<u64>() + self.contributors.capacity() * size_of::<u32>()
    }
}
