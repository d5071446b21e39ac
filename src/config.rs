#![forbid(unsafe_code)]
//! The environment, read once: one table of options, one immutable [`Config`].
//!
//! [`OPTIONS`] is the only place where an option is described. The parser, the defaults, the numbers that
//! ranks exchange, the help text, `rondo info` and docs/options.md all come from it, so a new option is one
//! field of [`Config`] and one row of the table. The options that every collective has are made from the table
//! of collectives.
//!
//! No other module reads the environment. Nothing here prints: what the user should know is
//! returned as [`Loaded::warnings`], and the caller decides which rank says it.

mod encoding;
mod options;
mod parse;
mod removed;
mod setting;
mod show;
mod size;

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    ops::{Index, IndexMut},
    path::{self, PathBuf},
};

pub use crate::algorithm::Algorithm;
use crate::collective::Collective;
use crate::network::Network;
pub use encoding::{ENCODED_OPTIONS, variable_at};
pub use options::{Field, OPTIONS, Opt, Scope, ValueType};
pub(crate) use parse::among;
pub use parse::bytes;
pub use removed::{removed, removed_names};
pub use setting::{Setting, Wish};
pub use show::{help, intro, markdown, table};

/// Makes an enumeration of values that users name, the list of their names, and the name of each, from the rows.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$row:meta])* $variant:ident = $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            $($(#[$row])* $variant,)*
        }

        impl $name {
            /// Every value with the name that users write. The position in this list is what ranks exchange.
            pub const NAMES: &[(&str, $name)] = &[$(($text, $name::$variant)),*];

            /// The name that users write.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)*
                }
            }
        }
    };
}

named! {
    /// How statistics are written when the program ends.
    StatsFormat {
        /// No statistics.
        #[default]
        Off = "off";
        /// A table to read.
        Text = "text";
        /// One JSON object.
        Json = "json";
    }
}

/// Whether statistics are written, how and where to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The form of the output.
    pub format: StatsFormat,
    /// The file that is written, or the standard error output if there is none.
    pub file: Option<PathBuf>,
}

/// Whether calls are timed to find out who is faster, and what comes of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learn {
    /// Whether.
    pub on: bool,
    /// The file that rank 0 of the job writes in the end.
    pub save: Option<PathBuf>,
}

named! {
    /// Which ranks talk to other nodes.
    Hierarchy {
        /// As is best for the communicator.
        #[default]
        Auto = "auto";
        /// Every rank for itself.
        Flat = "flat";
        /// One of each node.
        Leader = "leader";
        /// Several of each node.
        Lanes = "lanes";
    }
}

named! {
    /// What is made of processes that have the library of a GPU's driver, and so perhaps buffers that the processor
    /// cannot touch.
    Gpu {
        /// The communicators that they are in are left to the MPI library, unless the program says by a hint that they
        /// pass no such buffers there.
        #[default]
        Auto = "auto";
        /// They are left to it whatever the program says.
        Host = "host";
        /// Nothing: buffers are the processor's.
        Off = "off";
    }
}

named! {
    /// What is promised of the bits of reductions whose result depends on the order of operands: sums of floating-point
    /// numbers and the like.
    Reproducible {
        /// The same in every run with the same ranks on each node.
        #[default]
        Run = "run";
        /// The same wherever the ranks are.
        Placement = "placement";
        /// Those of a loop over the ranks.
        Order = "order";
        /// Those of the MPI library.
        Host = "host";
        /// Nothing.
        Off = "off";
    }
}

impl Reproducible {
    /// Is nothing promised that the MPI library does not keep as well?
    pub fn is_kept_by_host(self) -> bool {
        match self {
            Reproducible::Placement | Reproducible::Order => false,
            Reproducible::Run | Reproducible::Host | Reproducible::Off => true,
        }
    }
}

/// What the user asked for; see [`OPTIONS`] for the meaning, bounds and default of each field.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `RONDO`: whether Rondo does anything at all.
    pub enabled: bool,
    /// What is said of each collective; see [`Config::wish`].
    pub wishes: [Wish; Collective::COUNT],
    /// `RONDO_SHORT_MSG`: the smallest block, in bytes, that goes straight from or to the root; `None`
    /// if the cost model decides.
    pub short_msg: Option<u64>,
    /// `RONDO_MAX_TMP_SIZE`: bytes of others' blocks in the memory of a rank.
    pub max_tmp_size: u64,
    /// `RONDO_HIERARCHY`: which ranks talk to other nodes.
    pub hierarchy: Hierarchy,
    /// `RONDO_LANES`: how many of each node do so, if several.
    pub lanes: u32,
    /// `RONDO_MPMD`: whether every program of a job of several ones has Rondo.
    pub mpmd: bool,
    /// `RONDO_SHM`: whether the ranks of a node share memory.
    pub shm: bool,
    /// `RONDO_SHM_BYTES`: the size of a segment in bytes.
    pub shm_bytes: u64,
    /// `RONDO_NODE`: the name of this process's node; empty if the host names it.
    pub node: String,
    /// `RONDO_BLOCK_BYTES`: the size of a block in bytes, 0 if the cost model decides.
    pub block_bytes: u64,
    /// `RONDO_RADIX`: how rounds grow in which a rank sends several messages, 0 if the cost model decides.
    pub radix: u32,
    /// `RONDO_TREE_ARITY`: to how many ranks a rank of a k-ary tree sends.
    pub tree_arity: u32,
    /// `RONDO_REPRODUCIBLE`: what is promised of the bits of reductions.
    pub reproducible: Reproducible,
    /// `RONDO_ALPHA_US` and others: the figures of the network that the user sets.
    pub network: Network,
    /// `RONDO_CALIBRATE`: whether the others are measured.
    pub calibrate: bool,
    /// `RONDO_RULES`: a file of rules, none if empty.
    pub rules: String,
    /// `RONDO_LEARN`: whether calls are timed to find out who is faster.
    pub learn: Learn,
    /// `RONDO_LEARN_CALLS`: calls that each of two candidates has in a row, at the least.
    pub learn_calls: u32,
    /// `RONDO_RELEARN`: calls after which they are timed again, 0 for never.
    pub relearn: u32,
    /// `RONDO_WINDOW`: receives posted ahead, in messages, 0 for as many as are best.
    pub window: u32,
    /// `RONDO_GPU`: what is made of processes that may have memory of a GPU.
    pub gpu: Gpu,
    /// `RONDO_TRACE`: whether new choices are reported.
    pub trace: bool,
    /// `RONDO_STATS`: the statistics at the end.
    pub stats: Stats,
    /// `RONDO_HELP`: whether rank 0 lists the options at the start.
    pub help: bool,
    /// `RONDO_TIMEOUT_S`: seconds without progress after which a rank aborts the job, 0 for never.
    pub timeout_s: u32,
}

/// Where the value of an option comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The table of options, because the environment says nothing, or nothing usable.
    Default,
    /// The environment, with the text found there.
    Environment(String),
}

/// What reading the environment gave.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The values to use.
    pub config: Config,
    /// Where each value comes from, in the order of [`OPTIONS`].
    pub sources: Vec<Source>,
    /// One sentence for each variable that is unknown or has an unusable value.
    pub warnings: Vec<String>,
    /// Is MPICH, and what derives from it, told to go on without processes that fail?
    pub outlives: bool,
}

impl Default for Config {
    fn default() -> Config {
        let mut config = Config {
            enabled: false,
            wishes: [Wish::NONE; Collective::COUNT],
            short_msg: None,
            max_tmp_size: 0,
            hierarchy: Hierarchy::default(),
            lanes: 0,
            shm: false,
            mpmd: false,
            shm_bytes: 0,
            node: String::new(),
            block_bytes: 0,
            radix: 0,
            tree_arity: 0,
            reproducible: Reproducible::default(),
            network: Network::default(),
            calibrate: false,
            rules: String::new(),
            learn: Learn::default(),
            learn_calls: 0,
            relearn: 0,
            window: 0,
            gpu: Gpu::default(),
            trace: false,
            stats: Stats::default(),
            help: false,
            timeout_s: 0,
        };
        for opt in OPTIONS {
            opt.set(&mut config, opt.default)
                .expect("a default is a value of its option");
        }
        config
    }
}

impl Index<Collective> for Config {
    type Output = Wish;

    fn index(&self, collective: Collective) -> &Wish {
        &self.wishes[collective as usize]
    }
}

impl IndexMut<Collective> for Config {
    fn index_mut(&mut self, collective: Collective) -> &mut Wish {
        &mut self.wishes[collective as usize]
    }
}

impl Config {
    /// What is said of a collective, with the limits that it shares with others.
    #[inline]
    pub fn wish(&self, collective: Collective) -> Wish {
        Wish {
            setting: self[collective].setting,
            ..self[collective.limits()]
        }
    }

    /// What is promised of the bits of reductions: nothing where Rondo is off.
    pub fn promise(&self) -> Reproducible {
        if !self.enabled {
            return Reproducible::Off;
        }
        self.reproducible
    }

    /// Reads the environment of this process.
    pub fn load() -> Loaded {
        Config::from_vars(env::vars_os())
    }

    /// Reads the options out of `vars`, pairs of a variable and its value. Variables of others are
    /// passed over; of a variable that occurs twice the first one counts, as for getenv. Never fails:
    /// an unusable value leaves the default and one warning.
    pub fn from_vars(vars: impl Iterator<Item = (OsString, OsString)>) -> Loaded {
        let (mut found, mut outlives) = (BTreeMap::new(), [None; OUTLIVING.len()]);
        for (name, value) in vars {
            if is_ours(&name) {
                found.entry(name).or_insert(value);
            } else if let Some(place) = OUTLIVING.iter().position(|known| **known == *name) {
                outlives[place] = outlives[place].or_else(|| truth(&value));
            }
        }
        let mut loaded = Loaded {
            config: Config::default(),
            sources: Vec::new(),
            warnings: Vec::new(),
            outlives: outlives.into_iter().flatten().next().unwrap_or(false),
        };
        for opt in OPTIONS {
            let source = match found.remove(OsStr::new(&opt.variable())) {
                Some(value) => loaded.take(opt, &value),
                None => Source::Default,
            };
            loaded.sources.push(source);
        }
        loaded.warnings.extend(
            found
                .keys()
                .map(|name| parse::unknown(&name.to_string_lossy())),
        );
        loaded
    }
}

impl Loaded {
    /// What is loaded in a process that must not open files which its environment names, because it has more rights
    /// than whoever made the environment: such options have their defaults, with a warning for each.
    pub fn without_files(mut self) -> Loaded {
        for (opt, source) in OPTIONS.iter().zip(&mut self.sources) {
            if let Source::Environment(text) = source
                && opt.names_file(&self.config)
            {
                self.warnings.push(parse::untrusted(opt, text));
                opt.set(&mut self.config, opt.default)
                    .expect("a default is a value of its option");
                *source = Source::Default;
            }
        }
        self
    }

    /// What is loaded, with the files to be written where they are now: the program may change its working directory.
    pub fn in_place(mut self) -> Loaded {
        let Config { stats, learn, .. } = &mut self.config;
        for file in [&mut stats.file, &mut learn.save].into_iter().flatten() {
            if let Ok(absolute) = path::absolute(&file) {
                *file = absolute;
            }
        }
        self
    }

    /// What is loaded in a process of a job that another job started: it has the environment of that one, but must not
    /// write over its files. `process` is its number.
    pub fn of_spawned(mut self, process: u32) -> Loaded {
        let Config { stats, learn, .. } = &mut self.config;
        for file in [&mut stats.file, &mut learn.save].into_iter().flatten() {
            file.as_mut_os_string().push(format!(".spawned-{process}"));
        }
        self
    }

    /// Sets `opt` to what the environment says, or keeps the default and warns.
    fn take(&mut self, opt: &Opt, value: &OsStr) -> Source {
        let text = value.to_string_lossy();
        let text = text.trim();
        if text.is_empty() {
            return Source::Default;
        }
        if let Some(sentence) =
            removed(&format!("{}={}", opt.variable(), text.to_ascii_lowercase()))
        {
            self.warnings.push(sentence);
            return Source::Default;
        }
        let set = match value.to_str() {
            Some(_) => opt.set(&mut self.config, text),
            None => Err("is not text in UTF-8".into()),
        };
        match set {
            Ok(()) => Source::Environment(text.to_owned()),
            Err(problem) => {
                self.warnings.push(parse::unusable(opt, text, &problem));
                Source::Default
            }
        }
    }
}

/// Variables that begin like an option but belong to the build and to the test-suite: an entry that
/// ends in `_` is a prefix.
const NOT_OPTIONS: &[&str] = &[
    "RONDO_TEST_",
    "RONDO_LIB_",
    "RONDO_ABI",
    "RONDO_HOST",
    "RONDO_SOURCES",
    "RONDO_CHECK_FOLDER",
];

/// The variables by which MPICH is told to go on without processes that fail: the first one that is set counts.
const OUTLIVING: [&str; 3] = [
    "MPIR_CVAR_ENABLE_FT",
    "MPIR_PARAM_ENABLE_FT",
    "MPICH_ENABLE_FT",
];

/// What MPICH takes for yes and no; with any other word its initialisation fails.
fn truth(value: &OsStr) -> Option<bool> {
    match value.to_str()? {
        "YES" | "yes" | "TRUE" | "true" | "ON" | "on" | "1" => Some(true),
        "NO" | "no" | "FALSE" | "false" | "OFF" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Whether a variable is `RONDO` or begins with `RONDO_`, and is not the test-suite's.
fn is_ours(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let others =
        |other: &&str| *other == name || (other.ends_with('_') && name.starts_with(*other));
    name == "RONDO" || (name.starts_with("RONDO_") && !NOT_OPTIONS.iter().any(others))
}

/// The variables of Rondo in the environment of this process that have a value, sorted by name:
/// what a launcher has to hand on to the ranks.
pub fn variables() -> Vec<(OsString, OsString)> {
    let ours = env::vars_os().filter(|(name, value)| is_ours(name) && !value.is_empty());
    ours.collect::<BTreeMap<_, _>>().into_iter().collect()
}

/// The number of programs that the launcher says the job was started with, if it says so (Open MPI's does).
pub fn programs_of_job() -> Option<u32> {
    let programs = env::var_os("OMPI_NUM_APP_CTX")?;
    programs.to_str()?.parse().ok()
}

/// What the environment of this process already asks the loader to preload.
pub fn preloaded() -> Option<OsString> {
    env::var_os("LD_PRELOAD").filter(|value| !value.is_empty())
}

/// The variable by which `rondo check` tells the processes of a job where to write what they know.
pub const CHECK_FOLDER: &str = "RONDO_CHECK_FOLDER";

/// The folder that `rondo check` named, in a process of its job.
pub fn check_folder() -> Option<PathBuf> {
    env::var_os(CHECK_FOLDER).map(PathBuf::from)
}

/// Variables in which launchers tell a process its rank, and how many there are (Open MPI, MPICH and Intel MPI, PMIx,
/// Slurm, Flux).
const PLACES: &[(&str, &str)] = &[
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("FLUX_TASK_RANK", "FLUX_JOB_SIZE"),
];

/// The rank of this process and the number of ranks, if its launcher says so.
pub fn place_in_job() -> (Option<u32>, Option<u32>) {
    let number = |name: &str| env::var(name).ok()?.parse().ok();
    let mut places = PLACES
        .iter()
        .map(|(rank, ranks)| (number(rank), number(ranks)));
    places.find(|(rank, _)| rank.is_some()).unwrap_or_default()
}
