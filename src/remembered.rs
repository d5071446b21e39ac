//! What a thread remembers: answers to questions that its program repeats again and again.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::thread::LocalKey;

/// Questions whose answers are remembered, two to the power of so many.
const PLACE_BITS: u32 = 4;

/// So many.
pub const PLACES: usize = 1 << PLACE_BITS;

/// The place of a question, by a number made from all that it depends on.
#[inline]
pub fn place(mixed: u64) -> usize {
    spread(mixed, PLACE_BITS)
}

/// One of two to the power of `bits` places for a number, of which neighbours have others, in no order.
#[inline]
pub fn spread(number: u64, bits: u32) -> usize {
    // Knuth's multiplicative hashing: the highest bits of the product depend on all bits of a factor.
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - bits)) as usize
}

/// The answer to a question that this thread remembers, or else by `find`: see [`Remembered::answer`].
#[inline]
pub fn answer<Q: Copy + PartialEq, A: Copy>(
    all: &'static LocalKey<Remembered<Q, A>>,
    mixed: u64,
    question: Q,
    find: impl Fn() -> A,
) -> A {
    // A thread that ends may make its last calls behind the end of its variables.
    all.try_with(|all| all.answer(mixed, question, &find))
        .unwrap_or_else(|_| find())
}

/// What one thread remembers: for each place what was asked last, and the answer; nothing before the first question.
/// On the heap, because a thread's stack gives room for the variables of each of its process's libraries, and threads
/// have stacks of few pages.
pub struct Remembered<Q, A>(RefCell<Vec<Option<(Q, A)>>>);

impl<Q: Copy + PartialEq, A: Copy> Remembered<Q, A> {
    /// Nothing.
    pub const fn nothing() -> Remembered<Q, A> {
        Remembered(RefCell::new(Vec::new()))
    }

    /// The answer to `question`, by `find` unless it is remembered. Questions that `mixed`, a number made from all that
    /// they depend on, tells apart mostly have different places. `find` may ask itself.
    #[inline]
    pub fn answer(&self, mixed: u64, question: Q, find: impl FnOnce() -> A) -> A {
        let place = place(mixed);
        if let Some(Some((asked, answer))) = self.0.borrow().get(place)
            && *asked == question
        {
            return *answer;
        }
        let answer = find();
        let mut places = self.0.borrow_mut();
        if places.is_empty() {
            places.resize(PLACES, None);
        }
        places[place] = Some((question, answer));
        answer
    }
}
