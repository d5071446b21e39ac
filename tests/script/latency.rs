//! Scripts where messages travel for long: what waits for what costs time, and a pipeline must not wait in every round.

use super::*;
use rondo::engine::{Complete, Engine, Limits, Progress};
use rondo::flow::Flow;
use std::collections::{HashMap, VecDeque};

/// Ranks that each send a message a tick, which travels for so many ticks.
struct World {
    latency: u64,
    /// Is a send complete when its receiver has answered?
    is_answered: bool,
    now: u64,
    /// When the messages from one rank to another one arrive, in their order.
    flying: HashMap<(u32, u32), VecDeque<u64>>,
    ranks: Vec<Port>,
}

#[derive(Default, Clone)]
struct Port {
    /// No send before this tick.
    free: u64,
    /// Receives that are not complete: number and sender.
    receives: Vec<(u32, u32)>,
    posted: u32,
    started: u32,
    /// When sends are complete, and their numbers.
    sent: VecDeque<(u64, u32)>,
}

struct Wire<'a> {
    world: &'a mut World,
    rank: u32,
}

impl Wire<'_> {
    fn own(&mut self) -> &mut Port {
        &mut self.world.ranks[self.rank as usize]
    }
}

impl ScriptWire for Wire<'_> {
    type Error = ();

    fn receive(&mut self, from: u32, _: &Range<u32>, _: Join) -> Result<bool, ()> {
        let own = self.own();
        own.receives.push((own.posted, from));
        own.posted += 1;
        Ok(true)
    }

    fn send(&mut self, to: u32, _: &Range<u32>, _: bool) -> Result<bool, ()> {
        let (now, arrives, rank) = (
            self.world.now,
            self.world.now + self.world.latency,
            self.rank,
        );
        let answer = if self.world.is_answered {
            2 * self.world.latency
        } else {
            0
        };
        let own = self.own();
        if own.free > now {
            return Ok(false);
        }
        own.free = now + 1;
        own.sent.push_back((own.free + answer, own.started));
        own.started += 1;
        let pair = self.world.flying.entry((rank, to)).or_default();
        pair.push_back(arrives);
        Ok(true)
    }

    fn poll(&mut self) -> Result<Option<Complete>, ()> {
        let rank = self.rank;
        let now = self.world.now;
        let sent = &mut self.own().sent;
        if let Some(&(_, send)) = sent.front().filter(|(at, _)| *at <= now) {
            sent.pop_front();
            return Ok(Some(Complete::Send(send)));
        }
        let World {
            now, flying, ranks, ..
        } = &mut *self.world;
        let receives = &mut ranks[rank as usize].receives;
        // The oldest receive from a rank gets its oldest message.
        for i in 0..receives.len() {
            let (number, from) = receives[i];
            if let Some(pair) = flying.get_mut(&(from, rank))
                && pair.front().is_some_and(|&arrives| arrives <= *now)
                && !receives[..i].iter().any(|&(_, other)| other == from)
            {
                pair.pop_front();
                receives.remove(i);
                return Ok(Some(Complete::Receive(number)));
            }
        }
        Ok(None)
    }

    fn take(&mut self, _: Option<u32>, _: &Take) -> Result<(), ()> {
        Ok(())
    }

    fn idle(&mut self) -> Result<(), ()> {
        Ok(())
    }
}

/// Ticks until all ranks have carried out their scripts.
fn ticks(scripts: &[Script], latency: u64) -> u64 {
    ticks_with(scripts, (latency, false), 64)
}

/// The same with so many messages at a time each way, whose sends are complete after a round trip if that is so.
fn ticks_with(scripts: &[Script], (latency, is_answered): (u64, bool), messages: u32) -> u64 {
    let limits = Limits {
        receives: messages,
        sends: messages,
        message: u64::MAX,
    };
    let mut world = World {
        latency,
        is_answered,
        now: 0,
        flying: HashMap::new(),
        ranks: vec![Port::default(); scripts.len()],
    };
    let mut all: Vec<_> = scripts
        .iter()
        .map(|script| Execution::new(script, limits))
        .collect();
    loop {
        let mut done = true;
        for (rank, execution) in (0..).zip(&mut all) {
            let world = &mut world;
            let progress = execution.advance(&mut Wire { world, rank });
            done &= progress == Ok(Progress::Done);
        }
        if done {
            return world.now;
        }
        world.now += 1;
        assert!(world.now < 1_000_000, "the ranks wait for ever");
    }
}

/// A reduction in many blocks takes n - 1 + q rounds and the latencies on the longest way of a block, not a latency in
/// every round: what waits for its operands does not hold up what is ready for another rank.
#[test]
fn a_reduction_in_blocks_has_a_latency_for_each_hop_and_not_for_each_round() {
    for p in [3, 5, 8, 13, 16, 33, 36, 64, 65] {
        let graph = Circulant::new(p);
        let q = u64::from(graph.q() as u32);
        for (n, latency) in [(1, 10), (50, 1), (50, 10), (200, 5), (200, 10)] {
            let scripts = scripts(p, |script, rank| {
                script.begin(u64::MAX, repeat_n(1, n as usize));
                reduce(script, 0..n, &Group::all(p, rank), &graph, 0, |_, _| {});
            });
            let (rounds, took) = (u64::from(n) - 1 + q, ticks(&scripts, latency));
            assert!(
                took <= rounds + (q + 2) * latency,
                "p = {p}, n = {n}, latency {latency}: {took} ticks, {rounds} rounds"
            );
        }
    }
}

/// What a rank sends in a round of halving, or of the spreading behind it, it received first in the one before, or had
/// already. So it begins a round while it still receives. Where two parts take longer than a latency, and the number of
/// ranks is a power of two, there is a single latency in all rounds together.
#[test]
fn rounds_of_long_parts_follow_each_other_without_a_pause() {
    for p in [4, 8, 16, 64] {
        let q = u64::from(Circulant::new(p).q() as u32);
        for (segments, latency) in [(10, 17), (20, 35), (40, 75)] {
            let part = |ranks: Range<u32>| once(ranks.start * segments..ranks.end * segments);
            let all = |write: &dyn Fn(&mut Script, &Group)| {
                scripts(p, |script, rank| {
                    script.begin(1, repeat_n(1, (p * segments) as usize));
                    write(script, &Group::all(p, rank));
                })
            };
            let halved = all(&|script, group| halving(script, group, part));
            let spread_out = all(&|script, group| {
                spread(script, group, &Steps::new(p, 2), part);
            });
            for (scripts, name) in [(halved, "halving"), (spread_out, "spreading")] {
                let (sent, took) = (u64::from((p - 1) * segments), ticks(&scripts, latency));
                assert!(
                    took <= sent + latency + q,
                    "{name}, p = {p}, {segments} segments, latency {latency}: {took} ticks, {sent} sent"
                );
            }
        }
    }
}

/// Where the MPI library waits for the receiver of each message, so many are under way that they fill the wire: 8 MiB
/// in a round trip, in messages of 16 KiB.
#[test]
fn long_messages_fill_a_wire_that_holds_many() {
    const BYTES: u64 = 16 << 10;
    const BLOCKS: u32 = 4000;
    let mut flow = Flow::default();
    flow.reserve(64, 1).unwrap();
    // 1 GiB/s over 4 ms.
    let rate = f64::from(1 << 30) / 1e6;
    flow.expect(4000.0, rate);
    let latency = (4000.0 * rate / BYTES as f64) as u64;
    let scripts = scripts(2, |script, rank| {
        script.begin(u64::MAX, repeat_n(1, BLOCKS as usize));
        reduce(
            script,
            0..BLOCKS,
            &Group::all(2, rank),
            &Circulant::new(2),
            0,
            |_, _| {},
        );
    });
    let least = u64::from(BLOCKS) + latency;
    let messages = flow.messages(BYTES);
    let took = ticks_with(&scripts, (latency, true), messages as u32);
    assert!(
        10 * took <= 12 * least,
        "{took} of {least} ticks, {messages} messages"
    );
    // On a near one there are no more than there were.
    flow.expect(2.0, rate);
    assert!(flow.messages(64) <= 64, "{}", flow.messages(64));
}
