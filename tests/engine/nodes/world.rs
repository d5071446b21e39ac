//! Ranks on nodes in one process, each a thread, of which one runs at a time. Who is next, which message
//! arrives and who sees what is a matter of chance, and the same in every run.

use super::plan::Plan;
use super::ring::{Ring, mark};
use crate::case::rng;
use crate::wire::Net;
use crate::word::Verdict;
use parking_lot::{Condvar, Mutex, MutexGuard};
use proptest::prelude::*;
use proptest::test_runner::TestRng;
use rondo::engine::node::{Local, MARK, NodeRing};
use rondo::engine::{Event, Piece, Wire};
use rondo::schedule::Span;
use std::collections::HashMap;
use std::mem::swap;

/// Something went wrong on one of the ranks: the others stop as well.
#[derive(Debug)]
pub struct Broken;

/// A network among some ranks.
pub struct Exchange {
    /// The rank at each port.
    ranks: Vec<u32>,
    pub net: Net,
}

/// What belongs to one call.
pub struct Scene {
    message: Vec<u8>,
    /// What each rank has of the message; 0 where nothing has arrived.
    memories: Vec<Vec<u8>>,
    pub exchanges: Vec<Exchange>,
}

impl Scene {
    pub fn new(message: Vec<u8>, memories: Vec<Vec<u8>>) -> Scene {
        Scene {
            message,
            memories,
            exchanges: vec![],
        }
    }

    pub fn add(&mut self, ranks: Vec<u32>, net: Net) {
        self.exchanges.push(Exchange { ranks, net });
    }

    /// What happens at a port of a network happens in the memory of its rank.
    fn at<T>(&mut self, exchange: usize, port: u32, act: impl FnOnce(&mut Net) -> T) -> T {
        let Exchange { ranks, net } = &mut self.exchanges[exchange];
        let memory = &mut self.memories[ranks[port as usize] as usize];
        swap(&mut net.ports[port as usize].memory, memory);
        let result = act(net);
        swap(&mut net.ports[port as usize].memory, memory);
        result
    }
}

/// All there is.
pub struct State {
    rng: TestRng,
    turn: Option<u32>,
    alive: Vec<bool>,
    /// Things that have happened.
    events: u64,
    /// How many there were when each rank last said that it had nothing to do, and when it said so for the
    /// second time: it has looked at everything in between.
    idle: Vec<u64>,
    quiet: Vec<u64>,
    /// A rank that gets no turn before all others have nothing to do, and how many are still there then.
    slow: Option<u32>,
    pub waited_for: Option<Vec<u32>>,
    pub scenes: Vec<Scene>,
    pub rings: Vec<Ring>,
    /// What the ranks of a node say of a call.
    said: HashMap<(usize, u32), String>,
    pub fault: Option<String>,
    turns: u64,
}

pub struct World {
    state: Mutex<State>,
    wake: Vec<Condvar>,
    /// How often in 8 an action is interrupted.
    interrupted: u32,
}

/// More turns than any case needs.
const TURNS: u64 = 5_000_000;

impl World {
    pub fn new(ranks: u32, scenes: Vec<Scene>, rings: Vec<Ring>, seed: u64) -> World {
        let mut rng = rng(seed);
        let interrupted = rng.random_range(0..4);
        let state = State {
            rng,
            turn: Some(0),
            alive: vec![true; ranks as usize],
            events: 0,
            idle: vec![u64::MAX; ranks as usize],
            quiet: vec![u64::MAX; ranks as usize],
            slow: None,
            waited_for: None,
            scenes,
            rings,
            said: HashMap::new(),
            fault: None,
            turns: 0,
        };
        World {
            state: Mutex::new(state),
            wake: (0..ranks).map(|_| Condvar::new()).collect(),
            interrupted,
        }
    }

    pub fn starve(&mut self, slow: Option<u32>) {
        self.state.get_mut().slow = slow;
    }

    pub fn into_state(self) -> State {
        self.state.into_inner()
    }

    /// Waits for the first turn of `rank`.
    pub fn begin(&self, rank: u32) -> Result<(), Broken> {
        self.wait(rank, &mut self.state.lock())
    }

    fn wait(&self, rank: u32, state: &mut MutexGuard<State>) -> Result<(), Broken> {
        while state.turn != Some(rank) && state.fault.is_none() {
            self.wake[rank as usize].wait(state);
        }
        match state.fault {
            None => Ok(()),
            Some(_) => Err(Broken),
        }
    }

    /// Hands the turn to whoever is next.
    fn pass(&self, state: &mut State) {
        state.turn = state.next();
        match state.turn {
            Some(rank) if state.fault.is_none() => {
                self.wake[rank as usize].notify_one();
            }
            _ => self.wake.iter().for_each(|wake| {
                wake.notify_one();
            }),
        }
    }

    /// Lets `rank` act; before that, others may.
    fn act<T>(&self, rank: u32, act: impl FnOnce(&mut State) -> T) -> Result<T, Broken> {
        let mut state = self.state.lock();
        if state.rng.random_range(0..8) < self.interrupted {
            self.pass(&mut state);
        }
        self.wait(rank, &mut state)?;
        Ok(act(&mut state))
    }

    /// As `act`, with something that happens, and that may be wrong.
    fn do_(&self, rank: u32, act: impl FnOnce(&mut State) -> Verdict) -> Result<(), Broken> {
        self.act(rank, |state| {
            state.events += 1;
            if let Err(fault) = act(state) {
                self.fail(state, fault);
            }
        })?;
        self.wait(rank, &mut self.state.lock())
    }

    fn fail(&self, state: &mut State, fault: String) {
        state.fault.get_or_insert(fault);
        for wake in &self.wake {
            wake.notify_one();
        }
    }

    /// `rank` has nothing to do.
    fn idle(&self, rank: u32) -> Result<(), Broken> {
        let mut state = self.state.lock();
        let events = state.events;
        let before = std::mem::replace(&mut state.idle[rank as usize], events);
        if before == events {
            state.quiet[rank as usize] = events;
        }
        self.pass(&mut state);
        self.wait(rank, &mut state)
    }

    /// `rank` has done `call`, and should have everything.
    pub fn done(&self, rank: u32, call: usize) -> Result<(), Broken> {
        self.do_(rank, |state| {
            let scene = &state.scenes[call];
            let right = scene.memories[rank as usize] == scene.message;
            let fault = || format!("rank {rank} does not have everything after call {call}");
            right.then_some(()).ok_or_else(fault)
        })
    }

    /// All ranks of `node` must say the same of `call`.
    pub fn say(&self, rank: u32, call: usize, node: u32, what: String) -> Result<(), Broken> {
        self.do_(rank, |state| {
            let first = state.said.entry((call, node)).or_insert(what.clone());
            let fault = format!("rank {rank} says {what}, another one {first}");
            (*first == what).then_some(()).ok_or(fault)
        })
    }

    /// `rank` is at its end.
    pub fn end(&self, rank: u32) {
        let mut state = self.state.lock();
        if std::thread::panicking() {
            self.fail(&mut state, format!("rank {rank} panicked"));
        }
        state.alive[rank as usize] = false;
        state.events += 1;
        self.pass(&mut state);
    }
}

impl State {
    /// Who goes on; nobody if all are at their end.
    fn next(&mut self) -> Option<u32> {
        self.turns += 1;
        if self.turns > TURNS {
            self.fault.get_or_insert("there is no end".into());
        }
        loop {
            if self.rng.random_range(0..2) == 0 {
                self.disturb();
            }
            let busy = |rank: &u32| {
                let rank = *rank as usize;
                self.alive[rank] && self.quiet[rank] != self.events
            };
            let busy: Vec<u32> = (0..self.alive.len() as u32).filter(busy).collect();
            let fast: Vec<u32> = busy
                .iter()
                .copied()
                .filter(|&r| Some(r) != self.slow)
                .collect();
            if !fast.is_empty() {
                return Some(fast[self.rng.random_range(0..fast.len())]);
            }
            let alive = |&rank: &u32| self.alive[rank as usize];
            let alive: Vec<u32> = (0..self.alive.len() as u32).filter(alive).collect();
            if alive.is_empty() || self.fault.is_some() {
                return None;
            }
            if !self.disturb() {
                match self.slow.filter(|slow| busy.contains(slow)) {
                    Some(slow) => {
                        self.waited_for.get_or_insert(alive);
                        return Some(slow);
                    }
                    None => {
                        self.fault = Some("no rank can go on".into());
                        return None;
                    }
                }
            }
        }
    }

    /// Something happens between the ranks: a message arrives, or a rank sees what another one has said. False
    /// if there is nothing under way.
    fn disturb(&mut self) -> bool {
        let mut messages = vec![];
        for (call, scene) in self.scenes.iter().enumerate() {
            for (i, exchange) in scene.exchanges.iter().enumerate() {
                if !exchange.net.under_way.is_empty() {
                    let all = exchange.net.deliverable().into_iter();
                    messages.extend(all.map(|message| (call, i, message)));
                }
            }
        }
        let rings = self.rings.len();
        let first = self.rng.random_range(0..rings + 1);
        let deliver = |state: &mut State| {
            if messages.is_empty() {
                return false;
            }
            let (call, i, message) = messages[state.rng.random_range(0..messages.len())];
            let scene = &mut state.scenes[call];
            let from = scene.exchanges[i].net.under_way[message].from;
            scene.at(i, from, |net| net.deliver(message));
            let fault = scene.exchanges[i].net.fault.take();
            state.fault = state.fault.take().or(fault);
            true
        };
        let moved = (first..=first + rings).any(|i| match i % (rings + 1) {
            0 => deliver(self),
            ring => self.rings[ring - 1].reveal(&mut self.rng),
        });
        self.events += u64::from(moved);
        moved
    }
}

/// One rank's wire in one network of one call.
pub struct Link<'w> {
    pub world: &'w World,
    pub rank: u32,
    pub call: usize,
    pub exchange: usize,
    pub port: u32,
}

impl Link<'_> {
    fn at<T>(&self, act: impl FnOnce(&mut Net) -> T) -> Result<T, Broken> {
        self.world.act(self.rank, |state| {
            let scene = &mut state.scenes[self.call];
            let result = scene.at(self.exchange, self.port, act);
            if let Some(fault) = scene.exchanges[self.exchange].net.fault.take() {
                self.world.fail(state, fault);
            }
            result
        })
    }

    fn happened(&self, happened: bool) -> Result<(), Broken> {
        let mut state = self.world.state.lock();
        state.events += u64::from(happened);
        self.world.wait(self.rank, &mut state)
    }
}

impl Wire for Link<'_> {
    type Error = Broken;

    fn recv(&mut self, from: u32, pieces: &[Piece]) -> Result<bool, Broken> {
        let started = self.at(|net| net.recv(self.port, from, pieces))?;
        self.happened(started)?;
        Ok(started)
    }

    fn send(&mut self, to: u32, pieces: &[Piece], _more: u64) -> Result<bool, Broken> {
        let started = self.at(|net| net.send(self.port, to, pieces))?;
        self.happened(started)?;
        Ok(started)
    }

    fn poll(&mut self) -> Result<Option<Event>, Broken> {
        let event = self.at(|net| net.poll(self.port))?;
        self.happened(event.is_some())?;
        Ok(event)
    }

    fn idle(&mut self, _arrived: u64) -> Result<(), Broken> {
        self.world.idle(self.rank)
    }
}

/// One rank's end of the ring of its node in one call.
pub struct End<'w> {
    pub world: &'w World,
    pub plan: &'w Plan,
    pub rank: u32,
    pub call: usize,
    pub node: u32,
    pub local: u32,
}

impl End<'_> {
    fn ring<T>(&self, act: impl FnOnce(&mut Ring, usize) -> T) -> Result<T, Broken> {
        let (node, local) = (self.node as usize, self.local as usize);
        self.world
            .act(self.rank, |state| act(&mut state.rings[node], local))
    }

    fn do_(&self, act: impl FnOnce(&mut Ring, usize, &mut Scene) -> Verdict) -> Result<(), Broken> {
        let (node, local) = (self.node as usize, self.local as usize);
        self.world.do_(self.rank, |state| {
            act(&mut state.rings[node], local, &mut state.scenes[self.call])
        })
    }
}

/// What goes wrong shows at the next action that can say so.
impl NodeRing for End<'_> {
    type Error = Broken;

    fn has_room(&mut self, end: u64) -> bool {
        self.ring(|ring, me| ring.has_room(me, end))
            .unwrap_or(false)
    }

    fn mark(&mut self, at: u64) {
        let _ = self.do_(|ring, me, _| ring.put(me, at, &mark(self.call)));
    }

    fn check(&mut self, at: u64, writer: u32) -> Result<(), Broken> {
        self.do_(|ring, me, _| ring.check(me, at, MARK, writer as usize, self.call))
    }

    fn publish(&mut self, until: u64) {
        let _ = self.do_(|ring, me, _| ring.publish(me, until));
    }

    fn written(&self, writer: u32) -> u64 {
        self.ring(|ring, me| ring.written(me, writer as usize))
            .unwrap_or(0)
    }

    fn release(&mut self, until: u64) {
        let _ = self.do_(|ring, me, _| ring.release(me, until));
    }

    fn idle(&mut self, waiting: Option<u32>) -> Result<(), Broken> {
        if waiting == Some(self.local) {
            let fault = |_: &mut State| Err(format!("rank {} waits for itself", self.rank));
            self.world.do_(self.rank, fault)?;
        }
        self.world.idle(self.rank)
    }
}

impl Local for End<'_> {
    fn capacity(&self) -> u64 {
        self.plan.capacity
    }

    fn put(&mut self, at: u64, span: Span) -> Result<(), Broken> {
        self.do_(|ring, me, scene| {
            let mut bytes = vec![];
            for place in self.plan.ranges(span) {
                let own = &scene.memories[self.rank as usize][place.clone()];
                if *own != scene.message[place] {
                    return Err(format!("rank {} puts what it does not have", self.rank));
                }
                bytes.extend_from_slice(own);
            }
            ring.put(me, at, &bytes)
        })
    }

    fn get(&mut self, at: u64, span: Span) -> Result<(), Broken> {
        self.do_(|ring, me, scene| {
            let bytes = ring.get(me, at, span.len, self.call)?;
            let mut bytes = bytes.into_iter();
            for place in self.plan.ranges(span) {
                for byte in &mut scene.memories[self.rank as usize][place] {
                    if *byte != 0 {
                        return Err(format!("rank {} gets what it has", self.rank));
                    }
                    *byte = bytes.next().ok_or("fewer bytes than places")?;
                }
            }
            bytes
                .next()
                .map_or(Ok(()), |_| Err("more bytes than places".into()))
        })
    }
}
