//! The tree by which gather and scatter go, over ranks that are all alike or over nodes of ranks.

#![forbid(unsafe_code)]

use super::Groups;
use crate::topology::Topology;
use std::ops::Range;

/// A tree of ranks in which what is below a rank is a range of *places*.
///
/// Without nodes, a rank has its own number as its place, and the tree is that of [`Groups`]. With nodes,
/// places are those of the topology; groups are of nodes, for each of which one rank speaks, and the
/// others of its node are children of this one. So nothing goes from one node to another that is not for
/// a whole group of nodes: each takes part in one message up, and in one down.
#[derive(Clone, Copy, Debug)]
pub struct Hierarchy<'a> {
    /// Of ranks, or of nodes.
    groups: Groups,
    root: u32,
    nodes: Option<&'a Topology>,
}

impl<'a> Hierarchy<'a> {
    /// The tree of `p` > `root` ranks that are all alike.
    pub fn of_ranks(p: u32, root: u32) -> Hierarchy<'static> {
        Hierarchy {
            groups: Groups::new(p, root),
            root,
            nodes: None,
        }
    }

    /// The tree of the ranks on these nodes, of which `root` is one.
    pub fn of_nodes(nodes: &'a Topology, root: u32) -> Hierarchy<'a> {
        assert!(
            root < nodes.p(),
            "there is no root {root} of {} ranks",
            nodes.p()
        );
        Hierarchy {
            groups: Groups::new(nodes.nodes(), nodes.node(root)),
            root,
            nodes: Some(nodes),
        }
    }

    /// The place of `rank`.
    pub fn place(&self, rank: u32) -> u32 {
        self.nodes.map_or(rank, |nodes| nodes.place(rank))
    }

    /// The rank at `place`.
    pub fn rank(&self, place: u32) -> u32 {
        self.nodes.map_or(place, |nodes| nodes.rank(place))
    }

    /// The places that share a node with `place`, itself among them.
    pub fn home(&self, place: u32) -> Range<u32> {
        let node = self.nodes.map_or(place, |nodes| nodes.node_of_place(place));
        self.places(node..node + 1)
    }

    /// What `rank` is a part of in the groups: its node, or itself.
    fn member(&self, rank: u32) -> u32 {
        self.nodes.map_or(rank, |nodes| nodes.node(rank))
    }

    /// The rank that speaks for a member of the groups.
    fn leader(&self, member: u32) -> u32 {
        self.nodes
            .map_or(member, |nodes| nodes.leader(member, self.root))
    }

    fn places(&self, members: Range<u32>) -> Range<u32> {
        match self.nodes {
            Some(nodes) => nodes.start(members.start)..nodes.start(members.end),
            None => members,
        }
    }

    /// The children of `rank` with the places below each: those of its node in the order of their places,
    /// then those that speak for others in the order of rounds.
    pub fn children(&self, rank: u32) -> impl Iterator<Item = (u32, Range<u32>)> + use<'a> {
        let (tree, own, member) = (*self, self.place(rank), self.member(rank));
        let leads = self.leader(member) == rank;
        let locals = self.home(own).filter(move |place| leads && *place != own);
        let others = self.groups.children(member).filter(move |_| leads);
        let local = move |place| (tree.rank(place), place..place + 1);
        let other = move |(member, group)| (tree.leader(member), tree.places(group));
        locals.map(local).chain(others.map(other))
    }

    /// The parent of `rank`; `None` for the root.
    pub fn parent(&self, rank: u32) -> Option<u32> {
        let member = self.member(rank);
        match self.leader(member) {
            leader if leader == rank => self.groups.parent(member).map(|above| self.leader(above)),
            leader => Some(leader),
        }
    }

    /// Into how many parts all places fall around that of `rank`: the others of its node, and a group for
    /// each round.
    pub fn parts(&self, rank: u32) -> u32 {
        self.home(self.place(rank)).len() as u32 - 1 + self.groups.rounds()
    }

    /// Places of part `part` as `rank` sees it: with nodes, those of other places of its node come first,
    /// one each; then, by rounds, the groups that join with its own. Some may be empty.
    pub fn part(&self, part: u32, rank: u32) -> Range<u32> {
        let own = self.place(rank);
        let home = self.home(own);
        match part.checked_sub(home.len() as u32 - 1) {
            Some(round) => self.places(self.groups.sibling(round, self.member(rank))),
            None => {
                let place = home.start + part;
                let place = place + u32::from(place >= own);
                place..place + 1
            }
        }
    }
}
