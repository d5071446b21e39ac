//! The ordered tree with the least completion time, by dynamic programming over ranges of ranks.
//!
//! The last message in a range a..b goes between two parts of it, a..k and k..b, and starts when both are ready. The
//! part that receives has two ranks at least; a single rank that receives copies its own block: meanwhile if it is
//! the first of the range, afterwards if it is the last. A given root never sends, which leaves one direction to
//! ranges around it.
//!
//! # O(p^2)
//!
//! Trying every k takes O(p^3) time. It can be less where no range takes longer than one that contains it. Let x be
//! the first k for which a..k takes as long as k..b: before x the upper part is waited for, from x on the lower one.
//!
//! * If the lower part sends, then from x on both terms of T(a..k) + c(S(a..k)) grow, so x is the best k. Before x,
//!   T(k..b) + beta S(0..k) decides, which does not depend on a. With falling a, x falls: a minimum over a sliding
//!   window for every b.
//! * If the upper part sends, then before x both terms of T(k..b) + c(S(k..b)) fall, so x - 1 is the best k. From x
//!   on, T(a..k) - beta S(0..k) decides, which does not depend on b. With rising b, x rises: a sliding window again.
//!
//! Nothing is sent for 0 bytes, so at the ends the alpha in c(s) may be missing. That makes a k best only if the first
//! or the last rank of the range has no block; then cutting off that rank alone is best, which is tried in any case.

#![forbid(unsafe_code)]

use std::ops::{Range, RangeInclusive};

use super::ranges::Ranges;
use super::window::Window;
use super::{Cost, Root, Tree};

/// The optimal ordered tree.
///
/// Takes O(p^2) time where no range takes longer than one that contains it: in all cases tried with gamma <= beta and
/// no empty block. Otherwise every k is tried from the first exception on, O(p^3) at worst. Takes 8 p^2 bytes as a
/// rule, 12 p^2 and a little more at most.
///
/// # Panics
/// If there is no rank, or not the given one.
pub fn optimal(blocks: &[u64], root: Root, cost: &Cost) -> Tree {
    let given = root.given(blocks.len());
    let mut search = Search::new(blocks.len(), given);
    let ranges = Ranges::new(blocks, *cost, |ranges, a, b| search.least(ranges, a, b));
    tree(blocks, &ranges, given)
}

/// How a..b comes together: from a..k and k..b, in this direction.
#[derive(Clone, Copy)]
struct Join {
    k: usize,
    upwards: bool,
}

/// The joins of a..b at k that the given root allows, with their times.
fn joins(
    ranges: &Ranges,
    given: Option<usize>,
    (a, b): (usize, usize),
    k: usize,
) -> impl Iterator<Item = (Join, u64)> {
    let (lower, upper) = (ranges.least(a, k), ranges.least(k, b));
    let up = match k + 1 == b {
        true => lower + ranges.message(a, k) + ranges.copy(k),
        false => lower.max(upper) + ranges.message(a, k),
    };
    let down = match k == a + 1 {
        true => upper.max(ranges.copy(a)) + ranges.message(k, b),
        false => upper.max(lower) + ranges.message(k, b),
    };
    let around = given.filter(|root| (a..b).contains(root));
    [(true, up), (false, down)]
        .into_iter()
        .filter(move |(upwards, _)| around.is_none_or(|root| (root >= k) == *upwards))
        .map(move |(upwards, time)| (Join { k, upwards }, time))
}

/// The least time of joins of a..b at `ks`, where `sent` chooses between the bytes of both parts. No single rank
/// receives.
fn least_join(
    ranges: &Ranges,
    (a, b): (usize, usize),
    ks: Range<usize>,
    sent: impl Fn(u64, u64) -> u64,
) -> u64 {
    if ks.is_empty() {
        return u64::MAX;
    }
    let cost = ranges.cost();
    let (start, end) = (ranges.below()[a], ranges.below()[b]);
    let times = ranges.row(a)[ks.clone()]
        .iter()
        .zip(&ranges.row(b)[ks.clone()]);
    let joins = times.zip(&ranges.below()[ks]);
    joins.fold(u64::MAX, |least, ((&lower, &upper), &sum)| {
        least.min(lower.max(upper) + cost.message(sent(sum - start, end - sum)))
    })
}

/// The search for the least time of one range after the other, in the order of the table.
struct Search {
    given: Option<usize>,
    /// For the present a: the first k for which a..k takes as long as k..b.
    cross: usize,
    /// For every b: the ks before the crossing, by T(k..b) + beta S(0..k).
    before: Vec<Window>,
    /// For the present a: the ks from the crossing on, by T(a..k) - beta S(0..k).
    beyond: Window,
}

impl Search {
    fn new(p: usize, given: Option<usize>) -> Search {
        Search {
            given,
            cross: 0,
            before: vec![Window::default(); p + 1],
            beyond: Window::default(),
        }
    }

    fn least(&mut self, ranges: &Ranges, a: usize, b: usize) -> u64 {
        let given = self.given;
        let time = |k| joins(ranges, given, (a, b), k).map(|(_, time)| time).min();
        let time = |ks: &[Option<usize>]| ks.iter().flatten().filter_map(|&k| time(k)).min();
        if ranges.is_monotone() {
            let least = time(&self.candidates(ranges, a, b));
            return least.expect("a best join is among the candidates");
        }
        // Every k. Only at the ends a single rank may receive.
        let ends = time(&[Some(a + 1), Some(b - 1)]).unwrap_or(u64::MAX);
        let all = a + 2..b - 1;
        ends.min(match given.filter(|root| (a..b).contains(root)) {
            Some(root) => {
                let up = least_join(ranges, (a, b), a + 2..b.min(root + 2) - 1, |lower, _| lower);
                let down = least_join(
                    ranges,
                    (a, b),
                    all.start.max(root + 1)..all.end,
                    |_, upper| upper,
                );
                up.min(down)
            }
            None => least_join(ranges, (a, b), all, u64::min),
        })
    }

    /// Some ks, with a best one among them if the table is monotone.
    fn candidates(&mut self, ranges: &Ranges, a: usize, b: usize) -> [Option<usize>; 6] {
        if b == a + 2 {
            self.cross = a + 1;
            self.beyond = Window::default();
        }
        while ranges.least(a, self.cross) < ranges.least(self.cross, b) {
            self.cross += 1;
        }
        let cross = self.cross;
        // Where the lower part may send, and where the upper one, to two ranks or more.
        let (up, down) = match self.given.filter(|root| (a..b).contains(root)) {
            Some(root) => (a + 1..=root.min(b - 2), (a + 2).max(root + 1)..=b - 1),
            None => (a + 1..=b - 2, a + 2..=b - 1),
        };

        let beta = ranges.cost().beta;
        let before = &mut self.before[b];
        before.push(a + 1, |k| ranges.least(k, b) + beta * ranges.below()[k]);
        let all = ranges.below()[ranges.p()];
        self.beyond.push(b - 1, |k| {
            ranges.least(a, k) + beta * (all - ranges.below()[k])
        });
        [
            // A single rank receives.
            Some(a + 1),
            Some(b - 1),
            // The lower part sends.
            before.least(|k| k >= cross || k > *up.end()),
            nearest(cross, &up),
            // The upper part sends.
            self.beyond.least(|k| k < cross || k < *down.start()),
            nearest(cross - 1, &down),
        ]
    }
}

/// The k of the range that is nearest to the wanted one.
fn nearest(k: usize, range: &RangeInclusive<usize>) -> Option<usize> {
    (!range.is_empty()).then(|| k.clamp(*range.start(), *range.end()))
}

/// The tree behind the time of the whole range.
fn tree(blocks: &[u64], ranges: &Ranges, given: Option<usize>) -> Tree {
    let p = blocks.len();
    let mut splits = Vec::new();
    let mut todo = vec![(0, p)];
    while let Some((a, b)) = todo.pop() {
        if b - a > 1 {
            let mut ways = (a + 1..b).flat_map(|k| joins(ranges, given, (a, b), k));
            let best = ways.find(|(_, time)| *time == ranges.least(a, b));
            let (join, _) = best.expect("some join has the least time");
            splits.push((a, join));
            todo.extend([(a, join.k), (join.k, b)]);
        }
    }
    // From parts to wholes: the root of the present range that begins with a rank.
    let mut root: Vec<usize> = (0..p).collect();
    let mut received = Vec::new();
    for &(a, Join { k, upwards }) in splits.iter().rev() {
        let (to, from) = if upwards {
            (root[k], root[a])
        } else {
            (root[a], root[k])
        };
        received.push((to, from));
        root[a] = to;
    }
    Tree::from_joins(root[0], blocks, &received)
}
