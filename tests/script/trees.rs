//! Reductions up trees, and scans up and down.

use super::{check_scans, every_p, scripts};
use rondo::schedule::{Shape, TreeNeighbors};
use rondo::script::{Join, Prefix, Script, Source, reduce_tree, tree_scan};

pub fn shapes(p: u32) -> [Shape; 12] {
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
