//! Binomial trees: in round d, two adjacent groups of up to 2^d ranks become one.

#![forbid(unsafe_code)]

use super::{Content, Cost, Root, Tree};

/// The binomial tree that ignores sizes: of two groups the lower one sends to the upper one, whose root is its last
/// rank; only the given root never sends. Takes O(p) time.
///
/// Without a given root the best of ceil(log2 p) + 1 is taken: of those that the group of rank 0 has, one round after
/// the other, if nothing is given. They are 2^d - 1, and p - 1 at the end. Another rank can be better still.
///
/// # Panics
/// If there is no rank, or not the given one.
pub fn binomial(blocks: &[u64], root: Root, cost: &Cost) -> Tree {
    let p = blocks.len();
    let with = |root| rounds(blocks, |lower, _| lower.root as usize != root);
    if let Some(root) = root.given(p) {
        return with(root);
    }
    let roots = (0..usize::BITS)
        .map(|d| (1 << d) - 1)
        .take_while(|&root| root + 1 < p);
    let trees = roots.chain(p.checked_sub(1)).map(with);
    trees
        .min_by_key(|tree| tree.completion(cost))
        .expect("there is at least one rank")
}

/// The adaptive binomial tree: of two groups, the one whose root has less to receive is ready first and sends to the
/// other. Takes O(p) time.
///
/// Without a given root nobody ever waits: with q = ceil(log2 p) rounds and root r the time of all messages is at most
/// q alpha + beta (S - m_r). A given root never sends, and may have to wait for one subtree. Between roots that
/// receive the same, the larger block stays, which saves sending it; then the upper group's root.
///
/// # Panics
/// If there is no rank, or not the given one.
pub fn adaptive(blocks: &[u64], root: Root) -> Tree {
    let given = root.given(blocks.len()).map(|root| root as u32);
    rounds(blocks, |lower, upper| lower.sends_to(upper, true, given))
}

/// Joins groups until there is one. `upwards` says whether the lower one sends.
fn rounds(blocks: &[u64], upwards: impl Fn(&Content, &Content) -> bool) -> Tree {
    let single = |(rank, &bytes)| Content::single(rank, bytes);
    let mut groups: Vec<Content> = (0..).zip(blocks).map(single).collect();
    let mut joins = Vec::new();
    while groups.len() > 1 {
        let join = |pair: &[Content]| {
            let [lower, upper] = *pair else {
                return pair[0];
            };
            let (from, to) = match upwards(&lower, &upper) {
                true => (lower, upper),
                false => (upper, lower),
            };
            joins.push((to.root as usize, from.root as usize));
            to.with(&from)
        };
        groups = groups.chunks(2).map(join).collect();
    }
    let root = groups.first().expect("there is at least one rank").root;
    Tree::from_joins(root as usize, blocks, &joins)
}
