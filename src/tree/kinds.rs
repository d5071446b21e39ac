//! Small and large blocks apart.

#![forbid(unsafe_code)]

use super::{Cost, Root, Tree, adaptive};

/// Two trees, one over the ranks with large blocks and one over all others, which gather at the same time; then the
/// root of one sends everything to the root of the other, which is the root of the whole. Large is a block above the
/// average. Takes O(p) time.
///
/// Where there are two sizes only, each tree is a regular gather, for which binomial trees are optimal, and small
/// blocks come together while the large ones travel or are copied. The tree is not ordered, so every rank can copy
/// its own block first, and should: it has nothing else to do while its children gather.
///
/// Without a given root, it is that of the tree of large or of small blocks, whichever is faster.
///
/// # Panics
/// If there is no rank, or not the given one.
pub fn two_kinds(blocks: &[u64], root: Root, cost: &Cost) -> Tree {
    let p = blocks.len();
    let given = root.given(p);
    let all: u128 = blocks.iter().map(|&block| u128::from(block)).sum();
    let is_large = |&rank: &usize| u128::from(blocks[rank]) * p as u128 > all;
    let (large, small): (Vec<usize>, Vec<usize>) = (0..p).partition(is_large);
    let trees = [(&large, &small), (&small, &large)].map(|(to, from)| {
        let has_root = given.is_none_or(|root| to.contains(&root));
        (has_root && !to.is_empty()).then(|| join(blocks, to, from, given))
    });
    let best = trees
        .into_iter()
        .flatten()
        .min_by_key(|tree| tree.completion(cost));
    best.expect("there is at least one rank")
}

/// The tree of two adaptive ones, of which the second sends to the first.
fn join(blocks: &[u64], to: &[usize], from: &[usize], given: Option<usize>) -> Tree {
    let mut children = vec![Vec::new(); blocks.len()];
    let mut part = |ranks: &[usize], root: Root| {
        let among: Vec<u64> = ranks.iter().map(|&rank| blocks[rank]).collect();
        let tree = adaptive(&among, root);
        for (inner, &rank) in ranks.iter().enumerate() {
            children[rank] = tree
                .children(inner)
                .iter()
                .map(|&child| ranks[child])
                .collect();
        }
        ranks[tree.root()]
    };
    let place = |root| {
        to.iter()
            .position(|&rank| rank == root)
            .expect("the root is among the receivers")
    };
    let root = part(
        to,
        given.map_or(Root::Best, |root| Root::Given(place(root))),
    );
    if !from.is_empty() {
        let sender = part(from, Root::Best);
        children[root].push(sender);
    }
    Tree::new(root, blocks, children, vec![0; blocks.len()])
}
