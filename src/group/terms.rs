//! What the ranks of a communicator tell each other at its first call, in one reduction.

#![forbid(unsafe_code)]

use super::numbers;
use crate::config::{Gpu, Reproducible};
use crate::host;
use crate::rules::Rules;

/// The numbers of the reduction, which is a bitwise "and": what one rank alone says, the others offer all ones for.
pub struct Terms(pub [i64; Terms::LENGTH]);

impl Terms {
    const FREE: usize = 0;
    const DRAWN: usize = numbers::WORDS;
    const PROMISE: usize = Self::DRAWN + 1;
    const PROMISES: usize = Self::PROMISE + 1;
    const RULE_COUNT: usize = Self::PROMISES + 2;
    const RULES: usize = Self::RULE_COUNT + 1;
    const FLAGS: usize = Self::RULES + 2;
    const LENGTH: usize = Self::FLAGS + 1;

    /// No driver of a GPU is here.
    const NO_DRIVER: i64 = 1;
    /// Or the program asserts that it passes none of its memory.
    const NO_GPU: i64 = 2;
    /// The node has memory for the communicator.
    const MEMORY: i64 = 4;

    /// What this rank offers: `word` draws a number, and the promise and the rules count, if it is rank 0.
    pub fn offer(
        rank: u32,
        word: u64,
        promise: Reproducible,
        rules: &Rules,
        asserted: bool,
        has_memory: bool,
    ) -> Terms {
        let mut terms = [-1; Self::LENGTH];
        for (place, free) in terms[Self::FREE..].iter_mut().zip(numbers::OWN.free()) {
            *place = free as i64;
        }
        if rank == 0 {
            terms[Self::DRAWN] = word as i64;
            terms[Self::PROMISE] = promise as i64;
            terms[Self::RULE_COUNT] = rules.len() as i64;
        }
        for (place, own) in [
            (Self::RULES, rules.hash() as i64),
            (Self::PROMISES, promise as i64),
        ] {
            (terms[place], terms[place + 1]) = (own, !own);
        }
        let has_driver = host::look_for_driver();
        let flag = |bit, is| if is { bit } else { 0 };
        terms[Self::FLAGS] = flag(Self::NO_DRIVER, !has_driver)
            | flag(Self::NO_GPU, !has_driver || asserted)
            | flag(Self::MEMORY, has_memory);
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
