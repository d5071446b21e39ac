//! Windows of far networks, which follow from what is known of them.

use crate::network::*;
use rondo::flow::{Flow, RANK_BYTES, SMALL_WINDOW};

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

/// As [`settled`] after more calls, where latency and rate are said anew before each of them, and the rate is so many
/// times what it is. The last call, and the window of it.
pub fn told(network: Network, times: f64) -> (Outcome, u64) {
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
pub const DEEP: Network = Network {
    latency: 2000.0,
    ..QUIET
};

/// What the wire of [`DEEP`] holds in a round trip, and the window that is known to be right there.
pub const DEEP_WIRE: u64 = 100_000;
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
