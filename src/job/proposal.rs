//! What the ranks of the world tell each other when the job begins.

#![forbid(unsafe_code)]

use super::hardware;
use crate::config;
use crate::hash;
use crate::rules::Rules;

/// Which build this is: its version, and the number of the sources that it was built from, as `build.rs` says it.
pub const BUILD: &str = concat!(
    "rondo ",
    env!("CARGO_PKG_VERSION"),
    " of sources ",
    env!("RONDO_SOURCES")
);

/// A number for this build.
fn build() -> u64 {
    // Not worked out by the compiler, so that the text is in the library, for whoever asks which build a file is.
    hash::of_bytes(std::hint::black_box(BUILD).as_bytes())
}

/// The numbers of the beginning. Every rank offers its own; the result is the maximum of each, so a
/// minimum is offered as its complement. They are signed: hosts differ in what the maximum of
/// unsigned numbers is (Open MPI 4.1 and MPICH 4.0 compare them as signed ones).
pub struct Proposal(pub [i64; Proposal::LENGTH]);

/// How many numbers a configuration takes.
const W: usize = config::ENCODED_OPTIONS;

impl Proposal {
    /// The same in all versions of Rondo, like the place of the version, so that different ones can
    /// find out about each other.
    const LENGTH: usize = 256;

    const VERSION: usize = 0;
    const TAG_MAX: usize = 2;
    const RULES: usize = 3;
    const RULE_COUNT: usize = 5;
    const HARDWARE: usize = 6;
    const OUTLIVES: usize = 7;
    const THREADS: usize = 8;
    const RANK_0: usize = 9;
    const CONFIG: usize = Self::RANK_0 + W;

    /// What this rank offers.
    pub fn offer(rank: u32, own: &[u64; W], tag_max: u32, rules: &Rules) -> Proposal {
        const { assert!(Proposal::CONFIG + 2 * W <= Proposal::LENGTH) };
        let mut proposal = Proposal([i64::MIN; Proposal::LENGTH]);
        proposal.offer_both(Self::VERSION, build());
        proposal.0[Self::TAG_MAX] = !i64::from(tag_max);
        proposal.0[Self::HARDWARE] = hardware::gpu_may_be_here().into();
        proposal.offer_both(Self::RULES, rules.hash());
        if rank == 0 {
            proposal.0[Self::RULE_COUNT] = rules.len() as i64;
        }
        for (i, &number) in own.iter().enumerate() {
            if rank == 0 {
                proposal.0[Self::RANK_0 + i] = number as i64;
            }
            proposal.offer_both(Self::CONFIG + 2 * i, number);
        }
        proposal
    }

    /// Says that this process is told to go on without others that fail.
    pub fn outlive(&mut self) {
        self.0[Self::OUTLIVES] = 1;
    }

    /// Says that threads of this process may call MPI at the same time.
    pub fn have_threads(&mut self) {
        self.0[Self::THREADS] = 1;
    }

    /// May those of a process?
    pub fn has_threads(&self) -> bool {
        self.0[Self::THREADS] == 1
    }

    /// Offers a number so that it will show whether all ranks offered the same.
    fn offer_both(&mut self, place: usize, number: u64) {
        (self.0[place], self.0[place + 1]) = (number as i64, !(number as i64));
    }

    fn same(&self, place: usize) -> bool {
        self.0[place] == !self.0[place + 1]
    }

    /// The configuration of rank 0.
    pub fn config(&self) -> [u64; W] {
        std::array::from_fn(|i| self.0[Self::RANK_0 + i] as u64)
    }

    /// The options that are not the same on all ranks.
    pub fn differences(&self) -> Vec<String> {
        let differs = (0..W).filter(|i| !self.same(Self::CONFIG + 2 * i));
        differs.map(config::variable_at).collect()
    }

    /// Does every rank have this version of Rondo, built from the same sources?
    pub fn same_version(&self) -> bool {
        self.same(Self::VERSION)
    }

    /// How many rules rank 0 has, if not all ranks have them already.
    pub fn rules_to_hand_out(&self) -> Option<usize> {
        (!self.same(Self::RULES)).then_some(self.0[Self::RULE_COUNT] as usize)
    }

    /// Is a process told to go on without others that fail?
    pub fn outlives(&self) -> bool {
        self.0[Self::OUTLIVES] == 1
    }

    /// Bits that a tag may have on every rank.
    pub fn tag_bits(&self) -> u32 {
        (!self.0[Self::TAG_MAX] as u64 + 1).ilog2()
    }

    /// Does a rank run on a machine that may have a GPU?
    pub fn gpu_may_be_there(&self) -> bool {
        self.0[Self::HARDWARE] > 0
    }
}
