//! Launchers: which one it is, and how it is told to set variables for the ranks.

mod flux;
mod slurm;

use crate::{Failure, program};
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

/// How Open MPI's option for variables is written.
const X: &[&str] = &["-x", "--x"];

/// What `rest`, the launcher's line of the user, says of LD_PRELOAD.
pub struct Merged {
    /// The line, where `preload` made a value of each that is given, or of none where the launcher is to take that of
    /// the environment.
    pub rest: Vec<OsString>,
    /// A word that sets the variable in another way, and so takes Rondo's away.
    pub other: Option<OsString>,
}

/// May the next word be the value of this one? It is an option without one in the same word.
fn takes_value(word: &OsStr) -> bool {
    starts(word, "-") && !word.as_bytes().contains(&b'=')
}

/// Which words are the launcher's own, and not those of a program that it starts. That is the first one that can be
/// started, but no name without a folder behind an option, which may be its value (`--map-by node`).
fn are_own(words: &[OsString]) -> Vec<bool> {
    let mut own = true;
    let is_own = words.iter().enumerate().map(|(at, word)| {
        let is_value = at > 0 && takes_value(&words[at - 1]) && !word.as_bytes().contains(&b'/');
        let is_program = !is_value && program::is_executable(Path::new(word));
        own = word == ":" || (own && !is_program);
        own
    });
    is_own.collect()
}

/// Looks for LD_PRELOAD in the launcher's line: what is set there counts, and not what Rondo sets.
pub fn merged(
    dialect: Dialect,
    rest: &[OsString],
    preload: impl Fn(Option<&OsStr>) -> OsString,
) -> Merged {
    let options: &[&str] = match dialect {
        Dialect::OpenMpi => X,
        Dialect::Hydra => &["-genv", "-env"],
        Dialect::Flux => &["--env"],
        Dialect::Slurm => &[],
    };
    let (mut rest, mut other) = (rest.to_vec(), None);
    let own = are_own(&rest);
    let lists = match dialect {
        Dialect::Slurm => slurm::lists(&rest, &own),
        Dialect::OpenMpi | Dialect::Hydra | Dialect::Flux => vec![],
    };
    for at in 0..rest.len() {
        let word = rest[at].clone();
        if let Some(list) = lists.iter().find(|list| list.word == at) {
            match list.merged(&word, &preload) {
                Some(merged) => rest[at] = merged,
                None => _ = other.get_or_insert(list.with_option(&rest)),
            }
            continue;
        }
        let is_value = own[at] && at > 0 && options.iter().any(|option| rest[at - 1] == *option);
        let (option, set) = match word.as_bytes().strip_prefix(b"--env=") {
            Some(set) if own[at] && dialect == Dialect::Flux => ("--env=", set),
            _ if is_value => ("", word.as_bytes()),
            _ => ("", &b""[..]),
        };
        let value = match set.strip_prefix(PRELOAD.as_bytes()) {
            Some([]) if dialect == Dialect::Hydra => {
                if let Some(value) = rest.get_mut(at + 1) {
                    *value = preload(Some(value));
                }
                continue;
            }
            Some([]) => preload(None),
            Some([b'=', value @ ..]) => preload(Some(OsStr::from_bytes(value))),
            _ => {
                let mut parts = word.as_bytes().windows(PRELOAD.len());
                if parts.any(|part| part == PRELOAD.as_bytes()) {
                    other.get_or_insert(word);
                }
                continue;
            }
        };
        rest[at] = [option, PRELOAD, "="].concat().into();
        rest[at].push(value);
    }
    Merged { rest, other }
}

/// The arguments of the launcher: those that set the variables, then `rest`.
pub fn arguments(
    dialect: Dialect,
    set: &Variables,
    rest: &[OsString],
) -> Result<Vec<OsString>, Failure> {
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
            programs.join(&OsString::from(":"))
        }
        Dialect::Hydra => {
            let own = set
                .iter()
                .flat_map(|(name, value)| ["-genv".into(), name.clone(), value.clone()]);
            own.chain(rest.iter().cloned()).collect()
        }
        Dialect::Slurm => {
            let lists = slurm::lists(rest, &are_own(rest));
            slurm::arguments(set, rest, &lists)?
        }
        Dialect::Flux => flux::arguments(set, rest)?,
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

fn assignment((name, value): (&OsString, &OsString)) -> OsString {
    let mut text = name.clone();
    text.push("=");
    text.push(value);
    text
}
