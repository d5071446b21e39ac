//! Over nodes: short all-reductions by exact operators, up a tree inside each node, between leaders, and down a tree;
//! and scans, along the ranks of each node and between the last ranks of all nodes.

use super::{carry_out, check_complete, check_prefixes, even, even_cases, gather_cases, scripts};
use crate::wire::rng;
use proptest::prelude::*;
use rondo::schedule::{Shape, Steps};
use rondo::script::{GatherNodes, Group, NodeScan, Prefix, Script, Source};

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
                let scripts = scripts(p, |script, rank| {
                    with_scan(sizes, rank, prefix, |scan| {
                        let scan = NodeScan { n, ..scan };
                        begin(script, &scan, (variant.most, count));
                        scan.by_messages(script);
                    });
                });
                let outcome = carry_out(&scripts, count, &variant);
                check_prefixes((prefix, count), &scripts, &outcome, &variant);
            }
        }
    }
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
