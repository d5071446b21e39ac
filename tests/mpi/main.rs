//! Runs the MPI programs of `ctests/` as `ctests/list.toml` says, bare and under Rondo, on each MPI.
//!
//! Arguments select cases by substring of their printed name; `--list` prints names and runs nothing. The environment:
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `RONDO_TEST_HOSTS` | MPIs to test: Debian's, and those in `build/matrix` | `openmpi mpich` |
//! | `RONDO_TEST_MODES` | modes of the list to run | all |
//! | `RONDO_TEST_LARGE` | `1` runs the cases that need 10 GiB, `only` no others | `0` |
//! | `RONDO_TEST_SLOW` | `1` runs the cases that take long | `0` |
//! | `RONDO_TEST_RECORD` | a file: runs the rows of the record alone, and writes it there (`record.rs`) | |
//! | `RONDO_TEST_THIN` | `1` leaves out cases of rows, `2` and `3` more of them (`thin.rs`) | `0` |
//! | `RONDO_TEST_JOBS` | cases at a time | 4 |
//! | `RONDO_TEST_ONE` | `1`: the library under test is the one for every MPI, `build/one/librondo.so` | `0` |
//! | `RONDO_LIB_<ABI>`: `openmpi`, `mpich`, `standard` | the library under test | `build/<ABI>/librondo.so` |
//! | `MPICC_OPENMPI`, `MPIF90_MPICH`, `MPIRUN_MPICH`, ... | the programs of Debian's MPIs | `mpicc.openmpi`, ... |

#![forbid(unsafe_code)]

mod compile;
#[path = "../mpirun/crashes.rs"]
mod crashes;
#[path = "../mpirun/ctests.rs"]
mod ctests;
mod host;
mod list;
#[path = "../mpirun/mistaken.rs"]
mod mistaken;
mod process;
mod record;
mod run;
mod shape;
mod thin;
mod verdict;

use host::{Host, Language, tests_one};
use list::{List, Row, Test};
use record::Record;
use run::Case;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;
use thin::{Place, Thin};
use verdict::{Bare, Ran};

/// How many of the slowest cases are printed.
const SLOWEST: usize = 10;

/// What the user selected.
struct Selection {
    filters: Vec<String>,
    /// Names only.
    lists: bool,
    hosts: Vec<String>,
    modes: Option<Vec<String>>,
    /// Cases that need much memory, and the others.
    large: bool,
    small: bool,
    slow: bool,
    /// Rows of the record and no others; where to write it.
    record: Option<PathBuf>,
    thin: Thin,
    jobs: usize,
}

impl Selection {
    fn from_environment() -> Result<Self, String> {
        let words = |name: &str| {
            let value = std::env::var(name).ok()?;
            Some(
                value
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
            )
        };
        let jobs = std::env::var("RONDO_TEST_JOBS").unwrap_or_else(|_| "4".into());
        Ok(Selection {
            // The test harness's own options, which cargo passes on, mean nothing here.
            filters: std::env::args()
                .skip(1)
                .filter(|a| !a.starts_with('-'))
                .collect(),
            lists: std::env::args().any(|a| a == "--list"),
            hosts: words("RONDO_TEST_HOSTS")
                .unwrap_or_else(|| vec!["openmpi".into(), "mpich".into()]),
            modes: words("RONDO_TEST_MODES"),
            large: std::env::var("RONDO_TEST_LARGE").is_ok_and(|v| v == "1" || v == "only"),
            small: std::env::var("RONDO_TEST_LARGE").as_deref() != Ok("only"),
            slow: std::env::var("RONDO_TEST_SLOW").is_ok_and(|v| v == "1"),
            record: std::env::var_os("RONDO_TEST_RECORD").map(PathBuf::from),
            thin: match std::env::var("RONDO_TEST_THIN") {
                Ok(value) => Thin::parse(&value)
                    .ok_or(format!("RONDO_TEST_THIN: {value:?} is not 0, 1, 2 or 3"))?,
                Err(_) => Thin::Full,
            },
            jobs: jobs
                .parse()
                .ok()
                .filter(|&jobs| jobs > 0)
                .ok_or(format!("RONDO_TEST_JOBS={jobs}: not a number of cases"))?,
        })
    }

    /// The modes are some of the list's.
    fn check(&self, list: &List) -> Result<(), String> {
        let mut modes = self.modes.iter().flatten();
        match modes.find(|mode| !list.modes.contains_key(*mode)) {
            None => Ok(()),
            Some(mode) => {
                let all: Vec<&str> = list.modes.keys().map(String::as_str).collect();
                Err(format!(
                    "RONDO_TEST_MODES: {mode} is no mode: take some of {}",
                    all.join(" ")
                ))
            }
        }
    }

    /// Were cases asked for, rather than all?
    fn asks(&self) -> bool {
        !self.filters.is_empty() || self.modes.is_some()
    }

    fn takes_mode(&self, mode: &str) -> bool {
        self.modes
            .as_ref()
            .is_none_or(|modes| modes.iter().any(|m| m == mode))
    }

    fn takes_test(&self, test: &Test, host: &Host) -> bool {
        (if test.large { self.large } else { self.small })
            && (self.slow || !test.slow)
            && test.record == self.record.is_some()
            && test.one.is_none_or(|one| one == tests_one())
            && test.is_for(host.name())
            && test
                .only
                .as_ref()
                .is_none_or(|only| only.contains(&host.abi))
    }

    /// Is the row run on this MPI, as far as languages go as well?
    fn has_test(&self, test: &Test, host: &Host) -> bool {
        self.takes_test(test, host) && host.has(test.language())
    }

    fn takes_name(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|f| name.contains(f.as_str()))
    }
}

#[derive(Default)]
struct Tally {
    passed: u32,
    failed: u32,
    /// Cases that were selected, be they run or not.
    selected: usize,
    record: Record,
    /// Seconds of each case, and its name.
    times: Vec<(f64, String)>,
}

impl Tally {
    /// The same of a case on the MPI of this number, for the record.
    fn add_on(&mut self, host: usize, done: Done) {
        if let Ok(ran) = &done.result {
            self.record.add(host, ran);
        }
        self.add(done);
    }

    /// Prints the line of a case, and why it failed.
    fn add(&mut self, done: Done) {
        let Done {
            name,
            seconds,
            result,
        } = done;
        self.times.push((seconds, name.clone()));
        match result {
            Ok(_) => {
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

impl Tally {
    /// Where the time went.
    fn print_slowest(&mut self) {
        let sum: f64 = self.times.iter().map(|(seconds, _)| seconds).sum();
        println!(
            "{} cases took {sum:.0} s together; the slowest:",
            self.times.len()
        );
        self.times.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (seconds, name) in self.times.iter().take(SLOWEST) {
            println!("{seconds:6.1} s {name}");
        }
    }
}

/// A case that was run.
struct Done {
    name: String,
    seconds: f64,
    result: Result<Vec<Ran>, String>,
}

impl Done {
    /// Runs `what` under this name.
    fn by(name: String, what: impl FnOnce() -> Result<Vec<Ran>, String>) -> Done {
        let start = Instant::now();
        let result = what();
        Done {
            name,
            seconds: start.elapsed().as_secs_f64(),
            result,
        }
    }
}

fn main() -> ExitCode {
    let (list, selection) = match (List::read(), Selection::from_environment()) {
        (Ok(list), Ok(selection)) => (list, selection),
        (Err(error), _) => {
            eprintln!("ctests/list.toml: {error}");
            return ExitCode::FAILURE;
        }
        (_, Err(error)) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    if let Err(error) = selection.check(&list) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    let mut tally = Tally::default();
    let mut hosts = Vec::new();
    for name in &selection.hosts {
        match Host::new(name) {
            Ok(host) => hosts.push(host),
            Err(why) => tally.add(Done::by(format!("{name} set-up"), || Err(why))),
        }
    }
    tally.record = Record::of(hosts.iter().map(|host| host.name().to_owned()).collect());
    for number in 0..hosts.len() {
        run_host(&list, &selection, &hosts, number, &mut tally);
    }
    if selection.asks() && tally.selected == 0 && tally.failed == 0 {
        eprintln!("no test is called that, or RONDO_TEST_MODES, _LARGE or _SLOW leave it out");
        return ExitCode::FAILURE;
    }
    if selection.lists {
        return ExitCode::SUCCESS;
    }
    if let Some(file) = &selection.record {
        let done = Done::by("record".into(), || write_record(&tally.record, file));
        tally.add(done);
    }
    tally.print_slowest();
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

/// The record, which has all algorithms on all MPIs.
fn write_record(record: &Record, file: &Path) -> Result<Vec<Ran>, String> {
    std::fs::write(file, record.table()).map_err(|e| format!("{}: {e}", file.display()))?;
    match record.missing() {
        missing if missing.is_empty() => Ok(Vec::new()),
        missing => Err(format!("no case has shown\n{}", missing.join("\n"))),
    }
}

/// All cases on one MPI. What cannot even start counts as one failed case.
fn run_host(list: &List, selection: &Selection, hosts: &[Host], number: usize, tally: &mut Tally) {
    let host = &hosts[number];
    if selection.lists {
        for row in &list.rows {
            let of_row = cases(list, selection, hosts, number, row);
            tally.selected += of_row.selected();
            let cases = of_row.runs.iter().flatten();
            cases.for_each(|case| println!("{}", case.name()));
        }
        return;
    }
    if let Err(why) = set_up(list, selection, host) {
        return tally.add(Done::by(format!("{} set-up", host.name()), || Err(why)));
    }
    for language in [Language::Fortran, Language::Python] {
        let lacks = |test: &&Test| selection.takes_test(test, host) && test.language() == language;
        let tests = list.rows.iter().flat_map(|row| &row.tests).filter(lacks);
        let programs: BTreeSet<&str> = tests.map(|test| test.program.as_str()).collect();
        if !programs.is_empty() && !host.has(language) {
            let names: Vec<&str> = programs.into_iter().collect();
            println!(
                "{} has no {language:?} here: {} are left out",
                host.name(),
                names.join(", ")
            );
        }
    }
    let (mut queue, mut left_out) = (Vec::new(), 0);
    for row in &list.rows {
        let of_row = cases(list, selection, hosts, number, row);
        tally.selected += of_row.selected();
        left_out += of_row.left_out;
        queue.extend(of_row.runs);
    }
    if left_out > 0 {
        let taken: usize = queue.iter().map(Vec::len).sum();
        println!(
            "{}: {taken} cases, and {left_out} are left out, which RONDO_TEST_THIN=0 runs",
            host.name()
        );
    }
    let queue = Mutex::new(queue.into_iter());
    let (send, receive) = channel();
    std::thread::scope(|scope| {
        for job in 0..selection.jobs {
            let (queue, send) = (&queue, send.clone());
            scope.spawn(move || {
                // Not that of another runner.
                let name = format!("job{job}.{}", std::process::id());
                let scratch = host.directory().join(name);
                let made = [scratch.clone(), run::backing_directory(&scratch)]
                    .iter()
                    .try_for_each(std::fs::create_dir_all);
                if let Err(error) = made {
                    let why = format!("{}: {error}", scratch.display());
                    let _ = send.send(Done::by(format!("{} set-up", host.name()), || Err(why)));
                    return;
                }
                loop {
                    let next = queue.lock().expect("no job ends in a panic").next();
                    let Some(cases) = next else { break };
                    run_modes(list, &cases, &scratch, &send);
                }
                // Only space would be lost.
                let _ = std::fs::remove_dir_all(run::backing_directory(&scratch));
                let _ = std::fs::remove_dir_all(&scratch);
            });
        }
        drop(send);
        receive.iter().for_each(|done| tally.add_on(number, done));
    });
}

/// What cases need on this MPI.
fn set_up(list: &List, selection: &Selection, host: &Host) -> Result<(), String> {
    host.build_helpers(list)?;
    let preloads = list
        .modes
        .iter()
        .any(|(m, mode)| mode.preload && selection.takes_mode(m));
    if preloads && !host.library().is_file() {
        let library = host.library();
        return Err(format!("there is no {}: build it first", library.display()));
    }
    Ok(())
}

/// The cases of a row on one MPI.
struct OfRow<'a> {
    /// Those of each number of ranks, in the order of their modes.
    runs: Vec<Vec<Case<'a>>>,
    /// Those that were selected and are not run.
    left_out: usize,
}

impl OfRow<'_> {
    /// How many were selected.
    fn selected(&self) -> usize {
        self.left_out + self.runs.iter().map(Vec::len).sum::<usize>()
    }
}

/// The cases of a row on the MPI of this number.
fn cases<'a>(
    list: &'a List,
    selection: &Selection,
    hosts: &'a [Host],
    number: usize,
    row: &'a Row,
) -> OfRow<'a> {
    let has = |test: &Test, host: usize| selection.has_test(test, &hosts[host]);
    let abis: Vec<_> = hosts.iter().map(|host| host.abi).collect();
    let taken = selection.thin.cases(row, has, &abis);
    let mut of_row = OfRow {
        runs: Vec::new(),
        left_out: 0,
    };
    for (place, test) in row.tests.iter().enumerate() {
        if !has(test, number) {
            continue;
        }
        for (run, (ranks, shape)) in test.runs().enumerate() {
            let (mut cases, mut is_asked) = (Vec::new(), false);
            for (mode, mode_name) in test.modes.iter().enumerate() {
                let case = Case {
                    host: &hosts[number],
                    test,
                    ranks,
                    shape,
                    mode_name,
                    mode: &list.modes[mode_name],
                    scratch: Path::new(""),
                    in_company: selection.jobs > 1,
                };
                // Where later modes are compared with the bare run, it belongs to each of them.
                let is_model = test.same.is_some() && mode_name == "bare";
                let is_wanted =
                    selection.takes_mode(mode_name) && selection.takes_name(&case.name());
                if !is_wanted && !is_model {
                    continue;
                }
                let place = Place {
                    test: place,
                    run,
                    mode,
                    host: number,
                };
                if taken.contains(&place) {
                    is_asked |= is_wanted;
                    cases.push(case);
                } else if is_wanted {
                    of_row.left_out += 1;
                }
            }
            if is_asked {
                of_row.runs.push(cases);
            }
        }
    }
    of_row
}

/// One program on one number of ranks and nodes, in each of its modes.
fn run_modes(list: &List, cases: &[Case], scratch: &Path, done: &Sender<Done>) {
    let mut bare = Bare::default();
    for case in cases {
        let case = Case { scratch, ..*case };
        let check = || {
            case.host.build_program(list, &case.test.program)?;
            case.check(&mut bare)
        };
        let _ = done.send(Done::by(case.name(), check));
    }
}
