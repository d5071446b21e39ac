//! Reductions: clocks choose nothing that changes a bit, promises are kept, and the order of ranks where it counts.

use super::{NODE, NODES, UNKNOWN, config, full, no_shm};
use rondo::algorithm::Algorithm;
use rondo::collective::Collective;
use rondo::config::{Config, Hierarchy, Reproducible, Setting};
use rondo::decide::{
    Barrier, Choice, Context, Facts, Form, Method, OperatorProperties, Problem, Reduction,
    SLOT_UNIT_MAX, Why,
};
use rondo::learn::Candidate;
use rondo::network::Network;
use rondo::rules::Ruling;
use rondo::script::fullest_rounds;

const SUM_OF_DOUBLES: OperatorProperties = OperatorProperties {
    commutes: true,
    exact: false,
    built_in: true,
    idempotent: false,
};
const SUM_OF_INTEGERS: OperatorProperties = OperatorProperties {
    built_in: true,
    commutes: true,
    exact: true,
    idempotent: false,
};
const ORDERED: OperatorProperties = OperatorProperties {
    commutes: false,
    exact: false,
    built_in: true,
    idempotent: false,
};

/// A network over which messages travel for long.
const FAR: Network = Network {
    alpha_us: Some(1000.0),
    gap_us: Some(1.0),
    beta_ns_per_kb: Some(40_000.0),
    node_alpha_us: Some(1.0),
    node_beta_ns_per_kb: Some(100.0),
};

/// One over which they are soon there, and whose links are as slow.
const NEAR: Network = Network {
    alpha_us: Some(2.0),
    gap_us: Some(0.3),
    ..FAR
};

/// A slow link, as it is found before long calls.
const SLOW_LINK: Network = Network {
    alpha_us: Some(30.0),
    gap_us: Some(5.0),
    beta_ns_per_kb: Some(8000.0),
    ..FAR
};

/// A reduction of vectors of numbers of 8 bytes, in equal parts.
fn even_call(
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

/// The first sums on a communicator of one node do without its ring, unless the vectors of all are long or come in many
/// pieces, or the order of ranks counts.
#[test]
fn first_sums_on_one_node_are_short_enough_to_be_gathered() {
    let is_short = |facts: Facts, bytes, reproducible| {
        let config = promised(reproducible);
        let sum = even_call(Collective::Allreduce, facts, bytes, SUM_OF_DOUBLES, &config);
        sum.is_short_at_first()
    };
    let run = Reproducible::Run;
    assert!(is_short(full(1, 4), 256 << 10, run));
    assert!(!is_short(full(1, 4), (256 << 10) + 8, run));
    assert!(!is_short(full(1, 4), 8000, Reproducible::Order));
    assert!(!is_short(full(2, 2), 8000, run));
    assert!(is_short(full(1, 128), 8000, run) && !is_short(full(1, 129), 8000, run));
}

/// The bits are the same, so a clock may choose.
#[test]
fn short_sums_over_nodes_are_gathered_or_halved_whatever_is_faster_on_the_network() {
    let uneven = Facts {
        narrowest: 2,
        p: 13,
        ..full(4, 4)
    };
    for (facts, lanes) in [(full(4, 4), 4), (uneven, 1)] {
        let by = |network, bytes| {
            let facts = Facts { network, ..facts };
            let operator = SUM_OF_DOUBLES;
            reduction(
                Collective::Allreduce,
                facts,
                bytes,
                operator,
                &Config::default(),
            )
        };
        for (network, bytes, algorithm, lanes) in [
            (FAR, 16 << 10, Algorithm::Gather, 1),
            (SLOW_LINK, 2 << 10, Algorithm::Gather, 1),
            (SLOW_LINK, 8 << 10, Algorithm::Halving, lanes),
        ] {
            let choice = by(network, bytes);
            assert_eq!(chosen(choice), algorithm, "{facts:?}, {bytes}");
            assert!(
                matches!(choice, Choice::Rondo(method) if method.form == Form::Nodes { lanes })
            );
        }
    }
}

/// A function of the program's may round the last elements of a piece otherwise than the first ones. So nothing that is
/// measured chooses the pieces of its vectors.
#[test]
fn the_pieces_of_a_users_operator_follow_from_nothing_that_is_measured() {
    let operator = OperatorProperties {
        built_in: false,
        ..SUM_OF_DOUBLES
    };
    let named = |collective, algorithm| {
        config(|c| {
            c[collective].min_bytes = Some(0);
            c[collective].setting = algorithm;
        })
    };
    for (collective, algorithm) in [
        (Collective::Allreduce, Setting::Auto),
        (Collective::Allreduce, Setting::Use(Algorithm::DualRoot)),
        (Collective::Scan, Setting::Use(Algorithm::Pipelined)),
        (Collective::Reduce, Setting::Auto),
        (Collective::ReduceScatter, Setting::Auto),
    ] {
        let config = named(collective, algorithm);
        for facts in [NODES, full(2, 3), full(4, 4)] {
            for bytes in (3..23).map(|log| 1 << log) {
                let by = |network| {
                    let facts = Facts { network, ..facts };
                    reduction(collective, facts, bytes, operator, &config)
                };
                let first = by(Network::default());
                for network in [FAR, NEAR, SLOW_LINK] {
                    assert_eq!(by(network), first, "{collective:?} {facts:?} {bytes}");
                }
            }
        }
    }
}

/// Without promises, what is compared are two ways, also where the first one follows from nothing that is measured.
#[test]
fn a_users_operator_has_two_ways_to_compare() {
    let off = promised(Reproducible::Off);
    for network in [FAR, SLOW_LINK] {
        let facts = Facts {
            network,
            ..full(4, 4)
        };
        let call = Reduction {
            context: Context {
                collective: Collective::Allreduce,
                facts,
                config: &off,
            },
            bytes: 8 << 10,
            unit: 8,
            longest: 512,
            fullest: 8 << 10,
            operator: OperatorProperties {
                built_in: false,
                ..SUM_OF_DOUBLES
            },
        };
        assert_eq!(chosen(call.first()), Algorithm::Gather);
        let second = call.second().map(|(algorithm, _)| algorithm);
        assert_eq!(second, Some(Algorithm::Halving));
    }
}

/// Where a node has few ranks, hosts send hardly more than leaders would, and need no memory for it.
#[test]
fn short_sums_over_nodes_with_few_ranks_are_the_hosts() {
    let by = |facts| {
        reduction(
            Collective::Allreduce,
            facts,
            512,
            SUM_OF_DOUBLES,
            &Config::default(),
        )
    };
    for (nodes, width) in [(4, 2), (8, 2), (4, 3)] {
        assert_eq!(by(full(nodes, width)), Choice::Host(Why::Small));
    }
    assert_eq!(chosen(by(full(3, 4))), Algorithm::Gather);
    let host_leads = Facts {
        host_leads: true,
        ..full(3, 4)
    };
    assert_eq!(by(host_leads), Choice::Host(Why::Small));
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
fn long_vectors_between_nodes_are_reduced_by_rondo() {
    let default = Config::default();
    for (collective, algorithm) in [
        (Collective::Allreduce, Algorithm::Halving),
        (Collective::Reduce, Algorithm::Circulant),
        (Collective::ReduceScatter, Algorithm::Halving),
        (Collective::ReduceScatterBlock, Algorithm::Halving),
    ] {
        for facts in [NODES, full(4, 4)] {
            let choice = reduction(collective, facts, 4 << 20, SUM_OF_DOUBLES, &default);
            assert_eq!(chosen(choice), algorithm, "{collective:?}");
        }
        let short = reduction(collective, NODES, 1000, SUM_OF_DOUBLES, &default);
        assert_eq!(host_because(short), Some(Why::Small), "{collective:?}");
        let ordered = reduction(collective, NODES, 4 << 20, ORDERED, &default);
        assert_eq!(host_because(ordered), Some(Why::Slower), "{collective:?}");
    }
}

#[test]
fn the_ranks_of_one_node_reduce_through_memory_that_they_share() {
    let default = Config::default();
    let without = config(|c| c.shm = false);
    for (collective, algorithm) in [
        (Collective::Allreduce, Algorithm::Halving),
        (Collective::Reduce, Algorithm::Circulant),
        (Collective::ReduceScatter, Algorithm::Halving),
        (Collective::ReduceScatterBlock, Algorithm::Halving),
    ] {
        let inside = reduction(collective, NODE, 64 << 10, SUM_OF_DOUBLES, &default);
        assert_eq!(chosen(inside), algorithm, "{collective:?}");
        assert!(!is_flat(inside), "{inside:?}");
        let short = reduction(collective, NODE, 2 << 10, SUM_OF_DOUBLES, &default);
        assert_eq!(host_because(short), Some(Why::Small), "{collective:?}");
        let messages = reduction(collective, NODE, 64 << 10, SUM_OF_DOUBLES, &without);
        assert_eq!(host_because(messages), Some(Why::OneNode), "{collective:?}");
    }
}

#[test]
fn long_parts_are_left_to_hosts_that_copy_from_process_to_process() {
    let default = Config::default();
    let host_copies = Facts {
        host_copies: true,
        ..NODE
    };
    for collective in [Collective::ReduceScatter, Collective::ReduceScatterBlock] {
        let parts = |facts, bytes| reduction(collective, facts, bytes, SUM_OF_DOUBLES, &default);
        assert_eq!(chosen(parts(NODE, 16 << 20)), Algorithm::Halving);
        assert_eq!(chosen(parts(host_copies, 1 << 20)), Algorithm::Halving);
        assert_eq!(host_because(parts(host_copies, 2 << 20)), Some(Why::Slower));
    }
    let all = reduction(
        Collective::Allreduce,
        host_copies,
        16 << 20,
        SUM_OF_DOUBLES,
        &default,
    );
    assert_eq!(chosen(all), Algorithm::Halving);
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
fn what_is_measured_chooses_for_exact_operators_only() {
    let default = Config::default();
    let far = Facts {
        network: FAR,
        ..NODES
    };
    for bytes in [8, 1000, 100_000, 4 << 20] {
        for collective in [
            Collective::Allreduce,
            Collective::Reduce,
            Collective::ReduceScatter,
        ] {
            let [near, far] = [NODES, far]
                .map(|facts| reduction(collective, facts, bytes, SUM_OF_DOUBLES, &default));
            assert_eq!(near, far, "{collective:?} of {bytes}");
        }
    }
    let short = reduction(Collective::Allreduce, far, 8, SUM_OF_INTEGERS, &default);
    assert_eq!(chosen(short), Algorithm::Gather);
    let middle = reduction(
        Collective::Allreduce,
        far,
        16_000,
        SUM_OF_INTEGERS,
        &default,
    );
    assert_eq!(chosen(middle), Algorithm::Census);
    let long = reduction(
        Collective::Allreduce,
        far,
        64_000,
        SUM_OF_INTEGERS,
        &default,
    );
    assert_eq!(chosen(long), Algorithm::Halving);
    let parts = |facts, bytes| {
        let collective = Collective::ReduceScatter;
        reduction(collective, facts, bytes, SUM_OF_INTEGERS, &default)
    };
    assert_eq!(chosen(parts(far, 64_000)), Algorithm::Halving);
    assert_eq!(host_because(parts(NODES, 64_000)), Some(Why::Small));
    // Hosts need two rounds more unless the ranks are a power of two.
    let among = |p| Facts { p, nodes: p, ..far };
    assert_eq!(chosen(parts(among(36), 1000)), Algorithm::Halving);
    assert_eq!(host_because(parts(among(32), 1000)), Some(Why::Small));
    // Where nodes have several ranks, each has its share of what goes between nodes.
    let full = Facts {
        network: FAR,
        ..full(4, 4)
    };
    let small = Some(Why::Small);
    for (collective, bytes, operator, expected) in [
        (Collective::Allreduce, 64_000, SUM_OF_INTEGERS, None),
        (Collective::Allreduce, 64_000, SUM_OF_DOUBLES, small),
        (Collective::Allreduce, 20_000, SUM_OF_INTEGERS, small),
        (Collective::Reduce, 40_000, SUM_OF_INTEGERS, small),
        (Collective::ReduceScatter, 100, SUM_OF_INTEGERS, small),
    ] {
        let choice = reduction(collective, full, bytes, operator, &default);
        assert_eq!(host_because(choice), expected, "{collective:?} of {bytes}");
        assert!(!is_flat(choice));
    }
}

/// The cost of messages chooses the tree of a reduction to a root, and its blocks, if they change no bit.
#[test]
fn short_reductions_on_a_far_network_go_up_a_tree_if_the_operator_is_exact() {
    let default = Config::default();
    let far = Facts {
        network: FAR,
        ..NODES
    };
    let of =
        |facts, bytes, operator| reduction(Collective::Reduce, facts, bytes, operator, &default);
    for bytes in [1, 1000, 10_000] {
        assert_eq!(
            chosen(of(far, bytes, SUM_OF_INTEGERS)),
            Algorithm::Postal,
            "{bytes}"
        );
        assert_eq!(
            host_because(of(NODES, bytes, SUM_OF_INTEGERS)),
            Some(Why::Small)
        );
        assert_eq!(
            host_because(of(far, bytes, SUM_OF_DOUBLES)),
            Some(Why::Small)
        );
    }
    let long = of(far, 64 << 20, SUM_OF_INTEGERS);
    assert_eq!(chosen(long), Algorithm::Circulant);
    let blocks = |facts, operator| match of(facts, 1 << 20, operator) {
        Choice::Rondo(method) => method.blocks,
        Choice::Host(why) => panic!("{why:?}"),
    };
    assert_eq!(blocks(far, SUM_OF_DOUBLES), blocks(NODES, SUM_OF_DOUBLES));
    assert_ne!(blocks(far, SUM_OF_INTEGERS), blocks(far, SUM_OF_DOUBLES));
}

/// A fast network, far if what processors do for a message is compared.
const FAST: Network = Network {
    alpha_us: Some(1.9),
    gap_us: Some(0.3),
    beta_ns_per_kb: Some(82.0),
    node_alpha_us: Some(1.2),
    node_beta_ns_per_kb: Some(102.0),
};

/// Over nodes of several ranks, short vectors come to a root, or in parts, by Rondo where the model of the measured
/// network clearly says so, if the operator is exact.
#[test]
fn short_reductions_over_full_nodes_are_rondos_where_the_model_says_so() {
    use Algorithm::{Circulant, Halving, Postal};
    let configs = [Config::default(), no_shm()];
    let near = Network {
        gap_us: Some(1.0),
        ..FAST
    };
    let on = |network, nodes, width| Facts {
        network,
        ..full(nodes, width)
    };
    for config in &configs {
        let of = |facts, collective, bytes, operator| {
            reduction(collective, facts, bytes, operator, config)
        };
        let root = |facts, bytes| of(facts, Collective::Reduce, bytes, SUM_OF_INTEGERS);
        let parts = |facts, bytes| of(facts, Collective::ReduceScatter, bytes, SUM_OF_INTEGERS);
        for width in [16, 32] {
            let facts = on(FAST, 36, width);
            for bytes in [8, 800, 4000] {
                assert_eq!(chosen(root(facts, bytes)), Postal, "{width}: {bytes}");
                assert!(is_flat(root(facts, bytes)));
            }
            // Blocks over leaders, which among others would have many messages inside their nodes.
            if config.shm {
                for bytes in [16_000, 40_000] {
                    assert_eq!(chosen(root(facts, bytes)), Circulant, "{width}: {bytes}");
                    assert!(!is_flat(root(facts, bytes)));
                }
            }
            // Every rank has an element.
            let least = 36 * u64::from(width) * 8;
            for bytes in [least, 16_000, 30_000] {
                assert_eq!(chosen(parts(facts, bytes)), Halving, "{width}: {bytes}");
            }
            assert_eq!(host_because(parts(facts, least - 8)), Some(Why::Small));
            for bytes in [8, 800, 4000, 16_000, 30_000] {
                for collective in [Collective::Reduce, Collective::ReduceScatter] {
                    let inexact = of(facts, collective, bytes, SUM_OF_DOUBLES);
                    assert_eq!(host_because(inexact), Some(Why::Small));
                    for network in [UNKNOWN, near] {
                        let full = on(network, 36, width);
                        let exact = of(full, collective, bytes, SUM_OF_INTEGERS);
                        assert_eq!(host_because(exact), Some(Why::Small));
                    }
                }
            }
        }
        // Hosts have as few rounds among a power of two. On slow links neither blocks nor bytes that are sent once
        // are counted on.
        let slow = Network {
            alpha_us: Some(550.0),
            gap_us: Some(10.0),
            node_alpha_us: Some(20.0),
            ..FAR
        };
        for bytes in [8000, 16_000, 40_000, 60_000] {
            assert_eq!(
                host_because(root(on(slow, 4, 4), bytes)),
                Some(Why::Small),
                "{bytes}"
            );
        }
        for bytes in [128, 8000, 30_000] {
            assert_eq!(
                host_because(parts(on(slow, 4, 4), bytes)),
                Some(Why::Small),
                "{bytes}"
            );
        }
        // All send to the root at once.
        for (nodes, width) in [(4, 4), (3, 2)] {
            assert_eq!(chosen(root(on(slow, nodes, width), 8)), Postal);
        }
    }
}

/// An exact reduction to a root has two ways, the faster one by the model and the other one.
#[test]
fn an_exact_reduction_to_a_root_has_a_second_way_on_a_far_network() {
    let config = Config::default();
    let full = Facts {
        network: FAST,
        ..full(36, 16)
    };
    let of = |bytes, operator| even_call(Collective::Reduce, full, bytes, operator, &config);
    for (bytes, first, second) in [
        (800, Algorithm::Postal, Algorithm::Circulant),
        (40_000, Algorithm::Circulant, Algorithm::Postal),
    ] {
        let call = of(bytes, SUM_OF_INTEGERS);
        assert_eq!(chosen(call.first()), first);
        let (other, ratio) = call.second().expect("a second way");
        assert_eq!(other, second);
        assert!(ratio >= 1.0, "{ratio}");
        assert_eq!(chosen(call.candidate(Candidate::Second)), second);
        assert_eq!(of(bytes, SUM_OF_DOUBLES).second(), None);
    }
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

#[test]
fn an_algorithm_that_mixes_operands_gives_way_where_their_order_counts() {
    for (collective, named) in [
        (Collective::Allreduce, Algorithm::Halving),
        (Collective::Reduce, Algorithm::Circulant),
        (Collective::ReduceScatter, Algorithm::Halving),
    ] {
        let config = config(|c| c[collective].setting = Setting::Use(named));
        let mixed = reduction(collective, NODES, 4 << 20, SUM_OF_DOUBLES, &config);
        assert_eq!(chosen(mixed), named);
        let ordered = reduction(collective, NODES, 4 << 20, ORDERED, &config);
        assert_eq!(chosen(ordered), Algorithm::Ordered);
        assert!(matches!(
            ordered,
            Choice::Rondo(Method {
                why: Why::Order,
                ..
            })
        ));
    }
}

const MAX_OF_INTEGERS: OperatorProperties = OperatorProperties::ANY;
const MAX_OF_DOUBLES: OperatorProperties = OperatorProperties {
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

/// Whatever is asked for, all ranks have the same bits.
#[test]
fn an_algorithm_that_an_operator_does_not_allow_gives_way() {
    let asked = Why::Configured;
    for (named, operator, expected) in [
        (
            Algorithm::Census,
            SUM_OF_INTEGERS,
            (Algorithm::Census, asked),
        ),
        (
            Algorithm::Census,
            MAX_OF_INTEGERS,
            (Algorithm::Census, asked),
        ),
        (
            Algorithm::Census,
            SUM_OF_DOUBLES,
            (Algorithm::Halving, Why::Inexact),
        ),
        (
            Algorithm::Census,
            MAX_OF_DOUBLES,
            (Algorithm::Halving, Why::Inexact),
        ),
        (Algorithm::Census, ORDERED, (Algorithm::Ordered, Why::Order)),
        (
            Algorithm::Dissemination,
            MAX_OF_INTEGERS,
            (Algorithm::Dissemination, asked),
        ),
        (
            Algorithm::Dissemination,
            SUM_OF_INTEGERS,
            (Algorithm::Halving, Why::Repeats),
        ),
        (
            Algorithm::Dissemination,
            MAX_OF_DOUBLES,
            (Algorithm::Halving, Why::Inexact),
        ),
        (
            Algorithm::Dissemination,
            ORDERED,
            (Algorithm::Ordered, Why::Order),
        ),
        (
            Algorithm::Doubling,
            SUM_OF_DOUBLES,
            (Algorithm::Doubling, asked),
        ),
        (Algorithm::Doubling, ORDERED, (Algorithm::Doubling, asked)),
        (
            Algorithm::DualRoot,
            SUM_OF_DOUBLES,
            (Algorithm::DualRoot, asked),
        ),
        (Algorithm::DualRoot, ORDERED, (Algorithm::DualRoot, asked)),
        (Algorithm::Ring, SUM_OF_DOUBLES, (Algorithm::Ring, asked)),
        (Algorithm::Ring, ORDERED, (Algorithm::Ordered, Why::Order)),
        (
            Algorithm::ReduceBcast,
            SUM_OF_DOUBLES,
            (Algorithm::ReduceBcast, asked),
        ),
        (
            Algorithm::ReduceBcast,
            ORDERED,
            (Algorithm::Ordered, Why::Order),
        ),
    ] {
        let config = config(|c| c[Collective::Allreduce].setting = Setting::Use(named));
        for facts in [NODE, NODES, full(4, 4)] {
            let choice = reduction(Collective::Allreduce, facts, 4 << 20, operator, &config);
            assert_eq!(
                algorithm_because(choice),
                expected,
                "{named:?}, {operator:?}"
            );
            // As every rank for itself carries it out, or with the same bits through the memory of the only node;
            // unless the operator must not mix, and nodes hold ranks that follow each other.
            let same = is_flat(choice) || expected.0 == Algorithm::Halving || !operator.commutes;
            assert!(same || facts.nodes == 1, "{choice:?}");
        }
    }
    // What takes its place is what the size asks for.
    let named = config(|c| c[Collective::Allreduce].setting = Setting::Use(Algorithm::Census));
    let short = reduction(Collective::Allreduce, NODES, 8, SUM_OF_DOUBLES, &named);
    assert_eq!(algorithm_because(short), (Algorithm::Gather, Why::Inexact));
}

/// Parts are reduced in no order of ranks, by every rank for itself.
#[test]
fn halving_and_ring_reduce_to_a_root_or_in_parts_where_operands_may_change_places() {
    for (collective, named) in [
        (Collective::Reduce, Algorithm::Halving),
        (Collective::Reduce, Algorithm::Ring),
        (Collective::ReduceScatter, Algorithm::Ring),
        (Collective::ReduceScatterBlock, Algorithm::Ring),
    ] {
        let config = config(|c| c[collective].setting = Setting::Use(named));
        for facts in [NODE, NODES, full(4, 4)] {
            let choice = |operator| reduction(collective, facts, 4 << 20, operator, &config);
            let sums = choice(SUM_OF_DOUBLES);
            assert_eq!(algorithm_because(sums), (named, Why::Configured));
            assert!(is_flat(sums), "{sums:?}");
            let ordered = algorithm_because(choice(ORDERED));
            assert_eq!(ordered, (Algorithm::Ordered, Why::Order));
        }
    }
}

/// None of these has the bits of a loop over the ranks.
#[test]
fn doubling_gives_way_where_the_bits_of_a_loop_are_promised() {
    for (collective, named) in [
        (Collective::Allreduce, Algorithm::Doubling),
        (Collective::Allreduce, Algorithm::DualRoot),
        (Collective::Exscan, Algorithm::Doubling),
        (Collective::Scan, Algorithm::Hypercube),
        (Collective::Exscan, Algorithm::Mesh),
        (Collective::Scan, Algorithm::TwoTree),
        (Collective::Exscan, Algorithm::InOrder),
    ] {
        let mut config = promised(Reproducible::Order);
        config[collective].setting = Setting::Use(named);
        let inexact = reduction(collective, NODES, 4 << 20, SUM_OF_DOUBLES, &config);
        assert_eq!(algorithm_because(inexact).1, Why::Order);
        let exact = reduction(collective, NODES, 4 << 20, SUM_OF_INTEGERS, &config);
        assert_eq!(algorithm_because(exact), (named, Why::Configured));
    }
}

/// Trees keep the order of ranks, but none but a star has the bits of a loop.
#[test]
fn trees_give_way_where_the_bits_of_a_loop_are_promised() {
    use Algorithm::{
        Binary, Binomial, Chain, Fibonacci, InOrder, Kary, Knomial, Linear, Mesh, TwoTree,
    };
    for collective in [Collective::Allreduce, Collective::Reduce] {
        for named in [
            Binary, Binomial, Chain, Fibonacci, InOrder, Kary, Knomial, Linear, Mesh, TwoTree,
        ] {
            let asked = config(|c| c[collective].setting = Setting::Use(named));
            let promised = Config {
                reproducible: Reproducible::Order,
                ..asked.clone()
            };
            for operator in [SUM_OF_DOUBLES, ORDERED] {
                let choice = reduction(collective, NODES, 4 << 20, operator, &asked);
                assert_eq!(algorithm_because(choice), (named, Why::Configured));
                assert!(is_flat(choice));
                let choice = reduction(collective, NODES, 4 << 20, operator, &promised);
                let expected = match named {
                    Linear => (Linear, Why::Configured),
                    _ => (Algorithm::Ordered, Why::Order),
                };
                assert_eq!(algorithm_because(choice), expected, "{named:?}");
            }
        }
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

/// Of two trees each has every other block. So what is measured changes no number of blocks, but what is told does.
#[test]
fn the_blocks_that_go_up_a_tree_follow_from_nothing_that_is_measured() {
    let blocks = |facts: Facts, change: fn(&mut Config)| {
        let config = config(|c| {
            c[Collective::Reduce].setting = Setting::Use(Algorithm::TwoTree);
            change(c);
        });
        match reduction(Collective::Reduce, facts, 4 << 20, SUM_OF_DOUBLES, &config) {
            Choice::Rondo(method) => method.blocks,
            Choice::Host(why) => panic!("{why:?}"),
        }
    };
    let measured = Facts {
        network: FAR,
        ..NODES
    };
    let usual = blocks(NODES, |_| ());
    assert!(usual > 1);
    assert_eq!(blocks(measured, |_| ()), usual);
    assert_eq!(blocks(NODES, |c| c.block_bytes = 1 << 20), 4);
    assert!(blocks(NODES, |c| c.network.alpha_us = Some(0.1)) > usual);
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

#[test]
fn rules_keep_the_order_of_ranks_and_promises() {
    let by_rule = |setting, operator, reproducible| {
        let config = promised(reproducible);
        let call = Reduction {
            context: Context {
                collective: Collective::Allreduce,
                facts: NODE,
                config: &config,
            },
            bytes: 100,
            unit: 8,
            longest: 20,
            fullest: 100,
            operator,
        };
        call.ruled(Ruling {
            setting,
            block_bytes: 0,
        })
    };
    let ruled = |algorithm, operator, reproducible| {
        by_rule(Setting::Use(algorithm), operator, reproducible)
    };
    let run = Reproducible::Run;
    let halving = ruled(Algorithm::Halving, SUM_OF_DOUBLES, run);
    assert_eq!(algorithm_because(halving), (Algorithm::Halving, Why::Rule));
    let ordered = ruled(Algorithm::Halving, ORDERED, run);
    assert_ne!(algorithm_because(ordered).0, Algorithm::Halving);
    let host = Reproducible::Host;
    let sums = ruled(Algorithm::Halving, SUM_OF_DOUBLES, host);
    assert_eq!(host_because(sums), Some(Why::Promise));
    let integers = ruled(Algorithm::Halving, SUM_OF_INTEGERS, host);
    assert_eq!(algorithm_because(integers), (Algorithm::Halving, Why::Rule));
    // The MPI library cannot have what a rule would leave to it.
    for promise in [Reproducible::Order, Reproducible::Placement] {
        let sums = by_rule(Setting::Host, SUM_OF_DOUBLES, promise);
        assert_eq!(algorithm_because(sums).1, Why::Promise);
        let integers = by_rule(Setting::Host, SUM_OF_INTEGERS, promise);
        assert_eq!(host_because(integers), Some(Why::Rule));
    }
    let sums = by_rule(Setting::Host, SUM_OF_DOUBLES, run);
    assert_eq!(host_because(sums), Some(Why::Rule));
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

/// Hosts have halving as well where the number of ranks is a power of two; among others Rondo is faster from shorter
/// vectors on. Where nodes have different numbers of ranks, one of each halves.
#[test]
fn allreduces_are_rondos_from_where_it_is_faster_on() {
    let config = Config::default();
    let of = |facts, bytes| reduction(Collective::Allreduce, facts, bytes, SUM_OF_DOUBLES, &config);
    let nodes = |p, nodes, widest, narrowest| Facts {
        p,
        nodes,
        widest,
        narrowest,
        ..NODES
    };
    let kib = 1 << 10;
    for (facts, least, lanes) in [
        (nodes(8, 8, 1, 1), 128 * kib, None),
        (nodes(7, 7, 1, 1), 32 * kib, None),
        (nodes(36, 36, 1, 1), 32 * kib, None),
        (nodes(16, 4, 4, 4), 64 * kib, Some(4)),
        (nodes(15, 3, 5, 5), 32 * kib, Some(5)),
        (nodes(11, 3, 4, 3), 32 * kib, Some(1)),
        (nodes(8, 3, 4, 1), 64 * kib, Some(1)),
    ] {
        let Choice::Rondo(Method {
            algorithm: Algorithm::Halving,
            form,
            why: Why::Auto,
            ..
        }) = of(facts, least)
        else {
            panic!("{facts:?}: {:?}", of(facts, least));
        };
        let expected = lanes.map_or(Form::Flat, |lanes| Form::Nodes { lanes });
        assert_eq!(form, expected, "{facts:?}");
        assert_eq!(
            host_because(of(facts, least - 8)),
            Some(Why::Small),
            "{facts:?}"
        );
    }
}

/// A reduce-scatter of `bytes` bytes, of which one rank gets so many and the others an equal part of the rest.
fn uneven(
    facts: Facts,
    bytes: u64,
    longest: u64,
    operator: OperatorProperties,
    config: &Config,
) -> Choice {
    let mut parts = vec![(bytes - longest) / u64::from(facts.p - 1); facts.p as usize];
    parts[1] = longest;
    in_parts(facts, bytes, &parts, operator, config)
}

/// A reduce-scatter of `bytes` bytes, of which ranks get these.
fn in_parts(
    facts: Facts,
    bytes: u64,
    parts: &[u64],
    operator: OperatorProperties,
    config: &Config,
) -> Choice {
    let call = Reduction {
        context: Context {
            collective: Collective::ReduceScatter,
            facts,
            config,
        },
        bytes,
        unit: 8,
        longest: parts.iter().copied().max().unwrap_or(0),
        fullest: fullest_rounds(parts),
        operator,
    };
    call.choose()
}

#[test]
fn parts_of_very_different_sizes_are_reduced_by_the_circulant_algorithm() {
    let default = Config::default();
    let (bytes, long) = (4 << 20, 3 << 20);
    let choice = uneven(NODES, bytes, long, SUM_OF_DOUBLES, &default);
    assert_eq!(algorithm_because(choice), (Algorithm::Circulant, Why::Auto));
    // Nor do the blocks follow from who has how much.
    let one = uneven(NODES, bytes, bytes, SUM_OF_DOUBLES, &default);
    assert_eq!(choice, one);
    // Of long parts that are far from each other, a message has few.
    let spikes: Vec<u64> = (0..8).map(|rank| (rank % 4 / 3) * bytes / 2).collect();
    let apart = in_parts(NODES, bytes, &spikes, SUM_OF_DOUBLES, &default);
    assert_eq!(algorithm_because(apart), (Algorithm::Halving, Why::Auto));
    let ordered = uneven(NODES, bytes, long, ORDERED, &default);
    assert_eq!(host_because(ordered), Some(Why::Slower));
    let short = uneven(NODES, 1000, 1000, SUM_OF_DOUBLES, &default);
    assert_eq!(host_because(short), Some(Why::Small));
    // Several ranks would share a link.
    let wide = uneven(full(4, 4), bytes, long, SUM_OF_DOUBLES, &default);
    assert_eq!(host_because(wide), Some(Why::Slower));
    // Where the ranks are must not matter.
    let placed = promised(Reproducible::Placement);
    let [here, there] =
        [full(1, 16), full(4, 4)].map(|facts| uneven(facts, bytes, long, SUM_OF_DOUBLES, &placed));
    assert_eq!(
        algorithm_because(here),
        (Algorithm::Circulant, Why::Promise)
    );
    assert_eq!(here, there);
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

/// The host may be faster than the model thinks. To find that out is allowed where both give the same bits.
#[test]
fn the_host_is_tried_where_no_bit_depends_on_it() {
    use rondo::learn::Candidate;
    let learns = |operator, config: &Config| {
        let call = Reduction {
            context: Context {
                collective: Collective::Allreduce,
                facts: full(8, 1),
                config,
            },
            bytes: 1 << 20,
            unit: 8,
            longest: 1 << 17,
            fullest: 1 << 20,
            operator,
        };
        let choice = call.choose();
        assert!(
            matches!(choice, Choice::Rondo(Method { why: Why::Auto, .. })),
            "{choice:?}"
        );
        call.learns(choice).then(|| call.prior(choice).unwrap())
    };
    let default = Config::default();
    let prior = learns(SUM_OF_INTEGERS, &default).unwrap();
    assert_eq!(prior.default, Candidate::First);
    assert_eq!(prior.expected, [Some(1.1), None, None, None]);
    assert!(learns(SUM_OF_DOUBLES, &default).is_none());
    let off = promised(Reproducible::Off);
    assert!(learns(SUM_OF_DOUBLES, &off).is_some());
}

/// On one node the host has the calls until what Rondo needs is worth it, where bits allow. Over nodes the first short
/// ones do without that in another way.
#[test]
fn exact_reductions_wait_on_one_node() {
    let waits = |facts, bytes, operator, config: &Config| {
        let call = Reduction {
            context: Context {
                collective: Collective::Allreduce,
                facts,
                config,
            },
            bytes,
            unit: 8,
            longest: bytes / 8,
            fullest: bytes,
            operator,
        };
        let choice = call.choose();
        assert!(
            matches!(choice, Choice::Rondo(Method { why: Why::Auto, .. })),
            "{choice:?}"
        );
        call.prior(choice).unwrap().waits
    };
    let default = Config::default();
    for bytes in [4 << 10, 1 << 20] {
        assert!(waits(NODE, bytes, SUM_OF_INTEGERS, &default), "{bytes}");
        assert!(!waits(NODE, bytes, SUM_OF_DOUBLES, &default), "{bytes}");
        let off = promised(Reproducible::Off);
        assert!(waits(NODE, bytes, SUM_OF_DOUBLES, &off), "{bytes}");
    }
    assert!(!waits(full(8, 1), 1 << 20, SUM_OF_INTEGERS, &default));
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

/// The usual scan of hosts passes from rank to rank, or takes more rounds. A clock may say so only of exact operators.
#[test]
fn scans_are_rondos_where_messages_travel_for_long_if_the_operator_is_exact() {
    let config = Config::default();
    let apart = Facts {
        p: 8,
        nodes: 8,
        widest: 1,
        narrowest: 1,
        ..NODES
    };
    let far = Facts {
        network: FAR,
        ..apart
    };
    for collective in [Collective::Scan, Collective::Exscan] {
        let of = |facts, operator| reduction(collective, facts, 8, operator, &config);
        let exact = algorithm_because(of(far, SUM_OF_INTEGERS));
        assert_eq!(exact, (Algorithm::Doubling, Why::Auto));
        assert_eq!(host_because(of(far, SUM_OF_DOUBLES)), Some(Why::Slower));
        assert_eq!(host_because(of(apart, SUM_OF_INTEGERS)), Some(Why::Slower));
    }
}

/// Whole vectors travel log2 p times, blocks along the ranks once.
#[test]
fn long_vectors_are_scanned_along_the_ranks_if_the_operator_is_exact() {
    let config = config(|c| {
        c[Collective::Scan].min_bytes = Some(0);
        c[Collective::Exscan].min_bytes = Some(0);
    });
    let apart = Facts {
        p: 36,
        nodes: 36,
        widest: 1,
        narrowest: 1,
        network: FAR,
        ..NODES
    };
    for collective in [Collective::Scan, Collective::Exscan] {
        let of = |bytes, operator| chosen(reduction(collective, apart, bytes, operator, &config));
        assert_eq!(of(4 << 10, SUM_OF_INTEGERS), Algorithm::Doubling);
        assert_eq!(of(4 << 20, SUM_OF_INTEGERS), Algorithm::Pipelined);
        assert_eq!(of(4 << 20, SUM_OF_DOUBLES), Algorithm::Doubling);
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

/// Fewer rounds between nodes, and one message in each for a node. A clock may say so only of exact operators.
#[test]
fn scans_over_nodes_are_rondos_where_the_model_says_so_if_the_operator_is_exact() {
    let known = |facts| Facts {
        network: FAR,
        ..facts
    };
    let far = known(full(4, 4));
    let host_leads = Facts {
        host_leads: true,
        ..far
    };
    let cyclic = Facts {
        consecutive: false,
        ..far
    };
    let default = Config::default();
    let no_memory = config(|c| c.shm = false);
    for collective in [Collective::Scan, Collective::Exscan] {
        for bytes in [1, 8, 8 << 10] {
            let of =
                |facts, operator, config| reduction(collective, facts, bytes, operator, config);
            let choice = of(far, SUM_OF_INTEGERS, &default);
            assert_eq!(algorithm_because(choice), (Algorithm::Doubling, Why::Auto));
            assert!(!is_flat(choice));
            for (facts, operator, config) in [
                (far, SUM_OF_DOUBLES, &default),
                (far, ORDERED, &default),
                (full(4, 4), SUM_OF_INTEGERS, &default),
                (host_leads, SUM_OF_INTEGERS, &default),
                (cyclic, SUM_OF_INTEGERS, &default),
                (far, SUM_OF_INTEGERS, &no_memory),
            ] {
                let choice = of(facts, operator, config);
                assert_eq!(host_because(choice), Some(Why::Slower), "{facts:?}");
            }
        }
    }
    // Memory that is no faster than the link.
    let slow = Facts {
        network: Network {
            node_beta_ns_per_kb: FAR.beta_ns_per_kb,
            ..FAR
        },
        ..far
    };
    let long = reduction(Collective::Scan, slow, 1 << 20, SUM_OF_INTEGERS, &default);
    assert_eq!(host_because(long), Some(Why::Slower));
}

/// A clock may choose between two ways with the same bits, and between these alone.
#[test]
fn short_sums_over_nodes_have_a_second_way_with_the_same_bits() {
    let config = Config::default();
    let facts = full(4, 4);
    let sum = |operator| Reduction {
        context: Context {
            collective: Collective::Allreduce,
            facts,
            config: &config,
        },
        bytes: 4096,
        unit: 8,
        longest: 256,
        fullest: 4096,
        operator,
    };
    let inexact = sum(SUM_OF_DOUBLES);
    let ways =
        [Candidate::First, Candidate::Second].map(|candidate| chosen(inexact.candidate(candidate)));
    assert!(
        ways == [Algorithm::Gather, Algorithm::Halving]
            || ways == [Algorithm::Halving, Algorithm::Gather],
        "{ways:?}"
    );
    let choice = inexact.choose();
    assert!(inexact.learns(choice));
    let prior = inexact.prior(choice).unwrap();
    let [host, _, second, third] = prior.expected;
    assert_eq!((host, second.is_some(), third), (None, true, None));
    // Exact ones may be the host's, so they are counted apart.
    let exact = sum(SUM_OF_INTEGERS);
    let other = exact.prior(exact.choose()).unwrap();
    assert!(other.expected[0].is_some());
    assert_ne!(prior.class, other.class);
    // Where the bits may not depend on the nodes, or keep to the order of ranks, there is one way.
    for reproducible in [Reproducible::Placement, Reproducible::Order] {
        let config = self::config(|c| c.reproducible = reproducible);
        let context = Context {
            config: &config,
            ..inexact.context
        };
        let call = Reduction { context, ..inexact };
        assert!(!call.learns(call.choose()));
    }
}

/// What is reduced is passed on block by block, so on a slow link blocks are shorter than a message may be. Without
/// figures of the user's every link counts as slow for sums of doubles.
#[test]
fn long_reductions_over_slow_links_have_short_blocks() {
    let facts = Facts {
        eager_bytes: 32 << 10,
        ..NODES
    };
    let blocks = |beta_ns_per_kb| {
        let config = config(|c| c.network.beta_ns_per_kb = beta_ns_per_kb);
        let sum = SUM_OF_DOUBLES;
        match reduction(Collective::Reduce, facts, 4 << 20, sum, &config) {
            Choice::Rondo(method) => method.blocks,
            Choice::Host(why) => panic!("{why:?}"),
        }
    };
    assert_eq!(blocks(None), 256);
    assert_eq!(blocks(Some(40_000.0)), 256);
    assert_eq!(blocks(Some(80.0)), 128);
}

/// What calls take is compared with what the model expects of them, where it knows the network. Of long vectors, and by
/// the program's own operators, it does not know what the reducing itself takes, nor what passes inside nodes.
#[test]
fn the_time_of_a_short_allreduce_is_predicted_on_a_known_network() {
    let config = Config::default();
    let by = |operator, collective, facts: Facts, bytes| {
        even_call(collective, facts, bytes, operator, &config).predicted_us()
    };
    let us = |collective, facts, bytes| by(SUM_OF_INTEGERS, collective, facts, bytes);
    let on = |network, width| Facts {
        network,
        ..full(8, width)
    };
    let [near, far] = [NEAR, FAR].map(|network| us(Collective::Allreduce, on(network, 1), 512));
    let [near, far] = [near, far].map(|us| us.expect("a time"));
    assert!(near < far && far >= 1000.0, "{near} and {far}");
    assert_eq!(us(Collective::Allreduce, on(NEAR, 1), 64 << 20), None);
    assert_eq!(us(Collective::Allreduce, on(NEAR, 4), 512), None);
    assert_eq!(us(Collective::Reduce, on(NEAR, 1), 512), None);
    let unknown = us(Collective::Allreduce, full(8, 1), 512);
    assert_eq!(unknown, None);
    let own = OperatorProperties {
        built_in: false,
        ..SUM_OF_INTEGERS
    };
    assert_eq!(by(own, Collective::Allreduce, on(NEAR, 1), 512), None);
}
