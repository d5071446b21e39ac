//! What `rondo check` says where the launcher fails before it starts a rank.

use super::{Said, compile, ctest, executable, jobs, root, said};
use std::process::Command;

/// The tool on this command.
fn tool(options: &[&str], command: &[&str]) -> Command {
    let mut tool = Command::new(root().join("build/openmpi/rondo"));
    tool.env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&jobs().folder);
    tool.arg("check").args(options).args(command);
    tool
}

fn check(command: &[&str]) -> Said {
    said(&mut tool(&["--json"], command))
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

/// The one problem says how the launcher ended, and this; its words are those of the launcher, and were not hidden.
fn not_started(said: &Said, ended: &str, advice: &str, words: &str) {
    let text = said.problems(&["not-started"]);
    // Where nothing says why, there may have been ranks without the library.
    let is_certain = !text.contains("If ranks do begin");
    let what = match is_certain {
        true => format!("the launcher {ended} before a rank began: "),
        false => format!("the launcher {ended}, and no rank had the library: "),
    };
    assert!(text.starts_with(&what), "{text}");
    assert!(text.contains(advice), "{text}");
    assert_eq!(!text.contains("--export=ALL"), is_certain, "{text}");
    let repeated = said.report["problems"][0]["said"].to_string();
    assert!(repeated.contains(words), "{words}: {repeated}");
    assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
}

#[test]
fn too_few_slots() {
    let words = [
        "mpirun.openmpi",
        "--allow-run-as-root",
        "-np",
        "500",
        "./checked",
    ];
    not_started(
        &check(&words),
        "ended with status 1",
        "there is no room for so many ranks: start fewer",
        "There are not enough slots",
    );
    // As Slurm says it.
    let srun = "echo 'srun: error: Unable to create step: More processors requested than permitted' >&2; exit 1";
    not_started(
        &check(&[&launcher("mpirun-crowded", srun), "./checked"]),
        "ended with status 1",
        "there is no room for so many ranks",
        "More processors requested",
    );
}

#[test]
fn refused_as_root() {
    // Others are not refused.
    let does = "echo 'mpirun has detected an attempt to run as root.' >&2; exit 1";
    let of_root = launcher("mpirun-of-root", does);
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    for launcher in [Some(&*of_root), is_root.then_some("mpirun.openmpi")]
        .into_iter()
        .flatten()
    {
        not_started(
            &check(&[launcher, "-np", "2", "./checked"]),
            "ended with status 1",
            "add --allow-run-as-root",
            "attempt to run as root",
        );
    }
}

#[test]
fn an_option_that_the_launcher_does_not_know() {
    let words = [
        "mpirun.openmpi",
        "--allow-run-as-root",
        "--nonsense",
        "-np",
        "2",
        "./checked",
    ];
    let advice = "a word in front of the program is no option of this launcher";
    not_started(&check(&words), "ended with status 1", advice, "nonsense");
    compile(
        Some("mpich"),
        &ctest("checked.c"),
        jobs().folder.join("checked.option"),
        &[],
    );
    let words = ["mpirun.mpich", "-nonsense", "-np", "2", "./checked.option"];
    let said = check(&words);
    let text = said.problems(&["not-started"]);
    assert!(text.contains(advice), "{text}");
}

/// The tool cannot start the one; the other is a script, which cannot start its own.
#[test]
fn a_launcher_that_is_not_there() {
    let output = tool(&["--json"], &["mpirun-of-nobody", "./checked"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert!(
        text.starts_with("rondo: cannot run mpirun-of-nobody: "),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1, "{text}");
    not_started(
        &check(&[
            &launcher("mpirun-around", "exec mpirun-of-nobody \"$@\""),
            "./checked",
        ]),
        "ended with status 127",
        "try the command without 'rondo check'",
        "mpirun-of-nobody: not found",
    );
}

#[test]
fn a_node_that_lets_nobody_in() {
    let does = "echo 'ada@n2: Permission denied (publickey,password).' >&2; exit 255";
    not_started(
        &check(&[&launcher("mpirun-outside", does), "./checked"]),
        "ended with status 255",
        "the launcher cannot log in to a node",
        "ada@n2",
    );
}

#[test]
fn a_launcher_that_is_ended_by_a_signal() {
    for (name, number) in [("KILL", 9), ("TERM", 15)] {
        let does = format!("echo waiting >&2; kill -{name} $$");
        not_started(
            &check(&[&launcher(&format!("mpirun-{name}"), &does), "./checked"]),
            &format!("was ended by signal {number}"),
            "find out who sent the signal",
            "waiting",
        );
    }
}

/// That the library reaches no process is then a consequence, or is not known.
#[test]
fn what_else_keeps_the_library_out_is_named_as_before() {
    // Ranks began, for they complain.
    let loader = "echo \"ERROR: ld.so: object 'librondo.so' from LD_PRELOAD cannot be preloaded\" >&2; exit 3";
    let said = check(&[&launcher("mpirun-far", loader), "./checked"]);
    let text = said.problems(&["not-loaded", "job-failed"]);
    assert!(text.contains("is not on all nodes"), "{text}");
    // So did those of a static program, which failed.
    let said = check(&[&launcher("mpirun-static", "exit 3"), "./static"]);
    let text = said.problems(&["not-loaded", "job-failed"]);
    assert!(text.contains("linked statically"), "{text}");
    // It waits for its turn.
    let waits = launcher(
        "mpirun-queue",
        "echo 'job 7 queued and waiting for resources' >&2; exec sleep 600",
    );
    let said = super::said(&mut tool(
        &["--json", "--limit", "20s"],
        &[&waits, "./checked"],
    ));
    let text = said.problems(&["not-loaded", "job-hung"]);
    assert!(text.contains("where nodes are granted already"), "{text}");
    let repeated = said.report["problems"][0]["said"].to_string();
    assert!(repeated.contains("queued and waiting"), "{repeated}");
}

/// In the text, the words of the launcher are told from the tool's. A launcher may leave somebody behind who keeps its
/// output open: nobody waits for that.
#[test]
fn people_read_the_last_words() {
    let does = "i=0; while [ $i -lt 90 ]; do i=$((i + 1)); echo \"line $i\" >&2; done
echo ---------- >&2; printf 'no end' >&2; sleep 200 >/dev/null & exit 9";
    let launcher = launcher("mpirun-wordy", does);
    let before = std::time::Instant::now();
    let output = tool(&[], &[&launcher, "./checked"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = "  PROBLEM  the launcher ended with status 9, and no rank had the library
           | line 87
           | line 88
           | line 89
           | line 90
           | no end
           try the command ";
    assert!(text.contains(expected), "{text}");
    assert!(text.ends_with("1 problem found\n"), "{text}");
    let all = String::from_utf8(output.stderr).unwrap();
    assert!(
        all.starts_with("line 1\n") && all.ends_with("no end"),
        "{all}"
    );
    let seconds = before.elapsed().as_secs();
    assert!(seconds < 150, "{seconds}");
}
