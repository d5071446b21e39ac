//! What ranks say of where they are: who contradicts whom, and that all of a node see it.

use crate::node::views;
use rondo::shm::{Entry, Whereabouts, Who};

const ENTRY: Entry = Entry {
    number: 7,
    collective: 5,
    who: Who::Rondo,
    bytes: 4000,
};

#[test]
fn a_word_says_what_the_entry_says() {
    for who in [Who::Open, Who::Host, Who::Rondo] {
        for number in [1, 2, 0xff_fffe, 0xff_ffff] {
            for (collective, bytes) in [(0, 0), (1, 1), (63, u32::MAX)] {
                let entry = Entry {
                    number,
                    collective,
                    who,
                    bytes,
                };
                assert_eq!(Entry::of(entry.word()), Some(entry));
            }
        }
    }
    assert_eq!(Entry::of(0), None);
}

#[test]
fn numbers_never_come_to_none() {
    assert_eq!(Entry::next(0), 1);
    assert_eq!(Entry::next(1), 2);
    assert_eq!(Entry::next(0xff_fffe), 0xff_ffff);
    assert_eq!(Entry::next(0xff_ffff), 1);
}

/// For each pair of who has the call: does it contradict if nothing differs, and if bytes or collective do?
#[test]
fn one_call_is_not_two() {
    use Who::{Host, Open, Rondo};
    let cases = [
        ((Rondo, Rondo), [false, true]),
        ((Rondo, Open), [false, true]),
        ((Rondo, Host), [true, true]),
        // A rank that has not decided yet may still decide alike, if it is asked the same.
        ((Open, Host), [false, true]),
        ((Open, Open), [false, false]),
        // MPI libraries put up with some errors.
        ((Host, Host), [false, false]),
    ];
    for ((one, other), expected) in cases {
        let one = Entry { who: one, ..ENTRY };
        let other = Entry {
            who: other,
            ..ENTRY
        };
        let bytes = Entry { bytes: 40, ..other };
        let collective = Entry {
            collective: 6,
            ..other
        };
        // One that is in another call has left this one, or comes to it.
        let [next, before] = [8, 6].map(|number| Entry {
            number,
            ..collective
        });
        let [alike, differs] = expected;
        for (other, expected) in [
            (other, alike),
            (bytes, differs),
            (collective, differs),
            (next, false),
            (before, false),
        ] {
            assert_eq!(one.contradicts(&other), expected, "{one:?} {other:?}");
            assert_eq!(other.contradicts(&one), expected, "{other:?} {one:?}");
        }
    }
}

fn ranks() -> Vec<Whereabouts> {
    let views = views(64 << 10, 4).into_iter();
    views.map(|view| view.whereabouts).collect()
}

fn seen(ranks: &[Whereabouts]) -> Vec<Option<(u32, Option<u8>)>> {
    ranks.iter().map(Whereabouts::contradiction).collect()
}

#[test]
fn the_ranks_of_a_node_see_who_is_elsewhere() {
    let ranks = ranks();
    assert_eq!(seen(&ranks), [None; 4], "nobody has said anything");
    for rank in &ranks {
        rank.say(ENTRY);
    }
    assert_eq!(seen(&ranks), [None; 4], "all are in one call");
    ranks[2].say(Entry { bytes: 40, ..ENTRY });
    let third = Some((2, None));
    assert_eq!(seen(&ranks), [third, third, Some((0, None)), third]);
    ranks[2].say(Entry {
        collective: 6,
        ..ENTRY
    });
    let third = Some((2, Some(6)));
    assert_eq!(seen(&ranks), [third, third, Some((0, Some(5))), third]);
    ranks[2].fall_silent();
    assert_eq!(
        seen(&ranks),
        [None; 4],
        "who says nothing contradicts nobody"
    );
}

/// A rank that waits in vain is found by those that went on, up to seven calls later, and finds them.
#[test]
fn calls_before_the_last_one_count() {
    let ranks = ranks();
    for rank in &ranks {
        rank.say(Entry { bytes: 9, ..ENTRY });
    }
    ranks[1].say(Entry {
        who: Who::Host,
        number: 8,
        ..ENTRY
    });
    let second = Some((1, None));
    for number in 8..16 {
        ranks[0].say(Entry { number, ..ENTRY });
        assert_eq!(
            seen(&ranks),
            [second, Some((0, None)), None, None],
            "{number}"
        );
    }
    ranks[0].say(Entry {
        number: 16,
        ..ENTRY
    });
    assert_eq!(seen(&ranks), [None; 4], "too long ago");
}
