//! Numbers of communicators, which tell the messages of one from those of another.
//!
//! The ranks of a new communicator agree on a number that is free on all of them. So two communicators that have a rank
//! in common, at the same time, have different numbers, and a message between two ranks says by its number which of
//! those that both have it belongs to.
//!
//! A number is free again at a rank when that has freed the communicator, and for a new one when all *its* members have
//! freed theirs. Nothing of the old communicator reaches the new one then: a rank returns from a call only when it has
//! received all that the call sends it, so what was sent to a member of the new one was received before that member
//! freed the old one. But a rank that left a call early, because the host refused it there alone, may have messages
//! left that others sent it: it never offers that number again.
//!
//! Threads of a process may agree on numbers for two communicators at the same time, and all they know when they offer
//! is what is free. Each takes what was drawn if it is free still, and the ranks tell each other whether all could. If
//! one could not, all let go and draw again. A process whose threads do not call MPI at the same time cannot fail, so
//! where all ranks are such, nobody asks.

#![forbid(unsafe_code)]

use super::memory::Place;
use crate::host::NUMBER_BITS;
use parking_lot::Mutex;

/// Numbers of communicators, 0 being that of the job's own messages.
const NUMBERS: u32 = 1 << NUMBER_BITS;

/// Words of a mask of all numbers.
pub const WORDS: usize = NUMBERS as usize / 64;

/// The numbers of this rank.
pub static OWN: Numbers = Numbers::unused();

/// Which numbers a rank has free.
pub struct Numbers {
    /// A bit for each number that is taken.
    taken: Mutex<[u64; WORDS]>,
    /// Numbers of communicators that the rank freed, as the lowest of its node, and others there have not yet.
    waiting: Mutex<Vec<(u32, Place)>>,
}

/// The number that is drawn from those that are free, by a word that is as good as random: then two communicators that
/// are made at the same time hardly ever draw the same. `None` if none is free.
pub fn draw(free: &[u64; WORDS], word: u64) -> Option<u32> {
    let is_free = |number: u32| free[number as usize / 64] & 1 << (number % 64) != 0;
    let first = (word % u64::from(NUMBERS)) as u32;
    let mut all = (0..NUMBERS).map(|i| (first + i) % NUMBERS);
    all.find(|&number| is_free(number))
}

impl Numbers {
    /// All but 0, which is the job's.
    pub const fn unused() -> Numbers {
        let mut taken = [0; WORDS];
        taken[0] = 1;
        Numbers {
            taken: Mutex::new(taken),
            waiting: Mutex::new(Vec::new()),
        }
    }

    /// A bit for each number that is free.
    pub fn free(&self) -> [u64; WORDS] {
        self.waiting.lock().retain(|(number, place)| {
            let is_clear = place.is_clear();
            if is_clear {
                self.give_back(*number);
            }
            !is_clear
        });
        self.taken.lock().map(|word| !word)
    }

    /// Takes a number, unless another thread did.
    pub fn take(&self, number: u32) -> bool {
        let word = &mut self.taken.lock()[number as usize / 64];
        let bit = 1 << (number % 64);
        let is_free = *word & bit == 0;
        *word |= bit;
        is_free
    }

    /// Gives a number back when all ranks of this node have freed the communicator.
    pub fn give_back_when_clear(&self, number: u32, place: Place) {
        self.waiting.lock().push((number, place));
    }

    /// Gives a number back.
    pub fn give_back(&self, number: u32) {
        self.taken.lock()[number as usize / 64] &= !(1 << (number % 64));
    }
}
