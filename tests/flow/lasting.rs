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
