//! `rondo run`: start an MPI program with Rondo preloaded into its ranks, and only there.
//!
//! The launcher itself is left alone: it is not preloaded, it only gets the arguments that make it set
//! the variables for the ranks. Launchers of the same name spell these differently, so each is asked what it is.

mod library;

use crate::{
    Failure, arguments,
    launcher::{self, Launcher, Line, PRELOAD, Variables, assignment},
    output, program, warn,
};
pub use library::{ABI, find_library};
use rondo::collective::Collective;
use rondo::config::{self, OPTIONS, ValueType};
use rondo::records::is_mpi;
use std::{
    ffi::OsString,
    io::{self, Write},
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

/// Run an MPI program with Rondo in its ranks.
///
/// LAUNCHER is mpirun or mpiexec of Open MPI, MPICH or Intel MPI, orterun, prterun or prun, Slurm's srun, flux run or
/// flux submit, mpiexec of HPE's PALS, or aprun. It is started with ARGS and with what makes it set LD_PRELOAD and the
/// variables of Rondo for the ranks. All RONDO_ variables of the environment are handed on. Libraries that are in
/// LD_PRELOAD already stay there: profilers and other tools in front of Rondo, MPI libraries behind it. ARGS must not
/// set LD_PRELOAD, nor have an --export of srun's: that would replace Rondo's.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
EXAMPLES:
  rondo run mpirun -n 8 ./app
  rondo run --stats=json:stats.json mpirun -n 8 ./app
  rondo run --off bcast srun -n 1152 ./app
  rondo run flux run -n 1152 ./app
  rondo run -n mpirun -n 8 ./app           only print the command

LIBRARY:
  librondo.so must be built for the MPI that the program uses: what the program is linked with says it, or else, for
  a script for example, the launcher. It is looked for in ../lib, ../lib64, ../lib/ARCH-linux-gnu and
  ../lib/ARCH-linux-gnu/rondo relative to this tool, there in a directory named openmpi, mpich or standard first, and
  beside the tool; at last, in a directory named rondo, the library for every MPI. That one comes first where nothing
  says for which MPI it is to be, as with a script under srun."
)]
pub struct Args {
    /// Print the command instead of running it
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Leave this collective to the MPI library, bcast for example
    #[arg(long, value_name = "COLL", value_parser = arguments::collective)]
    off: Vec<Collective>,
    /// Report every choice with its reason
    #[arg(long)]
    trace: bool,
    /// Write statistics at the end: text, json, text:FILE or json:FILE
    #[arg(long, value_name = "SPEC", num_args = 0..=1, require_equals = true,
          default_missing_value = "text", value_parser = stats)]
    stats: Option<String>,
    /// The librondo.so to use
    #[arg(long, value_name = "PATH")]
    lib: Option<PathBuf>,
    /// The launcher and its arguments
    #[arg(required = true, trailing_var_arg = true, value_names = ["LAUNCHER", "ARGS"])]
    command: Vec<OsString>,
}

/// Runs the command. Comes back only if nothing was started.
pub fn run(args: &Args) -> Result<(), Failure> {
    let launch = Launch::new(&args.command, args.lib.as_deref(), variables(args))?;
    if let Err(why) = &launch.library {
        warn(&format!("{why}; the program runs without Rondo"));
    }
    if args.dry_run {
        return print(&launch.words());
    }
    let error = launch.command().exec();
    Err(launch.not_started(&error))
}

/// A command that starts a job with Rondo in its ranks.
pub struct Launch {
    name: OsString,
    pub line: Line,
    /// The library that is preloaded, or why there is none: the installation lacks it, or has it damaged.
    pub library: Result<PathBuf, String>,
}

impl Launch {
    /// The launcher and its arguments in `command`, and the variables `set` for the ranks; LD_PRELOAD is added.
    pub fn new(
        command: &[OsString],
        lib: Option<&Path>,
        mut set: Variables,
    ) -> Result<Launch, Failure> {
        let (name, rest) = command.split_first().expect("clap requires one");
        let (launcher, library) = launcher_and_library(name, rest, lib)?;
        // Each of several programs gets the library from here.
        if rest.iter().any(|word| word == ":") {
            set.entry("RONDO_MPMD".into())
                .or_insert_with(|| "on".into());
        }
        if let Ok(library) = &library {
            set.insert(PRELOAD.into(), preload(library)?);
        }
        let line = launcher.line(&set, rest);
        if let Some(word) = &line.against {
            let word = word.display();
            warn(&format!(
                "{word} may replace the LD_PRELOAD that Rondo sets; let 'rondo' have such variables in its environment"
            ));
        }
        Ok(Launch {
            name: name.clone(),
            line,
            library,
        })
    }

    /// The command to be started.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.name);
        command.args(&self.line.arguments);
        for (name, value) in &self.line.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// The same as a shell would take it.
    fn words(&self) -> Vec<OsString> {
        let mut words = vec![];
        let changes = &self.line.environment;
        if !changes.is_empty() {
            words.push("env".into());
        }
        let removed = changes.iter().filter(|(_, value)| value.is_none());
        words.extend(removed.flat_map(|(name, _)| ["-u".into(), name.clone()]));
        let set = changes
            .iter()
            .filter_map(|(name, value)| Some((name, value.as_ref()?)));
        words.extend(set.map(assignment));
        words.push(self.name.clone());
        words.extend(self.line.arguments.iter().cloned());
        words
    }

    /// It could not be.
    pub fn not_started(&self, error: &io::Error) -> Failure {
        let name = self.name.display();
        Failure::NotStarted(format!("cannot run {name}: {error}"))
    }
}

/// What kind of launcher `name` is, and the library for the MPI of the program in `rest`, or why there is none. That a
/// library which the user names is wrong is an error.
fn launcher_and_library(
    name: &OsString,
    rest: &[OsString],
    lib: Option<&Path>,
) -> Result<(&'static Launcher, Result<PathBuf, String>), Failure> {
    let of_program = program::abi(rest);
    let some = lib.map(Path::to_owned);
    let some = some.or_else(|| find_library(of_program).ok());
    let launcher = launcher::ask(name, &some.unwrap_or("librondo.so".into()))?;
    let library = match lib {
        Some(path) => Ok(checked(path)?),
        None => find_library(of_program.or(launcher.abi)),
    };
    Ok((launcher, library))
}

/// Prints `command` in such a way that a shell would run it.
fn print(command: &[OsString]) -> Result<(), Failure> {
    let line = shlex::bytes::try_join(command.iter().map(|word| word.as_bytes()))
        .map_err(|error| Failure::Failed(format!("cannot print the command: {error}")))?;
    output(|out| {
        out.write_all(&line)?;
        writeln!(out)
    })
}

/// The value of `--stats`, if it is one.
fn stats(text: &str) -> Result<String, String> {
    let mut opts = OPTIONS
        .iter()
        .filter(|opt| matches!(opt.value_type, ValueType::Stats(_)));
    let checked = opts.try_for_each(|opt| opt.check(text));
    checked
        .map(|()| text.to_owned())
        .map_err(|problem| format!("it {problem}"))
}

/// The variables of Rondo for the ranks: those of the environment, then what the arguments say. What
/// the environment holds is the library's to judge, on the ranks.
fn variables(args: &Args) -> Variables {
    let mut all: Variables = config::variables().into_iter().collect();
    for &collective in &args.off {
        let name = collective.name().to_ascii_uppercase();
        all.insert(format!("RONDO_{name}").into(), "host".into());
    }
    if args.trace {
        all.insert("RONDO_TRACE".into(), "on".into());
    }
    if let Some(spec) = &args.stats {
        all.insert("RONDO_STATS".into(), spec.into());
    }
    all
}

/// The absolute path of a library that the user names.
fn checked(path: &Path) -> Result<PathBuf, Failure> {
    let failed = |why: &str| Failure::Failed(format!("{}: {why}", path.display()));
    let path = path
        .canonicalize()
        .map_err(|error| failed(&error.to_string()))?;
    match program::is_whole(&path) {
        true if program::is_rondo(&path) => Ok(path),
        true => Err(failed("is not Rondo")),
        false => Err(failed("is not a library, or is damaged")),
    }
}

/// The value of LD_PRELOAD for the ranks: Rondo, and what is preloaded already. A profiler sees a program's calls in
/// front of Rondo only, for Rondo itself calls the PMPI_ names.
pub fn preload(library: &Path) -> Result<OsString, Failure> {
    // The loader takes both characters for the end of a name, and knows no way to quote them.
    if library
        .as_os_str()
        .as_bytes()
        .iter()
        .any(|byte| b": ".contains(byte))
    {
        return Err(Failure::Failed(format!(
            "{}: LD_PRELOAD cannot name a file with a blank or a colon in its path: install Rondo, or copy the \
             library, where there is neither",
            library.display()
        )));
    }
    let others = config::preloaded().unwrap_or_default();
    let others = others.as_bytes().split(|byte| b": ".contains(byte));
    let (behind, front): (Vec<&[u8]>, Vec<&[u8]>) = others
        .filter(|name| !name.is_empty())
        .partition(|name| stays_behind(name));
    let own = library.as_os_str().as_bytes();
    let all: Vec<&[u8]> = [front, vec![own], behind].concat();
    Ok(OsString::from_vec(all.join(&b':')))
}

/// Is this an MPI library, whose functions Rondo's must come before, or Rondo again?
fn stays_behind(name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name);
    let file = name.rsplit('/').next().unwrap_or_default();
    is_mpi(file) || file.starts_with("librondo.so")
}
