//! Groups of ranks and the binomial tree over them, against groups that are built one by one.

use super::trees::{Rule, rounds, tree};
use rondo::tree::{Content, Groups};

/// Parents, children and subtrees of all ranks say the same, and what the oracle says.
fn check(p: u32, root: u32) {
    let groups = Groups::new(p, root);
    let tree = tree(&vec![Some(1); p as usize], root, Rule::Upper);
    let below = tree.below();
    let q = rounds(p);
    assert_eq!(groups.rounds(), q, "p = {p}");
    let mut children = vec![vec![]; p as usize];
    for (rank, parent) in (0..).zip(&tree.parents) {
        if let Some(parent) = *parent {
            children[parent as usize].push(rank);
        }
    }
    for rank in 0..p {
        let here = format!("p = {p}, root {root}, rank {rank}");
        assert_eq!(groups.parent(rank), tree.parents[rank as usize], "{here}");
        assert!(tree.depth(rank) <= q, "{here}");
        let mut found: Vec<u32> = Vec::new();
        for (child, ranks) in groups.children(rank) {
            let ranks: Vec<u32> = ranks.collect();
            assert_eq!(ranks, below[child as usize], "{here}: child {child}");
            found.push(child);
        }
        // In the order of rounds; a child's group is another one in the round before it joins.
        let joins = found.iter().map(|child| (child ^ rank).ilog2());
        assert!(joins.is_sorted_by(|a, b| a < b), "{here}");
        found.sort_unstable();
        assert_eq!(found, children[rank as usize], "{here}");
    }
}

#[test]
fn every_rank_says_the_same_of_its_tree() {
    for p in 1..=64 {
        for root in 0..p {
            check(p, root);
        }
    }
    for p in [65, 67, 129, 161, 1000] {
        for root in [0, 1, 63, 64, p / 2, p - 2, p - 1] {
            check(p, root);
        }
    }
    for root in [0, 12_345, (1 << 16) - 1] {
        check(1 << 16, root);
    }
}

/// Groups are aligned with the ranks, and two siblings are the group of the next round.
#[test]
fn siblings_make_a_group() {
    for p in (1..=70).chain([129, 1000]) {
        let groups = Groups::new(p, p / 2);
        for rank in 0..p {
            assert_eq!(groups.group(0, rank), rank..rank + 1);
            assert_eq!(groups.group(groups.rounds(), rank), 0..p);
            for round in 0..groups.rounds() {
                let group = groups.group(round, rank);
                let sibling = groups.sibling(round, rank);
                let both = groups.group(round + 1, rank);
                assert_eq!(group.start % (1 << round), 0);
                let (low, high) = match group.start < sibling.start {
                    true => (group, sibling),
                    false => (sibling, group),
                };
                assert_eq!((low.start, low.end), (both.start, high.start));
                assert_eq!(high.end, both.end, "p = {p}, {rank} in round {round}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "there is no root 3 of 3 ranks")]
fn a_root_is_a_rank() {
    Groups::new(3, 3);
}

/// The leader with less to receive sends, then the one with the smaller block, then the lower one; the
/// root of all never does. Both sides say the same.
#[test]
fn who_sends_in_an_adaptive_tree() {
    let content = |root, own, receives| Content {
        root,
        own,
        total: own + receives,
    };
    let up = |lower: (u64, u64), upper: (u64, u64), given| {
        let (lower, upper) = (content(1, lower.0, lower.1), content(2, upper.0, upper.1));
        let up = lower.sends_to(&upper, true, given);
        assert_eq!(up, !upper.sends_to(&lower, false, given));
        up
    };
    for given in [None, Some(3)] {
        assert!(up((9, 1), (0, 2), given) && !up((0, 2), (9, 1), given));
        assert!(up((3, 5), (4, 5), given) && !up((4, 5), (3, 5), given));
        assert!(up((3, 5), (3, 5), given));
    }
    assert!(!up((0, 0), (9, 9), Some(1)) && up((9, 9), (0, 0), Some(2)));
    let joined = content(1, 3, 4).with(&content(2, 5, 6));
    assert_eq!(joined, content(1, 3, 4 + 11));
}
