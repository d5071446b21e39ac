//! `rondo tune` as a user runs it.

use super::launch::{Ended, MPIS, bench, command_line, folder, run, tool};
use crate::mpirun::mpirun;
use rondo::rules::{File, Rule};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Where a test writes its rules: nowhere yet.
fn new_file(name: &str) -> PathBuf {
    let path = folder().join(name);
    let _ = fs::remove_file(&path);
    path
}

fn read(path: &Path) -> File {
    let text = fs::read_to_string(path).expect("there are rules");
    File::parse(&text).expect("they are rules")
}

fn tune(mpi: &str, ranks: u32, env: &[(&str, &str)], path: &Path, args: &str) -> Ended {
    run(
        mpi,
        ranks,
        env,
        &format!("tune -i 2 -o {} {args}", path.display()),
    )
}

fn of<'a>(file: &'a File, collective: &str) -> Vec<&'a Rule> {
    let rules = file.rules.iter();
    rules.filter(|rule| rule.collective == collective).collect()
}

#[test]
fn every_size_has_a_rule_for_these_ranks_and_nodes() {
    for mpi in MPIS {
        let path = new_file(&format!("tuned-{mpi}.json"));
        let ended = tune(
            mpi,
            4,
            &[("RONDO_NODE", "here")],
            &path,
            "-m 1K:16K MPI_Bcast gatherv SCATTER barrier",
        );
        assert_eq!(ended.status, Some(0), "{ended:?}");
        let lines: Vec<&str> = ended.stdout.lines().collect();
        assert_eq!(lines[0], "4 ranks on 1 node");
        for name in ["bcast ", "gatherv ", "scatter "] {
            let rows = lines.iter().filter(|line| line.starts_with(name));
            assert_eq!(rows.count(), 3, "{name}: {lines:?}");
        }
        let file = read(&path);
        assert!(file.made.starts_with("rondo tune "), "{}", file.made);
        assert!(
            file.made.ends_with(": 4 ranks on 1 node (here)"),
            "{}",
            file.made
        );
        for rule in &file.rules {
            let bounds = (
                rule.comm_size_min,
                rule.comm_size_max,
                rule.nodes_min,
                rule.nodes_max,
            );
            assert_eq!(bounds, (4, 4, 1, 1));
        }
        let all = (1 << 53) + 1;
        for (collective, least, end) in [
            ("bcast", 513, 32769),
            ("scatter", 513, 32769),
            ("gatherv", 0, all),
            ("barrier", 0, all),
        ] {
            // Without a gap, and not far beyond what was measured.
            let mut next = least;
            for rule in of(&file, collective) {
                assert_eq!(rule.msg_size_min, next, "{file:?}");
                next = rule.msg_size_max + 1;
            }
            assert_eq!(next, end, "{file:?}");
        }
        assert_eq!(of(&file, "gatherv").len(), 1);
        // Rondo takes the file.
        let rules = path.display().to_string();
        let ended = bench(mpi, 4, &[("RONDO_RULES", &rules)], "-m 4K -i 1 -x 0 bcast");
        assert_eq!((ended.status, &*ended.stderr), (Some(0), ""), "{ended:?}");
    }
}

/// Rules are for a communicator from its first call on, so it would be easy to time the same algorithm again and again.
#[test]
fn every_algorithm_is_tried() {
    for mpi in MPIS {
        for (collective, algorithms) in [
            ("bcast", &["circulant", "binomial", "postal", "relay"][..]),
            ("allgatherv", &["circulant", "bruck", "ring"]),
            ("scatterv", &["hybrid", "adaptive", "binomial", "linear"]),
        ] {
            let tried = tried(mpi, &format!("-m 64K {collective}"), collective);
            let is_tried = |name: &&str| tried.contains(*name);
            assert!(
                algorithms.iter().all(is_tried),
                "{mpi}: {collective}: {tried:?}"
            );
        }
    }
}

/// The algorithms that have carried calls of `collective` out by the end of a run on 4 ranks.
fn tried(mpi: &str, args: &str, collective: &str) -> BTreeSet<String> {
    // Tests of several collectives run at the same time.
    let near = |name: &str| new_file(&format!("near-{collective}{name}.json"));
    let (path, stats) = (near(""), near("-stats"));
    let spec = format!("json:{}", stats.display());
    let ended = tune(mpi, 4, &[("RONDO_STATS", &*spec)], &path, args);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let text = fs::read_to_string(&stats).expect("statistics");
    let stats: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let rows = stats["collectives"].as_array().expect("rows").iter();
    let rows = rows.filter(|row| row["collective"] == collective);
    rows.map(|row| row["algorithm"].as_str().expect("a name").to_string())
        .collect()
}

/// Rules hold for sums of doubles too, which a census would give each rank in another order.
#[test]
fn reductions_are_tuned_by_algorithms_that_fit_sums_unless_another_operator_is_asked_for() {
    for mpi in MPIS {
        let of = |args: &str| tried(mpi, &format!("-m 64 allreduce {args}"), "allreduce");
        let (sums, exact) = (of(""), of("--op xor"));
        assert!(!sums.contains("census"), "{mpi}: {sums:?}");
        assert!(sums.contains("halving"), "{mpi}: {sums:?}");
        assert!(exact.contains("census"), "{mpi}: {exact:?}");
    }
}

#[test]
fn rules_for_other_ranks_stay_and_those_for_the_same_are_replaced() {
    let path = new_file("tuned-twice.json");
    for (ranks, collectives) in [(3, "bcast gather"), (4, "bcast"), (3, "bcast")] {
        let ended = tune(
            "openmpi",
            ranks,
            &[],
            &path,
            &format!("-m 4K {collectives}"),
        );
        assert_eq!(ended.status, Some(0), "{ended:?}");
    }
    let file = read(&path);
    let ranks = |collective| {
        let mut ranks: Vec<u64> = of(&file, collective)
            .iter()
            .map(|rule| rule.comm_size_min)
            .collect();
        ranks.sort_unstable();
        ranks
    };
    assert_eq!(
        (ranks("bcast"), ranks("gather")),
        (vec![3, 4], vec![3]),
        "{file:?}"
    );
    assert_eq!(file.made.matches("rondo tune ").count(), 3, "{}", file.made);
}

/// What comes after the first collective takes many seconds: on a busy machine this test looks late.
#[test]
fn what_is_measured_is_kept_when_it_is_interrupted() {
    let path = new_file("tuned-interrupted.json");
    let args = format!(
        "tune -i 1000 -m 1K -o {} bcast allgather alltoall allreduce reduce scan gather scatter",
        path.display()
    );
    let mut child = command_line("openmpi", 3, &[], &args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let measured = || fs::read_to_string(&path).is_ok_and(|text| text.contains("\"bcast\""));
    while !measured() {
        assert!(
            begin.elapsed() < Duration::from_secs(280),
            "no rule in time"
        );
        thread::sleep(Duration::from_millis(5));
    }
    // As from a terminal: to the launcher and its ranks. They are a group, because of `timeout`.
    let group = format!("-{}", child.id());
    let kill = Command::new("kill").args(["-INT", "--", &group]).status();
    assert!(kill.unwrap().success());
    assert!(!child.wait().unwrap().success());
    assert!(of(&read(&path), "scatter").is_empty(), "it was over before");
    assert_eq!(of(&read(&path), "bcast").len(), 1);
}

/// The other ranks would wait for rank 0, which alone has the output.
#[test]
fn all_ranks_stop_where_rank_0_cannot_say_what_it_found() {
    let path = new_file("unsaid.json");
    for mpi in MPIS {
        let mut line = mpirun(mpi, 3, 300, &[]);
        line.args(["sh", "-c", "exec \"$0\" \"$@\" >/dev/full"]);
        line.arg(tool(mpi))
            .args(["tune", "-m", "1K", "-i", "1", "bcast", "-o"]);
        let ended = Ended::of(&line.arg(&path).output().unwrap());
        assert_eq!(ended.status, Some(1), "{mpi}: {ended:?}");
        let why = ended.complaint();
        assert!(
            why.contains("cannot write the output: No space left"),
            "{why}"
        );
    }
}

#[test]
fn a_file_that_is_something_else_is_left_as_it_is() {
    let path = new_file("not-rules.json");
    for (text, why) in [
        (
            "{\"notes\": 1}",
            "is no file of rules: unknown field `notes`",
        ),
        (
            "{\"host\": \"Some MPI 1\", \"rules\": [{\"collective\": \"bcast\", \"algorithm\": \"host\"}]}",
            "has rules for Some MPI 1, and this is ",
        ),
        (
            "{\"rules\": [{\"collective\": \"bcast\", \"algorithm\": \"host\"}]}",
            "has rules for any MPI library, and this is ",
        ),
    ] {
        fs::write(&path, text).unwrap();
        let ended = tune("mpich", 3, &[], &path, "-m 4K bcast");
        assert_eq!(ended.status, Some(2), "{ended:?}");
        assert!(ended.complaint().contains(why), "{ended:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn what_could_not_be_tuned_is_refused() {
    let path = new_file("refused.json");
    for (ranks, env, status, why) in [
        (
            2,
            &[][..],
            2,
            "2 ranks only: start 'rondo tune' with mpirun of ",
        ),
        (
            3,
            &[("RONDO", "off")],
            2,
            "RONDO=off goes before any rule: unset it",
        ),
        (
            3,
            &[("RONDO_BCAST", "circulant")],
            2,
            "RONDO_BCAST=circulant goes before any rule",
        ),
    ] {
        let ended = tune("openmpi", ranks, env, &path, "-m 4K bcast");
        assert_eq!(ended.status, Some(status), "{ended:?}");
        assert!(ended.complaint().contains(why), "{ended:?}");
        assert!(!path.exists());
    }
    let ended = tune(
        "openmpi",
        3,
        &[],
        Path::new("/nowhere/rules.json"),
        "-m 4K bcast",
    );
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(
        ended
            .complaint()
            .contains("cannot write /nowhere/rules.json"),
        "{ended:?}"
    );
}
