//! Trees for many blocks: every rank has one way from the root, in each of them; and messages fit into rounds.

use rondo::schedule::{Edge, Shape, TreeNeighbors};
use std::collections::BTreeMap;

pub fn shapes(p: u32) -> Vec<Shape> {
    let arities = [1, 2, 3, 4, 7, p.max(2) - 1, u32::MAX];
    let mut shapes: Vec<Shape> = arities.map(Shape::Even).into();
    shapes.extend([0, 2, 3, 5, u32::MAX].map(Shape::Knomial));
    shapes.extend([Shape::Fibonacci, Shape::InOrder, Shape::Two, Shape::mesh(p)]);
    shapes.extend([
        Shape::Mesh(1),
        Shape::Mesh(3),
        Shape::BINOMIAL,
        Shape::Postal(3),
    ]);
    shapes
}

fn every_p() -> impl Iterator<Item = u32> {
    (1..=64).chain([65, 67, 81, 129, 161])
}

fn roots(p: u32) -> Vec<u32> {
    let mut roots = match p {
        0..=16 => (0..p).collect(),
        _ => vec![0, 1, p / 3, p / 2, p - 2, p - 1],
    };
    roots.dedup();
    roots
}

fn families(shape: Shape, p: u32, root: u32) -> Vec<TreeNeighbors> {
    let family = |rank| {
        let mut family = TreeNeighbors::default();
        family.set(shape, p, rank, root);
        family
    };
    (0..p).map(family).collect()
}

/// The edge by which a rank has the blocks of a tree.
fn above(family: &TreeNeighbors, tree: u32) -> Option<&Edge> {
    let mut of_tree = family.parents().iter().filter(|edge| edge.tree == tree);
    let edge = of_tree.next();
    assert!(of_tree.next().is_none(), "two parents in a tree");
    edge
}

/// Both ends know the same of every edge; from every rank there is a way up to the root, of so many edges.
fn depth(families: &[TreeNeighbors], trees: u32, root: u32) -> u32 {
    let p = families.len() as u32;
    let mut edges = 0;
    for (rank, family) in (0..).zip(families) {
        for child in family.children() {
            let back = above(&families[child.peer as usize], child.tree).expect("a parent");
            assert_eq!((back.peer, back.wait), (rank, child.wait));
            assert_eq!(back.is_outer, child.is_outer);
            assert_ne!(back.is_lower, child.is_lower);
            edges += 1;
        }
        let parents = if rank == root { 0 } else { trees as usize };
        assert_eq!(family.parents().len(), parents, "rank {rank}");
    }
    assert_eq!(edges, trees * (p - 1));
    let depth = |rank, tree| {
        let (mut at, mut depth) = (rank, 0);
        while let Some(edge) = above(&families[at as usize], tree) {
            (at, depth) = (edge.peer, depth + 1);
            assert!(depth < p, "a circle");
        }
        assert_eq!(at, root);
        depth
    };
    let ways = (0..p).flat_map(|rank| (0..trees).map(move |tree| depth(rank, tree)));
    ways.max().unwrap_or(0)
}

#[test]
fn every_rank_has_one_way_from_the_root_and_none_is_longer_than_said() {
    for p in every_p() {
        for shape in shapes(p) {
            for root in roots(p) {
                let trees = if shape == Shape::Two { 2 } else { 1 };
                let depth = depth(&families(shape, p, root), trees, root);
                let said = shape.pace(p).latencies;
                assert!(depth <= said, "{shape:?} of {p}: {depth} and not {said}");
            }
        }
    }
}

/// Backwards, what a rank has joined is that of consecutive ranks at all times: no rank joins what is not next to it.
#[test]
fn subtrees_are_of_consecutive_ranks_next_to_each_other() {
    fn joined(families: &[TreeNeighbors], tree: u32, rank: u32, base: u32) -> (u32, u32) {
        let p = families.len() as u32;
        let place = |rank: u32| (rank + p - base) % p;
        let (mut first, mut end) = (place(rank), place(rank) + 1);
        let children = families[rank as usize].children().iter().rev();
        for child in children.filter(|child| child.tree == tree) {
            let (low, high) = joined(families, tree, child.peer, base);
            assert_eq!(child.is_outer, low == 0 || high == p, "rank {rank} of {p}");
            match child.is_lower {
                true => {
                    assert_eq!(high, first, "rank {rank} of {p}");
                    first = low;
                }
                false => {
                    assert_eq!(low, end, "rank {rank} of {p}");
                    end = high;
                }
            }
        }
        (first, end)
    }
    for p in every_p() {
        for shape in shapes(p) {
            for root in roots(p) {
                let families = families(shape, p, root);
                let base = if shape == Shape::InOrder { 0 } else { root };
                for tree in 0..if shape == Shape::Two { 2 } else { 1 } {
                    assert_eq!(joined(&families, tree, root, base), (0, p), "{shape:?}");
                }
            }
        }
    }
}

/// No rank has more children than it may have, and the star and the chain are what their names say.
#[test]
fn ranks_have_few_children() {
    for p in every_p() {
        for (shape, most) in [
            (Shape::CHAIN, 1),
            (Shape::BINARY, 2),
            (Shape::Even(5), 5),
            (Shape::Fibonacci, 2),
            (Shape::InOrder, 2),
            (Shape::Two, 2),
        ] {
            let families = families(shape, p, p / 2);
            let children = families.iter().map(|family| family.children().len());
            assert!(children.max() <= Some(most), "{shape:?} of {p}");
        }
        let star = &families(Shape::STAR, p, 0)[0];
        assert_eq!(star.children().len() as u32, p - 1);
    }
}

/// What has children in one of the two trees has none in the other. Receives by the two edges from above never fall in
/// the same round, nor do sends; and a block is here before it goes on.
#[test]
fn two_trees_fit_into_rounds() {
    for p in every_p().chain([300, 1023, 1024]) {
        let families = families(Shape::Two, p, p / 3);
        for (rank, family) in (0..).zip(&families) {
            let place = (rank + p - p / 3) % p;
            let trees: Vec<u32> = family.children().iter().map(|edge| edge.tree).collect();
            if place > 1 {
                assert!(trees.windows(2).all(|pair| pair[0] == pair[1]), "p = {p}");
            }
            // Within a phase of two rounds the order says which round it is, if there are two edges: so they differ.
            assert!(trees.len() <= 2 && family.parents().len() <= 2);
        }
        // In which round each edge has its first block, from what the ranks say: phase and place in the phase.
        let mut first: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for (rank, family) in (0..).zip(&families) {
            for edges in [family.parents(), family.children()] {
                for (i, edge) in (0..).zip(edges) {
                    let other = if edges == family.parents() {
                        rank
                    } else {
                        edge.peer
                    };
                    let rounds = match edges.len() {
                        2 => vec![2 * edge.wait + i],
                        _ => vec![2 * edge.wait, 2 * edge.wait + 1],
                    };
                    let known = first.entry((other, edge.tree)).or_insert(rounds.clone());
                    known.retain(|round| rounds.contains(round));
                    assert!(!known.is_empty(), "p = {p}: ends of an edge differ");
                }
            }
        }
        for (rank, family) in (0..).zip(&families) {
            for child in family.children() {
                if let Some(here) = first.get(&(rank, child.tree)) {
                    let goes = &first[&(child.peer, child.tree)];
                    assert!(
                        here.iter().min() < goes.iter().max(),
                        "p = {p}, rank {rank}"
                    );
                }
            }
        }
        let last = first.values().flatten().max().map_or(0, |round| round + 1);
        let said = Shape::Two.pace(p).first;
        assert!(last <= said + 1, "p = {p}: {last} and not {said}");
    }
}

/// A k-nomial tree with twice as many ranks after each round is the binomial one; with all at once, the star. Others
/// have the rounds of powers of their radix.
#[test]
fn k_nomial_trees_are_between_the_binomial_one_and_the_star() {
    for p in every_p() {
        let same = |a, b| assert_eq!(families(a, p, 0), families(b, p, 0), "p = {p}");
        same(Shape::Knomial(2), Shape::BINOMIAL);
        same(Shape::Knomial(p), Shape::STAR);
    }
    for radix in [2, 3, 4, 7] {
        for depth in 1..=6 {
            let pace = Shape::Knomial(radix).pace(radix.pow(depth));
            assert_eq!((pace.first, pace.latencies), ((radix - 1) * depth, depth));
        }
    }
}

/// Leaves of a Fibonacci tree are reached together: it has F(i+3) - 1 ranks after i rounds.
#[test]
fn published_sizes_of_fibonacci_trees() {
    for (i, p) in [
        (0, 1),
        (1, 2),
        (2, 4),
        (3, 7),
        (4, 12),
        (5, 20),
        (6, 33),
        (7, 54),
    ] {
        assert_eq!(Shape::Fibonacci.pace(p).first, i);
        assert_eq!(Shape::Fibonacci.pace(p + 1).first, i + 1);
    }
}

#[test]
fn numbers_of_ranks_near_the_largest_do_not_overflow() {
    let p = i32::MAX as u32;
    for shape in [
        Shape::BINARY,
        Shape::Even(1 << 16),
        Shape::Knomial(2),
        Shape::Knomial(1 << 16),
        Shape::Fibonacci,
        Shape::InOrder,
        Shape::Two,
        Shape::mesh(p),
    ] {
        let mut family = TreeNeighbors::default();
        for (rank, root) in [(0, 0), (p - 1, 0), (p - 2, p - 1), (5, p / 2)] {
            family.set(shape, p, rank, root);
            assert!(family.children().iter().all(|child| child.peer < p));
            assert!(shape.pace(p).first >= 30, "{shape:?}");
        }
    }
}
