//! What all ranks know of an all-broadcast over nodes.

use proptest::prelude::*;
use proptest::test_runner::TestRng;
use rondo::engine::node::{Assembly, Places};
use rondo::engine::{Part, Way};
use rondo::schedule::{Moves, Parts, Span, TreeNeighbors};
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

    /// How the shares of `lane` are cut.
    pub fn cut(&self, lane: u32) -> Vec<Part> {
        let mut cut = vec![];
        self.assembly().cut(lane, &mut cut);
        cut
    }

    /// The most bytes that may leave `node`, by the rounds of the papers.
    pub fn most_out(&self, node: u32) -> u64 {
        (0..self.call.lanes)
            .map(|lane| self.most_out_by(lane, node))
            .sum()
    }

    fn most_out_by(&self, lane: u32, node: u32) -> u64 {
        let n = self.topology.nodes();
        let share = |node: u32| self.share(node % n, lane).len;
        match self.call.travel {
            // A block of every part in each round.
            Way::Circulant | Way::Hypercube => {
                let longest = self.cut(lane).into_iter();
                let round: u64 = longest.map(|part| part.blocks.span(0).len).sum();
                let rounds = self.call.blocks - 1 + n.next_power_of_two().trailing_zeros();
                round * u64::from(rounds)
            }
            // All of it to every child, or half of it where there are two trees.
            Way::Tree(shape) => {
                let (mut family, root) = (TreeNeighbors::default(), self.contributors[0]);
                family.set(shape, n, node, root);
                let part = self.cut(lane)[0];
                let n = part.blocks.count();
                let phases = 0..family.phases(family.children(), n);
                let mut bytes = 0;
                for phase in phases {
                    let edges = family.children().iter();
                    let sent = edges.map(|edge| family.block(edge, phase));
                    let sent = sent.filter(|&block| block < n);
                    bytes += sent.map(|block| part.blocks.span(block).len).sum::<u64>();
                }
                bytes
            }
            // The root sends all of it once. Relays share in what all others need, in whole blocks.
            Way::Relay => {
                let (part, relays) = (self.cut(lane)[0], n - 1);
                let v = (node + n - self.contributors[0]) % n;
                let own = (0..part.blocks.count()).filter(|i| v == 0 || i % relays == v - 1);
                let bytes: u64 = own.map(|i| part.blocks.span(i).len).sum();
                bytes * u64::from(if v == 0 { 1 } else { relays - 1 })
            }
            // What it has so far, doubled from round to round, down to what is missing.
            Way::Bruck => {
                let (mut bytes, mut have) = (0, n);
                while have > 1 {
                    let half = have.div_ceil(2);
                    bytes += (0..have - half).map(|i| share(node + n - i)).sum::<u64>();
                    have = half;
                }
                bytes
            }
            // What the steps say: of a part, or of a share of the only one.
            Way::Moves(moves) => {
                let root = self.call.root.map_or(0, |_| self.contributors[0]);
                let bytes = |part: u32| match moves {
                    Moves::Scatter => {
                        let whole = self.cut(lane)[0];
                        let first = |part: u32| part * whole.blocks.count() / n;
                        let blocks = first(part)..first(part + 1);
                        blocks.map(|i| whole.blocks.span(i).len).sum()
                    }
                    _ => share(part),
                };
                let steps = (0..moves.count(n))
                    .filter_map(|k| moves.step(n, (node + n - root) % n, k, true));
                let sent = |step: rondo::schedule::Move| {
                    (0..step.count()).map(|i| bytes(step.part(i))).sum::<u64>()
                };
                steps.map(sent).sum()
            }
            // All but what the next node has.
            Way::Ring => (2..=n).map(|i| share(node + i)).sum(),
        }
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
