//! Broadcasts, where one rank alone has a part, and all-broadcasts of parts that are long, short or empty: every rank
//! gets everything, whatever the order of delivery, in as many rounds and messages as are said.

use crate::case::{Case, How, Outcome, block_counts, in_rounds, rng, run, shuffled, starving};
use proptest::prelude::*;
use proptest::test_runner::TestRng;
use rondo::engine::Limits;
use rondo::schedule::{Circulant, Moves, Shape, Steps};
use std::ops::RangeInclusive;

fn every_p() -> impl Iterator<Item = u32> {
    (1..=64).chain([65, 67, 129, 161])
}

/// Every root of few ranks, and those at the ends and in the middle of many.
fn roots(p: u32) -> Vec<u32> {
    match p {
        0..=16 => (0..p).collect(),
        17..=64 => vec![0, 1, p / 2, p - 1],
        _ => vec![p / 2],
    }
}

fn q(p: u32) -> u32 {
    Circulant::new(p).q() as u32
}

/// From one rank to all.
fn broadcasts(p: u32) -> Vec<How> {
    let trees = [
        Shape::CHAIN,
        Shape::STAR,
        Shape::BINARY,
        Shape::Even(3),
        Shape::Even(4),
        Shape::Knomial(2),
        Shape::Knomial(3),
        Shape::BINOMIAL,
        Shape::Postal(2),
        Shape::Postal(4),
        Shape::Postal(16),
        Shape::Fibonacci,
        Shape::InOrder,
        Shape::Two,
        Shape::mesh(p),
    ];
    let others = [
        How::RootSchedules,
        How::Relay,
        How::Hypercube,
        How::Moves(Moves::Scatter),
    ];
    others.into_iter().chain(trees.map(How::Tree)).collect()
}

/// From all to all.
const ALL_BROADCASTS: [How; 10] = [
    How::Table,
    How::RootSchedules,
    How::Bruck(2),
    How::Bruck(3),
    How::Bruck(6),
    How::Bruck(64),
    How::Ring,
    How::Moves(Moves::Doubling),
    How::Moves(Moves::Neighbours),
    How::Moves(Moves::Mesh),
];

fn broadcast(how: How, p: u32, root: u32, bytes: u64, n: u32) -> Case {
    let mut sizes = vec![0; p as usize];
    sizes[root as usize] = bytes;
    Case::new(sizes, how, n)
}

/// Every rank receives the blocks with bytes of all the others once each, in a broadcast by itself unless the message
/// is scattered.
fn check(case: &Case, outcome: &Outcome) {
    let cut = case.cut();
    let is_broadcast = case.sizes.iter().filter(|&&size| size > 0).count() == 1;
    let alone = is_broadcast && !matches!(case.how, How::Moves(_) | How::Bruck(_) | How::Ring);
    for (rank, port) in (0..).zip(&outcome.ports) {
        let others = cut.iter().filter(|part| part.root != rank);
        let blocks = others.flat_map(|part| (0..part.blocks.count()).map(|i| part.blocks.span(i)));
        let pieces = blocks.filter(|span| span.len > 0).count() as u64;
        assert_eq!(port.received.1, pieces, "{case:?}: pieces of rank {rank}");
        assert!(
            !alone || port.received.0 == pieces,
            "{case:?}: messages of rank {rank}"
        );
    }
}

/// Runs `case` in rounds and checks it; on the circulant graph, tables lead to the messages of rows.
fn check_in_rounds(case: &Case) -> Outcome {
    let outcome = run(case, in_rounds);
    check(case, &outcome);
    if case.how == How::RootSchedules {
        let how = How::Table;
        let table = run(
            &Case {
                how,
                ..case.clone()
            },
            in_rounds,
        );
        let mut both = outcome.ports.iter().zip(&table.ports);
        assert!(
            both.all(|(rows, table)| rows.log == table.log),
            "{case:?}: rows and table differ"
        );
    }
    outcome
}

/// Small windows, short messages, a wire that is often out of memory, no order in the deliveries, or one rank that lags
/// behind as far as it can. How often there was no memory.
fn check_in_any_order(case: &Case, rng: &mut TestRng) -> u64 {
    let mut case = case.clone();
    case.limits = Limits {
        receives: rng.random_range(1..=2 * q(case.p()) + 1),
        sends: rng.random_range(1..=5),
        message: [0, rng.random_range(0..60), u64::MAX][rng.random_range(0..3)],
    };
    case.room = rng.random_range(1..=4);
    let slow = rng.random_range(0..case.p());
    check(&case, &run(&case, starving(slow)));
    let outcome = run(&case, shuffled(rng.random()));
    check(&case, &outcome);
    outcome.ports.iter().map(|port| port.refused).sum()
}

/// Rounds of a broadcast in `n` blocks in the model of the papers: a rank sends a message and receives one in each.
fn rounds_of_broadcast(how: How, p: u32, n: u32) -> RangeInclusive<u32> {
    let exactly = |rounds: u32| rounds..=rounds;
    match how {
        _ if p == 1 => exactly(0),
        How::RootSchedules | How::Hypercube => exactly(n - 1 + q(p)),
        How::Tree(Shape::CHAIN) => exactly(p - 1 + n - 1),
        How::Tree(Shape::STAR) => exactly((p - 1) * n),
        How::Tree(Shape::BINOMIAL) => exactly(q(p) * n),
        How::Tree(shape) => {
            let pace = shape.pace(p);
            0..=pace.first + pace.every * (n - 1)
        }
        How::Moves(Moves::Scatter) if n == p => 0..=q(p) + p - 1,
        // The root's next turn meets the end of the one before, unless windows are smaller than a turn.
        How::Relay if (3..=65).contains(&p) && n.is_multiple_of(p - 1) => {
            n + p - 2..=(n + p - 2) * 7 / 5
        }
        _ => 0..=u32::MAX,
    }
}

#[test]
fn a_broadcast_from_every_root_has_the_rounds_that_are_said_and_comes_to_all_in_any_order() {
    let mut rng = rng(1);
    for p in every_p() {
        let mut counts = block_counts(q(p));
        counts.extend([7, 30, p.max(2) - 1, p, 2 * p.max(2) - 2]);
        let one_of = |rng: &mut TestRng, counts: &[u32]| counts[rng.random_range(0..counts.len())];
        for how in broadcasts(p) {
            for root in roots(p) {
                let n = one_of(&mut rng, &counts);
                let mut case = broadcast(how, p, root, u64::from(n) * 3 + 1, n);
                if how != How::Moves(Moves::Scatter) {
                    (case.limits.receives, case.limits.sends) = (64, 1);
                }
                let outcome = check_in_rounds(&case);
                let (steps, said) = (outcome.steps as u32, rounds_of_broadcast(how, p, n));
                assert!(
                    said.contains(&steps),
                    "{case:?}: {steps} steps, not {said:?}"
                );
                if how == How::Relay && p > 1 {
                    check_shares_of_relays(&outcome, root, n);
                }
            }
            let n = one_of(&mut rng, &[1, 2, 3, 7, q(p) + 1, 2 * q(p) + 3]);
            let root = rng.random_range(0..p);
            let case = broadcast(how, p, root, u64::from(n) * 2 + 1, n);
            check_in_any_order(&case, &mut rng);
        }
    }
}

/// The root sends every block once, and no relay sends more than its share to each of the others.
fn check_shares_of_relays(outcome: &Outcome, root: u32, n: u32) {
    let p = outcome.ports.len() as u32;
    let share = n.div_ceil(p - 1) * (p - 2);
    for (rank, port) in (0..).zip(&outcome.ports) {
        let sent = port.log.len() as u32;
        let is_right = if rank == root {
            sent == n
        } else {
            sent <= share
        };
        assert!(is_right, "p = {p}, n = {n}: rank {rank} sends {sent}");
    }
}

/// Divisions of some bytes among `p` ranks: alike, by a rule, by chance, and nearly all in one place.
fn distributions(p: u32) -> Vec<Vec<u64>> {
    let mut rng = rng(p.into());
    let of = |size: &mut dyn FnMut(u64) -> u64| -> Vec<u64> { (0..p.into()).map(size).collect() };
    let (p, mid) = (u64::from(p), u64::from(p / 2));
    vec![
        of(&mut |_| 12),
        of(&mut |r| r % 3 * 7),
        of(&mut |r| (p - r) * 2),
        of(&mut |_| [0, rng.random_range(0..30)][rng.random_range(0..2)]),
        of(&mut |r| if r == mid { 100 } else { 1 }),
        of(&mut |r| u64::from(r == mid || r == 0) * 40),
        of(&mut |r| u64::from(r != mid) * 5),
        of(&mut |r| u64::from(r == mid)),
        of(&mut |r| u64::from(r == p - 1) * 50),
    ]
}

#[test]
fn an_all_broadcast_of_every_distribution_comes_to_all_in_any_order() {
    let (mut rng, mut refused) = (rng(2), 0);
    for p in every_p() {
        // Of many ranks one distribution for each algorithm, another one for each number of them.
        for (i, sizes) in (p as usize..).zip(distributions(p)) {
            for (j, how) in ALL_BROADCASTS.into_iter().enumerate() {
                if p > 12 && !(i + j).is_multiple_of(9) {
                    continue;
                }
                let n = rng.random_range(1..=3 * q(p) + 2);
                let case = Case::new(sizes.clone(), how, n);
                check_in_rounds(&case);
                refused += check_in_any_order(&case, &mut rng);
            }
        }
    }
    assert!(refused > 1000, "{refused} times only");
}

/// The least that can be in flight: a receive and a send. The engine asks for more, and the wire has no memory for it;
/// or the engine does not ask.
#[test]
fn one_receive_and_one_send_are_enough() {
    let refused = |outcome: Outcome| outcome.ports.iter().any(|port| port.refused > 0);
    for p in (2..=20u32).chain([33, 65, 67, 129]) {
        for how in ALL_BROADCASTS {
            let sizes = (0..p).map(|r| u64::from(r % 4) * 5).collect();
            let mut case = Case::new(sizes, how, 7);
            case.limits.message = 20;
            case.room = 1;
            // Among three there is more than one message to a rank.
            assert!(refused(run(&case, in_rounds)) || p < 4, "{case:?}");
            (case.limits.receives, case.limits.sends) = (1, 1);
            assert!(!refused(run(&case, in_rounds)), "{case:?}");
        }
    }
}

/// In the model of the papers: n - 1 + q rounds for n blocks of every part, q for whole parts by Bruck's way and p - 1
/// on the ring. A rank sends and receives one message in each.
#[test]
fn the_rounds_of_equal_parts_are_those_of_the_papers() {
    for p in every_p() {
        let check = |how, n: u32, rounds: u32| {
            let rounds = u64::from(rounds);
            let sizes = (0..p).map(|r| u64::from(n + r % 3)).collect();
            let mut case = Case::new(sizes, how, n);
            case.limits.sends = 1;
            let outcome = run(&case, in_rounds);
            assert_eq!(outcome.steps, rounds, "p = {p}, n = {n}, {how:?}");
            let mut received = outcome.ports.iter().map(|port| port.received.0);
            assert!(
                received.all(|received| received == rounds),
                "p = {p}, n = {n}, {how:?}"
            );
        };
        for n in block_counts(q(p)) {
            check(How::RootSchedules, n, if p == 1 { 0 } else { n - 1 + q(p) });
            check(How::Bruck(2), n, q(p));
        }
        for radix in [3, 4, 6, 64] {
            check(How::Bruck(radix), 1, Steps::new(p, radix).count() as u32);
        }
        check(How::Ring, 1, p - 1);
        for moves in [Moves::Doubling, Moves::Neighbours, Moves::Mesh] {
            if !moves.has_pairs(p) {
                check(How::Moves(moves), 1, moves.count(p));
            }
        }
    }
}

/// Around a ring blocks follow each other: a part alone takes as many rounds as it has blocks, and one more for each
/// further way; equal parts as many as a rank gets blocks; and others never more than both.
#[test]
fn a_ring_waits_for_no_long_part() {
    for p in (2..=24).chain([33, 65]) {
        for n in [1, 2, 7, 30] {
            let steps = |sizes: Vec<u64>| {
                let blocks = sizes.iter().sum::<u64>();
                let mut case = Case::new(sizes, How::Ring, n);
                case.limits.sends = 1;
                (run(&case, in_rounds).steps, blocks)
            };
            // Blocks are of one byte, as the longest part has n.
            let (all, others) = (u64::from(n), u64::from(p) - 1);
            let one = |len: u64| {
                let mut sizes = vec![len; p as usize];
                sizes[p as usize / 3] = all;
                sizes
            };
            assert_eq!(steps(one(0)).0, all + others - 1, "p = {p}, n = {n}");
            assert_eq!(steps(one(all)).0, all * others, "p = {p}, n = {n}");
            let mixed = (0..p).map(|rank| u64::from(rank * 7 % (n + 1))).collect();
            for sizes in [one(1), one(all / 2), mixed] {
                let (steps, blocks) = steps(sizes);
                assert!(steps < blocks + others, "p = {p}, n = {n}: {steps}");
            }
        }
    }
}

/// Blocks without bytes do not travel.
#[test]
fn more_blocks_than_bytes() {
    for p in 2..=20 {
        for how in broadcasts(p) {
            let case = broadcast(how, p, p / 2, 3, 10);
            check(&case, &run(&case, in_rounds));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_all_broadcast_in_any_order(
        sizes in prop::collection::vec(prop_oneof![Just(0), 0u64..80], 1..60),
        how in prop::sample::select(&ALL_BROADCASTS[..]), n in 1u32..30,
        receives in 1u32..20, sends in 1u32..8, message in 0u64..200, room in 1u32..20,
        seed in any::<u64>(),
    ) {
        let mut case = Case::new(sizes, how, n);
        case.limits = Limits { receives, sends, message };
        case.room = room;
        check(&case, &run(&case, shuffled(seed)));
    }
}
