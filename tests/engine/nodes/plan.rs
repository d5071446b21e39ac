//! What all ranks know of an all-broadcast over nodes.

use proptest::prelude::*;
use proptest::test_runner::TestRng;
use rondo::engine::Way;
use rondo::engine::node::{Assembly, Places};
use rondo::schedule::{Parts, Span};
use rondo::topology::Topology;
use std::ops::Range;

/// A call: a broadcast if there is a root.
#[derive(Clone, Debug)]
pub struct Call {
    pub root: Option<u32>,
    /// Bytes of each rank.
    pub sizes: Vec<u64>,
    /// How the node parts travel between nodes.
    pub travel: Way,
    /// Blocks of a node part, or of the longest.
    pub blocks: u32,
    /// How the rounds of whole parts grow ([`rondo::schedule::Steps`]).
    pub radix: u32,
    pub lanes: u32,
}

impl Call {
    pub fn bcast(p: u32, root: u32, bytes: u64, blocks: u32) -> Call {
        let mut sizes = vec![0; p as usize];
        sizes[root as usize] = bytes;
        Call {
            root: Some(root),
            sizes,
            travel: Way::Circulant,
            blocks,
            radix: 2,
            lanes: 1,
        }
    }

    pub fn allgather(sizes: Vec<u64>, travel: Way, blocks: u32) -> Call {
        Call {
            root: None,
            sizes,
            travel,
            blocks,
            radix: 2,
            lanes: 1,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.sizes.iter().sum()
    }
}

/// The facts of a call on the ranks of a topology.
#[derive(Clone, Debug)]
pub struct Plan {
    pub topology: Topology,
    pub call: Call,
    /// Bytes that a ring holds.
    pub capacity: u64,
    /// The parts of the places.
    places: Parts,
    /// Where in the message the part of each rank begins, in the order of ranks.
    starts: Vec<u64>,
    /// The nodes with a node part.
    pub contributors: Vec<u32>,
}

impl Plan {
    pub fn new(topology: &Topology, call: &Call, capacity: u64) -> Plan {
        let mut places = Parts::default();
        let sizes = |place| Some(call.sizes[topology.rank(place) as usize]);
        places.set((0..topology.p()).map(sizes)).unwrap();
        let mut end = 0;
        let start = |&size: &u64| {
            end += size;
            end - size
        };
        let starts = call.sizes.iter().map(start).collect();
        let has = |&node: &u32| {
            let locals = topology.locals(node).iter();
            locals.map(|&rank| call.sizes[rank as usize]).sum::<u64>() > 0
        };
        let contributors = match call.root {
            Some(root) => vec![topology.node(root)],
            None => (0..topology.nodes()).filter(has).collect(),
        };
        Plan {
            topology: topology.clone(),
            call: call.clone(),
            capacity,
            places,
            starts,
            contributors,
        }
    }

    pub fn places(&self) -> Places<'_> {
        match self.call.root {
            Some(root) => Places::One(root, self.topology.node(root), self.call.bytes()),
            None => Places::Many(&self.topology, &self.places),
        }
    }

    pub fn assembly(&self) -> Assembly<'_> {
        Assembly {
            topology: &self.topology,
            places: self.places(),
            root: self.call.root,
            lanes: self.call.lanes,
            way: self.call.travel,
            blocks: self.call.blocks,
            contributors: &self.contributors,
        }
    }

    /// Where the bytes of `span` are in the message, which has the parts in the order of ranks.
    pub fn ranges(&self, span: Span) -> Vec<Range<usize>> {
        let mut ranges = vec![];
        self.places().each(span, |rank, span| {
            ranges.push(self.range(rank, span));
        });
        ranges
    }

    /// Where bytes of the part of `rank` are.
    pub fn range(&self, rank: u32, span: Span) -> Range<usize> {
        let start = (self.starts[rank as usize] + span.offset) as usize;
        start..start + span.len as usize
    }

    /// The part of `rank`, all of it.
    pub fn own(&self, rank: u32) -> Range<usize> {
        let len = self.call.sizes[rank as usize];
        self.range(rank, Span { offset: 0, len })
    }

    /// The share of `lane` in the node part of `node`.
    pub fn share(&self, node: u32, lane: u32) -> Span {
        self.places().share(node, (lane, self.call.lanes))
    }

    /// The leader of `lane` on each node.
    pub fn leaders(&self, lane: u32) -> Vec<u32> {
        let nodes = 0..self.topology.nodes();
        nodes
            .map(|node| self.assembly().leader(node, lane))
            .collect()
    }
}

/// The node of every rank: nodes of these widths in block order, in cyclic order, and scrambled.
pub fn orders(widths: &[u32], rng: &mut TestRng) -> Vec<Vec<u64>> {
    let nodes = || (0..).zip(widths);
    let block: Vec<u64> = nodes()
        .flat_map(|(node, &width)| vec![node; width as usize])
        .collect();
    let widest = widths.iter().max().copied().unwrap_or(0);
    let turn = |turn| {
        nodes()
            .filter(move |(_, width)| **width > turn)
            .map(|(node, _)| node)
    };
    let cyclic = (0..widest).flat_map(turn).collect();
    let mut scrambled = block.clone();
    for i in (1..scrambled.len()).rev() {
        scrambled.swap(i, rng.random_range(0..=i));
    }
    vec![block, cyclic, scrambled]
}
