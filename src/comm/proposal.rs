//! What the ranks of a communicator tell each other in the handshake.

#![forbid(unsafe_code)]

use super::hardware;
use crate::config::{self, Gpu};
use crate::hash;
use crate::host;
use crate::network::{FIGURES, Numbers};
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

/// The numbers of the handshake. Every rank offers its own; the result is the maximum of each, so a
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
    const UNMAPPED: usize = 2;
    const DRIVER: usize = 3;
    const TAG_MAX: usize = 4;
    const GPU: usize = 5;
    const RULES: usize = 6;
    const RULE_COUNT: usize = 8;
    const PLACES: usize = 9;
    const HARDWARE: usize = 10;
    const OUTLIVES: usize = 11;
    const RANK_0: usize = 12;
    const CONFIG: usize = Self::RANK_0 + W;
    const NETWORK: usize = Self::CONFIG + 2 * W;

    /// What this rank offers.
    pub fn offer(
        rank: u32,
        own: &[u64; W],
        tag_max: u32,
        mapped: bool,
        asserted: bool,
        rules: &Rules,
        network: &Numbers,
    ) -> Proposal {
        const { assert!(Proposal::NETWORK + FIGURES <= Proposal::LENGTH) };
        let mut proposal = Proposal([i64::MIN; Proposal::LENGTH]);
        proposal.offer_both(Self::VERSION, build());
        proposal.0[Self::UNMAPPED] = (!mapped).into();
        proposal.0[Self::TAG_MAX] = !i64::from(tag_max);
        let has_driver = host::look_for_driver();
        proposal.0[Self::DRIVER] = has_driver.into();
        proposal.0[Self::GPU] = (has_driver && !asserted).into();
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
        proposal.0[Self::NETWORK..][..FIGURES].copy_from_slice(network);
        proposal
    }

    /// Says how many places this process had given away.
    pub fn offer_places(&mut self, taken: u32) {
        self.0[Self::PLACES] = taken.into();
    }

    /// Says that this process is told to go on without others that fail.
    pub fn outlive(&mut self) {
        self.0[Self::OUTLIVES] = 1;
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

    /// Do all ranks know the nodes of all?
    pub fn mapped(&self) -> bool {
        self.0[Self::UNMAPPED] == 0
    }

    /// How many rules rank 0 has, if not all ranks have them already.
    pub fn rules_to_hand_out(&self) -> Option<usize> {
        (!self.same(Self::RULES)).then_some(self.0[Self::RULE_COUNT] as usize)
    }

    /// How many places of communicators that may have a private one a rank had given away, at the most.
    pub fn places_taken(&self) -> u32 {
        self.0[Self::PLACES] as u32
    }

    /// Is a process told to go on without others that fail?
    pub fn outlives(&self) -> bool {
        self.0[Self::OUTLIVES] == 1
    }

    /// The largest tag that all ranks may use.
    pub fn tag_max(&self) -> u64 {
        !self.0[Self::TAG_MAX] as u64
    }

    /// What is known of the network: of each figure what was measured last. Unless all ranks are mapped, it may be that
    /// of other nodes.
    pub fn network(&self) -> Numbers {
        std::array::from_fn(|i| self.0[Self::NETWORK + i])
    }

    /// Does a rank run on a machine that may have a GPU?
    pub fn gpu_may_be_there(&self) -> bool {
        self.0[Self::HARDWARE] > 0
    }

    /// Are all calls the host's, because a rank may have memory that the processor cannot touch?
    pub fn leaves_for_gpus(&self, gpu: Gpu) -> bool {
        match gpu {
            Gpu::Auto => self.0[Self::GPU] > 0,
            Gpu::Host => self.0[Self::DRIVER] > 0,
            Gpu::Off => false,
        }
    }
}
