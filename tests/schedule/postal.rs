//! Trees for a single block, in the postal model: a rank sends a message in every unit of time, and each is there
//! some units, the latency, after its sending began.

use rondo::schedule::postal::{LATENCY_MAX, time};
use rondo::schedule::{Shape, TreeNeighbors};

/// The families of all ranks.
fn families(p: u32, latency: u32, root: u32) -> Vec<TreeNeighbors> {
    let family = |rank| {
        let mut family = TreeNeighbors::default();
        family.set(Shape::Postal(latency), p, rank, root);
        family
    };
    (0..p).map(family).collect()
}

/// When the last rank has the block, if every rank sends to its children in turn. Every rank gets it once, from
/// the one that it takes for its parent.
fn play(families: &[TreeNeighbors], latency: u32, root: u32) -> u32 {
    let mut there = vec![None; families.len()];
    there[root as usize] = Some(0);
    let mut ready = vec![root];
    while let Some(rank) = ready.pop() {
        let at = there[rank as usize].unwrap();
        for (turn, child) in (0..).zip(families[rank as usize].children()) {
            let child = child.peer;
            let parents = families[child as usize].parents();
            assert_eq!((parents.len(), parents[0].peer), (1, rank));
            let before = there[child as usize].replace(at + turn + latency);
            assert_eq!(before, None, "{child} gets it twice");
            ready.push(child);
        }
    }
    assert!(families[root as usize].parents().is_empty());
    let there = there.into_iter();
    there.map(|at| at.expect("reached")).max().unwrap()
}

/// The least time there is: all ranks that have the block send to ranks that do not have it, all the time.
fn least(p: u32, latency: u32) -> u32 {
    let (mut under_way, mut have) = (vec![0; latency as usize], 1);
    let mut t = 0;
    while have < p {
        under_way.push(have); // one message of each rank, there after `latency` units
        t += 1;
        have += under_way[t as usize];
    }
    t
}

fn check(p: u32, latency: u32, root: u32) {
    let took = play(&families(p, latency, root), latency, root);
    let least = least(p, latency);
    assert_eq!((took, time(p, latency)), (least, least), "{p} {latency}");
}

#[test]
fn every_tree_reaches_every_rank_once_in_the_least_time() {
    for p in 1..=130 {
        for latency in 1..=LATENCY_MAX {
            check(p, latency, (p * latency) % p.max(1));
            check(p, latency, p - 1);
        }
    }
}

#[test]
fn every_root_is_as_good() {
    for p in [2, 3, 5, 9, 33] {
        for latency in [1, 2, 3, 7, 16, 31] {
            for root in 0..p {
                check(p, latency, root);
            }
        }
    }
}

#[test]
fn many_ranks() {
    for p in [161, 576, 1023, 1024, 1025, 1152, 4000, 5001] {
        for latency in [1, 2, 4, 5, 16, LATENCY_MAX] {
            check(p, latency, p / 3);
        }
    }
}

/// With latency 1 ranks with the block double from unit to unit; with latency 2 they are Fibonacci's numbers.
#[test]
fn published_times() {
    let most_in = |latency, t| (1..2000).take_while(|&p| time(p, latency) <= t).last();
    let doubled = (0..9).map(|t| most_in(1, t).unwrap());
    assert_eq!(
        doubled.collect::<Vec<_>>(),
        [1, 2, 4, 8, 16, 32, 64, 128, 256]
    );
    let fibonacci = (0..12).map(|t| most_in(2, t).unwrap());
    assert_eq!(
        fibonacci.collect::<Vec<_>>(),
        [1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144]
    );
}

/// A latency beyond what is told apart gives a tree as good as any, and none of 0 exists.
#[test]
fn latencies_out_of_bounds_are_brought_into_them() {
    for (latency, taken) in [
        (0, 1),
        (LATENCY_MAX + 1, LATENCY_MAX),
        (u32::MAX, LATENCY_MAX),
    ] {
        assert_eq!(time(100, latency), time(100, taken));
        assert_eq!(families(100, latency, 7), families(100, taken, 7));
    }
}

#[test]
fn numbers_of_ranks_near_the_largest_do_not_overflow() {
    let p = u32::MAX;
    let mut family = TreeNeighbors::default();
    for latency in [1, LATENCY_MAX] {
        family.set(Shape::Postal(latency), p, p - 2, p - 2);
        assert!(family.children().iter().all(|child| child.peer < p));
        assert!(time(p, latency) >= 32);
    }
}

#[test]
fn a_split_of_all_ranks_that_there_can_be_has_room() {
    for latency in 1..=LATENCY_MAX {
        let mut family = TreeNeighbors::default();
        family.set(Shape::Postal(latency), u32::MAX, 0, 0);
        assert!(!family.children().is_empty(), "L = {latency}");
    }
}
