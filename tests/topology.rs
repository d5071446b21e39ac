//! Which ranks share a node, in every order of ranks and nodes.

use proptest::prelude::*;
use rondo::topology::Topology;

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
