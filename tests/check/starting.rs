//! What `rondo check` says where no process has the library.

use super::{JSON, Said, executable, jobs, root, said};
use std::process::Command;

/// The tool on this command.
fn tool(options: &[&str], command: &[&str]) -> Command {
    let mut tool = Command::new(root().join("build/openmpi/rondo"));
    tool.env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&jobs().folder);
    tool.args(["check", JSON]).args(options).args(command);
    tool
}

fn check(command: &[&str]) -> Said {
    said(&mut tool(&[], command))
}

/// A launcher that says it is Open MPI's, and then does this.
fn launcher(name: &str, does: &str) -> String {
    let path = jobs().file(name);
    let text = format!(
        "#!/bin/sh\ncase $1 in --version) echo 'mpirun (Open MPI) 4.1.4'; exit;; esac\n{does}\n"
    );
    executable(&path, &text);
    path
}

/// How it ended is said, and its own words come out.
#[test]
fn a_launcher_that_fails_is_said_to() {
    let crowded = [
        "mpirun.openmpi",
        "--allow-run-as-root",
        "-np",
        "500",
        "./checked",
    ];
    let around = launcher("mpirun-around", "exec mpirun-of-nobody \"$@\"");
    let killed = launcher("mpirun-killed", "echo waiting >&2; kill -KILL $$");
    for (command, ended, words) in [
        (&crowded[..], "ended with status 1", "not enough slots"),
        (
            &[&around, "./checked"],
            "ended with status 127",
            "of-nobody: not found",
        ),
        (&[&killed, "./checked"], "was ended by signal 9", "waiting"),
    ] {
        let said = check(command);
        let text = said.problems(&["not-started"]);
        let what = format!("the launcher {ended}, and no rank had the library: what it wrote");
        assert!(text.starts_with(&what), "{text}");
        assert!(text.contains("is not on all nodes"), "{text}");
        assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
    }
}

#[test]
fn a_launcher_that_is_not_there() {
    let mut tool = tool(&[], &["mpirun-of-nobody", "./checked"]);
    let output = tool.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert!(
        text.starts_with("rondo: cannot run mpirun-of-nobody: "),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// That the launcher failed, or did not end, is then a consequence.
#[test]
fn what_keeps_the_library_out_is_named() {
    let said = check(&[&launcher("mpirun-static", "exit 3"), "./static"]);
    let text = said.problems(&["not-loaded", "job-failed"]);
    assert!(text.contains("linked statically"), "{text}");
    // It waits for its turn.
    let waits = launcher("mpirun-queue", "exec sleep 600");
    let said = super::said(&mut tool(&["--limit", "20s"], &[&waits, "./checked"]));
    let text = said.problems(&["not-loaded", "job-hung"]);
    assert!(text.contains("where nodes are granted already"), "{text}");
}
