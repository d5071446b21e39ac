//! The least of some keys over a window that moves one way only.

#![forbid(unsafe_code)]

use std::collections::VecDeque;

/// The ks in the window that may still become the least: in the order in which they will leave, with rising keys.
#[derive(Clone, Default)]
pub struct Window(VecDeque<u32>);

impl Window {
    /// Takes in k. No k may leave after one that came later. A key may not change while its k is in the window.
    pub fn push(&mut self, k: usize, key: impl Fn(usize) -> u64) {
        while self
            .0
            .back()
            .is_some_and(|&last| key(last as usize) >= key(k))
        {
            self.0.pop_back();
        }
        self.0
            .push_back(u32::try_from(k).expect("a table for more ranks does not fit any memory"));
    }

    /// The k with the least key, after those that are `out` have left.
    pub fn least(&mut self, out: impl Fn(usize) -> bool) -> Option<usize> {
        while self.0.front().is_some_and(|&first| out(first as usize)) {
            self.0.pop_front();
        }
        self.0.front().map(|&first| first as usize)
    }
}
