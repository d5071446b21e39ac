//! Reductions of which every rank has the result, by what every rank knows of the ranks before it: whole vectors in
//! ceil(log2 p) rounds. The operands come in another order on each rank, so the operator must be exact: the same
//! result, to the last bit, in every order.

#![forbid(unsafe_code)]

use super::{Group, Join, Script};
use crate::schedule::Circulant;

/// Is the sum without the own vector sent in round `k`? It is where the next sum is of an odd number of ranks.
fn sends_others(skips: &[u32], k: usize) -> bool {
    2 * skips[k] > skips[k + 1]
}

/// How many vectors the area of [`census`] has: one among 2^k ranks, else three.
pub fn census_places(p: u32) -> u32 {
    match p.is_power_of_two() {
        true => 1,
        false => 3,
    }
}

/// Adds a census in ceil(log2 p) rounds, in which every operand comes once (A. Bar-Noy, S. Kipnis, B. Schieber, "An
/// optimal algorithm for computing census functions in message-passing systems", Parallel Processing Letters 3(1),
/// 1993; with the skips of the circulant graph, Träff, arXiv 2205.10072, algorithm 8).
///
/// Before the round of skip s, a rank knows the sum of s ranks, itself the last one, and that of all of these but
/// itself. If twice as many are wanted, it gets the first sum of the rank s before it, and if one less than that, the
/// second sum of the rank s - 1 before it.
///
/// The area has `n` blocks for each of its vectors: the first sum, and unless p is a power of two the second one, and
/// what has come.
pub fn census(script: &mut Script, group: &Group, n: u32) {
    let graph = Circulant::new(group.p);
    let (skips, q) = (graph.skips(), graph.q());
    let (whole, others, come) = (0..n, n..2 * n, 2 * n..3 * n);
    for k in 0..q {
        let (blocks, distance) = match sends_others(skips, k) {
            true => (others.clone(), skips[k] - 1),
            false => (whole.clone(), skips[k]),
        };
        script.send(group.after(distance), blocks);
        let from = group.before(distance);
        // The second sum is kept for as long as it will be sent.
        if !(k + 1..q).any(|k| sends_others(skips, k)) {
            script.receive(from, whole.clone(), Join::Left);
            continue;
        }
        let join = match k {
            0 => Join::Store,
            _ => Join::Left,
        };
        script.receive(from, come.clone(), Join::Store);
        script.fold(come.start, others.clone(), join);
        script.fold(come.start, whole.clone(), Join::Left);
    }
    if census_places(group.p) > 1 {
        script.result(whole);
    }
}

/// Adds a reduction in which every rank's sum is that of twice as many ranks after each round, itself the last one (D.
/// Hensgen, R. Finkel, U. Manber, International Journal of Parallel Programming 17(1), 1988, have these rounds for a
/// barrier). In the last one some operands come for the second time, unless p is a power of two: the operator must be
/// idempotent. The area has `n` blocks.
pub fn disseminate(script: &mut Script, group: &Group, n: u32) {
    let mut distance = 1;
    while distance < group.p {
        script.send(group.after(distance), 0..n);
        script.receive(group.before(distance), 0..n, Join::Left);
        distance = distance.saturating_mul(2);
    }
}
