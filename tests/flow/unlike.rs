//! Edges that are unlike: of ranks whose links are unlike, and of one rank.

use crate::network::*;
use rondo::flow::Flow;

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

/// A rank that sends to two receivers whose ways are unlike, over a link of its own that is as fast as both and more.
fn two_ways(ways: [Way; 2]) -> Network {
    Network {
        receivers: 2,
        rate: 1000.0,
        ways: Some(ways),
        ..QUIET
    }
}

/// What part of its rate each way had in the last of eight calls with agreements. The receivers get their shares of 16
/// MiB. This is expected of latency and rate, and of rates what calls show.
fn filled(network: Network, (latency, rate): (f64, f64)) -> [f64; 2] {
    let mut flows = flows(network);
    let (mut outcome, mut rate) = (None, rate);
    for call in 0..8 {
        flows[0].expect(latency, rate);
        outcome = Some(calls(network, &mut flows, 16 << 20, 1));
        if call < 6
            && let Some(shown) = agree(&mut flows)
        {
            rate = shown.max((shown * rate).sqrt());
        }
    }
    let outcome = outcome.expect("there is a call");
    let ways = network.ways.expect("there are two");
    let turn: u64 = ways.iter().map(|way| way.blocks).sum();
    let filled = std::array::from_fn(|i| {
        let way = ways[i];
        let bytes = (16 << 20) as f64 * way.blocks as f64 / turn as f64;
        bytes / way.rate / (outcome.reached[i] - way.latency)
    });
    println!("{filled:?}, window {}: {ways:?}", flows[0].window());
    filled
}

/// A receiver that is near and one that is far, on ways that are equally fast: neither is kept waiting for the other,
/// whichever latency is known, if any.
#[test]
fn a_near_edge_and_a_far_one_are_both_filled() {
    for rate in [6.25, 25.0, 125.0] {
        for latencies in [[50.0, 2000.0], [2000.0, 50.0]] {
            let network = two_ways(latencies.map(|latency| Way {
                rate,
                latency,
                blocks: 1,
            }));
            for known in [0.0, 50.0, 2000.0] {
                let filled = filled(network, (known, rate));
                let case = format!("{filled:?}, {known} known of {network:?}");
                assert!(filled.iter().all(|&part| part >= 0.95), "{case}");
            }
        }
    }
}

/// A receiver whose way is slower than that of the other. Blocks leave in their order, so if both get as many, the slow
/// way is filled and the fast one waits for it; if each gets its share, both are filled.
#[test]
fn a_slow_way_and_a_fast_one_are_filled_as_far_as_the_order_allows() {
    for latency in [50.0, 500.0, 2000.0] {
        for times in [2, 5] {
            for shared in [false, true] {
                let way = |rate, blocks| Way {
                    rate,
                    latency,
                    blocks: if shared { blocks } else { 1 },
                };
                let ways = [way(5.0 * times as f64, times), way(5.0, 1)];
                for known in [0.0, latency] {
                    let network = two_ways(ways);
                    let filled = filled(network, (known, 5.0));
                    let case = format!("{filled:?}, {known} known of {network:?}");
                    assert!(filled[1] >= 0.95, "{case}");
                    assert!(!shared || filled[0] >= 0.95, "{case}");
                }
            }
        }
    }
}
