//! Reduce-scatter of parts of any sizes: the all-broadcast of n blocks on the circulant graph (Träff, arXiv 2205.10072,
//! algorithm 9), backwards, as [`super::reduce`] is the broadcast backwards.
//!
//! Every member is the root of a reduction of its own part, and all of these go on in the same n - 1 + q rounds. If one
//! member has nearly everything, that is a reduction to it, and takes no longer than with equal parts. The operands
//! come in no order of ranks, so the operator must be commutative.

#![forbid(unsafe_code)]

use super::{Group, Join, Script, share, sub};
use crate::schedule::{Circulant, Rounds};
use std::ops::Range;

/// Runs of blocks that go to the same rank in a round are sent from where they are up to so many: more of them are
/// copied together, unless they are long.
const RUNS_MAX: usize = 2;

/// What one member does: made from the sizes of all parts, and then written into a script.
#[derive(Debug)]
pub struct Scattered {
    /// Elements of each block: for each member those of its part, and then those of places for copies.
    counts: Vec<u64>,
    rounds: Vec<Round>,
}

/// What a member sends and gets in a round.
#[derive(Debug)]
struct Round {
    to: u32,
    sent: Runs,
    from: u32,
    got: Runs,
}

/// Runs of blocks that go one way in a round.
#[derive(Debug, Default)]
struct Runs {
    /// Those that are copied together.
    copied: Vec<Range<u32>>,
    /// The places for them.
    places: Range<u32>,
    /// Those that are messages of their own.
    straight: Vec<Range<u32>>,
}

/// Adds a block to runs of blocks; what is empty in between does not part them.
fn extend(runs: &mut Vec<Range<u32>>, block: u32, counts: &[u64]) {
    let is_empty = |block: u32| counts[block as usize] == 0;
    if is_empty(block) {
        return;
    }
    match runs.last_mut() {
        Some(run) if (run.end..block).all(is_empty) => run.end = block + 1,
        Some(_) | None => runs.push(block..block + 1),
    }
}

impl Scattered {
    /// What the member `group.me` does for parts of so many elements, each cut into as many segments. Runs of blocks of
    /// fewer than `short` elements share a message. All members must say the same.
    pub fn new(
        group: &Group,
        graph: &Circulant,
        segments: u32,
        parts: impl Iterator<Item = u64>,
        short: u64,
    ) -> Scattered {
        let &Group { p, me, .. } = group;
        let q = graph.q();
        let mut roots = Vec::new();
        let mut counts = Vec::new();
        let (mut receive, mut send) = (Vec::new(), Vec::new());
        for (root, part) in (0..p).zip(parts) {
            counts.extend((0..segments).map(|i| share(part, segments, i)));
            if part > 0 {
                let relative = sub(me, root, p);
                let entries = roots.len() * q;
                receive.resize(entries + q, 0);
                send.resize(entries + q, 0);
                graph.recv(relative, &mut receive[entries..]);
                graph.send(relative, &mut send[entries..]);
                roots.push(root);
            }
        }
        let rounds = Rounds::new(q, segments);
        let backwards = (rounds.first()..rounds.first() + rounds.count()).rev();
        let round = |number| {
            let (k, phase) = ((number % q as u64) as usize, (number / q as u64) as u32);
            let skip = graph.skips()[k];
            let (to, from) = (sub(me, skip, p), super::add(me, skip, p));
            let (mut sent, mut got) = (Vec::new(), Vec::new());
            for (i, &root) in roots.iter().enumerate() {
                // The root of a broadcast gets nothing, so here it sends nothing.
                if root != me
                    && let Some(block) = rounds.block(receive[i * q + k], k, phase)
                {
                    extend(&mut sent, root * segments + block, &counts);
                }
                if root != from
                    && let Some(block) = rounds.block(send[i * q + k], k, phase)
                {
                    extend(&mut got, root * segments + block, &counts);
                }
            }
            (group.rank(to), sent, group.rank(from), got)
        };
        let rounds: Vec<_> = backwards.map(round).collect();
        let mut places = CopyPlaces::new(&mut counts, short);
        let rounds = rounds.into_iter().map(|(to, sent, from, got)| Round {
            to,
            sent: places.of(sent),
            from,
            got: places.of(got),
        });
        let rounds = rounds.collect();
        Scattered { counts, rounds }
    }

    /// The blocks of the area: those of all parts, and places for copies. These are vectors of as many elements, and
    /// blocks that share a message are in one of them.
    pub fn cut(&self) -> impl Iterator<Item = u64> {
        self.counts.iter().copied()
    }

    /// Adds everything to a script for an area that is cut so. The result is in the blocks of this member's part.
    pub fn write(&self, script: &mut Script) {
        for Round {
            to,
            sent,
            from,
            got,
        } in &self.rounds
        {
            sent.with_places(|run, places| script.fold(run.start, places, Join::Store));
            script.send(*to, sent.places.clone());
            for run in &sent.straight {
                script.send(*to, run.clone());
            }
            script.receive(*from, got.places.clone(), Join::Store);
            got.with_places(|run, places| script.fold(places.start, run, Join::Left));
            for run in &got.straight {
                script.receive(*from, run.clone(), Join::Left);
            }
        }
    }
}

impl Runs {
    /// Calls `run` with each run that is copied, and its places.
    fn with_places(&self, mut run: impl FnMut(Range<u32>, Range<u32>)) {
        let mut place = self.places.start;
        for blocks in &self.copied {
            let end = place + (blocks.end - blocks.start);
            run(blocks.clone(), place..end);
            place = end;
        }
    }
}

/// Gives places to runs of blocks, behind all blocks.
struct CopyPlaces<'a> {
    counts: &'a mut Vec<u64>,
    short: u64,
    /// Elements of all parts together.
    vector: u64,
    /// Elements of the last vector of places that have no place yet.
    left: u64,
}

impl CopyPlaces<'_> {
    fn new(counts: &mut Vec<u64>, short: u64) -> CopyPlaces<'_> {
        let vector = counts.iter().sum();
        CopyPlaces {
            counts,
            short,
            vector,
            left: vector,
        }
    }

    fn of(&mut self, runs: Vec<Range<u32>>) -> Runs {
        let elements = |counts: &[u64], run: &Range<u32>| -> u64 {
            counts[run.start as usize..run.end as usize].iter().sum()
        };
        let is_short = |run: &Range<u32>| elements(self.counts, run) < self.short;
        let (copied, straight): (Vec<_>, Vec<_>) = runs.into_iter().partition(is_short);
        if copied.len() <= RUNS_MAX {
            let mut straight = [copied, straight].concat();
            straight.sort_unstable_by_key(|run| run.start);
            return Runs {
                straight,
                ..Runs::default()
            };
        }
        // Elements of some types lie between each other, and no more of them can than the vectors of the call have. No
        // block comes twice in a round, so there is room.
        let all: u64 = copied.iter().map(|run| elements(self.counts, run)).sum();
        if all > self.left {
            self.counts.push(self.left);
            self.left = self.vector;
        }
        self.left -= all;
        let first = self.counts.len() as u32;
        for run in &copied {
            self.counts
                .extend_from_within(run.start as usize..run.end as usize);
        }
        Runs {
            copied,
            places: first..self.counts.len() as u32,
            straight,
        }
    }
}
