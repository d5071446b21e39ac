//! Which cases are run where not all are (`RONDO_TEST_THIN`).
//!
//! A row of the list stands for all combinations of its programs, arguments, placements, modes and MPIs. As few of them
//! are taken as it takes to have each of what the level asks for in one of them: one after the other, each the one that
//! has most of what none had before. Where several have as much, the number of the row says with which the search
//! begins, so that each run of the same list takes the same cases, and neighbouring rows take different ones.

use crate::host::Abi;
use crate::list::{Row, Test};
use std::collections::BTreeSet;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thin {
    /// All combinations.
    Full,
    /// Each program, each list of arguments and each placement on one of the MPIs, and each mode on each.
    Modes,
    /// Each program, each list of arguments, each placement and each mode on one of the MPIs, and the row under Rondo
    /// on one of each ABI; of rows with the same program the first on each MPI.
    Rows,
    /// The row, once: under Rondo and on few ranks, if it can be. Of rows with the same program the first, and of all
    /// others every sixth.
    Once,
}

/// Of how many rows of programs that others have as well one comes in `Thin::Once`.
const ONE_OF: usize = 6;

/// Ranks that two cores carry without being slow.
const FEW_RANKS: u32 = 8;

/// A combination, by the numbers of what it is made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Which program, arguments, placements and modes, of the row.
    pub test: usize,
    /// Which of its placements.
    pub run: usize,
    /// Which of its modes.
    pub mode: usize,
    pub host: usize,
}

/// What is to come in some case.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Wanted<'a> {
    Row,
    Program(&'a str),
    Arguments(&'a [String]),
    Placement(String),
    Mode(&'a str),
    Host(usize),
    Abi(Abi),
    ModeOnHost(&'a str, usize),
}

impl Thin {
    /// As the variable says it.
    pub fn parse(text: &str) -> Option<Thin> {
        match text {
            "0" => Some(Thin::Full),
            "1" => Some(Thin::Modes),
            "2" => Some(Thin::Rows),
            "3" => Some(Thin::Once),
            _ => None,
        }
    }

    /// The cases of a row that are run, of those on MPIs that have what they need; `abis` are those of all MPIs.
    pub fn cases(
        self,
        row: &Row,
        has: impl Fn(&Test, usize) -> bool,
        abis: &[Abi],
    ) -> BTreeSet<Place> {
        if self == Thin::Once && !row.is_first && !row.number.is_multiple_of(ONE_OF) {
            return BTreeSet::new();
        }
        let mut all = Vec::new();
        for (number, test) in row.tests.iter().enumerate() {
            for host in (0..abis.len()).filter(|&host| has(test, host)) {
                let modes = 0..test.modes.len();
                let of_mode = |mode| (0..test.runs().count()).map(move |run| (run, mode));
                all.extend(modes.flat_map(of_mode).map(|(run, mode)| Place {
                    test: number,
                    run,
                    mode,
                    host,
                }));
            }
        }
        let chosen = match self {
            Thin::Full => all,
            // A bare run that others are compared with is run with each of them.
            _ => {
                let is_model = |place: &Place| {
                    let test = &row.tests[place.test];
                    test.same.is_some() && test.modes.len() > 1 && is_bare(row, place)
                };
                all.retain(|place| !is_model(place));
                self.choose(row, all, abis)
            }
        };
        let models = chosen
            .iter()
            .filter(|place| row.tests[place.test].same.is_some());
        let models = models.map(|place| Place { mode: 0, ..*place });
        models.chain(chosen.iter().copied()).collect()
    }

    /// As few of the cases as it takes.
    fn choose(self, row: &Row, mut cases: Vec<Place>, abis: &[Abi]) -> Vec<Place> {
        let mut missing: BTreeSet<Wanted> = cases
            .iter()
            .flat_map(|case| self.wanted(row, case, abis))
            .collect();
        // A prime, so that neighbouring rows begin at places that have little in common.
        let first = row.number * 7919 % cases.len().max(1);
        cases.rotate_left(first);
        let mut chosen = Vec::new();
        while !missing.is_empty() {
            let worth = |case: &&Place| {
                let wanted = self.wanted(row, case, abis);
                let (ranks, _) = row.tests[case.test]
                    .runs()
                    .nth(case.run)
                    .expect("a placement of it");
                let new = wanted.iter().filter(|what| missing.contains(what)).count();
                (new, !is_bare(row, case), ranks <= FEW_RANKS)
            };
            let best = *cases.iter().max_by_key(worth).expect("one of them has it");
            for what in self.wanted(row, &best, abis) {
                missing.remove(&what);
            }
            chosen.push(best);
        }
        chosen
    }

    /// What a case has of what the chosen ones must have together.
    fn wanted<'a>(self, row: &'a Row, case: &Place, abis: &[Abi]) -> Vec<Wanted<'a>> {
        let test = &row.tests[case.test];
        if self == Thin::Once {
            return vec![Wanted::Row];
        }
        let (ranks, shape) = test.runs().nth(case.run).expect("a placement of it");
        let placement = shape.map_or(ranks.to_string(), |shape| shape.text().to_owned());
        let mode = test.modes[case.mode].as_str();
        let mut wanted = vec![
            Wanted::Program(&test.program),
            Wanted::Arguments(&test.words),
            Wanted::Placement(placement),
            match self {
                Thin::Rows => Wanted::Mode(mode),
                _ => Wanted::ModeOnHost(mode, case.host),
            },
        ];
        if !is_bare(row, case) {
            wanted.push(match self {
                Thin::Rows if !row.is_first => Wanted::Abi(abis[case.host]),
                _ => Wanted::Host(case.host),
            });
        }
        wanted
    }
}

fn is_bare(row: &Row, place: &Place) -> bool {
    row.tests[place.test].modes[place.mode] == "bare"
}
