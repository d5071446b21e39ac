//! Which cases of a row are run where not all are: of the product of its numbers of ranks, its modes and the MPIs.
//!
//! They are chosen one after the other, each the one that has most of what no case had before. Among equals a number
//! decides that is made of the row, so that each run of the same list takes the same cases, and other rows take others.

use crate::list::Test;
use std::collections::BTreeSet;

/// How much is left out (`RONDO_TEST_THIN`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Thin {
    /// Nothing.
    Full,
    /// Each mode of a row comes on each MPI, and each number of ranks on one of them.
    Modes,
    /// Each row comes under Rondo on each MPI; each of its modes and numbers of ranks on one of them.
    Rows,
    /// Each row comes on one of the MPIs, as do each of its modes and numbers of ranks.
    Spread,
    /// Every second row comes, and those that the library for every MPI has no part in: once, with one of its programs,
    /// and under Rondo if any of its modes is.
    Once,
}

/// A case of a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Which of the runs.
    pub run: usize,
    /// Which of the modes.
    pub mode: usize,
    /// Which of the MPIs that the row is for.
    pub host: usize,
}

/// What a case has that is to come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Has {
    Row,
    Run(usize),
    Mode(usize),
    /// The MPI, under Rondo.
    Host(usize),
    ModeOnHost(usize, usize),
    ModeOnRun(usize, usize),
    RunOnHost(usize, usize),
}

impl Thin {
    /// As the variable says it.
    pub fn parse(text: &str) -> Option<Thin> {
        match text {
            "0" => Some(Thin::Full),
            "1" => Some(Thin::Modes),
            "2" => Some(Thin::Rows),
            "3" => Some(Thin::Spread),
            "4" => Some(Thin::Once),
            _ => None,
        }
    }

    /// The cases of a row that are run if it is for so many MPIs. What was shown with another library counts, but the
    /// row comes on each MPI nevertheless.
    pub fn cases(self, test: &Test, hosts: usize, shown: &BTreeSet<Place>) -> BTreeSet<Place> {
        if self == Thin::Once && !Order::of_row(test).takes(test) {
            return BTreeSet::new();
        }
        let (runs, modes) = (test.runs().count(), test.modes.len());
        let modes_on = |run| (0..modes).map(move |mode| (run, mode));
        let pairs = (0..runs).flat_map(modes_on);
        let places =
            pairs.flat_map(|(run, mode)| (0..hosts).map(move |host| Place { run, mode, host }));
        // The bare run that others are compared with is run with each of them.
        let bare = test.modes.iter().position(|mode| mode == "bare");
        let model = bare.filter(|_| test.same.is_some() && modes > 1);
        let mut cases: Vec<Place> = places.filter(|place| Some(place.mode) != model).collect();
        if self != Thin::Full {
            let mut order = Order::of(test);
            cases.sort_by_cached_key(|_| order.next());
            if self == Thin::Once {
                // Of equals the last one is taken.
                cases.sort_by_key(|case| Some(case.mode) != bare);
            }
            cases = self.choose(cases, bare, shown);
        }
        let models = cases.iter().filter_map(|case| {
            Some(Place {
                mode: model?,
                ..*case
            })
        });
        models.chain(cases.iter().copied()).collect()
    }

    /// As few of these cases as it takes, beside what was shown with another library.
    fn choose(self, cases: Vec<Place>, bare: Option<usize>, shown: &BTreeSet<Place>) -> Vec<Place> {
        let missing = cases.iter().flat_map(|case| self.wanted(*case, bare));
        let mut missing: BTreeSet<Has> = missing.collect();
        let (mut seen, mut chosen) = (BTreeSet::new(), Vec::new());
        for case in shown {
            for has in self.wanted(*case, bare) {
                if has != Has::Host(case.host) {
                    missing.remove(&has);
                }
            }
            seen.extend(case.pairs());
        }
        while !missing.is_empty() {
            let worth = |case: &&Place| {
                let wanted = self.wanted(**case, bare);
                let wanted = wanted.iter().filter(|has| missing.contains(has)).count();
                let new = case
                    .pairs()
                    .iter()
                    .filter(|has| !seen.contains(*has))
                    .count();
                (wanted, new)
            };
            let best = *cases.iter().max_by_key(worth).expect("one of them has it");
            for has in self.wanted(best, bare) {
                missing.remove(&has);
            }
            seen.extend(best.pairs());
            chosen.push(best);
        }
        chosen
    }

    /// What a case has of what the chosen ones must have together.
    fn wanted(self, case: Place, bare: Option<usize>) -> Vec<Has> {
        let Place { run, mode, host } = case;
        match self {
            Thin::Full => vec![],
            Thin::Modes if Some(mode) == bare => vec![Has::Run(run), Has::ModeOnHost(mode, host)],
            Thin::Modes => vec![Has::Run(run), Has::ModeOnHost(mode, host), Has::Host(host)],
            Thin::Rows if Some(mode) == bare => vec![Has::Run(run), Has::Mode(mode)],
            Thin::Spread => vec![Has::Run(run), Has::Mode(mode)],
            Thin::Once => vec![Has::Row],
            Thin::Rows => vec![Has::Run(run), Has::Mode(mode), Has::Host(host)],
        }
    }
}

impl Place {
    /// What no two cases need have, and better have not.
    fn pairs(self) -> [Has; 3] {
        let Place { run, mode, host } = self;
        [
            Has::ModeOnHost(mode, host),
            Has::ModeOnRun(mode, run),
            Has::RunOnHost(run, host),
        ]
    }
}

/// Numbers in no order, the same for the same row.
struct Order(u64);

impl Order {
    fn of(test: &Test) -> Order {
        Order::of_text(&format!(
            "{} {:?} {:?} {:?}",
            test.program, test.args, test.env, test.modes
        ))
    }

    /// The same for all programs of a row.
    fn of_row(test: &Test) -> Order {
        let (_, programs) = test.place;
        let runs: Vec<u32> = test.runs().map(|(ranks, _)| ranks).collect();
        Order::of_text(&format!(
            "{programs} {runs:?} {:?} {:?} {:?}",
            test.args, test.env, test.modes
        ))
    }

    /// Is this a row that it takes, and the program of it?
    fn takes(mut self, test: &Test) -> bool {
        let (place, all) = test.place;
        let is_taken = test.one == Some(false) || self.next().is_multiple_of(2);
        is_taken && self.next() % all == place
    }

    fn of_text(text: &str) -> Order {
        // FNV-1a.
        let number = text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |number, byte| {
                (number ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            });
        Order(number)
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
