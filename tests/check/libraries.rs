//! What `rondo check` says where the MPI library, or how the program uses it, leaves Rondo nothing to do.

use super::{
    JSON, jobs,
    mpirun::{self, compile, ctest, library, root},
    said,
};
use std::process::Command;

/// Debian's MPICH has sessions.
#[test]
fn sessions_are_said_to_be_left_alone() {
    let jobs = jobs();
    let program = jobs.folder.join("checked.sessions");
    compile(Some("mpich"), &ctest("checked.c"), program, &[]);
    for words in [&["sessions"][..], &["nonblocking", "sessions"]] {
        let mut command = Command::new(root().join("build/mpich/rondo"));
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir(&jobs.folder);
        command.args(["check", JSON, "mpirun.mpich", "-np", "3"]);
        let said = said(command.arg("./checked.sessions").args(words));
        said.problems(&[]);
        assert_eq!(said.kinds("fine"), ["loaded", "sessions", "end"]);
        let text = said.report["fine"][1]["what"].to_string();
        assert!(
            text.contains("all 3 ranks") && text.contains("docs/limits.md"),
            "{text}"
        );
    }
}

#[test]
fn a_library_for_another_mpi_is_none() {
    let other = format!("--lib={}", library("mpich").display());
    for words in [&["./checked"][..], &["./checked", "nonblocking"]] {
        let said = jobs().check(&[&other], 3, words);
        let text = said.problems(&["does-not-fit"]);
        assert!(text.contains("built for mpich"), "{text}");
        assert!(text.contains("--lib names one"), "{text}");
        assert_eq!(
            said.kinds("fine"),
            ["loaded", "end"],
            "it looked at nothing else"
        );
    }
}

#[test]
fn an_mpi_library_that_no_library_is_for_is_said_to_be() {
    let jobs = jobs();
    for (name, options) in [("libmpi_gnu_fake", mpirun::SHARED), ("unknown_mpi", &[])] {
        let file = match options.is_empty() {
            true => name.to_owned(),
            false => format!("{name}.so"),
        };
        let source = ctest(&format!("{name}.c"));
        compile(None, &source, jobs.folder.join(file), options);
    }
    let mut tool = jobs.tool(&[], 1, &["./unknown_mpi"]);
    let said = said(tool.env("LD_PRELOAD", jobs.file("libmpi_gnu_fake.so")));
    let text = said.problems(&["unknown-mpi"]);
    assert!(text.contains("an ABI that Rondo does not know"), "{text}");
    assert!(
        text.contains("start the program without it") && !text.contains("--lib"),
        "{text}"
    );
}
