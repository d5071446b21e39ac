//! Reductions over nodes, so that what a node sends is reduced inside it before.
//!
//! With *lanes*, each rank of a node reduces a slice of the vectors of its node and exchanges it with the ranks of the
//! same place on the other nodes: every rank works, and every byte crosses a link once each way (J. L. Träff, S.
//! Hunold, "Decomposing MPI collectives for exploiting multi-lane communication", IEEE CLUSTER 2020, the full-lane
//! algorithms). With *leaders*, one rank of each node reduces what the node has. In a reduction to a root there may be
//! leaders of several lanes, which do so block by block, while earlier blocks travel. A commutative operator is needed
//! for all of them.

#![forbid(unsafe_code)]

use super::circulant::order;
use super::{Group, Join, Script, halving, reduce, spread};
use crate::schedule::{Circulant, Steps};
use std::iter::once;
use std::ops::Range;

/// The nodes of a communicator, all with as many ranks, as one rank sees them.
#[derive(Clone, Copy, Debug)]
pub struct Lanes<'a> {
    /// The ranks of this rank's node, and which of them it is.
    pub node: Group<'a>,
    /// The ranks that are in the same place on their nodes, and which of them it is.
    pub lane: Group<'a>,
}

impl<'a> Lanes<'a> {
    /// Adds a reduction of which every rank has the result. The area has a slice for each place of a node, of that a
    /// part for each node, and of that so many segments. `radix` says in how many messages at a time parts are spread
    /// among so many ranks.
    pub fn allreduce(&self, script: &mut Script, segments: u32, radix: impl Fn(u32) -> u32) {
        let (nodes, place) = (self.lane.p, self.node.me);
        let slice = nodes * segments;
        let slices = |places: Range<u32>| once(places.start * slice..places.end * slice);
        let parts = |nodes: Range<u32>| {
            let first = place * slice;
            once(first + nodes.start * segments..first + nodes.end * segments)
        };
        let steps = |group: &Group| Steps::new(group.p, radix(group.p));
        halving(script, &self.node, slices);
        halving(script, &self.lane, parts);
        spread(script, &self.lane, &steps(&self.lane), parts);
        spread(script, &self.node, &steps(&self.node), slices);
    }

    /// The node as it is where its ranks share memory: what they have is reduced before, and handed out behind.
    pub fn without_node(self) -> Lanes<'a> {
        Lanes {
            node: Group { p: 1, ..self.node },
            ..self
        }
    }

    /// Adds a reduction of which every rank has its own part. The area has a slice for each place of a node, of that
    /// the part of the rank there on each node, and of that so many segments. The blocks of this rank's own part.
    pub fn reduce_scatter(&self, script: &mut Script, segments: u32) -> Range<u32> {
        let (nodes, place) = (self.lane.p, self.node.me);
        let slice = nodes * segments;
        let first = place * slice;
        halving(script, &self.node, |places: Range<u32>| {
            once(places.start * slice..places.end * slice)
        });
        halving(script, &self.lane, |nodes: Range<u32>| {
            once(first + nodes.start * segments..first + nodes.end * segments)
        });
        let own = first + self.lane.me * segments;
        own..own + segments
    }
}

/// The nodes of a communicator, some ranks of each of which send to others, each a slice of the vectors, as one rank
/// sees them. Nodes may have different numbers of ranks.
#[derive(Clone, Copy, Debug)]
pub struct LaneLeaders<'a> {
    /// Those of each lane, one of each node. The first lane has the root.
    pub lanes: &'a [Vec<u32>],
    /// This rank's node.
    pub node: u32,
    /// The ranks of this rank's node; none where they share memory.
    pub locals: &'a [u32],
    /// This rank.
    pub rank: u32,
}

impl LaneLeaders<'_> {
    /// The leader of a lane on this rank's node.
    fn leader(&self, lane: u32) -> u32 {
        self.lanes[lane as usize][self.node as usize]
    }

    /// The lane that this rank leads.
    pub fn led(&self) -> Option<u32> {
        (0..self.lanes.len() as u32).find(|&lane| self.leader(lane) == self.rank)
    }

    /// Adds the reduction of all blocks of the area to the root, which is on the node `home`. The area has a slice for
    /// each lane, and of that as many blocks.
    ///
    /// What ranks of a node have of a block comes to the leaders of all lanes before the first of them sends or
    /// receives in the round in which the block is on: so ranks that send in order never wait for each other in a
    /// circle, however few messages may be under way.
    pub fn reduce(&self, script: &mut Script, home: u32) {
        let lanes = self.lanes.len() as u32;
        let n = script.cut().blocks() / lanes;
        let nodes = self.lanes[0].len() as u32;
        let graph = Circulant::new(nodes);
        let slice = |lane: u32| lane * n..(lane + 1) * n;
        let inside = |script: &mut Script, block: u32| {
            for lane in 0..lanes {
                let (leader, block) = (self.leader(lane), lane * n + block);
                if leader == self.rank {
                    for &local in self.locals.iter().filter(|&&local| local != leader) {
                        script.receive(local, block..block + 1, Join::Right);
                    }
                } else if !self.locals.is_empty() {
                    script.send(leader, block..block + 1);
                }
            }
        };
        match self.led() {
            None => order(&graph, n, self.node, home, |block| inside(script, block)),
            Some(lane) => {
                let group = Group {
                    members: Some(&self.lanes[lane as usize]),
                    p: nodes,
                    me: self.node,
                };
                reduce(script, slice(lane), &group, &graph, home, inside);
            }
        }
        // The slices come together.
        if self.node != home || self.locals.is_empty() {
            return;
        }
        for lane in 1..lanes {
            if self.rank == self.leader(lane) {
                script.send(self.leader(0), slice(lane));
            } else if self.rank == self.leader(0) {
                script.receive(self.leader(lane), slice(lane), Join::Store);
            }
        }
    }
}

/// The nodes of a communicator, one rank of each of which sends to others, as one rank sees them.
#[derive(Clone, Copy, Debug)]
pub struct Leaders<'a> {
    /// The leaders; `me` is that of this rank's node.
    pub leaders: Group<'a>,
    /// The ranks of this rank's node.
    pub locals: &'a [u32],
    /// This rank.
    pub rank: u32,
}

impl Leaders<'_> {
    /// Is this rank the leader of its node?
    pub fn leads(&self) -> bool {
        self.rank == self.leaders.rank(self.leaders.me)
    }

    /// Adds a reduction of which every rank has the result. The area has a part for each node, and of that so many
    /// segments. Leaders halve and spread the vector in these steps. Nodes may have different numbers of ranks.
    pub fn allreduce(&self, script: &mut Script, segments: u32, steps: &Steps) {
        let blocks = 0..self.leaders.p * segments;
        let leader = self.leaders.rank(self.leaders.me);
        if self.rank != leader {
            script.send(leader, blocks.clone());
            script.receive(leader, blocks, Join::Store);
            return;
        }
        let others = || self.locals.iter().filter(|&&local| local != leader);
        let parts = |nodes: Range<u32>| once(nodes.start * segments..nodes.end * segments);
        for &local in others() {
            script.receive(local, blocks.clone(), Join::Right);
        }
        halving(script, &self.leaders, parts);
        spread(script, &self.leaders, steps, parts);
        for &local in others() {
            script.send(local, blocks.clone());
        }
    }

    /// Adds a reduction of which every rank has its own part. The area has the parts of all ranks, those of a node side
    /// by side and in the order of its ranks, and of each part so many segments; `start` says how many ranks there are
    /// on the nodes before one. The blocks of this rank's own part. Nodes may have different numbers of ranks.
    pub fn reduce_scatter(
        &self,
        script: &mut Script,
        segments: u32,
        start: impl Fn(u32) -> u32,
    ) -> Range<u32> {
        let parts =
            |nodes: Range<u32>| once(start(nodes.start) * segments..start(nodes.end) * segments);
        let all = 0..start(self.leaders.p) * segments;
        let first = start(self.leaders.me);
        let part = |place: u32| (first + place) * segments..(first + place + 1) * segments;
        let leader = self.leaders.rank(self.leaders.me);
        let places = || (0..).zip(self.locals);
        if self.rank != leader {
            let own = places().find(|(_, local)| **local == self.rank);
            let own = part(own.map_or(0, |(place, _)| place));
            script.send(leader, all);
            script.receive(leader, own.clone(), Join::Store);
            return own;
        }
        let others = || places().filter(|(_, local)| **local != leader);
        for (_, &local) in others() {
            script.receive(local, all.clone(), Join::Right);
        }
        halving(script, &self.leaders, parts);
        for (place, &local) in others() {
            script.send(local, part(place));
        }
        part(0)
    }
}
