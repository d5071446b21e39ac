//! Every member has a block for every member.
//!
//! On the circulant graph it is the halving reduce-scatter (J. L. Träff, arXiv 2410.14234) with blocks that lie side by
//! side in place of operands that are joined. With a larger radix there are fewer rounds of more messages, and a block
//! travels less often (J. Bruck et al., IEEE TPDS 8(11), 1997, section 3). In a grid, blocks go along one dimension
//! after the other. Among pairs of members, each has one partner after the other.

#![forbid(unsafe_code)]

use super::{Group, Join, Script, sub};
use crate::schedule::{Dimension, Grid, Steps};
use std::iter::repeat_n;
use std::ops::Range;

/// Writes everything for blocks of `elements` elements, with no messages of more than `most` elements unless a block
/// has more: in rounds of fewer messages than `radix` each, from 2 on. The first p blocks are those for the members
/// after this one, beginning with itself, and in the end those of the members before it; the others are places for
/// copies.
pub fn circulant_exchange(
    script: &mut Script,
    group: &Group,
    radix: u32,
    elements: u64,
    most: u64,
) {
    Rounds::new(group.p, radix).write(script, group, elements, most);
}

/// The same in a grid of the members, where [`Grid::after`] and [`Grid::before`] say who is after and before a member.
/// Along each dimension a member sends to every other one what is to go as far in it: on a hypercube, half of all
/// blocks in each of log2 p rounds (J. L. Träff, lecture on collective operations, "The power of the hypercube: Fewer
/// communication rounds").
pub fn grid_exchange(script: &mut Script, group: &Group, grid: &Grid, elements: u64, most: u64) {
    Rounds::along(grid, group.p).write(script, group, elements, most);
}

/// An exchange among some members in rounds of some messages each way.
///
/// A member has a *place* for each distance d: in the beginning with what goes d members further, in the end with what
/// comes from d members before. It goes by the skips whose sum is d, the largest first, and keeps its place on every
/// member. What has come in a round is kept apart until what was in its places has left.
pub(super) struct Rounds {
    rounds: Vec<Round>,
    /// Places that travel in a round, at the most.
    width: u32,
}

/// Every member sends to some that are further in a dimension.
struct Round {
    dimension: Dimension,
    messages: Vec<Message>,
}

/// To the member that is `skip` further.
struct Message {
    skip: u32,
    /// The places that travel.
    places: Vec<Range<u32>>,
}

impl Message {
    /// The places come in ascending order.
    fn add(&mut self, place: u32) {
        match self.places.last_mut() {
            Some(run) if run.end == place => run.end += 1,
            Some(_) | None => self.places.push(place..place + 1),
        }
    }
}

impl Rounds {
    /// Among `p` members, on the circulant graph: ceil(log2 p) rounds of one message with `radix` 2.
    pub(super) fn new(p: u32, radix: u32) -> Rounds {
        let dimension = Dimension { stride: 1, size: p };
        let mut rest: Vec<u32> = (0..p).collect();
        let mut widths: Vec<(u32, u32)> = Steps::new(p, radix).rounds().collect();
        widths.reverse();
        let round = |(width, messages)| {
            let message = |digit| Message {
                skip: digit * width,
                places: Vec::new(),
            };
            let mut messages: Vec<Message> = (1..=messages).map(message).collect();
            for (place, rest) in (0..p).zip(&mut rest) {
                let digit = *rest / width;
                if digit > 0 {
                    messages[digit as usize - 1].add(place);
                    *rest -= digit * width;
                }
            }
            Round {
                dimension,
                messages,
            }
        };
        Rounds::of(widths.into_iter().map(round).collect())
    }

    /// Among `p` members along the dimensions of a grid, a message for every other digit.
    fn along(grid: &Grid, p: u32) -> Rounds {
        let round = |dimension: Dimension| {
            let Dimension { stride, size } = dimension;
            let message = |skip| {
                // The places with the digit `skip`. The sizes of the grid have p as their product.
                let firsts = (0..p / (stride * size)).map(|i| (i * size + skip) * stride);
                Message {
                    skip,
                    places: firsts.map(|first| first..first + stride).collect(),
                }
            };
            Round {
                dimension,
                messages: (1..size).map(message).collect(),
            }
        };
        Rounds::of(grid.dimensions().map(round).collect())
    }

    fn of(rounds: Vec<Round>) -> Rounds {
        let travel = |round: &Round| round.messages.iter().map(|m| travel(&m.places)).sum();
        Rounds {
            width: rounds.iter().map(travel).max().unwrap_or(0),
            rounds,
        }
    }

    /// Writes a script of its own, for places of `elements` elements.
    fn write(&self, script: &mut Script, group: &Group, elements: u64, most: u64) {
        let blocks = group.p + self.copies();
        script.begin(most, repeat_n(elements, blocks as usize));
        self.exchange(script, group, 1, [0, group.p]);
    }

    /// For each message, how much further the places go that travel, and which these are, on the circulant graph.
    pub(super) fn travels(&self) -> impl Iterator<Item = (u32, impl Iterator<Item = u32> + Clone)> {
        let places = |message: &'_ Message| message.places.clone().into_iter().flatten();
        let messages = self.rounds.iter().flat_map(|round| &round.messages);
        messages.map(move |message| (message.skip, places(message)))
    }

    /// Places for copies: for two rounds each way, as the next message may come while the last one is taken apart.
    pub(super) fn copies(&self) -> u32 {
        4 * self.width
    }

    /// Adds it to a script, for places of `n` blocks from `first` on and copies from `spare` on.
    pub(super) fn exchange(
        &self,
        script: &mut Script,
        group: &Group,
        n: u32,
        [first, spare]: [u32; 2],
    ) {
        let at = |run: &Range<u32>| first + run.start * n..first + run.end * n;
        for (round, turn) in self.rounds.iter().zip((0..2).cycle()) {
            let Round {
                dimension,
                messages,
            } = round;
            let copies = |half: u32| spare + (half + turn) * self.width * n;
            // All leave before what comes is waited for.
            let mut next = copies(0);
            for Message { skip, places } in messages {
                let to = group.rank(dimension.turn(group.me, *skip));
                match &places[..] {
                    [run] => script.send(to, at(run)),
                    runs => {
                        let start = next;
                        next = side_by_side(runs.iter().map(at), start, |run, copy| {
                            script.fold(run.start, copy, Join::Store);
                        });
                        script.send(to, start..next);
                    }
                }
            }
            let mut next = copies(2);
            for Message { skip, places } in messages {
                let from = group.rank(dimension.turn(group.me, dimension.size - skip));
                let into = next..next + travel(places) * n;
                next = into.end;
                script.receive(from, into.clone(), Join::Store);
                side_by_side(places.iter().map(at), into.start, |run, copy| {
                    script.fold(copy.start, run, Join::Store);
                });
            }
        }
    }
}

/// Places of some runs.
fn travel(runs: &[Range<u32>]) -> u32 {
    runs.iter().map(|run| run.end - run.start).sum()
}

/// Calls `each` with each run of blocks and its copy, if these lie side by side from `first` on. The end of the copies.
fn side_by_side(
    runs: impl Iterator<Item = Range<u32>>,
    first: u32,
    mut each: impl FnMut(Range<u32>, Range<u32>),
) -> u32 {
    let mut start = first;
    for run in runs {
        let end = start + (run.end - run.start);
        each(run, start..end);
        start = end;
    }
    start
}

/// Adds everything for an area of p blocks for the members and, behind them, p blocks of the members. Each is one
/// message, or none if it is empty; the member's block for itself is left out. `copies`: what is received replaces what
/// is sent, so that blocks are copied to their places in the area before; so many copies may wait until they have
/// left besides the one that is replaced next.
///
/// In each round a member has a partner that has it as its own: a 1-factor of the complete graph (D. König, Theorie der
/// endlichen und unendlichen Graphen, 1936). So no order of messages is a circle. There are p - 1 rounds, or p if that
/// is odd.
pub fn pairs(script: &mut Script, group: &Group, copies: Option<u32>) {
    let p = group.p;
    let partners: Vec<u32> = partners(p, group.me).collect();
    let give = |script: &mut Script, other: u32| {
        if let Some(copies) = copies {
            script.copy(p + other, other..other + 1, copies);
        }
        script.send(group.rank(other), other..other + 1);
    };
    let ahead = copies.unwrap_or(0) as usize;
    let mut next = partners.iter();
    for &other in next.by_ref().take(ahead) {
        give(script, other);
    }
    for &partner in &partners {
        if let Some(&other) = next.next() {
            give(script, other);
        }
        let block = p + partner;
        script.receive(group.rank(partner), block..block + 1, Join::Store);
    }
}

/// The partners of a member, one after the other.
fn partners(p: u32, me: u32) -> impl Iterator<Item = u32> {
    let is_even = p.is_multiple_of(2);
    let (n, last) = (p - u32::from(is_even), p - 1);
    (0..n).filter_map(move |round| {
        if is_even && me == last {
            // Twice its number is that of the round.
            let half = u64::from(round) * u64::from(n.div_ceil(2));
            return Some((half % u64::from(n)) as u32);
        }
        match sub(round, me, n) {
            own if own == me => is_even.then_some(last),
            other => Some(other),
        }
    })
}
