//! What `rondo bench` refuses, and what it finds wrong.

use super::launch::{Ended, MPIS, bench, folder, root, shared_library, tool};
use std::{fs, process::Command};

/// The tool without a launcher.
fn alone(mpi: &str, args: &str) -> Ended {
    let mut command = Command::new("timeout");
    command
        .arg("300")
        .arg(tool(mpi))
        .arg("bench")
        .args(args.split_whitespace());
    Ended::of(&command.output().unwrap())
}

#[test]
fn one_rank_is_not_enough() {
    for mpi in MPIS {
        let ended = alone(mpi, "bcast");
        assert_eq!((ended.status, &*ended.stdout), (Some(2), ""), "{mpi}");
        let why = ended.complaint();
        assert!(
            why.contains("one rank only: start 'rondo bench' with mpirun of "),
            "{why}"
        );
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
}

#[test]
fn arguments_that_cannot_be_are_refused_before_mpi_is_loaded() {
    for (args, message) in [
        ("alltosome", "invalid value 'alltosome'"),
        ("-m 0:4", "numbers begin with 1"),
        ("-m 4K:1K", "the first number is the larger one"),
        ("-m 1:x", "'x' is no whole number like 64, 64K or 8M"),
        ("-i 0", "0 is not in 1..="),
        ("--dist steps", "possible values: same, one"),
        ("--op max", "invalid value 'max'"),
    ] {
        let ended = alone("openmpi", args);
        assert_eq!(
            (ended.status, &*ended.stdout),
            (Some(2), ""),
            "{args}: {ended:?}"
        );
        assert!(
            ended.stderr.starts_with("error: ") && ended.stderr.contains(message),
            "{ended:?}"
        );
    }
}

#[test]
fn what_does_not_fit_the_ranks_is_said_once() {
    for mpi in MPIS {
        for (args, status, message) in [
            ("-m 1:2 allgather", 2, "the sizes are too small for any row"),
            ("-m 1G gatherv", 2, "gatherv: 1073741824 is too large"),
            // Before anything is measured: that would take longer than the test has.
            (
                "--json=/nowhere/x.json -i 100000 -m 4M bcast",
                1,
                "cannot write /nowhere/x.json: No such file",
            ),
        ] {
            let ended = bench(mpi, 3, &[], args);
            assert_eq!(
                (ended.status, &*ended.stdout),
                (Some(status), ""),
                "{mpi} {args}: {ended:?}"
            );
            assert!(
                ended.complaint().contains(message),
                "{mpi} {args}: {ended:?}"
            );
        }
        // The table is there by then.
        let ended = bench(mpi, 3, &[], "--json=/dev/full -m 4 -i 1 bcast");
        assert_eq!(ended.status, Some(1), "{mpi}: {ended:?}");
        let full = "cannot write /dev/full: No space left";
        assert!(ended.complaint().contains(full), "{mpi}: {ended:?}");
    }
}

#[test]
fn libraries_that_are_missing_or_foreign_are_named() {
    let alone_in = folder().join("alone");
    fs::create_dir_all(&alone_in).unwrap();
    let lonely = alone_in.join("rondo");
    let _ = fs::remove_file(&lonely);
    // A copy might still be open for writing in a process that another test starts, and so not run.
    fs::hard_link(tool("openmpi"), &lonely).unwrap();
    let ended = Ended::of(&Command::new(&lonely).arg("bench").output().unwrap());
    assert_eq!(ended.status, Some(1));
    assert!(
        ended.complaint().contains("no librondo.so for openmpi in "),
        "{ended:?}"
    );
    for mpi in MPIS {
        for library in ["/nowhere/libmpi.so", "libm.so.6"] {
            let ended = alone(mpi, &format!("--mpi {library}"));
            assert_eq!(ended.status, Some(1));
            let why = ended.complaint();
            let is_abi = mpi == "mpich" && library.starts_with("libm.");
            let message = if is_abi {
                "the MPI library has no PMPI_Bcast"
            } else {
                "cannot load "
            };
            assert!(why.contains(message), "{mpi}: {why}");
        }
    }
}

/// What a program calls would be the MPI library's then, and the times Rondo's by their names only.
#[test]
fn an_mpi_library_in_front_of_rondo_is_named() {
    for (mpi, library) in [("openmpi", "libmpi.so.40"), ("mpich", "libmpich.so.12")] {
        let rondo = root().join(format!("build/{mpi}/librondo.so"));
        let preload = format!("{library}:{}", rondo.display());
        let ended = bench(mpi, 2, &[("LD_PRELOAD", &preload)], "-m 64 -i 1 bcast");
        assert_eq!((ended.status, &*ended.stdout), (Some(1), ""), "{ended:?}");
        let said = "the MPI library comes before Rondo: let librondo.so be the first";
        assert!(ended.stderr.contains(said), "{mpi} {ended:?}");
    }
}

/// A broadcast that goes wrong after a number of calls, in the place of Rondo's (MPI_) or of the MPI library's (PMPI_).
const BROKEN: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

int NAME(void *buffer, int count, void *type, int root, void *comm) {
    static int calls;
    int (*real)(void *, int, void *, int, void *);
    *(void **)&real = dlsym(RTLD_NEXT, TEXT);
    int code = real(buffer, count, type, root, comm);
    if (++calls > atoi(getenv("GOOD_CALLS"))) ((char *)buffer)[count - 1] ^= 1;
    return code;
}
"#;

fn broken(mpi: Option<&str>, name: &str) -> String {
    let source = folder().join(format!("broken_{name}_{}.c", mpi.unwrap_or("any")));
    let code = BROKEN
        .replace("NAME", name)
        .replace("TEXT", &format!("{name:?}"));
    fs::write(&source, code).unwrap();
    let library = source.with_extension("so");
    let name = library.file_name().unwrap().to_str().unwrap();
    shared_library(mpi, &source, name).display().to_string()
}

#[test]
fn wrong_data_end_the_run() {
    let broken = broken(None, "MPI_Bcast");
    for mpi in MPIS {
        let rondo = root().join(format!("build/{mpi}/librondo.so"));
        let preload = format!("{broken}:{}", rondo.display());
        let run = |good: &str, args: &str| {
            let env = [("LD_PRELOAD", &*preload), ("GOOD_CALLS", good)];
            bench(mpi, 3, &env, &format!("-m 1000 -i 2 {args} bcast"))
        };
        for ended in [run("0", ""), run("2", "-c")] {
            assert_eq!(ended.status, Some(1), "{mpi} {ended:?}");
            let why = ended.complaint();
            assert!(
                why.starts_with(
                    "rondo: wrong data on rank 2: bcast of 1000 bytes in all, by Rondo"
                ),
                "{why}"
            );
        }
        // The first answer is right, and nobody looks at the others.
        let ended = run("1", "");
        assert_eq!((ended.status, &*ended.stderr), (Some(0), ""), "{mpi}");
    }
}

#[test]
fn wrong_data_of_the_mpi_library_are_found_as_well() {
    for mpi in MPIS {
        let library = broken(Some(mpi), "PMPI_Bcast");
        let env = [("GOOD_CALLS", "0"), ("RONDO_BCAST", "circulant")];
        let ended = bench(mpi, 3, &env, &format!("--mpi {library} -m 64 -i 1 bcast"));
        assert_eq!(ended.status, Some(1), "{mpi} {ended:?}");
        let why = ended.complaint();
        assert!(
            why.contains("bcast of 64 bytes in all, by the MPI library"),
            "{mpi} {why}"
        );
    }
}
