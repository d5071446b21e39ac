//! What `rondo check` makes of what ranks leave behind: a script in the place of a launcher leaves it.

use super::{JSON, Said, executable, jobs, root, said};
use serde_json::Value;
use std::{fs, process::Command};

/// The tool on a launcher whose ranks are these records, with these statistics: what two machines would say.
fn tool_on(name: &str, options: &[&str], records: &[Value], statistics: &Value) -> Command {
    let written = format!("echo '{statistics}' >\"$folder/statistics\"\n");
    tool_with(name, options, records, &written)
}

fn tool_without_statistics(name: &str, records: &[Value]) -> Command {
    tool_with(name, &[JSON], records, "")
}

/// The same, where this line of the script writes statistics.
fn tool_with(name: &str, options: &[&str], records: &[Value], written: &str) -> Command {
    let jobs = jobs();
    let records: String = records.iter().map(|it| format!("{it}\n")).collect();
    let text = format!(
        r#"#!/bin/sh
case $1 in --version) echo 'mpirun (Open MPI) 4.1.4'; exit;; esac
for word; do case $word in RONDO_CHECK_FOLDER=*) folder=${{word#*=}};; esac; done
number=0
while read -r record; do number=$((number + 1)); echo "$record" >"$folder/$number.json"; done <<'END'
{records}END
{written}"#
    );
    let launcher = jobs.file(name);
    executable(&launcher, &text);
    let mut command = Command::new(root().join("build/openmpi/rondo"));
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&jobs.folder);
    command
        .arg("check")
        .args(options)
        .args([&launcher, "./app"]);
    command
}

fn said_of(name: &str, records: &[Value]) -> Said {
    said(&mut tool_on(name, &[JSON], records, &Value::Null))
}

/// A rank that is well, on one of two machines.
fn rank(rank: u32, machine: &str) -> Value {
    serde_json::json!({
        "pid": 100 + rank, "machine": machine, "name": machine, "program": "/app", "library": "/librondo.so",
        "build": "one", "mpi": "/libmpi.so.40", "place": [rank, 2], "began": 1000.0, "finalized": true,
        "called": { "rank": rank, "node": machine, "enabled": true, "shm": true }
    })
}

#[test]
fn what_two_machines_say_is_compared() {
    let two = || [rank(0, "a"), rank(1, "b")];
    said_of("mpirun-well", &two()).problems(&[]);
    let mut ranks = two();
    ranks[1]["called"]["node"] = "a".into();
    let text = said_of("mpirun-names", &ranks).problems(&["node-names"]);
    assert!(text.contains("several machines are called a"), "{text}");
    let mut ranks = two();
    ranks[1]["machine"] = "a".into();
    let text = said_of("mpirun-containers", &ranks).problems(&["node-names"]);
    assert!(
        text.contains("one machine has several names (a, b)"),
        "{text}"
    );
    let mut ranks = two();
    (ranks[0]["called"]["node"], ranks[1]["called"]["node"]) = ("".into(), "".into());
    assert!(
        !said_of("mpirun-nameless", &ranks)
            .kinds("fine")
            .contains(&"node-names")
    );
    let mut ranks = two();
    ranks[0]["build"] = "another".into();
    said_of("mpirun-builds", &ranks).problems(&["builds-differ"]);
    let text = said_of("mpirun-one", &two()[..1]).problems(&["not-loaded"]);
    assert!(
        text.contains("rank 1 of 2") && text.contains("--export=ALL"),
        "{text}"
    );
}

/// What would help is not the same against all that keeps Rondo away.
#[test]
fn what_keeps_rondo_away_has_advice_of_its_own() {
    for (trouble, kind, advice) in [
        ("other-abi", "does-not-fit", "--lib names one"),
        ("unknown-abi", "unknown-mpi", "start the program without it"),
        ("lacks", "unknown-mpi", "start the program without it"),
        ("outlives", "outlives", "mpirun without --with-ft"),
    ] {
        let mut ranks = [rank(0, "a"), rank(1, "b")];
        for rank in &mut ranks {
            rank["called"]["trouble"] = serde_json::json!({ "kind": trouble, "text": "it is so" });
        }
        let said = said_of(&format!("mpirun-{trouble}"), &ranks);
        let text = said.problems(&[kind]);
        assert!(
            text.starts_with("rank 0: it is so: ") && text.contains(advice),
            "{text}"
        );
        assert_eq!(said.kinds("fine"), ["loaded", "end"]);
    }
}

/// Slurm's list of variables is split at commas, and what srun has itself goes before it.
#[test]
fn a_comma_in_the_folder_is_no_trouble_for_slurm() {
    let jobs = jobs();
    let record = rank(0, "a").to_string().replace("[0,2]", "[0,1]");
    let text = format!(
        r#"#!/bin/sh
case $1 in --version) echo 'slurm 22.05.8'; exit;; esac
[ -z "$LD_PRELOAD" ] || exit 5
IFS=,
for item in ${{1#--export=}}; do
    name=${{item%%=*}}
    case $item in *=*) eval "[ -n \"\${{$name}}\" ]" || export "$item"; esac
done
[ -n "$LD_PRELOAD" ] || exit 6
echo '{record}' >"$RONDO_CHECK_FOLDER/1.json"
echo '{{ "collectives": [] }}' >"${{RONDO_STATS#json:}}"
"#
    );
    executable(jobs.file("srun"), &text);
    for folder in ["comma,one", "without-one"] {
        let folder = jobs.folder.join(folder);
        fs::create_dir_all(&folder).unwrap();
        let mut command = Command::new(root().join("build/openmpi/rondo"));
        command.env_clear().env("PATH", "/usr/bin:/bin");
        command
            .env("RONDO_STATS", "text")
            .env("LD_PRELOAD", "libm.so.6");
        command.current_dir(&folder).args(["check", JSON]);
        let said = said(command.args([&*jobs.file("srun"), "./app"]));
        said.problems(&[]);
        assert_eq!(said.report["ranks"], 1);
        assert!(said.report["statistics"].is_object(), "{}", said.report);
    }
}

/// Its ranks had begun.
#[test]
fn a_launcher_that_is_ended_by_a_signal_in_the_job_is_said_to_be() {
    let ranks = [rank(0, "a"), rank(1, "b")];
    let mut tool = tool_with("mpirun-shot", &[JSON], &ranks, "kill -KILL $$\n");
    let text = said(&mut tool).problems(&["job-failed"]);
    let what = "the launcher was ended by signal 9: try it with RONDO=off";
    assert!(text.starts_with(what), "{text}");
}

/// Rank 0 has counted, and the tool does not find where to.
#[test]
fn statistics_that_are_not_there_are_missed() {
    let mut ranks = [rank(0, "a"), rank(1, "b")];
    let of = |name: &str, ranks: &[Value]| said(&mut tool_without_statistics(name, ranks));
    of("mpirun-uncounted", &ranks).problems(&["no-statistics"]);
    // Who called nothing, or cannot work there, has none.
    ranks[0]["called"] = Value::Null;
    of("mpirun-silent", &ranks).problems(&[]);
}

/// What the statistics say is what people want to know: was it of use?
#[test]
fn what_was_gained_is_said_or_that_nothing_was_carried_out() {
    let lines = |name: &str, algorithm: &str, saved: Value| {
        let statistics = serde_json::json!({
            "job": "the job has 2 ranks on 2 nodes",
            "collectives": [{ "collective": "bcast", "algorithm": algorithm, "calls": 9, "seconds": 0.5,
                              "reason": "auto" }],
            "saved": saved,
        });
        let ranks = [rank(0, "a"), rank(1, "b")];
        let output = tool_on(name, &[], &ranks, &statistics).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8(output.stdout).unwrap();
        let row = text.lines().find(|line| line.starts_with("bcast  "));
        assert!(row.expect("a row").contains(algorithm), "{text}");
        assert!(
            text.contains("\nthe job has 2 ranks on 2 nodes\n"),
            "{text}"
        );
        text
    };
    let gained = "\nbcast: 9 calls took 0.125000 s less per rank than the MPI library was measured to take\n";
    let none = "\nRondo carried out no call: the reasons are above, docs/limits.md explains them\n";
    let saved = serde_json::json!([{ "collective": "bcast", "calls": 9, "seconds": 0.125 }]);
    let text = lines("mpirun-gained", "circulant", saved);
    assert!(text.contains(gained) && !text.contains(none), "{text}");
    let text = lines("mpirun-host", "host", serde_json::json!([]));
    assert!(
        text.contains(none) && !text.contains("s less per rank"),
        "{text}"
    );
}
