//! The ordered binary tree with the least completion time, by dynamic programming over ranges of ranks.
//!
//! No rank has more than two children, and it serves them in rank order: the root of a..b receives first what lies
//! below its own block, then copies that, then receives what lies above. So it is in one of three places:
//!
//! * between its children, at any rank of the range; it has a single child, then, at either end;
//! * before two children, as the first rank of the range;
//! * behind two children, as the last rank of the range.
//!
//! Only the root of the whole can be given; the roots of all parts below are the best ones.
//!
//! # O(p^2)
//!
//! Trying every place takes O(p^3) time. It can be less where copying is no slower than sending, gamma <= beta: then no
//! range takes longer than one that contains it, because instead of a rank that is taken away at an end the next one
//! can be in its place. As one moves upwards, the first child comes to take longer and the second one shorter; let x be
//! the first place in which the second one need not be waited for. Before x everything falls, so x - 1 is the best
//! place. From x on the time is that of the first child and of both messages:
//!
//! * With the root at an end, the messages are the same everywhere, so x is the best place.
//! * With the root r between its children, T(a..r) - (beta - gamma) m_r decides, which does not depend on b. With
//!   rising b, x rises: a minimum over a sliding window.
//!
//! Nothing is sent for 0 bytes, so the alpha in c(s) is missing where there is nothing above the root, or nothing in
//! its second child: the first such place is tried as well.

#![forbid(unsafe_code)]

use super::ranges::Ranges;
use super::window::Window;
use super::{Cost, Root, Tree};

/// The optimal ordered binary tree.
///
/// Takes O(p^2) time if gamma <= beta, O(p^3) otherwise, and 8 p^2 bytes.
///
/// # Panics
/// If there is no rank, or not the given one.
pub fn binary(blocks: &[u64], root: Root, cost: &Cost) -> Tree {
    let p = blocks.len();
    let given = root.given(p);
    let mut search = Search::default();
    let ranges = Ranges::new(blocks, *cost, |ranges, a, b| search.least(ranges, a, b));
    let top = best(&ranges, (0, p), given);

    let mut children = vec![Vec::new(); p];
    let mut todo = vec![((0, p), top)];
    while let Some(((a, b), place)) = todo.pop() {
        let root = place.root(a, b);
        for (a, b) in place.parts(a, b) {
            if a < b {
                let place = best(&ranges, (a, b), None);
                children[root].push(place.root(a, b));
                todo.push(((a, b), place));
            }
        }
    }
    let below = |(rank, children): (usize, &Vec<usize>)| children.partition_point(|&c| c < rank);
    let copy = children.iter().enumerate().map(below).collect();
    Tree::new(top.root(0, p), blocks, children, copy)
}

/// Where the root of a range a..b is.
#[derive(Clone, Copy)]
enum Place {
    /// At this rank, with the children a..r and r + 1..b.
    Between(usize),
    /// At a, with the children a + 1..k and k..b.
    Before(usize),
    /// At b - 1, with the children a..k and k..b - 1.
    Behind(usize),
}

use Place::{Before, Behind, Between};

impl Place {
    fn root(self, a: usize, b: usize) -> usize {
        match self {
            Between(rank) => rank,
            Before(_) => a,
            Behind(_) => b - 1,
        }
    }

    /// The ranges of the children, in order; of Between, one or both may be empty.
    fn parts(self, a: usize, b: usize) -> [(usize, usize); 2] {
        match self {
            Between(rank) => [(a, rank), (rank + 1, b)],
            Before(k) => [(a + 1, k), (k, b)],
            Behind(k) => [(a, k), (k, b - 1)],
        }
    }

    /// When the root has done all that comes before its second child, and when that child is ready.
    fn ready(self, ranges: &Ranges, a: usize, b: usize) -> (u64, u64) {
        let [first, second] = self.parts(a, b);
        let child = ranges.least(first.0, first.1);
        let message = ranges.message(first.0, first.1);
        let first = match self {
            Between(rank) => child + message + ranges.copy(rank),
            Before(_) => child.max(ranges.copy(a)) + message,
            Behind(_) => child + message,
        };
        (first, ranges.least(second.0, second.1))
    }

    fn time(self, ranges: &Ranges, a: usize, b: usize) -> u64 {
        let (first, child) = self.ready(ranges, a, b);
        let (from, to) = self.parts(a, b)[1];
        let copy = match self {
            Behind(_) => ranges.copy(b - 1),
            Between(_) | Before(_) => 0,
        };
        first.max(child) + ranges.message(from, to) + copy
    }
}

/// All places in a..b, by rising rank of the root.
fn places(a: usize, b: usize) -> impl Iterator<Item = Place> {
    let before = (a + 2..b).map(Before);
    let behind = (a + 1..b - 1).map(Behind);
    before.chain((a..b).map(Between)).chain(behind)
}

/// The first of the places with the least time, or of those at the given root.
fn best(ranges: &Ranges, (a, b): (usize, usize), given: Option<usize>) -> Place {
    let allowed = |place: &Place| given.is_none_or(|root| place.root(a, b) == root);
    let time = |place: &Place| place.time(ranges, a, b);
    let best = places(a, b).filter(allowed).min_by_key(time);
    best.expect("any rank can be the root")
}

/// The search for the least time of one range after the other, in the order of the table.
#[derive(Default)]
struct Search {
    /// For the present a: the first place of each kind in which the root need not wait for its second child.
    between: usize,
    before: usize,
    behind: usize,
    /// For the present a: the places between from the crossing on, by T(a..r) - (beta - gamma) m_r.
    beyond: Window,
}

impl Search {
    fn least(&mut self, ranges: &Ranges, a: usize, b: usize) -> u64 {
        let time = |place: Place| place.time(ranges, a, b);
        let cost = ranges.cost();
        let least = if cost.gamma <= cost.beta {
            self.candidates(ranges, a, b).map(time).min()
        } else {
            places(a, b).map(time).min()
        };
        least.expect("there are places")
    }

    /// Some places, with a best one among them if gamma <= beta.
    fn candidates(&mut self, ranges: &Ranges, a: usize, b: usize) -> impl Iterator<Item = Place> {
        let all = ranges.below()[ranges.p()];
        let cost = *ranges.cost();
        let key =
            |rank| ranges.least(a, rank) + (cost.beta - cost.gamma) * (all - ranges.block(rank));
        if b == a + 2 {
            (self.between, self.before, self.behind) = (a, a + 2, a + 1);
            self.beyond = Window::default();
            self.beyond.push(a, key);
        }
        self.beyond.push(b - 1, key);
        let waits = |place: Place| {
            let (first, child) = place.ready(ranges, a, b);
            first < child
        };
        while waits(Between(self.between)) {
            self.between += 1;
        }
        while self.before + 1 < b && waits(Before(self.before)) {
            self.before += 1;
        }
        while self.behind + 2 < b && waits(Behind(self.behind)) {
            self.behind += 1;
        }
        let end = ranges.end_full(b);
        let window = self.beyond.least(|rank| rank < self.between);
        let between = [
            self.between.checked_sub(1),
            Some(self.between),
            end.checked_sub(1),
            window,
        ];
        let before = [self.before - 1, self.before, end];
        let behind = [self.behind - 1, self.behind, ranges.end_full(b - 1)];
        let between = between
            .into_iter()
            .flatten()
            .filter(move |rank| (a..b).contains(rank))
            .map(Between);
        let before = before
            .into_iter()
            .filter(move |k| (a + 2..b).contains(k))
            .map(Before);
        let behind = behind
            .into_iter()
            .filter(move |k| (a + 1..b - 1).contains(k))
            .map(Behind);
        between.chain(before).chain(behind)
    }
}
