//! The division of a total among the ranks.

use std::collections::HashSet;

use proptest::prelude::*;
use rondo::schedule::Parts;

fn parts(sizes: &[u64]) -> Parts {
    let mut parts = Parts::default();
    let set = parts.set(sizes.iter().copied().map(Some));
    assert_eq!(set, Some(()), "{sizes:?}");
    parts
}

/// Whether these are the bytes of ranks.
fn set(sizes: &[Option<u64>]) -> Option<()> {
    Parts::default().set(sizes.iter().copied())
}

#[test]
fn nothing_is_left_of_the_parts_before() {
    let mut parts = parts(&[9, 9, 9, 9]);
    for sizes in [&[0, 2][..], &[0; 6], &[]] {
        assert_eq!(parts.set(sizes.iter().copied().map(Some)), Some(()));
        assert_eq!(parts, self::parts(sizes));
        assert_eq!(parts.p() as usize, sizes.len());
    }
    // Nor of parts that were none.
    assert_eq!(parts.set([Some(7), None].into_iter()), None);
    assert_eq!(parts.set([Some(1)].into_iter()), Some(()));
    assert_eq!(parts, self::parts(&[1]));
}

#[test]
fn no_ranks_have_no_bytes() {
    let parts = Parts::default();
    assert_eq!((parts.p(), parts.total(), parts.largest()), (0, 0, 0));
    assert!(parts.contributors().is_empty());
}

/// A negative count, or one whose bytes are no number of 64 bits, comes as `None`.
#[test]
fn what_is_no_number_of_bytes_is_refused_wherever_it_is() {
    for place in 0..3 {
        let mut sizes = [Some(1); 3];
        sizes[place] = None;
        assert_eq!(set(&sizes), None, "{place}");
    }
}

#[test]
fn a_total_beyond_64_bits_is_refused() {
    let most = u64::MAX;
    assert_eq!(set(&[Some(most), Some(0), Some(1)]), None);
    assert_eq!(set(&[Some(most / 2 + 1); 2]), None);
    let parts = parts(&[most - 1, 1, 0]);
    assert_eq!((parts.total(), parts.largest()), (most, most - 1));
}

/// Ranks that state other parts have other tags, so that the mistake is seen and does not mix data.
#[test]
fn parts_that_differ_have_different_hashes() {
    let mut hashes = HashSet::new();
    let mut cases = 0;
    let mut see = |sizes: &[u64]| {
        cases += 1;
        hashes.insert(parts(sizes).hash());
    };
    // All divisions of up to 3 bytes each among up to 6 ranks: entries swapped, moved, added.
    for p in 0..=6u32 {
        for number in 0..4u64.pow(p) {
            let sizes: Vec<u64> = (0..p).map(|rank| number >> (2 * rank) & 3).collect();
            see(&sizes);
        }
    }
    assert_eq!((hashes.len(), cases), (5461, 5461));
    let equal = [parts(&[1, 2, 3]), parts(&[1, 2, 3])].map(|parts| parts.hash());
    assert_eq!(equal[0], equal[1]);
}

#[test]
fn memory_is_kept_from_call_to_call() {
    let mut parts = parts(&[1; 1000]);
    let bytes = parts.bytes();
    assert!(bytes >= 1001 * 8 + 1000 * 4, "{bytes} bytes");
    for sizes in [[5; 1000].as_slice(), &[0; 1000], &[1; 3], &[2; 1000]] {
        parts.set(sizes.iter().copied().map(Some)).unwrap();
        assert_eq!(parts.bytes(), bytes);
    }
}

proptest! {
    #[test]
    fn everything_follows_from_the_sizes(
        sizes in prop::collection::vec(prop_oneof![Just(0), 0u64..1 << 50], 1..100),
        first in any::<u32>(), count in any::<u32>(), other in any::<u32>(), by in 1u64..1 << 50,
    ) {
        let p = sizes.len();
        let (first, count) = (first as usize % p, count as usize % (p + 1));
        let parts = parts(&sizes);
        prop_assert_eq!(parts.p() as usize, p);
        prop_assert_eq!(parts.total(), sizes.iter().sum::<u64>());
        prop_assert_eq!(Some(&parts.largest()), sizes.iter().max());
        let contributors: Vec<u32> = (0..p as u32).filter(|&r| sizes[r as usize] > 0).collect();
        prop_assert_eq!(parts.contributors(), contributors);
        for rank in 0..p {
            let span = parts.span(rank as u32);
            prop_assert_eq!(span.len, sizes[rank]);
            prop_assert_eq!(span.offset, sizes[..rank].iter().sum::<u64>());
        }
        let window: u64 = (first..first + count).map(|rank| sizes[rank % p]).sum();
        prop_assert_eq!(parts.window(first as u32, count as u32), window);
        // One other entry, however small the difference.
        let mut changed = sizes;
        changed[other as usize % p] += by;
        prop_assert_ne!(self::parts(&changed).hash(), parts.hash());
    }
}

#[test]
fn equal_parts_are_those_of_their_size_whatever_was_before() {
    let mut kept = Parts::default();
    for (p, bytes) in [
        (1, 0),
        (1, 5),
        (4, 5),
        (4, 5),
        (3, 5),
        (3, 0),
        (3, 0),
        (3, 7),
    ] {
        assert_eq!(kept.set_equal(p, Some(bytes)), Some(()));
        assert_eq!(kept, parts(&vec![bytes; p as usize]), "{p} of {bytes}");
        assert_eq!((kept.p(), kept.equal()), (p, Some(bytes)));
        // Of the same largest part, or of the same total.
        for other in [vec![bytes, bytes + 1], vec![bytes, 0, 0], vec![2 * bytes]] {
            let mut changed = kept.clone();
            changed.set(other.iter().copied().map(Some)).unwrap();
            changed.set_equal(p, Some(bytes)).unwrap();
            assert_eq!(changed, kept, "{p} of {bytes} after {other:?}");
        }
    }
    assert_eq!(parts(&[3, 3, 2]).equal(), None);
    assert_eq!(Parts::default().equal(), None);
    assert_eq!(kept.set_equal(3, None), None);
    assert_eq!(
        kept.set_equal(3, Some(u64::MAX)),
        None,
        "no number of bytes in all"
    );
    assert_eq!(kept.set_equal(3, Some(7)), Some(()));
    assert_eq!(kept, parts(&[7; 3]));
}
