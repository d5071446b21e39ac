//! Exchanges are the host's, unless they are of short blocks on several nodes, or the user says otherwise.

use super::*;
use rondo::decide::{Problem, TotalExchange};
use rondo::learn::Candidate;

fn exchange(collective: Collective, facts: Facts, bytes: u64, config: &Config) -> Choice {
    let knows = collective.family().knows_bytes();
    let context = Context {
        collective,
        facts,
        config,
    };
    let bytes = knows.then_some(bytes);
    TotalExchange { context, bytes }.choose()
}

const ALL: [Collective; 3] = [
    Collective::Alltoall,
    Collective::Alltoallv,
    Collective::Alltoallw,
];

fn by(choice: Choice) -> Result<(Algorithm, Why), Why> {
    match choice {
        Choice::Rondo(method) => Ok((method.algorithm, method.why)),
        Choice::Host(why) => Err(why),
    }
}

#[test]
fn exchanges_are_left_to_the_host() {
    let config = Config::default();
    for collective in ALL {
        for bytes in [8, 8 << 10, 8 << 20] {
            let of = |facts| by(exchange(collective, facts, bytes, &config));
            assert_eq!(of(NODES), Err(Why::Slower));
            assert_eq!(of(full(4, 4)), Err(Why::Slower));
            assert_eq!(of(NODE), Err(Why::OneNode));
            assert_eq!(of(apart(2)), Err(Why::FewRanks));
        }
    }
}

/// Messages of 30 us, of which a rank begins one every 3 us; 1 us and 5 GB/s inside a node.
const MEASURED: Network = Network {
    alpha_us: Some(30.0),
    gap_us: Some(3.0),
    beta_ns_per_kb: Some(1000.0),
    node_alpha_us: Some(1.0),
    node_beta_ns_per_kb: Some(200.0),
};

fn measured(nodes: u32, width: u32) -> Facts {
    Facts {
        network: MEASURED,
        ..full(nodes, width)
    }
}

/// One message for each pair of nodes in place of one for each pair of ranks.
#[test]
fn short_blocks_go_over_nodes_once_the_network_is_known() {
    let config = Config::default();
    let of = |collective, facts, bytes| exchange(collective, facts, bytes, &config);
    for (nodes, width) in [(4, 4), (8, 8), (36, 16)] {
        let facts = measured(nodes, width);
        let p = u64::from(facts.p);
        for block in [1, 8, 64] {
            let choice = of(Collective::Alltoall, facts, p * block);
            let over_nodes = Choice::Rondo(Method {
                algorithm: Algorithm::Linear,
                form: LEADERS,
                blocks: 1,
                why: Why::Auto,
            });
            assert_eq!(choice, over_nodes, "{nodes}x{width}: {block}");
        }
        let long = of(Collective::Alltoall, facts, p << 20);
        assert_eq!(by(long), Err(Why::Slower));
        let irregular = of(Collective::Alltoallv, facts, 0);
        assert_eq!(by(irregular), Err(Why::Slower));
    }
}

/// Hosts have rounds of one message, and every block straight to its rank; rounds of several messages are between.
#[test]
fn short_blocks_between_many_nodes_go_in_rounds_of_several_messages() {
    let config = Config::default();
    let of = |nodes, block| {
        let bytes = u64::from(nodes) * block;
        by(exchange(
            Collective::Alltoall,
            measured(nodes, 1),
            bytes,
            &config,
        ))
    };
    for nodes in [16, 36, 100] {
        assert_eq!(
            of(nodes, 8),
            Ok((Algorithm::Circulant, Why::Auto)),
            "{nodes} nodes"
        );
        assert_eq!(of(nodes, 1 << 20), Err(Why::Slower));
    }
    assert_eq!(measured(16, 1).exchange_radix(8, &config), 4);
    // One round more than straight, or fewer messages than that many: nothing to gain.
    assert_eq!(of(8, 8), Err(Why::Slower));
}

#[test]
fn a_linear_exchange_goes_over_nodes_where_that_is_asked_for_and_there_is_memory() {
    let form = |hierarchy, most, collective| {
        let config = config(|c| {
            c[collective].setting = Setting::Use(Algorithm::Linear);
            c.hierarchy = hierarchy;
            c.max_tmp_size = most;
        });
        match exchange(collective, full(4, 4), 16 << 10, &config) {
            Choice::Rondo(method) => (method.form, method.why),
            Choice::Host(why) => panic!("{why:?}"),
        }
    };
    let asked = |form| (form, Why::Configured);
    let regular = |hierarchy, most| form(hierarchy, most, Collective::Alltoall);
    for (hierarchy, over) in [
        (Hierarchy::Leader, LEADERS),
        (Hierarchy::Lanes, Form::Nodes { lanes: 2 }),
    ] {
        assert_eq!(regular(hierarchy, u64::MAX), asked(over));
        // Not as it was asked for.
        assert_eq!(regular(hierarchy, 16 << 10), (Form::Flat, Why::Memory));
        let irregular = form(hierarchy, 16 << 10, Collective::Alltoallv);
        assert_eq!(irregular, asked(Form::Flat));
    }
    for hierarchy in [Hierarchy::Flat, Hierarchy::Auto] {
        assert_eq!(regular(hierarchy, 16 << 10), asked(Form::Flat));
    }
}

fn over(lanes: u32) -> Form {
    Form::Nodes { lanes }
}

/// Eight nodes of four ranks, but for one of two.
fn two_ranks_short() -> Facts {
    Facts {
        narrowest: 2,
        p: 30,
        ..full(8, 4)
    }
}

/// As many lanes as are asked for, or as the smallest node has ranks. With one for each rank of each node, blocks are
/// where they arrive, which takes less memory.
#[test]
fn a_linear_exchange_goes_over_as_many_lanes_as_are_asked_for() {
    let form = |facts: Facts, lanes, most| {
        let config = config(|c| {
            c[Collective::Alltoall].setting = Setting::Use(Algorithm::Linear);
            (c.hierarchy, c.lanes, c.max_tmp_size) = (Hierarchy::Lanes, lanes, most);
        });
        match exchange(
            Collective::Alltoall,
            facts,
            u64::from(facts.p) << 10,
            &config,
        ) {
            Choice::Rondo(method) => method.form,
            Choice::Host(why) => panic!("{why:?}"),
        }
    };
    let uneven = two_ranks_short();
    for (facts, asked, lanes) in [
        (full(8, 4), 0, 1),
        (full(8, 4), 3, 3),
        (full(8, 4), 64, 4),
        (uneven, 64, 2),
    ] {
        assert_eq!(form(facts, asked, u64::MAX), over(lanes));
    }
    let most = 300 << 10;
    assert_eq!(form(full(8, 4), 4, most), over(4));
    assert_eq!(form(full(8, 4), 3, most), Form::Flat);
    assert_eq!(form(full(1, 8), 4, u64::MAX), Form::Flat);
}

/// Whatever is said of hierarchies.
#[test]
fn a_full_lane_exchange_has_a_lane_for_every_rank_where_there_are_lanes_and_memory() {
    let of = |facts: Facts, hierarchy, most| {
        let config = config(|c| {
            c[Collective::Alltoall].setting = Setting::Use(Algorithm::FullLane);
            (c.hierarchy, c.max_tmp_size) = (hierarchy, most);
        });
        let bytes = u64::from(facts.p) << 10;
        match exchange(Collective::Alltoall, facts, bytes, &config) {
            Choice::Rondo(method) => (method.algorithm, method.form, method.why),
            Choice::Host(why) => panic!("{why:?}"),
        }
    };
    let uneven = two_ranks_short();
    let (asked, linear) = (Why::Configured, Algorithm::Linear);
    for hierarchy in [Hierarchy::Auto, Hierarchy::Flat, Hierarchy::Leader] {
        let most = 300 << 10;
        let full_lane = |lanes| (Algorithm::FullLane, over(lanes), asked);
        assert_eq!(of(full(8, 4), hierarchy, most), full_lane(4));
        assert_eq!(of(uneven, hierarchy, u64::MAX), full_lane(2));
        let (by, _, why) = of(uneven, hierarchy, most);
        assert_eq!((by, why), (linear, Why::Memory));
        for facts in [full(8, 1), full(1, 8)] {
            let (by, form, why) = of(facts, hierarchy, u64::MAX);
            assert_eq!((by, form, why), (linear, Form::Flat, Why::NoLanes));
        }
    }
}

#[test]
fn a_named_algorithm_is_used_for_every_size() {
    for collective in ALL {
        for &algorithm in collective.algorithms() {
            let config = config(|c| c[collective].setting = Setting::Use(algorithm));
            for bytes in [8, 8 << 20] {
                let facts = match algorithm == Algorithm::FullLane {
                    true => full(2, 4),
                    false => NODES,
                };
                let choice = exchange(collective, facts, bytes, &config);
                assert_eq!(by(choice), Ok((algorithm, Why::Configured)));
            }
        }
    }
}

/// The circulant graph needs memory for the blocks of others.
#[test]
fn blocks_for_which_there_is_no_memory_go_straight() {
    let change = |c: &mut Config| {
        c[Collective::Alltoall].setting = Setting::Use(Algorithm::Circulant);
        c.max_tmp_size = 50_000;
    };
    let config = config(change);
    let of = |bytes| by(exchange(Collective::Alltoall, NODES, bytes, &config));
    assert_eq!(of(10_000), Ok((Algorithm::Circulant, Why::Configured)));
    assert_eq!(of(10_008), Ok((Algorithm::Pairwise, Why::Memory)));
    assert_eq!(of(u64::MAX), Ok((Algorithm::Pairwise, Why::Memory)));
}

#[test]
fn limits_say_from_where_on_exchanges_are_rondos() {
    let change = |c: &mut Config| c[Collective::Alltoall].min_bytes = Some(1000);
    let by_bytes = config(change);
    let of = |facts, bytes| by(exchange(Collective::Alltoall, facts, bytes, &by_bytes));
    assert_eq!(of(NODES, 999), Err(Why::Small));
    // Where messages take long to send, few of them: as many ranks have short blocks; and long ones one at a time.
    assert_eq!(of(apart(256), 2560), Ok((Algorithm::Circulant, Why::Auto)));
    assert_eq!(of(NODES, 64 << 10), Ok((Algorithm::Linear, Why::Auto)));
    assert_eq!(of(NODES, 64 << 20), Ok((Algorithm::Pairwise, Why::Auto)));
}

/// The model may be wrong about the host; where the host has the calls, nothing is tried.
#[test]
fn the_host_is_tried_where_exchanges_are_rondos_by_the_model() {
    let config = Config::default();
    let learns = |facts, bytes| {
        let context = Context {
            collective: Collective::Alltoall,
            facts,
            config: &config,
        };
        let call = TotalExchange {
            context,
            bytes: Some(bytes),
        };
        let choice = call.choose();
        let is_rondos = matches!(choice, Choice::Rondo(_));
        assert_eq!(call.learns(choice), is_rondos);
        is_rondos
    };
    assert!(learns(measured(4, 4), 16 * 64));
    assert!(!learns(measured(4, 4), 16 << 20));
    assert!(!learns(NODE, 16 * 64));
}

/// Where the model gives a call to Rondo in few rounds or over nodes, the other way is tried too.
#[test]
fn the_second_candidate_is_the_other_way() {
    let config = Config::default();
    let of = |facts, bytes| TotalExchange {
        context: Context {
            collective: Collective::Alltoall,
            facts,
            config: &config,
        },
        bytes: Some(bytes),
    };
    for (facts, bytes) in [(measured(36, 1), 36 * 64), (measured(8, 8), 64 * 64)] {
        let call = of(facts, bytes);
        let [first, second] = [Candidate::First, Candidate::Second]
            .map(|candidate| by(call.candidate(candidate)).unwrap().0);
        assert_ne!(first, second);
        assert!([first, second].contains(&Algorithm::Circulant));
        let prior = call.prior(call.choose()).unwrap();
        let expected = prior.expected[Candidate::Second as usize].unwrap();
        assert!((1.0..=4.0).contains(&expected), "{expected}");
        assert_eq!(prior.expected[Candidate::Third as usize], None);
    }
}

/// What Rondo needs is made when short exchanges are worth it.
#[test]
fn short_exchanges_wait_for_what_is_made_first() {
    let config = Config::default();
    let context = Context {
        collective: Collective::Alltoall,
        facts: measured(4, 4),
        config: &config,
    };
    let call = TotalExchange {
        context,
        bytes: Some(16 * 8),
    };
    let choice = call.choose();
    assert!(by(choice).is_ok(), "{choice:?}");
    assert!(call.prior(choice).unwrap().waits);
}

/// What calls take is compared with what the model expects of them, where it knows the network.
#[test]
fn the_time_of_an_exchange_is_predicted_on_a_known_network() {
    let config = Config::default();
    let us = |facts, bytes| {
        let context = Context {
            collective: Collective::Alltoall,
            facts,
            config: &config,
        };
        TotalExchange { context, bytes }.predicted_us()
    };
    for facts in [measured(8, 1), measured(8, 4)] {
        let times = [64, 64 << 10, 64 << 20].map(|bytes| us(facts, Some(bytes)).expect("a time"));
        assert!(times[0] >= 30.0, "a latency at the least: {times:?}");
        assert!(
            times.is_sorted() && times[2] > 100.0 * times[0],
            "{times:?}"
        );
        assert_eq!(us(facts, None), None, "nobody knows the bytes");
    }
    assert_eq!(
        us(full(8, 1), Some(64)),
        None,
        "nothing is known of the network"
    );
    assert_eq!(us(measured(1, 8), Some(64)), None, "one node");
}
