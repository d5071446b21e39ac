//! Windows of near networks, which are measured.

use crate::network::*;
use rondo::flow::{Flow, Path, SMALL_WINDOW};

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
