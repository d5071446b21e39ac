//! The test list, as data. Its own head explains each field.

use crate::host::{Abi, Language};
use crate::shape::Shape;
use crate::{compile, ctests};
use rondo::algorithm::Algorithm;
use rondo::collective::{Collective, Family};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The repository's directory.
pub fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Variables of the environment, in a fixed order so that printed commands are stable.
pub type Env = BTreeMap<String, String>;

/// The whole list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    #[serde(rename = "mode")]
    pub modes: BTreeMap<String, Mode>,
    pub builds: Vec<Build>,
    tests: Vec<Test>,
    /// When the list has been read, in place of the tests.
    #[serde(skip)]
    pub rows: Vec<Row>,
}

/// A row: all its combinations.
pub struct Row {
    pub number: usize,
    /// Has no row before it its program?
    pub is_first: bool,
    /// One for each program, arguments and run.
    pub tests: Vec<Test>,
}

/// What may stand behind an algorithm in the name of a mode, and the variable that it sets.
const FORMS: [(&str, Option<(&str, &str)>); 5] = [
    ("nodes", None), // over nodes where Rondo chooses so; without this and the next two, every rank for itself
    ("leaders", Some(("RONDO_HIERARCHY", "leader"))),
    ("lanes", Some(("RONDO_HIERARCHY", "lanes"))),
    ("messages", Some(("RONDO_SHM", "off"))),
    // Many also of short messages; no multiple of any number's size.
    ("blocks", Some(("RONDO_BLOCK_BYTES", "301"))),
];

/// The word for all algorithms of the collectives that a program calls.
const ALGORITHMS: &str = "algorithms";

/// A way to run a program.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    #[serde(default = "yes")]
    pub preload: bool,
    /// Preload the library that was built for the other MPI.
    #[serde(default)]
    pub misfit: bool,
    /// What the program runs under.
    #[serde(default)]
    pub wrapper: Vec<String>,
    /// The algorithms of families of collectives, and of single ones.
    #[serde(default)]
    algorithms: BTreeMap<String, String>,
    /// With the variables of `algorithms` when the list has been read.
    #[serde(default)]
    pub env: Env,
}

impl Mode {
    /// The mode that an algorithm and words behind it stand for, "two-tree leaders": all collectives that have this
    /// algorithm are carried out by it.
    fn of_words(name: &str) -> Option<Mode> {
        let mut words = name.split_whitespace();
        let algorithm = words.next()?;
        let mut env = Env::from([
            ("RONDO_HIERARCHY".into(), "flat".into()),
            // Of the trees that have a number, one that differs from all others.
            ("RONDO_TREE_ARITY".into(), "3".into()),
            ("EXPECT_RONDO".into(), "any".into()),
        ]);
        for word in words {
            match FORMS.iter().find(|(form, _)| *form == word)?.1 {
                Some((variable, value)) => env.insert(variable.into(), value.into()),
                None => env.remove("RONDO_HIERARCHY"),
            };
        }
        let has = |collective: &&Collective| {
            collective
                .algorithms()
                .iter()
                .any(|a| a.name() == algorithm)
        };
        let mut algorithms = BTreeMap::new();
        for collective in Collective::ALL.iter().filter(has) {
            algorithms.insert(collective.name().to_owned(), algorithm.to_owned());
        }
        (!algorithms.is_empty()).then_some(Mode {
            preload: true,
            misfit: false,
            wrapper: Vec::new(),
            algorithms,
            env,
        })
    }

    /// Writes down what `algorithms` means: the variable of each collective that it names, by itself or by its family,
    /// and whom to expect there if that is not whom EXPECT_RONDO names.
    fn spell_out(&mut self) -> Result<(), String> {
        let mut algorithms = std::mem::take(&mut self.algorithms);
        let families = algorithms.clone();
        for &collective in Collective::ALL {
            let own = algorithms.remove(collective.name());
            let family = families.get(collective.family().name());
            let Some(algorithm) = own.as_ref().or(family) else {
                continue;
            };
            let name = collective.name().to_uppercase();
            self.env.insert(format!("RONDO_{name}"), algorithm.clone());
            if self.env.get("EXPECT_RONDO") != Some(algorithm) {
                let variable = format!("EXPECT_RONDO_{name}");
                self.env.insert(variable, algorithm.clone());
            }
        }
        algorithms.retain(|name, _| Family::ALL.iter().all(|family| family.name() != name));
        match algorithms.keys().next() {
            None => Ok(()),
            Some(name) => Err(format!("{name} is no collective and no family of them")),
        }
    }
}

/// A file that is not simply an MPI program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    pub name: String,
    #[serde(default = "yes")]
    pub mpi: bool,
    #[serde(default)]
    pub shared: bool,
    /// The name by which the loader is to know a shared library.
    pub soname: Option<String>,
}

/// A row as it is written; and, when the list has been read, what one of its programs does with one of its lists of
/// arguments in one of its runs.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// Several stand for a row each.
    pub program: String,
    /// Lists of arguments, each as a shell takes it.
    #[serde(default)]
    args: Vec<String>,
    /// "PLACEMENT, ...: MODE, ...".
    runs: Vec<String>,
    /// Of those the one of this test.
    #[serde(skip)]
    pub words: Vec<String>,
    /// All ranks on this machine as one node, as the MPI sees it.
    #[serde(skip)]
    ranks: Vec<u32>,
    #[serde(skip)]
    shapes: Vec<Shape>,
    #[serde(skip)]
    pub modes: Vec<String>,
    /// The families of collectives that its program is about.
    #[serde(skip)]
    families: &'static [Family],
    #[serde(default)]
    pub env: Env,
    limit: Option<u64>,
    /// Runs that are started, should one hang, because the MPI does so by itself at times.
    #[serde(default = "once")]
    pub attempts: u32,
    /// Shared libraries preloaded before Rondo.
    #[serde(default)]
    pub front: Vec<String>,
    /// And behind it.
    #[serde(default)]
    pub behind: Vec<String>,
    pub only: Option<Vec<Abi>>,
    /// With the library for every MPI alone (true), or never with it (false).
    pub one: Option<bool>,
    hosts: Option<Vec<String>>,
    #[serde(default)]
    except: Vec<String>,
    /// More arguments for the launcher.
    #[serde(default)]
    pub launcher: Vec<String>,
    #[serde(default)]
    pub launch: Launch,
    #[serde(default)]
    pub expect: Expect,
    names: Option<String>,
    #[serde(default)]
    pub messages: bool,
    #[serde(default)]
    pub says: Vec<Says>,
    pub same: Option<Same>,
    #[serde(default)]
    pub statistics: Vec<Statistic>,
    #[serde(default)]
    pub large: bool,
    #[serde(default)]
    pub slow: bool,
    #[serde(default)]
    pub record: bool,
}

/// Who starts the ranks, and who has Rondo preloaded.
#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Launch {
    #[default]
    Mpirun,
    Everywhere,
    Direct,
}

/// How a run must end.
#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    #[default]
    Pass,
    Abort,
    Refused,
    Silent,
    Outlives,
}

/// A text in Rondo's messages.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Says {
    pub text: String,
    /// The number of lines with it; without it, at least one.
    pub times: Option<usize>,
}

/// What must be as in the bare run.
#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Same {
    Output,
    Status,
}

/// The calls and bytes of one algorithm in the statistics file.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statistic {
    #[serde(default = "bcast")]
    pub collective: String,
    pub algorithm: String,
    /// Why the calls went there; all reasons together if it is not said.
    pub reason: Option<String>,
    /// Calls of rank 0.
    pub calls: u64,
    /// Bytes of one rank's messages, where they are checked; the ranks of the job have as many on average.
    pub bytes_per_rank: Option<u64>,
}

fn bcast() -> String {
    "bcast".into()
}

fn yes() -> bool {
    true
}

fn once() -> u32 {
    1
}

impl List {
    /// Reads `ctests/list.toml`; a mistake in it is told with its place.
    pub fn read() -> Result<List, String> {
        let path = ctests::root().join("list.toml");
        let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let mut list: List = toml::from_str(&text).map_err(|e| e.to_string())?;
        for (number, row) in std::mem::take(&mut list.tests).into_iter().enumerate() {
            let program = row.program.clone();
            let tests = row.split().map_err(|e| format!("{program}: {e}"))?;
            let has_it = |row: &Row| row.tests[0].program == tests[0].program;
            let is_first = !list.rows.iter().any(has_it);
            list.rows.push(Row {
                number,
                is_first,
                tests,
            });
        }
        let tests = list.rows.iter().flat_map(|row| &row.tests);
        let used: BTreeSet<&String> = tests.flat_map(|test| &test.modes).collect();
        if let Some(mode) = list.modes.keys().find(|mode| !used.contains(mode)) {
            return Err(format!("mode {mode}: no row is in it"));
        }
        for name in used {
            if !list.modes.contains_key(name) {
                let mode = Mode::of_words(name).ok_or(format!("there is no mode {name}"))?;
                list.modes.insert(name.clone(), mode);
            }
        }
        for (name, mode) in &mut list.modes {
            mode.spell_out().map_err(|e| format!("mode {name}: {e}"))?;
        }
        list.has_all_algorithms()?;
        Ok(list)
    }

    /// Is each algorithm of each collective in a row that is always run?
    fn has_all_algorithms(&self) -> Result<(), String> {
        let tests = self.rows.iter().flat_map(|row| &row.tests);
        let usual: Vec<&Test> = tests.filter(|t| !(t.slow || t.large || t.record)).collect();
        for collective in Collective::ALL {
            let variable = format!("RONDO_{}", collective.name().to_uppercase());
            for algorithm in collective.algorithms() {
                let names = |mode: &String| {
                    self.modes[mode]
                        .env
                        .get(&variable)
                        .is_some_and(|n| n == algorithm.name())
                };
                if !usual
                    .iter()
                    .any(|t| t.families.contains(&collective.family()) && t.modes.iter().any(names))
                {
                    return Err(format!(
                        "no row has {} by {}",
                        collective.name(),
                        algorithm.name()
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The families of collectives that a program is about, as its folder says.
fn families_of(program: &str) -> &'static [Family] {
    let source = compile::source(program).map(|(source, _)| source);
    let folder = source
        .ok()
        .and_then(|source| source.parent()?.file_name()?.to_str().map(str::to_owned));
    match folder.as_deref() {
        Some("bcast") => &[Family::Broadcast],
        Some("allgather") => &[Family::AllBroadcast],
        Some("rooted") => &[Family::Rooted],
        Some("alltoall") => &[Family::TotalExchange, Family::IrregularExchange],
        Some("reduction") => &[
            Family::AllReduction,
            Family::Reduction,
            Family::ScatteredReduction,
            Family::Scan,
            Family::Barrier,
        ],
        _ => &[],
    }
}

impl Test {
    /// One for each program, list of arguments and run.
    fn split(self) -> Result<Vec<Test>, String> {
        let mut tests = Vec::new();
        let of_each = |statistic: &Statistic| {
            let collectives = statistic.collective.split_whitespace().map(str::to_owned);
            let each = |collective| Statistic {
                collective,
                ..statistic.clone()
            };
            collectives.map(each).collect::<Vec<_>>()
        };
        let statistics: Vec<Statistic> = self.statistics.iter().flat_map(of_each).collect();
        for program in self.program.split_whitespace() {
            let lists = if self.args.is_empty() {
                &[String::new()][..]
            } else {
                &self.args
            };
            for args in lists {
                let words =
                    shlex::split(args).ok_or_else(|| format!("{args}: not as a shell takes it"))?;
                for run in &self.runs {
                    let mut test = Test {
                        program: program.to_owned(),
                        families: families_of(program),
                        words: words.clone(),
                        statistics: statistics.clone(),
                        args: Vec::new(),
                        runs: Vec::new(),
                        ..self.clone()
                    };
                    test.take_run(run)?;
                    tests.push(test);
                }
            }
        }
        Ok(tests)
    }

    /// Reads placements and modes.
    fn take_run(&mut self, run: &str) -> Result<(), String> {
        let (placements, modes) = run
            .split_once(':')
            .ok_or_else(|| format!("{run}: no modes"))?;
        for placement in placements.split(',').map(str::trim) {
            match placement.parse() {
                Ok(ranks) => self.ranks.push(ranks),
                Err(_) => self.shapes.push(Shape::try_from(placement.to_owned())?),
            }
        }
        for mode in modes.split(',').map(str::trim) {
            match mode.strip_prefix(ALGORITHMS) {
                Some(form) => {
                    let algorithms = self.algorithms();
                    self.modes
                        .extend(algorithms.into_iter().map(|name| format!("{name}{form}")));
                }
                None => self.modes.push(mode.to_owned()),
            }
        }
        if self.modes.is_empty() {
            return Err("its folder does not say which collectives it calls".into());
        }
        if self.same.is_some() && self.modes[0] != "bare" {
            return Err("`same` needs \"bare\" as the first mode".into());
        }
        Ok(())
    }

    /// Seconds until it counts as hanging, if it is alone.
    pub fn limit(&self) -> u64 {
        let usual = match self.expect {
            Expect::Abort | Expect::Refused => 20,
            Expect::Pass | Expect::Silent | Expect::Outlives => 120,
        };
        self.limit.unwrap_or(usual)
    }

    /// The MPI function that a refused run names.
    pub fn names(&self) -> &str {
        let first = self.words.first().and_then(|word| Collective::named(word));
        let named = first.unwrap_or(Collective::Bcast).mpi_name();
        self.names.as_deref().unwrap_or(named)
    }

    /// The names of the algorithms of these families.
    fn algorithms(&self) -> BTreeSet<&'static str> {
        let all = self.families.iter().flat_map(|family| family.algorithms());
        // Each rank of a node leads a lane: for nodes alone, by rows of its own.
        let all = all.filter(|&&algorithm| algorithm != Algorithm::FullLane);
        all.map(|algorithm| algorithm.name()).collect()
    }

    /// What its program is written in. One that is not ours needs no compiler, as one in C, which every MPI has.
    pub fn language(&self) -> Language {
        compile::source(&self.program).map_or(Language::C, |(_, language)| language)
    }

    /// Is it for the MPI of this name, as far as names say?
    pub fn is_for(&self, host: &str) -> bool {
        let named = |names: &Vec<String>| names.iter().any(|name| name == host);
        self.hosts.as_ref().is_none_or(named) && !named(&self.except)
    }

    /// The numbers of ranks to run on, each with its nodes if they are told.
    pub fn runs(&self) -> impl Iterator<Item = (u32, Option<&Shape>)> {
        let ranks = self.ranks.iter().map(|&ranks| (ranks, None));
        let shapes = self.shapes.iter().map(|shape| (shape.ranks(), Some(shape)));
        ranks.chain(shapes)
    }
}
