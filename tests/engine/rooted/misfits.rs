//! A rank and the root that have different counts for its block.

use super::case::{Case, Failure, carry_out, shuffled};
use super::everywhere::case;
use super::net::RootedOp;
use rondo::engine::rooted::{Misfit, RootedTree};

/// One rank has another count for its block than the root. By a packet with its size this is always noticed; two long
/// blocks differ on the network; otherwise ranks wait for each other, and it is for the wire to notice.
#[test]
fn a_count_that_is_not_the_roots_is_noticed() {
    let counts = [0, 1, 9, 10, 11];
    for p in [2, 3, 4, 7, 9] {
        for seed in 0..6u64 {
            let root = seed as u32 % p;
            for rank in (0..p).filter(|rank| *rank != root) {
                for (own, at_root) in counts.iter().flat_map(|a| counts.map(|b| (*a, b))) {
                    for op in [RootedOp::Gather, RootedOp::Scatter] {
                        for shape in [RootedTree::Star, RootedTree::Binomial, RootedTree::Adaptive]
                        {
                            let mut case = case(op, shape, root, vec![7; p as usize]);
                            case.long = if shape == RootedTree::Star { 1 } else { 10 };
                            case.window = [1, 64][seed as usize % 2];
                            case.sizes[rank as usize] = at_root;
                            case.other = Some((rank, own));
                            if own != at_root {
                                check(&case, rank, own, seed);
                            }
                        }
                    }
                }
            }
        }
    }
}

fn check(case: &Case, rank: u32, own: u64, seed: u64) {
    let root = case.sizes[rank as usize];
    let failure = match carry_out(case, &mut vec![], shuffled(seed)) {
        Ok(_) => panic!("{case:?} is not noticed"),
        Err(failure) => failure,
    };
    let misfit = Misfit::Block { rank, own, root };
    let [small, large] = [own.min(root), own.max(root)];
    let by_packet = match case.op {
        RootedOp::Gather => case.shape != RootedTree::Star,
        RootedOp::Scatter => small > 0 && large < case.long,
    };
    let sees = if case.op == RootedOp::Gather {
        case.root
    } else {
        rank
    };
    // If the root asks a rank that has nothing to send, the rank may notice it while it looks for its
    // place.
    let asked = Failure::Misfit(rank, Misfit::Stranger(case.root));
    if failure == asked && case.asks() && case.shape == RootedTree::Adaptive && own < case.long {
        return;
    }
    let Failure::Fault(fault) = &failure else {
        assert!(by_packet, "{case:?}: {failure:?}");
        assert_eq!(failure, Failure::Misfit(sees, misfit), "{case:?}");
        return;
    };
    let right = if small >= case.long {
        fault.contains("receives")
    } else {
        !by_packet && (fault == "no rank can go on" || fault.contains("nobody takes"))
    };
    assert!(right, "{case:?}: {fault}");
}
