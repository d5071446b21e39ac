//! Between whom an algorithm runs: all ranks, or leaders of nodes.

use crate::{
    LEADERS, UNKNOWN, allgather, asked, bcast, config, form_and_blocks, full, no_shm, parts,
    rooted, set,
};
use proptest::prelude::*;
use rondo::collective::Collective;
use rondo::config::{Algorithm, Config, Hierarchy, OPTIONS, Scope, Setting};
use rondo::decide::{Choice, Facts, Form, Method, Why};
use rondo::model::{Model, Reach};
use std::ffi::OsString;

/// Three nodes with 5, 1 and 4 ranks.
const UNEVEN: Facts = Facts {
    p: 10,
    nodes: 3,
    widest: 5,
    narrowest: 1,
    consecutive: true,
    eager_bytes: 16 << 10,
    placed_bytes: u64::MAX,
    host_leads: false,
    host_copies: false,
    network: UNKNOWN,
};

/// A long broadcast, and allgathers of every kind whose nodes have as many bytes each.
fn long_calls(facts: Facts, config: &Config) -> Vec<Choice> {
    use Algorithm::{Bruck, Circulant, Ring};
    let sizes = parts(&vec![1 << 20; facts.p as usize]);
    let node_parts = parts(&vec![(1 << 20) * u64::from(facts.p); facts.nodes as usize]);
    let settings = [Circulant, Bruck, Ring].map(Setting::Use);
    let all = settings.into_iter().chain([Setting::Auto]);
    let all = all.map(|setting| allgather(facts, &sizes, &node_parts, setting, config));
    all.chain([bcast(facts, 1 << 30, config)]).collect()
}

/// All of them are Rondo's, and between these.
fn check_form(facts: Facts, config: &Config, form: Form) {
    for choice in long_calls(facts, config) {
        assert_eq!(form_and_blocks(choice).0, form, "{facts:?} {choice:?}");
    }
}

fn with(hierarchy: Hierarchy, lanes: u32) -> Config {
    config(|c| (c.hierarchy, c.lanes) = (hierarchy, lanes))
}

const EVERY: [Hierarchy; 4] = [
    Hierarchy::Auto,
    Hierarchy::Flat,
    Hierarchy::Leader,
    Hierarchy::Lanes,
];

#[test]
fn every_rank_is_for_itself_where_no_node_has_two() {
    for p in [3, 8, 100] {
        for hierarchy in EVERY {
            check_form(full(p, 1), &with(hierarchy, 2), Form::Flat);
        }
    }
}

#[test]
fn the_user_can_say_who_talks_to_other_nodes() {
    for facts in [full(4, 4), full(2, 3)] {
        check_form(facts, &with(Hierarchy::Flat, 3), Form::Flat);
        check_form(facts, &with(Hierarchy::Leader, 3), LEADERS);
        let lanes = Form::Nodes { lanes: 3 };
        check_form(facts, &with(Hierarchy::Lanes, 3), lanes);
    }
}

/// Every node has as many leaders, so there are no more than its ranks on any. On one node there is nobody
/// to talk to.
#[test]
fn there_are_no_more_lanes_than_ranks_on_the_narrowest_node() {
    for asked in [0, 1, 2, 3, 4, 5, 64] {
        for narrowest in 1..=4 {
            let facts = Facts {
                narrowest,
                ..UNEVEN
            };
            let lanes = asked.clamp(1, narrowest);
            let config = with(Hierarchy::Lanes, asked);
            check_form(facts, &config, Form::Nodes { lanes });
        }
        check_form(full(1, 8), &with(Hierarchy::Lanes, asked), LEADERS);
    }
}

/// Through shared memory a block is on the whole node at once; by messages it passes on from rank to rank. Ranks that
/// each send for themselves share the link of their node.
#[test]
fn the_pipeline_is_as_long_as_the_way_of_a_block() {
    let check = |facts: Facts, change: fn(&mut Config), ranks: &[u32], sharing: u32| {
        let model = Model {
            alpha_us: 100.0,
            gap_us: 30.0,
            beta_ns_per_kb: 1000.0 * f64::from(sharing),
        };
        let config = config(|c| {
            (
                c.network.alpha_us,
                c.network.gap_us,
                c.network.beta_ns_per_kb,
            ) = (Some(100.0), Some(30.0), Some(1000.0));
            c[Collective::Bcast].setting = Setting::Use(Algorithm::Circulant);
            c[Collective::Allgatherv].min_bytes = Some(0);
            change(c);
        });
        let bytes = 1u64 << 24;
        let (_, blocks) = form_and_blocks(bcast(facts, bytes, &config));
        let reaches = ranks.iter().map(|&ranks| Reach::among(ranks));
        let reach = reaches.reduce(Reach::then).expect("there are ranks");
        let expected = model.blocks(reach, bytes, facts.eager_bytes, 1);
        assert_eq!(blocks, expected, "{facts:?}, {reach:?}");
        // The parts of an allgather: the node part of one node, from one of its ranks.
        let mut sizes = vec![0; facts.p as usize];
        sizes[1] = bytes;
        let mut node_parts = vec![0; facts.nodes as usize];
        node_parts[0] = bytes;
        let circulant = Setting::Use(Algorithm::Circulant);
        let choice = allgather(
            facts,
            &parts(&sizes),
            &parts(&node_parts),
            circulant,
            &config,
        );
        assert_eq!(form_and_blocks(choice).1, expected, "{facts:?}");
    };
    let large = |facts| Facts {
        eager_bytes: 1 << 30,
        ..facts
    };
    for (facts, shared, by_messages, flat) in [
        (full(8, 4), [8], [8, 4], [32]),
        (full(36, 32), [36], [36, 32], [36 * 32]),
        (full(2, 16), [2], [2, 16], [32]),
        (full(9, 9), [9], [9, 9], [81]),
        (
            UNEVEN,
            [UNEVEN.nodes],
            [UNEVEN.nodes, UNEVEN.widest],
            [UNEVEN.p],
        ),
    ] {
        let facts = large(facts);
        check(facts, |_| (), &shared, 1);
        check(facts, |c| c.shm = false, &by_messages, 1);
        check(
            facts,
            |c| c.hierarchy = Hierarchy::Flat,
            &flat,
            facts.widest,
        );
    }
    check(large(full(1, 9)), |_| (), &[9], 1);
    check(large(full(9, 1)), |_| (), &[9], 1);
}

/// What is decided with leaders is what as many ranks would decide that had the node parts of the nodes.
#[test]
fn leaders_choose_by_what_their_nodes_have() {
    let config = config(|c| c[Collective::Allgatherv].min_bytes = Some(0));
    let mut seen = [false; 2];
    for (sizes, width) in [
        // Equal node parts of unequal parts.
        (vec![1 << 20, 0, 0, 1 << 20, 1 << 19, 1 << 19], 2),
        // Unequal node parts of nearly equal parts.
        (vec![4 << 20, 4 << 20, 0, 0, 0, 0, 0, 0, 8, 8], 2),
        (vec![64; 64], 4),
        (vec![100_000, 5, 0, 3, 7, 1, 0, 0, 9], 3),
    ] {
        let sums = |node: &[u64]| node.iter().sum();
        let node_parts: Vec<u64> = sizes.chunks(width).map(sums).collect();
        let facts = full(node_parts.len() as u32, width as u32);
        let auto = Setting::Auto;
        let over = allgather(facts, &parts(&sizes), &parts(&node_parts), auto, &config);
        let alone = full(facts.nodes, 1);
        let node_parts = parts(&node_parts);
        let flat = allgather(alone, &node_parts, &node_parts, auto, &config);
        match (over, flat) {
            (
                Choice::Rondo(Method {
                    algorithm, blocks, ..
                }),
                Choice::Rondo(Method {
                    algorithm: other,
                    blocks: others,
                    ..
                }),
            ) => {
                assert_eq!((algorithm, blocks), (other, others), "{sizes:?}");
                seen[usize::from(algorithm == Algorithm::Bruck)] = true;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen, [true; 2], "both ways");
}

#[test]
fn trees_go_over_nodes_but_for_those_that_ranks_find_themselves() {
    use Algorithm::{Adaptive, Binomial, Hybrid, Linear};
    let forms = |facts, config: &Config| {
        [Hybrid, Binomial, Adaptive, Linear].map(|algorithm| {
            let choice = rooted(facts, None, Setting::Use(algorithm), config);
            form_and_blocks(choice).0
        })
    };
    let flat = Form::Flat;
    let over_leaders = [LEADERS, LEADERS, flat, flat];
    for facts in [full(4, 4), UNEVEN] {
        for config in [Config::default(), no_shm()] {
            assert_eq!(forms(facts, &config), over_leaders);
        }
        assert_eq!(forms(facts, &with(Hierarchy::Lanes, 2)), over_leaders);
        let config = with(Hierarchy::Flat, 2);
        assert_eq!(forms(facts, &config), [flat; 4]);
    }
    assert_eq!(forms(full(16, 1), &Config::default()), [flat; 4]);
    assert_eq!(forms(full(1, 16), &no_shm()), [flat; 4]);
    let auto = |facts| rooted(facts, None, Setting::Auto, &Config::default());
    assert_eq!(form_and_blocks(auto(full(16, 4))).0, LEADERS);
    assert_eq!(auto(full(1, 64)), Choice::Host(Why::OneNode));
}

/// The configuration of an environment.
fn read(variables: &[(String, String)]) -> Config {
    let os = |text: &String| OsString::from(text);
    let variables = variables.iter().map(|(name, value)| (os(name), os(value)));
    Config::from_vars(variables).config
}

/// Some nodes, and an environment that says who should talk to whom.
fn facts_and_variables() -> impl Strategy<Value = (Facts, Vec<(String, String)>)> {
    let nodes = prop::collection::vec(1u32..6, 1..20);
    let hierarchy = prop::sample::select(Hierarchy::NAMES);
    let shm = prop::sample::select(&["on", "off"][..]);
    let bcast = prop::sample::select(&["auto", "circulant"][..]);
    let rest = (hierarchy, 0u32..8, shm, bcast);
    (nodes, rest).prop_map(|(nodes, ((hierarchy, _), lanes, shm, bcast))| {
        let facts = Facts {
            p: nodes.iter().sum(),
            nodes: nodes.len() as u32,
            widest: *nodes.iter().max().unwrap(),
            narrowest: *nodes.iter().min().unwrap(),
            consecutive: true,
            eager_bytes: 16 << 10,
            placed_bytes: u64::MAX,
            host_leads: false,
            host_copies: false,
            network: UNKNOWN,
        };
        let lanes = lanes.to_string();
        let variables = [
            ("RONDO_HIERARCHY", hierarchy),
            ("RONDO_LANES", &lanes),
            ("RONDO_SHM", shm),
            ("RONDO_BCAST", bcast),
        ];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        (facts, variables.into())
    })
}

proptest! {
    /// Only what rank 0 says for all may count: each rank has its own value of the other options.
    #[test]
    fn what_ranks_set_for_themselves_does_not_matter(
        (facts, variables) in facts_and_variables(),
    ) {
        let decide = |config: &Config| {
            let mut choices = long_calls(facts, config);
            choices.push(rooted(facts, None, config[Collective::Gatherv].setting, config));
            choices
        };
        let (config, mut tried) = (read(&variables), 0);
        for opt in OPTIONS.iter().filter(|opt| opt.scope == Scope::Process) {
            for value in ["on", "some"] {
                let mut variables = variables.clone();
                variables.push((opt.variable(), value.into()));
                let other = read(&variables);
                tried += u32::from(other != config);
                prop_assert_eq!(decide(&config), decide(&other), "{} {}", opt.name, value);
            }
        }
        prop_assert!(tried > 1, "{} settings differ", tried);
    }

    /// Every node has the leaders, and there is somebody for them to talk to or memory to use.
    #[test]
    fn a_form_can_be_carried_out((facts, variables) in facts_and_variables()) {
        let config = read(&variables);
        for choice in long_calls(facts, &config) {
            match choice {
                Choice::Host(why) => {
                    let few = facts.p < 3 && why == Why::FewRanks;
                    prop_assert!(few || facts.nodes == 1 && why == Why::OneNode, "{:?}", why);
                }
                Choice::Rondo(Method { form: Form::Nodes { lanes }, .. }) => {
                    prop_assert!((1..=facts.narrowest).contains(&lanes));
                    prop_assert!(facts.widest > 1);
                    prop_assert!(facts.nodes > 1 || config.shm && lanes == 1);
                    prop_assert!(config.hierarchy != Hierarchy::Flat);
                    prop_assert!(lanes == 1 || config.hierarchy == Hierarchy::Lanes);
                }
                Choice::Rondo(Method { form: Form::Flat, .. }) => {
                    let asked = config.hierarchy == Hierarchy::Flat;
                    let pointless = facts.widest == 1 || facts.nodes == 1 && !config.shm;
                    prop_assert!(asked || pointless);
                }
            }
        }
    }
}

/// Or as many as the smallest node has ranks, whatever is said of hierarchies; in the blocks of circulant over these.
#[test]
fn full_lane_has_a_lane_for_every_rank() {
    let uneven = Facts {
        narrowest: 2,
        p: 11,
        ..full(3, 5)
    };
    for (facts, lanes) in [
        (full(3, 4), 4),
        (full(2, 2), 2),
        (full(2, 100), 100),
        (uneven, 2),
    ] {
        let named = |algorithm, config: &Config| {
            let config = set(Collective::Bcast, Setting::Use(algorithm), config);
            let sizes = parts(&vec![1 << 20; facts.p as usize]);
            let node_parts = parts(&vec![(1 << 20) * u64::from(facts.p); facts.nodes as usize]);
            let setting = Setting::Use(algorithm);
            [
                bcast(facts, 1 << 20, &config),
                allgather(facts, &sizes, &node_parts, setting, &config),
            ]
        };
        let circulant = named(Algorithm::Circulant, &with(Hierarchy::Lanes, lanes));
        for hierarchy in EVERY {
            let full_lane = named(Algorithm::FullLane, &with(hierarchy, 1));
            for (choice, circulant) in full_lane.into_iter().zip(circulant) {
                let (form, blocks) = form_and_blocks(circulant);
                assert_eq!(choice, asked(Algorithm::FullLane, form, blocks));
                assert_eq!(form, Form::Nodes { lanes });
            }
        }
    }
}

#[test]
fn full_lane_without_lanes_is_circulant() {
    let usual = Config::default();
    for (facts, config) in [
        (full(8, 1), &usual),
        (full(1, 8), &usual),
        (UNEVEN, &usual),
        (full(3, 4), &no_shm()),
    ] {
        let of = |algorithm| {
            let config = set(Collective::Bcast, Setting::Use(algorithm), config);
            let sizes = parts(&vec![1 << 20; facts.p as usize]);
            let node_parts = parts(&vec![1 << 20; facts.nodes as usize]);
            let setting = Setting::Use(algorithm);
            [
                bcast(facts, 1 << 20, &config),
                allgather(facts, &sizes, &node_parts, setting, &config),
            ]
        };
        let circulant = of(Algorithm::Circulant).map(|choice| choice.because(Why::NoLanes));
        assert_eq!(of(Algorithm::FullLane), circulant, "{facts:?}");
    }
}
