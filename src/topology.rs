//! Which ranks of a communicator share a node. Pure: any number of ranks on any number of nodes, in any
//! order.

#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::ffi::c_int;

/// So many ranks are looked for at a time, at the most.
const PIECE: usize = 64;

/// So many places beside another one are tried, at the least.
const NEAR: usize = 32;

/// The places that `p` ranks of one group have in another one of `size`; `None` if one of them has none.
///
/// `find` is MPI_Group_translate_ranks for ranks of the one group, and these places of the other, or all: for each rank
/// which of these places it has, negative if it is not there. Open MPI looks for each rank from the beginning: p^2 / 2
/// steps for a duplicate of a communicator. But mostly the places of some ranks tell those of the next ones, as where
/// ranks are in reverse, go from node to node, or are those of a grid in another order; so they are looked for there
/// first, in few steps for each. In a small group all are looked for at once.
pub fn translate<E>(
    p: u32,
    size: u32,
    mut find: impl FnMut(&[c_int], Option<&[c_int]>) -> Result<Vec<c_int>, E>,
) -> Result<Option<Vec<u32>>, E> {
    if p as usize <= PIECE && size as usize <= PIECE {
        let all: Vec<c_int> = (0..p as c_int).collect();
        let places = find(&all, None)?
            .into_iter()
            .map(|place| u32::try_from(place).ok());
        return Ok(places.collect());
    }
    let mut trail = Trail::new(p, size);
    let mut ahead = 1;
    while trail.places.len() < p as usize {
        let first = trail.places.len();
        let ranks: Vec<c_int> = (first..(first + ahead).min(p as usize))
            .map(|rank| rank as c_int)
            .collect();
        let likely = trail.likely(ranks.len());
        let found = match likely.is_empty() {
            true => Vec::new(),
            false => find(&ranks, Some(&likely))?,
        };
        let mut hits = 0;
        for place in found {
            let Ok(place) = usize::try_from(place) else {
                break;
            };
            trail.push(likely[place] as u32);
            hits += 1;
        }
        if hits == 0 {
            let place = find(&ranks[..1], None)?[0];
            match u32::try_from(place) {
                Ok(place) => trail.push(place),
                Err(_) => return Ok(None),
            }
        }
        ahead = (2 * hits).clamp(1, PIECE);
    }
    Ok(Some(trail.places))
}

/// The places that were found. They are taken for runs of one stride.
struct Trail {
    places: Vec<u32>,
    /// Of each place, whether a rank has it.
    taken: Vec<bool>,
    stride: i64,
    /// Where the last run and the one before it begin.
    starts: [i64; 2],
    /// Places of the last run.
    run: usize,
}

impl Trail {
    fn new(p: u32, size: u32) -> Trail {
        Trail {
            places: Vec::with_capacity(p as usize),
            taken: vec![false; size as usize],
            stride: 1,
            starts: [0; 2],
            run: 0,
        }
    }

    fn push(&mut self, place: u32) {
        let now = i64::from(place);
        match self.places.last().map(|&last| now - i64::from(last)) {
            Some(step) if step == self.stride => self.run += 1,
            // The last one was no run of the old stride.
            Some(step) if self.run == 1 => (self.stride, self.run) = (step, 2),
            Some(_) | None => (self.starts, self.run) = ([now, self.starts[0]], 1),
        }
        self.places.push(place);
        self.taken[place as usize] = true;
    }

    /// Where the next so many ranks may be. No place comes twice.
    fn likely(&mut self, ranks: usize) -> Vec<c_int> {
        let Some(last) = self.places.last().map(|&last| i64::from(last)) else {
            return (0..self.taken.len().min(NEAR) as c_int).collect();
        };
        let [start, before] = self.starts;
        let tail = self.places.len().saturating_sub(PIECE);
        let tail: Vec<i64> = self.places[tail..].iter().copied().map(i64::from).collect();
        let (ranks, near) = (ranks as i64, NEAR as i64);
        let around = near.max(2 * ranks);
        let candidates = (1..=ranks)
            .map(|i| last + i * self.stride)
            .chain([start + (start - before)])
            .chain(tail.into_iter().map(|place| place + 1))
            .chain((1..=near).map(|i| start + i))
            .chain((1..=around).map(|i| last + i))
            .chain((1..=around).map(|i| last - i))
            .chain((1..=near).map(|i| start - i));
        let mut likely = Vec::new();
        for place in candidates {
            let index = usize::try_from(place);
            if let Some(taken) = index.ok().and_then(|index| self.taken.get_mut(index))
                && !*taken
            {
                *taken = true; // until the list is complete
                likely.push(place as c_int);
            }
        }
        for &place in &likely {
            self.taken[place as usize] = false;
        }
        likely
    }
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
