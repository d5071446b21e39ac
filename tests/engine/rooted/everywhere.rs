//! Every p, every root, every distribution, every tree: blocks get where they belong.

use super::case::{Case, carry_out, run, shuffled, starving};
use super::net::RootedOp;
use crate::case::rng;
use proptest::prelude::*;
use rondo::engine::rooted::RootedTree;
use rondo::tree::Distribution;

pub const OPS: [RootedOp; 2] = [RootedOp::Gather, RootedOp::Scatter];

pub fn case(op: RootedOp, shape: RootedTree<'static>, root: u32, sizes: Vec<u64>) -> Case {
    Case {
        op,
        shape,
        root,
        long: if shape == RootedTree::Star {
            1
        } else {
            u64::MAX
        },
        window: 64,
        sizes,
        other: None,
        nodes: None,
    }
}

/// Gathers and scatters of `sizes` over every tree, where no block is long, some are, most, all.
fn cases(root: u32, sizes: &[u64], b: u64, window: u32) -> Vec<Case> {
    let mut cases = vec![];
    for op in OPS {
        for shape in [RootedTree::Star, RootedTree::Binomial, RootedTree::Adaptive] {
            // Nothing is short without a tree.
            let longs = [1, b / 2 + 1, b, b + 1, u64::MAX];
            let some = if shape == RootedTree::Star {
                1
            } else {
                longs.len()
            };
            cases.extend(longs[..some].iter().map(|&long| Case {
                long,
                window,
                ..case(op, shape, root, sizes.to_vec())
            }));
        }
    }
    cases
}

/// Every root of few ranks; of more, those at the ends and in the middle.
fn every_p_and_root() -> impl Iterator<Item = (u32, u32)> {
    let roots = |p: u32| match p {
        0..=16 => (0..p).collect(),
        _ => vec![0, 1, p / 2, p - 1],
    };
    let all = (1..=64).chain([65, 67, 81, 129, 161]);
    all.flat_map(move |p| roots(p).into_iter().map(move |root| (p, root)))
}

/// In any order, and with a rank that lags behind as far as it can; with windows just before and behind the one from
/// which on the root need not ask.
#[test]
fn every_distribution_gets_where_it_belongs_in_any_order() {
    let mut rng = rng(3);
    for (p, root) in every_p_and_root() {
        // Of many ranks a few distributions for each root.
        let few = if p > 8 { 4 } else { 1 };
        let some = Distribution::ALL.into_iter().skip(root as usize % few);
        for distribution in some.step_by(few) {
            let b = [2, 12, 60][rng.random_range(0..3)];
            let sizes = distribution.blocks(p as usize, b, rng.random());
            let window = [1, 2, p.max(3) - 2, p.max(2) - 1, p, 64][rng.random_range(0..6)];
            for case in cases(root, &sizes, b, window) {
                run(&case, shuffled(rng.random()));
                let slow = [0, 1 % p, p / 2, p - 1][rng.random_range(0..4)];
                if rng.random_range(0..4) == 0 {
                    run(&case, starving(slow));
                }
            }
        }
    }
    let sizes = Distribution::Random.blocks(1000, 30, rng.random());
    for case in cases(500, &sizes, 30, 64) {
        run(&case, shuffled(rng.random()));
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
        op in prop::sample::select(&OPS[..]),
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
        Case { long, window, ..case(op, shape, root, sizes) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_collective_in_any_order(case in any_case(), seed in any::<u64>()) {
        run(&case, shuffled(seed));
    }
}
