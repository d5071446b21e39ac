//! The trees of gather and scatter, built as the words say: groups of all ranks, two and two of them
//! joined, round by round.

use rondo::topology::Topology;

/// Which of two neighbouring groups takes the other in, if the root is in neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The upper one.
    Upper,
    /// The one whose leader has more to receive, then the one whose leader has more itself, then the
    /// upper one.
    More,
}

/// A tree, and what it takes to find it.
pub struct Tree {
    pub parents: Vec<Option<u32>>,
    /// In each round, pairs of groups that join; and leaders that are not the last rank of their group.
    pub pairs: u64,
    pub others: u64,
}

#[derive(Clone, Copy)]
struct Group {
    leader: u32,
    /// The last rank, whether it is in the tree or not.
    last: u32,
    own: u64,
    total: u64,
}

/// The tree of those ranks that have a weight, with `root` on top.
pub fn tree(weights: &[Option<u64>], root: u32, rule: Rule) -> Tree {
    let mut tree = Tree {
        parents: vec![None; weights.len()],
        pairs: 0,
        others: 0,
    };
    let single = |(rank, weight): (u32, &Option<u64>)| {
        let own = (*weight)?;
        Some(Group {
            leader: rank,
            last: rank,
            own,
            total: own,
        })
    };
    let mut groups: Vec<Option<Group>> = (0..).zip(weights).map(single).collect();
    while groups.len() > 1 {
        let joined = groups.chunks(2).map(|pair| match *pair {
            [Some(lower), Some(upper)] => Some(tree.join(lower, upper, root, rule)),
            [lower, upper] => lower.or(upper),
            _ => pair[0],
        });
        groups = joined.collect();
    }
    tree
}

/// The tree of those ranks that have a weight on the nodes that have one: nodes by the upper ones, and
/// in each, one rank for the others: the root, or the first that there is.
pub fn tree_of_nodes(weights: &[Option<u64>], root: u32, nodes: &Topology) -> Tree {
    let ranks = || 0..weights.len() as u32;
    let first = |node| {
        let on_node = |rank: &u32| nodes.node(*rank) == node && weights[*rank as usize].is_some();
        match nodes.node(root) == node {
            true => Some(root),
            false => ranks().find(on_node),
        }
    };
    let firsts: Vec<Option<u32>> = (0..nodes.nodes()).map(first).collect();
    let of_nodes: Vec<_> = firsts.iter().map(|first| first.map(|_| 0)).collect();
    let over = tree(&of_nodes, nodes.node(root), Rule::Upper);
    let parent = |rank: u32| {
        weights[rank as usize]?;
        let node = nodes.node(rank) as usize;
        match firsts[node] {
            Some(first) if first == rank => {
                over.parents[node].and_then(|above| firsts[above as usize])
            }
            first => first,
        }
    };
    Tree {
        parents: ranks().map(parent).collect(),
        pairs: 0,
        others: 0,
    }
}

impl Tree {
    /// Two groups become one: the leader of one of them is the parent of the other's.
    fn join(&mut self, lower: Group, upper: Group, root: u32, rule: Rule) -> Group {
        let key = |group: &Group| (group.total - group.own, group.own);
        let up = match rule {
            _ if lower.leader == root => false,
            _ if upper.leader == root => true,
            Rule::Upper => true,
            Rule::More => key(&upper) >= key(&lower),
        };
        let other = |group: &Group| u64::from(group.leader != group.last);
        self.pairs += 1;
        self.others += other(&lower) + other(&upper);
        let (takes, sends) = if up { (upper, lower) } else { (lower, upper) };
        self.parents[sends.leader as usize] = Some(takes.leader);
        Group {
            last: upper.last,
            total: lower.total + upper.total,
            ..takes
        }
    }

    /// The ranks whose blocks each rank sends on, its own among them, ascending.
    pub fn below(&self) -> Vec<Vec<u32>> {
        let mut below = vec![vec![]; self.parents.len()];
        for rank in 0..self.parents.len() as u32 {
            let mut above = Some(rank);
            while let Some(at) = above {
                below[at as usize].push(rank);
                above = self.parents[at as usize];
            }
        }
        below
    }

    /// Edges from `rank` up to the root.
    pub fn depth(&self, rank: u32) -> u32 {
        let parent = self.parents[rank as usize];
        parent.map_or(0, |parent| 1 + self.depth(parent))
    }
}

/// Rounds of a binomial tree of `p` ranks: ceil(log2 p).
pub fn rounds(p: u32) -> u32 {
    (0..).find(|&q| 1u64 << q >= p.into()).unwrap()
}
