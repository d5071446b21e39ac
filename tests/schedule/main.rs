//! The schedules against their conditions, published tables, and a broadcast played out block by block.
//!
//! Every p counts. Several plausible mistakes give right schedules for all p up to 32 and wrong ones for one p in ten
//! above, or from 81 on, so the loops here go far beyond.

mod blocks;
mod conditions;
mod grid;
mod hypercube;
mod moves;
mod parts;
mod postal;
mod rounds;
mod tables;
mod trees;

use rondo::schedule::Circulant;

/// The receive schedule of `v`.
fn recv(graph: &Circulant, v: u32) -> Vec<i8> {
    let mut out = vec![0; graph.q()];
    graph.recv(v, &mut out);
    out
}

/// The send schedule of `v`.
fn send(graph: &Circulant, v: u32) -> Vec<i8> {
    let mut out = vec![0; graph.q()];
    graph.send(v, &mut out);
    out
}

/// The schedules of all ranks, one row for each.
fn rows(graph: &Circulant, of: impl Fn(&Circulant, u32) -> Vec<i8>) -> Vec<Vec<i8>> {
    (0..graph.p()).map(|v| of(graph, v)).collect()
}

/// The rank at distance `skip[k]` in the direction of sending.
fn to(graph: &Circulant, v: u32, k: usize) -> u32 {
    (v + graph.skips()[k]) % graph.p()
}

/// The rank at distance `skip[k]` in the direction of receiving.
fn from(graph: &Circulant, v: u32, k: usize) -> u32 {
    (v + graph.p() - graph.skips()[k]) % graph.p()
}

/// Some ranks of a graph too large to try them all: those next to skips, where parts of the ring
/// meet, and `more` from anywhere.
fn some_ranks(graph: &Circulant, more: u32) -> Vec<u32> {
    let p = i64::from(graph.p());
    let near_skips = graph.skips().iter().flat_map(|&skip| {
        [-1, 0, 1]
            .into_iter()
            .flat_map(move |d| [i64::from(skip) + d, p - i64::from(skip) + d])
    });
    // A multiplicative sequence: the same in every run, without pattern in the schedules.
    let anywhere = (1..=u64::from(more)).map(|i| (i * 0x9e37_79b9 % p as u64) as i64);
    near_skips
        .chain(anywhere)
        .map(|v| v.rem_euclid(p) as u32)
        .collect()
}

/// Numbers of ranks where halving goes differently from one p to the next: about powers of two and
/// about numbers with regular patterns of bits, from 2^12 up to the most that MPI can number.
fn large_ps() -> Vec<u32> {
    let powers = (12..=20).flat_map(|e| (1 << e) - 3..=(1 << e) + 8);
    let patterns = [
        699_050, 699_051, 699_052, 699_053, 786_431, 786_432, 786_433, 786_435,
    ];
    let largest = [
        (1 << 30) - 1,
        1 << 30,
        (1 << 30) + 1,
        i32::MAX as u32 - 1,
        i32::MAX as u32,
    ];
    powers.chain(patterns).chain(largest).collect()
}
