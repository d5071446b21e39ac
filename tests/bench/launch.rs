//! Starting the tool under an MPI.

pub use crate::mpirun::{Ended, MPIS, root};
use crate::mpirun::{SHARED, compile, mpirun};
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
};

/// One run at a time: there are few cores.
static TURN: Mutex<()> = Mutex::new(());

/// Where files of these tests go.
pub fn folder() -> PathBuf {
    crate::mpirun::folder("bench-test")
}

/// The tool as built for an MPI.
pub fn tool(mpi: &str) -> PathBuf {
    root().join(format!("build/{mpi}/rondo"))
}

/// Compiles a shared library, with the compiler of an MPI if one is given.
pub fn shared_library(mpi: Option<&str>, source: &Path, name: &str) -> PathBuf {
    compile(mpi, source, folder().join(name), SHARED)
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
    let mut line = mpirun(mpi, ranks, 300, env);
    line.arg(tool(mpi)).args(args.split_whitespace());
    line
}
