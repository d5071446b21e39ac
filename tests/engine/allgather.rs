//! The all-broadcast: every rank has a part, long, short or empty.

use crate::case::{Case, How, Outcome, block_counts, in_rounds, rng, run, shuffled, starving};
use proptest::prelude::*;
use rondo::engine::Limits;
use rondo::schedule::{Circulant, Moves, Steps};

const EVERY: [How; 10] = [
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

const WHOLE: [How; 8] = [
    How::Bruck(2),
    How::Bruck(3),
    How::Bruck(6),
    How::Bruck(64),
    How::Ring,
    How::Moves(Moves::Doubling),
    How::Moves(Moves::Neighbours),
    How::Moves(Moves::Mesh),
];

/// Numbers of ranks with schedules that one easily gets wrong, above 32.
const ODD_PS: [u32; 7] = [33, 65, 66, 67, 81, 129, 161];

/// Divisions of some bytes among `p` ranks: alike, by a rule, by chance, and nearly all in one place.
fn distributions(p: u32) -> Vec<Vec<u64>> {
    let mut rng = rng(p.into());
    let of = |size: &mut dyn FnMut(u64) -> u64| -> Vec<u64> { (0..p.into()).map(size).collect() };
    let (p, mid) = (u64::from(p), u64::from(p / 2));
    let mut all = vec![
        of(&mut |_| 12),
        of(&mut |r| r % 3 * 7),
        of(&mut |r| (p - r) * 2),
        of(&mut |_| [0, rng.random_range(0..30)][rng.random_range(0..2)]),
        of(&mut |r| if r == mid { 100 } else { 1 }),
        of(&mut |r| u64::from(r == mid || r == 0) * 40),
        of(&mut |r| u64::from(r != mid) * 5),
        of(&mut |r| u64::from(r == mid)),
    ];
    let alone = if p <= 12 { 0..p } else { mid..mid + 1 };
    all.extend(alone.map(|one| of(&mut |r| u64::from(r == one) * 50)));
    all
}

/// Numbers of blocks to cut whole parts in: they cost no rounds.
const CUTS: [u32; 3] = [1, 4, 13];

/// The pieces that a rank receives: the blocks with bytes of all the others.
fn check(case: &Case, outcome: &Outcome) {
    let cut = case.cut();
    for (rank, port) in (0..).zip(&outcome.ports) {
        let others = cut.iter().filter(|part| part.root != rank);
        let blocks = others.flat_map(|part| (0..part.blocks.count()).map(|i| part.blocks.span(i)));
        let pieces = blocks.filter(|span| span.len > 0).count() as u64;
        assert_eq!(port.received.1, pieces, "{case:?}: pieces of rank {rank}");
    }
}

/// The same `case` from the table and from rows: the same messages, rank by rank.
fn check_circulant(case: &Case) {
    let [rows, table] = [How::RootSchedules, How::Table].map(|how| {
        let case = Case {
            how,
            ..case.clone()
        };
        let outcome = run(&case, in_rounds);
        check(&case, &outcome);
        outcome.ports
    });
    for (rows, table) in rows.iter().zip(&table) {
        assert!(rows.log == table.log, "{case:?}: rows and table differ");
    }
}

#[test]
fn every_p_to_40_every_distribution_on_the_circulant_graph() {
    for p in 1..=40 {
        for sizes in distributions(p) {
            for n in block_counts(Circulant::new(p).q() as u32) {
                check_circulant(&Case::new(sizes.clone(), How::RootSchedules, n));
            }
        }
    }
}

#[test]
fn every_p_to_40_every_distribution_in_whole_parts() {
    for p in 1..=40 {
        for sizes in distributions(p) {
            for (how, n) in WHOLE.map(|how| CUTS.map(|n| (how, n))).concat() {
                let case = Case::new(sizes.clone(), how, n);
                check(&case, &run(&case, in_rounds));
            }
        }
    }
}

/// Another distribution for each algorithm and each p.
#[test]
fn every_p_to_64_every_algorithm() {
    let mut rng = rng(2);
    for p in (41..=64).chain([67]) {
        let distributions = distributions(p);
        for (i, how) in (p as usize..).zip(EVERY) {
            let sizes = distributions[i % distributions.len()].clone();
            let mut case = Case::new(sizes, how, 3);
            check(&case, &run(&case, in_rounds));
            case.limits.receives = rng.random_range(1..=9);
            case.room = rng.random_range(1..=4);
            check(&case, &run(&case, shuffled(rng.random())));
        }
    }
}

#[test]
fn larger_p_every_distribution() {
    for p in ODD_PS {
        for sizes in distributions(p) {
            check_circulant(&Case::new(sizes.clone(), How::RootSchedules, 10));
            for how in WHOLE {
                let case = Case::new(sizes.clone(), how, 3);
                check(&case, &run(&case, in_rounds));
            }
        }
    }
}

/// Small windows, short messages, a wire that is often out of memory, and no order in the deliveries.
#[test]
fn every_p_to_40_every_distribution_in_shuffled_order() {
    let mut rng = rng(1);
    let mut refused = 0;
    for p in 2..=40 {
        let q = Circulant::new(p).q() as u32;
        for sizes in distributions(p) {
            for how in EVERY {
                let mut case = Case::new(sizes.clone(), how, rng.random_range(1..=3 * q + 2));
                case.limits = Limits {
                    receives: rng.random_range(1..=2 * q + 1),
                    sends: rng.random_range(1..=4),
                    message: [0, rng.random_range(0..60), u64::MAX][rng.random_range(0..3)],
                };
                case.room = rng.random_range(1..=4);
                let outcome = run(&case, shuffled(rng.random()));
                check(&case, &outcome);
                refused += outcome.ports.iter().map(|port| port.refused).sum::<u64>();
            }
        }
    }
    assert!(refused > 10_000, "{refused} times only");
}

/// The least that can be in flight: a receive and a send. The engine asks for more, and the wire has no
/// memory for it; or the engine does not ask.
#[test]
fn one_receive_and_one_send_are_enough() {
    let refused = |outcome: Outcome| outcome.ports.iter().any(|port| port.refused > 0);
    for p in (2..=20).chain(ODD_PS) {
        for how in EVERY {
            let sizes = (0..p).map(|r| u64::from(r % 4) * 5).collect();
            let mut case = Case::new(sizes, how, 7);
            case.limits.message = 20;
            case.room = 1;
            let outcome = run(&case, in_rounds);
            check(&case, &outcome);
            // Among three there is more than one message to a rank.
            assert!(refused(outcome) || p < 4, "{case:?}");
            (case.limits.receives, case.limits.sends) = (1, 1);
            let outcome = run(&case, in_rounds);
            check(&case, &outcome);
            assert!(!refused(outcome), "{case:?}");
        }
    }
}

#[test]
fn a_slow_rank_gets_and_forwards_everything_in_the_end() {
    for (p, slow) in [(5, 1), (9, 4), (17, 2), (33, 16), (40, 39)] {
        for how in EVERY {
            let case = Case::new((9..p + 9).collect(), how, 9);
            check(&case, &run(&case, starving(slow)));
        }
    }
}

/// In the model of the papers: n - 1 + q rounds for n blocks of every part, q for whole parts by Bruck's
/// way and p - 1 on the ring. A rank sends and receives one message in each.
#[test]
fn the_rounds_are_those_of_the_papers() {
    for p in (1..=64).chain(ODD_PS) {
        let q = Circulant::new(p).q() as u32;
        let check = |how, n: u32, rounds: u32| {
            let rounds = u64::from(rounds);
            let sizes = (0..p).map(|r| u64::from(n + r % 3)).collect();
            let mut case = Case::new(sizes, how, n);
            case.limits.sends = 1;
            let outcome = run(&case, in_rounds);
            assert_eq!(outcome.steps, rounds, "p = {p}, n = {n}, {how:?}");
            for port in &outcome.ports {
                assert_eq!(port.received.0, rounds, "p = {p}, n = {n}, {how:?}");
            }
        };
        for n in block_counts(q) {
            let rounds = if p == 1 { 0 } else { n - 1 + q };
            check(How::Table, n, rounds);
            check(How::RootSchedules, n, rounds);
            check(How::Bruck(2), n, q);
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
    for p in (2..=40).chain(ODD_PS) {
        for n in [1, 2, 7, 30] {
            let steps = |sizes: Vec<u64>| {
                let blocks = sizes.iter().sum::<u64>();
                let mut case = Case::new(sizes, How::Ring, n);
                case.limits.sends = 1;
                let outcome = run(&case, in_rounds);
                check(&case, &outcome);
                (outcome.steps, blocks)
            };
            // Blocks are of one byte, as the longest part has n.
            let all = u64::from(n);
            let others = u64::from(p) - 1;
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_all_broadcast_in_any_order(
        sizes in prop::collection::vec(prop_oneof![Just(0), 0u64..80], 1..60),
        how in prop::sample::select(&EVERY[..]), n in 1u32..30,
        receives in 1u32..20, sends in 1u32..8, message in 0u64..200, room in 1u32..20,
        seed in any::<u64>(),
    ) {
        let mut case = Case::new(sizes, how, n);
        case.limits = Limits { receives, sends, message };
        case.room = room;
        check(&case, &run(&case, shuffled(seed)));
    }
}
