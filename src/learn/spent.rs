//! What calls took, for the statistics: nothing is decided by it.

#![forbid(unsafe_code)]

use super::Saved;

/// What the calls of one contest took on this rank.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Calls of the host's.
    host_calls: u32,
    /// Nanoseconds of these but the first, which finds cold caches, and connections that are still to be made.
    host: u64,
    /// Calls of Rondo's of which nobody took what they saved.
    calls: u64,
    /// Nanoseconds of these.
    own: u64,
}

impl Spent {
    /// A call of the host's, or of Rondo's, took so long.
    pub fn add(&mut self, is_hosts: bool, nanos: u64) {
        match is_hosts {
            true => {
                let counts = self.host_calls > 0;
                self.host_calls = self.host_calls.saturating_add(1);
                self.host = self.host.saturating_add(if counts { nanos } else { 0 });
            }
            false => {
                self.calls += 1;
                self.own = self.own.saturating_add(nanos);
            }
        }
    }

    /// What the calls by Rondo since the last question saved, if each would have taken as long by the host as the
    /// host's own did in the mean, without the first. Nothing as long as the host had a single call.
    pub fn take_saved(&mut self) -> Saved {
        if self.host_calls < 2 {
            return Saved::default();
        }
        let by_host = self.host as f64 / f64::from(self.host_calls - 1) * self.calls as f64;
        let saved = Saved {
            calls: self.calls,
            nanos: by_host as i64 - self.own as i64,
        };
        (self.calls, self.own) = (0, 0);
        saved
    }
}
