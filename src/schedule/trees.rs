//! Trees down which the blocks of a broadcast go one after the other, and up which those of a reduction come: from whom
//! a rank has its blocks, and to whom it passes them on.
//!
//! In all of these trees a subtree has consecutive ranks, counted from the root (in order: from rank 0). What a rank
//! passes on first goes to the subtree of the highest ranks. So backwards, operands come in the order of ranks.

#![forbid(unsafe_code)]

use super::rounds::rounds_of;
use super::{postal, two_trees};
use std::collections::HashMap;

/// Which tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A message is there so many units after its sending began ([`postal`]). 1: the binomial tree.
    Postal(u32),
    /// A rank has at most so many children, whose subtrees have as many ranks each. 1: a chain, 2: the complete binary
    /// tree, p - 1: a star.
    Even(u32),
    /// In each round, who has a block sends it to so many ranks less one: so many times as many have it after each. A
    /// subtree is as large as a power of that, but the last one of all. 2, and whatever is less: the binomial tree.
    Knomial(u32),
    /// Of two children the first one has the larger subtree, so that all leaves have a block at the same time (J.
    /// Bruck, R. Cypher, C.-T. Ho, "Multiple message broadcasting with generalized Fibonacci trees", SPDP 1992).
    Fibonacci,
    /// A binary tree with the root where it is: of two children one has the lower ranks and one has the higher ranks.
    /// Backwards it keeps the order of ranks whatever the root is.
    InOrder,
    /// Ranks are a mesh of so many rows: down the first row, and from there down each column, by binomial trees (A.
    /// Grama et al., "Introduction to Parallel Computing", 2003, section 4.1.2).
    Mesh(u32),
    /// Two binary trees: even blocks go down the first, odd ones down the second (`two_trees`).
    Two,
}

/// How fast a tree is, in rounds in which a rank sends one message and receives another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Rounds until every rank has the first block, at the most.
    pub first: u32,
    /// Rounds from one block to the next.
    pub every: u32,
    /// Messages one after the other on a block's longest way.
    pub latencies: u32,
}

impl Pace {
    /// Of a rank alone.
    pub const ALONE: Pace = Pace {
        first: 0,
        every: 1,
        latencies: 0,
    };
}

impl Shape {
    /// Every rank has one child.
    pub const CHAIN: Shape = Shape::Even(1);
    /// The root has all others as children.
    pub const STAR: Shape = Shape::Even(u32::MAX);
    /// The complete binary tree.
    pub const BINARY: Shape = Shape::Even(2);
    /// The binomial tree.
    pub const BINOMIAL: Shape = Shape::Postal(1);

    /// The mesh of `p` ranks that is nearest to a square; its last column may be shorter.
    pub fn mesh(p: u32) -> Shape {
        Shape::Mesh(p.isqrt().max(1))
    }

    /// The rank from which on ranks are counted in the tree from `root`.
    pub fn start(self, root: u32) -> u32 {
        match self {
            Shape::InOrder => 0,
            Shape::Postal(_)
            | Shape::Even(_)
            | Shape::Knomial(_)
            | Shape::Fibonacci
            | Shape::Mesh(_)
            | Shape::Two => root,
        }
    }

    /// The root from which it is fastest where any will do, as up and down again.
    pub fn top(self, p: u32) -> u32 {
        let middle = p / 2;
        match self.start(middle) == middle {
            true => 0,
            false => middle,
        }
    }

    /// How fast it is among `p` ranks, whatever the root. O(log p) time; [`Shape::Postal`]: O(L log p).
    pub fn pace(self, p: u32) -> Pace {
        self.pace_from(p, 0)
    }

    /// How fast it is from this root.
    pub fn pace_from(self, p: u32, root: u32) -> Pace {
        let others = p.saturating_sub(1);
        let (first, every, latencies) = match self {
            Shape::Postal(1) => (rounds_of(p), rounds_of(p), rounds_of(p)),
            Shape::Postal(latency) => {
                let time = postal::time(p, latency);
                (time, time, time.div_ceil(latency.max(1)))
            }
            Shape::Even(arity) => {
                let arity = arity.clamp(1, others.max(1));
                let depth = depth(p, arity);
                (arity.saturating_mul(depth), arity, depth)
            }
            Shape::Knomial(radix) => {
                let rounds = widths(p, radix).map(|(width, end)| end.div_ceil(width) - 1);
                let (depth, children) = rounds.fold((0, 0), |(d, k), more| (d + 1, k + more));
                (children, children, depth)
            }
            Shape::Fibonacci => {
                let (depth, ..) = fibonacci(p);
                (depth, 2, depth)
            }
            Shape::InOrder => {
                let longer = root.max(others.saturating_sub(root));
                let depth = longer.checked_ilog2().map_or(0, |log| 1 + log);
                (2 * depth, 2, depth)
            }
            Shape::Mesh(rows) => {
                let rounds = rounds_of(rows.min(p)) + rounds_of(p.div_ceil(rows.max(1)));
                (rounds, rounds, rounds)
            }
            Shape::Two => {
                let inner = p.saturating_sub(two_trees::base(p));
                let depth = inner.checked_ilog2().map_or(0, |log| 1 + log);
                let above = two_trees::base(p) - 1;
                (2 * depth + above, 1, depth + above)
            }
        };
        Pace {
            first,
            every: every.max(1),
            latencies,
        }
    }
}

impl Shape {
    /// When the last of `p` ranks has a block that the root has at 0, if child number i of k has it `hop(i, k)` after
    /// its parent. Subtrees of one size are alike, and there are O(log^2 p) sizes. Of [`Shape::Two`]: about so long.
    pub fn time(self, p: u32, root: u32, hop: &impl Fn(u32, u32) -> f64) -> f64 {
        if self == Shape::CHAIN {
            return f64::from(p.saturating_sub(1)) * hop(0, 1);
        }
        if self == Shape::Two {
            let pace = self.pace(p);
            let hops = f64::from(pace.latencies);
            return hops * hop(0, 2) + (f64::from(pace.first) - hops) * (hop(1, 2) - hop(0, 2));
        }
        let all = Subtree {
            first: 0,
            size: p,
            root: root - self.start(root),
        };
        all.time(self, hop, &mut HashMap::new())
    }
}

/// Levels below the root of a tree of `p` ranks with as many children each.
fn depth(p: u32, arity: u32) -> u32 {
    if arity == 1 {
        return p.saturating_sub(1);
    }
    let (mut depth, mut level, mut all) = (0, 1u64, 1u64);
    while all < p.into() {
        (depth, level) = (depth + 1, level * u64::from(arity));
        all += level;
    }
    depth
}

/// The rounds of a k-nomial tree of `size` ranks: the root sends to every rank whose number is a multiple of the first
/// of two numbers and less than the second.
fn widths(size: u32, radix: u32) -> impl Iterator<Item = (u32, u32)> {
    let radix = radix.max(2);
    let mut width = 1;
    while u64::from(width) * u64::from(radix) < size.into() {
        width *= radix;
    }
    let mut end = size;
    std::iter::from_fn(move || {
        (end > 1).then(|| {
            let round = (width, end);
            (end, width) = (width, width / radix);
            round
        })
    })
}

/// The least i of which the i-th Fibonacci tree has `size` ranks, and how many those before it have: the (i-2)-th and
/// the (i-1)-th one.
fn fibonacci(size: u32) -> (u32, u64, u64) {
    let (mut i, mut before, mut last, mut this) = (0, 0, 0, 1u64);
    while this < size.into() {
        (i, before, last, this) = (i + 1, last, this, 1 + last + this);
    }
    (i, before, last)
}

/// A neighbour of a rank in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Which rank it is.
    pub peer: u32,
    /// Which blocks go this way: those of this number modulo how many trees there are.
    pub tree: u32,
    /// The first block goes this way so many phases after the first one of all; each phase has a block of every tree.
    pub wait: u32,
    /// Is it before this rank in the order of ranks that the tree keeps?
    pub is_lower: bool,
    /// Does the subtree below this edge have the first rank of all in that order, or the last one?
    pub is_outer: bool,
}

/// What a neighbour is to a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kin {
    /// The rank has blocks from it.
    Parent,
    /// It has blocks from the rank.
    Child,
}

/// From whom a rank has its blocks, and to whom it passes them on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeNeighbors {
    pub(super) trees: u32,
    pub(super) parents: Vec<Edge>,
    pub(super) children: Vec<Edge>,
}

/// Ranks that send to one, at the most: one for each tree.
const PARENTS_MAX: usize = 2;

/// Ranks that one sends to, in all trees but those with a large arity.
const CHILDREN: usize = 32;

/// Ranks `first` to `first + size - 1`, of which one has the blocks for the others.
#[derive(Clone, Copy)]
struct Subtree {
    first: u32,
    size: u32,
    root: u32,
}

impl Subtree {
    /// Calls `run` with the subtrees of the root, first to last.
    fn split(self, shape: Shape, mut run: impl FnMut(Subtree)) {
        let Subtree { first, size, root } = self;
        let mut child = |offset, size| {
            run(Subtree {
                first: first + offset,
                size,
                root: first + offset,
            });
        };
        match shape {
            Shape::Postal(latency) => postal::split(size, latency, child),
            Shape::Even(arity) => {
                let (mut end, rest) = (size, size - 1);
                let arity = arity.clamp(1, rest.max(1));
                for i in 0..arity {
                    let share = rest / arity + u32::from(i < rest % arity);
                    end -= share;
                    if share > 0 {
                        child(end, share);
                    }
                }
            }
            Shape::Knomial(radix) => {
                for (width, mut end) in widths(size, radix) {
                    while end > width {
                        let offset = (end - 1) / width * width;
                        child(offset, end - offset);
                        end = offset;
                    }
                }
            }
            Shape::Fibonacci => {
                let (_, _, most) = fibonacci(size);
                let large = u64::from(size - 1).min(most) as u32;
                if large > 0 {
                    child(size - large, large);
                }
                if size - 1 > large {
                    child(1, size - 1 - large);
                }
            }
            Shape::Mesh(rows) => {
                let columns = size.div_ceil(rows);
                postal::split(columns, 1, |column, columns| {
                    let offset = column * rows;
                    child(offset, (columns * rows).min(size - offset));
                });
                postal::split(size.min(rows), 1, child);
            }
            Shape::InOrder => {
                let mut part = |first: u32, end: u32| {
                    if first < end {
                        let root = first + (end - first) / 2;
                        let size = end - first;
                        run(Subtree { first, size, root });
                    }
                };
                let end = first + size;
                // The larger one first.
                if root - first > end - (root + 1) {
                    part(first, root);
                    part(root + 1, end);
                } else {
                    part(root + 1, end);
                    part(first, root);
                }
            }
            Shape::Two => unreachable!("no single tree"),
        }
    }
}

impl Subtree {
    /// As [`Shape::time`] says; what is known of subtrees goes by their size and by where their root is.
    fn time(
        self,
        shape: Shape,
        hop: &impl Fn(u32, u32) -> f64,
        known: &mut HashMap<(u32, u32), f64>,
    ) -> f64 {
        let alike = (self.size, self.root - self.first);
        if let Some(&time) = known.get(&alike) {
            return time;
        }
        let mut children = Vec::new();
        self.split(shape, |child| children.push(child));
        let k = children.len() as u32;
        let times = (0..).zip(children);
        let times = times.map(|(i, child)| hop(i, k) + child.time(shape, hop, known));
        let time = times.fold(0.0, f64::max);
        known.insert(alike, time);
        time
    }
}

impl TreeNeighbors {
    /// Makes this the neighbours of `rank` in the tree of `p` ranks from `root`. O(log p) steps from the root down, of
    /// which each looks at the children of a rank.
    pub fn set(&mut self, shape: Shape, p: u32, rank: u32, root: u32) {
        self.parents.clear();
        self.children.clear();
        // Another root makes this rank another place in the tree. That takes no memory unless there are very many.
        self.parents.reserve(PARENTS_MAX);
        self.children.reserve(CHILDREN);
        self.trees = 1;
        let turn = shape.start(root);
        let v = (u64::from(rank) + u64::from(p) - u64::from(turn)) % u64::from(p);
        let v = v as u32;
        let edge = |peer: u32, tree: u32, wait: u32, is_outer: bool| Edge {
            peer: ((u64::from(peer) + u64::from(turn)) % u64::from(p)) as u32,
            tree,
            wait,
            is_lower: peer < v,
            is_outer,
        };
        if shape == Shape::Two {
            self.trees = 2;
            two_trees::neighbors(p, v, |neighbor| {
                let edges = match neighbor.is_parent {
                    true => &mut self.parents,
                    false => &mut self.children,
                };
                let wait = neighbor.round / 2;
                edges.push(edge(neighbor.v, neighbor.tree, wait, neighbor.is_outer));
            });
            return;
        }
        let is_outer = |tree: Subtree| tree.first == 0 || tree.first + tree.size == p;
        let mut tree = Subtree {
            first: 0,
            size: p,
            root: root - turn,
        };
        while tree.root != v {
            let mut next = tree;
            tree.split(shape, |child| {
                if (child.first..child.first + child.size).contains(&v) {
                    next = child;
                }
            });
            self.parents.clear();
            self.parents.push(edge(tree.root, 0, 0, is_outer(next)));
            tree = next;
        }
        tree.split(shape, |child| {
            self.children.push(edge(child.root, 0, 0, is_outer(child)));
        });
    }

    /// Who sends to this rank: one rank for each tree, or none to the root.
    pub fn parents(&self) -> &[Edge] {
        &self.parents
    }

    /// To whom this rank sends, in this order in each phase.
    pub fn children(&self) -> &[Edge] {
        &self.children
    }

    /// How many phases `n` blocks take over some of the edges.
    pub fn phases(&self, edges: &[Edge], n: u32) -> u32 {
        let wait = edges.iter().map(|edge| edge.wait).max().unwrap_or(0);
        n.div_ceil(self.trees.max(1)) + wait
    }

    /// The phases in which `n` blocks go down, and the edges over which one may go in each, in this order.
    pub fn down(&self, n: u32) -> impl DoubleEndedIterator<Item = (u32, Kin, &Edge)> {
        let phases = |edges| self.phases(edges, n);
        let phases = phases(&self.parents).max(phases(&self.children));
        let edges = || {
            let parents = self.parents.iter().map(|edge| (Kin::Parent, edge));
            parents.chain(self.children.iter().map(|edge| (Kin::Child, edge)))
        };
        (0..phases).flat_map(move |phase| edges().map(move |(kin, edge)| (phase, kin, edge)))
    }

    /// The same for the way up: backwards.
    pub fn up(&self, n: u32) -> impl Iterator<Item = (u32, Kin, &Edge)> {
        self.down(n).rev()
    }

    /// The block that goes over an edge in a phase, or one that there is not.
    pub fn block(&self, edge: &Edge, phase: u32) -> u32 {
        match phase.checked_sub(edge.wait) {
            Some(phase) => phase.saturating_mul(self.trees).saturating_add(edge.tree),
            None => u32::MAX,
        }
    }

    /// The block of `n` that goes over an edge in a phase if the last one of each tree is the first to go, or one that
    /// there is not.
    pub fn block_from_last(&self, edge: &Edge, phase: u32, n: u32) -> u32 {
        let block = self.block(edge, phase);
        match block < n {
            true => edge.tree + (n - 1 - edge.tree) / self.trees * self.trees + edge.tree - block,
            false => u32::MAX,
        }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        (self.parents.capacity() + self.children.capacity()) * size_of::<Edge>()
    }
}
