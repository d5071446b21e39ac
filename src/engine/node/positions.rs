//! Where in the ring of a node the calls lie.

#![forbid(unsafe_code)]

use super::Groups;

/// Bytes of the ring that all short calls may use.
const WINDOW_MIN: u64 = 64 << 10;

/// The positions that calls, one after the other, take of a ring.
///
/// All ranks of the node ask for the same calls in the same order, and get the same positions.
#[derive(Clone, Copy, Debug)]
pub struct Positions {
    /// Bytes of the ring.
    capacity: u64,
    /// Where the next call begins, at the least.
    position: u64,
}

impl Positions {
    /// In a ring of `capacity` bytes that has not been used.
    pub fn new(capacity: u64) -> Positions {
        Positions {
            capacity,
            position: 0,
        }
    }

    /// Bytes of the ring to which calls of so many bytes keep, if these are short: what sixteen of them need, or more.
    fn window(&self, bytes: u64) -> u64 {
        (16 * bytes).max(WINDOW_MIN).min(self.capacity / 4)
    }

    /// The position at which a call begins that puts so many bytes through the ring.
    ///
    /// Short calls stay in the beginning of the ring, which processors find in their caches, and for which the system
    /// has provided memory: positions that lie elsewhere are passed over. (4 ranks, broadcasts of 64 KiB: 17 us instead
    /// of 22.)
    pub fn begin(&mut self, bytes: u64) -> u64 {
        let window = self.window(bytes);
        if bytes <= window / 2 && self.position % self.capacity + bytes > window {
            self.skip();
        }
        let begin = self.position;
        self.position += bytes;
        begin
    }

    /// The same for a call that puts groups of slots through the ring, none of which may wrap.
    pub fn begin_groups(&mut self, groups: &Groups) -> u64 {
        let through = groups.through();
        if !groups.fits() || self.position % self.capacity + through > self.capacity {
            self.skip();
        }
        self.begin(through)
    }

    /// Goes on with the beginning of the ring.
    fn skip(&mut self) {
        self.position = self.position.next_multiple_of(self.capacity);
    }
}
