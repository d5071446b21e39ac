//! Short all-reductions over nodes by exact operators: up a tree inside each node, between leaders, and down a tree.

use super::{carry_out, check_complete, gather_cases, scripts};
use crate::wire::rng;
use proptest::prelude::*;
use rondo::schedule::{Shape, Steps};
use rondo::script::{GatherNodes, Group};

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
