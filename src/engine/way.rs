//! Ways of blocks: what the algorithms of broadcasts and of all-broadcasts come to.

#![forbid(unsafe_code)]

use super::{Part, Pattern, Schedules, cut_alike, cut_long};
use crate::schedule::{Circulant, Hypercube, Moves, Rounds, Shape, Steps};

/// How blocks go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As [`Pattern::Circulant`].
    Circulant,
    /// As [`Pattern::Bruck`].
    Bruck,
    /// As [`Pattern::Ring`].
    Ring,
    /// Down a tree of this shape.
    Tree(Shape),
    /// As [`Pattern::Relay`].
    Relay,
    /// As [`Pattern::Hypercube`].
    Hypercube,
    /// In these steps.
    Moves(Moves),
}

/// Those between whom a pattern runs, all ranks or nodes.
pub struct Members<'a> {
    /// Their graph, which says how many they are.
    pub graph: Circulant,
    /// This one.
    pub me: u32,
    /// Those with a part, ascending.
    pub contributors: &'a [u32],
    /// See [`Steps::new`].
    pub radix: u32,
}

impl Way {
    /// Is there a part of every member, which travels whole? Else there are those of contributors, cut alike.
    pub fn has_part_of_each(self) -> bool {
        match self {
            Way::Bruck | Way::Ring => true,
            Way::Moves(moves) => !moves.has_one_part(),
            Way::Circulant | Way::Tree(_) | Way::Relay | Way::Hypercube => false,
        }
    }

    /// Cuts the parts of the members, of `n` in all, into blocks: each, or the longest, into so many.
    pub fn cut(
        self,
        blocks: u32,
        (n, contributors): (u32, &[u32]),
        len: impl Fn(u32) -> u64 + Clone,
        cut: &mut Vec<Part>,
    ) {
        match self.has_part_of_each() {
            true => cut_long((0..n).map(len), blocks, cut),
            false => {
                let parts = contributors.iter().map(|&member| (member, len(member)));
                cut_alike(parts, blocks, cut);
            }
        }
    }

    /// The order in which the blocks of each contributor go this way.
    pub fn pattern<'a>(
        self,
        blocks: u32,
        members: &Members,
        schedules: &'a mut Schedules,
    ) -> Pattern<'a> {
        let Members {
            graph,
            me,
            contributors,
            radix,
        } = *members;
        match self {
            Way::Circulant => {
                let entries = match *contributors {
                    [root] => schedules.of_root(&graph, me, root),
                    _ => schedules.of_roots(&graph, me, contributors),
                };
                Pattern::Circulant(Rounds::new(graph.q(), blocks), entries)
            }
            Way::Bruck => Pattern::Bruck(Steps::new(graph.p(), radix)),
            Way::Ring => Pattern::Ring,
            Way::Tree(shape) => {
                Pattern::Tree(schedules.of_tree(shape, graph.p(), me, contributors[0]))
            }
            Way::Relay => Pattern::Relay,
            Way::Hypercube => Pattern::Hypercube(Hypercube::new(graph.p(), blocks)),
            Way::Moves(moves) => Pattern::Moves(moves),
        }
    }

    /// How blocks that came to a node in this way go on from its leader, by messages: there they have a root. `latency`
    /// is as in [`Shape::Postal`], inside the node.
    pub fn inside(self, latency: impl FnOnce() -> u32) -> Way {
        match self {
            Way::Tree(Shape::Postal(_)) => Way::Tree(Shape::Postal(latency())),
            Way::Circulant
            | Way::Bruck
            | Way::Ring
            | Way::Relay
            | Way::Tree(_)
            | Way::Hypercube
            | Way::Moves(_) => Way::Circulant,
        }
    }
}
