//! What the papers prove, and where it ends.

use proptest::prelude::*;
use rondo::tree::{Algorithm, Cost, Root};

fn ceil_log2(p: usize) -> u64 {
    u64::from(p.next_power_of_two().ilog2())
}

/// Sizes, none of them 0.
fn full_blocks() -> impl Strategy<Value = Vec<u64>> {
    let any = prop::collection::vec(1..1000u64, 2..80);
    let far_apart = prop::collection::vec((0..20u32).prop_map(|n| 1u64 << n), 2..80);
    prop_oneof![any, far_apart]
}

proptest! {
    /// Proposition 1: with a root of its own choice, nobody waits in the adaptive tree.
    #[test]
    fn the_adaptive_tree_takes_log_p_messages_and_every_byte_once(
        blocks in full_blocks(), alpha in 0..500u64, beta in 1..4u64,
    ) {
        let cost = Cost { alpha, beta, gamma: 0 };
        let tree = Algorithm::Adaptive.tree(&blocks, Root::Best, &cost);
        let received = blocks.iter().sum::<u64>() - blocks[tree.root()];
        prop_assert!(tree.completion(&cost) <= ceil_log2(blocks.len()) * alpha + beta * received);
    }
}

/// The lower bound: the root receives all but its own block, in one message at least, and copies that.
#[test]
fn two_kinds_are_optimal_for_one_large_block_that_takes_long_to_copy() {
    let cost = Cost {
        alpha: 100,
        beta: 1,
        gamma: 1,
    };
    for p in 3..100 {
        let small = 10;
        let others = p as u64 - 1;
        // While the large block is copied, the small ones come together.
        let large = ceil_log2(p - 1) * cost.alpha + small * others;
        for at in [0, 1, p / 2, p - 1] {
            let mut blocks = vec![small; p];
            blocks[at] = large;
            let least = large + cost.alpha + small * others;
            for root in [Root::Given(at), Root::Best] {
                let tree = Algorithm::TwoKinds.tree(&blocks, root, &cost);
                assert_eq!(tree.completion(&cost), least, "p = {p}, {at}, {root:?}");
                let ordered = Algorithm::Optimal
                    .tree(&blocks, root, &cost)
                    .completion(&cost);
                assert!(ordered >= least);
                let binomial = Algorithm::Adaptive
                    .tree(&blocks, root, &cost)
                    .completion(&cost);
                assert!(
                    p == 3 || binomial > least,
                    "p = {p}, {at}, {root:?}: {binomial}, {least}"
                );
            }
        }
    }
}

/// Rank 1 has the average, so it gathers with rank 0, and rank 2 receives from both through it.
#[test]
fn a_block_of_average_size_is_small() {
    let cost = Cost {
        alpha: 100,
        beta: 1,
        gamma: 1,
    };
    let tree = Algorithm::TwoKinds.tree(&[10, 20, 30], Root::Given(2), &cost);
    assert_eq!((tree.parent(0), tree.parent(1)), (Some(1), Some(2)));
    // Equal blocks are all small, and gather in one tree.
    let tree = Algorithm::TwoKinds.tree(&[10; 8], Root::Given(0), &cost);
    assert_eq!(tree.children(0), [1, 3, 7]);
}
