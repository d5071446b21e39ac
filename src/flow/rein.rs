//! The largest window, where buffers of the network are shallow.

#![forbid(unsafe_code)]

/// A larger window carries less, or the network does, if so many agreements in a row say so: a single one may have been
/// disturbed.
const IN_A_ROW: u32 = 2;

/// What they said holds for so many agreements, and for twice as many each time they say it again.
const LASTS: u32 = 4;
const LASTS_MAX: u32 = 64;

/// What the rates that the ranks agreed on say of the largest window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rein {
    /// The highest rate, in bytes per second, and the window that showed it.
    best: Option<(u64, u64)>,
    /// No window is larger: with more, the network carried much less.
    pub ceiling: Option<u64>,
    /// How many agreements in a row said so, while there is no such ceiling.
    losses: u32,
    /// How many in a row said that the network carries much less with the same window.
    slower: u32,
    /// For how many more agreements there is one, and for how many there was from its beginning on.
    left: u32,
    lasts: u32,
}

impl Rein {
    /// The ranks had this rate, with this window. A buffer of the network that is smaller than the window loses what
    /// does not fit, or makes all wait.
    pub fn see(&mut self, rate: u64, window: u64) {
        let is_much_larger = |one: u64, other: u64| one > other.saturating_add(other / 4);
        let (best, at) = self.best.unwrap_or((0, window));
        let is_larger = is_much_larger(window, at);
        let is_as_large = !is_larger && !is_much_larger(at, window);
        let is_less = is_much_larger(best, rate);
        let count = |counted: u32, again: bool| if again { counted + 1 } else { 0 };
        self.losses = count(self.losses, is_less && is_larger);
        self.slower = count(self.slower, is_less && is_as_large);
        let is_slower = self.slower == IN_A_ROW;
        if is_slower || is_much_larger(rate, best) {
            // The network is another one now. Its buffers may be what they were, and if it carries less, that may pass.
            let left = if is_slower { self.left.min(LASTS) } else { 0 };
            *self = Rein {
                best: Some((rate, window)),
                ceiling: self.ceiling.filter(|_| left > 0),
                left,
                lasts: self.lasts,
                ..Rein::default()
            };
            return;
        }
        if rate >= best {
            self.best = Some((rate, window));
        }
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.ceiling = None;
        }
        if self.losses == IN_A_ROW {
            self.lasts = (2 * self.lasts).clamp(LASTS, LASTS_MAX);
            (self.ceiling, self.left, self.losses) = (Some(at), self.lasts, 0);
        }
    }
}
