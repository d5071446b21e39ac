//! A gather or scatter on a network in one thread, from its description to what came of it.

use super::net::{Desk, Load, Net, RootedOp, Stop};
use super::packets::{GATHER, GO, JOIN, SCATTER, STATE, length};
use super::trees::{Rule, Tree, rounds, tree, tree_of_nodes};
use crate::case::rng;
use proptest::prelude::*;
use rondo::engine::rooted::{Gather, Misfit, RootedTree, Scatter, Scratch, Terms};
use rondo::engine::{Engine, Progress};
use rondo::schedule::Parts;
use rondo::topology::Topology;
use std::cell::RefCell;

/// A collective to be tried.
#[derive(Clone, Debug)]
pub struct Case {
    pub op: RootedOp,
    pub shape: RootedTree<'static>,
    pub root: u32,
    pub long: u64,
    pub window: u32,
    /// Bytes of each rank's block by the root's account.
    pub sizes: Vec<u64>,
    /// A rank that thinks otherwise, and what it thinks.
    pub other: Option<(u32, u64)>,
    /// Nodes, if a binomial tree is to be over these.
    pub nodes: Option<Topology>,
}

/// Why a collective did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A rank noticed it.
    Misfit(u32, Misfit),
    /// The network noticed it.
    Fault(String),
}

impl Case {
    pub fn p(&self) -> u32 {
        self.sizes.len() as u32
    }

    pub fn terms(&self, rank: u32) -> Terms<'_> {
        Terms {
            rank,
            p: self.p(),
            root: self.root,
            shape: match &self.nodes {
                Some(nodes) => RootedTree::Nodes(nodes),
                None => self.shape,
            },
            long: self.long,
            window: self.window,
        }
    }

    pub fn parts(&self) -> Parts {
        let mut parts = Parts::default();
        let set = parts.set(self.sizes.iter().copied().map(Some));
        set.expect("the sizes are few");
        parts
    }

    /// Bytes of the block of `rank` by its own account.
    pub fn own(&self, rank: u32) -> u64 {
        let other = self.other.filter(|(other, _)| *other == rank);
        other.map_or(self.sizes[rank as usize], |(_, bytes)| bytes)
    }

    pub fn net(&self) -> RefCell<Net> {
        let own = (0..self.p()).map(|rank| self.own(rank)).collect();
        RefCell::new(Net::new(self.op, self.root, self.sizes.clone(), own))
    }

    /// Does the block of `rank` go through the tree? That of the root goes nowhere.
    pub fn is_short(&self, rank: u32) -> bool {
        (1..self.long.max(1)).contains(&self.sizes[rank as usize])
    }

    pub fn is_long(&self, rank: u32) -> bool {
        rank != self.root && self.sizes[rank as usize] >= self.long.max(1)
    }

    /// The blocks that go straight between their rank and the root.
    pub fn longs(&self) -> u32 {
        (0..self.p()).filter(|&rank| self.is_long(rank)).count() as u32
    }

    /// The tree that short blocks take.
    pub fn tree(&self) -> Tree {
        let (gather, adaptive) = (
            self.op == RootedOp::Gather,
            self.shape == RootedTree::Adaptive,
        );
        let weight = |rank| match self.shape {
            RootedTree::Star => None,
            _ if self.is_short(rank) => Some(self.sizes[rank as usize]),
            _ => (gather || rank == self.root).then_some(0),
        };
        let weights: Vec<_> = (0..self.p()).map(weight).collect();
        if let Some(nodes) = &self.nodes {
            return tree_of_nodes(&weights, self.root, nodes);
        }
        let rule = if adaptive { Rule::More } else { Rule::Upper };
        tree(&weights, self.root, rule)
    }

    /// Where `rank` stands when ranks are in the order of their nodes.
    fn place(&self, rank: u32) -> u32 {
        self.nodes.as_ref().map_or(rank, |nodes| nodes.place(rank))
    }

    /// Must the root ask for each long block?
    pub fn asks(&self) -> bool {
        self.op == RootedOp::Gather && self.window < self.p() - 1
    }
}

/// One rank's engine.
enum Part<'a> {
    Gather(Gather<'a>),
    Scatter(Scatter<'a>),
}

impl<'a> Part<'a> {
    fn new(case: &'a Case, rank: u32, parts: &'a Parts, scratch: &'a mut Scratch) -> Part<'a> {
        let (terms, own) = (case.terms(rank), case.own(rank));
        let parts = (rank == case.root).then_some(parts);
        match case.op {
            RootedOp::Gather => Part::Gather(Gather::new(terms, own, parts, scratch)),
            RootedOp::Scatter => Part::Scatter(Scatter::new(terms, own, parts, scratch)),
        }
    }

    /// Does all that can be done; is it done?
    fn advance(&mut self, desk: &mut Desk) -> Result<bool, Stop> {
        loop {
            let progress = match self {
                Part::Gather(engine) => engine.advance(desk)?,
                Part::Scatter(engine) => engine.advance(desk)?,
            };
            match progress {
                Progress::Moved => {}
                Progress::Waiting => return Ok(false),
                Progress::Done => return Ok(true),
            }
        }
    }
}

/// Runs `case` on all ranks to its end and checks what holds for every order of delivery.
pub fn run(case: &Case, next: impl FnMut(&mut Net) -> Option<u32>) -> Net {
    let net = carry_out(case, &mut vec![], next);
    let net = net.unwrap_or_else(|failure| panic!("{case:?}: {failure:?}"));
    check(case, &net);
    net
}

/// Runs `case`. Whenever anything can happen, `next` says which rank goes on, or delivers a message.
/// `scratch` is what an earlier collective left.
pub fn carry_out(
    case: &Case,
    scratch: &mut Vec<Scratch>,
    mut next: impl FnMut(&mut Net) -> Option<u32>,
) -> Result<Net, Failure> {
    let p = case.p();
    scratch.resize_with(p as usize, Scratch::default);
    let (net, parts) = (case.net(), case.parts());
    let ranks = (0..p).zip(scratch);
    let mut engines: Vec<Part> = ranks
        .map(|(rank, scratch)| Part::new(case, rank, &parts, scratch))
        .collect();
    let mut open = p;
    while open > 0 {
        let rank = next(&mut net.borrow_mut());
        if let Some(rank) = rank {
            let mut desk = Desk { net: &net, rank };
            match engines[rank as usize].advance(&mut desk) {
                Ok(false) => {}
                Ok(true) => {
                    net.borrow_mut().finish(rank);
                    open -= 1;
                }
                Err(Stop::Misfit(misfit)) => return Err(Failure::Misfit(rank, misfit)),
                Err(Stop::Idle) => unreachable!("nobody idles here"),
            }
        }
        let net = &mut *net.borrow_mut();
        let moved = std::mem::take(&mut net.moved) || rank.is_some();
        net.expect(moved, || "no rank can go on".into());
        if let Some(fault) = net.fault.take() {
            return Err(Failure::Fault(fault));
        }
    }
    let mut net = net.into_inner();
    let left = net.under_way.pop();
    net.expect(left.is_none(), || format!("nobody takes {left:?}"));
    for rank in 0..p {
        let times = u32::from(rank != case.root && case.sizes[rank as usize] > 0);
        let counts = [net.left[rank as usize], net.placed[rank as usize]];
        net.expect(counts == [times; 2], || {
            format!("block {rank} left and arrived {counts:?} times")
        });
    }
    match net.fault.take() {
        Some(fault) => Err(Failure::Fault(fault)),
        None => Ok(net),
    }
}

/// The packets of a collective.
struct Packets {
    /// To or from whom the packet with a rank's blocks went, and its bytes.
    parents: Vec<Option<u32>>,
    bytes: Vec<u64>,
    /// Was the rank asked for its block?
    asked: Vec<bool>,
    /// Packets to find the tree: of fixed roots to each other, and to current roots.
    states: u64,
    joins: u64,
}

/// Sorts all messages; each has to go where it belongs.
fn sort(case: &Case, net: &Net) -> Packets {
    let p = case.sizes.len();
    let mut packets = Packets {
        parents: vec![None; p],
        bytes: vec![0; p],
        asked: vec![false; p],
        states: 0,
        joins: 0,
    };
    for (from, to, load) in &net.log {
        let (from, to) = (*from, *to);
        let packet = match load {
            Load::Packet(packet) => packet,
            Load::Block(block, _) => {
                let op = match case.op {
                    RootedOp::Gather => (*block, case.root),
                    RootedOp::Scatter => (case.root, *block),
                };
                assert_eq!((from, to), op, "{case:?}: block {block}");
                assert!(case.is_long(*block), "{case:?}: block {block} is not long");
                continue;
            }
        };
        let (child, parent) = match (case.op, packet[0]) {
            (RootedOp::Gather, GATHER) => (from, to),
            (RootedOp::Scatter, SCATTER) => (to, from),
            (RootedOp::Gather, GO) => {
                let right = from == case.root && case.is_long(to) && !packets.asked[to as usize];
                assert!(right, "{case:?}: {from} asks {to}");
                packets.asked[to as usize] = true;
                continue;
            }
            (RootedOp::Gather, STATE | JOIN) => {
                packets.states += u64::from(packet[0] == STATE);
                packets.joins += u64::from(packet[0] == JOIN);
                continue;
            }
            (_, kind) => panic!("{case:?}: a packet of kind {kind}"),
        };
        let parent = packets.parents[child as usize].replace(parent);
        assert_eq!(parent, None, "{case:?}: two packets about rank {child}");
        packets.bytes[child as usize] = packet.len() as u64;
    }
    packets
}

/// Checks the messages and the windows of a collective that is over.
fn check(case: &Case, net: &Net) {
    let (tree, packets) = (case.tree(), sort(case, net));
    assert_eq!(packets.parents, tree.parents, "{case:?}: the tree");
    let at_root = packets.parents.iter().filter(|to| **to == Some(case.root));
    let most = match &case.nodes {
        Some(nodes) => rounds(nodes.nodes()) + nodes.locals(nodes.node(case.root)).len() as u32 - 1,
        None => rounds(case.p()),
    };
    assert!(at_root.count() <= most as usize, "{case:?}");
    let asked = packets.asked.iter().filter(|asked| **asked).count();
    let asks = if case.asks() { case.longs() } else { 0 };
    assert_eq!(asked, asks as usize, "{case:?}: ranks are asked");
    let search = case.op == RootedOp::Gather && case.shape == RootedTree::Adaptive;
    let expected = match search {
        true => (2 * tree.pairs, tree.others),
        false => (0, 0),
    };
    let found = (packets.states, packets.joins);
    assert_eq!(found, expected, "{case:?}: packets to find the tree");

    let below = tree.below();
    for (rank, below) in below.iter().enumerate() {
        let bytes = packets.parents[rank].map_or(0, |_| length_of(case, below));
        assert_eq!(packets.bytes[rank], bytes, "{case:?}: the packet of {rank}");
    }
    check_windows(case, net);
}

/// Never more is in flight at the root, or sent at a time in a scatter, than the window says.
fn check_windows(case: &Case, net: &Net) {
    let window = case.window as usize;
    let receives = net.ports[case.root as usize].most_receives;
    assert!(receives <= window, "{case:?}: {receives} receives");
    if case.op == RootedOp::Scatter {
        let sends = net.ports.iter().map(|port| port.most_sends).max();
        assert!(sends <= Some(window), "{case:?}: {sends:?} sends");
    }
    if case.asks() {
        let most = net.most_blocks;
        assert!(most <= window, "{case:?}: {most} blocks under op");
    }
}

/// Bytes of the packet with the blocks of `ranks`.
fn length_of(case: &Case, ranks: &[u32]) -> u64 {
    let sizes = ranks.iter().map(|rank| case.sizes[*rank as usize]);
    let mut packet = 1 + length(case.root.into());
    packet += sizes.map(length).sum::<u64>() + data(case, ranks);
    if case.op == RootedOp::Scatter {
        let mut places: Vec<u32> = ranks.iter().map(|rank| case.place(*rank)).collect();
        places.sort_unstable();
        packet += length(ranks.len() as u64) + length(places[0].into());
        packet += places
            .windows(2)
            .map(|pair| length((pair[1] - pair[0]).into()))
            .sum::<u64>();
    }
    packet
}

/// Bytes of the short blocks of `ranks`.
fn data(case: &Case, ranks: &[u32]) -> u64 {
    let short = ranks.iter().filter(|rank| case.is_short(**rank));
    short.map(|rank| case.sizes[*rank as usize]).sum()
}

/// The machine of the papers: in a round every rank sends one message and receives one, the oldest that
/// both are free for.
pub fn in_rounds(net: &mut Net) -> Option<u32> {
    if !net.awake.is_empty() {
        return Some(net.wake(0));
    }
    let p = net.ports.len();
    let (mut sending, mut receiving) = (vec![false; p], vec![false; p]);
    let mut now = vec![];
    for (i, m) in net.under_way.iter().enumerate() {
        let (from, to) = (m.from as usize, m.to as usize);
        if !sending[from] && !receiving[to] && net.deliverable(i) {
            (sending[from], receiving[to]) = (true, true);
            now.push(i);
        }
    }
    net.rounds += u32::from(!now.is_empty());
    for i in now.into_iter().rev() {
        net.deliver(i);
    }
    None
}

/// A network on which every message travels for a round, and nothing else takes any time: rounds are messages one after
/// the other.
pub fn in_latencies(net: &mut Net) -> Option<u32> {
    if !net.awake.is_empty() {
        return Some(net.wake(0));
    }
    let can: Vec<usize> = (0..net.under_way.len())
        .filter(|&i| net.deliverable(i))
        .collect();
    match can.iter().find(|&&i| net.under_way[i].round < net.rounds) {
        Some(&i) => net.deliver(i),
        None => {
            net.rounds += 1;
            net.moved = !can.is_empty();
        }
    }
    None
}

/// Anything that can happen next, one at a time: a rank goes on, a message arrives, or its sender
/// learns that it has left.
pub fn shuffled(seed: u64) -> impl FnMut(&mut Net) -> Option<u32> {
    let mut rng = rng(seed);
    move |net| {
        let (what, at) = rng.random::<(u8, u32)>();
        let (awake, count) = (net.awake.len(), net.under_way.len());
        let at = |len: usize| at as usize % len;
        let mut turn = (0..count).map(|i| (i + at(count)) % count);
        match turn.find(|&i| net.deliverable(i)) {
            _ if what.is_multiple_of(3) && awake > 0 => {}
            Some(i) if what.is_multiple_of(4) && net.buffer(i) => return None,
            Some(i) => {
                net.deliver(i);
                return None;
            }
            None => {}
        }
        (awake > 0).then(|| net.wake(at(awake)))
    }
}

/// Starves rank `slow` as long as anything else can move.
pub fn starving(slow: u32) -> impl FnMut(&mut Net) -> Option<u32> {
    move |net| {
        if let Some(at) = net.awake.iter().position(|&rank| rank != slow) {
            return Some(net.wake(at));
        }
        let can = (0..net.under_way.len()).filter(|&i| net.deliverable(i));
        let can: Vec<usize> = can.collect();
        let fast = can.iter().find(|&&i| net.under_way[i].to != slow);
        if let Some(&i) = fast.or(can.first()) {
            net.deliver(i);
            return None;
        }
        (!net.awake.is_empty()).then(|| net.wake(0))
    }
}
