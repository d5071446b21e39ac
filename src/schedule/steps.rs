//! The all-broadcast of whole parts in few rounds of several messages each.
//!
//! Before a round every rank has the parts of w ranks: its own and those of the w - 1 ranks before it. In the round it
//! sends to the ranks w, 2 w, 3 w, ... after it, and then has k times as many parts. With k = 2 that is the usual
//! doubling in ceil(log2 p) rounds; with k = p every rank sends its part straight to all others. No part comes to a
//! rank twice, whatever k is. (J. Bruck et al., "Efficient algorithms for all-to-all communications in multiport
//! message-passing systems", IEEE TPDS 8(11), 1997, section 4, has k - 1 ports for it; here a rank sends one message
//! after the other, which is faster where a message travels for longer than it takes to send it.)
//!
//! The numbers of parts are p divided by k again and again, rounded up, so that k = 2 has the skips of the circulant
//! graph.

#![forbid(unsafe_code)]

use super::rounds::MAX_Q;

/// The messages of a rank, which are the same on all ranks but for who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Parts before each round, and all of them at the end.
    widths: [u32; MAX_Q + 1],
    /// Messages of each round: fewer than the radix.
    messages: [u16; MAX_Q],
    rounds: usize,
    count: usize,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// It goes to the rank that is so far after its sender.
    pub distance: u32,
    /// It has the parts of so many ranks: the sender's and those of the ranks before it.
    pub width: u32,
}

impl Steps {
    /// Those among `p` ranks with k = `radix`, from 2 to 2^16 - 1.
    pub fn new(p: u32, radix: u32) -> Steps {
        let mut steps = Steps {
            widths: [p; MAX_Q + 1],
            messages: [0; MAX_Q],
            rounds: 0,
            count: 0,
        };
        // From the last round to the first one.
        let mut all = p;
        while all > 1 {
            let width = all.div_ceil(radix.clamp(2, u16::MAX.into()));
            steps.widths[steps.rounds] = width;
            steps.messages[steps.rounds] = (all.div_ceil(width) - 1) as u16;
            steps.count += usize::from(steps.messages[steps.rounds]);
            steps.rounds += 1;
            all = width;
        }
        steps.widths[..steps.rounds].reverse();
        steps.messages[..steps.rounds].reverse();
        steps
    }

    /// How many messages a rank sends.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Message `i`, below [`Steps::count`], in the order in which they are sent. O(rounds) time.
    pub fn step(&self, mut i: usize) -> Step {
        for (round, &messages) in self.messages[..self.rounds].iter().enumerate() {
            if i < usize::from(messages) {
                let (width, all) = (self.widths[round], self.widths[round + 1]);
                let distance = width * (i as u32 + 1);
                let width = width.min(all - distance);
                return Step { distance, width };
            }
            i -= usize::from(messages);
        }
        unreachable!("there is no message {i} more")
    }

    /// In an exchange, where what goes to the rank at a distance travels by the digits of that distance: the distances
    /// below p, counted once for each round in which what goes so far travels.
    pub fn travelling(&self) -> u64 {
        let mut whole = [0; MAX_Q];
        // Of distances below `length`, in the rounds before round `end`.
        let below = |end: usize, mut length: u64, whole: &[u64]| {
            let mut sum = 0;
            for (&width, &whole) in self.widths[..end].iter().zip(whole).rev() {
                let width = u64::from(width);
                sum += length.saturating_sub(width) + length / width * whole;
                length %= width;
            }
            sum
        };
        for round in 0..self.rounds {
            whole[round] = below(round, self.widths[round].into(), &whole);
        }
        below(self.rounds, self.widths[self.rounds].into(), &whole)
    }

    /// For each round: how many parts a rank has before it, and how many messages it sends.
    pub fn rounds(&self) -> impl Iterator<Item = (u32, u32)> {
        let messages = self.messages[..self.rounds].iter();
        (self.widths.iter().copied()).zip(messages.map(|&messages| messages.into()))
    }
}
