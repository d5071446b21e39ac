//! Where the bytes of all ranks are when they are put one behind the other, node by node, against lists in
//! which every byte has an entry.

use super::plan::{Call, Plan};
use proptest::prelude::*;
use rondo::engine::Way;
use rondo::engine::node::{Messages, Places, slices};
use rondo::schedule::{Blocks, Span};
use rondo::topology::Topology;

/// Every byte in the order of places, as its rank and its number in the part of that.
fn bytes(topology: &Topology, sizes: &[u64]) -> Vec<(u32, u64)> {
    let ranks = (0..topology.nodes()).flat_map(|node| topology.locals(node));
    let part = |&rank: &u32| (0..sizes[rank as usize]).map(move |i| (rank, i));
    ranks.flat_map(part).collect()
}

/// What `each` says of `span`, byte by byte.
fn each(places: &Places, span: Span) -> Vec<(u32, u64)> {
    let mut bytes = vec![];
    places.each(span, |rank, span| {
        bytes.extend((span.offset..span.end()).map(|i| (rank, i)));
    });
    bytes
}

fn range(span: Span) -> std::ops::Range<usize> {
    span.offset as usize..span.end() as usize
}

fn check(topology: &Topology, plan: &Plan, sizes: &[u64], lanes: u32) {
    let (all, places) = (bytes(topology, sizes), plan.places());
    let end = all.len() as u64;
    for node in 0..topology.nodes() {
        let node_part = places.node_part(node);
        let own = all.iter().filter(|(rank, _)| topology.node(*rank) == node);
        assert_eq!(&all[range(node_part)], own.copied().collect::<Vec<_>>());
        // The shares follow each other, and differ by a byte at the most.
        let mut offset = node_part.offset;
        for lane in 0..lanes {
            let share = places.share(node, (lane, lanes));
            assert_eq!(share.offset, offset);
            offset = share.end();
            let even = node_part.len / u64::from(lanes);
            assert!(
                (even..=even + 1).contains(&share.len),
                "{share:?} of {node_part:?}"
            );
        }
        assert_eq!(offset, node_part.end());
    }
    for (rank, &len) in (0..).zip(sizes) {
        let part = places.part(rank);
        assert_eq!(part.len, len);
        assert!(
            all[range(part)]
                .iter()
                .eq(&(0..len).map(|i| (rank, i)).collect::<Vec<_>>())
        );
    }
    for offset in 0..=end {
        for len in [0, 1, 2, 7, end - offset] {
            let span = Span {
                offset,
                len: len.min(end - offset),
            };
            assert_eq!(
                each(&places, span),
                all[range(span)],
                "{span:?} of {sizes:?}"
            );
        }
    }
}

#[test]
fn what_a_leader_has_is_listed_block_by_block() {
    let mut messages = Messages::default();
    messages.list_own(Blocks::new(10, 4));
    let lens: Vec<u64> = (0..4).map(|i| messages.spans(i)[0].len).collect();
    assert_eq!((messages.count(), messages.longest()), (4, 3));
    assert_eq!(lens, [3, 3, 2, 2]);
    messages.list_own(Blocks::new(3, 9));
    assert_eq!(
        (messages.count(), messages.longest()),
        (3, 1),
        "no empty ones"
    );
    messages.clear();
    assert_eq!((messages.count(), messages.longest()), (0, 0));
}

proptest! {
    #[test]
    fn every_byte_of_an_allgather_has_its_place(
        ranks in prop::collection::vec((0u64..4, prop_oneof![Just(0), 0u64..9]), 1..12),
        lanes in 1u32..4,
    ) {
        let (nodes, sizes): (Vec<u64>, Vec<u64>) = ranks.into_iter().unzip();
        let topology = Topology::new(&nodes);
        let call = Call::allgather(sizes.clone(), Way::Bruck, 1);
        check(&topology, &Plan::new(&topology, &call, 0), &sizes, lanes);
    }

    #[test]
    fn every_byte_of_a_broadcast_has_its_place(
        nodes in prop::collection::vec(0u64..4, 1..12), root in 0usize..12, len in 0u64..30,
        lanes in 1u32..4,
    ) {
        let (topology, root) = (Topology::new(&nodes), root % nodes.len());
        let mut sizes = vec![0; nodes.len()];
        sizes[root] = len;
        let call = Call::bcast(nodes.len() as u32, root as u32, len, 1);
        check(&topology, &Plan::new(&topology, &call, 0), &sizes, lanes);
    }

    /// Enough slices, and not one more than enough.
    #[test]
    fn slices_are_as_few_as_possible(bytes in 0u64..1 << 30, lines in 1u64..1 << 10) {
        let quarter = 16 * lines;
        let n = u64::from(slices(bytes, 4 * quarter));
        prop_assert!(bytes <= n * quarter);
        prop_assert!(n == 1 || bytes > (n - 1) * quarter);
    }
}
