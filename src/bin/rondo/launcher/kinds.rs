//! Kinds of launchers, and which one a launcher is.

#![forbid(unsafe_code)]

use super::starts;
use crate::Failure;
use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, Stdio},
};

/// How a launcher is told to set variables for the ranks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The option and `NAME=VALUE`, for each of the programs that `:` separates.
    Each,
    /// The option, the name and the value, once for all programs.
    Once,
    /// `--export=ALL,NAME=VALUE,...`, of which the last one counts. Other variables than LD_PRELOAD are in the
    /// launcher's own environment, which it hands on, and in which a value may have commas.
    List,
    /// `--env=NAME=VALUE` behind the subcommand for LD_PRELOAD, and the launcher's own environment for others.
    BehindSubcommand,
    /// `env NAME=VALUE` in front of the program, where there is no option for it.
    InFront,
}

/// A kind of launcher.
pub struct Launcher {
    /// Its name, if nobody else has it, so that it need not be asked.
    name: Option<&'static str>,
    /// What it says of itself when asked for its version.
    versions: &'static [&'static str],
    pub(super) form: Form,
    /// The option that sets a variable, as Rondo writes it, and what else it is called.
    pub(super) options: &'static [&'static str],
    /// The ABI of the MPI that it belongs to, if it does.
    pub abi: Option<&'static str>,
}

/// All kinds: Open MPI's, MPICH's and Intel MPI's, HPE's PALS, Slurm's, Flux's, ALPS's and TACC's.
const LAUNCHERS: &[Launcher] = &[
    Launcher {
        name: None,
        versions: &["Open MPI", "OpenRTE", "PRRTE", "prterun"],
        form: Form::Each,
        options: &["-x", "--x"],
        abi: Some("openmpi"),
    },
    Launcher {
        name: None,
        versions: &["HYDRA", "Intel(R) MPI"],
        form: Form::Once,
        options: &["-genv", "-env"],
        abi: Some("mpich"),
    },
    Launcher {
        name: None,
        versions: &["mpiexec version "],
        form: Form::Each,
        options: &["--env", "-env"],
        abi: None,
    },
    Launcher {
        name: None,
        versions: &["slurm"],
        form: Form::List,
        options: &["--export"],
        abi: None,
    },
    Launcher {
        name: None,
        versions: &["flux-core"],
        form: Form::BehindSubcommand,
        options: &["--env"],
        abi: None,
    },
    Launcher {
        name: Some("aprun"),
        versions: &[],
        form: Form::Each,
        options: &["-e", "--environment-override"],
        abi: None,
    },
    Launcher {
        name: Some("ibrun"),
        versions: &[],
        form: Form::InFront,
        options: &[],
        abi: None,
    },
];

/// Names of launchers begin like this; nothing else is started only to be asked what it is.
const NAMES: &[&str] = &[
    "mpirun", "mpiexec", "orterun", "prterun", "prun", "srun", "flux", "aprun", "ibrun",
];

/// What starts a script, in which there is a launcher.
const BATCH: &[&str] = &["sbatch", "qsub", "bsub"];

/// Is this the name of a launcher?
pub(super) fn is_launcher(word: &OsStr) -> bool {
    NAMES.iter().any(|known| starts(base(word), known))
}

fn base(word: &OsStr) -> &OsStr {
    Path::new(word).file_name().unwrap_or(word)
}

/// Finds out which kind a launcher is. For others, a message tells how to preload `library`.
pub fn ask(launcher: &OsStr, library: &Path) -> Result<&'static Launcher, Failure> {
    let name = launcher.display();
    let by_hand = format!(
        "write env LD_PRELOAD={} in front of the program",
        library.display()
    );
    if !is_launcher(launcher) {
        let known = NAMES.join(", ");
        let instead = match BATCH.iter().find(|batch| starts(base(launcher), batch)) {
            Some(_) => {
                "it starts a script: write 'rondo run' there, in front of the launcher".to_owned()
            }
            None => format!("with another one, {by_hand}"),
        };
        return Err(Failure::Usage(format!(
            "{name} is no launcher that Rondo knows ({known}); {instead}"
        )));
    }
    let has_name = |it: &&Launcher| it.name.is_some_and(|name| starts(base(launcher), name));
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
