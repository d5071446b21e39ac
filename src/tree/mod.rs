//! Trees for irregular gather and scatter: who sends its subtree's blocks to whom, in which order.
//!
//! Integers in, integers out: no messages, no buffers, no environment. The model and most of the
//! trees are those of Jesper Larsson Träff: "On Optimal Trees for Irregular Gather and Scatter
//! Collectives", IEEE TPDS 30(9), 2019; the adaptive binomial tree is from his "Practical,
//! distributed, low overhead algorithms for irregular gather and scatter collectives", Parallel
//! Computing 75, 2018.
//!
//! # Notation
//!
//! | letter | meaning |
//! |---|---|
//! | p, r | the number of ranks; the root |
//! | m_i | the bytes of the block of rank i |
//! | S(i..j) | m_i + ... + m_j |
//! | alpha, beta, gamma | the cost of a message, of a byte sent, of a byte copied ([`Cost`]) |
//! | c(s) | the time of a message of s bytes: alpha + beta s, and 0 for s = 0: no message |
//!
//! # Order
//!
//! A tree is *ordered* if every subtree covers consecutive ranks. A rank of an ordered tree keeps
//! one run of consecutive blocks at all times and never has to move it: whatever comes next, its own
//! block included, lies next to what it has. The binary tree serves children in rank order. In the
//! others a rank serves what is nearest first; it copies its own block at once if the first message
//! comes from higher ranks (it lies in front) or right after it if that comes from lower ranks (it
//! lies behind).
//!
//! # Gather and scatter
//!
//! Everything is said for gather. Scatter on the same tree is gather read backwards: messages go
//! the other way, children are served in reverse, and the completion time is the same.

#![forbid(unsafe_code)]

mod algorithm;
mod binary;
mod binomial;
mod distribution;
mod groups;
mod hierarchy;
mod kinds;
mod linear;
mod optimal;
mod ranges;
mod window;

pub use algorithm::Algorithm;
pub use binary::binary;
pub use binomial::{adaptive, binomial};
pub use distribution::Distribution;
pub use groups::{Content, Groups};
pub use hierarchy::Hierarchy;
pub use kinds::two_kinds;
pub use linear::linear;
pub use optimal::optimal;

/// The parameters of the linear cost model, in any unit of time. Times are exact where [`Cost::fits`]
/// says so, and may be wrong elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The time of a message, whatever its size.
    pub alpha: u64,
    /// The time of a byte in a message.
    pub beta: u64,
    /// The time of copying a byte of one's own block.
    pub gamma: u64,
}

impl Cost {
    /// c(s): the time that a message of `size` bytes takes both of its ends. Nothing is sent for
    /// 0 bytes.
    pub fn message(&self, size: u64) -> u64 {
        if size == 0 {
            0
        } else {
            self.alpha + self.beta * size
        }
    }

    /// The time of copying a block of `size` bytes.
    pub fn copy(&self, size: u64) -> u64 {
        self.gamma * size
    }

    /// Whether 64 bits hold the completion times of all trees of this module for such blocks, and
    /// what is computed on the way.
    pub fn fits(&self, blocks: &[u64]) -> bool {
        let p = blocks.len() as u128;
        let all: u128 = blocks.iter().map(|&block| u128::from(block)).sum();
        // In the deepest tree, the binary one, a block travels log2 p times, and in the programs a message
        // or two are added before the least time is chosen. All ranks send, and copy, once.
        let levels = u128::from(p.max(1).ilog2()) + 4;
        let times = [
            p.checked_mul(self.alpha.into()),
            all.checked_mul(self.beta.into())
                .and_then(|t| t.checked_mul(levels)),
            all.checked_mul(self.gamma.into())
                .and_then(|t| t.checked_mul(2)),
        ];
        let sum = times
            .into_iter()
            .try_fold(0, |sum: u128, time| sum.checked_add(time?));
        sum.is_some_and(|sum| sum <= u64::MAX.into()) && u64::try_from(all).is_ok()
    }
}

/// The root that a constructor takes: given, as in MPI, or its own choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// This rank.
    Given(usize),
    /// Whichever is best, among those that the algorithm considers.
    Best,
}

impl Root {
    /// The given rank, which has to be one of p.
    fn given(self, p: usize) -> Option<usize> {
        match self {
            Root::Given(root) => {
                assert!(root < p, "there is no root {root} of {p} ranks");
                Some(root)
            }
            Root::Best => None,
        }
    }
}

/// A tree over all ranks, with the sizes of its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    root: usize,
    parent: Vec<usize>,
    children: Vec<Vec<usize>>,
    copy: Vec<usize>,
    block: Vec<u64>,
    size: Vec<u64>,
    /// First and last rank of the subtrees; together with their numbers of ranks, `count`, they
    /// say which cover consecutive ranks.
    span: Vec<(usize, usize)>,
    count: Vec<usize>,
    /// Every rank after its parent.
    downwards: Vec<usize>,
}

impl Tree {
    /// The tree in which rank i receives from the ranks `children[i]` in this order, and copies
    /// its own block after `copy[i]` of them. `blocks` are the sizes m_i.
    ///
    /// # Panics
    /// If the ranks are none, or not a tree with this root.
    pub fn new(root: usize, blocks: &[u64], children: Vec<Vec<usize>>, copy: Vec<usize>) -> Tree {
        let p = blocks.len();
        assert!(root < p, "there is no root {root} of {p} ranks");
        assert!(children.len() == p && copy.len() == p, "one entry per rank");
        let mut parent = vec![usize::MAX; p];
        parent[root] = root;
        let mut downwards = vec![root];
        for next in 0..p {
            let rank = *downwards
                .get(next)
                .unwrap_or_else(|| panic!("only {next} of {p} ranks hang on root {root}"));
            assert!(
                copy[rank] <= children[rank].len(),
                "rank {rank} copies late"
            );
            for &child in &children[rank] {
                assert!(parent[child] == usize::MAX, "rank {child} sends twice");
                parent[child] = rank;
                downwards.push(child);
            }
        }
        let mut size = blocks.to_vec();
        let mut span: Vec<(usize, usize)> = (0..p).map(|rank| (rank, rank)).collect();
        let mut count = vec![1; p];
        for &rank in downwards[1..].iter().rev() {
            let (first, last) = span[rank];
            let up = parent[rank];
            size[up] += size[rank];
            count[up] += count[rank];
            span[up] = (span[up].0.min(first), span[up].1.max(last));
        }
        let block = blocks.to_vec();
        Tree {
            root,
            parent,
            children,
            copy,
            block,
            size,
            span,
            count,
            downwards,
        }
    }

    /// The tree of `joins`, pairs of a receiver and its sender in an order that is right for every
    /// receiver; a rank copies its own block where an ordered tree must.
    fn from_joins(root: usize, blocks: &[u64], joins: &[(usize, usize)]) -> Tree {
        let mut children = vec![Vec::new(); blocks.len()];
        for &(to, from) in joins {
            children[to].push(from);
        }
        let copy = (0..)
            .zip(&children)
            .map(|(rank, children)| usize::from(children.first().is_some_and(|&c| c < rank)))
            .collect();
        Tree::new(root, blocks, children, copy)
    }

    /// The number of ranks.
    pub fn p(&self) -> usize {
        self.parent.len()
    }

    /// The root.
    pub fn root(&self) -> usize {
        self.root
    }

    /// The rank that `rank` sends to; none for the root.
    pub fn parent(&self, rank: usize) -> Option<usize> {
        (rank != self.root).then_some(self.parent[rank])
    }

    /// The ranks that `rank` receives from, in this order.
    pub fn children(&self, rank: usize) -> &[usize] {
        &self.children[rank]
    }

    /// After how many of its children `rank` copies its own block. Means nothing without children:
    /// a leaf sends from where its block is.
    pub fn copy(&self, rank: usize) -> usize {
        self.copy[rank]
    }

    /// The bytes of the subtree of `rank`: of the message to its parent; for the root of all.
    pub fn size(&self, rank: usize) -> u64 {
        self.size[rank]
    }

    /// The first and last rank of the subtree of `rank`, if it has all ranks in between.
    pub fn range(&self, rank: usize) -> Option<(usize, usize)> {
        let (first, last) = self.span[rank];
        (last - first + 1 == self.count[rank]).then_some((first, last))
    }

    /// Whether every subtree covers consecutive ranks.
    pub fn is_ordered(&self) -> bool {
        (0..self.p()).all(|rank| self.range(rank).is_some())
    }

    /// The edges of the longest path to the root.
    pub fn depth(&self) -> usize {
        let mut depth = vec![0; self.p()];
        for &rank in &self.downwards[1..] {
            depth[rank] = depth[self.parent[rank]] + 1;
        }
        depth.into_iter().max().unwrap_or(0)
    }

    /// The number of messages: of ranks other than the root whose subtree has any bytes.
    pub fn messages(&self) -> usize {
        let sends = |&rank: &usize| rank != self.root && self.size[rank] > 0;
        (0..self.p()).filter(sends).count()
    }

    /// The time at which the root has everything, if all ranks start at 0.
    pub fn completion(&self, cost: &Cost) -> u64 {
        self.ready(cost)[self.root]
    }

    /// The times at which the ranks have everything of their subtrees, if all start at 0.
    ///
    /// A rank waits for its children in their order. A message starts when both ends are ready
    /// for it and keeps both busy until it ends; so does the copy with the one rank it concerns.
    /// A leaf is ready at 0, and a single rank has nothing to do.
    pub fn ready(&self, cost: &Cost) -> Vec<u64> {
        let mut time = vec![0; self.p()];
        for &rank in self.downwards.iter().rev() {
            let children = &self.children[rank];
            if children.is_empty() {
                continue;
            }
            let (before, after) = children.split_at(self.copy[rank]);
            let gather = |start: u64, children: &[usize]| {
                children.iter().fold(start, |now, &child| {
                    now.max(time[child]) + cost.message(self.size[child])
                })
            };
            let copied = gather(0, before) + cost.copy(self.block[rank]);
            time[rank] = gather(copied, after);
        }
        time
    }
}
