//! Exchanges over nodes: every rank gets the block that every rank has for it, in one message for each pair of nodes,
//! or a few, which all ranks of a node share.

use super::*;
use rondo::topology::Topology;
use std::collections::{HashMap, VecDeque};

/// Nodes with so many ranks each: node after node, in turn, and in any order.
fn topologies(widths: &[u32]) -> [Topology; 3] {
    let sorted = (0..)
        .zip(widths)
        .flat_map(|(node, &n)| repeat_n(node, n as usize));
    let sorted: Vec<u64> = sorted.collect();
    let widest = widths.iter().max().expect("there are nodes");
    let in_turn = |turn: u32| {
        let nodes = (0..).zip(widths).filter(move |(_, width)| turn < **width);
        nodes.map(|(node, _)| node)
    };
    let cyclic: Vec<u64> = (0..*widest).flat_map(in_turn).collect();
    let nodes = sorted.iter().map(|&node| node as u32).collect();
    let any = shuffled(nodes, &mut rng(sorted.len() as u64));
    let any: Vec<u64> = any.into_iter().map(u64::from).collect();
    [sorted, cyclic, any].map(|names| Topology::new(&names))
}

/// Nodes of as many ranks, and of other numbers of them.
fn shapes() -> Vec<Vec<u32>> {
    let mut shapes = vec![];
    for p in every_p() {
        for width in [1, 2, 3, 4, 7, 8, 16, 23] {
            if p % width == 0 {
                shapes.push(vec![width; (p / width) as usize]);
            }
        }
        // As many again on each node as on the one before it, and then from the beginning.
        let mut widths = vec![];
        let mut rest = p;
        for width in [1, 5, 2, 9, 3].into_iter().cycle() {
            if rest == 0 {
                break;
            }
            widths.push(width.min(rest));
            rest -= width.min(rest);
        }
        shapes.push(widths);
    }
    shapes.extend([
        vec![1, 15],
        vec![15, 1],
        vec![1, 1, 20],
        vec![20, 1, 1, 1, 1],
    ]);
    shapes
}

/// The block of each rank's area with what it has for each rank, or has got from it.
fn blocks(
    p: u32,
    walk: impl Fn(u32, &mut dyn FnMut(u32, u32) -> Result<(), ()>) -> Result<(), ()>,
) -> Vec<Vec<u32>> {
    let of = |me| {
        let mut blocks = vec![None; p as usize];
        let done = walk(me, &mut |rank, block| {
            assert_eq!(blocks[rank as usize].replace(block), None, "twice");
            Ok(())
        });
        assert_eq!(done, Ok(()));
        let found = blocks
            .into_iter()
            .map(|block| block.expect("each rank has one"));
        found.collect()
    };
    (0..p).map(of).collect()
}

/// One lane, some, and as many as the narrowest node has ranks.
fn lanes(topology: &Topology) -> Vec<u32> {
    let mut lanes = vec![1, 2, 3, topology.narrowest()];
    lanes.retain(|&lanes| lanes <= topology.narrowest());
    lanes.sort_unstable();
    lanes.dedup();
    lanes
}

/// Nodes with so many ranks, and lanes over them: every number on every order of the ranks for few ranks, on one of
/// them for many.
fn in_lanes(widths: &[u32]) -> Vec<(Topology, u32)> {
    let p: u32 = widths.iter().sum();
    let mut cases = vec![];
    for (i, topology) in topologies(widths).into_iter().enumerate() {
        for (j, lanes) in lanes(&topology).into_iter().enumerate() {
            if p <= 24 || lanes == 1 || i == j % 3 {
                cases.push((topology.clone(), lanes));
            }
        }
    }
    cases
}

/// Nodes that send to each other, how often, by which ranks.
fn check_messages<'a>(
    topology: &Topology,
    lanes: u32,
    sends: impl Iterator<Item = (u32, &'a u32)>,
) {
    let (mut pairs, mut of_ranks) = (HashMap::new(), HashMap::new());
    let is_full = [topology.narrowest(), topology.widest()] == [lanes; 2];
    for (from, &to) in sends {
        let nodes = [from, to].map(|rank| topology.node(rank));
        if nodes[0] != nodes[1] {
            *pairs.entry(nodes).or_insert(0) += 1;
            *of_ranks.entry(from).or_insert(0) += 1;
            assert!(!is_full || topology.local(from) == topology.local(to));
        }
    }
    let nodes = topology.nodes();
    assert_eq!(pairs.len() as u32, nodes * (nodes - 1));
    let parts = (topology.narrowest() / (nodes - 1).max(1)).max(lanes);
    let is_right = |messages: &u32| *messages == parts;
    assert!(pairs.values().all(is_right), "{pairs:?}");
    for (rank, messages) in of_ranks {
        let width = topology.locals(topology.node(rank)).len() as u32;
        assert!(
            messages <= ((nodes - 1) * parts).div_ceil(width),
            "rank {rank} has {messages}"
        );
    }
}

#[test]
fn every_block_comes_by_messages_over_nodes() {
    for widths in shapes() {
        let p: u32 = widths.iter().sum();
        for (topology, lanes) in in_lanes(&widths) {
            let exchange = |rank| NodeExchange::new(&topology, rank, false, lanes);
            let sent = blocks(p, |me, each| exchange(me).sent(each));
            let received = blocks(p, |me, each| exchange(me).received(each));
            let variants = variants_for(p, 600 + widths.len() as u64);
            let some = if p <= 16 { 3 } else { 1 };
            for (variant, block) in variants.iter().take(some).zip([1, 3, 2]) {
                let scripts = scripts(p, |script, rank| {
                    exchange(rank).write(script, block as u32 + 1, block, variant.most);
                });
                // Padding travels as well, so all of every area is full.
                let areas = scripts.iter().map(|script| script.cut().total());
                let own = areas.max().unwrap_or(0);
                let outcome = carry_out(&scripts, own, variant);
                for me in 0..p {
                    for from in 0..p {
                        let place = received[me as usize][from as usize];
                        let start = u64::from(sent[from as usize][me as usize]) * block;
                        let right = (start..start + block)
                            .map(|i| Term::from([(from as u16, i as u16)]))
                            .collect::<Vec<_>>();
                        let got = outcome.blocks(me, place..place + 1);
                        check(me, &got, &right, variant);
                    }
                }
                if variant.most == u64::MAX {
                    let sends = (0..).zip(&outcome.ports);
                    let sends = sends
                        .flat_map(|(from, port)| port.sent.iter().map(move |(to, _)| (from, to)));
                    check_messages(&topology, lanes, sends);
                }
            }
        }
    }
}

/// A block: of whom, for whom.
type Block = Option<(u32, u32)>;

fn hop(from: &[Block], to: &mut [Block], hops: Vec<Hop>) {
    assert!(hops.is_sorted_by_key(|hop| hop.from));
    for Hop {
        blocks,
        from: first,
        to: place,
    } in hops
    {
        for i in 0..blocks {
            to[(place + i) as usize] = from[(first + i) as usize];
        }
    }
}

#[test]
fn every_block_comes_through_memory_and_over_nodes() {
    for widths in shapes() {
        let p: u32 = widths.iter().sum();
        for (topology, lanes) in in_lanes(&widths) {
            let exchange = |rank| NodeExchange::new(&topology, rank, true, lanes);
            let is_full = [topology.narrowest(), topology.widest()] == [lanes; 2];
            assert!((0..p).all(|rank| !is_full || !exchange(rank).goes_home()));
            let scripts = scripts(p, |script, rank| {
                exchange(rank).write(script, 2, 1, u64::MAX);
            });
            let sent = blocks(p, |me, each| exchange(me).sent(each));
            let received = blocks(p, |me, each| exchange(me).received(each));
            let mut areas: Vec<Vec<Block>> = (scripts.iter())
                .map(|script| vec![None; script.cut().blocks() as usize])
                .collect();
            for (me, sent) in (0..).zip(&sent) {
                for (to, &block) in (0..).zip(sent) {
                    areas[me as usize][block as usize] = Some((me, to));
                }
            }
            // What the ranks of a node give each other.
            let through_memory = |areas: &mut Vec<Vec<Block>>, out: bool| {
                let before = areas.clone();
                for me in 0..p {
                    let locals = topology.locals(topology.node(me));
                    for (local, &other) in (0..).zip(locals) {
                        let area = &before[other as usize];
                        let (vector, hops) = match out {
                            true => (exchange(other).outbox(), exchange(me).out(local)),
                            false => (exchange(other).arrivals(), exchange(me).home(local)),
                        };
                        assert!(out || vector.len() as u32 <= exchange(me).most_arrivals());
                        let vector = &area[vector.start as usize..vector.end as usize];
                        hop(vector, &mut areas[me as usize], hops);
                    }
                }
            };
            through_memory(&mut areas, true);
            let mut messages: HashMap<(u32, u32), VecDeque<Vec<Block>>> = HashMap::new();
            for (me, script) in (0..).zip(&scripts) {
                for send in script.sends() {
                    let blocks = send.blocks.start as usize..send.blocks.end as usize;
                    let message = areas[me as usize][blocks].to_vec();
                    messages
                        .entry((me, send.to))
                        .or_default()
                        .push_back(message);
                }
            }
            for (me, script) in (0..).zip(&scripts) {
                for take in script.takes() {
                    let Source::Rank(from) = take.source else {
                        panic!("nothing is copied: {take:?}");
                    };
                    let blocks = take.blocks.start as usize..take.blocks.end as usize;
                    let message = messages.get_mut(&(from, me)).and_then(VecDeque::pop_front);
                    let message = message.expect("it was sent");
                    areas[me as usize][blocks].copy_from_slice(&message);
                }
            }
            assert!(messages.values().all(VecDeque::is_empty));
            if exchange(0).goes_home() {
                through_memory(&mut areas, false);
            }
            for me in 0..p {
                for from in 0..p {
                    let place = received[me as usize][from as usize] as usize;
                    assert_eq!(areas[me as usize][place], Some((from, me)), "{widths:?}");
                }
            }
            let sends = (0..).zip(&scripts);
            let sends = sends
                .flat_map(|(from, script)| script.sends().iter().map(move |send| (from, &send.to)));
            check_messages(&topology, lanes, sends);
        }
    }
}

/// What a rank may have in its area decides whether it has room for an exchange over nodes.
#[test]
fn an_area_has_no_more_than_seven_blocks_for_each_rank_where_ranks_in_the_same_place_exchange() {
    for (nodes, width) in [(2, 2), (2, 5), (2, 64), (4, 4), (16, 16), (5, 8)] {
        let names: Vec<u64> = (0..nodes * width).map(|rank| rank / width).collect();
        let topology = Topology::new(&names);
        let p = (nodes * width) as u32;
        for shares in [true, false] {
            let exchange = NodeExchange::new(&topology, p - 1, shares, width as u32);
            let mut script = Script::default();
            exchange.write(&mut script, 2, 1, 1 << 20);
            let blocks = script.cut().blocks();
            assert!(
                blocks <= 7 * p,
                "{nodes} nodes of {width}, {shares}: {blocks}"
            );
        }
    }
}
