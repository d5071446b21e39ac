//! The circulant graph on p ranks and its schedules.

#![forbid(unsafe_code)]

use super::rounds::{MAX_Q, rounds_of};

/// The circulant graph on p ranks: in round k of a phase every rank v sends to v + `skip[k]` and
/// hears from v - `skip[k]`, modulo p.
///
/// The skips come from halving p (arXiv 2205.10072, algorithm 1): `skip[q] = p` and
/// `skip[k] = ceil(skip[k+1] / 2)`, which ends at `skip[0] = 1`. The value holds the skips and
/// nothing else, without a heap; schedules are computed from it on demand, each rank its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circulant {
    q: usize,
    skip: [u32; MAX_Q],
}

impl Circulant {
    /// The graph on `p` ranks, in O(log p).
    ///
    /// # Panics
    /// If `p` is 0 or above 2^31 - 1, which is more ranks than MPI can number.
    pub fn new(p: u32) -> Circulant {
        assert!((1..1 << 31).contains(&p), "{p} is not a number of ranks");
        let q = rounds_of(p) as usize;
        let mut skip = [0; MAX_Q];
        skip[q] = p;
        for k in (0..q).rev() {
            skip[k] = skip[k + 1].div_ceil(2);
        }
        debug_assert_eq!(skip[0], 1, "halving p = {p} ends at 1");
        Circulant { q, skip }
    }

    /// The number of ranks, p.
    pub fn p(&self) -> u32 {
        self.skip[self.q]
    }

    /// The number of rounds in a phase, q = ceil(log2 p): 0 for a single rank, at most 31.
    pub fn q(&self) -> usize {
        self.q
    }

    /// The skips in ranks, q+1 of them, the last being p.
    pub fn skips(&self) -> &[u32] {
        &self.skip[..=self.q]
    }

    /// The largest k with `skip[k] <= v`, for 0 < v < p: the round of the first phase in which v
    /// gets its first block.
    ///
    /// # Panics
    /// If `v` is the root or not a rank.
    pub fn home(&self, v: u32) -> usize {
        assert!(
            0 < v && v < self.p(),
            "relative rank {v} of {} has no home",
            self.p()
        );
        // The skips rise, so the first one above v is one place past the home.
        self.skips().partition_point(|&skip| skip <= v) - 1
    }

    /// The baseblock of `v`, the first block it receives; q for the root, which receives none.
    ///
    /// It is the last index when v is written greedily as a sum of distinct skips (arXiv
    /// 2205.10072, algorithm 2): in the first phase blocks travel along exactly these skips.
    ///
    /// # Panics
    /// If `v` is not a rank.
    pub fn baseblock(&self, v: u32) -> usize {
        assert!(
            v < self.p(),
            "there is no relative rank {v} of {}",
            self.p()
        );
        let (mut rest, mut last) = (v, self.q);
        // Nothing is taken any more once the rest is 0, as skips are positive. Leaving the loop
        // there would only add a branch that is hard to predict.
        for k in (0..self.q).rev() {
            let taken = self.skip[k] <= rest;
            rest -= if taken { self.skip[k] } else { 0 };
            last = if taken { k } else { last };
        }
        debug_assert_eq!(rest, 0, "every rank is a sum of distinct skips");
        last
    }

    /// Writes the receive schedule of `v` to the first q entries of `out`, in O(log p).
    ///
    /// Entry k belongs to round k of a phase. One entry is not negative: in round home(v) it is
    /// the baseblock b, a block of the current phase. The others are the numbers from -q to -1
    /// without b-q, blocks of the phase before, less q. The root receives nothing; its entries,
    /// all the numbers from -q to -1, only complete the table.
    ///
    /// # Panics
    /// If `v` is not a rank or `out` has fewer than q entries.
    pub fn recv(&self, v: u32, out: &mut [i8]) {
        self.search(v, &mut out[..self.q]);
    }

    /// Writes the send schedule of `v` to the first q entries of `out`, in O(log p).
    ///
    /// Entry k is entry k of the receive schedule of v + `skip[k]`. The root sends block k of the
    /// current phase in round k.
    ///
    /// The definition alone (arXiv 2205.10072, algorithm 5) takes q searches. Instead, v is
    /// followed down the halving of the ranks: at level k it sits at `offset` in a range of
    /// `width` ranks. In the lower part of the range it keeps sending the block it has to its
    /// image in the upper part. In the upper part it must be sending block k, which the first rank
    /// of that part brought in. Skips are rounded up, so a range may be one rank short and the
    /// image fall outside of it. Where that can happen, and where v is itself the first of an
    /// upper part, the receiver's schedule is searched: at most four times for every rank ever
    /// tried, and never if p is a power of two. The width has to be carried along: asked about the
    /// image, `skip[k+1]` gives the same answers up to p = 32 and wrong ones for p = 33.
    ///
    /// # Panics
    /// If `v` is not a rank or `out` has fewer than q entries.
    pub fn send(&self, v: u32, out: &mut [i8]) {
        let out = &mut out[..self.q];
        let b = self.baseblock(v);
        if v == 0 {
            (0..).zip(out).for_each(|(k, entry)| *entry = k);
            return;
        }
        let mut block = b as i8;
        let (mut offset, mut width) = (v, self.p());
        for k in (1..self.q).rev() {
            let (skip, below) = (self.skip[k], self.skip[k - 1]);
            let sure = if offset < skip {
                let sure = offset + skip < width || width < below || (k == 1 && b > 0);
                width = width.min(skip);
                sure
            } else {
                block = self.previous(k);
                width -= skip;
                let sure = offset > skip || offset <= width || width < below || k == 1;
                offset -= skip;
                sure
            };
            out[k] = if sure {
                block
            } else {
                self.recv_entry(self.to(v, k), k)
            };
        }
        out[0] = self.previous(b);
        debug_assert!(
            self.sends_what_it_has(v, out),
            "condition 4 at {v} of {}",
            self.p()
        );
    }

    /// The receive schedules of all ranks, v-major: entry k of rank v is at v * q + k.
    ///
    /// Takes O(p log p) time and p * q bytes.
    pub fn recv_table(&self) -> Vec<i8> {
        let mut table = vec![0; self.p() as usize * self.q];
        // A single rank has an empty table, but a chunk cannot be empty.
        for (v, row) in (0..self.p()).zip(table.chunks_exact_mut(self.q.max(1))) {
            self.search(v, row);
        }
        table
    }

    /// Block k of the phase before, as an entry.
    fn previous(&self, k: usize) -> i8 {
        k as i8 - self.q as i8
    }

    /// The rank that v sends to in round k.
    fn to(&self, v: u32, k: usize) -> u32 {
        // Both summands are below 2^31.
        (v + self.skip[k]) % self.p()
    }

    /// Entry k of the receive schedule of `v`, at the price of the rounds up to k.
    fn recv_entry(&self, v: u32, k: usize) -> i8 {
        let mut row = [0; MAX_Q];
        self.search(v, &mut row[..=k]);
        row[k]
    }

    /// Condition 4, for v other than the root: what v sends, it has from an earlier round of the
    /// phase, or it is its baseblock of the phase before.
    fn sends_what_it_has(&self, v: u32, send: &[i8]) -> bool {
        let mut recv = [0; MAX_Q];
        self.recv(v, &mut recv);
        let old = self.previous(self.baseblock(v));
        send.iter()
            .enumerate()
            .all(|(k, entry)| *entry == old || recv[..k].contains(entry))
    }

    /// The first `out.len()` entries of the receive schedule of `v`.
    ///
    /// Finds in O(log p) what arXiv 2205.10072, algorithm 4, takes from sets of baseblocks (the
    /// bound: doi 10.1145/3735139).
    ///
    /// The ring is unrolled: v stands at `top` = p + v, and the ranks it can hear from are smaller
    /// numbers. A position is a sum of distinct skips, their indices falling along the path to it,
    /// taken from the indices that are still free; the baseblock is not, and index q is the root.
    /// Round k wants a position in the window from `far` (excluded) to `near` and receives the
    /// block of the last index on the path. One depth-first search, never restarted, serves all
    /// rounds, since windows and accepted positions only move down. Two points look like
    /// optimisations but are needed, though nothing goes wrong without them up to p = 32:
    ///
    /// * a path that has no free index left is accepted before its window, and then the next
    ///   position must be smaller still, not only within the next window;
    /// * when the window has moved down over the path, the node nearest to the root that is in
    ///   the window wins.
    fn search(&self, v: u32, out: &mut [i8]) {
        let b = self.baseblock(v);
        // Positions stay below 2p, and one step beyond them below 3p, which needs 64 bits.
        let top = u64::from(self.p()) + u64::from(v);
        // Sets of indices, bit k for index k. The path can be a set because its indices fall: its
        // last one is the lowest. `next` has the free indices that are still to try from `pos`.
        let mut free = (u32::MAX >> (31 - self.q)) & !bit(b);
        let (mut next, mut path) = (free, 0);
        let (mut pos, mut near) = (0, top - 1);
        for (k, entry) in out.iter_mut().enumerate() {
            let far = top - u64::from(self.skip[k + 1]);
            let (index, accepted) = loop {
                if next != 0 && pos <= far {
                    let index = next.ilog2() as usize;
                    next &= !bit(index);
                    let step = pos + u64::from(self.skip[index]);
                    if step > near {
                        continue;
                    }
                    if step > far {
                        break (index, step);
                    }
                    path |= bit(index);
                    pos = step;
                } else {
                    // In the window, or at a dead end: step back, and stay if that left the window.
                    let index = path.trailing_zeros() as usize;
                    let left = pos;
                    path &= !bit(index);
                    pos -= u64::from(self.skip[index]);
                    if pos <= far {
                        break (index, left);
                    }
                }
            };
            free &= !bit(index);
            next = free & (bit(index) - 1);
            near = far.min(accepted - 1);
            debug_assert_eq!(
                index == self.q,
                v > 0 && k == self.home(v),
                "the root in round {k}"
            );
            *entry = if index == self.q {
                b as i8
            } else {
                self.previous(index)
            };
        }
        debug_assert!(
            free == 0 || out.len() < self.q,
            "condition 3: q different blocks"
        );
    }
}

/// The set of one index.
fn bit(index: usize) -> u32 {
    1 << index
}
