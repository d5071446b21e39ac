//! Reductions over nodes that hold consecutive ranks, in the order of ranks: the leaders do what as many ranks would do
//! in their order, with what their nodes have.
//!
//! So any script that keeps the order of ranks is written for the numbers of the nodes. Behind these come the number of
//! the rank that is to have the result, and those of the ranks of the own node. In the end ranks take the place of the
//! numbers.

#![forbid(unsafe_code)]

use super::{Group, Join, Script, Source};
use std::ops::Range;

/// Who does what a rank does in a script that keeps the order of ranks, as one rank sees it: the ranks themselves, or
/// nodes.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    /// How many there are.
    pub p: u32,
    /// Which one this rank is, or has the leader of.
    pub me: u32,
    /// The place of this rank among those of its node, of which the first one leads. A rank for itself has place 0.
    pub place: u32,
    /// Ranks of the node that send each other messages: 1 where they share memory.
    pub width: u32,
}

impl Members {
    /// All of them, without their nodes.
    pub fn group(&self) -> Group<'static> {
        Group::all(self.p, self.me)
    }

    /// Does this rank take part for its node?
    pub fn leads(&self) -> bool {
        self.place == 0
    }

    /// The number of the rank at a place of this node that does not lead it.
    fn number(&self, place: u32) -> u32 {
        self.p + place
    }

    /// Adds that the leader joins what the ranks of its node have in the first blocks of the area, so many of them. Is
    /// this rank the leader, which goes on with the others?
    // It has messages where ranks share no memory only: that need not be in every script's code.
    #[inline(never)]
    pub fn join(&self, script: &mut Script, vector: u32) -> bool {
        for place in 1..self.width {
            if self.leads() {
                script.receive(self.number(place), 0..vector, Join::Right);
            } else if place == self.place {
                script.send(self.me, 0..vector);
            }
        }
        self.leads()
    }

    /// Adds that the leader sends the ranks of its node these blocks.
    // As above.
    #[inline(never)]
    pub fn hand_out(&self, script: &mut Script, blocks: Range<u32>) {
        for place in 1..self.width {
            if self.leads() {
                script.send(self.number(place), blocks.clone());
            } else if place == self.place {
                script.receive(self.me, blocks.clone(), Join::Store);
            }
        }
    }
}

impl Script {
    /// Puts ranks in the place of the numbers of nodes. The ranks of a node follow its `first` one; `root` is the one
    /// that is to have the result.
    pub fn name_ranks(&mut self, members: &Members, root: u32, first: &dyn Fn(u32) -> u32) {
        let name = |number: &mut u32| {
            *number = match *number {
                node if node < members.p => first(node),
                number if number == members.p => root,
                number => first(members.me) + number - members.p,
            };
        };
        self.sends.iter_mut().for_each(|send| name(&mut send.to));
        for take in &mut self.takes {
            if let Source::Rank(from) = &mut take.source {
                name(from);
            }
        }
    }
}
