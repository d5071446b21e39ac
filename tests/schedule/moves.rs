//! All-broadcasts of ranges of parts: both ends of a step name the same parts, nobody sends what he does not have, and
//! every part comes to every rank once.

use rondo::schedule::Moves;

fn every_p() -> impl Iterator<Item = u32> {
    (1..=64).chain([65, 67, 81, 129, 161, 257, 1000])
}

/// Plays all steps; messages that a rank sends at the most.
fn play(moves: Moves, p: u32) -> u32 {
    let count = moves.count(p);
    let own = |rank: u32| match moves {
        Moves::Scatter => vec![rank == 0; p as usize],
        _ => (0..p).map(|part| part == rank).collect(),
    };
    let mut has: Vec<Vec<bool>> = (0..p).map(own).collect();
    let mut sent = vec![0; p as usize];
    for k in 0..count {
        let before = has.clone();
        for rank in 0..p {
            let about = format!("{moves:?} of {p}, step {k}, rank {rank}");
            if let Some(send) = moves.step(p, rank, k, true) {
                let received = moves.step(p, send.peer, k, false).expect(&about);
                assert_eq!(
                    (received.peer, &received.parts),
                    (rank, &send.parts),
                    "{about}"
                );
                for part in (0..send.count()).map(|i| send.part(i)) {
                    assert!(before[rank as usize][part as usize], "{about}: {part}");
                    let here = &mut has[send.peer as usize][part as usize];
                    assert!(!std::mem::replace(here, true), "{about}: {part} again");
                }
                sent[rank as usize] += 1;
            }
            if let Some(received) = moves.step(p, rank, k, false) {
                let send = moves.step(p, received.peer, k, true).expect(&about);
                assert_eq!(send.peer, rank, "{about}");
            }
        }
    }
    let all = has.iter().flatten().all(|&here| here);
    assert!(all, "{moves:?} of {p}: something is missing");
    sent.into_iter().max().unwrap()
}

#[test]
fn every_part_comes_to_every_rank_once() {
    for p in every_p() {
        for moves in [
            Moves::Doubling,
            Moves::Neighbours,
            Moves::Mesh,
            Moves::Scatter,
        ] {
            play(moves, p);
        }
    }
}

#[test]
fn the_number_of_steps() {
    for (p, doubling, neighbours, mesh) in [
        (1, 0, 0, 0),
        (2, 1, 1, 1),
        (3, 3, 3, 2),
        (4, 2, 2, 2),
        (6, 4, 3, 3),
        (7, 4, 5, 6),
        (8, 3, 4, 4),
        (12, 5, 6, 5),
        (64, 6, 32, 14),
    ] {
        assert_eq!(Moves::Doubling.count(p), doubling, "{p}");
        assert_eq!(Moves::Neighbours.count(p), neighbours, "{p}");
        assert_eq!(Moves::Mesh.count(p), mesh, "{p}");
    }
    for p in every_p() {
        let q = p.next_power_of_two().trailing_zeros();
        assert_eq!(Moves::Scatter.count(p), q + p - 1);
        assert!(play(Moves::Scatter, p) < q + p);
    }
}
