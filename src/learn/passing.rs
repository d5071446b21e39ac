//! Calls that the MPI library has, again and again, so that nobody need be asked about them.

#![forbid(unsafe_code)]

use crate::remembered::{self, PLACES};
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// All that a decision about a valid call depends on besides its communicator and what is known of the network: the
/// collective, and arguments that mean the same in each call. Whether its root is valid, the caller has to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recurring(pub [u64; 4]);

/// A call that is passed on.
#[derive(Debug, Default)]
struct Place {
    call: [AtomicU64; 4],
    /// The number of what was known of the network.
    edition: AtomicU32,
    /// The number of the reason, and one; 0 if there is none.
    reason: AtomicU32,
    /// The place of its contest in the table; if it has none, a number that is none.
    contest: AtomicU32,
}

/// Calls of one communicator that are passed on.
///
/// Those of a contest are counted here: it grants calls that are the MPI library's in any case, and takes back what is
/// left before it is asked anything. So all ranks count alike, whatever each of them remembers.
///
/// A communicator's calls follow one after the other, so that no two threads write here at a time.
#[derive(Debug)]
pub struct Passing<const CONTESTS: usize> {
    places: [Place; PLACES],
    /// For each contest what it granted.
    granted: [AtomicU32; CONTESTS],
    /// And how many of these calls were not made yet.
    left: [AtomicU32; CONTESTS],
    /// How many calls have taken the place of another one.
    replaced: AtomicU32,
}

impl<const CONTESTS: usize> Default for Passing<CONTESTS> {
    fn default() -> Passing<CONTESTS> {
        let none = || std::array::from_fn(|_| AtomicU32::new(0));
        Passing {
            places: Default::default(),
            granted: none(),
            left: none(),
            replaced: AtomicU32::new(0),
        }
    }
}

impl Place {
    /// Is it this call's?
    #[inline]
    fn is_of(&self, Recurring(call): &Recurring) -> bool {
        let words = self.call.iter().zip(call);
        words
            .into_iter()
            .all(|(one, other)| one.load(Relaxed) == *other)
    }
}

impl<const CONTESTS: usize> Passing<CONTESTS> {
    /// The two places that a call may have. With one, two calls in turn might put each other out for ever.
    #[inline]
    fn places(&self, Recurring(call): &Recurring) -> [&Place; 2] {
        let mixed = call.iter().enumerate().fold(0, |mixed, (i, word)| {
            mixed ^ word.rotate_left(13 * i as u32)
        });
        let place = remembered::place(mixed);
        [place, place ^ 1].map(|place| &self.places[place])
    }

    /// One of two places, in no order: in turn, calls might put each other out in each round of a program.
    fn any_of<'a>(&'a self, one: &'a Place, other: &'a Place) -> &'a Place {
        let replaced = self.replaced.load(Relaxed).wrapping_add(1);
        self.replaced.store(replaced, Relaxed);
        let places = match ptr::from_ref(one) < ptr::from_ref(other) {
            true => [one, other],
            false => [other, one],
        };
        places[remembered::spread(replaced.into(), 1)]
    }

    /// Is this call the MPI library's, where what is known of the network has that number? The number of the reason,
    /// and whether the call was counted, because a contest has granted it.
    #[inline]
    pub fn passes(&self, call: &Recurring, edition: u32) -> Option<(u8, bool)> {
        let place = self.place(call)?;
        if place.edition.load(Relaxed) != edition {
            return None;
        }
        let reason = place.reason.load(Relaxed).checked_sub(1)?;
        let left = self.left.get(place.contest.load(Relaxed) as usize);
        if let Some(left) = left {
            left.store(left.load(Relaxed).checked_sub(1)?, Relaxed);
        }
        Some((reason as u8, left.is_some()))
    }

    /// This call, which was just counted, is none on the other ranks.
    #[cold]
    pub fn take_out(&self, call: &Recurring) {
        if let Some(place) = self.place(call)
            && let Some(left) = self.left.get(place.contest.load(Relaxed) as usize)
        {
            left.store(left.load(Relaxed) + 1, Relaxed);
        }
    }

    /// The place that this call has.
    #[inline]
    fn place(&self, call: &Recurring) -> Option<&Place> {
        self.places(call)
            .into_iter()
            .find(|place| place.is_of(call))
    }

    /// From now on it is, for that reason: always, or as often as the contest at a place of the table has granted.
    pub fn keep(&self, call: &Recurring, edition: u32, reason: u8, contest: Option<usize>) {
        let [one, other] = self.places(call);
        let is_free = |place: &Place| {
            place.reason.load(Relaxed) == 0 || place.edition.load(Relaxed) != edition
        };
        let place = match (one.is_of(call), other.is_of(call)) {
            (true, _) => one,
            (false, true) => other,
            (false, false) if is_free(one) => one,
            (false, false) if is_free(other) => other,
            (false, false) => self.any_of(one, other),
        };
        for (word, new) in place.call.iter().zip(call.0) {
            word.store(new, Relaxed);
        }
        place.edition.store(edition, Relaxed);
        place.reason.store(u32::from(reason) + 1, Relaxed);
        let none = CONTESTS as u32;
        place
            .contest
            .store(contest.map_or(none, |contest| contest as u32), Relaxed);
    }

    /// Has to be asked about every call again.
    pub fn forget(&self) {
        for place in &self.places {
            place.reason.store(0, Relaxed);
        }
    }

    /// The contest at this place of the table grants so many calls.
    pub(super) fn grant(&self, contest: usize, calls: u32) {
        self.granted[contest].store(calls, Relaxed);
        self.left[contest].store(calls, Relaxed);
    }

    /// What is left of them is taken back: how many were made.
    #[inline]
    pub(super) fn take_back(&self, contest: usize) -> u32 {
        let (granted, left) = (&self.granted[contest], &self.left[contest]);
        let calls = granted.load(Relaxed).saturating_sub(left.load(Relaxed));
        granted.store(0, Relaxed);
        left.store(0, Relaxed);
        calls
    }
}
