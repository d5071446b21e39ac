//! What was learnt in one run can be the rules of the next.

mod mpirun;

use mpirun::{Ended, MPIS, compile, ctest, folder, library, mpirun};
use rondo::rules::File;
use std::fs;

/// Runs the program `learn` of the MPI tests on four ranks under Rondo with these variables, and gives its output. Two
/// nodes of two ranks each: on a single one, it would take many calls until anything is tried.
fn run(mpi: &str, variables: &[(&str, &str)]) -> String {
    let at = |name: &str| folder("saved").join(format!("{name}.{mpi}"));
    let program = compile(Some(mpi), &ctest("learn.c"), at("learn"), &[]);
    let on_node = compile(None, &ctest("on_node.c"), at("on_node"), &[]);
    let preload = library(mpi).display().to_string();
    let own = [("LD_PRELOAD", preload.as_str()), ("EXPECT_RONDO", "any")];
    let mut command = mpirun(mpi, 4, 120, &[&own, variables].concat());
    command.arg(on_node).arg("0,0,1,1").arg(program);
    let ended = Ended::of(&command.output().expect("mpirun"));
    let text = ended.stdout + &ended.stderr;
    assert!(
        ended.status == Some(0) && text.contains("PASS learn"),
        "{mpi}: {text}"
    );
    text
}

#[test]
fn what_was_learnt_is_a_file_of_rules_for_the_next_run() {
    for mpi in MPIS {
        let file = folder("saved").join(format!("rules-{mpi}.json"));
        let _ = fs::remove_file(&file);
        let path = file.display().to_string();
        run(mpi, &[("RONDO_LEARN", &format!("save:{path}"))]);
        let text = fs::read_to_string(&file).expect("a file");
        let rules = File::parse(&text).expect("of rules");
        assert!(!rules.host.is_empty() && !rules.rules.is_empty(), "{text}");
        let bcast = rules.rules.iter().find(|rule| rule.collective == "bcast");
        let bcast = bcast.expect("a broadcast was learnt");
        assert_eq!((bcast.comm_size_min, bcast.comm_size_max), (4, 4), "{text}");
        assert!(bcast.msg_size_max < 2 * bcast.msg_size_min, "{text}");
        let text = run(
            mpi,
            &[
                ("RONDO_RULES", &path),
                ("RONDO_STATS", "json"),
                ("RONDO_LEARN", "off"),
            ],
        );
        assert!(text.contains(r#""reason":"by a rule""#), "{mpi}: {text}");
        // Rules of another library are none.
        let foreign = File {
            host: "Some MPI 1.2".into(),
            ..rules
        };
        fs::write(&file, serde_json::to_string(&foreign).unwrap()).unwrap();
        let text = run(mpi, &[("RONDO_RULES", &path), ("RONDO_STATS", "json")]);
        assert!(text.contains("made for Some MPI 1.2"), "{mpi}: {text}");
        assert!(!text.contains(r#""reason":"by a rule""#), "{mpi}: {text}");
    }
}

/// A job that another one starts has its environment, but must not write over what that one writes. (Debian's MPICH
/// starts none.)
#[test]
fn a_spawned_job_leaves_the_files_of_its_parents_alone() {
    let at = folder("spawned");
    let _ = fs::remove_dir_all(&at);
    fs::create_dir_all(&at).expect("a folder");
    let program = compile(
        Some("openmpi"),
        &ctest("spawned.c"),
        at.join("program"),
        &[],
    );
    let file = |name: &str| at.join(name).display().to_string();
    let preload = library("openmpi").display().to_string();
    let variables = [
        ("LD_PRELOAD", preload.as_str()),
        ("EXPECT_RONDO", "any"),
        ("RONDO_STATS", &format!("json:{}", file("statistics"))),
        ("RONDO_LEARN", &format!("save:{}", file("rules"))),
    ];
    let mut command = mpirun("openmpi", 3, 120, &variables);
    command.arg(program).args(["children", "0"]);
    let ended = Ended::of(&command.output().expect("mpirun"));
    assert_eq!(ended.status, Some(0), "{}{}", ended.stdout, ended.stderr);
    let ranks = |name: &str| -> Vec<u64> {
        let files = fs::read_dir(&at).expect("the folder").flatten();
        let files = files.filter(|it| it.file_name().to_string_lossy().starts_with(name));
        let texts = files.map(|it| fs::read_to_string(it.path()).expect("a text"));
        let values =
            texts.map(|text| serde_json::from_str::<serde_json::Value>(&text).expect("JSON"));
        values
            .map(|value| value["ranks"].as_u64().expect("how many"))
            .collect()
    };
    let parents = fs::read_to_string(at.join("statistics")).expect("those of the parents");
    assert!(parents.contains("\"ranks\":3"), "{parents}");
    assert_eq!(ranks("statistics.spawned-"), [2]);
    assert!(at.join("rules").exists());
}
