//! What a thread remembers.

#![forbid(unsafe_code)]

use rondo::remembered::Remembered;
use std::cell::Cell;

#[test]
fn a_question_is_answered_once_until_another_takes_its_place() {
    let remembered = Remembered::nothing();
    let found = Cell::new(0);
    let ask = |mixed: u64, question: u32| {
        remembered.answer(mixed, question, || {
            found.set(found.get() + 1);
            question * 2
        })
    };
    assert_eq!((ask(1, 7), found.get()), (14, 1));
    assert_eq!((ask(1, 7), found.get()), (14, 1), "remembered");
    assert_eq!(
        (ask(1, 8), found.get()),
        (16, 2),
        "another question in that place"
    );
    assert_eq!((ask(1, 7), found.get()), (14, 3), "forgotten for it");
}

#[test]
fn a_question_may_lead_to_another_one() {
    let remembered = Remembered::nothing();
    let answer = remembered.answer(1, 1, || remembered.answer(1, 2, || 20) + 1);
    assert_eq!(answer, 21);
    assert_eq!(remembered.answer(1, 1, || 0), 21);
}
