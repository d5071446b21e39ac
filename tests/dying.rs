//! Jobs that end before their time: what their statistics say.

#![forbid(unsafe_code)]

mod mpirun;
mod pipe;

use mpirun::{Ended, MPIS, compile, ctest, folder, library};
use serde_json::Value;
use std::{fs, path::PathBuf};

/// A job of four ranks that ends in a way, and its statistics, if there are any.
fn job(mpi: &str, how: &str, format: &str) -> (Ended, Option<String>) {
    let folder = folder("dying").join(format!("{mpi}-{how}-{format}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let program = compile(Some(mpi), &ctest("dying.c"), folder.join("dying"), &[]);
    let file: PathBuf = folder.join("statistics");
    let spec = format!("{format}:{}", file.display());
    let preload = library(mpi).display().to_string();
    let set = [
        ("LD_PRELOAD", preload.as_str()),
        ("RONDO_STATS", &spec),
        ("RONDO_BCAST", "circulant"),
    ];
    // The launcher is sent SIGTERM then.
    let seconds = if how == "launcher" { 5 } else { 300 };
    let mut command = mpirun::mpirun(mpi, 4, seconds, &set);
    command.arg(program).arg(how).current_dir(&folder);
    let ended = Ended::of(&command.output().unwrap());
    (ended, fs::read_to_string(file).ok())
}

/// The same as JSON.
fn json(mpi: &str, how: &str) -> (Ended, Value) {
    let (ended, text) = job(mpi, how, "json");
    let text = text.unwrap_or_else(|| panic!("{mpi} {how}: no statistics: {ended:?}"));
    (ended, serde_json::from_str(&text).unwrap())
}

/// Has rank 0 counted ten broadcasts of Rondo's?
fn has_ten(statistics: &Value, ranks: u64) {
    let rows = statistics["collectives"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{statistics}");
    let row = &rows[0];
    assert_eq!(
        (&row["collective"], &row["algorithm"]),
        (&"bcast".into(), &"circulant".into())
    );
    assert_eq!(row["calls"], 10, "{statistics}");
    assert_eq!(row["bytes"], 1_000_000 * ranks, "{statistics}");
    assert_eq!(statistics["ranks"], 4);
    assert_eq!(statistics["summed_ranks"], ranks);
}

#[test]
fn a_job_that_aborts_has_statistics() {
    for mpi in MPIS {
        let (ended, statistics) = json(mpi, "abort");
        assert_ne!(ended.status, Some(0), "{mpi}: {ended:?}");
        assert_eq!(statistics["until"], "MPI_Abort", "{mpi}");
        has_ten(&statistics, 1);
    }
}

#[test]
fn a_job_that_is_asked_to_end_has_statistics_and_ends_by_the_signal() {
    for mpi in MPIS {
        let (ended, statistics) = json(mpi, "term");
        assert_ne!(ended.status, Some(0), "{mpi}: {ended:?}");
        assert_ne!(ended.status, Some(6), "{mpi}: {ended:?}");
        assert_eq!(statistics["until"], "SIGTERM", "{mpi}");
        has_ten(&statistics, 1);
        let (_, text) = job(mpi, "term", "text");
        let text = text.expect("statistics");
        assert!(
            text.contains(
                "4 ranks (until SIGTERM; calls of rank 0; bytes and seconds of rank 0 too)"
            ),
            "{text}"
        );
    }
}

/// A pipe in the place of the file of statistics, which nobody reads: the job goes on to its end without it.
#[test]
fn statistics_that_nobody_reads_are_said_and_not_waited_for() {
    for mpi in MPIS {
        let folder = folder("dying").join(format!("{mpi}-unread"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let pipe = folder.join("pipe");
        pipe::make(&pipe);
        let program = compile(Some(mpi), &ctest("dying.c"), folder.join("dying"), &[]);
        let spec = format!("text:{}", pipe.display());
        let preload = library(mpi).display().to_string();
        let set = [("LD_PRELOAD", preload.as_str()), ("RONDO_STATS", &spec)];
        let mut command = mpirun::mpirun(mpi, 4, 300, &set);
        let ended = Ended::of(&command.arg(program).arg("child").output().unwrap());
        assert_eq!(ended.status, Some(0), "{mpi}: {ended:?}");
        let why = format!(
            "cannot write statistics to {}: nobody reads it",
            pipe.display()
        );
        assert!(ended.complaint().ends_with(&why), "{mpi}: {ended:?}");
        assert!(
            ended.stderr.contains("4 ranks (calls of rank 0"),
            "{mpi}: {ended:?}"
        );
    }
}

/// A program may close all descriptors, and have files of its own in their places: nothing of Rondo's is written there,
/// and its statistics are none the worse.
#[test]
fn files_of_a_program_that_closed_all_descriptors_are_its_own() {
    for mpi in MPIS {
        let (ended, statistics) = json(mpi, "closed");
        assert_ne!(ended.status, Some(0), "{mpi}: {ended:?}");
        assert_eq!(statistics["until"], "SIGTERM", "{mpi}");
        has_ten(&statistics, 1);
        let own = folder("dying").join(format!("{mpi}-closed-json/own-files"));
        assert_eq!(fs::read(own).unwrap(), b"", "{mpi}");
    }
}

/// When another rank aborts, and when somebody ends the launcher. It may follow its SIGTERM with SIGKILL at once, or
/// send SIGKILL alone (MPICH, after an abort). So there may be no statistics, but not half of them or wrong ones; and
/// the job ends.
#[test]
fn a_job_that_the_launcher_ends_has_whole_statistics_or_none() {
    for (mpi, how) in MPIS
        .iter()
        .flat_map(|mpi| [(mpi, "other"), (mpi, "launcher")])
    {
        let (ended, text) = job(mpi, how, "json");
        let expected = match (how, mpi.starts_with("mpich")) {
            ("launcher", _) => &[124][..],
            // Now and then it has the status of a rank that it ended itself.
            (_, true) => &[7, 9],
            (_, false) => &[7],
        };
        let status = ended.status.expect("an exit");
        assert!(expected.contains(&status), "{mpi} {how}: {ended:?}");
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            continue;
        };
        let statistics: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(statistics["until"], "SIGTERM", "{mpi} {how}");
        assert_eq!(statistics["ranks"], 4);
        assert_eq!(statistics["summed_ranks"], 1);
    }
}

#[test]
fn a_handler_of_the_program_is_the_only_one() {
    for (mpi, how) in MPIS
        .iter()
        .flat_map(|mpi| [(mpi, "handler"), (mpi, "early")])
    {
        let (ended, statistics) = job(mpi, how, "json");
        assert!(ended.stdout.contains("HANDLED"), "{mpi} {how}: {ended:?}");
        assert_eq!(statistics, None, "{mpi} {how}");
    }
}

#[test]
fn a_copy_of_the_process_ends_alone() {
    for mpi in MPIS {
        let (ended, statistics) = json(mpi, "child");
        assert_eq!(ended.status, Some(0), "{mpi}: {ended:?}");
        assert!(ended.stdout.contains("CHILD ENDED"), "{mpi}: {ended:?}");
        assert_eq!(statistics["until"], Value::Null, "{mpi}");
        has_ten(&statistics, 4);
    }
}

/// What a communicator takes: some memory of its own, and a segment that its node shares.
#[test]
fn statistics_say_what_communicators_take() {
    for mpi in MPIS {
        let (_, statistics) = json(mpi, "child");
        let rows = statistics["memory"].as_array().unwrap();
        let world = rows.iter().find(|row| row["ranks"] == 4);
        let world = world.unwrap_or_else(|| panic!("{statistics}"));
        assert_eq!(
            (&world["nodes"], &world["communicators"]),
            (&1.into(), &1.into())
        );
        let bytes = world["bytes"].as_u64().unwrap();
        assert!((1 << 10..16 << 20).contains(&bytes), "{bytes}");
        let most = statistics["most_memory_bytes"].as_u64().unwrap();
        assert!((bytes..16 << 20).contains(&most), "{statistics}");
        assert_eq!(world["shared_bytes"], 4 << 20, "{statistics}");
    }
}
