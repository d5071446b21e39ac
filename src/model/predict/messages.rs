//! How the messages of a rank follow each other.

#![forbid(unsafe_code)]

use super::{Call, Model};
use crate::schedule::{Circulant, Hypercube};

/// The messages that a rank sends to its children in a tree, or receives from them, a block each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fan {
    /// Microseconds until the first one is there.
    hop_us: f64,
    /// And the next one.
    step_us: f64,
    /// So many share a link and are there at the same time; the next ones begin then.
    together: u32,
    /// Microseconds of a block besides its steps.
    more_us: f64,
}

impl Fan {
    /// When message `i` of `k` is there.
    pub(super) fn hop(&self, i: u32, k: u32) -> f64 {
        let first = i - i % self.together;
        let here = self.together.min(k - first);
        let one_us = self.hop_us - self.step_us;
        let groups_before = match self.together {
            1 => 0,
            several => first / several,
        };
        f64::from(groups_before) * one_us + self.hop_us + f64::from(first + here - 1) * self.step_us
    }

    /// From the beginning of one block to that of the next one, each of which is `k` messages.
    pub(super) fn block_us(&self, k: u32) -> f64 {
        let groups = match self.together {
            1 => 1.0,
            several => f64::from(k) / f64::from(several),
        };
        groups * self.more_us + f64::from(k) * self.step_us
    }

    /// Until all ranks have a block of the circulant graph if it is the only one. O(p) time.
    pub(super) fn doubling_us(&self, p: u32) -> f64 {
        let graph = Circulant::new(p);
        // When a rank that has the block can send it again.
        let mut free = vec![0.0; p as usize];
        let mut last = 0.0;
        for (ranks, all) in graph.skips().iter().zip(&graph.skips()[1..]) {
            for rank in 0..(all - ranks) as usize {
                let there = free[rank] + self.hop_us;
                free[rank] += self.step_us;
                free[rank + *ranks as usize] = there;
                last = f64::max(last, there);
            }
        }
        last
    }

    /// The same over a hypercube. O(p log p) time.
    pub(super) fn hypercube_us(&self, p: u32) -> f64 {
        let cube = Hypercube::new(p, 1);
        let mut free = vec![0.0; p as usize];
        let mut last = 0.0;
        for (round, rank) in (0..cube.rounds()).flat_map(|i| (0..p).map(move |rank| (i, rank))) {
            if let Some(transfer) = cube.transfer(rank, round, true) {
                let there = free[rank as usize] + self.hop_us;
                free[rank as usize] += self.step_us;
                free[transfer.peer as usize] = there;
                last = f64::max(last, there);
            }
        }
        last
    }
}

impl Model {
    /// The cost of messages of so many bytes.
    pub(super) fn of(&self, call: &Call, bytes: u64) -> Model {
        match call.is_placed(bytes) {
            true => self.placed(),
            false => *self,
        }
    }

    /// What a rank spends on a further message that it receives in a round.
    pub(super) fn further_us(&self, call: &Call, bytes: u64) -> f64 {
        match call.is_placed(bytes) {
            true => self.gap_us.min(self.alpha_us),
            false => self.receive_us(),
        }
    }

    /// A rank sends blocks of `bytes` bytes to others.
    ///
    /// Short ones leave one after the other. Of long ones the engine has as many under way as the postal model counts
    /// on: they share the link, so all of them come late. If their bytes take longer than a message does otherwise, it
    /// sends one at a time.
    pub(super) fn sending(&self, call: &Call, bytes: u64) -> Fan {
        let link_us = self.beta_us() * bytes as f64;
        let hop_us = self.of(call, bytes).alpha_us + link_us;
        let at_a_time = self.latency(bytes);
        match call.is_placed(bytes) {
            false => Fan {
                hop_us,
                step_us: self.gap_us.max(link_us),
                together: 1,
                more_us: self.receive_us(),
            },
            true if link_us > self.alpha_us || at_a_time == 1 => Fan {
                hop_us,
                step_us: hop_us,
                together: 1,
                more_us: 0.0,
            },
            true => Fan {
                hop_us,
                step_us: link_us,
                together: at_a_time,
                more_us: hop_us - link_us,
            },
        }
    }

    /// A rank receives blocks of `bytes` bytes from others, which it also reduces; and sends one.
    pub(super) fn receiving(&self, call: &Call, bytes: u64) -> Fan {
        let link_us = self.beta_us() * bytes as f64;
        let busy_us = match call.is_placed(bytes) {
            true => 0.0,
            false => self.receive_us(),
        };
        Fan {
            hop_us: self.of(call, bytes).alpha_us + link_us,
            step_us: busy_us + link_us,
            together: 1,
            more_us: self.gap_us,
        }
    }

    /// The same where that is all that it has to do. It begins to send a long block when the one before is there.
    pub(super) fn passing_up(&self, call: &Call, bytes: u64) -> Fan {
        let fan = self.receiving(call, bytes);
        match call.is_placed(bytes) {
            true => Fan {
                more_us: self.of(call, bytes).alpha_us,
                ..fan
            },
            false => fan,
        }
    }
}
