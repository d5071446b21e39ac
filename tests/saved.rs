//! What was learnt in one run can be the rules of the next.

mod mpirun;

use mpirun::{Ended, MPIS, SHARED, compile, ctest, folder, library, mpirun};
use rondo::rules::{File, Rule};
use std::fs;
use std::path::Path;

/// So that something is learnt in few calls on a busy machine, too: a single call of a candidate is enough, and no
/// figure of the network is measured, which would begin anew what is compared.
const SOON: [(&str, &str); 4] = [
    ("RONDO_LEARN_CALLS", "1"),
    ("RONDO_ALPHA_US", "10"),
    ("RONDO_GAP_US", "3"),
    ("RONDO_BETA_NS_PER_KB", "8000"),
];

/// Runs the program `learn` of the MPI tests on four ranks under Rondo with these variables, and gives its output. Two
/// nodes of two ranks each: on a single one, it would take many calls until anything is tried.
fn run(mpi: &str, variables: &[(&str, &str)]) -> String {
    let at = |name: &str| folder("saved").join(format!("{name}.{mpi}"));
    let program = compile(Some(mpi), &ctest("learn.c"), at("learn"), &[]);
    let on_node = compile(None, &ctest("on_node.c"), at("on_node"), &[]);
    let preload = library(mpi).display().to_string();
    let own = [("LD_PRELOAD", preload.as_str()), ("EXPECT_RONDO", "any")];
    let mut command = mpirun(mpi, 4, 600, &[&own, variables, &SOON].concat());
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

/// Of two jobs at the same time the last one's rules stay then.
#[test]
fn what_was_learnt_is_saved_where_there_are_no_locks() {
    let source = ctest("no_locks.c");
    let no_locks = compile(None, &source, folder("saved").join("no_locks.so"), SHARED);
    let no_locks = no_locks.display().to_string();
    for mpi in MPIS {
        let file = folder("saved").join(format!("unlocked-{mpi}.json"));
        let _ = fs::remove_file(&file);
        let save = format!("save:{}", file.display());
        let text = run(mpi, &[("RONDO_LEARN", &save), ("LD_PRELOAD", &no_locks)]);
        assert!(text.contains("no locks here"), "{mpi}: {text}");
        assert!(!text.contains("cannot write"), "{mpi}: {text}");
        assert!(!read(&file).rules.is_empty(), "{mpi}");
    }
}

/// Runs `checked` on two nodes of two ranks, on Open MPI, with what it learns saved in `file`. What it writes on the
/// standard error output.
fn checked(how: &str, file: &Path) -> String {
    let at = |name: &str| folder("saved").join(name);
    let program = compile(Some("openmpi"), &ctest("checked.c"), at("checked"), &[]);
    let on_node = compile(None, &ctest("on_node.c"), at("on_node.checked"), &[]);
    let preload = library("openmpi").display().to_string();
    let save = format!("save:{}", file.display());
    let own = [("LD_PRELOAD", preload.as_str()), ("RONDO_LEARN", &save)];
    let mut command = mpirun("openmpi", 4, 600, &[&own[..], &SOON].concat());
    command.arg(on_node).arg("0,0,1,1").arg(program).arg(how);
    let ended = Ended::of(&command.output().expect("mpirun"));
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    ended.stderr
}

fn read(file: &Path) -> File {
    File::read(file).expect("a file of rules")
}

#[test]
fn what_was_learnt_on_a_communicator_that_is_freed_is_saved_beside_older_rules() {
    let file = folder("saved").join("freed.json");
    let _ = fs::remove_file(&file);
    assert_eq!(checked("silent", &file), "");
    assert!(!file.exists(), "nothing was learnt");
    assert_eq!(checked("freed", &file), "");
    let first = read(&file);
    let learnt = |file: &File| {
        let is_learnt = |rule: &&Rule| {
            let (least, most) = (rule.msg_size_min, rule.msg_size_max);
            rule.collective == "bcast"
                && rule.comm_size_min == 4
                && (least..=most).contains(&100_000)
        };
        file.rules.iter().filter(is_learnt).count()
    };
    assert_eq!(learnt(&first), 1, "{first:?}");
    // A rule for other calls stays, one for the same is replaced.
    let other = Rule {
        comm_size_min: 77,
        comm_size_max: 77,
        ..Rule::all("bcast", "postal", 0)
    };
    let before = File {
        rules: [vec![other.clone()], first.rules].concat(),
        ..first
    };
    before.write(&file).expect("it can be written");
    assert_eq!(checked("freed", &file), "");
    let after = read(&file);
    assert_eq!(after.rules.last(), Some(&other), "{after:?}");
    assert_eq!(learnt(&after), 1, "{after:?}");
    assert_eq!(after.made, before.made);
    // Nothing is learnt: all stays.
    assert_eq!(checked("silent", &file), "");
    assert_eq!(read(&file), after);
}

#[test]
fn what_cannot_be_saved_is_not_lost_and_takes_no_place() {
    let file = folder("saved").join("notes.json");
    let foreign =
        r#"{"host": "Some MPI 1", "rules": [{"collective": "bcast", "algorithm": "host"}]}"#;
    for (text, why) in [
        (
            "{\"notes\": 1}",
            "it is there and is no file of rules: unknown field `notes`",
        ),
        (foreign, "it has rules for Some MPI 1, and this is "),
    ] {
        fs::write(&file, text).expect("a file");
        let said = checked("freed", &file);
        assert!(said.contains(why) && said.contains("\"bcast\""), "{said}");
        assert_eq!(fs::read_to_string(&file).expect("a file"), text);
    }
    for (place, why) in [
        ("/nowhere/rules", "No such file"),
        ("/dev/null", "no regular file"),
    ] {
        let said = checked("freed", Path::new(place));
        assert!(said.contains(why) && said.contains("\"bcast\""), "{said}");
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
    // Nobody learns anything.
    fs::write(file("rules"), "of the parents").expect("a file");
    let mut command = mpirun("openmpi", 3, 600, &variables);
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
    let rules = fs::read_to_string(at.join("rules"));
    assert_eq!(rules.expect("that file"), "of the parents");
}
