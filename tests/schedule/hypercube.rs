//! The broadcast over a hypercube: in each round both ends name the same block, nobody sends what it does not have, and
//! every block comes to every rank once, in as few rounds as there can be.

use rondo::schedule::hypercube::{Hypercube, Transfer};

fn every_p() -> impl Iterator<Item = u32> {
    (1..=64).chain([65, 67, 81, 129, 161, 255, 256, 257, 1000])
}

/// Plays all rounds; the blocks that each rank sends.
fn play(p: u32, n: u32) -> Vec<u32> {
    let cube = Hypercube::new(p, n);
    let mut has = vec![vec![false; n as usize]; p as usize];
    has[0].fill(true);
    let mut sent = vec![0; p as usize];
    for round in 0..cube.rounds() {
        let before = has.clone();
        for v in 0..p {
            let about = format!("{n} blocks, p = {p}, round {round}, rank {v}");
            if let Some(Transfer { peer, block }) = cube.transfer(v, round, true) {
                let back = cube.transfer(peer, round, false);
                assert_eq!(back, Some(Transfer { peer: v, block }), "{about}");
                assert!(before[v as usize][block as usize], "{about}: {block}");
                let here = &mut has[peer as usize][block as usize];
                assert!(!std::mem::replace(here, true), "{about}: {block} again");
                sent[v as usize] += 1;
            }
            if let Some(Transfer { peer, block }) = cube.transfer(v, round, false) {
                let back = cube.transfer(peer, round, true);
                assert_eq!(back, Some(Transfer { peer: v, block }), "{about}");
            }
        }
    }
    let all = has.iter().flatten().all(|&here| here);
    assert!(all, "{n} blocks, p = {p}: something is missing");
    sent
}

#[test]
fn every_block_comes_to_every_rank_once() {
    for p in every_p() {
        let d = p.ilog2();
        for n in [1, 2, 3, d.max(1), d + 1, 2 * d + 1, 3 * d + 2, 50] {
            let sent = play(p, n);
            // In every round but those in which the last blocks are handed on in pairs, and nobody sends more.
            let root = if p == 1 { 0 } else { n - 1 + d };
            assert_eq!(sent[0], root, "{n} blocks, p = {p}");
            assert_eq!(sent.iter().max(), Some(&root), "{n} blocks, p = {p}");
        }
    }
}

#[test]
fn the_rounds_are_as_few_as_there_can_be() {
    for (p, q) in [(2, 1), (3, 2), (4, 2), (5, 3), (33, 6), (64, 6), (65, 7)] {
        for n in [1, 2, 100] {
            assert_eq!(Hypercube::new(p, n).rounds(), n - 1 + q, "p = {p}");
        }
    }
    assert_eq!(Hypercube::new(1, 5).rounds(), 0);
}

/// Rounds 2 to 6 of five blocks among eight ranks, as the lecture has them: what a rank sends and receives.
#[test]
fn what_ranks_exchange_is_what_the_lecture_says() {
    let cube = Hypercube::new(8, 5);
    for (v, round, sent, received) in [
        (4, 3, 2, 0),
        (5, 3, 0, 2),
        (4, 4, 2, 1),
        (6, 4, 1, 2),
        (2, 5, 4, 2),
        (6, 5, 2, 4),
        (2, 6, 4, 3),
        (3, 6, 3, 4),
    ] {
        let block = |sends| cube.transfer(v, round, sends).map(|it| it.block);
        assert_eq!(block(true), Some(sent), "rank {v}, round {round}");
        assert_eq!(block(false), Some(received), "rank {v}, round {round}");
    }
}
