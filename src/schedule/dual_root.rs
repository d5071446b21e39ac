//! Two binary trees, each of half of the ranks, whose roots exchange what they have (J. L. Träff, "A doubly-pipelined,
//! dual-root reduction-to-all algorithm and implementation", arXiv 2109.12626).
//!
//! Ranks are numbered in post-order: a root comes after both its subtrees, and subtrees have consecutive ranks. So the
//! lower subtree, the higher one and the root have operands in the order of ranks, and the two trees as well.

#![forbid(unsafe_code)]

use super::Pace;

/// Where a rank stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DualRoot {
    /// Ranks above it in its tree.
    pub depth: u32,
    /// Its parent, or of a root, the other root.
    pub above: u32,
    /// Its children, the one with the higher ranks first.
    pub children: [Option<u32>; 2],
}

impl DualRoot {
    /// The place of `rank` among `p` ranks, two or more. O(log p) time.
    pub fn new(p: u32, rank: u32) -> DualRoot {
        let half = p.div_ceil(2);
        let (mut ranks, mut above) = match rank < half {
            true => (0..half, p - 1),
            false => (half..p, half - 1),
        };
        let mut depth = 0;
        loop {
            let root = ranks.end - 1;
            let middle = ranks.start + (root - ranks.start) / 2;
            let below = [middle..root, ranks.start..middle];
            if rank == root {
                let root = |ranks: std::ops::Range<u32>| (!ranks.is_empty()).then(|| ranks.end - 1);
                return DualRoot {
                    depth,
                    above,
                    children: below.map(root),
                };
            }
            let [high, low] = below;
            ranks = if rank < middle { low } else { high };
            (depth, above) = (depth + 1, root);
        }
    }

    /// How fast a reduction to all of `p` ranks is that goes up and down at the same time: a rank exchanges a block
    /// with each of its children, and with its parent, in turn.
    pub fn pace(p: u32) -> Pace {
        let half = p.div_ceil(2);
        let depth = half.max(1).ilog2();
        let children = (half.max(1) - 1).min(2);
        match p {
            0 | 1 => Pace::ALONE,
            _ => Pace {
                first: 2 * depth * children + 1,
                every: children + 1,
                latencies: 2 * depth + 1,
            },
        }
    }
}
