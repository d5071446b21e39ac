//! What ranks tell each other in one reduction.

#![forbid(unsafe_code)]

use crate::rules::Rules;

/// Words that a rank offers, or what all ranks made of them by a bitwise "and": read in the order in which they were
/// added.
#[derive(Default)]
pub struct Words {
    words: Vec<i64>,
    read: usize,
}

impl Words {
    /// Adds bits, of each of which all learn whether every rank has it.
    pub fn add(&mut self, bits: u64) {
        self.words.push(bits as i64);
    }

    /// Adds a word that all learn from the one rank that it is of.
    pub fn add_of(&mut self, is_of_this_rank: bool, word: u64) {
        self.add(if is_of_this_rank { word } else { u64::MAX });
    }

    /// Adds a word of which all learn whether it is the same on every rank.
    pub fn add_same(&mut self, word: u64) {
        self.add(word);
        self.add(!word);
    }

    /// Adds the rules that this rank knows: how many rank 0 has is learnt if not all have the same.
    pub fn add_rules(&mut self, is_of_this_rank: bool, rules: &Rules) {
        self.add_of(is_of_this_rank, rules.len() as u64);
        self.add_same(rules.hash());
    }

    /// Fills up to so many words.
    pub fn fill(&mut self, length: usize) {
        debug_assert!(self.words.len() <= length);
        self.words.resize(length, -1);
    }

    /// What the reduction is over.
    pub fn all(&mut self) -> &mut [i64] {
        &mut self.words
    }

    /// The next word.
    pub fn take(&mut self) -> u64 {
        self.read += 1;
        self.words[self.read - 1] as u64
    }

    /// How many rules rank 0 has to hand out.
    pub fn take_rules(&mut self) -> Option<usize> {
        let count = self.take() as usize;
        self.take_same().is_none().then_some(count)
    }

    /// The next word, if it is the same on every rank.
    pub fn take_same(&mut self) -> Option<u64> {
        let (all, of_none) = (self.take(), self.take());
        (all == !of_none).then_some(all)
    }
}
