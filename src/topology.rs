//! Which ranks of a communicator share a node. Pure: any number of ranks on any number of nodes, in any
//! order.

#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::ffi::c_int;
use std::ops::Range;

/// Ranks are translated in groups of this size, each looked for first in a range of twice the size.
const PIECE: u32 = 128;

/// The places that `p` ranks of one group have in another one of `size`; `None` if one of them has none.
///
/// `find` is MPI_Group_translate_ranks for ranks of the one group, and these ranks of the other: for each the place
/// behind the first of these, negative if it is not there. Open MPI looks for each rank from the beginning: p^2 / 2
/// steps for a duplicate of a communicator. But most ranks are shortly after the one before them, so they are looked
/// for there first.
pub fn translate<E>(
    p: u32,
    size: u32,
    mut find: impl FnMut(&[c_int], Range<u32>) -> Result<Vec<c_int>, E>,
) -> Result<Option<Vec<u32>>, E> {
    let mut places: Vec<u32> = Vec::with_capacity(p as usize);
    for first in (0..p).step_by(PIECE as usize) {
        let ranks: Vec<c_int> = (first..p.min(first + PIECE))
            .map(|rank| rank as c_int)
            .collect();
        let begin = places.last().map_or(0, |&place| (place + 1) % size);
        let near = find(&ranks, begin..size.min(begin + 2 * PIECE))?;
        let is_far = |(&rank, &place): (&c_int, &c_int)| (place < 0).then_some(rank);
        let far: Vec<c_int> = ranks.iter().zip(&near).filter_map(is_far).collect();
        let mut found = match far.is_empty() {
            true => Vec::new(),
            false => find(&far, 0..size)?,
        }
        .into_iter();
        for place in near {
            let place = match u32::try_from(place) {
                Ok(place) => Some(begin + place),
                Err(_) => found.next().and_then(|place| u32::try_from(place).ok()),
            };
            match place {
                Some(place) => places.push(place),
                None => return Ok(None),
            }
        }
    }
    Ok(Some(places))
}

/// The nodes of p ranks.
///
/// Nodes are numbered in the order of their lowest ranks. The *place* of a rank is its position when ranks
/// are sorted by node and then by rank: the ranks of a node, and those of neighbouring nodes, have
/// consecutive places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// The ranks in the order of their places.
    ranks: Vec<u32>,
    /// The node of each rank.
    nodes: Vec<u32>,
    /// The place of each rank.
    places: Vec<u32>,
    /// The first place of each node, and at the end p.
    starts: Vec<u32>,
    widest: u32,
    narrowest: u32,
}

impl Topology {
    /// The topology of ranks on the nodes with these names: ranks with equal names share a node.
    pub fn new(names: &[u64]) -> Topology {
        let mut numbers = HashMap::new();
        let nodes: Vec<u32> = names
            .iter()
            .map(|name| {
                let next = numbers.len() as u32;
                *numbers.entry(name).or_insert(next)
            })
            .collect();
        let mut starts = vec![0; numbers.len() + 1];
        for &node in &nodes {
            starts[node as usize + 1] += 1;
        }
        let widest = starts[1..].iter().max().copied().unwrap_or(0);
        let narrowest = starts[1..].iter().min().copied().unwrap_or(0);
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        let mut free = starts.clone();
        let (mut ranks, mut places) = (vec![0; nodes.len()], vec![0; nodes.len()]);
        for (rank, &node) in nodes.iter().enumerate() {
            let place = &mut free[node as usize];
            places[rank] = *place;
            ranks[*place as usize] = rank as u32;
            *place += 1;
        }
        Topology {
            ranks,
            nodes,
            places,
            starts,
            widest,
            narrowest,
        }
    }

    /// Number of ranks.
    pub fn p(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.starts.len().saturating_sub(1) as u32
    }

    /// Ranks of the node that has most.
    pub fn widest(&self) -> u32 {
        self.widest
    }

    /// Ranks of the node that has least.
    pub fn narrowest(&self) -> u32 {
        self.narrowest
    }

    /// The node of `rank`.
    pub fn node(&self, rank: u32) -> u32 {
        self.nodes[rank as usize]
    }

    /// The place of `rank`.
    pub fn place(&self, rank: u32) -> u32 {
        self.places[rank as usize]
    }

    /// The rank at `place`.
    pub fn rank(&self, place: u32) -> u32 {
        self.ranks[place as usize]
    }

    /// The first place of `node`; p for the number of nodes.
    pub fn start(&self, node: u32) -> u32 {
        self.starts[node as usize]
    }

    /// The node of `place`.
    pub fn node_of_place(&self, place: u32) -> u32 {
        self.node(self.rank(place))
    }

    /// The ranks of `node`, ascending.
    pub fn locals(&self, node: u32) -> &[u32] {
        let [start, end] = [node, node + 1].map(|node| self.start(node) as usize);
        &self.ranks[start..end]
    }

    /// The number of `rank` among those of its node, in ascending order from 0.
    pub fn local(&self, rank: u32) -> u32 {
        self.place(rank) - self.start(self.node(rank))
    }

    /// The rank that speaks for `node` in a collective: `root` for its own node, the lowest one for
    /// others.
    pub fn leader(&self, node: u32, root: u32) -> u32 {
        if self.node(root) == node {
            root
        } else {
            self.locals(node)[0]
        }
    }

    /// The leaders of all nodes.
    pub fn leaders(&self, root: u32) -> Vec<u32> {
        let leader = |node| self.leader(node, root);
        (0..self.nodes()).map(leader).collect()
    }

    /// The rank that leads `lane` on `node`: the leader for lane 0, the ranks after it for others.
    pub fn lane_leader(&self, node: u32, root: u32, lane: u32) -> u32 {
        let locals = self.locals(node);
        let first = self.local(self.leader(node, root));
        locals[((first + lane) % locals.len() as u32) as usize]
    }

    /// Are the ranks in the order of their nodes, so that each has its own number as its place?
    pub fn is_sorted(&self) -> bool {
        (0..).zip(&self.ranks).all(|(place, &rank)| place == rank)
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let vectors = [&self.ranks, &self.nodes, &self.places, &self.starts];
        vectors
            .iter()
            .map(|v| v.capacity() * size_of::<u32>())
            .sum()
    }
}
