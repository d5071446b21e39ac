//! All-broadcasts over nodes: leaders exchange the node parts of their nodes, and a ring of memory, or messages,
//! bring what they receive to the other ranks. Every rank gets everything wherever the ranks sit, whatever the
//! order of things is, and nobody waits for more than he has to.

mod case;
mod places;
mod plan;
mod ring;
mod world;

use crate::case::rng;
use case::{Case, run};
use plan::{Call, orders};
use proptest::prelude::*;
use proptest::test_runner::TestRng;
use rondo::engine::{Limits, Way};
use rondo::schedule::{Moves, Shape};
use rondo::topology::Topology;

/// Ranks of each node.
const SHAPES: [&[u32]; 9] = [
    &[4],
    &[3, 3],
    &[2, 2, 2, 2],
    &[8],
    &[1, 1, 1, 1, 1, 1, 1, 1],
    &[1, 5, 2],
    &[1, 2, 3, 4, 1],
    &[3, 3, 3, 3, 3],
    &[4, 4, 4],
];

/// Nodes whose ranks are in block order, in cyclic order, and scrambled.
fn placements() -> Vec<(Vec<u32>, Vec<u64>)> {
    let mut rng = rng(7);
    let orders = SHAPES.map(|widths| {
        let orders = orders(widths, &mut rng).into_iter();
        orders
            .map(|nodes| (widths.to_vec(), nodes))
            .collect::<Vec<_>>()
    });
    orders.concat()
}

/// Bytes of the ring: most messages are far longer.
const RINGS: [u64; 4] = [256, 320, 1024, 4096];

/// By which ways the ranks of a node may get what others have: there is nothing to gain by messages on a
/// single node.
fn ways(nodes: usize, rng: &mut TestRng) -> Vec<Option<u64>> {
    let ring = Some(RINGS[rng.random_range(0..RINGS.len())]);
    match nodes {
        1 => vec![ring],
        _ => vec![ring, None],
    }
}

/// As many lanes as possible, one, or one in between.
fn lanes(widths: &[u32], ring: Option<u64>, rng: &mut TestRng) -> u32 {
    let most = match (widths.len(), ring) {
        (1, _) | (_, None) => 1,
        _ => *widths.iter().min().unwrap(),
    };
    rng.random_range(1..=most.min(3))
}

/// Windows, messages and memory of wires.
fn vary(case: &mut Case, rng: &mut TestRng) {
    case.limits = Limits {
        receives: rng.random_range(1..=6),
        sends: rng.random_range(1..=3),
        message: [0, rng.random_range(0..200), u64::MAX][rng.random_range(0..3)],
    };
    case.room = rng.random_range(1..=4);
    case.seed = rng.random();
}

#[test]
fn a_broadcast_from_every_root_in_every_placement() {
    let mut rng = rng(1);
    for (widths, nodes) in placements() {
        let p = nodes.len() as u32;
        for ring in ways(widths.len(), &mut rng) {
            for root in 0..p {
                let bytes = rng.random_range(1..2000);
                let blocks = rng.random_range(1..=bytes.min(12)) as u32;
                let mut call = Call::bcast(p, root, bytes, blocks);
                call.lanes = lanes(&widths, ring, &mut rng);
                if rng.random_range(0..3) == 0 {
                    call.travel = match rng.random_range(0..5) {
                        0 => Way::Relay,
                        1 => Way::Hypercube,
                        2 => Way::Moves(Moves::Scatter),
                        _ => Way::Tree(match rng.random_range(0..6) {
                            0 => Shape::CHAIN,
                            1 => Shape::Even(rng.random_range(2..=4)),
                            2 => Shape::InOrder,
                            3 => Shape::Two,
                            _ => Shape::Postal(rng.random_range(1..=6)),
                        }),
                    };
                }
                let mut case = Case::new(nodes.clone(), vec![call], ring);
                vary(&mut case, &mut rng);
                run(&case);
            }
        }
    }
}

/// Divisions of some bytes among the ranks: alike, by a rule, by chance, and nearly all in one place.
fn distributions(p: u32, most: u64, rng: &mut TestRng) -> Vec<Vec<u64>> {
    let (p, one) = (u64::from(p), rng.random_range(0..u64::from(p)));
    let of = |size: &mut dyn FnMut(u64) -> u64| -> Vec<u64> { (0..p).map(size).collect() };
    vec![
        of(&mut |_| most),
        of(&mut |r| r % 3 * most / 2),
        of(&mut |r| (p - r) * most / p),
        of(&mut |_| [0, rng.random_range(0..=most)][rng.random_range(0..2)]),
        of(&mut |r| if r == one { 10 * most } else { 1 }),
        of(&mut |r| u64::from(r == one) * 5 * most),
        of(&mut |r| u64::from(r != one) * most),
        of(&mut |r| u64::from(r == one)),
    ]
}

const TRAVELS: [Way; 6] = [
    Way::Circulant,
    Way::Bruck,
    Way::Ring,
    Way::Moves(Moves::Doubling),
    Way::Moves(Moves::Neighbours),
    Way::Moves(Moves::Mesh),
];

#[test]
fn an_allgather_of_every_distribution_in_every_placement() {
    let mut rng = rng(2);
    for (widths, nodes) in placements() {
        let p = nodes.len() as u32;
        for travel in TRAVELS {
            for ring in ways(widths.len(), &mut rng) {
                let first = rng.random_range(0..3);
                let some = distributions(p, 120, &mut rng).into_iter().skip(first);
                for sizes in some.step_by(3) {
                    let mut call = Call::allgather(sizes, travel, rng.random_range(1..8));
                    call.lanes = lanes(&widths, ring, &mut rng);
                    let mut case = Case::new(nodes.clone(), vec![call], ring);
                    vary(&mut case, &mut rng);
                    run(&case);
                }
            }
        }
    }
}

/// Several nodes of several ranks, as far as `p` ranks are enough: about as many nodes as ranks on each, some of which
/// have a rank more than others; and equal nodes where `p` has divisors.
fn several(p: u32) -> Vec<Vec<u32>> {
    let nodes = p.isqrt() + 1;
    let mut all = vec![(0..nodes).map(|node| (p + node) / nodes).collect()];
    let divisor = (2..nodes).rev().find(|&width| p.is_multiple_of(width));
    let equal = divisor.map(|width| vec![width; (p / width) as usize]);
    all.extend(equal.filter(|equal| *equal != all[0]));
    all
}

/// Leaders, by memory and by messages, and as many lanes as there may be, on equal nodes if there are such: full-lane.
/// Calls are short and messages whole, as it is the number of ranks that counts here.
#[test]
fn every_number_of_ranks_with_one_lane_and_with_all() {
    let mut rng = rng(9);
    for p in (2..=33).chain([64, 65, 67]) {
        let shapes = several(p);
        let (unlike, alike) = (&shapes[0], shapes.last().unwrap());
        let all = *alike.iter().min().unwrap();
        for (widths, ring, lanes) in [
            (unlike, Some(4096), 1),
            (unlike, None, 1),
            (alike, Some(4096), all),
        ] {
            assert!(widths.len() > 1 && widths.iter().sum::<u32>() == p);
            let nodes = orders(widths, &mut rng).swap_remove(rng.random_range(0..3));
            let bcast = Call::bcast(p, rng.random_range(0..p), 200, 3);
            let sizes = (0..u64::from(p)).map(|rank| rank % 4 * 5).collect();
            let allgather = Call::allgather(sizes, Way::Circulant, 2);
            let mut calls = vec![bcast, allgather];
            calls.iter_mut().for_each(|call| call.lanes = lanes);
            let mut case = Case::new(nodes, calls, ring);
            vary(&mut case, &mut rng);
            case.limits.message = u64::MAX;
            run(&case);
        }
    }
}

/// A message that is many times as long as the ring goes through it, and the ring is used to its end.
#[test]
fn a_ring_is_as_small_as_it_may_be_and_full() {
    for bytes in [10_000, 100_000] {
        for (widths, blocks) in [(vec![3], 1), (vec![3], 7), (vec![2, 3], 1), (vec![2, 3], 7)] {
            let nodes = orders(&widths, &mut rng(1)).swap_remove(0);
            let p = nodes.len() as u32;
            let call = Call::bcast(p, 1, bytes, blocks);
            let state = run(&Case::new(nodes, vec![call], Some(256)));
            let most = state.rings.iter().map(|ring| ring.most).max().unwrap();
            assert!((193..=256).contains(&most), "{most} bytes in the ring");
        }
    }
}

/// A rank that does not read fills the ring of its node. The network of the leader goes on: it is done before
/// anybody waits for the slow rank, but for the ranks of that node.
fn check_that_others_go_on(case: &Case) {
    let slow = case.slow.unwrap();
    let state = run(case);
    let topology = Topology::new(&case.nodes);
    let waiting = state.waited_for.expect("somebody waits for it");
    for rank in waiting {
        let same = topology.node(rank) == topology.node(slow);
        assert!(same, "{case:?}: rank {rank} waits for {slow}");
    }
}

#[test]
fn a_leader_serves_other_nodes_while_a_rank_of_its_own_does_nothing() {
    for widths in [vec![3, 3], vec![2, 2, 2, 2], vec![2, 3, 4, 2, 3]] {
        for nodes in orders(&widths, &mut rng(5)) {
            let p = nodes.len() as u32;
            let topology = Topology::new(&nodes);
            for node in 0..topology.nodes() {
                let locals = topology.locals(node);
                let slow = locals[locals.len() - 1];
                // The slow rank leads nobody: neither as the root nor as the first of its node.
                for root in (0..p).filter(|&root| root != slow).step_by(3) {
                    // Twenty times the ring.
                    let call = Call::bcast(p, root, 5120, 40);
                    let mut case = Case::new(nodes.clone(), vec![call], Some(256));
                    case.slow = Some(slow);
                    check_that_others_go_on(&case);
                    // By messages the ranks of a node wait for each other in its broadcast, and nobody else.
                    case.ring = None;
                    check_that_others_go_on(&case);
                }
                // It has nothing that the others of its node could wait for. What they have fits the ring.
                for travel in TRAVELS {
                    let mut sizes = vec![900; p as usize];
                    for &local in locals {
                        sizes[local as usize] = 20;
                    }
                    sizes[slow as usize] = 0;
                    let call = Call::allgather(sizes, travel, 9);
                    let mut case = Case::new(nodes.clone(), vec![call], Some(1024));
                    case.slow = Some(slow);
                    check_that_others_go_on(&case);
                }
            }
        }
    }
}

/// A call and its lanes, for nodes of some widths.
fn calls(p: u32) -> impl Strategy<Value = Vec<(Call, u32)>> {
    let bcast = (0..p, 1u64..600, 1u32..20).prop_map(move |(root, bytes, blocks)| {
        Call::bcast(p, root, bytes, blocks.min(bytes as u32))
    });
    let size = prop_oneof![Just(0), 0u64..90, 0u64..300];
    let sizes = prop::collection::vec(size, p as usize);
    let travel = prop::sample::select(&TRAVELS[..]);
    let allgather = (sizes, travel, 1u32..12).prop_map(|(mut sizes, travel, blocks)| {
        sizes[0] += u64::from(sizes.iter().sum::<u64>() == 0);
        Call::allgather(sizes, travel, blocks)
    });
    let call = prop_oneof![bcast, allgather];
    prop::collection::vec((call, 1u32..4), 1..4)
}

fn cases() -> impl Strategy<Value = Case> {
    let nodes = prop::collection::vec(0u64..5, 2..14);
    let calls = nodes.prop_flat_map(|nodes| {
        let p = nodes.len() as u32;
        (Just(nodes), calls(p))
    });
    let limits = (1u32..8, 1u32..4, prop_oneof![Just(u64::MAX), 0u64..300]);
    let ring = prop::option::weighted(0.7, 4u64..40);
    (calls, limits, ring, 1u32..6, any::<u64>()).prop_map(
        |((nodes, calls), (receives, sends, message), ring, room, seed)| {
            let topology = Topology::new(&nodes);
            let ring = ring
                .or((topology.nodes() == 1).then_some(9))
                .map(|lines| lines * 64);
            let most = match (ring, topology.nodes()) {
                (None, _) | (_, 1) => 1,
                _ => topology.narrowest(),
            };
            let calls = calls.into_iter().map(|(mut call, lanes)| {
                call.lanes = lanes.min(most);
                call
            });
            let mut case = Case::new(nodes, calls.collect(), ring);
            case.limits = Limits {
                receives,
                sends,
                message,
            };
            (case.room, case.seed) = (room, seed);
            case
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_calls_on_any_nodes_in_any_order(case in cases()) {
        run(&case);
    }
}
