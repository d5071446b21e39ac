//! From schedule entries to block numbers: empty rounds, phases and capping (arXiv 2205.10072,
//! algorithm 6).
//!
//! A schedule names blocks of one phase of q rounds. Phases are strung together here, so that n
//! blocks take exactly n-1+q rounds.

#![forbid(unsafe_code)]

/// Room for one schedule: p < 2^31 ranks give q <= 31 rounds in a phase and q+1 skips.
pub const MAX_Q: usize = 32;

/// q = ceil(log2 p): the rounds until all of `p` ranks have a block, if twice as many have it after each. 0 for p = 0.
pub fn rounds_of(p: u32) -> u32 {
    p.next_power_of_two().ilog2()
}

/// The rounds in which n blocks travel from the root to every rank.
///
/// Rounds are numbered so that every phase begins at a multiple of q: the first x = -(n-1) mod q
/// rounds of phase 0 are empty and not counted. Round i is position k = i mod q of phase i div q
/// and uses the edges of length `skip[k]`.
///
/// An entry s of a schedule stands for block s - x + phase * q. If that is negative, nothing moves
/// on the edge in that direction; if it exceeds n-1, block n-1 moves. In the last phase the
/// negative entries come to n-2, n-3, ... and the one other entry, the baseblock, is capped to n-1.
/// This is why every rank but the root receives every block exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    q: u32,
    n: u32,
    x: u32,
}

impl Rounds {
    /// The rounds for `blocks` blocks on a graph with phases of `q` rounds. A single rank, q = 0,
    /// has no rounds.
    ///
    /// # Panics
    /// If `blocks` is 0 or `q` is not below [`MAX_Q`].
    pub fn new(q: usize, blocks: u32) -> Rounds {
        assert!(blocks > 0, "a message has at least one block");
        assert!(
            q < MAX_Q,
            "{q} rounds in a phase are more than 2^31 ranks have"
        );
        let q = q as u32;
        let x = if q == 0 {
            0
        } else {
            (q - (blocks - 1) % q) % q
        };
        Rounds { q, n: blocks, x }
    }

    /// The number of rounds, n-1+q, or 0 when there is only one rank.
    pub fn count(&self) -> u64 {
        if self.q == 0 {
            0
        } else {
            u64::from(self.n - 1) + u64::from(self.q)
        }
    }

    /// The number of the first round that is not empty, x.
    pub fn first(&self) -> u64 {
        u64::from(self.x)
    }

    /// The number of blocks, n.
    pub fn blocks(&self) -> u32 {
        self.n
    }

    /// The number of phases, or 0 when there is only one rank. The last phase is complete, the
    /// first may begin with empty rounds.
    pub fn phases(&self) -> u32 {
        // Exact, as the empty rounds make whole phases. At most n, which is reached for q = 1.
        if self.q == 0 {
            0
        } else {
            ((self.first() + self.count()) / u64::from(self.q)) as u32
        }
    }

    /// The block that `entry`, entry `k` of a schedule, stands for in `phase`; `None` if nothing
    /// moves.
    ///
    /// The empty rounds of phase 0 need no test by the caller. No entry k exceeds k, as a block of
    /// the current phase is not on its way before the root sent it, so in phase 0 the entries at
    /// positions k < x are below x and come to `None`. Beyond the last phase there are no rounds
    /// and the answer means nothing.
    pub fn block(&self, entry: i8, k: usize, phase: u32) -> Option<u32> {
        debug_assert!(
            k < self.q as usize && phase < self.phases(),
            "no round at {k} of phase {phase}"
        );
        debug_assert!(
            i64::from(entry) <= k as i64,
            "block {entry} cannot be on its way in round {k}"
        );
        // At most n-1+q, for which 32 bits may not be enough before it is capped.
        let block = i64::from(entry) - i64::from(self.x) + i64::from(phase) * i64::from(self.q);
        (block >= 0).then(|| block.min(i64::from(self.n - 1)) as u32)
    }

    /// All rounds in order, as (round, k, phase): [`count`](Rounds::count) of them, `round` rising
    /// by one from [`first`](Rounds::first).
    pub fn iter(&self) -> impl Iterator<Item = (u64, usize, u32)> + use<> {
        let q = u64::from(self.q);
        (self.first()..self.first() + self.count())
            .map(move |round| (round, (round % q) as usize, (round / q) as u32))
    }
}
