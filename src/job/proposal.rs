//! What the ranks of the world tell each other when the job begins.

#![forbid(unsafe_code)]

use super::words::Words;
use crate::config::{self, Config};
use crate::hash;
use crate::host::{self, Mpi};
use crate::rules::Rules;

/// Which build this is: its version, and the number of the sources that it was built from, as `build.rs` says it.
pub const BUILD: &str = concat!(
    "rondo ",
    env!("CARGO_PKG_VERSION"),
    " of sources ",
    env!("RONDO_SOURCES")
);

/// How many words there are. The same in all versions of Rondo, like the place of the build, which is first, so that
/// different ones can find out about each other.
const LENGTH: usize = 256;

/// No rank is on a machine that may have a GPU.
const NO_GPU: u64 = 1;
/// No process is told to go on without others that fail.
const NONE_OUTLIVES: u64 = 2;
/// In no process may threads call MPI at the same time.
const NO_THREADS: u64 = 4;
/// The host has room for a communicator of Rondo's.
const ROOM: u64 = 8;

/// What the ranks have in common.
pub struct Proposal {
    /// Have all of them this version of Rondo, built from the same sources? If not, nothing else is known.
    pub same_build: bool,
    /// Bits that a tag may have on every rank.
    pub tag_bits: u32,
    /// How many rules rank 0 has, if not all ranks have them already.
    pub rules_to_hand_out: Option<usize>,
    /// Does a rank run on a machine that may have a GPU?
    pub gpu_may_be_there: bool,
    /// Is a process told to go on without others that fail?
    pub outlives: bool,
    /// May threads of a process call MPI at the same time?
    pub has_threads: bool,
    /// Has the host room for a communicator of Rondo's on every rank?
    pub has_room: bool,
    /// The configuration of rank 0.
    pub config: [u64; config::ENCODED_OPTIONS],
    /// The options that are not the same on all ranks.
    pub differences: Vec<String>,
}

/// What this rank tells the others.
pub fn offer(
    mpi: &Mpi,
    rank: u32,
    own: &Config,
    outlives: bool,
    has_room: bool,
    rules: &Rules,
) -> Words {
    let mut words = Words::default();
    // Not worked out by the compiler, so that the text is in the library, for whoever asks which build a file is.
    words.add_same(hash::of_bytes(std::hint::black_box(BUILD).as_bytes()));
    let tag_bits = (u64::from(mpi.tag_max()) + 1).ilog2();
    words.add((1 << tag_bits) - 1);
    words.add_rules(rank == 0, rules);
    let flag = |bit, is| if is { bit } else { 0 };
    words.add(
        flag(NO_GPU, !host::gpu_may_be_here())
            | flag(NONE_OUTLIVES, !outlives)
            | flag(NO_THREADS, !mpi.has_threads())
            | flag(ROOM, has_room),
    );
    for number in own.encode() {
        words.add_of(rank == 0, number);
        words.add_same(number);
    }
    words.fill(LENGTH);
    words
}

impl Proposal {
    /// What follows from the words of all ranks.
    pub fn of(mut words: Words) -> Proposal {
        let same_build = words.take_same().is_some();
        let tag_bits = words.take().trailing_ones();
        let rules_to_hand_out = words.take_rules();
        let flags = words.take();
        let mut differences = vec![];
        let config = std::array::from_fn(|i| {
            let of_rank_0 = words.take();
            if words.take_same().is_none() {
                differences.push(config::variable_at(i));
            }
            of_rank_0
        });
        Proposal {
            same_build,
            tag_bits,
            rules_to_hand_out,
            gpu_may_be_there: flags & NO_GPU == 0,
            outlives: flags & NONE_OUTLIVES == 0,
            has_threads: flags & NO_THREADS == 0,
            has_room: flags & ROOM != 0,
            config,
            differences,
        }
    }
}
