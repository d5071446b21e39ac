//! How long what was seen of a network holds.

use crate::network::*;
use rondo::flow::{Flow, SMALL_WINDOW, Volume, shown};

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
    flows[0].begin();
    assert_eq!(flows[0].window(), SMALL_WINDOW);
    agree(&mut flows);
    // The network is slower now, with the same window.
    for _ in 0..2 {
        calls(Network { rate: 16.0, ..fast }, &mut flows, 16 << 20, 1);
        agree(&mut flows);
    }
    assert_eq!(flows[0].window(), window);
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
