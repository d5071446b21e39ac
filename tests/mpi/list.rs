//! The test list, as data. Its own head explains each field.

use crate::host::{Abi, Language};
use crate::shape::Shape;
use crate::{compile, ctests};
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
    #[serde(rename = "build")]
    pub builds: Vec<Build>,
    #[serde(rename = "test")]
    pub tests: Vec<Test>,
}

/// A way to run a program.
#[derive(Deserialize)]
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

/// A row.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    #[serde(default)]
    pub program: String,
    /// More programs with the same row; none when the list has been read.
    #[serde(default)]
    programs: Vec<String>,
    /// The place of the program among those of the same row, and how many these are, when the list has been read.
    #[serde(skip, default = "alone")]
    pub place: (u64, u64),
    /// All ranks on this machine as one node, as the MPI sees it.
    #[serde(default)]
    pub ranks: Vec<u32>,
    #[serde(default)]
    pub shapes: Vec<Shape>,
    pub modes: Vec<String>,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub env: Env,
    #[serde(default = "one_minute")]
    pub limit: u64,
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
    /// The MPI function that a refused run names.
    #[serde(default = "mpi_bcast")]
    pub names: String,
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

fn alone() -> (u64, u64) {
    (0, 1)
}

fn one_minute() -> u64 {
    60
}

fn mpi_bcast() -> String {
    "MPI_Bcast".to_owned()
}

impl List {
    /// Reads `ctests/list.toml`; a mistake in it is told with its place.
    pub fn read() -> Result<List, String> {
        let path = ctests::root().join("list.toml");
        let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let mut list: List = toml::from_str(&text).map_err(|e| e.to_string())?;
        for (name, mode) in &mut list.modes {
            mode.spell_out().map_err(|e| format!("mode {name}: {e}"))?;
        }
        list.tests = list.tests.into_iter().flat_map(Test::split).collect();
        for test in &list.tests {
            if test.program.is_empty() || test.ranks.is_empty() == test.shapes.is_empty() {
                let program = &test.program;
                return Err(format!(
                    "{program}: a row has one of program and programs, and one of ranks and shapes"
                ));
            }
            if let Some(mode) = test.modes.iter().find(|m| !list.modes.contains_key(*m)) {
                return Err(format!("{}: there is no mode {mode}", test.program));
            }
            if test.same.is_some() && test.modes.first().is_none_or(|m| m != "bare") {
                return Err(format!(
                    "{}: `same` needs \"bare\" as the first mode",
                    test.program
                ));
            }
        }
        let used: BTreeSet<&String> = list.tests.iter().flat_map(|test| &test.modes).collect();
        match list.modes.keys().find(|mode| !used.contains(mode)) {
            None => Ok(list),
            Some(mode) => Err(format!("mode {mode}: no row is in it")),
        }
    }
}

impl Test {
    /// A row for each program.
    fn split(mut self) -> Vec<Test> {
        let mut programs = std::mem::take(&mut self.programs);
        if programs.is_empty() || !self.program.is_empty() {
            // With both there is no way to say which was meant: no program at all, which is told.
            if !programs.is_empty() {
                self.program.clear();
            }
            return vec![self];
        }
        let all = programs.len() as u64;
        let rows = programs.drain(..).zip(0..).map(|(program, number)| Test {
            program,
            place: (number, all),
            ..self.clone()
        });
        rows.collect()
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
