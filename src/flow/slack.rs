//! The largest window of a far network, where a larger one only makes queues.

#![forbid(unsafe_code)]

use super::SMALL_WINDOW;

/// Round trips in a window that does not become smaller, besides the small window: acknowledgements are few, and edges
/// take turns.
const ROUND_TRIPS: f64 = 2.0;

/// The network is a slower one, or a window too large, if so many agreements in a row say so: a single one may have
/// been disturbed.
const IN_A_ROW: u32 = 2;

/// Where a smaller window carried less, none is tried for so many agreements, and for twice as many each time.
const RESTS: u32 = 4;
const RESTS_MAX: u32 = 64;

/// What rates and round trips that the ranks agreed on say of the largest window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slack {
    /// The highest rate of late, in bytes per second.
    best: u64,
    /// How many agreements in a row had a much lower one.
    slower: u32,
    /// How many in a row had a window that is much too large.
    large: u32,
    /// No window is larger: it would only make a queue.
    pub ceiling: Option<u64>,
    /// Agreements since it became that.
    age: u32,
    /// For how many more agreements no smaller window is tried, and for how many there was none the last time.
    left: u32,
    rests: u32,
}

impl Slack {
    /// The ranks had this rate, with this window, and the least round trip of an edge is so many nanoseconds at the
    /// most. True if round trips are to be measured anew.
    pub fn see(&mut self, rate: u64, window: u64, trip: u64) -> bool {
        let count = |counted: u32, again: bool| if again { counted + 1 } else { 0 };
        let is_less = rate < self.best - self.best / 8;
        self.slower = count(self.slower, is_less);
        let is_slower = self.slower == IN_A_ROW;
        if rate > self.best || is_slower {
            (self.best, self.slower) = (rate, 0);
        }
        (self.left, self.age) = (self.left.saturating_sub(1), self.age.saturating_add(1));
        let is_old = self.age > RESTS_MAX;
        if self.ceiling.is_some() && (is_slower || is_old) {
            // The window is too small, as the ways have become longer; or the network is slower, which shows with the
            // larger one. And what was seen once need not be so for ever: the largest window that there was is tried
            // now and then.
            self.rests = match is_old {
                true => RESTS,
                false => (2 * self.rests).clamp(RESTS, RESTS_MAX),
            };
            (self.ceiling, self.left, self.large) = (None, self.rests, 0);
            return true;
        }
        let carried = self.best as f64 / 1e9 * trip as f64;
        let enough = SMALL_WINDOW.saturating_add((ROUND_TRIPS * carried) as u64);
        if self.ceiling.is_some_and(|ceiling| ceiling < enough) {
            self.ceiling = None;
        }
        self.large = count(self.large, window / 2 > enough);
        if self.left == 0 && self.large >= IN_A_ROW {
            let least = self.ceiling.unwrap_or(u64::MAX);
            (self.ceiling, self.age) = (Some(least.min(window / 2)), 0);
        }
        false
    }
}
