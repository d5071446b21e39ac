//! What the ranks of a communicator tell each other at its first call, in one reduction.

#![forbid(unsafe_code)]

use super::numbers;
use crate::config::{Gpu, Reproducible};
use crate::host;
use crate::rules::Rules;

/// The numbers of the reduction, which is a bitwise "and": what one rank alone says, the others offer all ones for.
pub struct Terms(pub [i64; Terms::LENGTH]);

/// What one rank has to say.
pub struct Own<'a> {
    /// If it is rank 0: draws a number.
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

impl Terms {
    const FREE: usize = 0;
    const DRAWN: usize = numbers::WORDS;
    const PROMISE: usize = Self::DRAWN + 1;
    const PROMISES: usize = Self::PROMISE + 1;
    const RULE_COUNT: usize = Self::PROMISES + 2;
    const RULES: usize = Self::RULE_COUNT + 1;
    const NEW_RECORD: usize = Self::RULES + 2;
    const RECORDS: usize = Self::NEW_RECORD + 1;
    const FLAGS: usize = Self::RECORDS + 2;
    const LENGTH: usize = Self::FLAGS + 1;

    /// No driver of a GPU is here.
    const NO_DRIVER: i64 = 1;
    /// Or the program asserts that it passes none of its memory.
    const NO_GPU: i64 = 2;
    /// The node has memory for the communicator.
    const MEMORY: i64 = 4;

    /// What a rank offers.
    pub fn offer(rank: u32, own: &Own<'_>) -> Terms {
        let mut terms = [-1; Self::LENGTH];
        for (place, free) in terms[Self::FREE..].iter_mut().zip(numbers::OWN.free()) {
            *place = free as i64;
        }
        if rank == 0 {
            terms[Self::DRAWN] = own.word as i64;
            terms[Self::PROMISE] = own.promise as i64;
            terms[Self::RULE_COUNT] = own.rules.len() as i64;
            terms[Self::NEW_RECORD] = own.new_record as i64;
        }
        for (place, number) in [
            (Self::RULES, own.rules.hash()),
            (Self::PROMISES, own.promise as u64),
            (Self::RECORDS, own.record),
        ] {
            (terms[place], terms[place + 1]) = (number as i64, !number as i64);
        }
        let has_driver = host::look_for_driver();
        let flag = |bit, is| if is { bit } else { 0 };
        terms[Self::FLAGS] = flag(Self::NO_DRIVER, !has_driver)
            | flag(Self::NO_GPU, !has_driver || own.asserted)
            | flag(Self::MEMORY, own.has_memory);
        Terms(terms)
    }

    /// The number that was drawn, if one is free on all ranks.
    pub fn number(&self) -> Option<u32> {
        let free = std::array::from_fn(|i| self.0[Self::FREE + i] as u64);
        numbers::draw(&free, self.0[Self::DRAWN] as u64)
    }

    /// What rank 0 is asked to promise of bits.
    pub fn promise(&self) -> Reproducible {
        let is_it = |(_, promise): &&(&str, Reproducible)| *promise as i64 == self.0[Self::PROMISE];
        let found = Reproducible::NAMES.iter().find(is_it);
        found.expect("rank 0 offered one").1
    }

    /// Did all ranks offer the same there?
    fn is_same(&self, place: usize) -> bool {
        self.0[place] == !self.0[place + 1]
    }

    /// Are all ranks asked for the same promise?
    pub fn have_one_promise(&self) -> bool {
        self.is_same(Self::PROMISES)
    }

    /// Have all ranks the same record?
    pub fn have_one_record(&self) -> bool {
        self.is_same(Self::RECORDS) && self.0[Self::RECORDS] != 0
    }

    /// The number of a new record.
    pub fn new_record(&self) -> u64 {
        self.0[Self::NEW_RECORD] as u64
    }

    /// How many rules rank 0 has, if not all ranks have them already.
    pub fn rules_to_hand_out(&self) -> Option<usize> {
        (!self.is_same(Self::RULES)).then_some(self.0[Self::RULE_COUNT] as usize)
    }

    /// Have all nodes memory for the communicator?
    pub fn have_memory(&self) -> bool {
        self.0[Self::FLAGS] & Self::MEMORY != 0
    }

    /// Are all calls the host's, because a rank may have memory that the processor cannot touch?
    pub fn leaves_for_gpus(&self, gpu: Gpu) -> bool {
        let all = |bit| self.0[Self::FLAGS] & bit != 0;
        match gpu {
            Gpu::Auto => !all(Self::NO_GPU),
            Gpu::Host => !all(Self::NO_DRIVER),
            Gpu::Off => false,
        }
    }
}
