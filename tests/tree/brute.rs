//! The dynamic programs against all ordered trees of up to six ranks.

use rondo::tree::{Algorithm, Cost, Distribution, Root, Tree};

use super::with_gaps;

type Joins = Vec<(usize, usize)>;

/// Every way to join i..j, as a root and pairs of receiver and sender in order.
fn all(i: usize, j: usize) -> Vec<(usize, Joins)> {
    if i == j {
        return vec![(i, Vec::new())];
    }
    let mut ways = Vec::new();
    for k in i..j {
        for (low, below) in all(i, k) {
            for (high, above) in all(k + 1, j) {
                for (to, from) in [(low, high), (high, low)] {
                    let joins = [&below[..], &above[..], &[(to, from)]].concat();
                    ways.push((to, joins));
                }
            }
        }
    }
    ways
}

/// The tree in which a rank receives in the order of the joins: what is nearest to it first.
fn nearest_first(blocks: &[u64], root: usize, joins: &Joins) -> Option<Tree> {
    let mut children = vec![Vec::new(); blocks.len()];
    let mut copy = vec![0; blocks.len()];
    for &(to, from) in joins {
        if children[to].is_empty() && from < to {
            copy[to] = 1;
        }
        children[to].push(from);
    }
    Some(Tree::new(root, blocks, children, copy))
}

/// The tree in which a rank receives, and copies, in rank order, if no rank has more than two children.
fn two_in_rank_order(blocks: &[u64], root: usize, joins: &Joins) -> Option<Tree> {
    let mut children = vec![Vec::new(); blocks.len()];
    let mut copy = vec![0; blocks.len()];
    for &(to, from) in joins {
        children[to].push(from);
        children[to].sort_unstable();
        copy[to] += usize::from(from < to);
    }
    let binary = children.iter().all(|children| children.len() <= 2);
    binary.then(|| Tree::new(root, blocks, children, copy))
}

fn check(algorithm: Algorithm, tree: fn(&[u64], usize, &Joins) -> Option<Tree>) {
    for p in 1..=6 {
        let ways = all(0, p - 1);
        for (distribution, gap) in Distribution::ALL
            .into_iter()
            .flat_map(|d| [(d, 1), (d, 2), (d, 3)])
        {
            // No gap, every second and every third rank without a block.
            let blocks = with_gaps(distribution, p, |rank| gap > 1 && rank % gap == 0);
            let trees = ways
                .iter()
                .filter_map(|(root, joins)| tree(&blocks, *root, joins));
            let trees: Vec<Tree> = trees.collect();
            for (alpha, beta, gamma) in [(7, 1, 1), (100, 1, 0), (0, 2, 1), (3, 1, 2)] {
                let cost = Cost { alpha, beta, gamma };
                let mut least = vec![u64::MAX; p];
                for tree in &trees {
                    let least = &mut least[tree.root()];
                    *least = tree.completion(&cost).min(*least);
                }
                let time = |root| algorithm.tree(&blocks, root, &cost).completion(&cost);
                let at = format!("{blocks:?}, {cost:?}");
                for (root, &least) in least.iter().enumerate() {
                    assert_eq!(time(Root::Given(root)), least, "root {root}, {at}");
                }
                assert_eq!(
                    Some(&time(Root::Best)),
                    least.iter().min(),
                    "best root, {at}"
                );
            }
        }
    }
}

#[test]
fn no_tree_that_serves_nearest_ranks_first_is_faster_than_the_optimal_one() {
    check(Algorithm::Optimal, nearest_first);
}

#[test]
fn no_binary_tree_in_rank_order_is_faster_than_the_optimal_one() {
    check(Algorithm::Binary, two_in_rank_order);
}
