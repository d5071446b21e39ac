//! Which ranks share a node, in every order of ranks and nodes.

use proptest::prelude::*;
use rondo::topology::{self, Topology};
use std::convert::Infallible;
use std::ops::Range;

/// What the words mean, without any of the tables.
fn plain(names: &[u64]) -> Vec<Vec<u32>> {
    let mut nodes: Vec<(u64, Vec<u32>)> = Vec::new();
    for (rank, &name) in (0..).zip(names) {
        match nodes.iter_mut().find(|(other, _)| *other == name) {
            Some((_, ranks)) => ranks.push(rank),
            None => nodes.push((name, vec![rank])),
        }
    }
    nodes.into_iter().map(|(_, ranks)| ranks).collect()
}

fn check(names: &[u64]) {
    let (topology, nodes) = (Topology::new(names), plain(names));
    assert_eq!(topology.p() as usize, names.len());
    assert_eq!(topology.nodes() as usize, nodes.len());
    let widths = || nodes.iter().map(|ranks| ranks.len() as u32);
    assert_eq!(topology.widest(), widths().max().unwrap_or(0));
    assert_eq!(topology.narrowest(), widths().min().unwrap_or(0));
    let mut place = 0;
    for (node, ranks) in (0..).zip(&nodes) {
        assert_eq!(topology.start(node), place);
        assert_eq!(topology.locals(node), ranks);
        for (local, &rank) in (0..).zip(ranks) {
            assert_eq!(topology.node(rank), node);
            assert_eq!(topology.local(rank), local);
            assert_eq!((topology.place(rank), topology.rank(place)), (place, rank));
            assert_eq!(topology.node_of_place(place), node);
            assert_eq!(topology.leader(node, rank), rank, "a root leads its node");
            place += 1;
        }
        for root in 0..topology.p() {
            let leader = topology.leader(node, root);
            assert!(leader == root || leader == ranks[0] && topology.node(root) != node);
        }
    }
    assert_eq!(topology.is_sorted(), nodes.concat().is_sorted());
}

#[test]
fn block_cyclic_and_scrambled_orders_have_the_nodes_that_the_names_say() {
    check(&[7]);
    check(&[7, 7, 7]);
    check(&[9, 8, 7]);
    check(&[5, 5, 5, 2, 2, 2]);
    check(&[5, 2, 5, 2, 5, 2]);
    check(&[1, 0, 3, 0, 0, 2, 1]);
    check(&[]);
}

proptest! {
    #[test]
    fn any_names_give_the_nodes_that_they_say(names in prop::collection::vec(0u64..6, 0..40)) {
        check(&names);
    }
}

/// The places of `own` in a group of `size`, and how many steps a host takes that looks for each from the beginning.
fn places(own: &[u32], size: u32) -> (Option<Vec<u32>>, u64) {
    let mut steps = 0;
    let find = |ranks: &[i32], among: Range<u32>| {
        assert!(
            !among.is_empty() && among.end <= size,
            "{among:?} of {size}"
        );
        let look = |&rank: &i32| {
            let place = own[rank as usize];
            let is_there = among.contains(&place);
            steps += u64::from(if is_there {
                place - among.start
            } else {
                among.len() as u32
            });
            if is_there {
                (place - among.start) as i32
            } else {
                -32766
            }
        };
        Ok::<_, Infallible>(ranks.iter().map(look).collect())
    };
    let Ok(found) = topology::translate(own.len() as u32, size, find);
    (found, steps)
}

#[test]
fn ranks_of_any_communicator_are_found_in_the_world() {
    for size in [3, 127, 128, 129, 256, 257, 1000, 5000] {
        let stride = |by: u32| (0..size).step_by(by as usize).collect::<Vec<_>>();
        let mut reversed = stride(1);
        reversed.reverse();
        let middle = (size / 3..size).chain(0..size / 3).collect();
        let shuffled = (0..size).map(|rank| (rank * 7919 + 3) % size).collect();
        for own in [
            stride(1),
            stride(3),
            stride(130),
            reversed,
            middle,
            shuffled,
        ] {
            assert_eq!(places(&own, size).0.as_ref(), Some(&own), "of {size}");
        }
    }
}

#[test]
fn a_rank_outside_the_world_is_noticed() {
    for outside in [0, 1, 127, 128, 500] {
        let mut own: Vec<u32> = (0..501).collect();
        own[outside] = 600;
        assert_eq!(places(&own, 600).0, None, "rank {outside}");
    }
}

/// On hosts that look for each rank from the beginning, duplicates of large communicators are no p^2 steps.
#[test]
fn a_duplicate_of_the_world_is_translated_in_few_steps() {
    let p = 60_000;
    let (_, steps) = places(&(0..p).collect::<Vec<_>>(), p);
    assert!(steps <= 64 * u64::from(p), "{steps} steps");
}
