//! Clocks that stand, or jump.

use crate::far::{DEEP, DEEP_WIRE, told};
use crate::network::*;
use rondo::flow::{RANK_BYTES, SMALL_WINDOW};

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
