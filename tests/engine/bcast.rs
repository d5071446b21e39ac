//! The broadcast: one rank alone has a part.

use crate::case::{Case, How, Outcome, block_counts, in_rounds, rng, run, shuffled, starving};
use proptest::prelude::*;
use rondo::engine::Limits;
use rondo::schedule::{Circulant, Shape};

fn case(p: u32, root: u32, bytes: u64, n: u32) -> Case {
    case_of(How::RootSchedules, p, root, bytes, n)
}

pub fn case_of(how: How, p: u32, root: u32, bytes: u64, n: u32) -> Case {
    let mut sizes = vec![0; p as usize];
    sizes[root as usize] = bytes;
    Case::new(sizes, how, n)
}

/// Every rank but the root received each block once, in a message of its own.
pub fn check(case: &Case, outcome: &Outcome) {
    for (port, &size) in outcome.ports.iter().zip(&case.sizes) {
        let n = if size > 0 { 0 } else { u64::from(case.n) };
        let (messages, pieces, _) = port.received;
        assert_eq!((messages, pieces), (n, n), "{case:?}");
    }
}

#[test]
fn every_p_to_40_every_root_many_n_in_order() {
    for p in 1..=40 {
        let q = Circulant::new(p).q() as u32;
        for root in 0..p {
            for n in block_counts(q) {
                let case = case(p, root, u64::from(n) * 3 + 1, n);
                check(&case, &run(&case, in_rounds));
            }
        }
    }
}

#[test]
fn every_p_to_40_every_root_in_shuffled_order() {
    let mut rng = rng(1);
    for p in 2..=40 {
        let q = Circulant::new(p).q() as u32;
        for root in 0..p {
            let n = rng.random_range(1..=4 * q + 3);
            let mut case = case(p, root, u64::from(n) * 2 + 1, n);
            case.limits.receives = rng.random_range(1..=2 * q + 1);
            case.limits.sends = rng.random_range(1..=5);
            check(&case, &run(&case, shuffled(rng.random())));
        }
    }
}

#[test]
fn every_p_to_64_and_some_beyond_few_roots_and_few_n() {
    let mut rng = rng(6);
    for p in (41..=64).chain([65, 67, 129, 161]) {
        let q = Circulant::new(p).q() as u32;
        for root in [0, p / 2, p - 1] {
            for n in [1, q, 2 * q + 3] {
                let mut case = case(p, root, u64::from(n) * 2 + 1, n);
                check(&case, &run(&case, in_rounds));
                case.limits.receives = rng.random_range(1..=2 * q + 1);
                case.limits.sends = rng.random_range(1..=5);
                check(&case, &run(&case, shuffled(rng.random())));
            }
        }
    }
}

/// One rank lags behind as far as it can: the others must not depend on it more than the schedule says,
/// and must not be misled by its late messages.
#[test]
fn a_slow_rank_gets_and_forwards_everything_in_the_end() {
    for (p, slow) in [(5, 1), (9, 4), (17, 2), (33, 16), (40, 39)] {
        let case = case(p, 0, 500, 50);
        check(&case, &run(&case, starving(slow)));
    }
}

#[test]
fn a_sample_of_p_to_300() {
    let mut rng = rng(2);
    for p in [
        33, 65, 66, 67, 81, 100, 129, 161, 162, 192, 255, 256, 257, 300,
    ] {
        let root = rng.random_range(0..p);
        let n = rng.random_range(1..40);
        let case = case(p, root, u64::from(n) * 5 + 2, n);
        check(&case, &run(&case, in_rounds));
    }
}

/// In the model of the papers the engine needs n - 1 + ceil(log2 p) rounds, the least possible. The
/// windows are no hindrance, and no send is posted before its turn.
#[test]
fn the_rounds_are_optimal() {
    for p in (2..=65).chain([67, 81, 100, 129, 161]) {
        let q = Circulant::new(p).q() as u32;
        for n in block_counts(q).into_iter().chain([64]) {
            let mut case = case(p, 0, u64::from(n), n);
            case.limits.sends = 1;
            let outcome = run(&case, in_rounds);
            check(&case, &outcome);
            assert_eq!(outcome.steps, u64::from(n - 1 + q), "p = {p}, n = {n}");
        }
    }
}

/// The receive schedules of all ranks lead to the same messages as this rank's own two schedules.
#[test]
fn a_table_serves_as_well() {
    for p in (3..=20).chain([33, 65, 81]) {
        for root in [0, 1, p - 1] {
            let rows = case(p, root, 100, 9);
            let how = How::Table;
            let table = Case {
                how,
                ..rows.clone()
            };
            let [rows, table] = [rows, table].map(|case| run(&case, in_rounds).ports);
            for (rows, table) in rows.iter().zip(&table) {
                assert_eq!(rows.log, table.log, "p = {p}, root {root}");
            }
        }
    }
}

/// Down a tree, whatever the order is in which messages come; with several blocks as well.
#[test]
fn a_tree_brings_every_block_to_every_rank() {
    let mut rng = rng(3);
    for p in (2..=65).chain([67, 129, 161, 300]) {
        for latency in [1, 2, 4, 16] {
            let n = [1, 1, rng.random_range(2..9)][rng.random_range(0..3)];
            let (root, how) = (rng.random_range(0..p), How::Tree(Shape::Postal(latency)));
            let mut case = case_of(how, p, root, u64::from(n) * 3 + 1, n);
            case.limits.receives = rng.random_range(1..=4);
            case.limits.sends = rng.random_range(1..=20);
            check(&case, &run(&case, shuffled(rng.random())));
            check(&case, &run(&case, starving((root + 1) % p)));
        }
    }
}

/// Over relays, whatever the order is in which messages come. The root sends every block once, and no relay sends more
/// than its share to each of the others.
#[test]
fn relays_bring_every_block_to_every_rank() {
    let mut rng = rng(4);
    for p in (2..=65).chain([67, 129, 161]) {
        let few = (41..64).contains(&p) || p > 67;
        let all = [1, p, 2, p - 1, 3 * p + 1, rng.random_range(1..100)];
        for &n in &all[..if few { 2 } else { 6 }] {
            let root = rng.random_range(0..p);
            let mut case = case_of(How::Relay, p, root, u64::from(n) * 3, n);
            let outcome = run(&case, in_rounds);
            check(&case, &outcome);
            let sent = |rank: u32| outcome.ports[rank as usize].log.len() as u32;
            assert_eq!(sent(root), n, "p = {p}, n = {n}");
            let share = n.div_ceil(p - 1) * (p - 2);
            for rank in (0..p).filter(|&rank| rank != root) {
                assert!(sent(rank) <= share, "p = {p}, n = {n}: {}", sent(rank));
            }
            case.limits.receives = rng.random_range(1..=4);
            case.limits.sends = rng.random_range(1..=20);
            check(&case, &run(&case, shuffled(rng.random())));
            check(&case, &run(&case, starving((root + 1) % p)));
        }
    }
}

/// About n - 1 + p - 1 rounds, in each of which a rank sends a block and receives one.
#[test]
fn the_rounds_of_relays() {
    for p in 3..=65u32 {
        for turns in [1, 2, 5] {
            let n = turns * (p - 1);
            let mut case = case_of(How::Relay, p, p / 2, u64::from(n), n);
            case.limits.receives = 64;
            case.limits.sends = 1;
            let outcome = run(&case, in_rounds);
            let least = u64::from(n - 1 + p - 1);
            let steps = outcome.steps;
            // The root's next turn meets the end of the one before.
            let most = least + 2 * least / 5;
            assert!((least..=most).contains(&steps), "p = {p}, n = {n}: {steps}");
        }
    }
}

/// Over a hypercube or, for most numbers of ranks, one of pairs, in as many rounds as over the circulant graph.
#[test]
fn a_hypercube_brings_every_block_to_every_rank_in_the_fewest_rounds() {
    let mut rng = rng(7);
    for p in (2..=64).chain([65, 67, 129, 161]) {
        let q = Circulant::new(p).q() as u32;
        for n in block_counts(q) {
            let root = rng.random_range(0..p);
            let mut case = case_of(How::Hypercube, p, root, u64::from(n) * 3 + 1, n);
            case.limits.sends = 1;
            let outcome = run(&case, in_rounds);
            check(&case, &outcome);
            assert_eq!(outcome.steps, u64::from(n - 1 + q), "p = {p}, n = {n}");
            case.limits.receives = rng.random_range(1..=2 * q + 1);
            case.limits.sends = rng.random_range(1..=5);
            case.room = rng.random_range(1..=3);
            check(&case, &run(&case, shuffled(rng.random())));
            check(&case, &run(&case, starving((root + 1) % p)));
        }
    }
}

/// With latency 1 a tree is as fast as the circulant graph is with one block.
#[test]
fn the_rounds_of_a_tree() {
    for p in 2..=130 {
        let case = case_of(How::Tree(Shape::BINOMIAL), p, p / 2, 10, 1);
        let q = Circulant::new(p).q() as u64;
        assert_eq!(run(&case, in_rounds).steps, q, "p = {p}");
    }
}

/// Blocks without bytes do not travel.
#[test]
fn more_blocks_than_bytes() {
    for (how, p) in [
        How::RootSchedules,
        How::Tree(Shape::Postal(3)),
        How::Relay,
        How::Hypercube,
    ]
    .into_iter()
    .flat_map(|how| (2..=20).map(move |p| (how, p)))
    {
        let case = case_of(how, p, p / 2, 3, 10);
        let outcome = run(&case, in_rounds);
        for (port, &size) in outcome.ports.iter().zip(&case.sizes) {
            let blocks = if size > 0 { 0 } else { 3 };
            assert_eq!(port.received, (blocks, blocks, blocks), "p = {p}");
        }
    }
}

/// One rank: nothing to do, at once.
#[test]
fn a_single_rank_is_done() {
    let outcome = run(&case(1, 0, 10, 4), |_| unreachable!("nothing moves"));
    assert_eq!(outcome.steps, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_broadcast_in_any_order(
        p in 2u32..100, root in 0u32..100, n in 1u32..60, extra in 0u64..100,
        receives in 1u32..20, sends in 1u32..8, message in 0u64..100, seed in any::<u64>(),
    ) {
        let mut case = case(p, root % p, u64::from(n) + extra, n);
        case.limits = Limits { receives, sends, message };
        check(&case, &run(&case, shuffled(seed)));
    }
}
