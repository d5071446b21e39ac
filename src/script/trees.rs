//! Reduction to a root: the broadcast down a tree ([`crate::schedule::trees`]), backwards.
//!
//! What a rank receives in a round of the broadcast it sends in the reversed one, and the other way round, so the last
//! block is the first to be reduced. A rank joins what lower ranks have on the left and what higher ranks have on the
//! right, those next to it first: so operands keep the order of ranks, counted from where the tree begins to count.

#![forbid(unsafe_code)]

use super::{Join, Script};
use crate::schedule::{Kin, TreeNeighbors};

/// Adds the reduction of all blocks of the area to the root of the tree.
pub fn reduce_tree(script: &mut Script, family: &TreeNeighbors) {
    let n = script.cut().blocks();
    for (phase, kin, edge) in family.up(n) {
        let block = family.block(edge, phase);
        if block >= n {
            continue;
        }
        match kin {
            Kin::Parent => script.send(edge.peer, block..block + 1),
            Kin::Child => {
                let join = match edge.is_lower {
                    true => Join::Left,
                    false => Join::Right,
                };
                script.receive(edge.peer, block..block + 1, join);
            }
        }
    }
}

/// Adds the broadcast of all blocks of the area down the tree, the last block first: behind [`reduce_tree`] all ranks
/// have the result (J. L. Träff, lecture on collective operations, "Both phases can be pipelined").
pub fn broadcast_tree(script: &mut Script, family: &TreeNeighbors) {
    let n = script.cut().blocks();
    for (phase, kin, edge) in family.down(n) {
        let block = family.block(edge, phase);
        if block >= n {
            continue;
        }
        let block = n - 1 - block;
        match kin {
            Kin::Parent => script.receive(edge.peer, block..block + 1, Join::Store),
            Kin::Child => script.send(edge.peer, block..block + 1),
        }
    }
}

/// Adds that all blocks of the area go from one rank to another one, which has the result in the end.
pub fn hand_over(script: &mut Script, rank: u32, from: u32, to: u32) {
    let blocks = 0..script.cut().blocks();
    if from == to {
        return;
    }
    if rank == from {
        script.send(to, blocks);
    } else if rank == to {
        script.receive(from, blocks, Join::Store);
    }
}
