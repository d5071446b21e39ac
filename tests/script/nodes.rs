//! Over nodes: short all-reductions by exact operators, up a tree inside each node, between leaders, and down a tree;
//! scans, along the ranks of each node and between the last ranks of all nodes; and reductions in the order of ranks.

use super::{
    Variant, blocks_of, carry_out, check, check_complete, check_prefixes, cut, elements, even,
    even_cases, gather_cases, in_nodes, nodes_of_any_size, part_of, scripts, terms, uneven_cases,
    variants,
};
use crate::reductions::any_variant;
use crate::wire::{Outcome, rng};
use proptest::prelude::*;
use rondo::schedule::{Shape, Steps};
use rondo::script::{
    GatherNodes, GatherTree, Group, Join, Members, NodeScan, Prefix, Script, Shares, Source,
    collect, gather, gather_cut, ordered, recursive_doubling, split, split_cut, spread,
    spread_vectors,
};
use std::ops::Range;

/// Ranks in the order of their nodes, each node's next to each other: how many each has.
fn nodes(p: u32) -> Vec<u32> {
    let mut rng = rng(p.into());
    let mut left = p;
    let mut sizes = Vec::new();
    while left > 0 {
        let size = rng.random_range(1..=left.min(9));
        sizes.push(size);
        left -= size;
    }
    sizes
}

/// Every rank has every operand once, however unlike the nodes are, with and without messages inside them.
#[test]
fn leaders_of_unlike_nodes_reduce_every_operand_once_for_all() {
    for p in (1..=64).chain([65, 67, 129, 161]) {
        let sizes = nodes(p);
        let firsts: Vec<u32> = (0..sizes.len()).map(|i| sizes[..i].iter().sum()).collect();
        for (count, variant) in gather_cases(p) {
            let up_and_down = [1, 3].map(Shape::Postal);
            let scripts = scripts(p, |script, rank| {
                let node = firsts.partition_point(|&first| first <= rank) - 1;
                let locals: Vec<u32> = (firsts[node]..firsts[node] + sizes[node]).collect();
                let nodes = GatherNodes {
                    leaders: Group {
                        members: Some(&firsts),
                        p: firsts.len() as u32,
                        me: node as u32,
                    },
                    locals: &locals,
                    places: None,
                    rank,
                };
                let steps = Steps::new(nodes.leaders.p, variant.radix.min(nodes.leaders.p));
                nodes.allreduce_exact(script, variant.most, count, (&steps, up_and_down));
            });
            let outcome = carry_out(&scripts, count, &variant);
            for rank in 0..p {
                check_complete(rank, &outcome.result(rank), p, &variant);
            }
        }
    }
}

/// Nodes of these sizes, each of which has the ranks that follow those of the one before: calls `write` with a scan by
/// one of them.
fn with_scan<T>(sizes: &[u32], rank: u32, prefix: Prefix, write: impl FnOnce(NodeScan) -> T) -> T {
    let ends: Vec<u32> = (1..=sizes.len()).map(|i| sizes[..i].iter().sum()).collect();
    let node = ends.partition_point(|&end| end <= rank);
    let first = ends[node] - sizes[node];
    let locals: Vec<u32> = (first..ends[node]).collect();
    let leaders: Vec<u32> = ends.iter().map(|end| end - 1).collect();
    write(NodeScan {
        node: Group {
            members: Some(&locals),
            p: sizes[node],
            me: rank - first,
        },
        leaders: Group {
            members: Some(&leaders),
            p: leaders.len() as u32,
            me: node as u32,
        },
        n: 1,
        prefix,
    })
}

fn begin(script: &mut Script, scan: &NodeScan, (most, count): (u64, u64)) {
    let vectors = (0..scan.places()).flat_map(|_| even(count, scan.n));
    script.begin(most, vectors);
}

/// Nodes of any sizes, nodes of one rank each, and a single node.
#[test]
fn a_scan_over_nodes_has_the_operands_up_to_each_rank_in_the_order_of_ranks() {
    for p in (1..=64).chain([65, 67, 129, 161]) {
        let shapes = [nodes(p), vec![1; p as usize], vec![p]];
        for (i, (parts, variant)) in even_cases(p).enumerate() {
            let (count, n) = (parts.iter().sum(), [1, 2, 7][i % 3]);
            let sizes = &shapes[i / 3 % 4 % 3];
            for prefix in [Prefix::Inclusive, Prefix::Exclusive] {
                check_scan(sizes, prefix, (count, n), &variant);
            }
        }
    }
}

/// Of a vector of `count` elements in `n` blocks.
fn check_scan(sizes: &[u32], prefix: Prefix, (count, n): (u64, u32), variant: &Variant) {
    let scripts = scripts(sizes.iter().sum(), |script, rank| {
        with_scan(sizes, rank, prefix, |scan| {
            let scan = NodeScan { n, ..scan };
            begin(script, &scan, (variant.most, count));
            scan.by_messages(script);
        });
    });
    let outcome = carry_out(&scripts, count, variant);
    check_prefixes((prefix, count), &scripts, &outcome, variant);
}

/// Through memory inside nodes there are no other messages than those between leaders, in as many rounds as an
/// exclusive scan among these has.
#[test]
fn between_nodes_a_scan_has_the_messages_of_an_exclusive_scan_among_leaders() {
    for p in (1..=64).chain([65, 67, 129, 161]) {
        let sizes = nodes(p);
        let q = (sizes.len() as u32).next_power_of_two().ilog2() as usize;
        let mut most = 0;
        for prefix in [Prefix::Inclusive, Prefix::Exclusive] {
            for rank in 0..p {
                with_scan(&sizes, rank, prefix, |scan| {
                    let mut script = Script::default();
                    begin(&mut script, &scan, (1, 1));
                    scan.between(&mut script);
                    let is_leader = scan.leaders.members.is_some_and(|all| all.contains(&rank));
                    assert_eq!(scan.leads(), is_leader);
                    assert!(is_leader || (script.sends().is_empty() && script.takes().is_empty()));
                    let leaders = scan.leaders.members.expect("leaders have members");
                    assert!(script.sends().iter().all(|send| leaders.contains(&send.to)));
                    most = most.max(script.sends().len());
                    begin(&mut script, &scan, (1, 1));
                    scan.join(&mut script);
                    let own = |source| matches!(source, Source::Blocks(NodeScan::BEFORE));
                    assert!(script.takes().len() <= 1);
                    assert!(script.takes().iter().all(|take| own(take.source)));
                });
            }
        }
        assert_eq!(most, q, "{sizes:?}");
    }
}

// In the order of ranks.

/// Nodes of these sizes, each of which has the ranks that follow those of the one before: the first rank of each.
fn firsts(sizes: &[u32]) -> Vec<u32> {
    (0..sizes.len()).map(|i| sizes[..i].iter().sum()).collect()
}

/// Such nodes, as one rank sees them, which shares memory with its node or does not.
fn members(sizes: &[u32], rank: u32, shares: bool) -> Members {
    let firsts = firsts(sizes);
    let node = firsts.partition_point(|&first| first <= rank) - 1;
    Members {
        p: sizes.len() as u32,
        me: node as u32,
        place: rank - firsts[node],
        width: if shares { 1 } else { sizes[node] },
    }
}

/// What leaders do as if each were a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Ordered,
    Split,
    Doubling,
    Gather,
}

const WAYS: [Way; 4] = [Way::Ordered, Way::Split, Way::Doubling, Way::Gather];

/// Writes a reduce-scatter. The blocks of each node's part.
fn write_parts(
    script: &mut Script,
    members: &Members,
    way: Way,
    parts: &[u64],
    variant: &Variant,
) -> Vec<Range<u32>> {
    let (&Members { p, me, .. }, segments) = (members, variant.segments);
    if way == Way::Ordered {
        let shares = Shares::new(parts, segments);
        script.begin(variant.most, shares.cut(me));
        if members.join(script, shares.vector()) {
            ordered(script, me, &shares);
        }
        return (0..p).map(|node| shares.part(node)).collect();
    }
    let counts = split_cut(p, me, |node| {
        cut(&parts[node as usize..node as usize + 1], segments)
    });
    script.begin(variant.most, counts.into_iter());
    if members.join(script, p * segments) {
        split(script, p, me, segments);
    }
    (0..p).map(part_of(segments)).collect()
}

fn write_all(script: &mut Script, members: &Members, way: Way, count: u64, variant: &Variant) {
    let (&Members { p, me, .. }, segments) = (members, variant.segments);
    let steps = Steps::new(p, variant.radix.min(p).max(2));
    let vector = match way {
        Way::Ordered | Way::Split => {
            write_parts(script, members, way, &even(count, p), variant);
            if members.leads() {
                spread(script, &members.group(), &steps, blocks_of(segments));
            }
            p * segments
        }
        Way::Doubling => {
            script.begin(variant.most, even(count, segments).into_iter());
            if members.join(script, segments) {
                recursive_doubling(script, &members.group(), segments);
            }
            segments
        }
        Way::Gather => {
            script.begin(variant.most, gather_cut(p, GatherTree::Ranks, count));
            if members.join(script, 1) {
                spread_vectors(script, &members.group(), &steps, 1);
                gather(script, p, me, GatherTree::Ranks);
                let result = (me + 1) % p;
                let elements = script.cut().elements(&(result..result + 1));
                assert_eq!(script.results(), [elements]);
                if result > 0 {
                    script.fold(result, 0..1, Join::Store);
                }
            }
            1
        }
    };
    members.hand_out(script, 0..vector);
}

/// Carries out what is written for nodes of these sizes. Where the ranks of a node share memory, leaders send to other
/// nodes what they send without, and other ranks nothing.
fn with_outcome(
    sizes: &[u32],
    root: u32,
    (count, variant): (u64, &Variant),
    write: impl Fn(&mut Script, &Members, u32),
    check: impl Fn(&Outcome),
) {
    let (p, firsts) = (sizes.iter().sum(), firsts(sizes));
    let write = |script: &mut Script, rank, shares| {
        let members = members(sizes, rank, shares);
        write(script, &members, rank);
        script.name_ranks(&members, root, &|node| firsts[node as usize]);
    };
    let scripts = scripts(p, |script, rank| write(script, rank, false));
    let outcome = carry_out(&scripts, count, variant);
    check(&outcome);
    for (rank, port) in (0..).zip(&outcome.ports) {
        let mut between = Script::default();
        write(&mut between, rank, true);
        let own = members(sizes, rank, true);
        assert!(own.leads() || between.sends().is_empty(), "{rank}");
        let is_far = |&(to, _): &(u32, Range<u32>)| members(sizes, to, true).me != own.me;
        let sends = between.sends().iter();
        let sends = sends.map(|send| (send.to, send.blocks.clone()));
        let sent = port.sent.iter().cloned();
        let [mut sends, mut sent] = [sends.collect(), sent.collect()]
            .map(|sends: Vec<_>| sends.into_iter().filter(is_far).collect::<Vec<_>>());
        // In some order: one may go ahead of others.
        sends.sort_by_key(|(to, blocks)| (*to, blocks.start));
        sent.sort_by_key(|(to, blocks)| (*to, blocks.start));
        assert_eq!(sends, sent, "rank {rank} of {sizes:?}");
    }
}

fn in_order(sizes: &[u32]) -> Vec<u16> {
    (0..sizes.iter().sum::<u32>() as u16).collect()
}

fn check_all(sizes: &[u32], way: Way, count: u64, variant: &Variant) {
    let order = in_order(sizes);
    let write = |script: &mut Script, members: &Members, _| {
        write_all(script, members, way, count, variant);
    };
    with_outcome(sizes, 0, (count, variant), write, |outcome| {
        let expected = terms(0..count, |_| &order);
        for rank in 0..order.len() as u32 {
            check(rank, &outcome.first(rank, count), &expected, variant);
        }
    });
}

#[test]
fn all_get_what_leaders_reduce_in_the_order_of_ranks() {
    for (sizes, seed) in nodes_of_any_size().into_iter().zip(500..) {
        for way in WAYS {
            let variants = variants(sizes.iter().sum(), 4, seed);
            for (count, variant) in [0, 1, 7, 40].into_iter().zip(variants) {
                check_all(&sizes, way, count, &variant);
            }
        }
    }
}

fn check_root(sizes: &[u32], root: u32, count: u64, variant: &Variant) {
    let (order, nodes) = (in_order(sizes), sizes.len() as u32);
    let home = firsts(sizes).iter().position(|&first| first == root);
    let home = home.map_or(nodes, |node| node as u32);
    let write = |script: &mut Script, members: &Members, rank: u32| {
        let parts = even(count, nodes);
        let blocks = write_parts(script, members, Way::Ordered, &parts, variant);
        let own = |node: u32| blocks[node as usize].clone();
        if rank == root {
            collect(script, nodes, home, home, own);
        } else if members.leads() {
            collect(script, nodes, members.me, home, own);
        }
    };
    with_outcome(sizes, root, (count, variant), write, |outcome| {
        let expected = terms(0..count, |_| &order);
        check(root, &outcome.first(root, count), &expected, variant);
    });
}

#[test]
fn any_root_gets_what_leaders_reduce_in_the_order_of_ranks() {
    for (sizes, seed) in nodes_of_any_size().into_iter().zip(600..) {
        let p = sizes.iter().sum();
        for (count, variant) in [1, 7, 40, 41].into_iter().zip(variants(p, 4, seed)) {
            check_root(&sizes, variant.rules.seed as u32 % p, count, &variant);
        }
    }
}

fn check_parts(sizes: &[u32], way: Way, parts: &[u64], variant: &Variant) {
    let order = in_order(sizes);
    let of_nodes = in_nodes(parts, sizes).into_iter();
    let of_nodes: Vec<u64> = of_nodes.map(|parts| parts.iter().sum()).collect();
    let write = |script: &mut Script, members: &Members, rank| {
        let blocks = write_parts(script, members, way, &of_nodes, variant);
        members.hand_out(script, blocks[members.me as usize].clone());
        script.result_elements(elements(parts, rank));
    };
    let count = parts.iter().sum();
    with_outcome(sizes, 0, (count, variant), write, |outcome| {
        for rank in 0..order.len() as u32 {
            let expected = terms(elements(parts, rank), |_| &order);
            check(rank, &outcome.result(rank), &expected, variant);
        }
    });
}

/// Parts may have any length, and nodes any number of ranks.
#[test]
fn each_rank_gets_its_part_of_what_leaders_reduce_in_the_order_of_ranks() {
    for sizes in nodes_of_any_size() {
        let p: u32 = sizes.iter().sum();
        let cases = even_cases(p).chain(uneven_cases(p)).step_by(5);
        for ((parts, variant), i) in cases.zip(0..) {
            let way = [Way::Ordered, Way::Split][i % 2];
            check_parts(&sizes, way, &parts, &variant);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn the_order_is_that_of_ranks_on_any_nodes_whatever_is_reduced_how(
        sizes in proptest::collection::vec(1u32..10, 1..12)
            .prop_filter("2 to 40 ranks", |sizes| (2..=40).contains(&sizes.iter().sum::<u32>())),
        parts in proptest::collection::vec(0u64..7, 40),
        which in 0..WAYS.len() + 5,
        mut variant in any_variant(),
    ) {
        let p: u32 = sizes.iter().sum();
        let parts = &parts[..p as usize];
        let (count, root) = (parts.iter().sum(), variant.rules.seed as u32 % p);
        variant.rules.late = (variant.rules.seed & 64 != 0).then_some(root);
        let scan = |prefix| check_scan(&sizes, prefix, (count, variant.segments), &variant);
        match which.checked_sub(WAYS.len()) {
            None => check_all(&sizes, WAYS[which], count, &variant),
            Some(0) => check_root(&sizes, root, count, &variant),
            Some(1) => check_parts(&sizes, Way::Ordered, parts, &variant),
            Some(2) => check_parts(&sizes, Way::Split, parts, &variant),
            Some(3) => scan(Prefix::Inclusive),
            Some(_) => scan(Prefix::Exclusive),
        }
    }
}
