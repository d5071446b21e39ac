//! Starting the tool under an MPI.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{Mutex, OnceLock},
};

pub const MPIS: [&str; 2] = ["openmpi", "mpich"];

/// One run at a time: there are few cores.
static TURN: Mutex<()> = Mutex::new(());

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where files of these tests go.
pub fn folder() -> PathBuf {
    let folder = root().join("build/bench-test");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The tool as built for an MPI.
pub fn tool(mpi: &str) -> PathBuf {
    root().join(format!("build/{mpi}/rondo"))
}

/// A tool of an MPI, as in the tests of MPI programs.
fn command(tool: &str, mpi: &str) -> String {
    let variable = format!("{tool}_{mpi}").to_uppercase();
    env::var(variable).unwrap_or_else(|_| format!("{tool}.{mpi}"))
}

/// Compiles a shared library, with the compiler of an MPI if one is given.
pub fn shared_library(mpi: Option<&str>, source: &Path, name: &str) -> PathBuf {
    let library = folder().join(name);
    let compiler = mpi.map_or("cc".into(), |mpi| command("mpicc", mpi));
    let done = Command::new(&compiler)
        .args(["-shared", "-fPIC", "-O1", "-Wl,--no-as-needed", "-o"])
        .args([&library, &source.to_path_buf()])
        .arg("-ldl")
        .status();
    assert!(done.unwrap().success(), "{compiler} {}", source.display());
    library
}

/// What makes MPICH's ranks yield where there are more than cores.
fn yields() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| shared_library(None, &root().join("ctests/yield.c"), "yield.so"))
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    pub fn of(output: &Output) -> Ended {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ended {
            status: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// The one line that the tool said; launchers add what they think of it.
    pub fn complaint(&self) -> &str {
        let mut lines = self
            .stderr
            .lines()
            .filter(|line| line.starts_with("rondo: "));
        let line = lines
            .next()
            .unwrap_or_else(|| panic!("a complaint: {self:?}"));
        assert_eq!(lines.next(), None, "one rank speaks for all");
        line
    }
}

/// `rondo bench` with arguments between blanks on some ranks, with variables of which LD_PRELOAD may be one.
pub fn bench(mpi: &str, ranks: u32, env: &[(&str, &str)], args: &str) -> Ended {
    run(mpi, ranks, env, &format!("bench {args}"))
}

/// The tool with these arguments, in the same way.
pub fn run(mpi: &str, ranks: u32, env: &[(&str, &str)], args: &str) -> Ended {
    let _turn = TURN.lock().unwrap_or_else(|broken| broken.into_inner());
    Ended::of(&command_line(mpi, ranks, env, args).output().unwrap())
}

/// The command line of that.
pub fn command_line(mpi: &str, ranks: u32, env: &[(&str, &str)], args: &str) -> Command {
    let mut command_line = Command::new("timeout");
    command_line.args(["50", &command("mpirun", mpi)]);
    let mut preload = Vec::new();
    if mpi == "mpich" {
        preload.push(yields().display().to_string());
    } else {
        command_line.args(["--allow-run-as-root", "--oversubscribe"]);
        command_line.args(["--mca", "mpi_yield_when_idle", "1"]);
    }
    let others = env.iter().filter(|(name, _)| *name != "LD_PRELOAD");
    let mut variables: Vec<(&str, String)> = others
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect();
    let given = env.iter().filter(|(name, _)| *name == "LD_PRELOAD");
    preload.extend(given.map(|(_, value)| (*value).to_owned()));
    if !preload.is_empty() {
        variables.push(("LD_PRELOAD", preload.join(":")));
    }
    for (name, value) in variables {
        match mpi {
            "mpich" => command_line.args(["-genv", name, &value]),
            _ => command_line.args(["-x", &format!("{name}={value}")]),
        };
    }
    command_line
        .args(["-np", &ranks.to_string()])
        .arg(tool(mpi))
        .args(args.split_whitespace());
    command_line
}
