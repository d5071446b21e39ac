//! Reductions: clocks choose nothing that changes a bit, promises are kept, and the order of ranks where it counts.

use super::{NODE, NODES, config, full};
use rondo::algorithm::Algorithm;
use rondo::collective::Collective;
use rondo::config::{Config, Hierarchy, Reproducible, Setting};
use rondo::decide::{
    Barrier, Choice, Context, Facts, Form, Method, OperatorProperties, Problem, Reduction,
    SLOT_UNIT_MAX, Why,
};
use rondo::network::Network;
use rondo::rules::Ruling;

pub const SUM_OF_DOUBLES: OperatorProperties = OperatorProperties {
    commutes: true,
    exact: false,
    built_in: true,
    idempotent: false,
};
pub const SUM_OF_INTEGERS: OperatorProperties = OperatorProperties {
    built_in: true,
    commutes: true,
    exact: true,
    idempotent: false,
};
pub const ORDERED: OperatorProperties = OperatorProperties {
    commutes: false,
    exact: false,
    built_in: true,
    idempotent: false,
};

/// A network over which messages travel for long.
pub const FAR: Network = Network {
    alpha_us: Some(1000.0),
    gap_us: Some(1.0),
    beta_ns_per_kb: Some(40_000.0),
    node_alpha_us: Some(1.0),
    node_beta_ns_per_kb: Some(100.0),
};

/// One over which they are soon there, and whose links are as slow.
pub const NEAR: Network = Network {
    alpha_us: Some(2.0),
    gap_us: Some(0.3),
    ..FAR
};

/// A slow link, as it is found before long calls.
pub const SLOW_LINK: Network = Network {
    alpha_us: Some(30.0),
    gap_us: Some(5.0),
    beta_ns_per_kb: Some(8000.0),
    ..FAR
};

/// A reduction of vectors of numbers of 8 bytes, in equal parts.
pub fn even_call(
    collective: Collective,
    facts: Facts,
    bytes: u64,
    operator: OperatorProperties,
    config: &Config,
) -> Reduction<'_> {
    Reduction {
        context: Context {
            collective,
            facts,
            config,
        },
        bytes,
        unit: 8,
        longest: bytes.div_ceil(facts.p.into()),
        fullest: bytes,
        operator,
    }
}

fn reduction(
    collective: Collective,
    facts: Facts,
    bytes: u64,
    operator: OperatorProperties,
    config: &Config,
) -> Choice {
    even_call(collective, facts, bytes, operator, config).choose()
}

fn promised(reproducible: Reproducible) -> Config {
    config(|c| c.reproducible = reproducible)
}

/// Rondo's algorithm, whatever the reason.
#[track_caller]
fn chosen(choice: Choice) -> Algorithm {
    match choice {
        Choice::Rondo(method) => method.algorithm,
        Choice::Host(why) => panic!("the host's: {why:?}"),
    }
}

fn is_flat(choice: Choice) -> bool {
    let flat = Form::Flat;
    matches!(choice, Choice::Rondo(method) if method.form == flat)
}

fn host_because(choice: Choice) -> Option<Why> {
    match choice {
        Choice::Host(why) => Some(why),
        Choice::Rondo(_) => None,
    }
}

#[test]
fn a_scan_goes_through_memory_where_it_is_asked_for_or_promised() {
    let asked = config(|c| c[Collective::Scan].min_bytes = Some(0));
    let scan = |config: &Config| reduction(Collective::Scan, NODE, 4 << 20, SUM_OF_DOUBLES, config);
    assert_eq!(host_because(scan(&Config::default())), Some(Why::OneNode));
    for config in [&asked, &promised(Reproducible::Order)] {
        assert_eq!(chosen(scan(config)), Algorithm::Pipelined);
        assert!(!is_flat(scan(config)));
    }
    // Between nodes it would have other bits.
    let placed = scan(&promised(Reproducible::Placement));
    assert_eq!(chosen(placed), Algorithm::Doubling);
    assert!(is_flat(placed));
}

/// A user's operator may be slow: the ranks share what it has to do, if there is some for each, and no rank does all.
#[test]
fn the_ranks_of_one_node_share_the_work_of_a_users_operator() {
    let default = Config::default();
    let on = |facts: Facts, bytes: u64, unit, commutes| {
        let context = Context {
            collective: Collective::Allreduce,
            facts,
            config: &default,
        };
        let operator = OperatorProperties {
            commutes,
            exact: false,
            built_in: false,
            idempotent: false,
        };
        let call = Reduction {
            context,
            bytes,
            unit,
            longest: bytes.div_ceil(facts.p.into()),
            fullest: bytes,
            operator,
        };
        call.choose()
    };
    let allreduce = |bytes, unit, commutes| on(NODE, bytes, unit, commutes);
    for (commutes, algorithm) in [(true, Algorithm::Halving), (false, Algorithm::Ordered)] {
        for unit in [8, SLOT_UNIT_MAX] {
            let short = allreduce(16 << 10, unit, commutes);
            assert_eq!(chosen(short), algorithm, "{short:?}");
            assert!(!is_flat(short), "{short:?}");
        }
        let shorter = allreduce(8 << 10, 8, commutes);
        assert_eq!(host_because(shorter), Some(Why::Small));
        let large = allreduce(64 << 10, SLOT_UNIT_MAX + 1, commutes);
        assert_eq!(host_because(large), Some(Why::OneNode));
    }
    let few = on(full(1, 128), 16 << 10, SLOT_UNIT_MAX, true);
    assert_eq!(host_because(few), Some(Why::Slower));
}

#[test]
fn promises_hold_for_every_size_and_on_one_node() {
    for facts in [NODE, NODES, full(4, 4)] {
        for bytes in [8, 100_000, 4 << 20] {
            let order = promised(Reproducible::Order);
            let choice = reduction(Collective::Allreduce, facts, bytes, SUM_OF_DOUBLES, &order);
            assert!(
                [Algorithm::Gather, Algorithm::Ordered].contains(&chosen(choice)),
                "{choice:?}"
            );
            let scan = reduction(Collective::Scan, facts, bytes, SUM_OF_DOUBLES, &order);
            assert_eq!(chosen(scan), Algorithm::Pipelined);
            let placement = promised(Reproducible::Placement);
            let choice = reduction(
                Collective::Allreduce,
                facts,
                bytes,
                SUM_OF_DOUBLES,
                &placement,
            );
            // The bits of all ranks in one row; on one node their memory gives the same.
            let all = [Algorithm::Halving, Algorithm::Gather].contains(&chosen(choice));
            assert!(all && (is_flat(choice) || facts.nodes == 1), "{choice:?}");
            let reduce = reduction(Collective::Reduce, facts, bytes, SUM_OF_DOUBLES, &placement);
            assert!(is_flat(reduce), "{reduce:?}");
            let host = promised(Reproducible::Host);
            let choice = reduction(Collective::Allreduce, facts, bytes, SUM_OF_DOUBLES, &host);
            assert!(host_because(choice).is_some(), "{choice:?}");
        }
    }
    // Nothing is promised of operators that need no promise.
    let host = promised(Reproducible::Host);
    let exact = reduction(
        Collective::Allreduce,
        NODES,
        4 << 20,
        SUM_OF_INTEGERS,
        &host,
    );
    assert_eq!(chosen(exact), Algorithm::Halving);
}

/// The MPI library carries no message of 2 GiB and more.
#[test]
fn blocks_of_long_vectors_are_none_too_long_for_the_host() {
    let bytes = 1 << 33;
    for collective in [
        Collective::Allreduce,
        Collective::Reduce,
        Collective::ReduceScatter,
        Collective::Scan,
    ] {
        for &algorithm in collective.algorithms() {
            for (facts, operator) in [NODE, NODES, full(4, 4), full(3, 1), full(2, 3)]
                .into_iter()
                .flat_map(|facts| [(facts, SUM_OF_DOUBLES), (facts, MAX_OF_INTEGERS)])
            {
                let config = config(|c| c[collective].setting = Setting::Use(algorithm));
                let choice = reduction(collective, facts, bytes, operator, &config);
                let Choice::Rondo(Method {
                    algorithm,
                    form,
                    blocks,
                    ..
                }) = choice
                else {
                    panic!("{collective:?}: {choice:?}");
                };
                let algorithm = collective.family().in_lanes(algorithm);
                let parts = match (algorithm, form) {
                    (Algorithm::Halving | Algorithm::Ring | Algorithm::Ordered, Form::Flat) => {
                        facts.p
                    }
                    (Algorithm::Halving, Form::Nodes { lanes }) => facts.nodes * lanes,
                    (Algorithm::Ordered, Form::Nodes { .. }) => facts.p,
                    (Algorithm::Circulant, Form::Nodes { lanes }) => lanes,
                    _ => 1,
                };
                let block = (bytes / u64::from(parts)).div_ceil(blocks.into());
                assert!(block < 1 << 31, "{collective:?}, {facts:?}: {choice:?}");
            }
        }
    }
}

/// The MPI library cannot have what an option would leave to it.
#[test]
fn promises_hold_where_the_host_was_asked_for() {
    for collective in [
        Collective::Allreduce,
        Collective::Reduce,
        Collective::ReduceScatter,
        Collective::ReduceScatterBlock,
        Collective::Scan,
        Collective::Exscan,
    ] {
        let of = |reproducible, operator, facts| {
            let config = config(|c| {
                c.reproducible = reproducible;
                c[collective].setting = Setting::Host;
            });
            reduction(collective, facts, 1000, operator, &config)
        };
        for facts in [NODE, NODES] {
            for promise in [Reproducible::Order, Reproducible::Placement] {
                let sums = of(promise, SUM_OF_DOUBLES, facts);
                assert_eq!(algorithm_because(sums).1, Why::Promise);
                let integers = of(promise, SUM_OF_INTEGERS, facts);
                assert_eq!(host_because(integers), Some(Why::Configured));
            }
            for promise in [Reproducible::Run, Reproducible::Host, Reproducible::Off] {
                let sums = of(promise, SUM_OF_DOUBLES, facts);
                assert_eq!(host_because(sums), Some(Why::Configured));
            }
        }
    }
}

pub const MAX_OF_INTEGERS: OperatorProperties = OperatorProperties::ANY;
pub const MAX_OF_DOUBLES: OperatorProperties = OperatorProperties {
    built_in: true,
    commutes: true,
    exact: false,
    idempotent: true,
};

/// Rondo's algorithm, and the reason.
fn algorithm_because(choice: Choice) -> (Algorithm, Why) {
    match choice {
        Choice::Rondo(method) => (method.algorithm, method.why),
        Choice::Host(why) => panic!("the host's: {why:?}"),
    }
}

/// They keep the order of ranks, but have not the bits of a loop over them.
#[test]
fn scans_up_and_down_trees_are_for_operators_that_do_not_commute_too() {
    for collective in [Collective::Scan, Collective::Exscan] {
        for named in [Algorithm::InOrder, Algorithm::TwoTree] {
            let with = |reproducible, block_bytes| Config {
                reproducible,
                block_bytes,
                ..config(|c| c[collective].setting = Setting::Use(named))
            };
            let by = |config: &Config, bytes| reduction(collective, NODES, bytes, ORDERED, config);
            for bytes in [8, 4 << 20] {
                let choice = by(&with(Reproducible::Run, 0), bytes);
                assert_eq!(algorithm_because(choice), (named, Why::Configured));
                assert!(is_flat(choice));
                let choice = by(&with(Reproducible::Order, 0), bytes);
                let expected = (Algorithm::Pipelined, Why::Order);
                assert_eq!(algorithm_because(choice), expected);
            }
            let blocks = |block_bytes, bytes| match by(&with(Reproducible::Run, block_bytes), bytes)
            {
                Choice::Rondo(method) => method.blocks,
                Choice::Host(why) => panic!("{why:?}"),
            };
            assert_eq!(blocks(0, 8), 1);
            assert!(blocks(0, 4 << 20) > 1);
            assert_eq!(blocks(1 << 20, 4 << 20), 4);
        }
    }
}

/// Along the ranks and over two roots the bits are the same whatever the blocks: so these follow from what is measured.
#[test]
fn the_blocks_of_pipelines_that_keep_their_pairs_follow_from_what_is_measured() {
    for (collective, named) in [
        (Collective::Scan, Algorithm::Pipelined),
        (Collective::Allreduce, Algorithm::DualRoot),
    ] {
        let blocks = |network: Network, bytes: u64, block_bytes: u64| {
            let config = config(|c| {
                c[collective].setting = Setting::Use(named);
                c.block_bytes = block_bytes;
            });
            let facts = Facts {
                network,
                eager_bytes: 1 << 30,
                ..NODES
            };
            match reduction(collective, facts, bytes, SUM_OF_DOUBLES, &config) {
                Choice::Rondo(method) => method.blocks,
                Choice::Host(why) => panic!("{why:?}"),
            }
        };
        assert_eq!(blocks(NEAR, 8, 0), 1);
        assert!(blocks(NEAR, 4 << 20, 0) > blocks(NEAR, 400 << 10, 0));
        assert!(blocks(NEAR, 4 << 20, 0) > blocks(FAR, 4 << 20, 0));
        assert_eq!(blocks(NEAR, 4 << 20, 1 << 20), 4);
    }
}

/// As many lanes as are asked for, or as the smallest node has ranks; each has the blocks of its slice.
#[test]
fn a_reduction_to_a_root_goes_over_lanes_where_they_are_asked_for() {
    let of = |facts, lanes, operator, change: fn(&mut Config)| {
        let config = config(|c| {
            c[Collective::Reduce].setting = Setting::Use(Algorithm::Circulant);
            (c.hierarchy, c.lanes, c.block_bytes) = (Hierarchy::Lanes, lanes, 1000);
            change(c);
        });
        match reduction(Collective::Reduce, facts, 9000, operator, &config) {
            Choice::Rondo(method) => (method.form, method.blocks),
            Choice::Host(why) => panic!("{why:?}"),
        }
    };
    let same = |_: &mut Config| ();
    let over = |lanes| Form::Nodes { lanes };
    let uneven = Facts {
        narrowest: 2,
        p: 13,
        ..full(4, 4)
    };
    for operator in [SUM_OF_DOUBLES, SUM_OF_INTEGERS] {
        assert_eq!(of(full(4, 4), 2, operator, same), (over(2), 5));
        assert_eq!(of(full(4, 4), 64, operator, same), (over(4), 3));
        assert_eq!(of(full(4, 4), 0, operator, same), (over(1), 9));
        assert_eq!(of(uneven, 3, operator, same), (over(2), 5));
        let leader = |c: &mut Config| c.hierarchy = Hierarchy::Leader;
        assert_eq!(of(full(4, 4), 2, operator, leader), (over(1), 9));
        assert_eq!(of(full(1, 8), 2, operator, same), (over(1), 1));
        assert_eq!(of(NODES, 2, operator, same), (Form::Flat, 9));
    }
    // The bits would depend on the nodes, or on another order than that of ranks.
    let placement = |c: &mut Config| c.reproducible = Reproducible::Placement;
    assert_eq!(of(full(4, 4), 2, SUM_OF_DOUBLES, placement).0, Form::Flat);
    assert_eq!(of(full(4, 4), 2, SUM_OF_INTEGERS, placement).0, over(2));
    let order = |c: &mut Config| c.reproducible = Reproducible::Order;
    assert_eq!(of(full(4, 4), 2, SUM_OF_DOUBLES, order).0, Form::Flat);
    // One lane keeps the order of ranks, if they follow each other.
    let cyclic = Facts {
        consecutive: false,
        ..full(4, 4)
    };
    assert_eq!(of(full(4, 4), 2, ORDERED, same).0, over(1));
    assert_eq!(of(cyclic, 2, ORDERED, same).0, Form::Flat);
}

/// It is circulant in lanes to a root, and halving in lanes between nodes of as many ranks; and gives way for a reason.
#[test]
fn full_lane_reduces_in_a_lane_for_every_rank_where_there_are_lanes() {
    let of = |collective: Collective, facts, operator, change: fn(&mut Config)| {
        let config = config(|c| {
            c[collective].setting = Setting::Use(Algorithm::FullLane);
            c.block_bytes = 1000;
            change(c);
        });
        match reduction(collective, facts, 90_000, operator, &config) {
            Choice::Rondo(method) => method,
            Choice::Host(why) => panic!("{why:?}"),
        }
    };
    let uneven = Facts {
        narrowest: 2,
        p: 13,
        ..full(4, 4)
    };
    let same = |_: &mut Config| ();
    let flat = |c: &mut Config| c.hierarchy = Hierarchy::Flat;
    for collective in [
        Collective::Allreduce,
        Collective::Reduce,
        Collective::ReduceScatter,
        Collective::ReduceScatterBlock,
    ] {
        let inside = collective.family().in_lanes(Algorithm::FullLane);
        let over_lanes = config(|c| {
            c[collective].setting = Setting::Use(inside);
            (c.hierarchy, c.lanes, c.block_bytes) = (Hierarchy::Lanes, 64, 1000);
        });
        for operator in [SUM_OF_DOUBLES, SUM_OF_INTEGERS] {
            let asked = reduction(collective, full(4, 4), 90_000, operator, &over_lanes);
            let Choice::Rondo(asked) = asked else {
                panic!("{asked:?}");
            };
            let expected = Method {
                algorithm: Algorithm::FullLane,
                ..asked
            };
            assert_eq!(asked.form, Form::Nodes { lanes: 4 });
            assert_eq!(of(collective, full(4, 4), operator, same), expected);
            assert_eq!(of(collective, full(4, 4), operator, flat), expected);
            for facts in [NODE, NODES] {
                let instead = of(collective, facts, operator, same);
                assert_eq!((instead.algorithm, instead.why), (inside, Why::NoLanes));
            }
            let instead = of(collective, uneven, operator, same);
            match collective == Collective::Reduce {
                true => assert_eq!(instead.form, Form::Nodes { lanes: 2 }),
                false => assert_eq!((instead.algorithm, instead.why), (inside, Why::NoLanes)),
            }
        }
        let placement = |c: &mut Config| c.reproducible = Reproducible::Placement;
        let doubles = of(collective, full(4, 4), SUM_OF_DOUBLES, placement);
        assert_eq!((doubles.algorithm, doubles.why), (inside, Why::Promise));
        let integers = of(collective, full(4, 4), SUM_OF_INTEGERS, placement);
        assert_eq!(integers.algorithm, Algorithm::FullLane);
        let ordered = of(collective, full(4, 4), ORDERED, same);
        assert_eq!(
            (ordered.algorithm, ordered.why),
            (Algorithm::Ordered, Why::Order)
        );
    }
}

/// As where an option names the algorithm.
#[test]
fn a_rule_for_what_an_operator_or_memory_does_not_allow_gives_way_with_the_reason() {
    let config = config(|c| c.max_tmp_size = 1000);
    for (named, bytes, operator, expected) in [
        (Algorithm::Census, 100, SUM_OF_DOUBLES, Why::Inexact),
        (Algorithm::Dissemination, 100, SUM_OF_INTEGERS, Why::Repeats),
        (Algorithm::Halving, 100, ORDERED, Why::Order),
        (Algorithm::Gather, 10_000, SUM_OF_INTEGERS, Why::Memory),
        (Algorithm::Census, 100, SUM_OF_INTEGERS, Why::Rule),
    ] {
        let call = Reduction {
            context: Context {
                collective: Collective::Allreduce,
                facts: NODES,
                config: &config,
            },
            bytes,
            unit: 8,
            longest: bytes,
            fullest: bytes,
            operator,
        };
        let choice = call.ruled(Ruling {
            setting: Setting::Use(named),
            block_bytes: 0,
        });
        let (algorithm, why) = algorithm_because(choice);
        assert_eq!(why, expected, "{named:?}");
        assert_eq!(algorithm == named, why == Why::Rule, "{algorithm:?}");
    }
}

#[test]
fn a_circulant_reduce_scatter_that_is_asked_for_is_one_between_all_ranks() {
    let config =
        config(|c| c[Collective::ReduceScatter].setting = Setting::Use(Algorithm::Circulant));
    for facts in [NODE, NODES, full(4, 4)] {
        let choice = reduction(
            Collective::ReduceScatter,
            facts,
            4 << 20,
            SUM_OF_DOUBLES,
            &config,
        );
        assert_eq!(
            algorithm_because(choice),
            (Algorithm::Circulant, Why::Configured)
        );
        assert!(
            matches!(
                choice,
                Choice::Rondo(Method {
                    form: Form::Flat,
                    ..
                })
            ),
            "{choice:?}"
        );
        let ordered = reduction(Collective::ReduceScatter, facts, 4 << 20, ORDERED, &config);
        assert_eq!(algorithm_because(ordered), (Algorithm::Ordered, Why::Order));
    }
}

/// A network may have a barrier of its own. Where the host has the calls, nothing is tried; but rules say who has any.
#[test]
fn the_host_is_tried_where_barriers_are_rondos_and_rules_hold_for_all() {
    use rondo::learn::Candidate;
    let config = Config::default();
    let far = Facts {
        network: FAR,
        ..NODES
    };
    for (facts, of_rondo) in [(far, true), (NODE, false)] {
        let context = Context {
            collective: Collective::Barrier,
            facts,
            config: &config,
        };
        let call = Barrier { context };
        let choice = call.choose();
        let is_rondos = matches!(choice, Choice::Rondo(Method { why: Why::Auto, .. }));
        assert_eq!(is_rondos, of_rondo, "{choice:?}");
        assert_eq!(call.learns(choice), of_rondo);
        let (class, default) = call.size_class(choice).expect("rules may say otherwise");
        assert_eq!(class.bounds(), (0, 1 << 53), "a barrier has no bytes");
        assert_eq!(default == Candidate::First, of_rondo);
        let ruling = |setting| Ruling {
            setting,
            block_bytes: 0,
        };
        assert_eq!(call.ruled(ruling(Setting::Host)), Choice::Host(Why::Rule));
        let by_rondo = call.ruled(ruling(Setting::Use(Algorithm::Dissemination)));
        assert!(
            matches!(by_rondo, Choice::Rondo(Method { why: Why::Rule, .. })),
            "{by_rondo:?}"
        );
    }
}

/// One rank of each node scans for it, if the ranks of each follow each other and no promise forbids it.
#[test]
fn a_scan_by_doubling_goes_over_nodes_whose_ranks_follow_each_other() {
    let (nodes, leaders) = (full(4, 4), Form::Nodes { lanes: 1 });
    let uneven = Facts {
        p: 13,
        narrowest: 1,
        ..nodes
    };
    let cyclic = Facts {
        consecutive: false,
        ..nodes
    };
    for collective in [Collective::Scan, Collective::Exscan] {
        let form = |facts, operator, reproducible, hierarchy| {
            let mut config = promised(reproducible);
            config[collective].setting = Setting::Use(Algorithm::Doubling);
            config.hierarchy = hierarchy;
            match reduction(collective, facts, 1000, operator, &config) {
                Choice::Rondo(method) => method.form,
                Choice::Host(why) => panic!("{why:?}"),
            }
        };
        let (auto, run) = (Hierarchy::Auto, Reproducible::Run);
        for facts in [nodes, uneven] {
            for operator in [SUM_OF_INTEGERS, SUM_OF_DOUBLES, ORDERED] {
                assert_eq!(form(facts, operator, run, auto), leaders);
                assert_eq!(form(facts, operator, run, Hierarchy::Flat), Form::Flat);
                assert_eq!(form(cyclic, operator, run, auto), Form::Flat);
            }
        }
        for promise in [Reproducible::Placement, Reproducible::Order] {
            assert_eq!(form(nodes, SUM_OF_DOUBLES, promise, auto), Form::Flat);
            assert_eq!(form(nodes, SUM_OF_INTEGERS, promise, auto), leaders);
        }
        for facts in [NODE, NODES] {
            assert_eq!(form(facts, SUM_OF_INTEGERS, run, auto), Form::Flat);
        }
    }
}

/// One rank of each node speaks for it, if the ranks of each follow each other and no promise forbids it. There is no
/// second way to measure.
#[test]
fn an_operator_that_does_not_commute_goes_over_nodes_whose_ranks_follow_each_other() {
    let (nodes, leaders) = (full(4, 4), Form::Nodes { lanes: 1 });
    let uneven = Facts {
        p: 13,
        narrowest: 1,
        ..nodes
    };
    let cyclic = |facts| Facts {
        consecutive: false,
        ..facts
    };
    let exact = OperatorProperties {
        exact: true,
        ..ORDERED
    };
    let run = Reproducible::Run;
    for (collective, algorithm, over_nodes) in [
        (Collective::Allreduce, Algorithm::Gather, true),
        (Collective::Allreduce, Algorithm::Ordered, true),
        (Collective::Allreduce, Algorithm::Split, true),
        (Collective::Allreduce, Algorithm::Doubling, true),
        (Collective::Allreduce, Algorithm::DualRoot, false),
        (Collective::Allreduce, Algorithm::Linear, false),
        (Collective::Reduce, Algorithm::Ordered, true),
        (Collective::Reduce, Algorithm::Binomial, false),
        (Collective::ReduceScatter, Algorithm::Ordered, true),
        (Collective::ReduceScatter, Algorithm::Split, true),
        (Collective::ReduceScatterBlock, Algorithm::Ordered, true),
        (Collective::ReduceScatterBlock, Algorithm::Split, true),
    ] {
        let form = |facts, operator, reproducible, hierarchy| {
            let mut config = promised(reproducible);
            config[collective].setting = Setting::Use(algorithm);
            config.hierarchy = hierarchy;
            let call = even_call(collective, facts, 9000, operator, &config);
            let Choice::Rondo(method) = call.choose() else {
                panic!("the host's: {collective:?}");
            };
            let expected = (algorithm, Why::Configured);
            assert_eq!((method.algorithm, method.why), expected);
            assert!(operator.commutes || call.second().is_none());
            method.form
        };
        let auto = Hierarchy::Auto;
        let expected = match over_nodes {
            true => leaders,
            false => Form::Flat,
        };
        for facts in [nodes, uneven] {
            for hierarchy in [auto, Hierarchy::Leader, Hierarchy::Lanes] {
                assert_eq!(form(facts, ORDERED, run, hierarchy), expected);
            }
            assert_eq!(form(facts, ORDERED, Reproducible::Off, auto), expected);
            assert_eq!(form(facts, ORDERED, run, Hierarchy::Flat), Form::Flat);
            assert_eq!(form(cyclic(facts), ORDERED, run, auto), Form::Flat);
            assert_eq!(form(cyclic(facts), exact, run, auto), Form::Flat);
            for promise in [Reproducible::Placement, Reproducible::Order] {
                assert_eq!(form(facts, exact, promise, auto), expected);
            }
        }
        assert_eq!(form(NODES, ORDERED, run, auto), Form::Flat);
        if algorithm != Algorithm::Gather {
            assert_eq!(form(nodes, SUM_OF_DOUBLES, run, auto), Form::Flat);
        }
        if algorithm == Algorithm::Ordered {
            for promise in [Reproducible::Placement, Reproducible::Order] {
                assert_eq!(form(nodes, ORDERED, promise, auto), Form::Flat);
            }
            let shared = Form::Nodes { lanes: 8 };
            assert_eq!(form(NODE, ORDERED, run, auto), shared);
        }
    }
}

/// As many messages as there are other nodes are soon sent, and as many as there are other ranks are not.
#[test]
fn over_nodes_the_number_of_nodes_says_how_the_order_of_ranks_is_kept() {
    let config = config(|c| {
        (c.network.alpha_us, c.network.gap_us) = (Some(4.0), Some(0.3));
        c.network.beta_ns_per_kb = Some(0.001);
        for collective in [Collective::Allreduce, Collective::ReduceScatter] {
            c[collective].min_bytes = Some(0);
        }
    });
    let (nodes, long) = (full(8, 4), 1 << 20);
    let cyclic = Facts {
        consecutive: false,
        ..nodes
    };
    for collective in [Collective::Allreduce, Collective::ReduceScatter] {
        let by = |facts, bytes| reduction(collective, facts, bytes, ORDERED, &config);
        assert_eq!(chosen(by(nodes, long)), Algorithm::Ordered);
        assert_eq!(chosen(by(cyclic, long)), Algorithm::Split);
    }
    // What a leader gathers are the vectors of all nodes.
    let short = |facts, bytes| reduction(Collective::Allreduce, facts, bytes, ORDERED, &config);
    assert_eq!(chosen(short(nodes, 8 << 10)), Algorithm::Gather);
    assert!(!is_flat(short(nodes, 8 << 10)));
    assert_ne!(chosen(short(cyclic, 8 << 10)), Algorithm::Gather);
    // The host has them unless the user says otherwise.
    let default = Config::default();
    for bytes in [8, 8 << 10, long] {
        for facts in [nodes, cyclic] {
            let choice = reduction(Collective::Allreduce, facts, bytes, ORDERED, &default);
            assert_eq!(host_because(choice), Some(Why::Slower));
        }
    }
}
