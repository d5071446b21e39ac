//! Gather and scatter on nodes of several ranks: blocks get where they belong in any order of ranks, and
//! what goes from node to node is no more than it has to be. The messages are compared with the tree where a
//! collective is run: see [`super::case`].

use super::case::{Case, in_rounds, run, shuffled, starving};
use super::net::{Load, Net, RootedOp};
use super::packets::{GATHER, SCATTER};
use super::trees::rounds;
use crate::case::rng;
use proptest::prelude::*;
use rondo::engine::rooted::RootedTree;
use rondo::topology::Topology;
use rondo::tree::{Distribution, Groups, Hierarchy};

/// Ranks on nodes of these widths: in the order of nodes, dealt out to them in turn, and in any order.
fn orders(widths: &[usize], seed: u64) -> Vec<Topology> {
    let nodes = 0..widths.len();
    let block: Vec<u64> = nodes
        .flat_map(|node| vec![node as u64; widths[node]])
        .collect();
    let mut cyclic: Vec<(usize, u64)> = Vec::new();
    for (node, &width) in (0..).zip(widths) {
        cyclic.extend((0..width).map(|turn| (turn, node)));
    }
    cyclic.sort_unstable();
    let mut scrambled = block.clone();
    let mut rng = rng(seed);
    for i in (1..scrambled.len()).rev() {
        scrambled.swap(i, rng.random_range(0..=i));
    }
    let cyclic = cyclic.into_iter().map(|(_, node)| node).collect();
    let orders: [Vec<u64>; 3] = [block, cyclic, scrambled];
    orders.map(|names| Topology::new(&names)).into()
}

/// Widths of nodes: of one, two and four, uneven ones, one rank on each, and one node for all.
const WIDTHS: [&[usize]; 15] = [
    &[1],
    &[4],
    &[8],
    &[1; 6],
    &[3, 3],
    &[2, 2, 2, 2],
    &[4, 4],
    &[1, 5, 2],
    &[1, 4, 1, 1, 3],
    &[7, 1, 1, 1, 1, 1, 1, 2],
    &[4; 9],
    &[2; 32],
    &[8; 8],
    &[33, 1, 30],
    &[5, 1, 1, 17, 1, 9, 2, 20],
];

/// Every root of few ranks; of more, those at the ends and in the middle.
fn roots(p: u32) -> Vec<u32> {
    match p {
        0..=20 => (0..p).collect(),
        _ => vec![0, 1, p / 2, p - 1],
    }
}

/// Collectives of `sizes` where no block is long, some are, all are.
fn cases(nodes: &Topology, root: u32, sizes: &[u64], b: u64, window: u32) -> Vec<Case> {
    let mut cases = vec![];
    for op in [RootedOp::Gather, RootedOp::Scatter] {
        for long in [1, b / 2 + 1, b, u64::MAX] {
            cases.push(Case {
                op,
                shape: RootedTree::Binomial,
                root,
                long,
                window,
                sizes: sizes.to_vec(),
                other: None,
                nodes: Some(nodes.clone()),
            });
        }
    }
    cases
}

/// In any order, and with a rank that lags behind as far as it can.
#[test]
fn every_distribution_gets_where_it_belongs_in_any_order_of_ranks() {
    let mut rng = rng(21);
    for widths in WIDTHS {
        for nodes in orders(widths, 22) {
            let p = nodes.p();
            for root in roots(p) {
                // A few distributions for each root.
                let some = Distribution::ALL.into_iter().skip(root as usize % 4);
                for distribution in some.step_by(4) {
                    let b = [2, 12, 60][rng.random_range(0..3)];
                    let sizes = distribution.blocks(p as usize, b, rng.random());
                    let window = [1, 2, 64][rng.random_range(0..3)];
                    for case in cases(&nodes, root, &sizes, b, window) {
                        let net = run(&case, shuffled(rng.random()));
                        check_links(&case, &net);
                        if rng.random_range(0..4) == 0 {
                            let slow = [0, p / 2, p - 1][rng.random_range(0..3)];
                            run(&case, starving(slow));
                        }
                    }
                }
            }
        }
    }
}

/// Packets that a node sent and got, and the bytes of short blocks in them.
#[derive(Clone, Default)]
struct Link {
    up: (u32, u64),
    down: (u32, u64),
}

/// What goes between nodes: one packet for each node that has to send or get something, and a block
/// of the root's node never, any other one at the root's link once.
fn check_links(case: &Case, net: &Net) {
    let nodes = case.nodes.as_ref().expect("it has nodes");
    let mut links = vec![Link::default(); nodes.nodes() as usize];
    let short = |rank: &u32| case.is_short(*rank);
    let below = case.tree().below();
    for (from, to, load) in &net.log {
        let [sender, receiver] = [from, to].map(|rank| nodes.node(*rank) as usize);
        let Load::Packet(packet) = load else {
            continue;
        };
        if sender == receiver || ![GATHER, SCATTER].contains(&packet[0]) {
            continue;
        }
        // Who is below is known from the tree, with which packets were compared.
        let child = if case.op == RootedOp::Gather {
            from
        } else {
            to
        };
        let below = below[*child as usize].iter().filter(|rank| short(rank));
        let bytes: u64 = below.map(|rank| case.sizes[*rank as usize]).sum();
        let up = &mut links[sender].up;
        *up = (up.0 + 1, up.1 + bytes);
        let down = &mut links[receiver].down;
        *down = (down.0 + 1, down.1 + bytes);
    }
    let home = nodes.node(case.root);
    let away = |rank: &u32| nodes.node(*rank) != home;
    let ranks = (0..case.p()).filter(away).filter(short);
    let all: u64 = ranks.map(|rank| case.sizes[rank as usize]).sum();
    let has_short = |node: u32| nodes.locals(node).iter().any(short);
    for (node, link) in (0..).zip(&links) {
        let (out, back) = match case.op {
            RootedOp::Gather => (link.up, link.down),
            RootedOp::Scatter => (link.down, link.up),
        };
        let packets = node != home && (case.op == RootedOp::Gather || has_short(node));
        assert_eq!(
            out.0,
            u32::from(packets),
            "{case:?}: packets of node {node}"
        );
        if node == home {
            assert_eq!(back.1, all, "{case:?}: bytes at the root's node");
            assert!(back.0 <= rounds(nodes.nodes()), "{case:?}: packets there");
        }
    }
}

/// A round for each round of nodes, and one for each rank of the widest node but the one that speaks for it.
#[test]
fn the_rounds_are_those_of_nodes_and_of_the_ranks_in_one() {
    for widths in WIDTHS {
        for nodes in orders(widths, 24) {
            for root in roots(nodes.p()) {
                for case in cases(&nodes, root, &vec![5; nodes.p() as usize], 6, 64) {
                    if case.long < u64::MAX {
                        continue;
                    }
                    let most = rounds(nodes.nodes()) + nodes.widest() - 1;
                    let found = run(&case, in_rounds).rounds;
                    assert!(found <= most, "{case:?}: {found} rounds, not {most}");
                }
            }
        }
    }
}

/// One rank on each node: packet by packet as without nodes.
#[test]
fn nodes_of_one_rank_are_no_nodes() {
    for p in 1..20u32 {
        let nodes = Topology::new(&(0..p.into()).collect::<Vec<u64>>());
        for root in 0..p {
            let sizes = Distribution::Random.blocks(p as usize, 12, root.into());
            for case in cases(&nodes, root, &sizes, 12, 64) {
                let flat = Case {
                    nodes: None,
                    ..case.clone()
                };
                assert_eq!(run(&case, in_rounds).log, run(&flat, in_rounds).log);
            }
        }
    }
}

/// Parents, children and parts of all ranks say the same.
fn check_tree(nodes: &Topology, root: u32) {
    let tree = Hierarchy::of_nodes(nodes, root);
    let p = nodes.p();
    let mut below: Vec<Vec<u32>> = vec![vec![]; p as usize];
    for rank in 0..p {
        assert_eq!(tree.rank(tree.place(rank)), rank);
        assert_eq!(tree.parent(rank).is_none(), rank == root, "{nodes:?}");
        let mut at = Some(rank);
        while let Some(above) = at {
            below[above as usize].push(tree.place(rank));
            at = tree.parent(above);
        }
    }
    for rank in 0..p {
        let mut found = vec![tree.place(rank)];
        for (child, places) in tree.children(rank) {
            assert_eq!(tree.parent(child), Some(rank), "{nodes:?}, root {root}");
            let mut there = below[child as usize].clone();
            there.sort_unstable();
            assert_eq!(places.clone().collect::<Vec<u32>>(), there, "{nodes:?}");
            found.extend(places);
        }
        let mut there = below[rank as usize].clone();
        there.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, there, "{nodes:?}, root {root}: children of {rank}");

        let parts = (0..tree.parts(rank)).map(|part| tree.part(part, rank));
        let mut all: Vec<u32> = parts.flatten().collect();
        all.push(tree.place(rank));
        all.sort_unstable();
        assert!(all.into_iter().eq(0..p), "{nodes:?}: parts around {rank}");
        let home = tree.home(tree.place(rank));
        assert!(
            home.map(|place| tree.rank(place))
                .eq(nodes.locals(nodes.node(rank)).iter().copied())
        );
    }
}

#[test]
fn the_tree_is_the_same_from_all_sides() {
    for widths in WIDTHS {
        for nodes in orders(widths, 26) {
            for root in 0..nodes.p() {
                check_tree(&nodes, root);
            }
        }
    }
}

/// Without nodes, all that is asked of the tree is what the groups say.
#[test]
fn ranks_that_are_all_alike_have_the_tree_of_their_groups() {
    for p in 1..40 {
        for root in 0..p {
            let (tree, groups) = (Hierarchy::of_ranks(p, root), Groups::new(p, root));
            for rank in 0..p {
                assert_eq!((tree.place(rank), tree.rank(rank)), (rank, rank));
                assert_eq!(tree.home(rank), rank..rank + 1);
                assert_eq!(tree.parent(rank), groups.parent(rank));
                assert!(tree.children(rank).eq(groups.children(rank)));
                assert_eq!(tree.parts(rank), groups.rounds());
                for round in 0..groups.rounds() {
                    assert_eq!(tree.part(round, rank), groups.sibling(round, rank));
                }
            }
        }
    }
}

prop_compose! {
    fn any_case()(names in prop::collection::vec(0u64..9, 1..60))(
        sizes in prop::collection::vec(prop_oneof![
            3 => Just(0u64), 4 => 1u64..40, 2 => 100u64..400,
        ], names.len()),
        op in prop_oneof![Just(RootedOp::Gather), Just(RootedOp::Scatter)],
        root in any::<prop::sample::Index>(),
        long in prop_oneof![0u64..50, 100u64..400, Just(u64::MAX)],
        window in prop_oneof![1u32..5, 1u32..100, Just(u32::MAX)],
        names in Just(names),
    ) -> Case {
        let root = root.index(sizes.len()) as u32;
        let nodes = Some(Topology::new(&names));
        Case { op, shape: RootedTree::Binomial, root, long, window, sizes, other: None, nodes }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_collective_on_any_nodes_in_any_order(case in any_case(), seed in any::<u64>()) {
        check_tree(case.nodes.as_ref().unwrap(), case.root);
        let net = run(&case, shuffled(seed));
        check_links(&case, &net);
    }
}
