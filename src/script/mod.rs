//! What one rank does in a reduction, a scan, a barrier or an exchange, step by step: which blocks it sends to whom,
//! and how what comes joins what it has.
//!
//! Integers in, steps out: no messages, no buffers, no operators. A script is right if all ranks carry out theirs; that
//! is tested with an operator that shows the order of its operands (`tests/script`).
//!
//! # Words
//!
//! A rank works on an area of elements, cut into blocks. A *take* puts something into some of these blocks: what
//! another rank sent, or other blocks of the area. Takes are carried out in the order in which they are written,
//! whenever their messages come, so that a result has the same bits in every run. A send leaves once the takes before
//! it that concern its blocks are done, so blocks travel while others are still to come.

#![forbid(unsafe_code)]

mod census;
mod circulant;
mod dual_root;
mod fold;
mod gather;
mod grid_scan;
mod halving;
mod irregular_exchange;
mod lanes;
mod node_exchange;
mod node_order;
mod node_scan;
mod ordered;
mod recursive_doubling;
mod ring;
mod scan;
mod scattered;
mod split;
mod spread;
mod total_exchange;
mod tree_scan;
mod trees;

pub use census::{census, census_places, disseminate};
pub use circulant::{reduce, reduce_broadcast};
pub use dual_root::dual_root;
pub use fold::Fold;
pub use gather::{GatherNodes, GatherTree, gather, gather_cut, spread_vectors};
pub use grid_scan::{GRID_PLACES, grid_scan};
pub use halving::{fullest_rounds, halving};
pub use irregular_exchange::IrregularExchange;
pub use lanes::{LaneLeaders, Lanes, Leaders};
pub use node_exchange::{Hop, NodeExchange};
pub use node_order::Members;
pub use node_scan::NodeScan;
pub use ordered::{Shares, collect, ordered, reduced_by};
pub use recursive_doubling::recursive_doubling;
pub use ring::{ring, ring_scatter};
pub use scan::{Prefix, chain, doubling};
pub use scattered::Scattered;
pub use split::{split, split_cut};
pub use spread::{dissemination, spread};
pub use total_exchange::{circulant_exchange, grid_exchange, pairs};
pub use tree_scan::tree_scan;
pub use trees::{broadcast_tree, hand_over, reduce_tree};

use std::ops::Range;

/// How what comes joins what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// It replaces it.
    Store,
    /// It is the left operand, of lower ranks if order matters.
    Left,
    /// It is the right operand.
    Right,
}

/// From where something comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A message of this rank.
    Rank(u32),
    /// As many blocks of the area from this one on.
    Blocks(u32),
}

/// Puts something into blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Take {
    /// From where.
    pub source: Source,
    /// Into which blocks.
    pub blocks: Range<u32>,
    /// How.
    pub join: Join,
    /// So many sends, counted in their order, must have left the blocks before.
    pub clear: u32,
    /// So many takes, counted in their order, concern the blocks before: until they are done, nothing may be received
    /// there.
    pub after: u32,
}

/// Sends blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Send {
    /// To this rank.
    pub to: u32,
    /// These blocks.
    pub blocks: Range<u32>,
    /// So many takes, counted in their order, must be done before.
    pub after: u32,
}

/// An area cut into blocks: where each begins, in elements, and where the last one ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    firsts: Vec<u64>,
}

impl Cut {
    /// Blocks of these numbers of elements, one behind the other.
    pub fn set(&mut self, counts: impl Iterator<Item = u64>) {
        self.firsts.clear();
        self.firsts.push(0);
        let mut end = 0;
        self.firsts.extend(counts.map(|count| {
            end += count;
            end
        }));
    }

    /// The same as a new one.
    pub fn of(counts: impl Iterator<Item = u64>) -> Cut {
        let mut cut = Cut::default();
        cut.set(counts);
        cut
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> u32 {
        self.firsts.len().saturating_sub(1) as u32
    }

    /// The elements of some blocks.
    pub fn elements(&self, blocks: &Range<u32>) -> Range<u64> {
        self.firsts[blocks.start as usize]..self.firsts[blocks.end as usize]
    }

    /// How many these are.
    pub fn count(&self, blocks: &Range<u32>) -> u64 {
        let elements = self.elements(blocks);
        elements.end - elements.start
    }

    /// Elements of the longest block.
    pub fn longest(&self) -> u64 {
        let blocks = self.firsts.windows(2).map(|ends| ends[1] - ends[0]);
        blocks.max().unwrap_or(0)
    }

    /// All elements of the area.
    pub fn total(&self) -> u64 {
        self.firsts.last().copied().unwrap_or(0)
    }
}

/// Cuts `count` elements into `n` blocks that differ by one at the most: how many are in block `i`.
pub fn share(count: u64, n: u32, i: u32) -> u64 {
    let n = u64::from(n);
    count / n + u64::from(u64::from(i) < count % n)
}

/// What one rank does.
#[derive(Clone, Debug, Default)]
pub struct Script {
    cut: Cut,
    sends: Vec<Send>,
    takes: Vec<Take>,
    /// The elements that are the result, if it is not the whole area.
    results: Vec<Range<u64>>,
    /// For each block: takes and sends that concerned it so far, counted up to the last one.
    last: Vec<(u32, u32)>,
    /// No message has more elements, unless a block has.
    most: u64,
    /// What is sent now leaves after so many takes, whatever its blocks are.
    floor: u32,
    /// See [`Script::crowd`].
    crowd: u32,
}

impl Script {
    /// Begins a script for an area that is cut so, with no messages of more than `most` elements unless a block has
    /// more. Both ends of every message must be told the same of its blocks.
    pub fn begin(&mut self, most: u64, counts: impl Iterator<Item = u64>) {
        self.cut.set(counts);
        self.sends.clear();
        self.takes.clear();
        self.results.clear();
        self.last.clear();
        self.last.resize(self.cut.blocks() as usize, (0, 0));
        self.most = most.max(1);
        self.floor = 0;
        self.crowd = 0;
    }

    /// Ranks that may send to a rank to which this one sends; 0: as many as this one sends to.
    pub fn crowd(&self) -> u32 {
        self.crowd
    }

    /// Says so.
    pub fn set_crowd(&mut self, senders: u32) {
        self.crowd = senders;
    }

    /// What is sent from here on leaves after all takes before.
    pub fn wait(&mut self) {
        self.floor = self.takes.len() as u32;
    }

    /// The cut of the area.
    pub fn cut(&self) -> &Cut {
        &self.cut
    }

    /// All sends, in order.
    pub fn sends(&self) -> &[Send] {
        &self.sends
    }

    /// All takes, in order.
    pub fn takes(&self) -> &[Take] {
        &self.takes
    }

    /// The elements that are the result, one behind the other.
    pub fn results(&self) -> &[Range<u64>] {
        &self.results
    }

    /// These blocks are what comes next in the result.
    pub fn result(&mut self, blocks: Range<u32>) {
        self.result_elements(self.cut.elements(&blocks));
    }

    /// These elements are.
    pub fn result_elements(&mut self, elements: Range<u64>) {
        self.results.push(elements);
    }

    /// Elements of the longest message.
    pub fn longest(&self) -> u64 {
        let sends = self.sends.iter().map(|send| &send.blocks);
        let takes = self.takes.iter().map(|take| &take.blocks);
        let counts = sends.chain(takes).map(|blocks| self.cut.count(blocks));
        counts.max().unwrap_or(0)
    }

    /// Sends these blocks, which lie side by side, in as many messages as their elements ask for. Empty blocks do not
    /// travel.
    pub fn send(&mut self, to: u32, blocks: Range<u32>) {
        let mut rest = blocks;
        while let Some(blocks) = self.next(&mut rest) {
            let after = self.concerned(&blocks).map(|(takes, _)| takes).max();
            self.sends.push(Send {
                to,
                blocks: blocks.clone(),
                after: after.unwrap_or(0).max(self.floor),
            });
            let number = self.sends.len() as u32;
            for last in &mut self.last[blocks.start as usize..blocks.end as usize] {
                last.1 = number;
            }
        }
    }

    /// Receives these blocks, which lie side by side.
    pub fn receive(&mut self, from: u32, blocks: Range<u32>, join: Join) {
        let mut rest = blocks;
        while let Some(blocks) = self.next(&mut rest) {
            self.take(Source::Rank(from), blocks, join);
        }
    }

    /// Takes as many blocks of the area from `first` on. As a right operand they are used up.
    pub fn fold(&mut self, first: u32, blocks: Range<u32>, join: Join) {
        let elements = self.cut.count(&blocks);
        debug_assert_eq!(
            elements,
            self.cut.count(&(first..first + blocks.end - blocks.start))
        );
        if elements > 0 {
            self.take(Source::Blocks(first), blocks, join);
        }
    }

    /// Copies as many blocks of the area from `first` on, as soon as all sends so far but the last `most` have left.
    pub fn copy(&mut self, first: u32, blocks: Range<u32>, most: u32) {
        let number = self.takes.len();
        self.fold(first, blocks, Join::Store);
        let sends = (self.sends.len() as u32).saturating_sub(most);
        if let Some(take) = self.takes.get_mut(number) {
            take.clear = take.clear.max(sends);
        }
    }

    /// The next blocks for a message.
    fn next(&self, rest: &mut Range<u32>) -> Option<Range<u32>> {
        while rest.start < rest.end && self.cut.count(&(rest.start..rest.start + 1)) == 0 {
            rest.start += 1;
        }
        if rest.start >= rest.end {
            return None;
        }
        let start = rest.start;
        let mut end = start + 1;
        while end < rest.end && self.cut.count(&(start..end + 1)) <= self.most {
            end += 1;
        }
        rest.start = end;
        Some(start..end)
    }

    fn take(&mut self, source: Source, blocks: Range<u32>, join: Join) {
        let (mut clear, mut after) = (0, 0);
        for (takes, sends) in self.concerned(&blocks) {
            clear = clear.max(sends);
            after = after.max(takes);
        }
        let number = self.takes.len() as u32 + 1;
        for last in &mut self.last[blocks.start as usize..blocks.end as usize] {
            last.0 = number;
        }
        // What is read may not be overwritten by what is received later.
        if let Source::Blocks(first) = source {
            let end = first + blocks.end - blocks.start;
            for last in &mut self.last[first as usize..end as usize] {
                last.0 = number;
            }
        }
        self.takes.push(Take {
            source,
            blocks,
            join,
            clear,
            after,
        });
    }

    fn concerned(&self, blocks: &Range<u32>) -> impl Iterator<Item = (u32, u32)> {
        let last = &self.last[blocks.start as usize..blocks.end as usize];
        last.iter().copied()
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.cut.firsts.capacity() * size_of::<u64>()
            + self.sends.capacity() * size_of::<Send>()
            + self.takes.capacity() * size_of::<Take>()
            + self.last.capacity() * size_of::<(u32, u32)>()
            + self.results.capacity() * size_of::<Range<u64>>()
    }
}

/// A group of ranks that carry something out among themselves: who they are, and which one this rank is.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// Its members as ranks of the communicator; `None`: all of these.
    pub members: Option<&'a [u32]>,
    /// How many there are.
    pub p: u32,
    /// Which one this rank is.
    pub me: u32,
}

impl Group<'_> {
    /// All ranks of a communicator.
    pub fn all(p: u32, rank: u32) -> Group<'static> {
        Group {
            members: None,
            p,
            me: rank,
        }
    }

    /// The rank of the member that is `distance` after this one.
    fn after(&self, distance: u32) -> u32 {
        self.rank(add(self.me, distance, self.p))
    }

    /// The rank of the member that is `distance` before this one.
    fn before(&self, distance: u32) -> u32 {
        self.rank(sub(self.me, distance, self.p))
    }

    /// The rank of a member.
    fn rank(&self, member: u32) -> u32 {
        match self.members {
            Some(members) => members[member as usize],
            None => member,
        }
    }
}

/// a + b mod p, of numbers below p, or p itself.
fn add(a: u32, b: u32, p: u32) -> u32 {
    debug_assert!(a <= p && b <= p, "{a} + {b} mod {p}");
    // A division would take ten times as long, and scripts have several for each message.
    let (sum, p) = (u64::from(a) + u64::from(b), u64::from(p));
    let rest = match sum {
        _ if sum >= 2 * p => sum - 2 * p,
        _ if sum >= p => sum - p,
        _ => sum,
    };
    rest as u32
}

/// a - b mod p.
fn sub(a: u32, b: u32, p: u32) -> u32 {
    debug_assert!(b <= p, "{a} - {b} mod {p}");
    add(a, p - b, p)
}

/// Calls `run` with ranges that together are the members `start`, `start + 1`, ... mod p, `count` of them.
fn around(start: u32, count: u32, p: u32, mut run: impl FnMut(Range<u32>)) {
    if count == 0 {
        return;
    }
    let end = u64::from(start) + u64::from(count);
    if end <= u64::from(p) {
        run(start..start + count);
    } else {
        run(start..p);
        run(0..(end - u64::from(p)) as u32);
    }
}

/// Calls `run` with the blocks of the members `start`, `start + 1`, ... mod p, `count` of them: those of the last ones
/// first, as many at a time as share a message.
fn backwards<I: Iterator<Item = Range<u32>>>(
    script: &mut Script,
    (start, count, p): (u32, u32, u32),
    blocks: impl Fn(Range<u32>) -> I,
    mut run: impl FnMut(&mut Script, Range<u32>),
) {
    let mut ranges = [0..0, 0..0];
    let mut found = 0;
    around(start, count, p, |members| {
        ranges[found] = members;
        found += 1;
    });
    for members in ranges.into_iter().rev() {
        let mut end = members.end;
        while end > members.start {
            let fits = |first: u32| {
                let count = blocks(first..end).map(|blocks| script.cut.count(&blocks));
                count.sum::<u64>() <= script.most
            };
            let first = match fits(members.start) {
                true => members.start,
                false => {
                    let mut first = end - 1;
                    while first > members.start && fits(first - 1) {
                        first -= 1;
                    }
                    first
                }
            };
            for blocks in blocks(first..end) {
                run(script, blocks);
            }
            end = first;
        }
    }
}

/// The skips of the circulant graph of p ranks, largest first: pairs (skip[k], skip[k + 1]).
fn skips(p: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut high = p;
    std::iter::from_fn(move || {
        (high > 1).then(|| {
            let low = high.div_ceil(2);
            let pair = (low, high);
            high = low;
            pair
        })
    })
}
