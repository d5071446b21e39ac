//! This tool as an MPI program: every rank runs it, under the launcher of the MPI that it is built for.

#![forbid(unsafe_code)]

use crate::{
    Failure,
    bench::report::Node,
    mpi::{self, Mpi},
    run,
};
use rondo::config::{self, Config};
use std::{ffi::OsStr, os::unix::process::CommandExt, process::Command};

/// Runs `work` on all ranks, between MPI_Init and MPI_Finalize of the MPI library at `library`, with Rondo preloaded.
pub fn run(
    library: Option<&OsStr>,
    work: impl FnOnce(&Mpi) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if !mpi::has_rondo() {
        return preloaded();
    }
    let mpi = Mpi::start(library)?;
    // Whatever goes wrong from here on does so on all ranks. They leave when rank 0 has said it: the first rank that
    // fails makes launchers end the others.
    work(&mpi).map_err(|failure| {
        if mpi.rank == 0 {
            failure.say();
        }
        match mpi.barrier() {
            Ok(()) => Failure::SaidElsewhere(failure.status()),
            Err(worse) => worse,
        }
    })
}

/// A command of this tool needs so many ranks.
pub fn at_least(mpi: &Mpi, ranks: usize, command: &str) -> Result<(), Failure> {
    if mpi.ranks >= ranks {
        return Ok(());
    }
    let host = env!("RONDO_HOST");
    let few = match mpi.ranks {
        1 => "one rank only".to_owned(),
        n => format!("{n} ranks only"),
    };
    Err(Failure::Usage(format!(
        "{few}: start 'rondo {command}' with mpirun of {host}, mpirun -np 8 rondo {command}"
    )))
}

/// The nodes and their ranks, as Rondo sees them.
pub fn nodes(mpi: &Mpi) -> Result<Vec<Node>, Failure> {
    let named = Config::load().config.node;
    let name = if named.is_empty() {
        mpi.processor()?
    } else {
        named
    };
    let mut nodes: Vec<Node> = Vec::new();
    for (rank, name) in mpi.texts(&name)?.into_iter().enumerate() {
        match nodes.iter_mut().find(|node| node.name == name) {
            Some(node) => node.ranks.push(rank),
            None => nodes.push(Node {
                name,
                ranks: vec![rank],
            }),
        }
    }
    Ok(nodes)
}

/// What rank 0 did, or a failure on all ranks if it failed.
pub fn agreed<T>(mpi: &Mpi, done: Result<T, Failure>) -> Result<T, Failure> {
    let mut status = [done.as_ref().err().map_or(0, Failure::status).into()];
    mpi.largest(&mut status)?;
    match (done, status) {
        (Ok(_), [status]) if status > 0.0 => Err(Failure::SaidElsewhere(status as u8)),
        (done, _) => done,
    }
}

/// Starts this tool again with Rondo preloaded: names that MPI has too are then Rondo's.
fn preloaded() -> Result<(), Failure> {
    let library = run::find_library(Some(run::ABI)).map_err(Failure::Failed)?;
    let value = run::preload(&library)?;
    let before = config::preloaded().unwrap_or_default();
    let is_there = |name: &str| name == library.as_os_str();
    if before.to_string_lossy().split([':', ' ']).any(is_there) {
        let library = library.display();
        return Err(Failure::Failed(format!("{library} cannot be preloaded")));
    }
    let tool = std::env::current_exe()?;
    // A few calls of each kind are timed, and all of them by what the rules choose: trials would blur the times.
    let learn = std::env::var_os("RONDO_LEARN").unwrap_or("off".into());
    let error = Command::new(&tool)
        .args(std::env::args_os().skip(1))
        .env("LD_PRELOAD", value)
        .env("RONDO_LEARN", learn)
        .exec();
    Err(Failure::Failed(format!(
        "cannot run {}: {error}",
        tool.display()
    )))
}
