//! Every p, every root, every distribution, every tree: blocks get where they belong.

use super::case::{Case, carry_out, run, shuffled, starving};
use super::net::RootedOp;
use crate::case::rng;
use proptest::prelude::*;
use rondo::engine::rooted::RootedTree;
use rondo::tree::Distribution;

/// Gathers and scatters of `sizes` over every tree, where no block is long, some are, most, all.
fn cases(root: u32, sizes: &[u64], b: u64, window: u32) -> Vec<Case> {
    let mut cases = vec![];
    for op in [RootedOp::Gather, RootedOp::Scatter] {
        for shape in [RootedTree::Star, RootedTree::Binomial, RootedTree::Adaptive] {
            let longs = [1, b / 2 + 1, b, b + 1, u64::MAX];
            for long in longs {
                if shape == RootedTree::Star && long > 1 {
                    continue; // nothing is short without a tree
                }
                cases.push(Case {
                    op,
                    shape,
                    root,
                    long,
                    window,
                    sizes: sizes.to_vec(),
                    other: None,
                    nodes: None,
                });
            }
        }
    }
    cases
}

#[test]
fn every_p_to_40_every_root_every_distribution_in_shuffled_order_from_all() {
    every_p_to_40(RootedOp::Gather, 3);
}

#[test]
fn every_p_to_40_every_root_every_distribution_in_shuffled_order_to_all() {
    every_p_to_40(RootedOp::Scatter, 7);
}

fn every_p_to_40(op: RootedOp, seed: u64) {
    let mut rng = rng(seed);
    for p in 1..=40u32 {
        for root in 0..p {
            for (i, distribution) in (0u32..).zip(Distribution::ALL) {
                let b = [2, 12, 60][rng.random_range(0..3)];
                let sizes = distribution.blocks(p as usize, b, rng.random());
                let window = [1, 2, 64][((root + i) % 3) as usize];
                for case in cases(root, &sizes, b, window) {
                    if case.op == op {
                        run(&case, shuffled(rng.random()));
                    }
                }
            }
        }
    }
}

/// Another distribution for each root and each p.
#[test]
fn every_p_to_64_few_roots_in_shuffled_order() {
    let mut rng = rng(8);
    for p in (41..=64u32).chain([67]) {
        for (i, root) in (p as usize..).zip([0, p / 2, p - 1]) {
            let distribution = Distribution::ALL[i % Distribution::ALL.len()];
            let sizes = distribution.blocks(p as usize, 12, rng.random());
            let window = [1, 2, 64][rng.random_range(0..3)];
            for case in cases(root, &sizes, 12, window) {
                run(&case, shuffled(rng.random()));
            }
        }
    }
}

/// The windows just before and behind the one from which on the root need not ask.
#[test]
fn every_window_for_small_p() {
    let mut rng = rng(4);
    for p in 1..=9u32 {
        for root in 0..p {
            for window in 1..=p {
                for distribution in Distribution::ALL {
                    let sizes = distribution.blocks(p as usize, 12, rng.random());
                    for case in cases(root, &sizes, 12, window) {
                        run(&case, shuffled(rng.random()));
                    }
                }
            }
        }
    }
}

#[test]
fn a_sample_of_p_to_1000() {
    let mut rng = rng(5);
    for p in [41u32, 63, 64, 65, 81, 100, 127, 128, 129, 161, 1000] {
        for root in [0, p / 2, p - 1] {
            let few = rng.random_range(0..Distribution::ALL.len());
            for (i, distribution) in Distribution::ALL.into_iter().enumerate() {
                if p == 1000 && i != few {
                    continue;
                }
                let sizes = distribution.blocks(p as usize, 30, rng.random());
                let window = [1, 2, 64, p][rng.random_range(0..4)];
                for case in cases(root, &sizes, 30, window) {
                    run(&case, shuffled(rng.random()));
                }
            }
        }
    }
}

/// One rank lags behind as far as it can: a leaf, one in the middle, the root.
#[test]
fn a_slow_rank_is_waited_for() {
    for p in [2, 5, 9, 17, 33] {
        for slow in [0, 1, p / 2, p - 1] {
            for root in [0, p / 2, p - 1] {
                for distribution in Distribution::ALL {
                    let sizes = distribution.blocks(p as usize, 12, 1);
                    for case in cases(root, &sizes, 12, 2) {
                        run(&case, starving(slow));
                    }
                }
            }
        }
    }
}

/// What a collective leaves behind is no hindrance to the next one, larger or smaller, of the other
/// kind or not, even if it ended by a misfit.
#[test]
fn scratch_serves_again() {
    let (mut rng, mut scratch) = (rng(6), vec![]);
    for i in 0..400u32 {
        let p = rng.random_range(2..=40);
        let sizes = Distribution::Random.blocks(p as usize, 12, rng.random());
        let root = rng.random_range(0..p);
        let cases = cases(root, &sizes, 12, 2);
        let mut case = cases[rng.random_range(0..cases.len())].clone();
        if i.is_multiple_of(2) {
            case.other = Some(((root + 1) % p, 11));
        }
        let outcome = carry_out(&case, &mut scratch, shuffled(rng.random()));
        let right = case
            .other
            .is_none_or(|(rank, own)| case.sizes[rank as usize] == own);
        assert!(outcome.is_ok() == right, "{case:?}: {:?}", outcome.err());
    }
}

/// Nothing to do: a rank alone, or no bytes.
#[test]
fn nothing_at_all() {
    for p in [1, 2, 3, 9] {
        for case in cases(p - 1, &vec![0; p as usize], 3, 1) {
            let net = run(&case, shuffled(1));
            let silent = p == 1 || case.op == RootedOp::Scatter || case.shape == RootedTree::Star;
            assert_eq!(net.log.is_empty(), silent, "{case:?}");
        }
    }
}

prop_compose! {
    /// Blocks of all lengths that a number in a packet may have, many of them empty.
    fn any_case()(
        op in prop_oneof![Just(RootedOp::Gather), Just(RootedOp::Scatter)],
        shape in prop_oneof![Just(RootedTree::Star), Just(RootedTree::Binomial), Just(RootedTree::Adaptive)],
        sizes in prop::collection::vec(prop_oneof![
            3 => Just(0u64), 4 => 1u64..40, 2 => 100u64..400, 1 => 16_300u64..16_500,
        ], 1..90),
        root in any::<prop::sample::Index>(),
        long in prop_oneof![0u64..50, 100u64..400, 16_300u64..17_000, Just(u64::MAX)],
        window in prop_oneof![1u32..5, 1u32..100, Just(u32::MAX)],
    ) -> Case {
        let root = root.index(sizes.len()) as u32;
        let long = if shape == RootedTree::Star { long.min(1) } else { long };
        Case { op, shape, root, long, window, sizes, other: None, nodes: None }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_collective_in_any_order(case in any_case(), seed in any::<u64>()) {
        run(&case, shuffled(seed));
    }
}
