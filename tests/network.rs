//! The figures of a network: what is known, what ranks tell each other of it, and what they agree on.

use proptest::prelude::*;
use rondo::host::Probe;
use rondo::model::Reach;
use rondo::network::{self, Known, Network, Offers, Placement, START, Shared};

const KNOWN: Network = Network {
    alpha_us: Some(1.9),
    gap_us: Some(0.3),
    beta_ns_per_kb: Some(82.0),
    node_alpha_us: None,
    node_beta_ns_per_kb: None,
};

fn maxima(offers: &[Offers]) -> Offers {
    std::array::from_fn(|i| offers.iter().map(|offer| offer[i]).max().expect("a rank"))
}

#[test]
fn what_is_set_goes_before_what_is_measured_and_both_before_the_start() {
    let set = Network {
        alpha_us: Some(7.0),
        ..Network::default()
    };
    let (between, inside) = set.or(&KNOWN).models();
    assert_eq!(
        (between.alpha_us, between.gap_us, between.beta_ns_per_kb),
        (7.0, 0.3, 82.0)
    );
    let start = (
        START.node_alpha_us.unwrap(),
        START.node_beta_ns_per_kb.unwrap(),
    );
    assert_eq!((inside.alpha_us, inside.beta_ns_per_kb), start);
    assert_eq!(inside.gap_us, 0.3);
}

/// Only what was measured is said to be.
#[test]
fn the_words_for_figures_say_where_they_are_from() {
    let set = Network {
        alpha_us: Some(7.0),
        ..Network::default()
    };
    assert_eq!(
        network::origins(&set, &KNOWN),
        "7.0 us between nodes (set); 82 ns/KiB between nodes, a message every 0.3 us (measured); \
         1.0 us and 100 ns/KiB inside a node (assumed)"
    );
    assert_eq!(
        network::origins(&Network::default(), &START),
        format!("{} (measured)", START.text())
    );
}

#[test]
fn what_short_messages_tell_is_lacking_until_it_is_known() {
    assert!(Network::default().lacks(false));
    assert!(!KNOWN.lacks(false), "a rate is found in long calls");
    assert!(
        KNOWN.lacks(true),
        "messages inside a node are to be measured as well"
    );
    assert!(!START.lacks(true));
}

#[test]
fn ranks_agree_on_the_median_of_the_pairs() {
    let offer = |(pair, alpha_us): (usize, f64)| {
        let measured = Network {
            alpha_us: Some(alpha_us),
            ..Network::default()
        };
        network::offers(&measured, pair as u32)
    };
    let agreed = |pairs: &[f64]| {
        let nothing = network::offers(&Network::default(), 0);
        let offers: Vec<_> = pairs.iter().copied().enumerate().map(offer).collect();
        let agreed = network::agreed(&maxima(&[&offers[..], &[nothing]].concat()));
        assert_eq!(agreed.beta_ns_per_kb, None);
        agreed.alpha_us
    };
    assert_eq!(agreed(&[]), None);
    assert_eq!(agreed(&[10.0]), Some(10.0));
    assert_eq!(agreed(&[10.0, 40.0]), Some(20.0));
    assert_eq!(agreed(&[10.0, 30.0, 40.0]), Some(30.0));
    // Pairs that are kept from running, or are lucky.
    assert_eq!(agreed(&[20.0, 1e4, 20.0, 20.0]), Some(20.0));
    let mut many = [2.0; 250];
    (many[7], many[44], many[130]) = (1e4, 5e3, 0.1);
    assert_eq!(agreed(&many), Some(2.0));
}

/// Neighbours may share a switch; and the last one of an odd number is measured the second time.
#[test]
fn nodes_are_measured_with_those_that_are_half_of_all_away() {
    let others = |nodes, times| -> Vec<_> {
        (0..nodes)
            .map(|node| network::pair(node, nodes, times).1)
            .collect()
    };
    assert_eq!(others(4, 0), [2, 3, 0, 1].map(Some));
    assert_eq!(others(3, 0), [Some(1), Some(0), None]);
    assert_eq!(others(3, 1), [Some(2), None, Some(0)]);
    assert_eq!(others(1, 0), [None]);
    for nodes in 1..40 {
        let mut left_out = Vec::new();
        for times in 0..nodes {
            let pairs: Vec<_> = (0..nodes)
                .map(|node| network::pair(node, nodes, times))
                .collect();
            for (node, &(number, other)) in (0u32..).zip(&pairs) {
                match other {
                    Some(other) => {
                        let distance = node.abs_diff(other);
                        assert!(distance == nodes / 2 || distance == nodes.div_ceil(2));
                        assert_eq!(pairs[other as usize], (number, Some(node)));
                        assert!(number < nodes / 2);
                    }
                    None => left_out.push(node),
                }
            }
        }
        left_out.sort_unstable();
        let all: Vec<_> = (0..nodes).collect();
        assert_eq!(
            left_out,
            if nodes % 2 == 1 { all } else { vec![] },
            "{nodes} nodes"
        );
    }
}

#[test]
fn a_file_cannot_name_figures_that_no_network_has() {
    assert_eq!(START.check(), Ok(()));
    for bad in [-1.0, f64::NAN, f64::INFINITY, 1e10] {
        let network = Network {
            gap_us: Some(bad),
            ..KNOWN
        };
        assert!(network.check().is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn numbers_and_shared_memory_carry_figures(
        figures in prop::collection::vec(prop::option::of(0u32..1 << 30), 5),
        pair in 0u32..1000,
    ) {
        let figure = |i: usize| figures[i].map(|thousandths| f64::from(thousandths) / 1e3);
        let network = Network {
            alpha_us: figure(0),
            gap_us: figure(1),
            beta_ns_per_kb: figure(2),
            node_alpha_us: figure(3),
            node_beta_ns_per_kb: figure(4),
        };
        prop_assert_eq!(Network::from_numbers(network.numbers()), network);
        prop_assert_eq!(Shared::new(&network).get(), network);
        // One rank alone agrees with itself.
        prop_assert_eq!(network::agreed(&network::offers(&network, pair)), network);
    }

    /// Whatever figures there are, a model is made of them that gives sensible numbers.
    #[test]
    fn every_figure_gives_a_model(alpha in 0.0..1e9, gap in 0.0..1e9, beta in 0.0..1e9, bytes in 1u64..1 << 40) {
        let network = Network { alpha_us: Some(alpha), gap_us: Some(gap), beta_ns_per_kb: Some(beta), ..KNOWN };
        let (between, _) = network.models();
        prop_assert!(between.broadcast_us(Reach::among(32), bytes) >= 0.0);
        prop_assert!(between.blocks(Reach::among(32), bytes, 1 << 16, 1) >= 1);
        prop_assert!(between.latency(bytes) >= 1);
        prop_assert!(between.long_block(64, Some(64)) >= 1024);
    }
}

/// What is measured again takes the place of what was known, and the rest stays.
#[test]
fn what_was_measured_last_counts() {
    let alpha = |alpha_us| Network {
        alpha_us: Some(alpha_us),
        ..Network::default()
    };
    let rate = Network {
        beta_ns_per_kb: Some(80.0),
        ..Network::default()
    };
    let shared = Shared::new(&alpha(500.0));
    shared.renew(&rate);
    assert_eq!((shared.get(), shared.times()), (alpha(500.0).or(&rate), 1));
    shared.renew(&alpha(20.0));
    assert_eq!((shared.get(), shared.times()), (alpha(20.0).or(&rate), 2));
    assert_eq!(Shared::new(&Network::NOTHING).times(), 0);
}

/// What a job reports is what it knows last of the most nodes.
#[test]
fn what_is_known_is_that_of_the_most_nodes() {
    let network = |alpha_us| Network {
        alpha_us: Some(alpha_us),
        ..Network::default()
    };
    let known = Known::new();
    assert_eq!(known.get(), Default::default());
    let [all, rack] = [4, 2].map(|nodes| Placement { nodes, hash: 7 });
    for (nodes, alpha_us) in [
        (rack, 1.0),
        (all, 2.0),
        (rack, 3.0),
        (all, 4.0),
        (rack, 5.0),
    ] {
        known.note(nodes, network(alpha_us));
    }
    assert_eq!(known.get(), (all, network(4.0)));
}

#[test]
fn what_a_clock_cannot_show_is_not_believed() {
    let latency = Probe::latency_of;
    assert_eq!(latency(&[40e-6, 30e-6, 50e-6]), Some(15e-6));
    // A rank was kept from running for a while.
    assert_eq!(latency(&[0.5, 40e-6, 0.02]), Some(20e-6));
    assert_eq!(latency(&[0.5]), Some(0.25));
    for impossible in [0.0, -1e-6, -3600.0, 1e-9, 3600.0, f64::NAN] {
        assert_eq!(latency(&[40e-6, impossible, 30e-6]), Some(15e-6));
        assert_eq!(latency(&[impossible; 3]), None, "{impossible}");
    }
    assert_eq!(latency(&[]), None);

    let per_byte = Probe::per_byte_of;
    let near = |seconds: Option<f64>, expected: f64| {
        let seconds = seconds.expect("there is one");
        assert!((seconds / expected - 1.0).abs() < 1e-6, "{seconds}");
    };
    // 1 us there and back, 1 ns for each byte.
    near(per_byte((1000, 2e-6), (4000, 5e-6), 1e-6), 1e-9);
    // The shorter one was kept on its way, for longer than the longer one took as well.
    near(per_byte((1000, 4.5e-6), (4000, 5e-6), 1e-6), 1e-9);
    near(per_byte((1000, 1e-3), (4000, 5e-6), 1e-6), 1e-9);
    for impossible in [0.0, -3600.0, f64::NAN] {
        assert_eq!(per_byte((1000, 2e-6), (4000, impossible), 1e-6), None);
    }

    let sending = Probe::sending_of;
    near(sending(&[7.0, 7.0 + 4e-6, 7.0 + 8e-6]), 4e-6);
    near(
        sending(&[0.0, 1e-6, 10e-6, 11e-6]),
        (1e-6 * 11e-6_f64 / 3.0).sqrt(),
    );
    // No rank is faster than that, whatever a coarse clock shows.
    near(sending(&[3.0; 6]), 5e-8);
    assert_eq!(sending(&[1.0, 1.1, 0.9, 1.0]), None);
    assert_eq!(sending(&[1.0, 0.9]), None);
    assert_eq!(sending(&[]), None);
}

/// Over latency a connection sends its first 14 kB at once, and waits for their acknowledgement. That is not the rate
/// of the link: taken for it, the wire would hold 32 KiB in a round trip on every network, and none would be far.
#[test]
fn a_round_trip_of_tcp_is_not_taken_for_the_rate() {
    const BLOCK: f64 = 16384.0;
    for (trip, rate) in [(0.1, 125e6), (0.02, 25e6), (4e-3, 25e6), (1e-4, 25e6)] {
        // The blocks follow a short message, and each is there as its last byte is.
        let arrival = |bytes: f64, flight: f64| {
            let waits = if bytes > flight { trip } else { 0.0 };
            waits + (bytes / rate).max((bytes - flight) / rate)
        };
        // That of a new connection, one that ends in the second block, and one that holds all.
        for flight in [14480.0, 24000.0, 1e6] {
            let first = arrival(BLOCK, flight);
            let second = arrival(2.0 * BLOCK, flight) - first;
            let per_byte = Probe::slow_byte_of(first, second, trip).expect("there is one");
            let shown = 1.0 / per_byte;
            let case = format!("{shown} of {rate} over {trip} s, {flight} bytes at once");
            assert!(shown >= 0.99 * rate && shown <= 1.5 * rate, "{case}");
        }
    }
    // A link that is slow, and near.
    assert_eq!(
        Probe::slow_byte_of(1.0 * BLOCK, 1.1 * BLOCK, 0.01),
        Some(1.0)
    );
    // What came together shows nothing.
    assert_eq!(Probe::slow_byte_of(1e-3, 0.0, 1e-3), None);
    assert_eq!(Probe::slow_byte_of(1e-3, -1.0, 1e-3), None);
}

#[test]
fn only_what_is_known_is_told() {
    let one = Network {
        gap_us: Some(3.0),
        ..Network::default()
    };
    assert_eq!(one.text(), "a message every 3.0 us");
    let rate = Network {
        beta_ns_per_kb: Some(82.4),
        node_alpha_us: Some(0.5),
        ..Network::default()
    };
    assert_eq!(rate.text(), "82 ns/KiB between nodes, 0.5 us inside a node");
}

/// Another measurement takes no more than 1 % of the time of the calls that contradict the model, and each further one
/// a quarter of that.
#[test]
fn the_network_is_measured_again_where_times_contradict_it() {
    let again = |measured_us, spent_us, times| {
        network::is_contradicted(measured_us, (1000.0, 1000.0), spent_us, times, 100.0)
    };
    for fits in [501.0, 1000.0, 1999.0] {
        assert!(!again(fits, 1e9, 1), "{fits}");
    }
    for contradicts in [1.0, 499.0, 2001.0, 1e6] {
        assert!(again(contradicts, 1e6, 1), "{contradicts}");
        assert!(
            !again(contradicts, 5e5, 1),
            "6.6 ms are more than 1 % of 0.5 s"
        );
        assert!(!again(contradicts, 1e6, 2) && again(contradicts, 3e6, 2));
    }
}

/// On a far network, a measurement is above all its latencies.
#[test]
fn a_far_network_is_measured_again_less_often() {
    let again = |spent_us| network::is_contradicted(1e6, (1000.0, 1000.0), spent_us, 1, 5000.0);
    // Three round trips, a row, and two agreements of eight ranks.
    let latencies = f64::from(3 * 2 + 3 + 2 * 3);
    assert!(!again(100.0 * latencies * 5000.0));
    assert!(again(1.2 * 100.0 * latencies * 5000.0));
}

/// Calls of which different times are expected take something in between.
#[test]
fn the_mean_of_unlike_calls_contradicts_nothing() {
    let again =
        |measured_us| network::is_contradicted(measured_us, (1000.0, 1900.0), 1e9, 1, 100.0);
    for fits in [501.0, 1000.0, 1900.0, 3799.0] {
        assert!(!again(fits), "{fits}");
    }
    for contradicts in [499.0, 3801.0] {
        assert!(again(contradicts), "{contradicts}");
    }
}

/// Choices are remembered for as long as what is known of the network has the same number.
#[test]
fn what_is_known_has_another_number_whenever_it_is_another() {
    let known = Shared::new(&Network::default());
    let before = known.edition();
    known.renew(&START);
    assert_ne!(known.edition(), before);
}
