//! A table of least times of ranges of ranks, which the dynamic programs fill.
//!
//! Ranges are half-open: a..b are the ranks from a to b - 1. An empty range and a single rank take no time.

#![forbid(unsafe_code)]

use super::Cost;

/// The least times of all ranges. Takes 8 (p + 1)^2 bytes.
pub struct Ranges<'a> {
    blocks: &'a [u64],
    cost: Cost,
    /// S(0..k), the bytes below rank k, for k from 0 to p.
    below: Vec<u64>,
    end_full: Vec<usize>,
    /// The time of a..b at a (p + 1) + b, and again at b (p + 1) + a: ranges with a common first rank are next to
    /// each other, and so are ranges with a common end.
    times: Vec<u64>,
    monotone: bool,
}

impl Ranges<'_> {
    /// The table of `blocks`, filled by `time`: the least time of a..b, two ranks or more, from a table that has
    /// the ranges within a..b. It is asked for a from p - 2 down to 0, and for each a for b from a + 2 to p.
    pub fn new(
        blocks: &[u64],
        cost: Cost,
        mut time: impl FnMut(&Ranges, usize, usize) -> u64,
    ) -> Ranges<'_> {
        let p = blocks.len();
        assert!(p > 0, "there is at least one rank");
        let mut below = vec![0; p + 1];
        for (i, block) in blocks.iter().enumerate() {
            below[i + 1] = below[i] + block;
        }
        let end_full = |sum| below.partition_point(|&other| other < sum);
        let mut ranges = Ranges {
            end_full: below.iter().map(|&sum| end_full(sum)).collect(),
            blocks,
            cost,
            below,
            times: vec![0; (p + 1) * (p + 1)],
            monotone: true,
        };
        for a in (0..p - 1).rev() {
            for b in a + 2..=p {
                let time = time(&ranges, a, b);
                ranges.monotone &= time >= ranges.least(a, b - 1) && time >= ranges.least(a + 1, b);
                ranges.times[a * (p + 1) + b] = time;
                ranges.times[b * (p + 1) + a] = time;
            }
        }
        ranges
    }

    /// The number of ranks.
    pub fn p(&self) -> usize {
        self.blocks.len()
    }

    /// The parameters of the model.
    pub fn cost(&self) -> &Cost {
        &self.cost
    }

    /// S(0..k) for k from 0 to p.
    pub fn below(&self) -> &[u64] {
        &self.below
    }

    /// m_rank.
    pub fn block(&self, rank: usize) -> u64 {
        self.blocks[rank]
    }

    /// Whether no range in the table takes longer than one that contains it.
    ///
    /// A rank more is something more to wait for, where gamma <= beta. But a rank without a block costs nothing, and
    /// may help: with it behind, another rank is no longer the last of its range, and may copy its block while it
    /// waits.
    pub fn is_monotone(&self) -> bool {
        self.monotone
    }

    /// The least time of a..b, or b..a.
    pub fn least(&self, a: usize, b: usize) -> u64 {
        self.times[a * (self.p() + 1) + b]
    }

    /// `least(a, b)` for b from 0 to p.
    pub fn row(&self, a: usize) -> &[u64] {
        &self.times[a * (self.p() + 1)..][..self.p() + 1]
    }

    /// c(S(a..b)), the time of a message with the blocks of a..b.
    pub fn message(&self, a: usize, b: usize) -> u64 {
        self.cost.message(self.below[b] - self.below[a])
    }

    /// The time that `rank` takes to copy its own block.
    pub fn copy(&self, rank: usize) -> u64 {
        self.cost.copy(self.blocks[rank])
    }

    /// The end of the last rank below b that has bytes; 0 if none has.
    pub fn end_full(&self, b: usize) -> usize {
        self.end_full[b]
    }
}
