//! Reductions up trees, block by block: every operand once, in the order of ranks, whatever the order is in which
//! messages come.

use super::{Variant, carry_out, check, check_scans, even, every_p, scripts, terms, variants};
use crate::wire::rng;
use proptest::prelude::*;
use rondo::schedule::{Shape, TreeNeighbors};
use rondo::script::{
    Group, Join, Prefix, Script, Source, broadcast_tree, dual_root, hand_over, reduce_tree,
    tree_scan,
};

fn shapes(p: u32) -> [Shape; 12] {
    [
        Shape::CHAIN,
        Shape::STAR,
        Shape::BINARY,
        Shape::Even(3),
        Shape::Even(4),
        Shape::Knomial(3),
        Shape::BINOMIAL,
        Shape::Postal(3),
        Shape::Fibonacci,
        Shape::InOrder,
        Shape::Two,
        Shape::mesh(p),
    ]
}

/// How one tree is gone up, in which blocks.
struct Climb {
    shape: Shape,
    p: u32,
    /// Of the tree.
    top: u32,
    /// Who has the result in the end.
    root: u32,
    n: u32,
    count: u64,
}

impl Climb {
    fn scripts(&self, variant: &Variant) -> Vec<Script> {
        scripts(self.p, |script, rank| {
            let mut family = TreeNeighbors::default();
            family.set(self.shape, self.p, rank, self.top);
            script.begin(variant.most, even(self.count, self.n).into_iter());
            reduce_tree(script, &family);
            hand_over(script, rank, self.top, self.root);
        })
    }

    /// The result has the operands of all ranks from `base` on, around to the one before it.
    fn check(&self, base: u32, variant: &Variant) {
        let scripts = self.scripts(variant);
        let outcome = carry_out(&scripts, self.count, variant);
        let order: Vec<u16> = (0..self.p).map(|i| ((base + i) % self.p) as u16).collect();
        let expected = terms(0..self.count, |_| &order);
        check(self.root, &outcome.result(self.root), &expected, variant);
    }
}

fn climbs(p: u32, seed: u64) -> impl Iterator<Item = (Climb, Variant)> {
    let mut rng = rng(u64::from(p) << 8 | seed);
    shapes(p).into_iter().flat_map(move |shape| {
        let root = rng.random_range(0..p);
        let seed = rng.random_range(0..1000);
        let blocks = match p {
            0..=64 => vec![1, 2, 7, 30],
            _ => vec![[1, 2][rng.random_range(0..2)], 7],
        };
        let count = |n: u32| [u64::from(n) / 2 + 1, u64::from(n), 2 * u64::from(n) + 1];
        let counts: Vec<u64> = blocks
            .iter()
            .map(|&n| count(n)[seed as usize % 3])
            .collect();
        let variants = variants(p, blocks.len(), seed);
        (blocks.into_iter().zip(counts).zip(variants)).map(move |((n, count), variant)| {
            let climb = Climb {
                shape,
                p,
                top: root,
                root,
                n,
                count,
            };
            (climb, variant)
        })
    })
}

/// Counted from the root, or where the tree is in order, from rank 0.
#[test]
fn every_operand_comes_once_and_beside_its_neighbours() {
    for p in every_p() {
        for (climb, variant) in climbs(p, 1) {
            let base = match climb.shape {
                Shape::InOrder => 0,
                _ => climb.top,
            };
            climb.check(base, &variant);
        }
    }
}

/// With rank 0 at the top, which hands the result over to the root.
#[test]
fn from_rank_0_on_the_order_is_that_of_ranks() {
    for p in every_p() {
        for (climb, variant) in climbs(p, 2) {
            let climb = Climb { top: 0, ..climb };
            climb.check(0, &variant);
        }
    }
}

/// Up the tree and down again: all ranks have the same, in the order of ranks.
#[test]
fn up_and_down_a_tree_all_ranks_have_the_result() {
    for p in every_p() {
        for (climb, variant) in climbs(p, 4) {
            let top = match climb.shape {
                Shape::InOrder => p / 2,
                _ => 0,
            };
            let scripts = scripts(p, |script, rank| {
                let mut family = TreeNeighbors::default();
                family.set(climb.shape, p, rank, top);
                script.begin(variant.most, even(climb.count, climb.n).into_iter());
                reduce_tree(script, &family);
                broadcast_tree(script, &family);
            });
            let outcome = carry_out(&scripts, climb.count, &variant);
            let order: Vec<u16> = (0..p as u16).collect();
            let expected = terms(0..climb.count, |_| &order);
            for rank in 0..p {
                check(rank, &outcome.result(rank), &expected, &variant);
            }
        }
    }
}

/// Up and down two trees at the same time: all ranks have the same, in the order of ranks. No rank hears of more than
/// three others, and a block goes over each edge once each way.
#[test]
fn over_two_roots_all_ranks_have_the_result() {
    for p in every_p() {
        for n in [1, 2, 7, 30] {
            for count in [u64::from(n) / 2 + 1, 2 * u64::from(n) + 1] {
                for variant in variants(p, 2, 5000 + u64::from(n)) {
                    let scripts = scripts(p, |script, rank| {
                        script.begin(variant.most, even(count, n).into_iter());
                        dual_root(script, &Group::all(p, rank), n);
                    });
                    let outcome = carry_out(&scripts, count, &variant);
                    let order: Vec<u16> = (0..p as u16).collect();
                    let expected = terms(0..count, |_| &order);
                    let blocks = count.min(n.into()) as usize;
                    for rank in 0..p {
                        check(rank, &outcome.result(rank), &expected, &variant);
                        let sent = &outcome.ports[rank as usize].sent;
                        let mut to: Vec<u32> = sent.iter().map(|&(to, _)| to).collect();
                        to.sort_unstable();
                        to.dedup();
                        assert!(to.len() <= 3, "p = {p}");
                        assert_eq!(sent.len(), blocks * to.len(), "p = {p}, n = {n}");
                    }
                }
            }
        }
    }
}

/// Every rank but the top sends each block once, whatever the tree is.
#[test]
fn every_block_is_sent_once() {
    for p in every_p() {
        for (climb, variant) in climbs(p, 3) {
            let full = climb.count.min(climb.n.into()) as usize;
            let scripts = climb.scripts(&variant);
            let outcome = carry_out(&scripts, climb.count, &variant);
            for (rank, port) in (0..).zip(&outcome.ports) {
                let expected = if rank == climb.top { 0 } else { full };
                assert_eq!(port.sent.len(), expected, "{:?} of {p}", climb.shape);
            }
        }
    }
}

/// A star with rank 0 at the top takes one operand after the other: the bits of a loop over the ranks.
#[test]
fn a_star_takes_operands_from_left_to_right() {
    for p in every_p() {
        let mut family = TreeNeighbors::default();
        family.set(Shape::STAR, p, 0, 0);
        let mut script = Script::default();
        script.begin(u64::MAX, std::iter::once(1));
        reduce_tree(&mut script, &family);
        let from: Vec<_> = script.takes().iter().map(|take| take.source).collect();
        let expected: Vec<_> = (1..p).map(rondo::script::Source::Rank).collect();
        assert_eq!(from, expected);
    }
}

// Scans.

/// The root of a tree of so many ranks.
type Root = fn(u32) -> u32;

/// Trees in which a rank has one child with lower ranks and one with higher ranks at the most, with their roots.
const IN_ORDER: [(Shape, Root); 4] = [
    (Shape::InOrder, |p| p / 2),
    (Shape::InOrder, |_| 0),
    (Shape::InOrder, |p| p - 1),
    (Shape::Two, |_| 0),
];

fn family(shape: Shape, p: u32, rank: u32, root: u32) -> TreeNeighbors {
    let mut family = TreeNeighbors::default();
    family.set(shape, p, rank, root);
    family
}

#[test]
fn a_scan_up_and_down_trees_has_the_operands_in_the_order_of_ranks() {
    for (shape, root) in IN_ORDER {
        for prefix in [Prefix::Inclusive, Prefix::Exclusive] {
            check_scans(
                prefix,
                |_| prefix.tree_places(),
                |script, p, rank, n| {
                    let family = family(shape, p, rank, root(p));
                    tree_scan(script, &family, rank, n, prefix);
                },
            );
        }
    }
}

/// A block goes over each edge once up and once down: but nothing goes up from what has the last rank, nor down to what
/// has the first one. A rank joins no more than four times, and no more than three if the result is inclusive.
#[test]
fn a_scan_up_and_down_trees_sends_nothing_that_nobody_wants() {
    for p in every_p() {
        for (shape, root) in IN_ORDER {
            for (prefix, joins_most) in [(Prefix::Inclusive, 3), (Prefix::Exclusive, 4)] {
                // A block of each of two trees.
                let n = 2;
                let scripts = scripts(p, |script, rank| {
                    script.begin(u64::MAX, (0..prefix.tree_places() * n).map(|_| 1));
                    tree_scan(script, &family(shape, p, rank, root(p)), rank, n, prefix);
                });
                let (mut edges, mut outer) = (0, 0);
                for (rank, script) in (0..).zip(&scripts) {
                    let children = family(shape, p, rank, root(p));
                    edges += children.children().len();
                    outer += children.children().iter().filter(|e| e.is_outer).count();
                    for block in 0..n {
                        let takes = script.takes().iter().filter(|take| {
                            take.join != Join::Store && take.blocks.start % n == block
                        });
                        assert!(takes.count() <= joins_most, "{shape:?}, p = {p}");
                    }
                }
                let blocks = if shape == Shape::Two { 1 } else { 2 };
                let sent: usize = scripts.iter().map(|script| script.sends().len()).sum();
                assert_eq!(sent, blocks * (2 * edges - outer), "{shape:?}, p = {p}");
                let taken = scripts.iter().flat_map(|script| script.takes());
                let taken = taken.filter(|take| matches!(take.source, Source::Rank(_)));
                assert_eq!(taken.count(), sent, "{shape:?}, p = {p}");
            }
        }
    }
}
