//! Two binary trees of the same ranks, of which each has half the blocks. What has children in one tree is a leaf in
//! the other, so every rank sends and receives as many bytes as there are (P. Sanders, J. Speck, J. L. Träff,
//! "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35(12), 2009; here as in
//! Träff's lecture on collective operations, "Two (pipelined) binary trees").
//!
//! Places 1 to N of a tree are numbered in order, and N is even: odd places are leaves, and each even place lies
//! between its two subtrees. The second tree is the first one read backwards. The root of the broadcast is above both.
//! If there is one rank too many, it stands between the root and the trees.
//!
//! Messages go in rounds. An edge has a *colour*, and carries messages in every other round. The edges by which a rank
//! receives have different colours, and so have those by which it sends. So all messages fit.

#![forbid(unsafe_code)]

/// The first rank, counted from the root, that has a place in the trees.
pub(super) fn base(p: u32) -> u32 {
    match p % 2 {
        0 => 2,
        _ => 1,
    }
}

/// The tree of so many places.
#[derive(Clone, Copy)]
struct OneTree(u32);

impl OneTree {
    fn top(self) -> u32 {
        1 << self.0.ilog2()
    }

    /// The place above another one, which is not the top.
    fn parent(self, place: u32) -> u32 {
        let height = place & place.wrapping_neg();
        match place & (height << 1) != 0 || place + height > self.0 {
            true => place - height,
            false => place + height,
        }
    }

    /// The places below another one.
    fn children(self, place: u32) -> impl Iterator<Item = u32> {
        let half = (place & place.wrapping_neg()) / 2;
        let low = (half > 0).then(|| place - half);
        let mut step = half;
        while step > 0 && place + step > self.0 {
            step /= 2;
        }
        let high = (step > 0).then(|| place + step);
        low.into_iter().chain(high)
    }

    /// The colour of the edge above a place: `EdgeColor` of the paper, for leaves by way of the other tree.
    fn colour(self, place: u32) -> u32 {
        let mut place = match place % 2 {
            0 => place,
            _ => self.0 + 1 - place,
        };
        let (top, mut colour) = (self.top(), 1);
        while place != top {
            let above = self.parent(place);
            colour ^= (self.0 / 2 % 2) ^ u32::from(above > place);
            place = above;
        }
        colour
    }

    /// In which round the first message comes over the edge above a place, if it comes over the one above the top in
    /// round `first`.
    fn round(self, place: u32, first: u32) -> u32 {
        let (mut place, mut rounds) = (place, first);
        let mut colour = self.colour(place);
        while place != self.top() {
            place = self.parent(place);
            let above = self.colour(place);
            rounds += 2 - (colour ^ above);
            colour = above;
        }
        rounds
    }

    /// Has the subtree of a place the last rank? In the second tree that is place 1.
    fn has_last(self, place: u32, tree: u32) -> bool {
        let height = place & place.wrapping_neg();
        match tree {
            0 => place + height > self.0,
            _ => place == height,
        }
    }
}

/// A neighbour of a rank; ranks are counted from the root.
pub(super) struct Neighbor {
    pub is_parent: bool,
    pub v: u32,
    pub tree: u32,
    /// In which round the first block goes over the edge between the two.
    pub round: u32,
    /// Has the subtree below this edge the last rank of all? The first one is above.
    pub is_outer: bool,
}

/// Calls `run` for all neighbours of rank `v` of `p`, counted from the root. In phases of two rounds parents, and
/// children, come in the order of rounds. O(log^2 p) time.
pub(super) fn neighbors(p: u32, v: u32, run: impl FnMut(Neighbor)) {
    let base = base(p);
    let mut edges: Vec<Neighbor> = Vec::new();
    let mut add = |is_parent, v, tree, round, is_outer| {
        edges.push(Neighbor {
            is_parent,
            v,
            tree,
            round,
            is_outer,
        });
    };
    let places = OneTree(p.saturating_sub(base));
    // Those above the trees.
    for tree in 0..2 {
        if base == 2 && v == 0 && p > 1 {
            add(false, 1, tree, tree, true);
        }
        if base == 2 && v == 1 {
            add(true, 0, tree, tree, true);
        }
    }
    if places.0 > 0 {
        for tree in 0..2 {
            let first = tree + base - 1;
            // The second tree is the first one backwards.
            let other = |place| match tree {
                0 => place,
                _ => places.0 + 1 - place,
            };
            let rank = |place| base - 1 + other(place);
            let mut below = |is_parent, peer, place| {
                let round = places.round(place, first);
                add(is_parent, peer, tree, round, places.has_last(place, tree));
            };
            if v + 1 == base {
                below(false, rank(places.top()), places.top());
            } else if v >= base {
                let place = other(v + 1 - base);
                let above = match place == places.top() {
                    true => base - 1,
                    false => rank(places.parent(place)),
                };
                below(true, above, place);
                for child in places.children(place) {
                    below(false, rank(child), child);
                }
            }
        }
    }
    edges.sort_by_key(|edge| (edge.round % 2, edge.round));
    edges.into_iter().for_each(run);
}
