//! What holds of every decision on a reduction, whatever the figures: options and rules go before, an operator's
//! properties and the promise of bits before these, and no clock chooses bits.

use crate::reductions::{
    FAR, MAX_OF_DOUBLES, MAX_OF_INTEGERS, NEAR, ORDERED, SLOW_LINK, SUM_OF_DOUBLES,
    SUM_OF_INTEGERS, even_call,
};
use crate::{NODE, NODES, UNKNOWN, config, full};
use rondo::algorithm::Algorithm;
use rondo::collective::{Collective, Reducing};
use rondo::config::{Config, Reproducible, Setting};
use rondo::decide::{Choice, Facts, Form, Method, OperatorProperties, Problem, Why};
use rondo::rules::Ruling;

fn reducing() -> impl Iterator<Item = Collective> {
    let all = Collective::ALL.iter().copied();
    all.filter(|collective| collective.family().reduces())
}

/// Does an algorithm take operands from left to right?
fn keeps_order(collective: Collective, algorithm: Algorithm) -> bool {
    use Algorithm::{
        Binary, Binomial, Chain, DualRoot, Fibonacci, Gather, InOrder, Kary, Knomial, Linear, Mesh,
        Ordered, Postal, Split, TwoTree,
    };
    let trees = [
        Binary, Binomial, Chain, Fibonacci, InOrder, Kary, Knomial, Linear, Mesh, Postal, TwoTree,
    ];
    match collective.family().reducing() {
        Some(Reducing::Scan) => true,
        Some(Reducing::All) if algorithm == Algorithm::Doubling => true,
        Some(_) => {
            trees.contains(&algorithm) || [DualRoot, Gather, Ordered, Split].contains(&algorithm)
        }
        None => unreachable!(),
    }
}

/// Has it the bits of a loop over the ranks?
fn is_a_loop(algorithm: Algorithm) -> bool {
    use Algorithm::{Gather, Linear, Ordered, Pipelined};
    [Gather, Linear, Ordered, Pipelined].contains(&algorithm)
}

/// Why another algorithm takes the place of one that is named: any of these.
fn obstacles(
    collective: Collective,
    named: Algorithm,
    operator: OperatorProperties,
    promise: Reproducible,
) -> Vec<Why> {
    let loops = promise == Reproducible::Order && !operator.exact;
    let mixes = !operator.commutes && !keeps_order(collective, named);
    let once = [Algorithm::Census, Algorithm::Dissemination].contains(&named);
    let twice = named == Algorithm::Dissemination;
    let found = [
        (Why::Order, mixes || (loops && !is_a_loop(named))),
        (Why::Inexact, once && !operator.exact),
        (Why::Repeats, twice && !operator.idempotent),
    ];
    let is_met = |&(why, met): &(Why, bool)| met.then_some(why);
    found.iter().filter_map(is_met).collect()
}

/// By an option and by a rule, on one node, between nodes and over nodes: a named algorithm has the call unless the
/// operator or a promise forbids it, and then the reason is told.
#[test]
fn a_named_algorithm_gives_way_to_nothing_but_the_operator_and_promises() {
    let mut seen = Vec::new();
    for collective in reducing() {
        let named = (collective.algorithms().iter().copied())
            .filter(|&algorithm| algorithm != Algorithm::FullLane);
        for (named, promise) in named.flat_map(|named| {
            use Reproducible::{Host, Off, Order, Placement, Run};
            [Host, Off, Order, Placement, Run].map(|promise| (named, promise))
        }) {
            let config = config(|c| {
                (c.reproducible, c.max_tmp_size) = (promise, u64::MAX);
                c[collective].setting = Setting::Use(named);
            });
            for operator in [
                SUM_OF_INTEGERS,
                MAX_OF_INTEGERS,
                SUM_OF_DOUBLES,
                MAX_OF_DOUBLES,
                ORDERED,
            ] {
                for (facts, bytes) in [NODE, NODES, full(4, 4)]
                    .into_iter()
                    .flat_map(|facts| [(facts, 8), (facts, 4 << 20)])
                {
                    let call = even_call(collective, facts, bytes, operator, &config);
                    let (setting, block_bytes) = (Setting::Use(named), 0);
                    let ruling = Ruling {
                        setting,
                        block_bytes,
                    };
                    for (choice, asked) in [
                        (call.choose(), Why::Configured),
                        (call.ruled(ruling), Why::Rule),
                    ] {
                        let what = format!(
                            "{collective:?} {named:?} {promise:?} {operator:?}: {choice:?}"
                        );
                        let Choice::Rondo(Method { algorithm, why, .. }) = choice else {
                            let is_hosts = promise == Reproducible::Host && !operator.exact;
                            assert!(is_hosts && choice == Choice::Host(Why::Promise), "{what}");
                            continue;
                        };
                        let expected = obstacles(collective, named, operator, promise);
                        assert!(
                            expected.contains(&why) || (expected.is_empty() && why == asked),
                            "{what}"
                        );
                        assert_eq!(algorithm == named, expected.is_empty(), "{what}");
                        let after = obstacles(collective, algorithm, operator, promise);
                        assert!(after.is_empty(), "{what}");
                        if why != asked && !seen.contains(&why) {
                            seen.push(why);
                        }
                    }
                }
            }
        }
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
}

/// These have the same bits over nodes, so a clock may choose between them.
fn is_a_twin(choice: Choice) -> bool {
    matches!(choice, Choice::Rondo(method) if method.form != Form::Flat
        && [Algorithm::Gather, Algorithm::Halving].contains(&method.algorithm))
}

/// The bits of these do not depend on their blocks.
fn without_blocks(choice: Choice) -> Choice {
    match choice {
        Choice::Rondo(method)
            if [Algorithm::Pipelined, Algorithm::DualRoot].contains(&method.algorithm) =>
        {
            Choice::Rondo(Method {
                blocks: 1,
                ..method
            })
        }
        Choice::Host(_) | Choice::Rondo(_) => choice,
    }
}

/// Neither what is measured of the network nor who was faster, by whatever algorithm: but between two ways with the
/// same bits, and for blocks that change none, if the operator is built in. A function of the user's may round the last
/// elements of a piece otherwise.
#[test]
fn no_clock_chooses_bits() {
    let user = OperatorProperties {
        built_in: false,
        ..SUM_OF_DOUBLES
    };
    let mut moved = 0;
    for collective in reducing() {
        let named = collective.algorithms().iter().copied().map(Setting::Use);
        for setting in named.chain([Setting::Auto]) {
            let config = config(|c| c[collective].setting = setting);
            for operator in [SUM_OF_DOUBLES, ORDERED, user] {
                for facts in [NODE, NODES, full(2, 3), full(4, 4)] {
                    for bytes in (3..23).map(|log| 1 << log) {
                        let of = |network| {
                            let facts = Facts { network, ..facts };
                            let call = even_call(collective, facts, bytes, operator, &config);
                            let choice = call.choose();
                            if call.learns(choice) && setting == Setting::Auto {
                                let [host, ..] =
                                    call.prior(choice).map_or([None; 4], |prior| prior.expected);
                                assert_eq!(host, None, "{collective:?} {facts:?} {bytes}");
                            }
                            choice
                        };
                        let first = of(UNKNOWN);
                        for network in [FAR, NEAR, SLOW_LINK] {
                            let other = of(network);
                            let is_same = first == other
                                || (operator.built_in
                                    && without_blocks(first) == without_blocks(other))
                                || (operator.built_in && is_a_twin(first) && is_a_twin(other));
                            assert!(
                                is_same,
                                "{collective:?} {setting:?} {facts:?} {bytes}: {first:?} {other:?}"
                            );
                            moved += usize::from(first != other);
                        }
                    }
                }
            }
        }
    }
    assert!(moved > 0, "nothing follows from the network");
}

/// The host has a call only where an option or rule says so and nothing is promised.
#[test]
fn rules_for_the_host_keep_promises() {
    let of = |operator, reproducible| {
        let config = Config {
            reproducible,
            ..Config::default()
        };
        let call = even_call(Collective::Allreduce, NODE, 100, operator, &config);
        call.ruled(Ruling {
            setting: Setting::Host,
            block_bytes: 0,
        })
    };
    for promise in [Reproducible::Order, Reproducible::Placement] {
        let sums = of(SUM_OF_DOUBLES, promise);
        assert!(
            matches!(
                sums,
                Choice::Rondo(Method {
                    why: Why::Promise,
                    ..
                })
            ),
            "{sums:?}"
        );
        assert_eq!(of(SUM_OF_INTEGERS, promise), Choice::Host(Why::Rule));
    }
    assert_eq!(
        of(SUM_OF_DOUBLES, Reproducible::Run),
        Choice::Host(Why::Rule)
    );
}
