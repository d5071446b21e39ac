//! Broadcasts and all-broadcasts with in-flight control, over links with a rate and a latency, among processes that
//! need time for each message: the links are filled, and no rank that sleeps is flooded.

use crate::case::{Case, How, rng, sides};
use proptest::prelude::*;
use proptest::test_runner::TestRng;
use rondo::engine::{
    AllBroadcast, Engine, Event, Limits, Line, Piece, Progress, Scratch, Sends, Wire,
};
use rondo::flow::{EDGE_BYTES, Flow, MESSAGE_BYTES, SMALL_WINDOW, Verdict};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::convert::Infallible;

/// Nanoseconds.
type Time = u64;

/// No time at which anything happens.
const NEVER: Time = Time::MAX;
const MILLISECOND: Time = 1_000_000;
const SECOND: Time = 1_000_000_000;

const RANKS: u32 = 8;

/// Ranks that each one sends to on the circulant graph.
const NEIGHBORS: u32 = 3;

/// Of one byte on a link: 25 bytes per microsecond, or 200 Mbit/s.
const BYTE: Time = 40;
const RATE: f64 = 1e3 / BYTE as f64;

/// Of a process, for each message that it sends and for each that it takes in, answers as well; in the mean. It is up
/// to half of it more or less, by chance: what is all in step may be much slower or faster than what is not quite.
const BUSY: Time = 20_000;

/// An answer to a synchronous message has as many bytes on the links.
const ANSWER_BYTES: u64 = 64;

/// Messages at a time each way, at the least, as in the library.
const MESSAGES: u32 = 64;

/// More turns of ranks and packets than any calls take.
const TURNS: u32 = 10_000_000;

const BLOCK: u64 = 16 << 10;
const BYTES: u64 = 4 << 20;

/// What goes over the links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    from: u32,
    to: u32,
    bytes: u64,
    /// The number of the call.
    call: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Standard,
    Synchronous,
    /// To a synchronous message that has met its receive.
    Answer,
}

/// A rank: its process, its links, and its messages.
#[derive(Default)]
struct Rank {
    flow: Flow,
    now: Time,
    /// Has it nothing to do before something comes?
    sleeps: bool,
    /// The number of its call, and when that began.
    call: u32,
    start: Time,
    /// Until when its links are busy.
    out: Time,
    into: Time,
    /// What has come, and when, and what its process has not taken in; oldest first.
    come: VecDeque<(Time, Packet)>,
    /// What its process has taken in before there was a receive.
    unexpected: Vec<Packet>,
    /// What came from each rank and has met no receive, and the most that ever was from one of them.
    waiting: [u64; RANKS as usize],
    most_waiting: u64,
    /// Receives with their bytes: has one met its message?
    receives: Line<bool, u64>,
    /// Sends, synchronous or not: is one complete?
    sends: Sends<bool, bool>,
}

impl Rank {
    /// When it does something next, for all that is known.
    fn next(&self) -> Time {
        match self.come.front() {
            _ if !self.sleeps => self.now,
            Some((at, _)) => self.now.max(*at),
            None => NEVER,
        }
    }

    /// The oldest packet that has come by now.
    fn take_in(&mut self) -> Option<Packet> {
        let now = self.now;
        let (_, packet) = *self.come.front().filter(|(at, _)| *at <= now)?;
        self.come.pop_front();
        Some(packet)
    }

    /// The oldest synchronous message to a rank is answered.
    fn hear(&mut self, from: u32) {
        let mut sends = self.sends.pending();
        let oldest = sends.find(|(to, complete)| *to == from && !**complete);
        *oldest.expect("it was asked for").1 = true;
    }

    /// A message meets the oldest receive that it may meet, of so many bytes.
    fn receive(&mut self, packet: Packet) -> Option<u64> {
        if packet.call != self.call {
            return None;
        }
        let mut receives = self.receives.pending();
        let oldest = receives.find(|(from, has_met, _)| *from == packet.from && !**has_met);
        oldest.map(|(_, has_met, &mut bytes)| {
            *has_met = true;
            bytes
        })
    }

    fn begin(&mut self, limits: &Limits, frequency: u32) {
        self.call += 1;
        self.start = self.now;
        self.receives.begin();
        self.sends.begin();
        self.flow.reserve(limits.sends, NEIGHBORS).unwrap();
        self.flow.set_whole(true);
        self.flow.begin(frequency);
    }
}

/// When the first byte of a packet is at the link of its receiver, and the number of the packet.
type Flight = (Time, u64, Packet);

struct World {
    /// One way.
    latency: Time,
    /// One message in so many is to be acknowledged, unless it is 0.
    frequency: u32,
    ranks: Vec<Rank>,
    flights: BinaryHeap<Reverse<Flight>>,
    launched: u64,
    rng: TestRng,
}

impl World {
    fn new(latency: Time, seed: u64) -> World {
        World {
            latency,
            frequency: 128,
            ranks: (0..RANKS).map(|_| Rank::default()).collect(),
            flights: BinaryHeap::new(),
            launched: 0,
            rng: rng(seed),
        }
    }

    /// The process of `rank` has to do with a message.
    fn work(&mut self, rank: u32) {
        let busy = self.rng.random_range(BUSY / 2..=BUSY + BUSY / 2);
        self.ranks[rank as usize].now += busy;
    }

    fn launch(&mut self, packet: Packet) {
        let own = &mut self.ranks[packet.from as usize];
        let begins = own.out.max(own.now);
        own.out = begins + BYTE * packet.bytes;
        self.launched += 1;
        let there = begins + self.latency;
        self.flights.push(Reverse((there, self.launched, packet)));
    }

    /// A packet comes to the link of its receiver, which may still have others on it.
    fn arrive(&mut self, (at, _, packet): Flight) {
        let own = &mut self.ranks[packet.to as usize];
        own.into = own.into.max(at) + BYTE * packet.bytes;
        own.come.push_back((own.into, packet));
        if packet.kind != Kind::Answer {
            let waiting = &mut own.waiting[packet.from as usize];
            *waiting += packet.bytes + MESSAGE_BYTES;
            own.most_waiting = own.most_waiting.max(*waiting);
        }
    }

    /// The process of `rank` takes in what has come by now.
    fn take_in(&mut self, rank: u32) {
        while let Some(packet) = self.ranks[rank as usize].take_in() {
            self.work(rank);
            let own = &mut self.ranks[rank as usize];
            if packet.kind == Kind::Answer {
                own.hear(packet.from);
                continue;
            }
            match own.receive(packet) {
                Some(bytes) => self.meet(packet, bytes),
                None => own.unexpected.push(packet),
            }
        }
    }

    /// A message has met a receive of so many bytes.
    fn meet(&mut self, packet: Packet, bytes: u64) {
        assert_eq!(packet.bytes, bytes, "{packet:?}");
        let Packet { from, to, .. } = packet;
        self.ranks[to as usize].waiting[from as usize] -= bytes + MESSAGE_BYTES;
        if packet.kind == Kind::Synchronous {
            self.launch(Packet {
                from: to,
                to: from,
                bytes: ANSWER_BYTES,
                kind: Kind::Answer,
                ..packet
            });
        }
    }

    /// Calls one after the other, which a rank may come to later than the others. The time until the last rank is
    /// through.
    fn calls(&mut self, case: &Case, calls: u32, late: Option<(u32, Time)>) -> Time {
        let messages = MESSAGES.max(self.ranks[0].flow.messages(BLOCK) as u32);
        let limits = Limits {
            receives: messages,
            sends: messages,
            message: BLOCK,
        };
        let sides = sides(case);
        let scratch = || (0..calls).map(|_| Scratch::default()).collect();
        let mut scratches: Vec<Vec<Scratch>> = sides.iter().map(|_| scratch()).collect();
        let engines = sides.iter().zip(&mut scratches).map(|(side, scratches)| {
            let all = scratches.iter_mut();
            all.map(|scratch| AllBroadcast::new(side.order(case), limits, scratch))
                .collect()
        });
        let mut engines: Vec<VecDeque<AllBroadcast>> = engines.collect();
        let begin = self.now();
        for (number, rank) in (0..).zip(&mut self.ranks) {
            let late = late.filter(|(rank, _)| *rank == number);
            rank.now = begin + late.map_or(0, |(_, late)| late);
            rank.begin(&limits, self.frequency);
        }
        for turn in 0.. {
            assert!(turn < TURNS, "there is no end: {case:?}");
            let left = (0..RANKS).filter(|&rank| !engines[rank as usize].is_empty());
            let next = left.map(|rank| (self.ranks[rank as usize].next(), rank));
            let Some((at, rank)) = next.min() else {
                break;
            };
            if let Some(&Reverse(flight)) = self.flights.peek()
                && flight.0 <= at
            {
                self.flights.pop();
                self.arrive(flight);
                continue;
            }
            assert_ne!(at, NEVER, "all ranks wait: {case:?}");
            let own = &mut self.ranks[rank as usize];
            (own.now, own.sleeps) = (at, false);
            let all = &mut engines[rank as usize];
            let wire = &mut Port { world: self, rank };
            let Ok(progress) = all[0].advance(wire);
            match progress {
                Progress::Moved => {}
                Progress::Waiting => {
                    let Ok(()) = all[0].idle(wire);
                }
                Progress::Done => {
                    all.pop_front();
                    if !all.is_empty() {
                        self.ranks[rank as usize].begin(&limits, self.frequency);
                    }
                }
            }
        }
        self.now() - begin
    }

    /// The time of the rank that is farthest.
    fn now(&self) -> Time {
        let times = self.ranks.iter().map(|rank| rank.now);
        times.max().expect("there are ranks")
    }

    /// The ranks agree on figures. The rate that they had, in bytes per microsecond.
    fn agree(&mut self) -> Option<f64> {
        let offers: Vec<_> = self.ranks.iter().map(|rank| rank.flow.offer()).collect();
        let most = |i| offers.iter().map(|offer| offer[i]).max();
        let agreed = std::array::from_fn(|i| most(i).expect("there are ranks"));
        let rates = self.ranks.iter_mut().map(|rank| rank.flow.agree(agreed));
        let rates: Vec<_> = rates.collect();
        rates[0].map(|rate| rate as f64 / 1e6)
    }

    fn expect(&mut self, latency: Time, rate: f64) {
        for rank in &mut self.ranks {
            rank.flow.expect(latency as f64 / 1e3, rate);
        }
    }

    fn window(&self) -> u64 {
        self.ranks[0].flow.window()
    }
}

/// One rank's wire.
struct Port<'w> {
    world: &'w mut World,
    rank: u32,
}

impl Port<'_> {
    fn own(&mut self) -> &mut Rank {
        &mut self.world.ranks[self.rank as usize]
    }
}

fn length(pieces: &[Piece]) -> u64 {
    pieces.iter().map(|piece| piece.span.len).sum()
}

impl Wire for Port<'_> {
    type Error = Infallible;

    fn recv(&mut self, from: u32, pieces: &[Piece]) -> Result<bool, Infallible> {
        let (own, bytes) = (self.own(), length(pieces));
        let call = own.call;
        let mut unexpected = own.unexpected.iter();
        let early = unexpected.position(|packet| (packet.from, packet.call) == (from, call));
        own.receives.push(from, early.is_some(), bytes);
        if let Some(early) = early {
            let packet = own.unexpected.remove(early);
            self.world.meet(packet, bytes);
        }
        Ok(true)
    }

    fn send(&mut self, to: u32, pieces: &[Piece], more: u64) -> Result<bool, Infallible> {
        let (from, own, bytes) = (self.rank, self.own(), length(pieces));
        let kind = match own.flow.ask(to, bytes, more) {
            Verdict::Wait => return Ok(false),
            Verdict::Standard => Kind::Standard,
            Verdict::Synchronous => Kind::Synchronous,
        };
        self.world.work(from);
        let own = self.own();
        let synchronous = kind == Kind::Synchronous;
        let mark = synchronous.then_some(own.now - own.start);
        own.flow.sent(to, bytes, mark, false);
        own.sends.push(to, synchronous, !synchronous, synchronous);
        let call = own.call;
        self.world.launch(Packet {
            from,
            to,
            bytes,
            call,
            kind,
        });
        Ok(true)
    }

    fn poll(&mut self) -> Result<Option<Event>, Infallible> {
        self.world.take_in(self.rank);
        let own = self.own();
        let is_complete = |complete: &mut bool| Ok::<_, Infallible>(complete.then_some(()));
        if let Some((number, ..)) = own.receives.poll(is_complete)? {
            return Ok(Some(Event::Received(number)));
        }
        let sent = own.sends.poll(is_complete)?;
        Ok(sent.map(|(_, to, (), synchronous)| {
            if synchronous {
                own.flow.acknowledged(to, own.now - own.start);
            }
            Event::Sent
        }))
    }

    fn idle(&mut self, _arrived: u64) -> Result<(), Infallible> {
        let own = self.own();
        // What is complete is found when its turn comes.
        let found_later = own.receives.pending().any(|(_, has_met, _)| *has_met)
            || own.sends.pending().any(|(_, complete)| *complete);
        own.sleeps = !found_later;
        Ok(())
    }
}

/// From rank 0.
fn broadcast(bytes: u64) -> Case {
    let mut sizes = vec![0; RANKS as usize];
    sizes[0] = bytes;
    let blocks = bytes.div_ceil(BLOCK) as u32;
    Case::new(sizes, How::RootSchedules, blocks)
}

/// Of equal parts.
fn all_broadcast(bytes: u64) -> Case {
    let part = bytes / u64::from(RANKS);
    Case::new(
        vec![part; RANKS as usize],
        How::Table,
        part.div_ceil(BLOCK) as u32,
    )
}

/// The time of the last of some calls. The ranks agree between them, but ever less often: the last two
/// have no agreement before them. The rate is known from the beginning and learnt, and this latency is.
fn settled(world: &mut World, case: &Case, known: Time) -> Time {
    let mut rate = RATE;
    world.expect(known, rate);
    for _ in 0..6 {
        world.calls(case, 1, None);
        if let Some(shown) = world.agree() {
            // A lower rate counts half.
            rate = shown.max((shown * rate).sqrt());
            world.expect(known, rate);
        }
    }
    world.calls(case, 1, None);
    world.calls(case, 1, None)
}

/// The time of a call with this window, which nothing changes.
fn with_window(world: &mut World, case: &Case, window: u64) -> Time {
    let trip = SECOND as i64;
    let figures = |more| [1 + more, !1, trip, !trip, 0];
    // So many bytes a second more than with the small window ask for a window that is larger by this.
    const MORE: u64 = 1024;
    let mut other = Flow::default();
    other.agree(figures(MORE as i64));
    let larger = other.path().expect("they agreed").window_bytes - SMALL_WINDOW;
    let more = (window - SMALL_WINDOW) * MORE / larger;
    for rank in &mut world.ranks {
        rank.flow.agree(figures(more as i64));
    }
    // In the first call it is measured what the small one does.
    world.calls(case, 1, None);
    assert!(
        world.window().abs_diff(window) < 1 << 10,
        "{}",
        world.window()
    );
    world.calls(case, 1, None)
}

/// The time that half of some runs are below.
fn median(latency: Time, run: impl Fn(&mut World) -> Time) -> Time {
    let times = (0..5).map(|seed| run(&mut World::new(latency, seed)));
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    times[2]
}

/// What a link carries into a rank, at the least.
fn received(case: &Case) -> u64 {
    let parts = case.sizes.iter();
    let most = parts.map(|part| case.total() - part).max();
    most.expect("there are ranks")
}

/// Over latency, links are filled: from the first call on where it is known, and after some calls where only what they
/// measure shows it. With the small window they would not be.
#[test]
fn links_with_latency_are_filled() {
    let latency = 2 * MILLISECOND;
    for case in [broadcast(BYTES), all_broadcast(4 * BYTES)] {
        let link = BYTE * received(&case);
        let small = median(latency, |world| with_window(world, &case, SMALL_WINDOW));
        let first = median(latency, |world| {
            world.expect(latency, RATE);
            world.calls(&case, 1, None)
        });
        let later = |known| median(latency, |world| settled(world, &case, known));
        let times = [first, later(latency), later(0)];
        println!(
            "{:?}: {times:?} ns of {link}, or {small} with the small window",
            case.how
        );
        for took in times {
            assert!(took <= link * 6 / 5 + 3 * latency, "{times:?}: {case:?}");
            assert!(small >= 2 * took, "{small} and {times:?}: {case:?}");
        }
    }
}

/// Without latency, calls are about as fast as with the best of all windows.
#[test]
fn no_window_is_much_better_where_there_is_no_latency() {
    for case in [broadcast(BYTES), all_broadcast(4 * BYTES)] {
        let took = median(0, |world| settled(world, &case, 0));
        for kib in [64, 128, 192, 256, 512, 1024] {
            let other = median(0, |world| with_window(world, &case, kib << 10));
            println!("{:?}: {took} ns, with {kib} KiB {other}", case.how);
            assert!(took <= other * 21 / 20, "{took}, {other}: {kib} {case:?}");
        }
    }
}

/// A rank comes to calls much later than the others, which go on as far as they can. What waits for it from each of
/// them is bounded, in short calls and in a long one whose window is larger; and in the end all are through.
#[test]
fn a_rank_that_sleeps_is_not_flooded() {
    let latency = 2 * MILLISECOND;
    // In the longest call the rate is taken for a much higher one, so that the window is as large as it may be.
    for (bytes, calls, rate) in [(100_000, 400, RATE), (BYTES, 10, RATE), (8 * BYTES, 1, 1e4)] {
        let mut most = 0;
        for late in 1..RANKS {
            let mut world = World::new(latency, 0);
            world.frequency = 0;
            world.expect(latency, rate);
            world.calls(&broadcast(bytes), calls, Some((late, 10 * SECOND)));
            most = most.max(world.ranks[late as usize].most_waiting);
        }
        let text = format!("{calls} calls of {bytes} bytes: {most} bytes wait");
        println!("{text}");
        assert!(most <= EDGE_BYTES, "{text}");
    }
}
