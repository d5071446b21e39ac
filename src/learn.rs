//! Which of a few candidates carries calls out fastest, found out while the program runs.
//!
//! Pure: a [`Contest`] counts the calls of one size class on one communicator, says which candidate has the next one
//! and whether it is to be timed, and is told the times. Calls of a size class are counted alike on all ranks, and the
//! only times that matter are those of the slowest rank, on which all ranks agree by a reduction; so all ranks say the
//! same, whatever their clocks show.
//!
//! Two candidates are compared at a time. Some calls of the *incumbent* are timed, then one of a *challenger*, and the
//! ranks agree on the time of each. If the challenger took twice as long, another call of its has to confirm that,
//! later, behind one that warms caches. Otherwise each has a row of calls, and the ranks agree on the times of the
//! later half of each row: the first calls of a row find a network that the other one left, with credits for bursts
//! unused, and say little about how it goes on. The incumbent goes if it is slower by more than chance. If another
//! challenger is due then, it is compared with the row that the better one of the two has just had.
//!
//! A rank may have been kept from running, and a program may make other calls in between at first. So the loser has
//! another comparison later, when it costs little, and after that more of them, ever later.

#![forbid(unsafe_code)]

mod contest;
mod passing;
mod spent;
mod table;

pub use contest::Contest;
pub use passing::Recurring;
use spent::Spent;
pub use table::{Passing, Table};

/// Who can have a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidate {
    /// The MPI library.
    Host,
    /// Rondo, as the model says.
    First,
    /// Rondo, in another way.
    Second,
    /// Rondo, in a third way.
    Third,
}

impl Candidate {
    /// All of them, in the order of their times.
    pub const ALL: [Candidate; Candidate::COUNT] = [
        Candidate::Host,
        Candidate::First,
        Candidate::Second,
        Candidate::Third,
    ];

    /// How many there are.
    pub const COUNT: usize = 4;
}

/// What is known of the calls of a size class before the first one.
#[derive(Clone, Copy, Debug)]
pub struct Prior {
    /// The number of the size class, less than [`SIZE_CLASSES`].
    pub class: u8,
    /// Who has the calls by the built-in choice.
    pub default: Candidate,
    /// How many times as long as the default each other candidate may take, for all that is known; `None` if it
    /// is none.
    pub expected: [Option<f64>; Candidate::COUNT],
    /// A challenger must take less than this part of the incumbent's time: less of a difference may be chance.
    pub margin: f64,
}

/// Size classes of the calls of a collective: the number of bits of the bytes, and whether these are distributed
/// evenly.
pub const SIZE_CLASSES: usize = 2 * 65;

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub struct Trials {
    /// Calls that each of two candidates has in a row at the least, when they are compared: the later half is timed.
    pub calls: u32,
    /// After so many calls all that was measured is tried again; 0: never.
    pub relearn: u64,
}

/// Who has a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Who.
    pub candidate: Candidate,
    /// Is this rank to tell how long it took?
    pub timed: bool,
}

/// What Rondo's calls saved against the host's time, on one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// How many.
    pub calls: u64,
    /// Nanoseconds, all together; negative if they took longer.
    pub nanos: i64,
}
