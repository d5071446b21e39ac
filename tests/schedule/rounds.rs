//! Rounds, phases and capping, alone and in a broadcast played out over sets of blocks.

use rondo::schedule::{Circulant, Rounds};

use super::{recv, rows, send, to};

/// All ranks of one graph, to broadcast messages of any number of blocks.
struct Ring {
    graph: Circulant,
    recv: Vec<Vec<i8>>,
    send: Vec<Vec<i8>>,
}

impl Ring {
    fn new(p: u32) -> Ring {
        let graph = Circulant::new(p);
        Ring {
            graph,
            recv: rows(&graph, recv),
            send: rows(&graph, send),
        }
    }

    /// Plays all rounds of a broadcast of `n` blocks from rank 0. In a round everyone sends from
    /// what it had before the round.
    fn broadcast(&self, n: u32) {
        let (p, q) = (self.graph.p(), self.graph.q());
        let rounds = Rounds::new(q, n);
        let mut has = vec![vec![false; n as usize]; p as usize];
        has[0].fill(true);
        let mut played = 0;
        for (round, k, phase) in rounds.iter() {
            let at = format!("p = {p}, n = {n}, round {round}");
            let mut moved = Vec::new();
            for v in 0..p {
                let target = to(&self.graph, v, k);
                if target == 0 {
                    continue;
                }
                let sent = rounds.block(self.send[v as usize][k], k, phase);
                let expected = rounds.block(self.recv[target as usize][k], k, phase);
                assert_eq!(
                    sent, expected,
                    "{at}: {v} and {target} name different blocks"
                );
                if let Some(block) = sent {
                    assert!(
                        has[v as usize][block as usize],
                        "{at}: {v} has no block {block} yet"
                    );
                    moved.push((target, block));
                }
            }
            for (target, block) in moved {
                let had = std::mem::replace(&mut has[target as usize][block as usize], true);
                assert!(!had, "{at}: {target} receives block {block} twice");
            }
            played += 1;
        }
        assert_eq!(
            played,
            u64::from(n) - 1 + q as u64,
            "rounds, p = {p}, n = {n}"
        );
        for (v, blocks) in has.iter().enumerate() {
            assert!(
                blocks.iter().all(|&has| has),
                "p = {p}, n = {n}: {v} lacks blocks"
            );
        }
    }
}

#[test]
fn every_block_reaches_every_rank_once_in_optimal_time_for_every_p_to_70() {
    for p in 2..=70 {
        let ring = Ring::new(p);
        let q = ring.graph.q() as u32;
        // Three phases have every x, twice over.
        for n in (1..=3 * q + 2).chain([50, 100, 257]) {
            ring.broadcast(n);
        }
    }
}

#[test]
fn every_block_reaches_every_rank_once_in_optimal_time_for_treacherous_p() {
    for p in [
        73, 81, 97, 100, 127, 128, 129, 161, 162, 163, 165, 255, 256, 257, 576, 1152, 1153,
    ] {
        let ring = Ring::new(p);
        for n in [1, 2, 3, 5, 8, 13, 21, 34, 100] {
            ring.broadcast(n);
        }
    }
}

#[test]
fn a_single_rank_has_no_rounds() {
    for n in [1, 2, 100] {
        let rounds = Rounds::new(0, n);
        assert_eq!((rounds.count(), rounds.first(), rounds.phases()), (0, 0, 0));
        assert_eq!(rounds.iter().count(), 0);
        assert_eq!(rounds.blocks(), n);
    }
}

#[test]
fn one_block_takes_one_phase_without_empty_rounds() {
    for q in 1..=31 {
        let rounds = Rounds::new(q, 1);
        assert_eq!(
            (rounds.count(), rounds.first(), rounds.phases()),
            (q as u64, 0, 1)
        );
        // Only blocks of the current phase move, and all of them are the one block.
        let last = q - 1;
        assert_eq!(rounds.block(-1, last, 0), None);
        assert_eq!(rounds.block(0, last, 0), Some(0));
        assert_eq!(rounds.block(last as i8, last, 0), Some(0));
    }
}

#[test]
fn rounds_fill_whole_phases_from_the_first_on() {
    for q in 1..=31 {
        for n in 1..=100 {
            let rounds = Rounds::new(q, n);
            let all: Vec<(u64, usize, u32)> = rounds.iter().collect();
            assert!(
                rounds.first() < q as u64,
                "less than a phase is empty, q = {q}, n = {n}"
            );
            assert_eq!(all.len() as u64, rounds.count(), "q = {q}, n = {n}");
            assert_eq!(all[0].0, rounds.first(), "q = {q}, n = {n}");
            for (i, (round, k, phase)) in all.into_iter().enumerate() {
                assert_eq!(round, rounds.first() + i as u64);
                assert_eq!(round, u64::from(phase) * q as u64 + k as u64);
            }
            let end = rounds.first() + rounds.count();
            assert_eq!(
                end,
                u64::from(rounds.phases()) * q as u64,
                "q = {q}, n = {n}"
            );
        }
    }
}

#[test]
fn the_largest_numbers_do_not_overflow() {
    for n in [(1 << 31) - 1, 1 << 31, u32::MAX] {
        for q in [1, 2, 30, 31] {
            let rounds = Rounds::new(q, n);
            let last = rounds.phases() - 1;
            assert_eq!(rounds.count(), u64::from(n) - 1 + q as u64);
            assert_eq!((rounds.first() + rounds.count()) % q as u64, 0);
            // The last phase: the baseblock is capped, the entry -1 is the block before it.
            assert_eq!(rounds.block(0, 0, last), Some(n - 1));
            assert_eq!(rounds.block(q as i8 - 1, q - 1, last), Some(n - 1));
            assert_eq!(rounds.block(-1, 0, last), Some(n - 2));
            assert_eq!(rounds.block(-(q as i8), 0, last), Some(n - 1 - q as u32));
        }
    }
}
