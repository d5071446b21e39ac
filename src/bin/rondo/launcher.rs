//! Launchers: which one it is, and how it is told to set variables for the ranks.

mod flux;
mod preload;
mod slurm;

use crate::Failure;
pub use preload::merged;
use preload::{are_own, options, takes_value};
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
    /// The same by `--env`: mpiexec of HPE's PALS.
    Pals,
    /// The same by `-e`.
    Aprun,
    /// `-genv NAME VALUE`, once for all programs.
    Hydra,
    /// `--export=ALL,NAME=VALUE,...`, of which the last one counts.
    Slurm,
    /// `--env=NAME=VALUE`, behind the subcommand.
    Flux,
    /// `env NAME=VALUE` in front of the program: TACC's, which has no option for it.
    Ibrun,
}

/// Names of launchers begin like this; nothing else is started only to be asked what it is.
const LAUNCHERS: &[&str] = &[
    "mpirun", "mpiexec", "orterun", "prterun", "prun", "srun", "flux", "aprun", "ibrun",
];

/// Those that are known by their names, which nobody else has.
const NAMES: &[(&str, Dialect)] = &[("aprun", Dialect::Aprun), ("ibrun", Dialect::Ibrun)];

/// What starts a script, in which there is a launcher.
const BATCH: &[&str] = &["sbatch", "qsub", "bsub"];

/// What launchers say of themselves when asked for their version.
const VERSIONS: &[(&str, Dialect)] = &[
    ("Open MPI", Dialect::OpenMpi),
    ("OpenRTE", Dialect::OpenMpi),
    ("PRRTE", Dialect::OpenMpi),
    ("prterun", Dialect::OpenMpi),
    ("HYDRA", Dialect::Hydra),
    ("mpiexec version ", Dialect::Pals),
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
    LAUNCHERS.iter().any(|known| starts(base(word), known))
}

fn base(word: &OsStr) -> &OsStr {
    Path::new(word).file_name().unwrap_or(word)
}

/// Finds out which dialect a launcher speaks. For others, a message tells how to preload `library`.
pub fn ask(launcher: &OsStr, library: &Path) -> Result<Dialect, Failure> {
    let name = launcher.display();
    if !is_launcher(launcher) {
        let known = LAUNCHERS.join(", ");
        let instead = match BATCH.iter().any(|batch| starts(base(launcher), batch)) {
            true => {
                "it starts a script: write 'rondo run' there, in front of the launcher".to_owned()
            }
            false => format!(
                "with another one, write env LD_PRELOAD={} in front of the program",
                library.display()
            ),
        };
        return Err(Failure::Usage(format!(
            "{name} is no launcher that Rondo knows ({known}); {instead}"
        )));
    }
    let mut names = NAMES.iter();
    if let Some((_, dialect)) = names.find(|(known, _)| starts(base(launcher), known)) {
        return Ok(*dialect);
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
            "{name} --version says {line:?}, which is neither Open MPI, MPICH, Intel MPI, PALS, Slurm nor Flux; \
             write env LD_PRELOAD={} in front of the program",
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
        Dialect::OpenMpi | Dialect::Pals | Dialect::Aprun => {
            // Each program of several has variables of its own. None is set twice: no version has to choose a value.
            let programs = rest.split(|argument| argument == ":");
            let programs: Vec<Vec<OsString>> = programs
                .map(|program| with_own(dialect, set, program))
                .collect();
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
        Dialect::Ibrun => {
            let own = are_own(rest).into_iter().take_while(|own| *own).count();
            let (own, program) = rest.split_at(own);
            if program.is_empty() {
                let why = "no word behind ibrun names a program that is there and can be started";
                return Err(Failure::Usage(why.into()));
            }
            let env = ["env".into()].into_iter().chain(set.iter().map(assignment));
            let env: Vec<OsString> = env.collect();
            [own, &env, program].concat().into()
        }
    })
}

/// A program with its options, and those that set the variables in front.
fn with_own(dialect: Dialect, set: &Variables, program: &[OsString]) -> Vec<OsString> {
    let options = options(dialect);
    let sets = |pair: &[OsString]| {
        options.iter().any(|option| pair[0] == *option) && starts(&pair[1], "LD_PRELOAD=")
    };
    let is_own = are_own(program);
    let own = is_own.iter().filter(|own| **own).count();
    let is_set = program[..own].windows(2).any(sets)
        || program[..own]
            .iter()
            .any(|word| starts(word, "--env=LD_PRELOAD="));
    let own = set.iter().filter(|(name, _)| !is_set || *name != PRELOAD);
    let own = own.flat_map(|set| [options[0].into(), assignment(set)]);
    own.chain(program.iter().cloned()).collect()
}

/// Does the launcher come back only when the job has ended?
pub fn waits(dialect: Dialect, rest: &[OsString]) -> bool {
    match dialect {
        Dialect::Flux => flux::waits(rest),
        Dialect::OpenMpi | Dialect::Pals | Dialect::Aprun => true,
        Dialect::Hydra | Dialect::Slurm | Dialect::Ibrun => true,
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
