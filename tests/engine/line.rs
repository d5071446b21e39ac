//! Messages in flight: which of them are looked at, and found complete.

use rondo::engine::{Line, Sends};
use std::cell::Cell;
use std::collections::BTreeSet;

type Messages<'a> = Sends<&'a Cell<bool>, u32>;

/// All that are found complete, until none is, and how often messages were tested.
fn found(sends: &mut Messages) -> (Vec<(u32, u32)>, u32) {
    let (mut all, mut tests) = (Vec::new(), 0);
    loop {
        let found = sends.poll(|message| {
            tests += 1;
            Ok::<_, ()>(message.get().then_some(()))
        });
        match found.expect("no test fails") {
            Some((number, to, (), what)) => {
                assert_eq!(number, what, "they are numbered as they began");
                all.push((number, to));
            }
            None => return (all, tests),
        }
    }
}

/// A synchronous message is complete a round trip later. Those behind it in the standard mode, to the same rank, do not
/// wait for that.
#[test]
fn standard_sends_do_not_wait_for_the_answer_to_a_synchronous_one() {
    let (answered, complete) = (Cell::new(false), Cell::new(true));
    let mut sends = Messages::default();
    for _ in 0..2 {
        answered.set(false);
        sends.begin();
        sends.reserve(4).unwrap();
        let bytes = sends.bytes();
        sends.push(7, true, &answered, 0);
        let mut number = 1;
        // Far more than there is room for at a time.
        for _ in 0..100 {
            for to in [7, 7, 8] {
                sends.push(to, false, &complete, number);
                number += 1;
            }
            let (all, tests) = found(&mut sends);
            assert_eq!(all, [(number - 3, 7), (number - 2, 7), (number - 1, 8)]);
            assert!(tests <= 4 * 3, "{tests} tests");
        }
        assert_eq!(sends.bytes(), bytes, "nothing is allocated");
        assert_eq!(sends.pending().count(), 1);
        answered.set(true);
        assert_eq!(found(&mut sends).0, [(0, 7)]);
        assert_eq!(sends.pending().count(), 0);
    }
}

/// Messages of each mode to a rank are found complete in their order, and none waits for those to another rank.
#[test]
fn sends_of_a_mode_to_a_rank_are_complete_in_their_order() {
    let cells: Vec<_> = (0..6).map(|_| Cell::new(false)).collect();
    let mut sends = Messages::default();
    sends.begin();
    for (number, cell) in cells.iter().enumerate() {
        let to = number as u32 / 3;
        sends.push(to, number % 3 < 2, cell, number as u32);
    }
    assert!(sends.is_by_itself(0) && sends.is_by_itself(1));
    let mut after = |complete: usize| {
        cells[complete].set(true);
        let mut all = Vec::new();
        // What is looked at takes turns.
        for _ in 0..4 {
            all.extend(found(&mut sends).0);
        }
        all
    };
    assert_eq!(after(1), [], "one before it is not complete");
    assert_eq!(after(3), [(3, 1)]);
    assert_eq!(after(5), [(5, 1)]);
    assert_eq!(after(0), [(0, 0), (1, 0)]);
    assert_eq!(after(4), [(4, 1)]);
    assert_eq!(after(2), [(2, 0)]);
}

/// 64 receives from 6 ranks: a look at them tests the oldest one and one other, and so many looks as there are ranks
/// test the oldest of each of them and none behind it. So what comes first from a rank is found within as many looks,
/// however many receives there are.
#[test]
fn a_look_at_receives_tests_a_few_of_them() {
    const RANKS: u32 = 6;
    const RECEIVES: u32 = 64;
    let cells: Vec<_> = (0..RECEIVES).map(|_| Cell::new(false)).collect();
    let mut receives: Line<(u32, &Cell<bool>), ()> = Line::default();
    receives.begin();
    for (number, cell) in (0..).zip(&cells) {
        receives.push(number % RANKS, (number, cell), ());
    }
    // What is found in a look, and what was tested.
    let mut look = || {
        let mut tested = Vec::new();
        let found = receives.poll(|(number, message)| {
            tested.push(*number);
            Ok::<_, ()>(message.get().then_some(()))
        });
        let found = found.expect("no test fails");
        (found.map(|(number, from, ..)| (number, from)), tested)
    };
    let mut oldest: Vec<u32> = (0..RANKS).collect();
    // One after the other, those of the last rank first.
    for from in (0..RANKS).rev() {
        for number in (from..RECEIVES).step_by(RANKS as usize) {
            let mut all = BTreeSet::new();
            for _ in 0..RANKS {
                let (found, tested) = look();
                assert_eq!(found, None, "nothing has come");
                assert!(tested.len() <= 2, "{tested:?}");
                all.extend(tested);
            }
            assert!(all.iter().eq(&oldest), "{all:?} of {oldest:?}");
            cells[number as usize].set(true);
            let looks = (0..RANKS).map(|_| look());
            let found = looks.filter_map(|(found, _)| found).collect::<Vec<_>>();
            assert_eq!(found, [(number, from)]);
            let next = number + RANKS;
            oldest.retain(|&it| it != number);
            oldest.extend(Some(next).filter(|&next| next < RECEIVES));
            oldest.sort_unstable();
        }
    }
    assert_eq!(look(), (None, vec![]), "all have come");
}
