//! Controls: the ring of these tests notices what a rank does without the right to do it.

use super::ring::{Ring, Verdict};
use super::world::{Call, Case, attempt};
use crate::case::rng;
use rondo::engine::node::Tree;
use rondo::script::Fold;

const CALL: usize = 3;

fn fault<T: std::fmt::Debug>(verdict: Verdict<T>, says: &str) {
    let fault = verdict.unwrap_err();
    assert!(fault.contains(says), "{fault}");
}

/// Three ranks, of which each has put a mark and two elements of 8 bytes into its slot of 128 bytes and published them.
fn put() -> Ring {
    let mut ring = Ring::new(3, 4096, rng(1));
    for me in 0..3 {
        let slot = 128 * u64::from(me);
        assert!(ring.has_room(me, slot + 128));
        ring.mark(me, slot, CALL).unwrap();
        let own = ring.terms.of(me);
        ring.put(me, slot + 64, 8, &[(0, own), (1, own)]).unwrap();
        ring.publish(me, 1).unwrap();
    }
    ring
}

/// The same, seen by all; ranks 0 and 1 have checked the marks.
fn begun() -> Ring {
    let mut ring = put();
    assert!(ring.reveal());
    for me in 0..2 {
        for writer in (0..3).filter(|&writer| writer != me) {
            ring.check(me, 128 * u64::from(writer), writer, CALL)
                .unwrap();
        }
    }
    ring
}

#[test]
fn what_is_put_is_read_once_it_was_published_and_that_was_seen() {
    let mut ring = put();
    fault(ring.check(1, 0, 0, CALL), "does not see Written");
    ring.reveal();
    fault(ring.check(1, 0, 0, 2), "mark of call 2");
    fault(ring.check(1, 0, 2, CALL), "for 2's mark");
    fault(ring.get(1, (64, 1), 8, CALL), "without its mark");
    ring.check(1, 0, 0, CALL).unwrap();
    ring.get(1, (64, 2), 8, CALL).unwrap();
    fault(ring.get(1, (64, 3), 8, CALL), "80: it is not written");
    fault(ring.get(1, (64, 1), 4, CALL), "it is not written");
    ring.release(1, 65).unwrap();
    fault(ring.get(1, (64, 1), 8, CALL), "it has released 65");
}

#[test]
fn what_is_joined_is_read_once_it_was_published_and_that_was_seen() {
    let mut ring = begun();
    ring.join(0, (64, 192, 1), (8, false), CALL).unwrap();
    fault(ring.get(1, (192, 1), 8, CALL), "does not see Joined");
    ring.publish_joined(0, 1).unwrap();
    fault(ring.get(1, (192, 1), 8, CALL), "does not see Joined");
    ring.reveal();
    let got = ring.get(1, (192, 1), 8, CALL).unwrap();
    assert_eq!(ring.terms.show(got[0].1), "(0 1)");
}

#[test]
fn nobody_joins_what_another_rank_joins() {
    for (left, to) in [(64, 320), (320, 192)] {
        let mut ring = begun();
        ring.join(0, (64, 192, 1), (8, false), CALL).unwrap();
        ring.publish_joined(0, 1).unwrap();
        ring.reveal();
        let verdict = ring.join(1, (left, to, 1), (8, false), CALL);
        fault(verdict, "which rank 0 joins");
    }
    let mut ring = begun();
    ring.join(0, (64, 192, 1), (8, true), CALL).unwrap();
    let verdict = ring.join(1, (72, 200, 1), (8, true), CALL);
    fault(verdict, "is that of rank 0");
    fault(
        begun().join(0, (64, 200, 1), (8, false), CALL),
        "joins 0 to 1",
    );
}

#[test]
fn a_place_is_written_once_all_have_released_it_and_that_was_seen() {
    let mut ring = put();
    fault(ring.mark(0, 4096, CALL), "without room");
    for me in 0..3 {
        ring.release(me, 384).unwrap();
    }
    ring.reveal();
    assert!(ring.has_room(0, 4096 + 384) && !ring.has_room(0, 4096 + 385));
    ring.mark(0, 4096, CALL).unwrap();
    fault(ring.mark(0, 4096, CALL), "is written");
    fault(ring.put(0, 4160, 8, &[(0, 0); 800]), "wrap");
    assert!(ring.has_room(1, 4096 + 384));
    fault(ring.mark(1, 4104, CALL), "is that of rank 0");
    fault(ring.release(0, 383), "releases 383 after 384");
}

/// Three ranks that want the upper parts of a long vector, at the beginning of the memory in which it is.
#[test]
fn a_result_that_moves_in_place_is_written_over_operands() {
    let want = |elements| vec![super::of_all(elements, 0)];
    let case = |in_place| Case {
        ranks: 3,
        capacity: 4096,
        calls: vec![Call::Reduce {
            unit: 8,
            elements: 3000,
            trees: vec![Tree {
                end: 3000,
                fold: Fold::From(0),
            }],
            wants: vec![want(0..300), want(300..600), want(600..3000)],
            in_place,
            by_calls: false,
            order: super::First::Usual,
        }],
        late: None,
        seed: 1,
    };
    attempt(&case(false)).unwrap();
    fault(attempt(&case(true)), "has no");
}
