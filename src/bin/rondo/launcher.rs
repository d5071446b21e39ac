//! Launchers: which one it is, and how it is told to set variables for the ranks.

mod flux;
mod preload;
mod slurm;

use crate::Failure;
pub use preload::merged;
use preload::{X, are_own, takes_value};
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::Path,
    process::{Command, Stdio},
};

/// The variable that Rondo gets into the ranks by.
pub const PRELOAD: &str = "LD_PRELOAD";

/// Variables to set for the ranks, and their values.
pub type Variables = BTreeMap<OsString, OsString>;

/// How a launcher is told to set a variable for the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `-x NAME=VALUE`, for each of the programs that `:` separates.
    OpenMpi,
    /// `-genv NAME VALUE`, once for all programs.
    Hydra,
    /// `--export=ALL,NAME=VALUE,...`, of which the last one counts.
    Slurm,
    /// `--env=NAME=VALUE`, behind the subcommand.
    Flux,
}

/// Names of launchers begin like this; nothing else is started only to be asked what it is.
const LAUNCHERS: &[&str] = &[
    "mpirun", "mpiexec", "orterun", "prterun", "prun", "srun", "flux",
];

/// What launchers say of themselves when asked for their version.
const VERSIONS: &[(&str, Dialect)] = &[
    ("Open MPI", Dialect::OpenMpi),
    ("OpenRTE", Dialect::OpenMpi),
    ("PRRTE", Dialect::OpenMpi),
    ("prterun", Dialect::OpenMpi),
    ("HYDRA", Dialect::Hydra),
    ("Intel(R) MPI", Dialect::Hydra),
    ("slurm", Dialect::Slurm),
    ("flux-core", Dialect::Flux),
];

/// Fails if the first word is no launcher, but something of this tool's that its parser took for one: an option that is
/// misspelt, or the value of `with_value`, which must be in the same word.
pub fn check_word<A: clap::Args>(command: &[OsString], with_value: &str) -> Result<(), Failure> {
    let word = command[0].display();
    if starts(&command[0], "-") {
        let text = command[0].to_string_lossy();
        let name = text
            .trim_start_matches('-')
            .split('=')
            .next()
            .unwrap_or_default();
        let own = A::augment_args(clap::Command::new(""));
        let own = own.get_arguments().filter_map(clap::Arg::get_long);
        let rated = own.map(|own| (strsim::jaro_winkler(own, name), own));
        let best = rated.max_by(|a, b| a.0.total_cmp(&b.0));
        let hint = match best {
            Some((likeness, own)) if likeness >= 0.8 => format!("; did you mean --{own}?"),
            _ => ": the launcher comes first, and then its options".into(),
        };
        return Err(Failure::Usage(format!("unknown option {word}{hint}")));
    }
    match command.get(1) {
        Some(next) if !is_launcher(&command[0]) && is_launcher(next) => {
            let why = format!(
                "{word} is no launcher; if it belongs to {with_value}, write {with_value}={word}"
            );
            Err(Failure::Usage(why))
        }
        _ => Ok(()),
    }
}

/// Is this the name of a launcher?
fn is_launcher(word: &OsStr) -> bool {
    let base = Path::new(word)
        .file_name()
        .unwrap_or(word)
        .to_string_lossy();
    LAUNCHERS.iter().any(|known| base.starts_with(known))
}

/// Finds out which dialect a launcher speaks. For others, a message tells how to preload `library`.
pub fn ask(launcher: &OsStr, library: &Path) -> Result<Dialect, Failure> {
    let name = launcher.display();
    if !is_launcher(launcher) {
        let known = LAUNCHERS.join(", ");
        return Err(Failure::Usage(format!(
            "{name} is no launcher that Rondo knows ({known}); with another one, let the ranks run \
             with LD_PRELOAD={}",
            library.display()
        )));
    }
    let answer = Command::new(launcher)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    let answer =
        answer.map_err(|error| Failure::NotStarted(format!("cannot run {name}: {error}")))?;
    let text = [answer.stdout, answer.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let known = VERSIONS.iter().find(|(mark, _)| text.contains(mark));
    known.map(|(_, dialect)| *dialect).ok_or_else(|| {
        let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
        Failure::Usage(format!(
            "{name} --version says {line:?}, which is neither Open MPI, MPICH, Intel MPI, Slurm nor Flux; \
             let the ranks run with LD_PRELOAD={}",
            library.display()
        ))
    })
}

/// How a launcher is to be started.
pub struct Line {
    pub arguments: Vec<OsString>,
    /// What its own environment is to have besides, or without a value is not to have.
    pub environment: Vec<(OsString, Option<OsString>)>,
}

impl From<Vec<OsString>> for Line {
    fn from(arguments: Vec<OsString>) -> Line {
        Line {
            arguments,
            environment: vec![],
        }
    }
}

/// The line of the launcher: what sets the variables, then `rest`.
pub fn line(dialect: Dialect, set: &Variables, rest: &[OsString]) -> Result<Line, Failure> {
    Ok(match dialect {
        Dialect::OpenMpi => {
            // Each program of several has variables of its own. None is set twice: no version has to choose a value.
            let program = |program: &[OsString]| {
                let sets = |pair: &[OsString]| {
                    X.iter().any(|x| pair[0] == *x) && starts(&pair[1], "LD_PRELOAD=")
                };
                let is_own = are_own(program);
                let own = is_own.iter().filter(|own| **own).count();
                let is_set = program[..own].windows(2).any(sets);
                let own = set.iter().filter(|(name, _)| !is_set || *name != PRELOAD);
                let own = own.flat_map(|set| ["-x".into(), assignment(set)]);
                own.chain(program.iter().cloned()).collect()
            };
            let programs = rest.split(|argument| argument == ":");
            let programs: Vec<Vec<OsString>> = programs.map(program).collect();
            programs.join(&OsString::from(":")).into()
        }
        Dialect::Hydra => {
            let own = set
                .iter()
                .flat_map(|(name, value)| ["-genv".into(), name.clone(), value.clone()]);
            let all: Vec<OsString> = own.chain(rest.iter().cloned()).collect();
            all.into()
        }
        Dialect::Slurm => {
            let lists = slurm::lists(rest, &are_own(rest));
            slurm::line(set, rest, &lists)?
        }
        Dialect::Flux => flux::arguments(set, rest)?.into(),
    })
}

/// Does the launcher come back only when the job has ended?
pub fn waits(dialect: Dialect, rest: &[OsString]) -> bool {
    match dialect {
        Dialect::OpenMpi | Dialect::Hydra | Dialect::Slurm => true,
        Dialect::Flux => flux::waits(rest),
    }
}

fn starts(word: &OsStr, with: &str) -> bool {
    word.as_bytes().starts_with(with.as_bytes())
}

/// `NAME=VALUE`.
pub fn assignment((name, value): (&OsString, &OsString)) -> OsString {
    let mut text = name.clone();
    text.push("=");
    text.push(value);
    text
}
