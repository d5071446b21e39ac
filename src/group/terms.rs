//! What the ranks of a communicator tell each other at its first call, in one reduction.

#![forbid(unsafe_code)]

use super::numbers;
use crate::config::{Gpu, Reproducible};
use crate::host;
use crate::job::Words;
use crate::rules::Rules;

/// What one rank has to say.
pub struct Own<'a> {
    /// Is it rank 0?
    pub is_first: bool,
    /// If so: draws a number.
    pub word: u64,
    /// What it is asked to promise of bits.
    pub promise: Reproducible,
    /// The rules that it knows.
    pub rules: &'a Rules,
    /// The number of the record that it has of these ranks; 0 if it has none.
    pub record: u64,
    /// If it is rank 0: that of a new one.
    pub new_record: u64,
    /// Does the program assert that it passes no memory of a GPU?
    pub asserted: bool,
    /// Has its node memory for the communicator, for all that it knows?
    pub has_memory: bool,
}

/// What they agree on.
pub struct Terms {
    /// The number that was drawn, if one is free on all ranks.
    pub number: Option<u32>,
    /// What rank 0 is asked to promise of bits.
    pub promise: Reproducible,
    /// Are all ranks asked for the same?
    pub have_one_promise: bool,
    /// How many rules rank 0 has, if not all ranks have them already.
    pub rules_to_hand_out: Option<usize>,
    /// The number of a new record.
    pub new_record: u64,
    /// Have all ranks the same record?
    pub have_one_record: bool,
    flags: u64,
}

/// No driver of a GPU is here.
const NO_DRIVER: u64 = 1;
/// Or the program asserts that it passes none of its memory.
const NO_GPU: u64 = 2;
/// The node has memory for the communicator.
const MEMORY: u64 = 4;

impl Own<'_> {
    /// What a rank offers.
    pub fn offer(&self) -> Words {
        let mut words = Words::default();
        for free in numbers::OWN.free() {
            words.add(free);
        }
        words.add_of(self.is_first, self.word);
        words.add_of(self.is_first, self.promise as u64);
        words.add_same(self.promise as u64);
        words.add_rules(self.is_first, self.rules);
        words.add_of(self.is_first, self.new_record);
        words.add_same(self.record);
        let has_driver = host::look_for_driver();
        let flag = |bit, is| if is { bit } else { 0 };
        words.add(
            flag(NO_DRIVER, !has_driver)
                | flag(NO_GPU, !has_driver || self.asserted)
                | flag(MEMORY, self.has_memory),
        );
        words
    }
}

impl Terms {
    /// What follows from the words of all ranks.
    pub fn of(mut words: Words) -> Terms {
        let free = std::array::from_fn(|_| words.take());
        let number = numbers::draw(&free, words.take());
        let promise = words.take();
        let mut all = Reproducible::NAMES.iter();
        let promise = all.find(|(_, known)| *known as u64 == promise);
        let have_one_promise = words.take_same().is_some();
        let rules_to_hand_out = words.take_rules();
        Terms {
            number,
            promise: promise.expect("rank 0 offered one").1,
            have_one_promise,
            rules_to_hand_out,
            new_record: words.take(),
            have_one_record: words.take_same().is_some_and(|record| record != 0),
            flags: words.take(),
        }
    }

    /// Have all nodes memory for the communicator?
    pub fn have_memory(&self) -> bool {
        self.flags & MEMORY != 0
    }

    /// Are all calls the host's, because a rank may have memory that the processor cannot touch?
    pub fn leaves_for_gpus(&self, gpu: Gpu) -> bool {
        match gpu {
            Gpu::Auto => self.flags & NO_GPU == 0,
            Gpu::Host => self.flags & NO_DRIVER == 0,
            Gpu::Off => false,
        }
    }
}
