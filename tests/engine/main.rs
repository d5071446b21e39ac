//! The broadcast engine on a network in one thread: every rank gets the message, whatever the order
//! of delivery, in the number of rounds and bytes that docs/algorithms.md states.

mod wire;

use proptest::prelude::*;
use proptest::test_runner::TestRng;
use rondo::schedule::Circulant;
use wire::{Case, Outcome, broadcast, in_rounds};

fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(proptest::test_runner::RngAlgorithm::ChaCha, &bytes)
}

/// Windows of the library's own size.
fn case(p: u32, root: u32, bytes: u64, n: u32) -> Case {
    let q = Circulant::new(p).q() as u32;
    Case {
        p,
        root,
        bytes,
        n,
        receive_window: 2 * q,
        send_window: 4,
    }
}

/// Everyone has the message; every rank but the root received each block once.
fn check(case: Case, outcome: &Outcome) {
    let message = &outcome.memories[case.root as usize];
    for rank in 0..case.p {
        assert!(
            outcome.memories[rank as usize] == *message,
            "{case:?}: rank {rank}"
        );
        let expected = if rank == case.root {
            (0, 0)
        } else {
            (u64::from(case.n), case.bytes)
        };
        let received = outcome.received[rank as usize];
        assert_eq!(
            received, expected,
            "{case:?}: rank {rank}: messages and bytes received"
        );
    }
    assert!(
        outcome.receives_most <= case.receive_window,
        "{case:?}: receives in flight"
    );
}

/// Numbers of blocks worth trying: around multiples of q, one, and many.
fn block_counts(q: u32) -> Vec<u32> {
    let mut n = vec![1, 2, 3, q.max(1), q + 1, 2 * q + 1, 3 * q + 2];
    n.sort_unstable();
    n.dedup();
    n
}

#[test]
fn every_p_to_40_every_root_many_n_in_order() {
    for p in 1..=40 {
        let q = Circulant::new(p).q() as u32;
        for root in 0..p {
            for n in block_counts(q) {
                let case = case(p, root, u64::from(n) * 3 + 1, n);
                check(case, &broadcast(case, in_rounds));
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
            let case = Case {
                receive_window: rng.random_range(1..=2 * q + 1),
                send_window: rng.random_range(1..=5),
                ..case(p, root, u64::from(n) * 2 + 1, n)
            };
            let outcome = broadcast(case, |net| {
                let can = net.deliverable();
                net.deliver(can[rng.random_range(0..can.len())]);
            });
            check(case, &outcome);
        }
    }
}

/// Starves one rank as long as anything else can move: the others must not depend on it more than
/// the schedule says, and must not be misled by its late messages.
#[test]
fn a_slow_rank_gets_and_forwards_everything_in_the_end() {
    for (p, slow) in [(5, 1), (9, 4), (17, 2), (33, 16), (40, 39)] {
        let case = case(p, 0, 500, 50);
        let outcome = broadcast(case, |net| {
            let can = net.deliverable();
            let fast = can.iter().find(|&&i| net.under_way[i].to != slow);
            net.deliver(*fast.unwrap_or(&can[0]));
        });
        check(case, &outcome);
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
        check(case, &broadcast(case, in_rounds));
    }
}

/// In the model of the papers the engine needs n - 1 + ceil(log2 p) rounds, the least possible. The
/// windows are no hindrance, and no send is posted before its turn.
#[test]
fn the_rounds_are_optimal() {
    for p in (2..=40).chain([64, 65, 81, 100, 129, 161]) {
        let q = Circulant::new(p).q() as u32;
        for n in block_counts(q).into_iter().chain([64]) {
            let case = Case {
                send_window: 1,
                ..case(p, 0, u64::from(n), n)
            };
            let outcome = broadcast(case, in_rounds);
            check(case, &outcome);
            assert_eq!(outcome.steps, u64::from(n - 1 + q), "p = {p}, n = {n}");
        }
    }
}

/// One rank: nothing to do, at once.
#[test]
fn a_single_rank_is_done() {
    let outcome = broadcast(case(1, 0, 10, 4), |_| unreachable!("nothing moves"));
    assert_eq!(outcome.steps, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_broadcast_in_any_order(
        p in 2u32..100, root in 0u32..100, n in 1u32..60, extra in 0u64..100,
        receive_window in 1u32..20, send_window in 1u32..8, seed in any::<u64>(),
    ) {
        let bytes = u64::from(n) + extra;
        let case = Case { p, root: root % p, bytes, n, receive_window, send_window };
        let mut rng = rng(seed);
        let outcome = broadcast(case, |net| {
            let can = net.deliverable();
            net.deliver(can[rng.random_range(0..can.len())]);
        });
        check(case, &outcome);
    }
}
