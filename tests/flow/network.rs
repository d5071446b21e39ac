//! Invented networks, and calls over them.

use rondo::flow::{Flow, Verdict};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// Some ranks that send to one, or to several in turn. Times in microseconds, rates in bytes per microsecond (MB/s).
#[derive(Clone, Copy, Debug)]
pub struct Network {
    pub senders: u32,
    pub receivers: u32,
    /// Is it between nodes, and all that they have?
    pub whole: bool,
    /// Of the link to the receivers, which all share.
    pub rate: f64,
    /// One way.
    pub latency: f64,
    /// What the way back takes more.
    pub back: f64,
    /// The receiver looks for messages so often, and senders for acknowledgements: busy processes.
    pub busy: f64,
    /// The first receiver comes to a call so long after the senders, the next one twice as long, and so on.
    pub late: f64,
    /// Bytes that the link lets through at once after a pause.
    pub burst: f64,
    /// Bytes that wait in front of the link at the most. One more is lost, and sent again after 2 ms.
    pub buffer: u64,
    pub block: u64,
    /// Does the clock of the senders show nothing, as one with long ticks does?
    pub standing: bool,
    /// From the first moment of a call on, the clock of the first sender is ahead by the second number; behind, if that
    /// is negative.
    pub jump: Option<(f64, f64)>,
    /// Behind the link that they share, two receivers have ways of their own.
    pub ways: Option<[Way; 2]>,
}

/// The way to one of two receivers.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub rate: f64,
    /// One way.
    pub latency: f64,
    /// Of the blocks of each turn, so many are for this receiver.
    pub blocks: u64,
}

impl Network {
    /// To whom the next block of a sender is that has so many left, and how many follow to the same receiver.
    fn next(&self, left: u64) -> (u32, u64) {
        match self.ways {
            None => {
                let receivers = u64::from(self.receivers);
                ((left % receivers) as u32, (left - 1) / receivers)
            }
            Some([first, second]) => {
                let turn = first.blocks + second.blocks;
                match left % turn < first.blocks {
                    true => (0, (left - 1) * first.blocks / turn),
                    false => (1, (left - 1) * second.blocks / turn),
                }
            }
        }
    }

    /// One way to a receiver.
    fn latency_to(&self, to: u32) -> f64 {
        let own = self.ways.map_or(0.0, |ways| ways[to as usize].latency);
        self.latency + own
    }
}

pub const QUIET: Network = Network {
    senders: 1,
    receivers: 1,
    whole: true,
    rate: 25.0,
    latency: 0.0,
    back: 0.0,
    busy: 20.0,
    late: 0.0,
    burst: 0.0,
    buffer: u64::MAX,
    block: 8 << 10,
    standing: false,
    jump: None,
    ways: None,
};

/// What clocks show at the beginning: they may go back.
const CLOCK: f64 = 1e7;

/// What came of calls of so many bytes from each sender.
#[derive(Debug)]
pub struct Outcome {
    /// The time of the last call.
    pub time: f64,
    /// Bytes of all senders that waited in front of the link in the last call, in the mean and at the most.
    pub queue: (f64, u64),
    /// When the last block was with each of two receivers in the last call, at the most.
    pub reached: [f64; 2],
}

#[derive(PartialEq)]
struct Event {
    at: f64,
    sender: usize,
    to: u32,
    synchronous: bool,
    bytes: u64,
    is_answer: bool,
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Event) -> Ordering {
        self.at.total_cmp(&other.at)
    }
}

/// The next moment at which a process that looks every `busy` microseconds notices something.
fn noticed(at: f64, busy: f64) -> f64 {
    (at / busy).ceil() * busy
}

/// What the clock of a sender shows, in nanoseconds.
fn clock(network: &Network, sender: usize, now: f64) -> u64 {
    let ahead = match network.jump {
        Some((at, ahead)) if sender == 0 && now >= at => ahead,
        Some(_) | None => 0.0,
    };
    if network.standing {
        0
    } else {
        ((CLOCK + now + ahead) * 1e3) as u64
    }
}

/// Several calls in which every sender sends `bytes` bytes in blocks.
pub fn calls(network: Network, flows: &mut [Flow], bytes: u64, calls: u32) -> Outcome {
    let mut now = 0.0;
    let mut outcome = None;
    for call in 0..calls {
        let start = now;
        for flow in &mut *flows {
            let neighbors = network.senders.max(network.receivers);
            flow.reserve(64, neighbors).unwrap();
            flow.set_whole(network.whole);
            flow.begin();
        }
        let blocks = bytes / network.block;
        let mut left = vec![blocks; flows.len()];
        let mut events: BinaryHeap<Reverse<Event>> = BinaryHeap::new();
        let mut link: VecDeque<(f64, u64)> = VecDeque::new();
        let (mut free, mut credit) = (now, network.burst);
        let (mut queue_time, mut most, mut open) = (0.0, 0, 0u32);
        let mut turn = 0;
        let (mut own_free, mut reached) = ([now; 2], [0.0; 2]);
        loop {
            // All that may leave, one block of each sender after the other.
            let mut waits = 0;
            while waits < flows.len() {
                let sender = turn % flows.len();
                turn += 1;
                let (to, verdict) = match left[sender] {
                    0 => (0, Verdict::Wait),
                    left => {
                        let (to, more) = network.next(left);
                        let more = more * network.block;
                        (to, flows[sender].ask(to, network.block, more))
                    }
                };
                if verdict == Verdict::Wait {
                    waits += 1;
                    continue;
                }
                waits = 0;
                let synchronous = verdict == Verdict::Synchronous;
                flows[sender].sent(
                    to,
                    network.block,
                    synchronous.then_some(clock(&network, sender, now)),
                    false,
                );
                left[sender] -= 1;
                open += u32::from(synchronous);
                // The link: a token bucket that fills while nothing waits, then its rate.
                let idle = f64::max(now - free, 0.0);
                credit = (credit + idle * network.rate).min(network.burst);
                let length = network.block as f64;
                let free_bytes = length.min(credit);
                credit -= free_bytes;
                let queued: u64 = link.iter().map(|(_, bytes)| bytes).sum();
                // Later messages of the rank wait for one that was lost.
                let again = if queued + network.block > network.buffer {
                    2000.0
                } else {
                    0.0
                };
                free = f64::max(free, now) + again + (length - free_bytes) / network.rate;
                link.push_back((free, network.block));
                let queued = queued + network.block;
                most = most.max(queued);
                queue_time += (free - now) * length;
                let begins = start + network.late * f64::from(to + 1);
                let mut arrives = free + network.latency_to(to);
                if let Some(ways) = network.ways {
                    let own_free = &mut own_free[to as usize];
                    arrives = own_free.max(arrives) + length / ways[to as usize].rate;
                    *own_free = arrives;
                }
                events.push(Reverse(Event {
                    at: noticed(begins.max(arrives), network.busy),
                    sender,
                    to,
                    synchronous,
                    bytes: network.block,
                    is_answer: false,
                }));
            }
            let Some(Reverse(event)) = events.pop() else {
                break;
            };
            now = event.at;
            while link.front().is_some_and(|(gone, _)| *gone <= now) {
                link.pop_front();
            }
            if event.is_answer {
                let shown = clock(&network, event.sender, now);
                flows[event.sender].acknowledged(event.to, shown);
                open -= 1;
                continue;
            }
            if let Some(reached) = reached.get_mut(event.to as usize) {
                *reached = now - start;
            }
            if event.synchronous {
                let way = network.latency_to(event.to) + network.back;
                events.push(Reverse(Event {
                    at: noticed(now + way, network.busy),
                    is_answer: true,
                    ..event
                }));
            }
        }
        assert_eq!(open, 0, "{network:?}: all is answered");
        assert_eq!(left.iter().sum::<u64>(), 0, "{network:?}: all is sent");
        // Ever less often: not after the last two calls.
        if call + 2 < calls {
            agree(flows);
        }
        let time = now - start;
        let total = (blocks * network.block * u64::from(network.senders)) as f64;
        outcome = Some(Outcome {
            time,
            queue: (queue_time / total * network.rate, most),
            reached,
        });
    }
    outcome.expect("there is a call")
}

/// The ranks agree. The rate that they had, in bytes per microsecond.
pub fn agree(flows: &mut [Flow]) -> Option<f64> {
    let offers: Vec<_> = flows.iter().map(Flow::offer).collect();
    let most = |i| offers.iter().map(|offer| offer[i]).max();
    let agreed = std::array::from_fn(|i| most(i).expect("there is a sender"));
    let rates: Vec<_> = flows.iter_mut().map(|flow| flow.agree(agreed)).collect();
    let windows: Vec<_> = flows.iter().map(Flow::window).collect();
    assert!(
        windows.iter().all(|window| *window == windows[0]),
        "{windows:?}"
    );
    let paths: Vec<_> = flows.iter().map(Flow::path).collect();
    assert!(paths.iter().all(|path| *path == paths[0]), "{paths:?}");
    rates
        .into_iter()
        .max()
        .flatten()
        .map(|rate| rate as f64 / 1e6)
}

pub fn flows(network: Network) -> Vec<Flow> {
    (0..network.senders).map(|_| Flow::default()).collect()
}

/// After four calls of 16 MiB from all senders together, and three agreements, a fifth one.
pub fn settled(network: Network) -> Outcome {
    let mut flows = flows(network);
    let outcome = calls(
        network,
        &mut flows,
        (16 << 20) / u64::from(network.senders),
        5,
    );
    println!("{network:?}: {outcome:?}");
    outcome
}

/// The time that the link alone needs.
pub fn least(network: Network) -> f64 {
    f64::from(16 << 20) / network.rate + 2.0 * network.latency
}

#[track_caller]
pub fn is_in_time(network: Network, outcome: &Outcome, most: f64) {
    let least = least(network);
    assert!(
        outcome.time <= most * least,
        "{network:?}: {outcome:?}, the link alone {least}"
    );
}

#[track_caller]
pub fn fills_the_link(network: Network) -> Outcome {
    let outcome = settled(network);
    is_in_time(network, &outcome, 1.12);
    outcome
}

/// The rate that senders agree on after eight calls.
pub fn rate(network: Network, flows: &mut [Flow], bytes: u64) -> Option<f64> {
    for _ in 0..4 {
        calls(network, flows, bytes, 2);
    }
    agree(flows)
}
