//! Trees that bring one block to all ranks in the least time of the postal model: a rank sends a message in
//! every unit of time, and each is there a *latency* of L units after its sending began (Bar-Noy and Kipnis,
//! "Designing broadcasting algorithms in the postal model for message-passing systems", Mathematical Systems
//! Theory 27, 1994, section 3).
//!
//! In t units F(t) ranks can be reached, the root among them: F(t) = 1 for t < L, and then
//! F(t) = F(t-1) + F(t-L), the ranks that the root reaches after its first message and those that the receiver
//! of that message reaches. With L = 1 this is the binomial tree.

#![forbid(unsafe_code)]

/// The longest latency that is told apart: from here on trees change little, and F grows slowly.
pub const LATENCY_MAX: u32 = 16;

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

/// Units of time until a block is on all of `p` ranks, the least there are. O(L log p) time, no memory.
pub fn time(p: u32, latency: u32) -> u32 {
    let mut reach = Reach::new(latency);
    while reach.ranks() < p {
        reach.step();
    }
    reach.t
}

/// From whom a rank has its blocks, and to whom it passes them on, first to last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeNeighbors {
    parent: Option<u32>,
    children: Vec<u32>,
    /// F(t) for t below the time of the tree.
    reached: Vec<u32>,
}

impl TreeNeighbors {
    /// Makes this the family of `rank` in the tree of `p` ranks from `root`. O(L log p) time.
    pub fn set(&mut self, p: u32, latency: u32, rank: u32, root: u32) {
        self.reached.clear();
        let mut reach = Reach::new(latency);
        while reach.ranks() < p {
            self.reached.push(reach.ranks());
            reach.step();
        }
        let v = (u64::from(rank) + u64::from(p) - u64::from(root)) % u64::from(p);
        let absolute = |v: u32| ((u64::from(v) + u64::from(root)) % u64::from(p)) as u32;
        self.parent = None;
        self.children.clear();
        // Rank `first` has the block, and with `ranks` ranks from itself on there are t units left for them.
        let (mut first, mut ranks, mut t) = (0, p, self.reached.len());
        while ranks > 1 {
            t -= 1;
            let kept = self.reached[t];
            if kept >= ranks {
                continue; // a unit more than they need
            }
            let child = first + kept;
            if v >= u64::from(child) {
                self.parent = Some(absolute(first));
                (first, ranks) = (child, ranks - kept);
                t = t + 1 - reach.latency as usize;
            } else {
                if v == u64::from(first) {
                    self.children.push(absolute(child));
                }
                ranks = kept;
            }
        }
    }

    /// Who sends to this rank; `None` for the root.
    pub fn parent(&self) -> Option<u32> {
        self.parent
    }

    /// To whom this rank sends, in this order.
    pub fn children(&self) -> &[u32] {
        &self.children
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        (self.children.capacity() + self.reached.capacity()) * size_of::<u32>()
    }
}
