//! Prefix reductions along one dimension of a grid after the other.

#![forbid(unsafe_code)]

use super::{Join, Prefix, Script};
use crate::schedule::Grid;
use std::ops::Range;

/// Vectors in the area: the result so far, that of all ranks of the part of the grid that is behind, that of the next
/// part, and what comes.
pub const GRID_PLACES: u32 = 4;

/// Adds a scan of `n` blocks among the first `p` ranks of a grid. The operands keep the order of ranks.
///
/// In a hypercube the two ranks of a pair exchange what they have, then those of two pairs, and so on; what comes from
/// below joins the result as well. In any grid it is the same with all ranks that differ in one digit. Ranks that agree
/// in all further digits are a *part* of the grid. What a part has is wanted only if there are ranks after it. So in
/// the last part of all, in which ranks may be missing, messages go upwards only.
///
/// What a rank sends is not what it joins others to: or ranks of a line could wait for each other to take what they
/// send.
pub fn grid_scan(script: &mut Script, grid: &Grid, (p, rank): (u32, u32), n: u32, prefix: Prefix) {
    // An exclusive result begins with nothing.
    let (result, mut all, mut next, came) = (0..n, n..2 * n, 2 * n..3 * n, 3 * n..4 * n);
    let mut is_empty = prefix == Prefix::Exclusive;
    script.fold(result.start, all.clone(), Join::Store);
    for dimension in grid.dimensions() {
        let digit = dimension.digit(rank);
        let first = rank - digit * dimension.stride;
        let others = |digits: Range<u32>| {
            let ranks = digits.map(|digit| first + digit * dimension.stride);
            ranks.take_while(|&other| other < p)
        };
        let (lower, higher) = (0..digit, digit + 1..dimension.size);
        let part = dimension.stride * dimension.size;
        let is_wanted = rank - rank % part + part < p;
        for other in others(higher.clone()) {
            script.send(other, all.clone());
        }
        if is_wanted {
            for other in others(lower.clone()) {
                script.send(other, all.clone());
            }
            script.fold(all.start, next.clone(), Join::Store);
        }
        // The nearest ones first.
        for digit in lower.rev() {
            let other = first + digit * dimension.stride;
            script.receive(other, came.clone(), Join::Store);
            let join = if is_empty { Join::Store } else { Join::Left };
            script.fold(came.start, result.clone(), join);
            is_empty = false;
            if is_wanted {
                script.fold(came.start, next.clone(), Join::Left);
            }
        }
        if is_wanted {
            for other in others(higher) {
                script.receive(other, next.clone(), Join::Right);
            }
            std::mem::swap(&mut all, &mut next);
        }
    }
    if !is_empty {
        script.result(result);
    }
}
