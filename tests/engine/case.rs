//! A collective on a network in one thread, from its description to what came of it.

use crate::wire::{Net, Port, Rank, Rules, in_parts};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};
use rondo::engine::{
    AllBroadcast, Engine, Entries, Limits, Order, Part, Pattern, Progress, RootSchedules, Scratch,
    cut_alike, cut_long,
};
use rondo::schedule::{Circulant, Hypercube, Moves, Rounds, Shape, Steps, TreeNeighbors};
use std::cell::RefCell;
use std::rc::Rc;

/// Which pattern, and where its schedules come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Circulant, from the receive schedules of all ranks.
    Table,
    /// Circulant, from this rank's own schedules for each contributor.
    RootSchedules,
    /// Whole parts with this radix.
    Bruck(u32),
    Ring,
    /// A tree; one rank alone has a part.
    Tree(Shape),
    /// Over relays; one rank alone has a part.
    Relay,
    /// Over a hypercube; one rank alone has a part.
    Hypercube,
    /// In steps; of `Scatter`, one rank alone has a part.
    Moves(Moves),
}

/// A collective to be tried: a broadcast if one rank alone has bytes.
#[derive(Clone, Debug)]
pub struct Case {
    /// Bytes of each rank.
    pub sizes: Vec<u64>,
    pub how: How,
    /// Blocks of every part, or for whole parts, of the longest one.
    pub n: u32,
    pub limits: Limits,
    /// Receives, and as many sends, that the wire has memory for.
    pub room: u32,
}

impl Case {
    /// With the windows of the library and no bound on messages.
    pub fn new(sizes: Vec<u64>, how: How, n: u32) -> Case {
        let q = Circulant::new(sizes.len() as u32).q() as u32;
        let limits = Limits {
            receives: 2 * q,
            sends: 4,
            message: u64::MAX,
        };
        Case {
            sizes,
            how,
            n,
            limits,
            room: u32::MAX,
        }
    }

    pub fn p(&self) -> u32 {
        self.sizes.len() as u32
    }

    pub fn total(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// How the parts are cut: on the circulant graph those of contributors in as many blocks each, else
    /// those of all ranks in blocks of one size.
    pub fn cut(&self) -> Vec<Part> {
        let has_part_of_each = match self.how {
            How::Bruck(_) | How::Ring => true,
            How::Moves(moves) => !moves.has_one_part(),
            How::Table | How::RootSchedules | How::Tree(_) | How::Relay | How::Hypercube => false,
        };
        let (sizes, mut cut) = (self.sizes.iter().copied(), vec![]);
        match has_part_of_each {
            true => cut_long(sizes, self.n, &mut cut),
            false => cut_alike(
                (0..).zip(sizes).filter(|&(_, len)| len > 0),
                self.n,
                &mut cut,
            ),
        }
        cut
    }
}

/// What one rank works with. All ranks have the same but for `rank` and `rows`, unless a test wants to
/// see that it is noticed.
#[derive(Clone, Debug)]
pub struct Side {
    pub rank: u32,
    pub cut: Vec<Part>,
    pub table: Vec<i8>,
    pub rows: RootSchedules,
    pub family: TreeNeighbors,
    pub n: u32,
}

/// The sides of all ranks.
pub fn sides(case: &Case) -> Vec<Side> {
    let graph = Circulant::new(case.p());
    let cut = case.cut();
    let roots: Vec<u32> = cut.iter().map(|part| part.root).collect();
    let table = match case.how {
        How::Table => graph.recv_table(),
        _ => vec![],
    };
    let side = |rank| {
        let mut rows = RootSchedules::default();
        if case.how == How::RootSchedules {
            rows.set(&graph, rank, &roots);
        }
        let mut family = TreeNeighbors::default();
        if let How::Tree(shape) = case.how {
            family.set(shape, case.p(), rank, roots[0]);
        }
        Side {
            rank,
            cut: cut.clone(),
            table: table.clone(),
            rows,
            family,
            n: case.n,
        }
    };
    (0..case.p()).map(side).collect()
}

impl Side {
    pub fn order(&self, case: &Case) -> Order<'_> {
        let graph = Circulant::new(case.p());
        let rounds = || Rounds::new(graph.q(), self.n);
        let pattern = match case.how {
            How::Table => Pattern::Circulant(rounds(), Entries::Table(&self.table)),
            How::RootSchedules => Pattern::Circulant(rounds(), Entries::PerRoot(&self.rows)),
            How::Bruck(radix) => Pattern::Bruck(Steps::new(case.p(), radix)),
            How::Ring => Pattern::Ring,
            How::Tree(_) => Pattern::Tree(&self.family),
            How::Relay => Pattern::Relay,
            How::Hypercube => Pattern::Hypercube(Hypercube::new(case.p(), self.n)),
            How::Moves(moves) => Pattern::Moves(moves),
        };
        Order::new(graph, self.rank, pattern, &self.cut)
    }
}

/// What a collective came to.
pub struct Outcome {
    pub ports: Vec<Port>,
    /// Steps in which at least one message was delivered.
    pub steps: u64,
}

/// Runs `case` on all ranks to its end and checks what holds for every order of delivery: all ranks have
/// everything, each got every foreign byte once, and the limits were kept.
pub fn run(case: &Case, deliver: impl FnMut(&mut Net)) -> Outcome {
    let outcome = carry_out(case, &sides(case), deliver);
    let outcome = outcome.unwrap_or_else(|fault| panic!("{case:?}: {fault}"));
    for (port, part) in outcome.ports.iter().zip(&case.sizes) {
        assert_eq!(port.received.2, case.total() - part, "{case:?}: bytes");
        let most = (case.limits.receives.max(1), case.limits.sends.max(1));
        let kept = port.most.0 <= most.0.min(case.room) && port.most.1 <= most.1.min(case.room);
        assert!(kept, "{case:?}: in flight: {:?}", port.most);
    }
    outcome
}

/// Runs `case` with these `sides`. After every step in which no rank can do more, `deliver` moves
/// messages. Then ranks go on that have news: those that sent or received one of these, or all, if
/// `deliver` says so. An error is the first thing that went wrong.
pub fn carry_out(
    case: &Case,
    sides: &[Side],
    mut deliver: impl FnMut(&mut Net),
) -> Result<Outcome, String> {
    let sums = case.sizes.iter().scan(0, |sum, size| {
        *sum += size;
        Some(*sum - size)
    });
    let rules = Rules {
        message: (0..case.total())
            .map(|i| ((i * 7 + i / 251) % 255) as u8 + 1)
            .collect(),
        places: in_parts(sums.collect()),
        most: case.limits.message,
        room: case.room,
    };
    let net = Rc::new(RefCell::new(Net::new(rules, &case.sizes)));
    let mut scratch: Vec<Scratch> = sides.iter().map(|_| Scratch::default()).collect();
    let mut ranks: Vec<(AllBroadcast, Rank)> = Vec::new();
    for (side, scratch) in sides.iter().zip(&mut scratch) {
        let (net, rank) = (net.clone(), side.rank);
        let engine = AllBroadcast::new(side.order(case), case.limits, scratch);
        ranks.push((engine, Rank { net, rank }));
    }
    let mut at_end = vec![false; ranks.len()];
    let mut steps = 0;
    loop {
        for (i, (engine, wire)) in ranks.iter_mut().enumerate() {
            if std::mem::take(&mut net.borrow_mut().ports[i].news) {
                let Ok(progress) = advance(engine, wire);
                at_end[i] = progress == Progress::Done;
            }
        }
        let done = at_end.iter().all(|&at_end| at_end);
        let net = &mut *net.borrow_mut();
        let before = net.under_way.len();
        if !done && net.fault.is_none() {
            deliver(net);
            if net.under_way.len() == before {
                net.fault = Some("no rank can go on".into());
            }
            steps += 1;
        }
        if let Some(fault) = net.fault.take() {
            return Err(fault);
        }
        if done {
            return finish(net, steps);
        }
    }
}

/// Lets a rank do what it can, and asks it what has arrived.
fn advance(
    engine: &mut AllBroadcast,
    wire: &mut Rank,
) -> Result<Progress, std::convert::Infallible> {
    loop {
        let progress = engine.advance(wire)?;
        if progress != Progress::Moved {
            engine.idle(wire)?;
            return Ok(progress);
        }
    }
}

/// What all ranks have in the end.
fn finish(net: &mut Net, steps: u64) -> Result<Outcome, String> {
    if !net.under_way.is_empty() {
        return Err(format!(
            "{} messages are under way at the end",
            net.under_way.len()
        ));
    }
    let ports = std::mem::take(&mut net.ports);
    let wrong = ports
        .iter()
        .position(|port| port.memory != net.rules.message);
    match wrong {
        Some(rank) => Err(format!("rank {rank} does not have everything")),
        None => Ok(Outcome { ports, steps }),
    }
}

/// The machine of the papers: in a step every rank sends one message and receives one. A rank takes
/// the message first that it asked for first. All ranks go on, also those that nothing has come to.
pub fn in_rounds(net: &mut Net) {
    let mut candidates = net.deliverable();
    candidates.sort_by_key(|&i| net.place_of(i));
    let p = net.ports.len();
    let (mut sending, mut receiving) = (vec![false; p], vec![false; p]);
    let mut now = vec![];
    for i in candidates {
        let m = &net.under_way[i];
        let (from, to) = (m.from as usize, m.to as usize);
        if !sending[from] && !receiving[to] {
            (sending[from], receiving[to]) = (true, true);
            now.push(i);
        }
    }
    now.sort_unstable();
    for i in now.into_iter().rev() {
        net.deliver(i);
    }
    for port in &mut net.ports {
        port.news = true;
    }
}

/// One message at a time, any of those that can be delivered.
pub fn shuffled(seed: u64) -> impl FnMut(&mut Net) {
    let mut rng = rng(seed);
    move |net| {
        let can = net.deliverable();
        if !can.is_empty() {
            net.deliver(can[rng.random_range(0..can.len())]);
        }
    }
}

/// Starves rank `slow` as long as anything else can move.
pub fn starving(slow: u32) -> impl FnMut(&mut Net) {
    move |net| {
        let can = net.deliverable();
        let fast = can.iter().find(|&&i| net.under_way[i].to != slow);
        if let Some(&i) = fast.or(can.first()) {
            net.deliver(i);
        }
    }
}

/// The same numbers in every run.
pub fn rng(seed: u64) -> TestRng {
    // Seeds of 128 bits, by an odd factor with bits all over: this generator is quick, but begins near to its seed.
    let spread = (u128::from(seed) + 1).wrapping_mul(0x2d99_787d_e7a4_ac43_5a9c_c5b8_fb81_b6b1);
    TestRng::from_seed(RngAlgorithm::XorShift, &spread.to_le_bytes())
}

/// Numbers of blocks worth trying: one, around multiples of q, and more than three phases.
pub fn block_counts(q: u32) -> Vec<u32> {
    let mut n = vec![1, 2, 3, q.max(1), q + 1, 2 * q + 1, 3 * q + 2];
    n.sort_unstable();
    n.dedup();
    n
}
