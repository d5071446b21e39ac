//! Rounds and memory. The messages of every collective are counted where it is run: see
//! [`super::case`].

use super::case::{in_latencies, in_rounds, run, shuffled};
use super::everywhere::case;
use super::net::{Load, RootedOp};
use super::packets::{HEADING, JOIN, NUMBER, STATE, numbers};
use super::trees::rounds;
use rondo::engine::rooted::RootedTree;
use rondo::tree::{Distribution, Groups};
use std::collections::HashMap;

/// Numbers of ranks, and roots, to count at.
fn places() -> impl Iterator<Item = (u32, u32)> {
    let few = |p: u32| [0, 1, p / 2, p - 1].into_iter().map(move |root| (p, root));
    let all = (1..=9).flat_map(|p| (0..p).map(move |root| (p, root)));
    all.chain((10..=33).chain([63, 64, 65, 67, 129]).flat_map(few))
}

/// In the model of the papers, ceil(log2 p) rounds are the least possible, and a window of one send is
/// no hindrance.
#[test]
fn the_rounds_of_a_binomial_tree_are_optimal() {
    for (p, root) in places() {
        for op in [RootedOp::Gather, RootedOp::Scatter] {
            for window in [1, 64] {
                let mut case = case(op, RootedTree::Binomial, root, vec![5; p as usize]);
                case.window = window;
                let found = run(&case, in_rounds).rounds;
                assert_eq!(found, rounds(p), "{case:?}");
            }
        }
    }
}

/// Whatever the sizes are, an adaptive tree takes no more rounds once it is there. To find it costs two
/// for each of its own: fixed roots tell each other, then the current roots.
#[test]
fn the_rounds_of_an_adaptive_tree_are_bounded() {
    for (p, root) in places() {
        for distribution in Distribution::ALL {
            let sizes = distribution.blocks(p as usize, 12, root.into());
            let q = rounds(p);
            let gather = case(RootedOp::Gather, RootedTree::Adaptive, root, sizes.clone());
            let found = run(&gather, in_rounds).rounds;
            assert!(found <= 3 * q, "{gather:?}: {found} rounds");
            let scatter = case(RootedOp::Scatter, RootedTree::Adaptive, root, sizes);
            let found = run(&scatter, in_rounds).rounds;
            assert!(found <= q, "{scatter:?}: {found} rounds");
        }
    }
}

/// Groups begin to send while the search goes on. The last rank of a group has to do with it to its end, and may be far
/// from the root. Of blocks of one size the prediction is exact.
#[test]
fn an_adaptive_tree_is_found_while_packets_travel() {
    for (p, root) in places() {
        let q = rounds(p);
        let found = |op, shape, sizes: &[u64]| {
            let case = case(op, shape, root, sizes.to_vec());
            run(&case, in_latencies).rounds
        };
        for distribution in Distribution::ALL {
            let sizes = distribution.blocks(p as usize, 12, root.into());
            let gather = found(RootedOp::Gather, RootedTree::Adaptive, &sizes);
            assert!(gather <= 2 * q, "{gather} of {q} at {root}: {sizes:?}");
            if distribution == Distribution::Same && root == 0 {
                let hops = match q {
                    0 => 0,
                    q => (p - (1 << (q - 1))).count_ones(),
                };
                assert_eq!(gather, q + hops, "p = {p}");
            }
            let known = found(RootedOp::Gather, RootedTree::Binomial, &sizes);
            let scatter = found(RootedOp::Scatter, RootedTree::Adaptive, &sizes);
            assert!(known <= q && scatter <= q, "{known}, {scatter} of {q}");
        }
    }
}

/// Without a tree there is a round for each block; to ask for it costs another one, which two blocks in
/// flight hide.
#[test]
fn the_rounds_of_a_star_are_the_blocks() {
    for (p, root) in places() {
        for distribution in Distribution::ALL {
            let sizes = distribution.blocks(p as usize, 12, root.into());
            for op in [RootedOp::Gather, RootedOp::Scatter] {
                for window in [1, 2, 64, 200] {
                    let mut case = case(op, RootedTree::Star, root, sizes.clone());
                    case.window = window;
                    let blocks = case.longs();
                    let expected = match window {
                        _ if !case.asks() || blocks == 0 => blocks,
                        1 => 2 * blocks,
                        _ => blocks + 1,
                    };
                    let found = run(&case, in_rounds).rounds;
                    assert_eq!(found, expected, "{case:?}");
                }
            }
        }
    }
}

/// Long blocks do not wait for short ones, nor the other way round.
#[test]
fn both_ways_together_take_no_longer_than_one_after_the_other() {
    for (p, root) in places() {
        for distribution in Distribution::ALL {
            let sizes = distribution.blocks(p as usize, 12, root.into());
            for op in [RootedOp::Gather, RootedOp::Scatter] {
                let mut case = case(op, RootedTree::Binomial, root, sizes.clone());
                (case.long, case.window) = (12, 200);
                let found = run(&case, in_rounds).rounds;
                let expected = case.longs() + rounds(p);
                assert!(found <= expected, "{case:?}: {found} rounds");
            }
        }
    }
}

/// If blocks are long from limit/p + 1 bytes on, no rank has more than twice the limit in packet: what it
/// got, and what it writes. On top of it are headings and numbers: of a packet to each child and one to
/// the parent, and two for each block, in what it got and in what it writes.
#[test]
fn memory_for_packets_is_bounded_by_a_limit() {
    let mut nearly = 0;
    for (p, root) in places() {
        for op in [RootedOp::Gather, RootedOp::Scatter] {
            for shape in [RootedTree::Binomial, RootedTree::Adaptive] {
                for limit in [0, 500, 20_000] {
                    let long = limit / u64::from(p) + 1;
                    for sizes in [
                        vec![long - 1; p as usize],
                        Distribution::Random.blocks(p as usize, long, 1),
                        Distribution::Increasing.blocks(p as usize, long / 2, 1),
                    ] {
                        let mut case = case(op, shape, root, sizes);
                        case.long = long;
                        let packets = u64::from(rounds(p)) + 1;
                        let mut bound = 2 * limit;
                        bound += 2 * packets * (HEADING + NUMBER) + 4 * NUMBER * u64::from(p);
                        if op == RootedOp::Gather {
                            // To find the tree, and to ask for blocks.
                            bound += packets * 3 * (HEADING + 4 * NUMBER) + 64 * HEADING;
                        }
                        let net = run(&case, shuffled(limit));
                        let most = net.ports.iter().map(|port| port.most_memory).max();
                        let most = most.unwrap_or(0) as u64;
                        assert!(most <= bound, "{case:?}: {most} > {bound}");
                        nearly = nearly.max(most);
                    }
                }
            }
        }
    }
    // Of 33 ranks with the last one as their root, rank 31 has all the others' blocks, twice.
    assert!(nearly > 38_000, "{nearly}: the bound is not tried");
}

/// A group takes part in three packets of its round: its fixed root's and the sibling's, and one to its
/// current root, each of a few bytes.
#[test]
fn three_packets_for_each_group_find_the_tree() {
    for (p, root) in places() {
        for distribution in Distribution::ALL {
            let sizes = distribution.blocks(p as usize, 12, root.into());
            let case = case(RootedOp::Gather, RootedTree::Adaptive, root, sizes);
            let groups = Groups::new(p, root);
            let mut packets = HashMap::new();
            for (from, to, load) in run(&case, in_rounds).log {
                let Load::Packet(packet) = load else {
                    continue;
                };
                if ![STATE, JOIN].contains(&packet[0]) {
                    continue;
                }
                assert!(packet.len() as u64 <= HEADING + 4 * NUMBER, "{case:?}");
                let (read, _) = numbers(&packet, 2).expect("it has a root and a round");
                assert_eq!(read[0], u64::from(root), "{case:?}");
                let (round, state) = (read[1] as u32, packet[0] == STATE);
                let of = [from, to].map(|rank| groups.group(round, rank));
                assert_eq!(of[0] != of[1], state, "{case:?}: {from} to {to}");
                let [from, to] = of.map(|group| (round, group.start));
                let between = if state { vec![from, to] } else { vec![from] };
                for group in between {
                    *packets.entry(group).or_insert(0) += 1;
                }
            }
            let most = packets.values().max().copied().unwrap_or(0);
            assert!(most <= 3, "{case:?}: {packets:?}");
        }
    }
}
