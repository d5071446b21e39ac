//! All contests on one communicator.

#![forbid(unsafe_code)]

use super::{Candidate, Contest, Prior, SIZE_CLASSES, Saved, Spent, passing};
use crate::collective::Collective;
use std::sync::Arc;

/// Size classes on a communicator about which something is learnt. Calls of others follow the built-in choice.
const CONTESTS: usize = 45;

/// Size classes whose bytes differ by no more than a factor of four are alike enough to guess one from the other.
const NEARBY: u8 = 4;

/// Who is so many times as fast for calls of a nearby size class has those of a new one from the start.
const CLEAR: f64 = 1.2;

/// Calls of a communicator that are passed on without a question.
pub type Passing = passing::Passing<CONTESTS>;

/// All that is learnt on one communicator.
#[derive(Debug, Default)]
pub struct Table {
    /// For each collective, up to the last one that has any, and size class, the place of its contest and one, or 0.
    places: Vec<[u8; SIZE_CLASSES]>,
    contests: Vec<Contest>,
    /// What the contests have granted.
    passing: Arc<Passing>,
    /// What the calls of each took on this rank, where that is asked for.
    spent: Vec<Spent>,
}

impl Table {
    /// The contest for calls of this size class, if there is one yet.
    #[inline]
    pub fn contest(&mut self, collective: Collective, class: u8) -> Option<&mut Contest> {
        let place = self.place(collective, class)?;
        let contest = self.contests.get_mut(place)?;
        contest.pass(self.passing.take_back(place));
        Some(contest)
    }

    /// Calls that are passed on.
    pub fn passing(&self) -> &Arc<Passing> {
        &self.passing
    }

    /// The contest for calls of this size class, if there is one, grants those that are the host's in any case. Its
    /// place, if there are any.
    pub fn grant(&mut self, collective: Collective, class: u8) -> Option<usize> {
        let place = self.place(collective, class)?;
        let calls = self.contest(collective, class)?.foregone();
        (calls > 0).then(|| {
            self.passing.grant(place, calls);
            place
        })
    }

    /// Where the contest for these calls is, if there is one.
    #[inline]
    fn place(&self, collective: Collective, class: u8) -> Option<usize> {
        let classes = self.places.get(collective as usize)?;
        usize::from(classes[usize::from(class)]).checked_sub(1)
    }

    /// Is there no room for a new contest?
    #[inline]
    pub fn is_full(&self) -> bool {
        self.contests.len() == CONTESTS
    }

    /// The contest for these calls, now made; `None` if there are too many.
    #[cold]
    pub fn add(&mut self, collective: Collective, prior: &Prior) -> Option<&mut Contest> {
        if self.is_full() {
            return None;
        }
        let rows = self.places.len().max(collective as usize + 1);
        self.places.resize(rows, [0; SIZE_CLASSES]);
        let mut prior = *prior;
        if let Some(ratio) = self.ratio_nearby(collective, prior.class) {
            // How the host compares with Rondo where sizes are similar is a better guess than any other, and than the
            // rules if the difference is clear.
            let [host, first, ..] = &mut prior.expected;
            match prior.default {
                Candidate::Host if first.is_some() => {
                    *first = Some(1.0 / ratio);
                    if ratio > CLEAR {
                        (prior.default, *host) = (Candidate::First, Some(ratio));
                    }
                }
                Candidate::First if host.is_some() => {
                    *host = Some(ratio);
                    if ratio < 1.0 / CLEAR {
                        (prior.default, *first) = (Candidate::Host, Some(1.0 / ratio));
                    }
                }
                Candidate::Host | Candidate::First | Candidate::Second | Candidate::Third => {}
            }
        }
        self.contests.reserve_exact(1);
        self.contests.push(Contest::new(&prior));
        self.places[collective as usize][usize::from(prior.class)] = self.contests.len() as u8;
        self.contests.last_mut()
    }

    /// How many times as long as Rondo the host takes for the nearest size class of which that is known.
    fn ratio_nearby(&self, collective: Collective, class: u8) -> Option<f64> {
        let places = (0u8..).zip(self.places.get(collective as usize)?);
        let known = places.filter_map(|(other, &place)| {
            // A call that is distributed otherwise is another matter, though the number of its class is next.
            let distance = match class % 2 == other % 2 {
                true => class.abs_diff(other),
                false => return None,
            };
            let contest = self.contests.get(usize::from(place).checked_sub(1)?)?;
            match contest.times() {
                [Some(host), Some(first), ..] if distance <= NEARBY => {
                    Some((distance, host as f64 / first.max(1) as f64))
                }
                _ => None,
            }
        });
        let nearest = known.min_by_key(|(distance, _)| *distance);
        nearest.map(|(_, ratio)| ratio)
    }

    /// A call of a contest took this rank so long, by the host or by Rondo. Nothing is decided by it.
    pub fn spend(&mut self, collective: Collective, class: u8, is_hosts: bool, nanos: u64) {
        let Some(contest) = self.place(collective, class) else {
            return;
        };
        if self.spent.len() <= contest {
            self.spent.resize(contest + 1, Spent::default());
        }
        self.spent[contest].add(is_hosts, nanos);
    }

    /// Takes what was saved in each collective.
    pub fn take_saved(&mut self, mut each: impl FnMut(Collective, Saved)) {
        for (&collective, classes) in Collective::ALL.iter().zip(&self.places) {
            for &place in classes {
                if let Some(spent) = self.spent.get_mut(usize::from(place).wrapping_sub(1)) {
                    each(collective, spent.take_saved());
                }
            }
        }
    }

    /// Calls `each` with every contest, its collective and the number of its size class.
    pub fn each(&self, mut each: impl FnMut(Collective, u8, &Contest)) {
        for (&collective, classes) in Collective::ALL.iter().zip(&self.places) {
            for (class, &place) in (0u8..).zip(classes) {
                if let Some(contest) = usize::from(place).checked_sub(1) {
                    each(collective, class, &self.contests[contest]);
                }
            }
        }
    }

    /// The model is another one: forgets the contests for which `is_stale` says so of their collective and the number
    /// of their size class, and what the model expected of calls in the others.
    pub fn forget(&mut self, mut is_stale: impl FnMut(Collective, u8) -> bool) {
        for (place, contest) in self.contests.iter_mut().enumerate() {
            contest.pass(self.passing.take_back(place));
        }
        self.passing.forget();
        let old = std::mem::take(&mut self.contests);
        let spent = std::mem::take(&mut self.spent);
        for (&collective, classes) in Collective::ALL.iter().zip(&mut self.places) {
            for (class, place) in (0u8..).zip(classes) {
                if let Some(contest) = usize::from(*place).checked_sub(1) {
                    *place = 0;
                    if !is_stale(collective, class) {
                        let mut kept = old[contest].clone();
                        kept.expect_anew();
                        self.contests.push(kept);
                        (self.spent).push(spent.get(contest).copied().unwrap_or_default());
                        *place = self.contests.len() as u8;
                    }
                }
            }
        }
    }

    /// Bytes on the heap, without calls that are passed on.
    pub fn bytes(&self) -> usize {
        self.places.capacity() * SIZE_CLASSES
            + self.contests.capacity() * size_of::<Contest>()
            + self.spent.capacity() * size_of::<Spent>()
    }
}
