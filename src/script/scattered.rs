//! Reduce-scatter of parts of any sizes: the all-broadcast of n blocks on the circulant graph (Träff, arXiv 2205.10072,
//! algorithm 9), backwards, as [`super::reduce`] is the broadcast backwards.
//!
//! Every member is the root of a reduction of its own part, and all of these go on in the same n - 1 + q rounds. If one
//! member has nearly everything, that is a reduction to it, and takes no longer than with equal parts. The operands come
//! in no order of ranks, so the operator must be commutative.

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
    /// Elements of each block: for each member, those of its part.
    counts: Vec<u64>,
    rounds: Vec<Round>,
    /// A message of fewer elements is short.
    short: u64,
}

/// What a member sends and gets in a round.
#[derive(Debug)]
struct Round {
    to: u32,
    sent: Vec<Range<u32>>,
    from: u32,
    got: Vec<Range<u32>>,
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
            Round {
                to: group.rank(to),
                sent,
                from: group.rank(from),
                got,
            }
        };
        let rounds = backwards.map(round).collect();
        Scattered {
            counts,
            rounds,
            short,
        }
    }

    /// The blocks of the area: those of all parts, and places for what is copied together.
    pub fn cut(&self) -> impl Iterator<Item = u64> {
        let copied = self.rounds.iter().flat_map(|round| {
            let both = [&round.sent, &round.got].into_iter();
            both.flat_map(|runs| self.copied(runs))
        });
        let places = copied.flat_map(|run| self.counts_of(run));
        self.counts.iter().chain(places).copied()
    }

    /// Adds everything to a script for an area that is cut so. The result is in the blocks of this member's part.
    pub fn write(&self, script: &mut Script) {
        let mut place = self.counts.len() as u32;
        for round in &self.rounds {
            let first = place;
            for run in self.copied(&round.sent) {
                let end = place + (run.end - run.start);
                script.fold(run.start, place..end, Join::Store);
                place = end;
            }
            script.send(round.to, first..place);
            for run in self.straight(&round.sent) {
                script.send(round.to, run.clone());
            }
            let mut from = place;
            place += (self.copied(&round.got))
                .map(|run| run.end - run.start)
                .sum::<u32>();
            script.receive(round.from, from..place, Join::Store);
            for run in self.copied(&round.got) {
                script.fold(from, run.clone(), Join::Right);
                from += run.end - run.start;
            }
            for run in self.straight(&round.got) {
                script.receive(round.from, run.clone(), Join::Right);
            }
        }
    }

    fn counts_of(&self, run: &Range<u32>) -> &[u64] {
        &self.counts[run.start as usize..run.end as usize]
    }

    fn is_short(&self, run: &Range<u32>) -> bool {
        self.counts_of(run).iter().sum::<u64>() < self.short
    }

    /// Are the short ones of these runs copied together?
    fn shares(&self, runs: &[Range<u32>]) -> bool {
        runs.iter().filter(|run| self.is_short(run)).count() > RUNS_MAX
    }

    /// The runs that are copied together.
    fn copied<'a>(&'a self, runs: &'a [Range<u32>]) -> impl Iterator<Item = &'a Range<u32>> {
        let shares = self.shares(runs);
        runs.iter().filter(move |run| shares && self.is_short(run))
    }

    /// The runs that are messages of their own.
    fn straight<'a>(&'a self, runs: &'a [Range<u32>]) -> impl Iterator<Item = &'a Range<u32>> {
        let shares = self.shares(runs);
        runs.iter()
            .filter(move |run| !shares || !self.is_short(run))
    }
}
