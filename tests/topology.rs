//! Which ranks share a node, in every order of ranks and nodes.

use proptest::prelude::*;
use rondo::topology::{self, Topology};
use std::collections::HashSet;
use std::convert::Infallible;

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

/// The places of `own` in a group of `size`; how many steps a host takes that looks for each from the beginning; and
/// how often it is asked.
fn places(own: &[u32], size: u32) -> (Option<Vec<u32>>, u64, u64) {
    let (mut steps, mut calls) = (0, 0);
    let find = |ranks: &[i32], among: Option<&[i32]>| {
        calls += 1;
        if let Some(among) = among {
            let all: HashSet<i32> = among.iter().copied().collect();
            assert!(!all.is_empty() && all.len() == among.len());
            assert!(all.iter().all(|place| (0..size as i32).contains(place)));
        }
        let look = |&rank: &i32| {
            let place = own[rank as usize];
            let found = match among {
                None => (place < size).then_some(place as usize),
                Some(among) => among.iter().position(|&other| other as u32 == place),
            };
            let all = among.map_or(size as usize, <[i32]>::len);
            steps += found.map_or(all, |index| index + 1) as u64;
            found.map_or(-32766, |index| index as i32)
        };
        Ok::<_, Infallible>(ranks.iter().map(look).collect())
    };
    let Ok(found) = topology::translate(own.len() as u32, size, find);
    (found, steps, calls)
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

/// A grid of these widths, the first of which changes fastest in the world, and the last on the communicator.
fn transposed([x, y, z]: [u32; 3]) -> Vec<u32> {
    let of_row = |i| (0..y).flat_map(move |j| (0..z).map(move |k| i + x * (j + y * k)));
    (0..x).flat_map(of_row).collect()
}

/// On hosts that look for each rank from the beginning, large communicators whose ranks are in some order are no p^2
/// steps.
#[test]
fn ranks_in_an_order_are_found_in_few_steps() {
    let p = 60_000;
    let cyclic = |nodes| transposed([p / nodes, nodes, 1]);
    let order = [5, 11, 2, 14, 0, 7, 9, 3, 15, 1, 12, 4, 10, 8, 13, 6];
    let scrambled = |rank: u32| order[rank as usize % 16] * (p / 16) + rank / 16;
    let gaps = |rank: &u32| rank.wrapping_mul(2_654_435_761) >> 31 == 0;
    let own: [(&str, Vec<u32>); 18] = [
        ("all", (0..p).collect()),
        ("reversed", (0..p).rev().collect()),
        ("rotated", (p / 3..p).chain(0..p / 3).collect()),
        ("every 2nd", (0..p).step_by(2).collect()),
        ("every 3rd", (0..p).step_by(3).collect()),
        ("every 16th", (0..p).step_by(16).collect()),
        ("every 16th, reversed", (0..p).rev().step_by(16).collect()),
        (
            "even, odd",
            (0..p).step_by(2).chain((1..p).step_by(2)).collect(),
        ),
        ("2 nodes", cyclic(2)),
        ("16 nodes", cyclic(16)),
        ("100 nodes", cyclic(100)),
        ("1000 nodes", cyclic(1000)),
        ("20000 nodes", cyclic(20_000)),
        (
            "reversed, 100 nodes",
            cyclic(100).into_iter().rev().collect(),
        ),
        ("16 nodes in any order", (0..p).map(scrambled).collect()),
        ("a grid", transposed([40, 50, 30])),
        ("a long grid", transposed([100, 20, 30])),
        ("some half", (0..p).filter(gaps).collect()),
    ];
    for (name, own) in own {
        let (found, steps, calls) = places(&own, p);
        let p = own.len() as u64;
        println!(
            "{name}: {} steps and {} calls in 100 ranks",
            100 * steps / p,
            100 * calls / p
        );
        assert_eq!(found.as_ref(), Some(&own), "{name}");
        assert!(steps <= 256 * p, "{name}: {steps} steps");
        assert!(calls <= p, "{name}: {calls} calls");
    }
}
