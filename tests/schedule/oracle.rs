//! The schedules in O(log^3 p), as arXiv 2205.10072 declares them: by sets of baseblocks.
//!
//! Shares nothing with the library but the graph: skips, homes and baseblocks, which have tests of
//! their own. Two points that algorithm 4 of the paper leaves open are settled by its tables: the
//! blocks already used begin with the rank's own baseblock, and the root contributes no block.

use rondo::schedule::Circulant;

use super::{large_ps, recv, rows, send, some_ranks, to};

/// A set of blocks, bit b for block b.
type Set = u32;

/// The baseblocks of the ranks 1 to `last`: as far as the home of the last one, all of them.
fn of_prefix(graph: &Circulant, last: u32) -> Set {
    if last == 0 {
        0
    } else {
        (2 << graph.home(last)) - 1
    }
}

/// The baseblocks of the ranks `first` to `last`, 0 < first (algorithm 3, without its special
/// cases): ranks with one home repeat the ranks from 0, so an interval can be moved down by a skip.
fn of_interval(graph: &Circulant, first: u32, last: u32) -> Set {
    if first > last {
        return 0;
    }
    let skip = graph.skips();
    let (home, end) = (graph.home(first), graph.home(last));
    // The skip itself stands for the root: it brings the block of its own index.
    let from_skip = |k: usize, last: u32| 1 << k | of_prefix(graph, last - skip[k]);
    if home < end {
        let tail = of_interval(graph, first, skip[home + 1] - 1);
        let full = (home + 1..end).fold(0, |set, k| set | from_skip(k, skip[k + 1] - 1));
        return tail | full | from_skip(end, last);
    }
    if first == skip[home] {
        return from_skip(home, last);
    }
    of_interval(graph, first - skip[home], last - skip[home])
}

/// The baseblocks of the ranks `first` to `last` going around the ring, less than once.
fn of_ring(graph: &Circulant, first: i64, last: i64) -> Set {
    if first > last {
        return 0;
    }
    let p = i64::from(graph.p());
    let (a, b) = (first.rem_euclid(p) as u32, last.rem_euclid(p) as u32);
    if last - first + 1 >= p {
        of_interval(graph, 1, graph.p() - 1)
    } else if a <= b {
        of_interval(graph, a.max(1), b)
    } else {
        of_interval(graph, a, graph.p() - 1) | of_prefix(graph, b)
    }
}

/// The receive schedule of `v` (algorithm 4).
fn recv_declared(graph: &Circulant, v: u32) -> Vec<i8> {
    let (q, skip, here) = (graph.q(), graph.skips(), i64::from(v));
    let back = |distance: u32| here - i64::from(distance);
    let mut used: Set = if v == 0 { 0 } else { 1 << graph.baseblock(v) };
    let mut reach = 0;
    let mut out = Vec::new();
    for k in 0..q {
        reach += i64::from(skip[k]);
        if v > 0 && k == graph.home(v) {
            out.push(graph.baseblock(v) as i8);
            continue;
        }
        let new = if k == 0 {
            1 << graph.baseblock((v + graph.p() - 1) % graph.p())
        } else if k < q - 1 {
            // What arrived behind the sender of the next round, else what can have come from
            // farther away.
            let near = of_ring(graph, back(skip[k + 1]) + 1, back(skip[k])) & !used;
            let far = of_ring(graph, here - reach, back(skip[k + 1])) & !used;
            if near != 0 { near } else { far }
        } else {
            // The one block that is left.
            ((1 << q) - 1) & !used
        };
        let block = new.ilog2();
        used |= 1 << block;
        out.push(block as i8 - q as i8);
    }
    out
}

#[test]
fn its_sets_of_baseblocks_are_those_met_by_walking_the_ring() {
    for p in 2..=70 {
        let graph = Circulant::new(p);
        for first in -i64::from(p)..i64::from(p) {
            let mut met = 0;
            for last in first..first + i64::from(p) {
                let v = last.rem_euclid(i64::from(p)) as u32;
                met |= if v == 0 { 0 } else { 1 << graph.baseblock(v) };
                assert_eq!(
                    of_ring(&graph, first, last),
                    met,
                    "ranks {first} to {last} of {p}"
                );
            }
        }
    }
}

#[test]
fn agrees_on_what_every_rank_receives_for_every_p_to_700() {
    for p in 1..=700 {
        let graph = Circulant::new(p);
        assert_eq!(rows(&graph, recv), rows(&graph, recv_declared), "p = {p}");
    }
}

#[test]
fn agrees_on_what_every_rank_sends_for_every_p_to_700() {
    for p in 1..=700 {
        let graph = Circulant::new(p);
        let declared = rows(&graph, recv_declared);
        for v in 0..p {
            let sent = (0..graph.q()).map(|k| declared[to(&graph, v, k) as usize][k]);
            assert_eq!(
                send(&graph, v),
                sent.collect::<Vec<i8>>(),
                "rank {v} of {p}"
            );
        }
    }
}

#[test]
fn agrees_on_some_ranks_of_large_p() {
    for p in large_ps() {
        let graph = Circulant::new(p);
        for v in some_ranks(&graph, 100) {
            assert_eq!(
                recv(&graph, v),
                recv_declared(&graph, v),
                "receiving, {v} of {p}"
            );
            let sent = (0..graph.q()).map(|k| recv_declared(&graph, to(&graph, v, k))[k]);
            assert_eq!(
                send(&graph, v),
                sent.collect::<Vec<i8>>(),
                "sending, {v} of {p}"
            );
        }
    }
}
