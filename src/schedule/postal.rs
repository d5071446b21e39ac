//! Trees that bring one block to all ranks in the least time of the postal model: a rank sends a message in
//! every unit of time, and each is there a *latency* of L units after its sending began (Bar-Noy and Kipnis,
//! "Designing broadcasting algorithms in the postal model for message-passing systems", Mathematical Systems
//! Theory 27, 1994, section 3).
//!
//! In t units F(t) ranks can be reached, the root among them: F(t) = 1 for t < L, and then
//! F(t) = F(t-1) + F(t-L), the ranks that the root reaches after its first message and those that the receiver
//! of that message reaches. With L = 1 this is the binomial tree.

#![forbid(unsafe_code)]

/// The longest latency that is told apart. Up to so many ranks besides the root, a message to each is the best tree of
/// a network whose latency is longer.
pub const LATENCY_MAX: u32 = 64;

/// F(t) for the last L values of t.
#[derive(Clone, Copy)]
struct Reach {
    latency: u32,
    t: u32,
    /// F(t) at t mod L.
    last: [u32; LATENCY_MAX as usize],
}

impl Reach {
    /// At t = 0.
    fn new(latency: u32) -> Reach {
        Reach {
            latency: latency.clamp(1, LATENCY_MAX),
            t: 0,
            last: [1; LATENCY_MAX as usize],
        }
    }

    /// F(t).
    fn ranks(&self) -> u32 {
        self.last[(self.t % self.latency) as usize]
    }

    fn step(&mut self) {
        let now = self.ranks();
        self.t += 1;
        let place = (self.t % self.latency) as usize;
        if self.t >= self.latency {
            self.last[place] = self.last[place].saturating_add(now);
        }
    }
}

/// So many units of time reach all ranks that there can be, whatever the latency is.
const UNITS_MAX: usize = 640;

/// Units of time until a block is on all of `p` ranks, the least there are. O(L log p) time, no memory.
pub fn time(p: u32, latency: u32) -> u32 {
    let mut reach = Reach::new(latency);
    while reach.ranks() < p {
        reach.step();
    }
    reach.t
}

/// Splits a subtree of `size` ranks, of which the first one has the block: calls `child` with where each of its
/// children begins and how many ranks it has to reach, first to last. O(L log p) time.
pub(super) fn split(size: u32, latency: u32, mut child: impl FnMut(u32, u32)) {
    // F(t) for t below the time of the tree. A call of a broadcast allocates nothing.
    let mut reached = [0; UNITS_MAX];
    let mut reach = Reach::new(latency);
    while reach.ranks() < size {
        reached[reach.t as usize] = reach.ranks();
        reach.step();
    }
    let mut ranks = size;
    for &kept in reached[..reach.t as usize].iter().rev() {
        // Else it is a unit more than they need.
        if kept < ranks {
            child(kept, ranks - kept);
            ranks = kept;
        }
    }
}
