//! Each call of the host's by Rondo fails once, on the root and on another rank, and every time the job ends in one of
//! the ways that a user can live with: with the right results, with an error returned, or with an abort that names rank
//! and collective.
//!
//! `faults.c` of the MPI programs is the program and `fault.c` makes the calls fail. Its rounds go on after a failure
//! that Rondo got over, and begin anew behind one that ended the job. Many jobs: `make deep` runs this.

#![forbid(unsafe_code)]

mod mpirun;

use mpirun::{Ended, MPIS, SHARED, compile, crashes::CRASHES, ctest, folder, library};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

/// How calls are carried out; by leaders on two nodes of two ranks each.
const WAYS: &[(&str, &[(&str, &str)])] = &[
    (
        "flat",
        &[
            ("RONDO_HIERARCHY", "flat"),
            ("RONDO_BCAST", "circulant"),
            ("RONDO_ALLGATHERV", "circulant"),
            ("RONDO_GATHERV", "hybrid"),
            ("RONDO_SCATTERV", "hybrid"),
            ("RONDO_GATHER", "binomial"),
            ("RONDO_SCATTER", "linear"),
            ("RONDO_ALLREDUCE", "halving"),
            ("RONDO_REDUCE", "binomial"),
            ("RONDO_REDUCE_SCATTER", "circulant"),
            ("RONDO_SCAN", "pipelined"),
            ("RONDO_BARRIER", "dissemination"),
            ("RONDO_ALLTOALL", "circulant"),
        ],
    ),
    (
        "node",
        &[
            ("RONDO_HIERARCHY", "leader"),
            ("RONDO_BCAST", "circulant"),
            ("RONDO_ALLGATHERV", "ring"),
            ("RONDO_GATHERV", "adaptive"),
            ("RONDO_SCATTERV", "adaptive"),
            ("RONDO_GATHER", "hybrid"),
            ("RONDO_SCATTER", "hybrid"),
            ("RONDO_ALLREDUCE", "gather"),
            ("RONDO_REDUCE", "circulant"),
            ("RONDO_REDUCE_SCATTER", "halving"),
            ("RONDO_SCAN", "doubling"),
            ("RONDO_BARRIER", "dissemination"),
            ("RONDO_ALLTOALL", "pairwise"),
        ],
    ),
    ("auto", &[("RONDO_LEARN_CALLS", "2")]),
];

/// What is compiled for an MPI.
struct Programs {
    faults: PathBuf,
    fault: PathBuf,
    on_node: PathBuf,
}

fn programs(mpi: &str) -> &'static Programs {
    static EACH: [OnceLock<Programs>; 2] = [OnceLock::new(), OnceLock::new()];
    let number = MPIS.iter().position(|name| *name == mpi);
    EACH[number.expect("an MPI")].get_or_init(|| compiled(mpi))
}

fn compiled(mpi: &str) -> Programs {
    let directory = folder("faults").join(mpi);
    std::fs::create_dir_all(&directory).unwrap();
    Programs {
        faults: compile(Some(mpi), &ctest("faults.c"), directory.join("faults"), &[]),
        fault: compile(
            Some(mpi),
            &ctest("fault.c"),
            directory.join("fault.so"),
            SHARED,
        ),
        on_node: compile(None, &ctest("on_node.c"), directory.join("on_node"), &[]),
    }
}

/// Seconds until a job counts as hanging: many times what one takes, also on a busy machine.
const LIMIT: u32 = 20;

/// A job of four ranks whose first round is `first`, with faults on `rank`.
fn job(mpi: &str, programs: &Programs, way: &[(&str, &str)], first: u64, rank: u32) -> Ended {
    let preload = format!("{}:{}", library(mpi).display(), programs.fault.display());
    let variables = [
        ("LD_PRELOAD", preload.as_str()),
        ("EXPECT_RONDO", "any"),
        // The other ways of UCX 1.13 abort a rank that reads the memory of one that has gone, or hang in
        // MPI_Finalize, without Rondo too.
        ("UCX_TLS", "self,posix"),
    ];
    let mut command = mpirun::mpirun(mpi, 4, LIMIT, &[&variables, way].concat());
    if way.contains(&("RONDO_HIERARCHY", "leader")) {
        command.arg(&programs.on_node).arg("0,0,1,1");
    }
    command.arg(&programs.faults);
    command.args([first.to_string(), rank.to_string()]);
    Ended::of(&command.output().expect("the launcher starts"))
}

/// The number of the last round that began.
fn last_round(stdout: &str) -> Option<u64> {
    let rounds = stdout.lines().filter_map(|line| {
        let number = line.strip_prefix("round ")?;
        number.split(':').next()?.parse().ok()
    });
    rounds.max()
}

/// All rounds; counts of how they ended.
fn every_call_fails(mpi: &str, way: &str, rank: u32) {
    let programs = programs(mpi);
    let (_, variables) = WAYS
        .iter()
        .find(|(name, _)| *name == way)
        .expect("one of them");
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    let mut bad = vec![];
    let mut first = 1;
    loop {
        let ended = job(mpi, programs, variables, first, rank);
        *ends.entry("survived").or_default() += ended.stdout.matches(", survived").count() as u32;
        match end(&ended) {
            Ok(End::All) => break,
            Ok(End::Error) => *ends.entry("error returned").or_default() += 1,
            Ok(End::Abort) => *ends.entry("abort").or_default() += 1,
            Err(why) => bad.push(format!(
                "from round {first}: {why}: status {:?}\n{}{}",
                ended.status, ended.stdout, ended.stderr
            )),
        }
        if !ended.stderr.contains("fault: ") {
            break; // nothing was left to fail, or it did not get that far, and something was wrong
        }
        first = last_round(&ended.stdout).expect("a round began") + 1;
    }
    println!(
        "{mpi} {way}, faults on rank {rank}: {ends:?}, {} wrong",
        bad.len()
    );
    assert!(
        bad.is_empty(),
        "{mpi} {way} rank {rank}:\n{}",
        bad.join("\n")
    );
    // The rounds were no empty ones: the job begins and a communicator joins, and there are messages where Rondo has
    // the calls.
    let least = if way == "auto" { 30 } else { 50 };
    assert!(ends.values().sum::<u32>() > least, "{ends:?}");
    assert!(ends.len() > 1, "{ends:?}");
}

/// How a job may end.
enum End {
    /// No call was left to fail.
    All,
    /// A collective returned an error.
    Error,
    /// Rondo ended the job.
    Abort,
}

/// How a job ended; otherwise, what is wrong.
fn end(ended: &Ended) -> Result<End, &'static str> {
    let Ended {
        status,
        stdout,
        stderr,
    } = ended;
    let has = |text: &str| stdout.contains(text) || stderr.contains(text);
    // The host's internal errors too.
    if CRASHES.iter().any(|crash| has(crash)) || has("internal error") {
        return Err("a crash");
    }
    if stderr.contains(": failed: ") {
        return Err("wrong results or a leak");
    }
    let names = |line: &str| {
        ["rondo: ", "MPI_", "on rank "]
            .iter()
            .all(|part| line.contains(part))
    };
    match status {
        None | Some(124 | 137) => Err("it hangs"),
        Some(0) if has("PASS faults") => Ok(End::All),
        Some(0) => Err("success without an end"),
        _ if has("error UNKNOWN") => Err("an error of no class"),
        _ if has(": error known in MPI_") => Ok(End::Error),
        _ if stderr.lines().any(names) => Ok(End::Abort),
        _ => Err("an end without a reason"),
    }
}

macro_rules! cases {
    ($($name:ident: $mpi:literal $way:literal $rank:literal;)*) => { $(
        #[test]
        #[ignore = "hundreds of jobs: make deep"]
        fn $name() {
            every_call_fails($mpi, $way, $rank);
        }
    )* };
}

cases! {
    openmpi_flat_root: "openmpi" "flat" 0;
    openmpi_flat_other: "openmpi" "flat" 2;
    openmpi_node_root: "openmpi" "node" 0;
    openmpi_node_other: "openmpi" "node" 2;
    openmpi_auto_other: "openmpi" "auto" 1;
    mpich_flat_root: "mpich" "flat" 0;
    mpich_flat_other: "mpich" "flat" 2;
    mpich_node_root: "mpich" "node" 0;
    mpich_node_other: "mpich" "node" 2;
    mpich_auto_other: "mpich" "auto" 1;
}
