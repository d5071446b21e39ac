//! Launchers: which one it is, and how it is told to set variables for the ranks.

#![forbid(unsafe_code)]

use crate::Failure;
use rondo::config;
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::Path,
    process::{Command, Stdio},
};

/// The variable that Rondo gets into the ranks by.
pub const PRELOAD: &str = "LD_PRELOAD";

/// Variables to set for the ranks, and their values.
pub type Variables = BTreeMap<OsString, OsString>;

/// How a launcher is told to set variables for the ranks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The option and `NAME=VALUE`, for each of the programs that `:` separates.
    Each,
    /// The option, the name and the value, once for all programs.
    Once,
    /// The launcher's own environment, which it hands on. The library is not for the launcher itself, so LD_PRELOAD is
    /// in one word, which begins with the option, behind so many others.
    Environment { behind: usize },
}

/// A kind of launcher.
pub struct Launcher {
    /// Its name, if nobody else has it, so that it need not be asked.
    name: Option<&'static str>,
    /// What it says of itself when asked for its version.
    versions: &'static [&'static str],
    form: Form,
    /// The option that sets a variable.
    option: &'static str,
    /// The ABI of the MPI that it belongs to, if it does.
    pub abi: Option<&'static str>,
}

/// All kinds: Open MPI's, MPICH's and Intel MPI's, HPE's PALS, Slurm's, Flux's and ALPS's.
const LAUNCHERS: &[Launcher] = &[
    Launcher {
        name: None,
        versions: &["Open MPI", "OpenRTE", "PRRTE", "prterun"],
        form: Form::Each,
        option: "-x",
        abi: Some("openmpi"),
    },
    Launcher {
        name: None,
        versions: &["HYDRA", "Intel(R) MPI"],
        form: Form::Once,
        option: "-genv",
        abi: Some("mpich"),
    },
    Launcher {
        name: None,
        versions: &["mpiexec version "],
        form: Form::Each,
        option: "--env",
        abi: None,
    },
    Launcher {
        name: None,
        versions: &["slurm"],
        form: Form::Environment { behind: 0 },
        option: "--export=ALL,",
        abi: None,
    },
    Launcher {
        name: None,
        versions: &["flux-core"],
        // That is "run" or "submit".
        form: Form::Environment { behind: 1 },
        option: "--env=",
        abi: None,
    },
    Launcher {
        name: Some("aprun"),
        versions: &[],
        form: Form::Each,
        option: "-e",
        abi: None,
    },
];

/// Names of launchers begin like this; nothing else is started only to be asked what it is.
const NAMES: &[&str] = &[
    "mpirun", "mpiexec", "orterun", "prterun", "prun", "srun", "flux", "aprun",
];

/// What starts a script, in which there is a launcher.
const BATCH: &[&str] = &["sbatch", "qsub", "bsub"];

/// Finds out which kind a launcher is. For others, a message tells how to preload `library`.
pub fn ask(launcher: &OsStr, library: &Path) -> Result<&'static Launcher, Failure> {
    let name = launcher.display();
    let file = Path::new(launcher).file_name().unwrap_or(launcher);
    let by_hand = format!(
        "write env LD_PRELOAD={} in front of the program",
        library.display()
    );
    if !NAMES.iter().any(|known| starts(file, known)) {
        let known = NAMES.join(", ");
        let instead = match BATCH.iter().find(|batch| starts(file, batch)) {
            Some(_) => {
                "it starts a script: write 'rondo run' there, in front of the launcher".to_owned()
            }
            None => format!("with another one, {by_hand}"),
        };
        return Err(Failure::Usage(format!(
            "{name} is no launcher that Rondo knows ({known}); {instead}"
        )));
    }
    let has_name = |it: &&Launcher| it.name.is_some_and(|name| starts(file, name));
    if let Some(known) = LAUNCHERS.iter().find(has_name) {
        return Ok(known);
    }
    let answer = Command::new(launcher)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    let answer =
        answer.map_err(|error| Failure::NotStarted(format!("cannot run {name}: {error}")))?;
    let text = [answer.stdout, answer.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let says = |it: &&Launcher| it.versions.iter().any(|mark| text.contains(mark));
    LAUNCHERS.iter().find(says).ok_or_else(|| {
        let mut lines = text.lines();
        let line = lines
            .find(|line| !line.trim().is_empty())
            .unwrap_or("nothing");
        Failure::Usage(format!(
            "{name} --version says {line:?}, which is neither Open MPI, MPICH, Intel MPI, PALS, Slurm nor Flux; \
             {by_hand}"
        ))
    })
}

/// How a launcher is to be started.
#[derive(Default)]
pub struct Line {
    pub arguments: Vec<OsString>,
    /// What its own environment is to have besides, or without a value is not to have.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// A word of the user's that may take Rondo's LD_PRELOAD away.
    pub against: Option<OsString>,
}

impl Launcher {
    /// The line of the launcher: what sets the variables, and `rest`.
    pub fn line(&self, set: &Variables, rest: &[OsString]) -> Line {
        let is_list = |word: &OsString| self.option == "--export=ALL," && starts(word, "--export");
        let is_against = |word: &&OsString| has_preload(word) || is_list(word);
        let mut line = Line {
            against: rest.iter().find(is_against).cloned(),
            ..Line::default()
        };
        let preload = set.get_key_value(OsStr::new(PRELOAD));
        line.arguments = match self.form {
            Form::Each => {
                let each = |set| [self.option.into(), assignment(set)];
                let own: Vec<OsString> = set.iter().flat_map(each).collect();
                let programs = rest.split(|word| word == ":");
                let programs: Vec<_> = programs.map(|it| [&own, it].concat()).collect();
                programs.join(&OsString::from(":"))
            }
            Form::Once => {
                let each = |(name, value): (&OsString, &OsString)| {
                    [self.option.into(), name.clone(), value.clone()]
                };
                set.iter().flat_map(each).chain(rest.to_vec()).collect()
            }
            Form::Environment { behind } => {
                line.environment = in_environment(set);
                if config::preloaded().is_some() {
                    // Slurm's launcher would prefer it to the list.
                    line.environment.push((PRELOAD.into(), None));
                }
                let (before, rest) = rest.split_at(behind.min(rest.len()));
                let own = preload.map(|set| with(self.option, &assignment(set)));
                let own: Vec<OsString> = own.into_iter().collect();
                [before, &own, rest].concat()
            }
        };
        line
    }
}

/// What is to be changed in a launcher's own environment, which it hands on: all but LD_PRELOAD, because the library is
/// not for the launcher itself.
fn in_environment(set: &Variables) -> Vec<(OsString, Option<OsString>)> {
    let inherited = config::variables();
    let new = set.iter().filter(|(name, value)| {
        *name != PRELOAD && !inherited.contains(&((*name).clone(), (*value).clone()))
    });
    new.map(|(name, value)| (name.clone(), Some(value.clone())))
        .collect()
}

fn has_preload(word: &OsStr) -> bool {
    let mut parts = word.as_bytes().windows(PRELOAD.len());
    parts.any(|part| part == PRELOAD.as_bytes())
}

fn starts(word: &OsStr, with: &str) -> bool {
    word.as_bytes().starts_with(with.as_bytes())
}

fn with(prefix: &str, word: &OsStr) -> OsString {
    OsString::from_vec([prefix.as_bytes(), word.as_bytes()].concat())
}

/// `NAME=VALUE`.
pub fn assignment((name, value): (&OsString, &OsString)) -> OsString {
    OsString::from_vec([name.as_bytes(), b"=", value.as_bytes()].concat())
}
