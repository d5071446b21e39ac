//! The law of in-flight control on invented networks: it fills the link, and does not fill queues.

use rondo::flow::{EDGE_BYTES, Flow, Path, RANK_BYTES, SMALL_WINDOW, Verdict, Volume, shown};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// Some ranks that send to one, or to several in turn. Times in microseconds, rates in bytes per microsecond (MB/s).
#[derive(Clone, Copy, Debug)]
struct Network {
    senders: u32,
    receivers: u32,
    /// Is it between nodes, and all that they have?
    whole: bool,
    /// Of the link to the receivers, which all share.
    rate: f64,
    /// One way.
    latency: f64,
    /// What the way back takes more.
    back: f64,
    /// The receiver looks for messages so often, and senders for acknowledgements: busy processes.
    busy: f64,
    /// The first receiver comes to a call so long after the senders, the next one twice as long, and so on.
    late: f64,
    /// Bytes that the link lets through at once after a pause.
    burst: f64,
    /// Bytes that wait in front of the link at the most. One more is lost, and sent again after 2 ms.
    buffer: u64,
    block: u64,
    /// Does the clock of the senders show nothing, as one with long ticks does?
    standing: bool,
    /// From the first moment of a call on, the clock of the first sender is ahead by the second number; behind, if that
    /// is negative.
    jump: Option<(f64, f64)>,
}

const QUIET: Network = Network {
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
};

/// What clocks show at the beginning: they may go back.
const CLOCK: f64 = 1e7;

/// What came of calls of so many bytes from each sender.
#[derive(Debug)]
struct Outcome {
    /// The time of the last call.
    time: f64,
    /// Bytes of all senders that waited in front of the link in the last call, in the mean and at the most.
    queue: (f64, u64),
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
fn calls(network: Network, flows: &mut [Flow], bytes: u64, calls: u32) -> Outcome {
    let mut now = 0.0;
    let mut outcome = None;
    for call in 0..calls {
        let start = now;
        for flow in &mut *flows {
            let neighbors = network.senders.max(network.receivers);
            flow.reserve(64, neighbors).unwrap();
            flow.set_whole(network.whole);
            flow.begin(128);
        }
        let blocks = bytes / network.block;
        let mut left = vec![blocks; flows.len()];
        let mut events: BinaryHeap<Reverse<Event>> = BinaryHeap::new();
        let mut link: VecDeque<(f64, u64)> = VecDeque::new();
        let (mut free, mut credit) = (now, network.burst);
        let (mut queue_time, mut most, mut open) = (0.0, 0, 0u32);
        let mut turn = 0;
        loop {
            // All that may leave, one block of each sender after the other.
            let mut waits = 0;
            while waits < flows.len() {
                let sender = turn % flows.len();
                turn += 1;
                let receivers = u64::from(network.receivers);
                let to = (left[sender] % receivers) as u32;
                let verdict = match left[sender] {
                    0 => Verdict::Wait,
                    left => {
                        let more = (left - 1) / receivers * network.block;
                        flows[sender].ask(to, network.block, more)
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
                events.push(Reverse(Event {
                    at: noticed(begins.max(free + network.latency), network.busy),
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
            } else if event.synchronous {
                events.push(Reverse(Event {
                    at: noticed(now + network.latency + network.back, network.busy),
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
        });
    }
    outcome.expect("there is a call")
}

/// The ranks agree. The rate that they had, in bytes per microsecond.
fn agree(flows: &mut [Flow]) -> Option<f64> {
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

fn flows(network: Network) -> Vec<Flow> {
    (0..network.senders).map(|_| Flow::default()).collect()
}

/// After four calls of 16 MiB from all senders together, and three agreements, a fifth one.
fn settled(network: Network) -> Outcome {
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
fn least(network: Network) -> f64 {
    f64::from(16 << 20) / network.rate + 2.0 * network.latency
}

#[track_caller]
fn is_in_time(network: Network, outcome: &Outcome, most: f64) {
    let least = least(network);
    assert!(
        outcome.time <= most * least,
        "{network:?}: {outcome:?}, the link alone {least}"
    );
}

#[track_caller]
fn fills_the_link(network: Network) -> Outcome {
    let outcome = settled(network);
    is_in_time(network, &outcome, 1.12);
    outcome
}

#[test]
fn a_long_fat_network_is_filled() {
    // 2 ms each way at 25 MB/s: 100 KB are under way; at 1 GB/s 4 MB.
    fills_the_link(Network {
        latency: 2000.0,
        ..QUIET
    });
    fills_the_link(Network {
        latency: 500.0,
        busy: 5.0,
        rate: 1000.0,
        ..QUIET
    });
}

/// What is known of the network spares it the small window, in the first call and in those behind an agreement.
#[test]
fn calls_on_a_network_that_is_known_to_be_far_are_not_held_up() {
    let far = Network {
        latency: 10_000.0,
        ..QUIET
    };
    let call = |expected: bool, number: u32| {
        let mut flows = flows(far);
        if expected {
            // The rate is not what was expected.
            flows[0].expect(far.latency, 4.0 * far.rate);
        }
        calls(far, &mut flows, 4 << 20, number).time
    };
    let least = f64::from(4 << 20) / far.rate + 2.0 * far.latency;
    for number in [1, 4] {
        assert!(
            call(true, number) < 1.1 * least,
            "{} of {least}",
            call(true, number)
        );
    }
    assert!(call(false, 1) > 1.1 * call(true, 1));
}

/// A rank that sends to several others may have as much under way as may lie at all of them.
#[test]
fn a_far_and_fast_network_is_filled_by_several_edges() {
    let far = Network {
        latency: 5000.0,
        rate: 1250.0,
        receivers: 4,
        block: 64 << 10,
        ..QUIET
    };
    let mut flows = flows(far);
    flows[0].expect(far.latency, far.rate);
    let outcome = calls(far, &mut flows, 64 << 20, 2);
    let least = f64::from(64 << 20) / far.rate + 2.0 * far.latency;
    assert!(outcome.time <= 1.12 * least, "{outcome:?} of {least}");
    assert_eq!(flows[0].window(), RANK_BYTES);
}

/// A network on which the wire holds little is not far, however fast it is: there the round trip is the processes'.
#[test]
fn what_a_fast_network_carries_is_measured() {
    let mut flow = Flow::default();
    flow.reserve(64, 1).unwrap();
    flow.expect(2.0, 12_000.0);
    assert_eq!(flow.window(), SMALL_WINDOW);
    flow.expect(2000.0, 25.0);
    assert_eq!(flow.window(), SMALL_WINDOW + 400_000);
}

/// Of two long blocks, one travels while the other is answered: neither the first window nor the small one has room for
/// two.
#[test]
fn long_blocks_do_not_go_one_at_a_time() {
    for (block, latency) in [(32 << 10, 100.0), (128 << 10, 400.0), (1 << 20, 4000.0)] {
        let network = Network {
            latency,
            block,
            rate: 125.0,
            ..QUIET
        };
        let mut flows = flows(network);
        let outcome = calls(network, &mut flows, 16 << 20, 1);
        is_in_time(network, &outcome, 1.12);
    }
}

/// Two ranks, each with a link of its own, that make the same calls. The times of the last call.
fn side_by_side(networks: [Network; 2], bytes: u64) -> [f64; 2] {
    let mut flows = [Flow::default(), Flow::default()];
    let mut times = [0.0; 2];
    for call in 0..6 {
        for (i, network) in networks.into_iter().enumerate() {
            times[i] = calls(network, &mut flows[i..=i], bytes, 1).time;
        }
        if call < 4 {
            agree(&mut flows);
        }
    }
    println!("{times:?}, {} bytes", flows[0].window());
    times
}

/// All ranks have the same window, and a single one is far from the others: most round trips are short.
#[test]
fn one_far_edge_is_not_held_up_by_the_others() {
    let near = Network {
        latency: 20.0,
        busy: 5.0,
        block: 16 << 10,
        ..QUIET
    };
    let far = Network {
        latency: 50_000.0,
        ..near
    };
    let [_, time] = side_by_side([near, far], 16 << 20);
    let least = least(far);
    assert!(time < 1.4 * least, "{time} of {least}");
}

/// A rank whose link is slow has long round trips as well, of its own queue. It and the others are as fast as their
/// links.
#[test]
fn one_slow_edge_holds_nobody_up() {
    let fast = Network {
        latency: 100.0,
        ..QUIET
    };
    let slow = Network {
        rate: fast.rate / 20.0,
        ..fast
    };
    let times = side_by_side([fast, slow], 16 << 20);
    for (time, network) in times.into_iter().zip([fast, slow]) {
        assert!(time < 1.12 * least(network), "{time}: {network:?}");
    }
}

#[test]
fn a_way_back_that_is_longer_counts_as_well() {
    fills_the_link(Network {
        latency: 100.0,
        back: 4000.0,
        ..QUIET
    });
}

/// What does not fit into the buffer of a switch is lost, and waiting for it costs more than an idle link.
#[test]
fn a_shallow_buffer_does_not_overflow() {
    let shallow = Network {
        buffer: 200 << 10,
        ..QUIET
    };
    for latency in [0.0, 100.0] {
        for buffer in [120 << 10, 200 << 10] {
            let shallow = Network { buffer, ..shallow };
            let outcome = fills_the_link(Network { latency, ..shallow });
            assert!(outcome.queue.1 <= shallow.buffer, "{outcome:?}");
        }
    }
}

/// Answers after no time are no rate, and the window is no larger for them.
#[test]
fn a_clock_that_stands_shows_no_rate() {
    for latency in [0.0, 500.0] {
        let standing = Network {
            latency,
            standing: true,
            ..QUIET
        };
        let mut flows = flows(standing);
        for call in 0..4 {
            calls(standing, &mut flows, 4 << 20, 1);
            assert_eq!(agree(&mut flows), None, "call {call}");
        }
        let window = flows[0].window();
        assert!(window <= 192 << 10, "{window}");
    }
}

/// The time of the last of ten calls, with an agreement behind each. In the call of this number the clock of the first
/// sender jumps at the moment `at`. Of a far network, latency and rate are known, and the rate is learnt.
fn after_a_jump(network: Network, jump: Option<(u32, f64, f64)>) -> f64 {
    const CALLS: u32 = 10;
    let mut flows = flows(network);
    let bytes = (16 << 20) / u64::from(network.senders);
    let (mut rate, mut time) = (network.rate, 0.0);
    for call in 0..CALLS {
        for flow in &mut flows {
            flow.reserve(64, network.senders).unwrap();
            flow.expect(network.latency, rate);
        }
        let now = jump.filter(|(of, ..)| *of == call);
        let network = Network {
            jump: now.map(|(_, at, ahead)| (at, ahead)),
            ..network
        };
        let outcome = calls(network, &mut flows, bytes, 1);
        time = outcome.time;
        // No call hangs, be its window what it is.
        assert!(time <= 3.0 * least(network), "{jump:?}: {outcome:?}");
        if let Some(shown) = agree(&mut flows) {
            rate = shown.max((shown * rate).sqrt());
        }
        let path = flows[0].path();
        let window = path.map_or(SMALL_WINDOW, |path| path.window_bytes);
        assert!(
            (SMALL_WINDOW..=RANK_BYTES).contains(&window),
            "{jump:?}: {window}"
        );
    }
    println!("{network:?} {jump:?}: {time}");
    time
}

/// A clock that is set in the middle of a call shows round trips of an hour, or of no time, and rates that are none.
/// Nothing ends or hangs by that, all ranks go on alike, which is looked at where they agree, and some agreements later
/// it is forgotten.
#[test]
fn a_clock_that_jumps_does_no_lasting_harm() {
    let hour = 3600e6;
    for network in [
        QUIET,
        Network {
            senders: 5,
            ..QUIET
        },
        Network {
            latency: 500.0,
            ..QUIET
        },
        DEEP,
        Network { senders: 5, ..DEEP },
    ] {
        let usual = after_a_jump(network, None);
        for ahead in [hour, -1e6] {
            for call in [0, 1, 3] {
                for part in [0.003, 0.1, 0.5, 0.9] {
                    let at = part * least(network);
                    let time = after_a_jump(network, Some((call, at, ahead)));
                    assert!(
                        time <= 1.1 * usual,
                        "{network:?}: {ahead} ahead from {at} in call {call}: {time}, not {usual}"
                    );
                }
            }
        }
    }
}

#[test]
fn busy_processes_are_a_long_way() {
    fills_the_link(Network {
        busy: 4000.0,
        latency: 100.0,
        ..QUIET
    });
}

#[test]
fn a_short_thin_network_has_no_long_queue() {
    let thin = Network {
        rate: 6.25,
        ..QUIET
    };
    let outcome = fills_the_link(thin);
    assert!(outcome.queue.1 <= 160 << 10, "{outcome:?}");
}

#[test]
fn a_burst_is_not_taken_for_the_rate() {
    let outcome = fills_the_link(Network {
        burst: 65536.0,
        latency: 100.0,
        ..QUIET
    });
    assert!(outcome.queue.1 <= 256 << 10, "{outcome:?}");
}

/// The rate that senders agree on after eight calls.
fn rate(network: Network, flows: &mut [Flow], bytes: u64) -> Option<f64> {
    for _ in 0..4 {
        calls(network, flows, bytes, 2);
    }
    agree(flows)
}

/// Who comes late finds what was sent meanwhile, and answers all of it in a moment. A link that has been idle lets
/// something through at once. Neither is the rate of the link.
#[test]
fn late_receivers_and_bursts_are_not_a_fast_link() {
    let far = Network {
        latency: 2000.0,
        ..QUIET
    };
    // A pause in the middle, for one that comes later than another, lets a burst through there too: it counts with an
    // epoch, of 256 KiB at the least.
    for (late, burst, most) in [
        (0.0, 65536.0, 1.1),
        (30_000.0, 0.0, 1.1),
        (30_000.0, 65536.0, 1.25),
    ] {
        for receivers in [1, 2, 3] {
            for (bytes, expected) in [560 << 10, 1 << 20, 8 << 20]
                .into_iter()
                .flat_map(|bytes| [(bytes, false), (bytes, true)])
            {
                let network = Network {
                    late,
                    burst,
                    receivers,
                    ..far
                };
                let mut flows = flows(network);
                if expected {
                    flows[0].expect(network.latency, network.rate);
                }
                let rate = rate(network, &mut flows, bytes);
                // What a message takes in memory besides counts too.
                let link = network.rate * (1.0 + 256.0 / network.block as f64);
                let case = format!("{bytes} bytes, expected {expected}: {rate:?}, {network:?}");
                assert!(rate.is_none_or(|rate| rate <= most * link), "{case}");
                // Long calls tell it.
                assert!(
                    bytes < 8 << 20 || rate.is_some_and(|rate| rate >= 0.75 * network.rate),
                    "{case}"
                );
            }
        }
    }
}

/// The answers to two long blocks are noticed at the same time by a rank that is busy. One of them after no time is no
/// rate.
#[test]
fn answers_that_come_together_are_not_a_fast_link() {
    for block in [128 << 10, 256 << 10, 1 << 20] {
        for busy in [5000.0, 20_000.0] {
            let network = Network {
                block,
                busy,
                rate: 125.0,
                ..QUIET
            };
            let mut flows = flows(network);
            let rate = rate(network, &mut flows, 32 << 20);
            let case = format!("{rate:?}, {network:?}");
            assert!(
                rate.is_some_and(|rate| rate <= 1.3 * network.rate),
                "{case}"
            );
        }
    }
}

/// Of calls that are little longer than the small window, nothing counts. They do not keep to it for ever.
#[test]
fn short_calls_have_a_larger_window_in_the_end() {
    let late = Network {
        late: 5000.0,
        ..QUIET
    };
    let mut flows = flows(late);
    for _ in 0..20 {
        calls(late, &mut flows, 80 << 10, 1);
    }
    assert!(flows[0].window() > SMALL_WINDOW);
    // Long calls had a rate, and none told that of the small window: no reason to stay there.
    for flow in &mut flows {
        flow.agree([1 << 30, i64::MIN, 150_000, !150_000, 0]);
    }
    for _ in 0..20 {
        calls(late, &mut flows, 80 << 10, 1);
    }
    assert!(flows[0].window() > SMALL_WINDOW);
}

/// What messages inside a node, or those of ranks that share a link, tell of the rate is not that between nodes.
#[test]
fn only_calls_between_nodes_tell_the_rate() {
    let inside = Network {
        rate: 5000.0,
        whole: false,
        ..QUIET
    };
    let mut flows = flows(QUIET);
    assert_eq!(rate(inside, &mut flows, 16 << 20), None);
    for bytes in [300 << 10, 1 << 20] {
        for _ in 0..8 {
            calls(inside, &mut flows, bytes, 1);
            calls(QUIET, &mut flows, bytes, 1);
        }
    }
    let rate = agree(&mut flows).expect("there were long calls between nodes");
    assert!(
        (0.75 * QUIET.rate..=1.1 * QUIET.rate).contains(&rate),
        "{rate}"
    );
}

/// What a network carried that was far and fast is forgotten where it becomes thin.
#[test]
fn a_window_shrinks_with_the_network() {
    let fat = Network {
        latency: 500.0,
        busy: 5.0,
        rate: 1000.0,
        ..QUIET
    };
    let mut measured = flows(fat);
    calls(fat, &mut measured, 16 << 20, 5);
    assert!(measured[0].window() > 1 << 20);
    let mut expected = flows(fat);
    expected[0].expect(fat.latency, fat.rate);
    calls(fat, &mut expected, 16 << 20, 5);
    assert!(expected[0].window() > 1 << 20);
    expected[0].expect(10.0, QUIET.rate);
    for mut flows in [measured, expected] {
        calls(QUIET, &mut flows, 16 << 20, 5);
        assert!(
            flows[0].window() <= 2 * SMALL_WINDOW,
            "{}",
            flows[0].window()
        );
    }
}

/// As [`settled`], where latency and rate are known from the beginning, and what calls show of the rate is learnt.
fn known(network: Network) -> Outcome {
    let mut flows = flows(network);
    let bytes = (16 << 20) / u64::from(network.senders);
    let mut rate = network.rate;
    let mut outcome = None;
    for _ in 0..8 {
        for flow in &mut flows {
            flow.expect(network.latency, rate);
        }
        outcome = Some(calls(network, &mut flows, bytes, 1));
        if let Some(shown) = agree(&mut flows) {
            // A lower rate counts half.
            rate = shown.max((shown * rate).sqrt());
        }
    }
    let outcome = outcome.expect("there is a call");
    println!("{network:?}: {outcome:?}");
    outcome
}

#[track_caller]
fn fills_the_known_link(network: Network, most: f64) {
    is_in_time(network, &known(network), most);
}

#[test]
fn a_far_network_whose_way_back_is_longer_is_filled() {
    for back in [4000.0, 20_000.0] {
        let asymmetric = Network {
            latency: 2000.0,
            back,
            ..QUIET
        };
        fills_the_known_link(asymmetric, 1.15);
    }
}

/// Where ways are six times as long as the latency says, a far window covers too little of them. Calls show an ever
/// lower rate, until the network does not seem to be far, and its window is measured. That one stays when it is far
/// again.
#[test]
fn a_window_that_was_measured_is_the_least_one_of_a_far_network() {
    let asymmetric = Network {
        latency: 2000.0,
        back: 20_000.0,
        ..QUIET
    };
    let mut flows = flows(asymmetric);
    let mut rate = asymmetric.rate;
    for call in 0..16 {
        flows[0].expect(asymmetric.latency, rate);
        let outcome = calls(asymmetric, &mut flows, 16 << 20, 1);
        if let Some(shown) = agree(&mut flows) {
            rate = shown.max((shown * rate).sqrt());
        }
        println!("{call}: {rate} {outcome:?}");
        if call >= 12 {
            is_in_time(asymmetric, &outcome, 1.15);
        }
    }
}

/// The window that a far network asks for may be larger than what its switches hold, so that much is lost. Then it
/// becomes smaller, and stays so.
#[test]
fn a_far_network_with_a_shallow_buffer_does_not_overflow_for_long() {
    for (latency, buffer, most) in [
        (2000.0, 400 << 10, 1.05),
        (2000.0, 200 << 10, 1.05),
        (5000.0, 400 << 10, 1.05),
        // The wire itself holds more than the buffer: what fits does not fill it.
        (5000.0, 200 << 10, 2.0),
    ] {
        let shallow = Network {
            latency,
            buffer,
            ..QUIET
        };
        fills_the_known_link(shallow, most);
    }
}

#[test]
fn five_senders_to_one_over_a_far_network_share_its_buffer() {
    for latency in [500.0, 2000.0, 5000.0] {
        let incast = Network {
            senders: 5,
            latency,
            buffer: 400 << 10,
            ..QUIET
        };
        fills_the_known_link(incast, 1.05);
    }
}

/// As [`settled`] after more calls, where latency and rate are said anew before each of them, and the rate is so many
/// times what it is. The last call, and the window of it.
fn told(network: Network, times: f64) -> (Outcome, u64) {
    let mut flows = flows(network);
    let mut last = None;
    for _ in 0..8 {
        last = Some(tell(network, times, &mut flows));
    }
    println!("{times} times {network:?}: {last:?}");
    last.expect("there is a call")
}

/// One call of 16 MiB of all senders together, and an agreement. The window in it.
fn tell(network: Network, times: f64, flows: &mut [Flow]) -> (Outcome, u64) {
    for flow in &mut *flows {
        flow.reserve(64, 1).unwrap();
        flow.expect(network.latency, times * network.rate);
    }
    let window = flows[0].window();
    let bytes = (16 << 20) / u64::from(network.senders);
    let outcome = calls(network, flows, bytes, 1);
    agree(flows);
    (outcome, window)
}

/// 100 KB are on the way at a time, and no buffer overflows.
const DEEP: Network = Network {
    latency: 2000.0,
    ..QUIET
};

/// What the wire of [`DEEP`] holds in a round trip, and the window that is known to be right there.
const DEEP_WIRE: u64 = 100_000;
const DEEP_WINDOW: u64 = SMALL_WINDOW + 4 * DEEP_WIRE;

/// Where latency and rate are right, the window is as large as they say, on whatever ways the acknowledgements take.
#[test]
fn a_far_window_stays_where_the_rate_is_right() {
    for back in [0.0, 4000.0, 8000.0] {
        for (busy, late, receivers) in [
            (20.0, 0.0, 1),
            (20.0, 0.0, 3),
            (1000.0, 0.0, 1),
            (20.0, 30_000.0, 1),
        ] {
            let network = Network {
                back,
                busy,
                late,
                receivers,
                ..DEEP
            };
            let (outcome, window) = told(network, 1.0);
            assert_eq!(window, DEEP_WINDOW, "{network:?}: {outcome:?}");
            let least = least(network) + back + late + 2.0 * busy;
            assert!(
                outcome.time <= 1.03 * least,
                "{network:?}: {outcome:?} of {least}"
            );
        }
    }
}

/// Where the rate was taken for a higher one, nothing is lost in a deep buffer, but what is in it waits.
#[test]
fn a_far_window_that_only_makes_queues_becomes_smaller() {
    for times in [4.0, 10.0] {
        for (back, busy, receivers) in [
            (0.0, 20.0, 1),
            (0.0, 20.0, 3),
            (0.0, 1000.0, 1),
            (4000.0, 20.0, 1),
        ] {
            let network = Network {
                back,
                busy,
                receivers,
                ..DEEP
            };
            let (outcome, window) = told(network, times);
            let case = format!("{times} times {network:?}: {window}, {outcome:?}");
            let least = least(network) + back + 2.0 * busy;
            assert!(outcome.time <= 1.03 * least, "{case} of {least}");
            let wire = ((2.0 * network.latency + back + 2.0 * busy) * network.rate) as u64;
            assert!(window >= wire * 5 / 4, "{case}");
            // No more than a right window, and half of it, which is not worth another step.
            assert!(
                outcome.queue.0 <= 1.5 * (SMALL_WINDOW + 4 * wire) as f64,
                "{case}"
            );
        }
    }
}

/// Each of five ranks is told the rate of the link that they share.
#[test]
fn five_senders_to_one_over_a_far_network_share_a_deep_buffer() {
    // A call is longer than the window.
    for (times, latency) in [(1.0, 2000.0), (1.0, 5000.0), (4.0, 2000.0)] {
        let incast = Network {
            senders: 5,
            latency,
            ..QUIET
        };
        let (outcome, window) = told(incast, times);
        let case = format!("{times} times {incast:?}: {window}, {outcome:?}");
        assert!(outcome.time <= 1.03 * least(incast), "{case}");
        // All windows together.
        let share = 2.0 * latency * incast.rate / 5.0;
        let right = SMALL_WINDOW as f64 + 4.0 * share;
        assert!(outcome.queue.0 <= 5.0 * 1.5 * right, "{case}");
    }
}

/// Half of a link is somebody else's for some calls. The window follows, and the rate is the old one behind them.
#[test]
fn a_far_link_that_was_busy_is_filled_again() {
    for times in [1.0, 4.0] {
        for busy in 1..6 {
            let mut flows = flows(DEEP);
            let mut call = |rate| {
                // What is told of it stays.
                let told = times * DEEP.rate / rate;
                tell(Network { rate, ..DEEP }, told, &mut flows)
            };
            for _ in 0..6 {
                call(DEEP.rate);
            }
            for _ in 0..busy {
                call(DEEP.rate / 2.0);
            }
            for i in 0..6 {
                let (outcome, window) = call(DEEP.rate);
                let most = if i == 0 { 1.1 } else { 1.03 };
                let case = format!("{times}, {busy} calls, then {i}: {window}, {outcome:?}");
                assert!(outcome.time <= most * least(DEEP), "{case}");
            }
        }
    }
}

/// The ways of a far network become longer than its window covers, which had become smaller: it is large again.
#[test]
fn a_far_window_becomes_large_again_where_ways_become_longer() {
    let mut flows = flows(DEEP);
    let mut first = 0;
    for call in 0..6 {
        let (_, window) = tell(DEEP, 10.0, &mut flows);
        if call == 0 {
            first = window;
        }
        assert!(call < 5 || 4 * window < first, "{window} of {first}");
    }
    let long = Network {
        back: 30_000.0,
        ..DEEP
    };
    let mut last = None;
    for _ in 0..12 {
        last = Some(tell(long, 10.0, &mut flows));
    }
    let (outcome, window) = last.expect("there is a call");
    assert!(
        outcome.time <= 1.05 * (least(long) + long.back),
        "{window}: {outcome:?}"
    );
}

/// Where round trips vary so much that a smaller window carries less than the least of them promises, it is tried ever
/// less often.
#[test]
fn a_smaller_window_that_carries_less_is_rare() {
    let mut flow = Flow::default();
    flow.reserve(64, 1).unwrap();
    let mut small = Vec::new();
    for agreement in 0..300 {
        flow.expect(2000.0, 100.0);
        let window = flow.window();
        let is_small = window < 1200 << 10;
        if is_small {
            small.push(agreement);
        }
        let rate = if is_small { 20_000_000 } else { 25_000_000 };
        let trip = 4_000_000;
        flow.agree([rate as i64, i64::MIN, trip, !trip, shown((rate, window))]);
    }
    // Each time two agreements say so.
    assert_eq!(small[..6], [2, 3, 8, 9, 18, 19]);
    assert!(small.len() < 20, "{small:?}");
}

/// What carried less once may carry more later, which only a larger window shows.
#[test]
fn a_smaller_window_that_carries_as_much_is_left_now_and_then() {
    let mut flow = Flow::default();
    flow.reserve(64, 1).unwrap();
    let mut large = Vec::new();
    for agreement in 0..300 {
        flow.expect(2000.0, 100.0);
        let window = flow.window();
        if window > 1200 << 10 {
            large.push(agreement);
        }
        let (rate, trip) = (25_000_000, 4_000_000);
        flow.agree([rate as i64, i64::MIN, trip, !trip, shown((rate, window))]);
    }
    assert!(large.iter().any(|&agreement| agreement > 2), "{large:?}");
    assert!(large.len() < 60, "{large:?}");
}

/// A clock that stands makes no window of a far network smaller.
#[test]
fn a_clock_that_stands_changes_no_far_window() {
    let standing = Network {
        standing: true,
        ..DEEP
    };
    let (_, window) = told(standing, 4.0);
    assert_eq!(window, SMALL_WINDOW + 16 * DEEP_WIRE);
}

/// A window that was too large for a network is allowed again when the network carries more.
#[test]
fn a_smaller_window_lasts_as_long_as_its_reason() {
    let shallow = Network {
        latency: 2000.0,
        buffer: 200 << 10,
        ..QUIET
    };
    let mut flows = flows(shallow);
    let call = |network: Network, flows: &mut [Flow]| {
        flows[0].expect(network.latency, network.rate);
        calls(network, flows, 16 << 20, 1);
        agree(flows);
    };
    let deep = Network {
        buffer: u64::MAX,
        ..shallow
    };
    let thin = Network {
        rate: 12.0,
        ..shallow
    };
    // The window of the thin network is half as large, and little is lost.
    call(thin, &mut flows);
    call(shallow, &mut flows);
    call(shallow, &mut flows);
    flows[0].expect(shallow.latency, shallow.rate);
    let small = flows[0].window();
    assert!(small < 300 << 10, "{small}");
    let fat = Network {
        rate: 100.0,
        ..deep
    };
    call(fat, &mut flows);
    flows[0].expect(fat.latency, fat.rate);
    assert!(flows[0].window() > 1 << 20, "{}", flows[0].window());
}

/// The window that goes with a rate is that of the calls that showed it, and not the small one of a short call behind
/// them that many ranks send in.
#[test]
fn a_rate_has_the_window_of_its_calls() {
    let fast = Network {
        latency: 2000.0,
        ..QUIET
    };
    let mut flows = flows(fast);
    flows[0].reserve(64, 1).unwrap();
    flows[0].expect(fast.latency, fast.rate);
    let window = flows[0].window();
    calls(fast, &mut flows, 16 << 20, 1);
    flows[0].reserve(64, 1).unwrap();
    flows[0].crowd(256);
    flows[0].begin(0);
    assert_eq!(flows[0].window(), SMALL_WINDOW);
    agree(&mut flows);
    // The network is slower now, with the same window.
    for _ in 0..2 {
        calls(Network { rate: 16.0, ..fast }, &mut flows, 16 << 20, 1);
        agree(&mut flows);
    }
    assert_eq!(flows[0].window(), window);
}

/// The window of a near network, which needs a large one because its processes are busy, in calls of which some are
/// disturbed, and the rate of the last call.
fn disturbed(is_disturbed: impl Fn(u32) -> bool) -> (u64, f64) {
    let busy = Network {
        busy: 4000.0,
        latency: 100.0,
        rate: 50.0,
        block: 16 << 10,
        ..QUIET
    };
    let mut flows = flows(busy);
    let mut time = 0.0;
    for call in 0..12 {
        let rate = match is_disturbed(call) {
            true => busy.rate / 3.0,
            false => busy.rate,
        };
        time = calls(Network { rate, ..busy }, &mut flows, 16 << 20, 1).time;
        agree(&mut flows);
    }
    (flows[0].window(), f64::from(16 << 20) / time)
}

/// What disturbs calls between two agreements says nothing of buffers; and what disturbs them for longer is over at
/// some time.
#[test]
fn a_disturbance_does_not_make_the_window_small_for_good() {
    let (window, rate) = disturbed(|_| false);
    for disturbed in [
        disturbed(|call| call == 1),
        disturbed(|call| call == 1 || call == 2),
    ] {
        assert!(4 * disturbed.0 > 3 * window, "{disturbed:?}, not {window}");
        assert!(disturbed.1 > 0.9 * rate, "{disturbed:?}, not {rate}");
    }
}

/// The agreements, of 300 on a far network with a shallow buffer, before which calls had too large a window. In some,
/// something else had slowed them down.
fn too_large(is_disturbed: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut flow = Flow::default();
    flow.reserve(64, 1).unwrap();
    let mut large = Vec::new();
    for agreement in 0..300 {
        flow.expect(2000.0, if agreement == 0 { 25.0 } else { 100.0 });
        let window = flow.window();
        let fits = window <= 512 << 10;
        if !fits {
            large.push(agreement);
        }
        let rate = match (is_disturbed(agreement), fits) {
            (true, _) => 8_000_000,
            (false, true) => 25_000_000,
            (false, false) => 10_000_000,
        };
        let sustained = shown((rate, window));
        flow.agree([rate as i64, i64::MIN, i64::MIN, i64::MIN, sustained]);
    }
    large
}

/// A buffer that is shallow may be so for good. Then a larger window is tried ever less often.
#[test]
fn a_shallow_buffer_is_not_forgotten_again_and_again() {
    let large = too_large(|_| false);
    // It is believed the second time only, and tried again.
    assert_eq!(large[..4], [1, 2, 7, 8]);
    assert!(large.len() < 20, "{large:?}");
}

/// Nor when calls are disturbed for a while. Of one agreement that says nothing of buffers nothing comes; of several,
/// the larger window is tried again, but how often it had been is not forgotten.
#[test]
fn a_disturbance_does_not_open_the_window() {
    let undisturbed = too_large(|_| false);
    for first in [20, 100, 200] {
        assert!(!undisturbed.contains(&first));
        assert_eq!(too_large(|agreement| agreement == first), undisturbed);
        for last in [first + 1, first + 3] {
            let large = too_large(|agreement| (first..=last).contains(&agreement));
            assert!(
                large.len() <= undisturbed.len() + 2,
                "{large:?}, not {undisturbed:?}"
            );
        }
    }
    let large = too_large(|agreement| agreement % 10 == 9);
    assert!(
        large.len() <= undisturbed.len() + 2,
        "{large:?}, not {undisturbed:?}"
    );
}

/// What the ranks found of the network they tell each other ever less often, but do not stop to.
#[test]
fn ranks_agree_again_after_a_gibibyte_at_the_latest() {
    let mut volume = Volume::default();
    let mut since = 0u64;
    let mut waits = Vec::new();
    for _ in 0..1 << 16 {
        if volume.is_to_agree(256 << 10) {
            waits.push(since);
            since = 0;
        }
        since += 256 << 10;
    }
    assert_eq!(waits[..4], [256 << 10, 1 << 20, 4 << 20, 16 << 20]);
    assert!(
        waits.is_sorted() && *waits.last().unwrap() == 1 << 30,
        "{waits:?}"
    );
    assert!(waits.len() > 16, "{waits:?}");
}

#[test]
fn five_senders_to_one_keep_its_queue_short() {
    let incast = Network {
        senders: 5,
        rate: 6.25,
        ..QUIET
    };
    let outcome = fills_the_link(incast);
    assert!(outcome.queue.0 <= f64::from(320 << 10), "{outcome:?}");
    let far = Network {
        latency: 1000.0,
        ..incast
    };
    fills_the_link(far);
}

/// Nobody receives: what is sent without an acknowledgement stays bounded, over calls of all sizes, and whoever sends
/// waits then. The bound of a rank is shared by those that send to it.
#[test]
fn a_rank_that_sleeps_is_not_flooded() {
    for (senders, bound) in [(1, 4 << 20), (4, 4 << 20), (16, 1 << 20)] {
        for bytes in [0, 64, 4000, 8 << 10, 1 << 20] {
            for frequency in [0, 128] {
                let (mut flow, mut sent) = (Flow::default(), 0u64);
                let mut stopped = false;
                for _ in 0..1_000_000 {
                    flow.reserve(64, senders).unwrap();
                    flow.begin(frequency);
                    match flow.ask(1, bytes, 0) {
                        Verdict::Wait => unreachable!("the first message of a call never waits"),
                        // The call does not end before this is received.
                        Verdict::Synchronous => {
                            stopped = true;
                            break;
                        }
                        Verdict::Standard => {
                            flow.sent(1, bytes, None, false);
                            sent += bytes;
                        }
                    }
                }
                assert!(stopped, "{bytes} bytes, one in {frequency}");
                assert!(sent + bytes <= bound, "{sent} and {bytes} bytes of {bound}");
            }
        }
    }
}

/// Many ranks send to one that sleeps, as up a tree, and each of them to that one alone: what they leave there together
/// is bounded as well, but for a small window each.
#[test]
fn a_rank_that_many_send_to_is_not_flooded() {
    for (senders, bound) in [
        (0, EDGE_BYTES),
        (4, EDGE_BYTES),
        (63, RANK_BYTES / 63),
        (256, SMALL_WINDOW),
        (100_000, SMALL_WINDOW),
    ] {
        let (mut flow, mut sent) = (Flow::default(), 0);
        loop {
            flow.reserve(64, 1).unwrap();
            flow.crowd(senders);
            flow.begin(0);
            if flow.ask(1, 8 << 10, 0) != Verdict::Standard {
                break;
            }
            flow.sent(1, 8 << 10, None, false);
            sent += 8 << 10;
        }
        let whole = bound / 2 / (8 << 10) * (8 << 10);
        assert!(sent <= whole, "{senders} senders: {sent} of {bound}");
        assert!(2 * sent >= whole, "{senders} senders: {sent} of {bound}");
    }
}

/// All ranks of a node of 16 are the root of calls, one after the other. Each sends for the node to the leader of
/// another one, as one of three that do, and that one sleeps. What they leave there together is bounded as well.
#[test]
fn a_rank_that_many_roots_of_a_node_send_to_is_not_flooded() {
    const WIDTH: u32 = 16;
    const BYTES: u64 = 8 << 10;
    let mut left = 0;
    let mut flows: Vec<Flow> = (0..WIDTH).map(|_| Flow::default()).collect();
    for root in 0..WIDTH {
        for (rank, flow) in (0..).zip(&mut flows) {
            // The others of the node neither send nor make room.
            if rank == root {
                flow.reserve(64, 3).unwrap();
            }
            flow.lean_on(root, 3 * WIDTH);
            flow.begin(0);
        }
        let flow = &mut flows[root as usize];
        while flow.ask(77, BYTES, 0) == Verdict::Standard {
            flow.sent(77, BYTES, None, false);
            left += BYTES;
        }
    }
    assert!(left <= RANK_BYTES, "{left} bytes");
}

/// Calls from one root have the bound of those that send in one call.
#[test]
fn a_single_root_keeps_its_bound() {
    let mut flow = Flow::default();
    for (root, verdict) in [
        (3, Verdict::Standard),
        (3, Verdict::Standard),
        (4, Verdict::Synchronous),
    ] {
        flow.reserve(64, 1).unwrap();
        flow.lean_on(root, 63);
        flow.begin(0);
        assert_eq!(flow.ask(1, 1 << 19, 0), verdict, "root {root}");
    }
}

/// The calls behind one with many senders have their own bound.
#[test]
fn a_crowd_is_that_of_a_single_call() {
    let mut flow = Flow::default();
    for (senders, verdict) in [(256, Verdict::Synchronous), (0, Verdict::Standard)] {
        flow.reserve(64, 1).unwrap();
        flow.crowd(senders);
        flow.begin(0);
        assert_eq!(flow.ask(1, 1 << 19, 0), verdict, "{senders} senders");
    }
}

/// What an edge owes is remembered where a call sends to more ranks than are remembered otherwise; and calls that are
/// alike allocate once.
#[test]
fn edges_to_many_ranks_are_remembered() {
    const RANKS: u32 = 3000;
    // Messages in pairs, and a script, for which fewer receivers share the window.
    for receivers in [RANKS - 1, 64] {
        edges_are_remembered(RANKS, receivers);
    }
}

fn edges_are_remembered(ranks: u32, receivers: u32) {
    let mut flow = Flow::default();
    flow.reserve(64, 1).unwrap();
    flow.begin(2);
    flow.sent(77, 100, None, false);
    let mut bytes = Vec::new();
    for call in 0..4 {
        flow.reserve(64, receivers).unwrap();
        flow.meet(0..ranks).unwrap();
        flow.begin(2);
        for to in 1..ranks {
            // Of two messages on an edge the second is to be acknowledged.
            let is_second = (call % 2 == 1) != (to == 77);
            let verdict = flow.ask(to, 100, 0);
            assert_eq!(
                verdict == Verdict::Synchronous,
                is_second,
                "{to} in call {call}"
            );
            flow.sent(to, 100, is_second.then_some(0), false);
            if is_second {
                flow.acknowledged(to, 1000);
            }
        }
        bytes.push(flow.bytes());
    }
    assert!(bytes[1..].iter().all(|&it| it == bytes[1]), "{bytes:?}");
}

/// What is under way, and what has been answered, is of the call at hand, also on an edge that the calls in between did
/// not use.
#[test]
fn an_edge_begins_with_the_call_that_uses_it() {
    let mut flow = Flow::default();
    let begin = |flow: &mut Flow| {
        flow.reserve(64, 2).unwrap();
        flow.begin(0);
    };
    begin(&mut flow);
    // Never answered: the call failed.
    flow.sent(1, 3 << 20, Some(0), false);
    for _ in 0..2 {
        begin(&mut flow);
        flow.sent(2, 8, None, false);
    }
    begin(&mut flow);
    // Of what is open on the edge nothing is under way that could be waited for.
    assert_eq!(flow.ask(1, 2 << 20, 0), Verdict::Synchronous);
    flow.sent(1, 2 << 20, Some(1000), false);
    assert_eq!(flow.ask(1, 8, 0), Verdict::Wait);
    flow.acknowledged(1, 2000);
    assert_eq!(flow.ask(1, 8, 0), Verdict::Standard);
}

/// A call of one message pays no round trip; one in 128 is acknowledged.
#[test]
fn short_calls_are_acknowledged_now_and_then() {
    let mut flow = Flow::default();
    let mut synchronous = Vec::new();
    for call in 1..=1000 {
        flow.reserve(64, 3).unwrap();
        flow.begin(128);
        let verdict = flow.ask(1, 800, 0);
        flow.sent(
            1,
            800,
            (verdict == Verdict::Synchronous).then_some(0),
            false,
        );
        if verdict == Verdict::Synchronous {
            synchronous.push(call);
            flow.acknowledged(1, 5000);
        }
    }
    assert_eq!(synchronous, [128, 256, 384, 512, 640, 768, 896]);
}

/// The last messages of a call are not synchronous: it does not end by waiting for an answer.
#[test]
fn no_call_waits_for_an_answer_at_its_end() {
    let mut flow = Flow::default();
    flow.reserve(64, 3).unwrap();
    flow.begin(128);
    let blocks = 100u32;
    let mut answered = 0;
    let mut last_synchronous = 0;
    for i in 0..blocks {
        let verdict = loop {
            match flow.ask(1, 8192, 8192 * u64::from(blocks - 1 - i)) {
                Verdict::Wait => {
                    answered += 1;
                    flow.acknowledged(1, 1000 * u64::from(i));
                }
                verdict => break verdict,
            }
        };
        flow.sent(
            1,
            8192,
            (verdict == Verdict::Synchronous).then_some(0),
            false,
        );
        if verdict == Verdict::Synchronous {
            last_synchronous = i;
        }
    }
    assert!(answered > 0, "a window holds the sender up");
    assert!(
        last_synchronous < blocks - 3,
        "{last_synchronous} of {blocks}"
    );
}

/// Where the wire holds a message, it may go ahead of others, while there is room for one in its turn. That one does
/// not wait for what went ahead: the receiver of that may wait for it.
#[test]
fn what_goes_ahead_keeps_nothing_waiting() {
    let mut flow = Flow::default();
    flow.reserve(64, 2).unwrap();
    flow.begin(0);
    assert!(!flow.wire_holds(100), "nothing is known of the wire");
    // 50 KB on the way at a time, and a window of 264 KB.
    flow.expect(2000.0, 25.0);
    let window = flow.window();
    assert!(flow.wire_holds(49_000));
    assert!(!flow.wire_holds(51_000));
    let mut went = 0;
    while flow.has_room(1, 49_000) {
        flow.sent(1, 49_000, Some(0), true);
        went += 49_000;
    }
    assert!(
        went > window / 2 && went + 49_000 < window,
        "{went} of {window}"
    );
    for _ in 0..4 {
        assert_ne!(flow.ask(2, 49_000, 1 << 20), Verdict::Wait);
        flow.sent(2, 49_000, None, false);
    }
    // What is in its turn waits as ever.
    flow.sent(2, 49_000, Some(0), false);
    assert_eq!(flow.ask(2, 49_000, 1 << 20), Verdict::Wait);
}

/// What people see is the window in long calls, not the one with which a rate is measured, and the longest round trip.
/// It is another one only if it has changed markedly.
#[test]
fn the_window_and_the_round_trip_are_shown() {
    let busy = Network {
        busy: 400.0,
        latency: 500.0,
        ..QUIET
    };
    let mut flows = flows(busy);
    assert_eq!(flows[0].path(), None, "nothing is known");
    calls(busy, &mut flows, 16 << 20, 5);
    let path = flows[0].path().expect("they agreed");
    assert_eq!(path.window_bytes, flows[0].window());
    let trip = path.round_trip_us.expect("it was measured");
    assert!((1000.0..4000.0).contains(&trip), "{path:?}");
    agree(&mut flows);
    assert_eq!(flows[0].window(), SMALL_WINDOW, "a rate is measured");
    let later = flows[0].path().expect("it is known");
    assert!(later.window_bytes > SMALL_WINDOW && !later.is_other_than(&path));
    assert!(!path.is_other_than(&path));
    for (window, trip, is_other) in [
        (1.4, Some(1.4), false),
        (1.0 / 1.4, Some(1.0 / 1.4), false),
        (1.6, Some(1.0), true),
        (0.6, Some(1.0), true),
        (1.0, Some(1.6), true),
        (1.0, Some(0.6), true),
        (1.0, None, true),
    ] {
        let other = Path {
            window_bytes: (path.window_bytes as f64 * window) as u64,
            round_trip_us: trip.and_then(|times| Some(times * path.round_trip_us?)),
        };
        assert_eq!(
            other.is_other_than(&path),
            is_other,
            "{other:?}, was {path:?}"
        );
    }
    // Of a far network it is known before anybody measures, and what was measured nearby is not its round trip.
    flows[0].expect(2000.0, 25.0);
    let far = flows[0].path().expect("it follows");
    assert_eq!(
        (far.window_bytes, far.round_trip_us),
        (SMALL_WINDOW + 400_000, None)
    );
}
