//! How an all-broadcast over nodes is put together: who leads what, and what passes through the ring of a node, or by
//! messages inside it.

#![forbid(unsafe_code)]

use super::{Messages, Places, RingRows, slices};
use crate::engine::{
    AllBroadcast, Limits, Members, Order, Part, Pattern, Schedules, Scratch, Way, cut_long,
};
use crate::schedule::{Blocks, Circulant, Steps};
use crate::topology::Topology;

/// What all ranks know of an all-broadcast over nodes.
#[derive(Clone, Copy)]
pub struct Assembly<'a> {
    /// Which ranks share a node.
    pub topology: &'a Topology,
    /// Where the bytes are.
    pub places: Places<'a>,
    /// The root of a broadcast.
    pub root: Option<u32>,
    /// Ranks of a node that exchange with other nodes.
    pub lanes: u32,
    /// How node parts go between nodes, and in how many blocks.
    pub way: Way,
    /// Blocks of a node part, or of the longest.
    pub blocks: u32,
    /// The nodes with a part, ascending.
    pub contributors: &'a [u32],
}

impl Assembly<'_> {
    /// The rank of `node` that leads `lane`.
    pub fn leader(&self, node: u32, lane: u32) -> u32 {
        (self.topology).lane_leader(node, self.root.unwrap_or(0), lane)
    }

    /// Cuts the shares of `lane`.
    pub fn cut(&self, lane: u32, cut: &mut Vec<Part>) {
        let len = |node| self.places.share(node, (lane, self.lanes)).len;
        let members = (self.topology.nodes(), self.contributors);
        self.way.cut(self.blocks, members, len, cut);
    }

    /// Cuts the shares of each lane and lists who of the node of `rank` leads it and what that receives, in messages of
    /// at most so many bytes. The lane that `rank` leads, if it leads one.
    pub fn list_lanes(
        &self,
        rank: u32,
        (pattern, most): (Pattern, u64),
        cuts: &mut Vec<Vec<Part>>,
        lanes: &mut Vec<(u32, Messages)>,
    ) -> Option<u32> {
        let topology = self.topology;
        let (node, n) = (topology.node(rank), topology.nodes());
        cuts.resize_with(self.lanes as usize, Vec::new);
        lanes.resize_with(self.lanes as usize, Default::default);
        let mut leads = None;
        for (lane, (cut, (leader, messages))) in (0..).zip(cuts.iter_mut().zip(lanes)) {
            self.cut(lane, cut);
            let leading = self.leader(node, lane);
            if leading == rank && n > 1 {
                leads = Some(lane);
            }
            *leader = topology.local(leading);
            messages.clear();
            if n > 1 {
                let order = Order::new(Circulant::new(n), node, pattern, cut);
                let start = |node| self.places.share(node, (lane, self.lanes)).offset;
                messages.list(&order, most, start);
            }
        }
        leads
    }

    /// Lists what passes through the ring of `node`, which holds so many bytes.
    pub fn list_rows(
        &self,
        node: u32,
        capacity: u64,
        lanes: &[(u32, Messages)],
        rows: &mut RingRows,
    ) {
        let slices = match self.topology.nodes() {
            1 => slices(self.places.node_part(0).len, capacity),
            _ => 1,
        };
        let parts = self.topology.locals(node).iter();
        let parts = parts.map(|&rank| self.places.part(rank));
        rows.list(parts, slices, lanes.iter().map(|(leader, m)| (*leader, m)));
    }

    /// The order in which the ranks of a node exchange their parts by messages, where each has one.
    pub fn pattern_of_own(&self, node: u32) -> Option<Pattern<'static>> {
        let n = self.topology.locals(node).len() as u32;
        (n > 1 && self.root.is_none()).then(|| Pattern::Bruck(Steps::new(n, 2)))
    }

    /// Cuts these parts, into blocks of about so many bytes.
    pub fn cut_own(&self, node: u32, block_bytes: u64, cut: &mut Vec<Part>) {
        let lens = (self.topology.locals(node).iter()).map(|&rank| self.places.part(rank).len);
        let longest = lens.clone().max().unwrap_or(0);
        let blocks = longest.div_ceil(block_bytes).max(1) as u32;
        cut_long(lens, blocks, cut);
    }

    /// Where the root of a broadcast is on `node`, its leader receives nothing, and has blocks for the others by
    /// messages: lists these. How many of what is listed the leader has from the beginning.
    pub fn list_inside(&self, node: u32, messages: &mut Messages) -> u32 {
        match self.root {
            Some(root) if self.topology.node(root) == node => {
                let len = self.places.node_part(node).len;
                messages.list_own(Blocks::new(len, self.blocks));
                messages.count()
            }
            Some(_) | None => 0,
        }
    }

    /// The broadcast of these messages to the node of `rank`, a block for each; `limits` are those of a pattern. There
    /// is none if nobody needs them, or there are none.
    pub fn inside<'s>(
        &self,
        rank: u32,
        way: Way,
        (leader, messages): (u32, &Messages),
        limits: impl FnOnce(&Pattern) -> Limits,
        (schedules, cut, scratch): (&'s mut Schedules, &'s mut Vec<Part>, &'s mut Scratch),
    ) -> Option<AllBroadcast<'s>> {
        let (n, count) = (self.width(rank), messages.count());
        if n == 1 || count == 0 {
            return None;
        }
        cut.clear();
        cut.push(Part {
            root: leader,
            first: 0,
            blocks: Blocks::new(count.into(), count),
        });
        let members = Members {
            graph: Circulant::new(n),
            me: self.topology.local(rank),
            contributors: &[leader],
            radix: 2,
        };
        let pattern = way.pattern(count, &members, schedules);
        let limits = Limits {
            message: 1, // a block is a message, whatever its number says of bytes
            ..limits(&pattern)
        };
        let order = Order::new(members.graph, members.me, pattern, cut);
        Some(AllBroadcast::new(order, limits, scratch))
    }

    /// Ranks of the node of `rank`.
    fn width(&self, rank: u32) -> u32 {
        self.topology.locals(self.topology.node(rank)).len() as u32
    }
}
