//! Ranks on nodes in invented time: what messages and copies take is said, and nothing else takes any. Each rank is a
//! thread, of which the one acts whose time is least: so every run is the same, however long the threads take.

use super::plan::Plan;
use parking_lot::{Condvar, Mutex, MutexGuard};
use rondo::engine::node::{self, Local, NodeRing, Relay, RingRows};
use rondo::engine::{AllBroadcast, Event, Limits, Members, Order, Piece, Schedules, Scratch, Wire};
use rondo::network::Network;
use rondo::schedule::{Circulant, Span};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::thread;

/// Picoseconds.
type Time = u64;

/// No time at which anything happens.
const NEVER: Time = Time::MAX;

/// What things take.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// A processor has to do with a message that it sends, and with one that it receives.
    send: Time,
    receive: Time,
    /// From one link to another one.
    travel: Time,
    /// 1024 bytes on a link.
    link: Time,
    /// Until the other ranks of a node see what one has written.
    seen: Time,
    /// 1024 bytes that a processor copies to the memory of its node, or from there.
    copy: Time,
}

fn time(us: f64) -> Time {
    (us * 1e6).round() as Time
}

fn of_bytes(per_kb: Time, bytes: u64) -> Time {
    per_kb * bytes / 1024
}

impl Costs {
    /// A message of b bytes takes alpha + beta b: the gap on the processor that sends it, twice that on the one that
    /// receives it, and the rest between them. Meanwhile processors can do something else.
    pub fn of(network: &Network) -> Costs {
        let (between, inside) = network.models();
        let send_us = between.gap_us.min(between.alpha_us);
        let receive_us = (2.0 * between.gap_us).min(between.alpha_us - send_us);
        Costs {
            send: time(send_us),
            receive: time(receive_us),
            travel: time(between.alpha_us - send_us - receive_us),
            link: time(between.beta_ns_per_kb / 1e3),
            seen: time(inside.alpha_us),
            copy: time(inside.beta_ns_per_kb / 1e3),
        }
    }
}

/// All ranks wait for each other, or one of them panicked.
#[derive(Debug)]
pub struct Stuck;

/// A rank.
#[derive(Default)]
struct Rank {
    now: Time,
    /// Has it nothing to do before there is news?
    sleeps: bool,
    is_done: bool,
    /// When something happens that it may have waited for.
    news: BinaryHeap<Reverse<Time>>,
}

impl Rank {
    /// When it does something next, for all that is known.
    fn next(&self) -> Time {
        match self.news.peek() {
            _ if self.is_done => NEVER,
            _ if !self.sleeps => self.now,
            Some(Reverse(at)) => self.now.max(*at),
            None => NEVER,
        }
    }

    /// Forgets news. Was there any by now?
    fn hear(&mut self) -> bool {
        let mut heard = false;
        while self.news.peek().is_some_and(|Reverse(at)| *at <= self.now) {
            self.news.pop();
            heard = true;
        }
        heard
    }
}

/// A number that one rank raises, and that the others of its node see a moment later.
#[derive(Default)]
struct Word {
    said: u64,
    seen: u64,
    coming: VecDeque<(Time, u64)>,
}

impl Word {
    fn say(&mut self, value: u64, seen_at: Time) {
        self.said = value;
        self.coming.push_back((seen_at, value));
    }

    /// What the others see.
    fn seen(&mut self, now: Time) -> u64 {
        while let Some(&(at, value)) = self.coming.front()
            && at <= now
        {
            self.seen = value;
            self.coming.pop_front();
        }
        self.seen
    }
}

/// A node: the ring of its ranks, and its links to the others.
struct Node {
    ranks: Vec<u32>,
    /// Who talks to other nodes.
    leader: u32,
    published: Vec<Word>,
    released: Vec<Word>,
    /// Until when its links are busy.
    out: Time,
    into: Time,
    /// Receives that are not complete: number and node, oldest first.
    receives: Vec<(u32, u32)>,
    started: u32,
    /// When what other nodes sent is here.
    come: Vec<VecDeque<Time>>,
    /// When what it sent has left.
    left: VecDeque<Time>,
}

impl Node {
    fn new(plan: &Plan, node: u32) -> Node {
        let ranks = plan.topology.locals(node).to_vec();
        let words = || ranks.iter().map(|_| Word::default()).collect();
        let nodes = 0..plan.topology.nodes();
        Node {
            leader: plan.assembly().leader(node, 0),
            published: words(),
            released: words(),
            out: 0,
            into: 0,
            receives: vec![],
            started: 0,
            come: nodes.map(|_| VecDeque::new()).collect(),
            left: VecDeque::new(),
            ranks,
        }
    }
}

/// When the first byte of a message is at the link of its receiver, its number, from which node to which, its bytes.
type Flight = (Time, u64, u32, u32, u64);

struct State {
    costs: Costs,
    ranks: Vec<Rank>,
    nodes: Vec<Node>,
    flights: BinaryHeap<Reverse<Flight>>,
    flown: u64,
    is_stuck: bool,
}

impl State {
    /// Who acts next; `None`: nobody can. What is on the way until then arrives.
    fn next(&mut self) -> Option<u32> {
        loop {
            let all = (0..).zip(&self.ranks);
            let (at, rank) = all.map(|(rank, it)| (it.next(), rank)).min()?;
            match self.flights.peek() {
                Some(&Reverse(flight)) if flight.0 <= at => {
                    self.flights.pop();
                    self.arrive(flight);
                }
                Some(_) | None => return (at < NEVER).then_some(rank),
            }
        }
    }

    /// A message comes to the link of its receiver, which may still have others on it.
    fn arrive(&mut self, (at, _, from, to, bytes): Flight) {
        let node = &mut self.nodes[to as usize];
        let here = node.into.max(at) + of_bytes(self.costs.link, bytes);
        node.into = here;
        node.come[from as usize].push_back(here);
        let leader = node.leader;
        self.tell(leader, here);
    }

    fn tell(&mut self, rank: u32, at: Time) {
        self.ranks[rank as usize].news.push(Reverse(at));
    }

    fn send(&mut self, from: u32, to: u32, bytes: u64) {
        let node = &mut self.nodes[from as usize];
        let rank = &mut self.ranks[node.leader as usize];
        rank.now += self.costs.send;
        let begins = node.out.max(rank.now);
        node.out = begins + of_bytes(self.costs.link, bytes);
        node.left.push_back(node.out);
        rank.news.push(Reverse(node.out));
        self.flown += 1;
        let there = begins + self.costs.travel;
        self.flights
            .push(Reverse((there, self.flown, from, to, bytes)));
    }

    fn poll(&mut self, node: u32) -> Option<Event> {
        let node = &mut self.nodes[node as usize];
        let rank = &mut self.ranks[node.leader as usize];
        let now = rank.now;
        let by_now = |at: &&Time| **at <= now;
        // Of one node, the oldest receive has the oldest message.
        let here = node.receives.iter().enumerate();
        let here = here.filter_map(|(i, &(_, from))| {
            let at = node.come[from as usize].front().filter(by_now);
            at.map(|&at| (at, i))
        });
        if let Some((_, i)) = here.min() {
            let (number, from) = node.receives.remove(i);
            node.come[from as usize].pop_front();
            rank.now += self.costs.receive;
            return Some(Event::Received(number));
        }
        let left = node.left.front().filter(by_now).is_some();
        left.then(|| {
            node.left.pop_front();
            Event::Sent
        })
    }

    /// A rank of a node says how far it has written, or read.
    fn say(&mut self, (node, local): (u32, u32), word: fn(&mut Node) -> &mut [Word], value: u64) {
        let node = &mut self.nodes[node as usize];
        let own = node.ranks[local as usize];
        let at = self.ranks[own as usize].now + self.costs.seen;
        word(node)[local as usize].say(value, at);
        for &other in node.ranks.iter().filter(|&&other| other != own) {
            self.ranks[other as usize].news.push(Reverse(at));
        }
    }
}

struct World {
    state: Mutex<State>,
    wake: Vec<Condvar>,
}

impl World {
    /// Waits until nobody may do anything before this rank does.
    fn wait(&self, rank: u32, state: &mut MutexGuard<State>) -> Result<(), Stuck> {
        loop {
            if state.is_stuck {
                return Err(Stuck);
            }
            match state.next() {
                Some(next) if next == rank => return Ok(()),
                Some(next) => {
                    self.wake[next as usize].notify_one();
                    self.wake[rank as usize].wait(state);
                }
                None => self.give_up(state),
            }
        }
    }

    fn give_up(&self, state: &mut State) {
        state.is_stuck = true;
        for wake in &self.wake {
            wake.notify_one();
        }
    }

    fn act<T>(&self, rank: u32, act: impl FnOnce(&mut State) -> T) -> Result<T, Stuck> {
        let mut state = self.state.lock();
        self.wait(rank, &mut state)?;
        Ok(act(&mut state))
    }

    /// Nothing can be done before there is news. What came while this rank was busy is news as well.
    fn idle(&self, rank: u32) -> Result<(), Stuck> {
        let mut state = self.state.lock();
        self.wait(rank, &mut state)?;
        if state.ranks[rank as usize].hear() {
            return Ok(());
        }
        state.ranks[rank as usize].sleeps = true;
        self.wait(rank, &mut state)?;
        let own = &mut state.ranks[rank as usize];
        (own.now, own.sleeps) = (own.next(), false);
        own.hear();
        Ok(())
    }

    fn end(&self, rank: u32) {
        let mut state = self.state.lock();
        state.ranks[rank as usize].is_done = true;
        let next = state.next();
        match next {
            _ if thread::panicking() => self.give_up(&mut state),
            Some(next) => {
                self.wake[next as usize].notify_one();
            }
            None if state.ranks.iter().all(|rank| rank.is_done) => {}
            None => self.give_up(&mut state),
        }
    }
}

/// Says that a rank is at its end, however it came there.
struct AtEnd<'w>(&'w World, u32);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.end(self.1);
    }
}

/// Microseconds from when all ranks begin a call to when the last one ends.
pub fn taken_us(plan: &Plan, limits: Limits, costs: Costs) -> f64 {
    let (ranks, nodes) = (plan.topology.p(), plan.topology.nodes());
    let world = World {
        state: Mutex::new(State {
            costs,
            ranks: (0..ranks).map(|_| Rank::default()).collect(),
            nodes: (0..nodes).map(|node| Node::new(plan, node)).collect(),
            flights: BinaryHeap::new(),
            flown: 0,
            is_stuck: false,
        }),
        wake: (0..ranks).map(|_| Condvar::new()).collect(),
    };
    thread::scope(|scope| {
        for rank in 0..ranks {
            let world = &world;
            scope.spawn(move || {
                let _end = AtEnd(world, rank);
                // What went wrong is in the state.
                let _ = take_part(world, plan, limits, rank);
            });
        }
    });
    let state = world.state.into_inner();
    assert!(!state.is_stuck, "the ranks wait for each other: {plan:?}");
    let last = state.ranks.iter().map(|rank| rank.now).max();
    last.expect("there are ranks") as f64 / 1e6
}

/// One rank's part in a call whose data pass through the memory of nodes.
fn take_part(world: &World, plan: &Plan, limits: Limits, rank: u32) -> Result<(), Stuck> {
    let (topology, assembly) = (&plan.topology, plan.assembly());
    let (node, local) = (topology.node(rank), topology.local(rank));
    let members = Members {
        graph: Circulant::new(topology.nodes()),
        me: node,
        contributors: &plan.contributors,
        radix: plan.call.radix,
    };
    let mut schedules = Schedules::default();
    let pattern = (plan.call.travel).pattern(plan.call.blocks, &members, &mut schedules);
    let (mut cuts, mut lanes, mut rows) = (vec![], vec![], RingRows::default());
    let leads = assembly.list_lanes(rank, (pattern, limits.message), &mut cuts, &mut lanes);
    assembly.list_rows(node, plan.capacity, &lanes, &mut rows);
    let mut end = End {
        world,
        capacity: plan.capacity,
        place: (node, local),
        rank,
    };
    let mut link = Link { world, node, rank };
    let mut scratch = Scratch::default();
    let network = leads.map(|lane| {
        let order = Order::new(members.graph, node, pattern, &cuts[lane as usize]);
        (AllBroadcast::new(order, limits, &mut scratch), &mut link)
    });
    node::run(Relay::new(&rows, local, 0), &mut end, network)
}

/// The wire of a leader.
struct Link<'w> {
    world: &'w World,
    node: u32,
    rank: u32,
}

impl Wire for Link<'_> {
    type Error = Stuck;

    fn recv(&mut self, from: u32, _: &[Piece]) -> Result<bool, Stuck> {
        self.world.act(self.rank, |state| {
            let node = &mut state.nodes[self.node as usize];
            node.receives.push((node.started, from));
            node.started += 1;
            true
        })
    }

    fn send(&mut self, to: u32, pieces: &[Piece], _more: u64) -> Result<bool, Stuck> {
        let bytes = pieces.iter().map(|piece| piece.span.len).sum();
        self.world.act(self.rank, |state| {
            state.send(self.node, to, bytes);
            true
        })
    }

    fn poll(&mut self) -> Result<Option<Event>, Stuck> {
        self.world.act(self.rank, |state| state.poll(self.node))
    }

    fn idle(&mut self, _arrived: u64) -> Result<(), Stuck> {
        self.world.idle(self.rank)
    }
}

/// One rank's end of the ring of its node. What goes wrong shows at the next action that can say so.
struct End<'w> {
    world: &'w World,
    capacity: u64,
    /// The node, and the rank of the node.
    place: (u32, u32),
    rank: u32,
}

impl End<'_> {
    fn say(&self, word: fn(&mut Node) -> &mut [Word], value: u64) {
        let say = |state: &mut State| state.say(self.place, word, value);
        let _ = self.world.act(self.rank, say);
    }

    fn copy(&self, span: Span) -> Result<(), Stuck> {
        self.world.act(self.rank, |state| {
            let copied = of_bytes(state.costs.copy, span.len);
            state.ranks[self.rank as usize].now += copied;
        })
    }

    /// What this rank sees now.
    fn see<T>(&self, see: impl FnOnce(&mut Node, Time) -> T) -> Result<T, Stuck> {
        self.world.act(self.rank, |state| {
            let now = state.ranks[self.rank as usize].now;
            see(&mut state.nodes[self.place.0 as usize], now)
        })
    }
}

impl NodeRing for End<'_> {
    type Error = Stuck;

    fn has_room(&mut self, end: u64) -> bool {
        let least = self.see(|node, now| {
            let released = (0..).zip(&mut node.released).map(|(local, word)| {
                let seen = word.seen(now);
                if local == self.place.1 {
                    word.said
                } else {
                    seen
                }
            });
            released.min()
        });
        matches!(least, Ok(Some(least)) if least + self.capacity >= end)
    }

    fn mark(&mut self, _at: u64) {}

    fn check(&mut self, _at: u64, _writer: u32) -> Result<(), Stuck> {
        Ok(())
    }

    fn publish(&mut self, until: u64) {
        self.say(|node| &mut node.published, until);
    }

    fn written(&self, writer: u32) -> u64 {
        let written = self.see(|node, now| node.published[writer as usize].seen(now));
        written.unwrap_or(0)
    }

    fn release(&mut self, until: u64) {
        self.say(|node| &mut node.released, until);
    }

    fn idle(&mut self, _waiting: Option<u32>) -> Result<(), Stuck> {
        self.world.idle(self.rank)
    }
}

impl Local for End<'_> {
    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn put(&mut self, _at: u64, span: Span) -> Result<(), Stuck> {
        self.copy(span)
    }

    fn get(&mut self, _at: u64, span: Span) -> Result<(), Stuck> {
        self.copy(span)
    }
}
