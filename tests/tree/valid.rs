//! What holds for every tree, whatever the sizes.

use proptest::prelude::*;
use rondo::tree::{Algorithm, Cost, Distribution, Root, Tree};

/// Each rank once below the root, and message sizes that add up.
fn check(tree: &Tree, blocks: &[u64]) {
    let p = blocks.len();
    assert_eq!(tree.p(), p);
    assert_eq!(tree.parent(tree.root()), None);
    assert_eq!(tree.size(tree.root()), blocks.iter().sum::<u64>());
    let mut seen = vec![0; p];
    seen[tree.root()] = 1;
    for (rank, &block) in blocks.iter().enumerate() {
        let below: u64 = tree.children(rank).iter().map(|&c| tree.size(c)).sum();
        assert_eq!(tree.size(rank), block + below, "bytes of {rank}");
        for &child in tree.children(rank) {
            assert_eq!(tree.parent(child), Some(rank));
            seen[child] += 1;
        }
    }
    assert!(seen.iter().all(|&times| times == 1), "{seen:?}");
    let senders = (0..p).filter(|&rank| rank != tree.root() && tree.size(rank) > 0);
    assert_eq!(tree.messages(), senders.count());
    let depth = |mut rank: usize| {
        let mut depth = 0;
        while let Some(parent) = tree.parent(rank) {
            (rank, depth) = (parent, depth + 1);
        }
        depth
    };
    assert_eq!(Some(tree.depth()), (0..p).map(depth).max());
}

/// Every rank has one run of consecutive blocks at all times, and its own block is not copied before something that
/// goes in front of it.
fn check_order(tree: &Tree) {
    assert!(tree.is_ordered());
    for rank in 0..tree.p() {
        let mut parts: Vec<_> = tree
            .children(rank)
            .iter()
            .map(|&c| tree.range(c).unwrap())
            .collect();
        parts.insert(tree.copy(rank), (rank, rank));
        let (mut first, mut last) = parts[0];
        for &(from, to) in &parts[1..] {
            assert!(
                to + 1 == first || last + 1 == from,
                "{from}..{to} comes to {first}..{last} at {rank}"
            );
            (first, last) = (first.min(from), last.max(to));
        }
        assert_eq!(tree.range(rank), Some((first, last)));
        if tree.copy(rank) == 0 {
            assert!(
                tree.children(rank)
                    .first()
                    .is_none_or(|&child| child > rank)
            );
        }
    }
}

proptest! {
    #[test]
    fn trees_are_valid(
        blocks in prop::collection::vec(prop_oneof![Just(0), 1..30u64], 1..40),
        root in any::<prop::sample::Index>(),
        (alpha, beta, gamma) in (0..50u64, 1..4u64, 0..4u64),
    ) {
        let root = root.index(blocks.len());
        let cost = Cost { alpha, beta, gamma };
        let total: u64 = blocks.iter().sum();
        for given in [Root::Given(root), Root::Best] {
            for algorithm in Algorithm::ALL {
                let tree = algorithm.tree(&blocks, given, &cost);
                check(&tree, &blocks);
                if algorithm.is_ordered() {
                    check_order(&tree);
                }
                prop_assert!(given == Root::Best || tree.root() == root);
                prop_assert!(tree.completion(&cost) >= cost.message(total - blocks[tree.root()]));
            }
            let most = |tree: &Tree| (0..tree.p()).map(|rank| tree.children(rank).len()).max();
            prop_assert!(most(&Algorithm::Binary.tree(&blocks, given, &cost)) <= Some(2));
            prop_assert_eq!(most(&Algorithm::Linear.tree(&blocks, given, &cost)), Some(blocks.len() - 1));
            // These serve what is nearest first, as the optimal tree does.
            let time = |algorithm: Algorithm| algorithm.tree(&blocks, given, &cost).completion(&cost);
            for algorithm in [Algorithm::Linear, Algorithm::Binomial, Algorithm::Adaptive] {
                prop_assert!(time(algorithm) >= time(Algorithm::Optimal), "{:?}", algorithm);
            }
        }
    }

    #[test]
    fn the_best_root_of_the_star_is_the_best(
        blocks in prop::collection::vec(prop_oneof![Just(0), 1..30u64], 1..20),
        (alpha, beta, gamma) in (0..50u64, 1..4u64, 0..8u64),
    ) {
        let cost = Cost { alpha, beta, gamma };
        let time = |root| Algorithm::Linear.tree(&blocks, root, &cost).completion(&cost);
        let least = (0..blocks.len()).map(|root| time(Root::Given(root))).min();
        prop_assert_eq!(Some(time(Root::Best)), least);
    }
}

#[test]
fn one_and_two_ranks() {
    let cost = Cost {
        alpha: 10,
        beta: 2,
        gamma: 1,
    };
    for algorithm in Algorithm::ALL {
        let time = |blocks: &[u64], root| {
            algorithm
                .tree(blocks, Root::Given(root), &cost)
                .completion(&cost)
        };
        let name = algorithm.name();
        assert_eq!(time(&[5], 0), 0, "{name}");
        assert_eq!(time(&[5, 7], 0), 5 + 10 + 14, "{name}");
        // In order, rank 1 copies its block when that of rank 0 lies in front; it may as well copy first.
        assert_eq!(time(&[5, 7], 1), 10 + 10 + 7, "{name}");
        assert_eq!(time(&[5, 0], 0), 5, "{name}");
    }
}

#[test]
fn random_sizes_follow_the_seed_and_stay_in_bounds() {
    let bounds = [
        (Distribution::Random, 1, 2000),
        (Distribution::RandomDecreasing, 1, 2000),
        (Distribution::RandomIncreasing, 1, 2000),
        (Distribution::RandomBucket, 501, 1500),
        (Distribution::Spikes, 1, 5000),
    ];
    for (distribution, low, high) in bounds {
        let blocks = distribution.blocks(2000, 1000, 1);
        assert_eq!(blocks, distribution.blocks(2000, 1000, 1));
        assert_ne!(blocks, distribution.blocks(2000, 1000, 2));
        assert!(blocks.iter().all(|size| (low..=high).contains(size)));
        let average = blocks.iter().sum::<u64>() / 2000;
        assert!(
            (900..=1100).contains(&average),
            "{distribution:?}: {average}"
        );
    }
    let [random, falling, rising] = [
        Distribution::Random,
        Distribution::RandomDecreasing,
        Distribution::RandomIncreasing,
    ]
    .map(|distribution| distribution.blocks(2000, 1000, 1));
    assert!(falling.is_sorted_by(|a, b| a >= b) && rising.is_sorted());
    let mut sorted = random.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, rising);
    assert!(!random.is_sorted());
}

/// A seed means the same sizes on every machine and in every version.
#[test]
fn sizes_of_a_seed_never_change() {
    assert_eq!(
        Distribution::Random.blocks(6, 1000, 1),
        [1315, 1070, 480, 1558, 20, 1563]
    );
    assert_eq!(
        Distribution::Spikes.blocks(6, 1000, 1),
        [1, 1, 1, 1, 5000, 1]
    );
}
