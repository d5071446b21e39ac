//! Runs the MPI programs of `ctests/` as `ctests/list.toml` says, bare and under Rondo, on each MPI.
//!
//! Arguments select cases by substring of their printed name. The environment:
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `RONDO_TEST_FLAVOURS` | MPIs to test | `openmpi mpich` |
//! | `RONDO_TEST_MODES` | modes of the list to run | all |
//! | `RONDO_TEST_LARGE` | `1` runs the cases that need 10 GiB | `0` |
//! | `RONDO_LIB_openmpi`, `RONDO_LIB_mpich` | the library under test | `build/<flavour>/librondo.so` |
//! | `MPICC_OPENMPI`, `MPIF90_MPICH`, `MPIRUN_MPICH`, ... | the MPI's own programs | `mpicc.openmpi`, ... |

#![forbid(unsafe_code)]

mod compile;
mod list;
mod process;
mod run;
mod shape;
mod verdict;

use compile::Flavour;
use list::{List, Test};
use run::Case;
use shape::Shape;
use std::process::ExitCode;
use std::time::Instant;
use verdict::Bare;

/// What the user selected.
struct Selection {
    filters: Vec<String>,
    flavours: Vec<String>,
    modes: Option<Vec<String>>,
    large: bool,
}

impl Selection {
    fn from_environment() -> Self {
        let words = |name: &str| {
            let value = std::env::var(name).ok()?;
            Some(
                value
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
            )
        };
        Selection {
            // The test harness's own options, which cargo passes on, mean nothing here.
            filters: std::env::args()
                .skip(1)
                .filter(|a| !a.starts_with('-'))
                .collect(),
            flavours: words("RONDO_TEST_FLAVOURS")
                .unwrap_or_else(|| vec!["openmpi".into(), "mpich".into()]),
            modes: words("RONDO_TEST_MODES"),
            large: std::env::var("RONDO_TEST_LARGE").is_ok_and(|v| v == "1"),
        }
    }

    fn takes_mode(&self, mode: &str) -> bool {
        self.modes
            .as_ref()
            .is_none_or(|modes| modes.iter().any(|m| m == mode))
    }

    fn takes_test(&self, test: &Test, flavour: &Flavour) -> bool {
        (self.large || !test.large) && test.only.as_ref().is_none_or(|only| only == flavour.name())
    }

    fn takes_name(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|f| name.contains(f.as_str()))
    }
}

#[derive(Default)]
struct Tally {
    passed: u32,
    failed: u32,
}

impl Tally {
    /// Prints the line of a case, and why it failed.
    fn add(&mut self, name: &str, start: Instant, result: Result<(), String>) {
        let seconds = start.elapsed().as_secs_f64();
        match result {
            Ok(()) => {
                self.passed += 1;
                println!("{name} ... ok ({seconds:.1} s)");
            }
            Err(why) => {
                self.failed += 1;
                println!("{name} ... FAILED ({seconds:.1} s)");
                for line in why.lines() {
                    println!("    {line}");
                }
            }
        }
    }
}

fn main() -> ExitCode {
    let selection = Selection::from_environment();
    let list = match List::read() {
        Ok(list) => list,
        Err(error) => {
            eprintln!("ctests/list.toml: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut tally = Tally::default();
    for name in &selection.flavours {
        run_flavour(&list, &selection, name, &mut tally);
    }
    let word = if tally.failed == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {word}. {} passed; {} failed; 0 ignored",
        tally.passed, tally.failed
    );
    if tally.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// All cases on one MPI. What cannot even start counts as one failed case.
fn run_flavour(list: &List, selection: &Selection, name: &str, tally: &mut Tally) {
    let start = Instant::now();
    let flavour = match Flavour::new(name).and_then(|f| f.build_helpers(list).map(|()| f)) {
        Ok(flavour) => flavour,
        Err(why) => return tally.add(&format!("{name} set-up"), start, Err(why)),
    };
    let preloads = list
        .modes
        .iter()
        .any(|(m, mode)| mode.preload && selection.takes_mode(m));
    if preloads && !flavour.library().is_file() {
        let why = format!(
            "there is no {}: build it first",
            flavour.library().display()
        );
        return tally.add(&format!("{name} library"), start, Err(why));
    }
    for test in list
        .tests
        .iter()
        .filter(|t| selection.takes_test(t, &flavour))
    {
        for run in test.runs() {
            run_modes(list, selection, &flavour, test, run, tally);
        }
    }
}

/// One program on one number of ranks and nodes, in each of its modes.
fn run_modes(
    list: &List,
    selection: &Selection,
    flavour: &Flavour,
    test: &Test,
    (ranks, shape): (u32, Option<&Shape>),
    tally: &mut Tally,
) {
    let mut bare = Bare::default();
    for mode in &test.modes {
        let case = Case {
            flavour,
            test,
            ranks,
            shape,
            mode_name: mode,
            mode: &list.modes[mode],
        };
        let name = case.name();
        // Where later modes are compared with the bare run, it belongs to each of them.
        let wanted = selection.takes_mode(mode) || (test.same.is_some() && mode == "bare");
        if wanted && selection.takes_name(&name) {
            let start = Instant::now();
            let result = flavour
                .build_program(list, &test.program)
                .and_then(|()| case.check(&mut bare));
            tally.add(&name, start, result);
        }
    }
}
