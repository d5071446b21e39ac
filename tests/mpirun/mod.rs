//! Starting programs under Debian's MPIs.

#![allow(dead_code, reason = "each test program uses a part of it")]

use mistaken::MISTAKEN;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

pub mod crashes;
pub mod ctests;
pub mod executable;
pub mod mistaken;
pub mod untested;

pub const MPIS: [&str; 2] = ["openmpi", "mpich"];

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder for files of tests, of this name.
pub fn folder(name: &str) -> PathBuf {
    let folder = root().join("build").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The library as built for an MPI.
pub fn library(mpi: &str) -> PathBuf {
    root().join("build").join(mpi).join("librondo.so")
}

/// A tool of an MPI, as in the tests of MPI programs.
pub fn command(tool: &str, mpi: &str) -> String {
    let variable = format!("{tool}_{mpi}").to_uppercase();
    env::var(variable).unwrap_or_else(|_| format!("{tool}.{mpi}"))
}

/// The source file of this name among the MPI programs.
pub fn ctest(name: &str) -> PathBuf {
    ctests::find(name).unwrap_or_else(|| panic!("ctests has no {name}"))
}

/// Compiles a C file with the compiler of an MPI, or with none of its, and more options. Tests that want the same
/// program run side by side: so it is there at once, and whole.
pub fn compile(mpi: Option<&str>, source: &Path, target: PathBuf, options: &[&str]) -> PathBuf {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let (own, number) = (std::process::id(), MADE.fetch_add(1, Relaxed));
    let made = PathBuf::from(format!("{}.{own}.{number}", target.display()));
    let compiler = mpi.map_or("cc".into(), |mpi| command("mpicc", mpi));
    let done = Command::new(&compiler)
        .args(["-O1", "-g", "-I"])
        .arg(ctests::support())
        .args(options)
        .arg("-o")
        .args([&made, &source.to_path_buf()])
        .arg("-ldl")
        .status();
    assert!(done.unwrap().success(), "{compiler} {}", source.display());
    fs::rename(&made, &target).unwrap();
    target
}

/// How a shared library is compiled.
pub const SHARED: &[&str] = &["-shared", "-fPIC", "-Wl,--no-as-needed"];

/// What makes MPICH's ranks yield where there are more than cores.
fn yields() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        // Several test programs may do so at a time.
        let target = folder("mpirun").join(format!("yield-{}.so", std::process::id()));
        compile(None, &ctest("yield.c"), target, SHARED)
    })
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
        let stdout = text(&output.stdout);
        let has_passed = stdout.lines().any(|line| line.starts_with("PASS "));
        let is_mistaken = has_passed && text(&output.stderr).contains(MISTAKEN);
        Ended {
            status: match output.status.code() {
                Some(1) if is_mistaken => Some(0),
                status => status,
            },
            stdout,
            // What is said of a rank that is late, and that then comes, is so on a busy machine.
            stderr: (text(&output.stderr).split_inclusive('\n'))
                .filter(|line| !line.contains("all is well"))
                .collect(),
        }
    }

    /// The one line that Rondo said; launchers add what they think of it.
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

/// The launcher of an MPI for so many ranks and seconds, with variables of which LD_PRELOAD may be one. The program is
/// to be added.
pub fn mpirun(mpi: &str, ranks: u32, seconds: u32, env: &[(&str, &str)]) -> Command {
    let mut line = Command::new("timeout");
    line.args(["-k", "60", &seconds.to_string(), &command("mpirun", mpi)]);
    let mut preload = Vec::new();
    if mpi == "mpich" {
        preload.push(yields().display().to_string());
    } else {
        line.args(["--allow-run-as-root", "--oversubscribe"]);
        line.args(["--mca", "mpi_yield_when_idle", "1"]);
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
            "mpich" => line.args(["-genv", name, &value]),
            _ => line.args(["-x", &format!("{name}={value}")]),
        };
    }
    line.args(["-np", &ranks.to_string()]);
    line
}
