//! The reduction of which all ranks have the result over two trees at a time, up and down them in the same rounds
//! ([`DualRoot`]).

#![forbid(unsafe_code)]

use super::{Group, Join, Script};
use crate::schedule::DualRoot;

/// Adds everything for an area of `n` blocks, all of them the vector.
///
/// In round j a rank gets block j from each child, which its whole subtree has joined, and sends block j to its parent.
/// With each of these messages goes one the other way, of a block that is reduced already: d blocks before at depth d.
/// The roots exchange their blocks j, and each of them joins both, what the lower ranks have on the left: so operands
/// keep their order, and all ranks have the same bits, however many blocks there are.
pub fn dual_root(script: &mut Script, group: &Group, n: u32) {
    if group.p < 2 {
        return;
    }
    let place = DualRoot::new(group.p, group.me);
    let above = group.rank(place.above);
    let join = match place.depth {
        0 if place.above < group.me => Join::Left,
        0 => Join::Right,
        _ => Join::Store,
    };
    let block = |round: u32, behind: u32| {
        let block = round.checked_sub(behind).filter(|&block| block < n);
        block.map(|block| block..block + 1)
    };
    for round in 0..=n + place.depth {
        for child in place.children.into_iter().flatten() {
            let child = group.rank(child);
            if let Some(reduced) = block(round, place.depth + 1) {
                script.send(child, reduced);
            }
            if let Some(operand) = block(round, 0) {
                script.receive(child, operand, Join::Left);
            }
        }
        if let Some(operand) = block(round, 0) {
            script.send(above, operand);
        }
        if let Some(reduced) = block(round, place.depth) {
            script.receive(above, reduced, join);
        }
    }
}
