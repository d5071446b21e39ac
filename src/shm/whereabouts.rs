//! Which call each rank of a node is in, and which ones came before it, as it says itself: so a rank that waits for a
//! long time can see that another one took a call for something else.

use super::division::{Division, LINE};
use super::segment::Segment;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Who carries a call out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// That is not decided yet, or is not said.
    Open,
    /// The MPI library.
    Host,
    /// Rondo.
    Rondo,
}

/// What a rank says of the call that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number of the call on the communicator, from 1 on. It wraps; see [`Entry::next`].
    pub number: u32,
    /// The number of the collective: less than 64.
    pub collective: u8,
    /// Who carries it out.
    pub who: Who,
    /// A short form of its bytes, which all ranks know.
    pub bytes: u32,
}

/// Numbers of calls have so many bits.
const NUMBER_BITS: u32 = 24;

/// The word of a rank that says nothing (any more).
const NOTHING: u64 = 0;

/// Each rank has a word for so many calls: a line.
const CALLS: u32 = (LINE / 8) as u32;

impl Entry {
    /// The number of the call after the one with this number; the one after 0 is the first. No rank is 16 million
    /// calls ahead of another one.
    pub fn next(number: u32) -> u32 {
        number % ((1 << NUMBER_BITS) - 1) + 1
    }

    /// As a word, which is not 0.
    pub fn word(self) -> u64 {
        let who = match self.who {
            Who::Open => 0,
            Who::Host => 1,
            Who::Rondo => 2,
        };
        u64::from(self.number) << 40
            | u64::from(self.collective & 63) << 34
            | who << 32
            | u64::from(self.bytes)
    }

    /// What the word of a rank says, if it says anything.
    pub fn of(word: u64) -> Option<Entry> {
        let who = match word >> 32 & 3 {
            1 => Who::Host,
            2 => Who::Rondo,
            0 | 3.. => Who::Open,
        };
        (word != NOTHING).then_some(Entry {
            number: (word >> 40) as u32,
            collective: (word >> 34 & 63) as u8,
            who,
            bytes: word as u32,
        })
    }

    /// Do the two ranks take one call for different ones, so that one of them waits in vain? In a program without
    /// errors they never do. MPI libraries put up with some errors: where both have the call, nothing is said of it.
    pub fn contradicts(&self, other: &Entry) -> bool {
        let differs = self.collective != other.collective || self.bytes != other.bytes;
        self.number == other.number
            && match (self.who, other.who) {
                (Who::Host, Who::Host) | (Who::Open, Who::Open) => false,
                (Who::Host, Who::Rondo) | (Who::Rondo, Who::Host) => true,
                (Who::Rondo, Who::Rondo | Who::Open)
                | (Who::Open, Who::Rondo | Who::Host)
                | (Who::Host, Who::Open) => differs,
            }
    }
}

/// The last words of the ranks of a node: those of the last eight calls of each.
pub struct Whereabouts {
    segment: Arc<Segment>,
    division: Division,
    me: u32,
}

impl Whereabouts {
    pub(super) fn new(segment: Arc<Segment>, division: &Division, me: u32) -> Whereabouts {
        Whereabouts {
            segment,
            division: *division,
            me,
        }
    }

    /// The word that `rank` has for calls with this number.
    fn word(&self, rank: u32, number: u32) -> &AtomicU64 {
        let at = self.division.whereabouts(rank);
        self.segment.word(at + 8 * u64::from(number % CALLS))
    }

    /// Says where this rank is. Nothing else depends on it, so that it orders nothing.
    pub fn say(&self, entry: Entry) {
        let word = self.word(self.me, entry.number);
        word.store(entry.word(), Relaxed);
    }

    /// From now on this rank says nothing of where it is and was.
    pub fn fall_silent(&self) {
        for number in 0..CALLS {
            self.word(self.me, number).store(NOTHING, Relaxed);
        }
    }

    /// A rank that takes one of the last calls of this one for another one; and its collective, if that is another one.
    pub fn contradiction(&self) -> Option<(u32, Option<u8>)> {
        let entry = |rank, number| Entry::of(self.word(rank, number).load(Relaxed));
        (0..CALLS).find_map(|number| {
            let own = entry(self.me, number)?;
            (0..self.division.ranks()).find_map(|rank| {
                let other = entry(rank, number).filter(|other| own.contradicts(other))?;
                let is_another = other.collective != own.collective;
                Some((rank, is_another.then_some(other.collective)))
            })
        })
    }
}
