//! Rondo measures the network by itself: once, when the job begins, if it is on several nodes, for all to see.

mod mpirun;

use mpirun::{Ended, MPIS, compile, ctest, folder, library, mpirun};
use rondo::{network::Network, rules::File};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Runs a program of the MPI tests on four ranks that are on these nodes, under Rondo with these variables, and gives
/// its output.
fn run(mpi: &str, nodes: &str, variables: &[(&str, &str)]) -> String {
    run_program("learn", mpi, nodes, variables)
}

/// The same with the program's broadcasts alone, which take less than half of its time, and are enough for a network
/// to be measured and for rates to be found.
fn run_broadcasts(mpi: &str, nodes: &str, variables: &[(&str, &str)]) -> String {
    run_with("learn", &["broadcasts"], mpi, nodes, variables)
}

/// A program of the MPI tests, compiled once: another test may be running it.
fn compiled(name: &str, mpi: &str, compiler: Option<&str>) -> PathBuf {
    static DONE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let at = folder("calibration").join(format!("{name}.{mpi}"));
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if done.insert(at.clone()) {
        compile(compiler, &ctest(&format!("{name}.c")), at.clone(), &[]);
    }
    at
}

fn run_program(name: &str, mpi: &str, nodes: &str, variables: &[(&str, &str)]) -> String {
    run_with(name, &[], mpi, nodes, variables)
}

/// The same with arguments for the program.
fn run_with(
    name: &str,
    arguments: &[&str],
    mpi: &str,
    nodes: &str,
    variables: &[(&str, &str)],
) -> String {
    let program = compiled(name, mpi, Some(mpi));
    let on_node = compiled("on_node", mpi, None);
    let preload = library(mpi).display().to_string();
    let own = [
        ("LD_PRELOAD", preload.as_str()),
        ("EXPECT_RONDO", "any"),
        ("RONDO_TRACE", "on"),
    ];
    let mut command = mpirun(mpi, 4, 600, &[&own, variables].concat());
    command.arg(on_node).arg(nodes).arg(program).args(arguments);
    let ended = Ended::of(&command.output().expect("mpirun"));
    let text = ended.stdout + &ended.stderr;
    assert!(
        ended.status == Some(0) && text.contains(&format!("PASS {name}")),
        "{mpi}: {text}"
    );
    text
}

/// Lines of the trace that say what was measured before there was any call.
fn measured(text: &str) -> Vec<&str> {
    let lines = text.lines();
    let of_network = lines.filter(|line| line.contains("rondo: rank 0: network of"));
    of_network.collect()
}

#[test]
fn the_network_is_measured_before_the_first_call_among_several_nodes() {
    for mpi in MPIS {
        let text = run_broadcasts(mpi, "0,0,1,1", &[("RONDO_STATS", "json")]);
        let lines = measured(&text);
        assert!(
            !lines.is_empty() && lines[0].contains("on 2 nodes"),
            "{mpi}: {text}"
        );
        // Data pass through shared memory inside nodes, so nothing was measured there.
        assert!(
            lines[0].contains("inside a node (assumed)"),
            "{mpi}: {text}"
        );
        let first = text.find("rondo: rank 0: network of").expect("a line");
        let choice = text.find("rondo: rank 0: MPI_").expect("a choice");
        assert!(first < choice, "{mpi}: {text}");
        assert!(text.contains(r#""network":{"alpha_us":"#), "{mpi}: {text}");
        assert_eq!(
            measured(&run_broadcasts(mpi, "0,0,0,0", &[])),
            [""; 0],
            "{mpi}: one node"
        );
    }
}

/// How much may be in flight, and the round trip, are shown when the ranks have agreed on them after long calls. On a
/// busy machine, they may not find out in one run, nor in four.
#[test]
fn what_may_be_in_flight_is_shown_after_long_calls() {
    for mpi in MPIS {
        let long = [
            ("RONDO_STATS", "json"),
            ("RONDO_LEARN", "off"),
            ("RONDO_BCAST", "circulant"),
        ];
        let mut last = String::new();
        let shown = (0..12).any(|_| {
            last = run_broadcasts(mpi, "0,1,2,3", &long);
            let shown = "rondo: rank 0: in flight among 4 ranks on 4 nodes: window ";
            let mut lines = last.lines().filter(|line| line.contains(shown));
            let json = last.split(r#""in_flight":{"window_bytes":"#).nth(1);
            lines.any(|line| line.contains(" KiB, round trip "))
                && json.is_some_and(|json| json.contains(",\"round_trip_us\":"))
        });
        assert!(shown, "{mpi}, in no run: {last}");
    }
}

/// However few calls a program makes, and of whatever kind: nobody knows them when the job begins.
#[test]
fn a_program_of_a_few_short_gathers_has_it_measured_once_too() {
    for mpi in MPIS {
        let text = run_with("gsv_few", &["2", "1024"], mpi, "0,0,1,1", &[]);
        assert_eq!(measured(&text).len(), 1, "{mpi}: {text}");
    }
}

#[test]
fn what_is_set_or_said_by_rules_is_not_measured() {
    for mpi in MPIS {
        let off = [("RONDO_CALIBRATE", "off")];
        assert_eq!(
            measured(&run_broadcasts(mpi, "0,1,2,3", &off)),
            [""; 0],
            "{mpi}"
        );
        let set = [
            ("RONDO_ALPHA_US", "5"),
            ("RONDO_GAP_US", "1"),
            ("RONDO_BETA_NS_PER_KB", "500"),
        ];
        let text = run_broadcasts(mpi, "0,1,2,3", &set);
        assert!(!text.contains("5.0 us and 8000"), "{mpi}: {text}");
        let file = folder("calibration").join(format!("rules-{mpi}.json"));
        fs::write(
            &file,
            r#"{"network": {"alpha_us": 5, "gap_us": 1}, "rules": []}"#,
        )
        .expect("a file");
        let path = file.display().to_string();
        let text = run_broadcasts(
            mpi,
            "0,1,2,3",
            &[("RONDO_RULES", &path), ("RONDO_LEARN", "off")],
        );
        assert!(!text.contains("ignored"), "{mpi}: {text}");
        // Only rates may be found, in long calls.
        assert!(
            measured(&text).iter().all(|line| line.contains(": 5.0 us")),
            "{mpi}: {text}"
        );
        // What a file does not say is measured, and what it says stays, in the file too.
        fs::write(&file, r#"{"network": {"alpha_us": 777}, "rules": []}"#).expect("a file");
        let save = format!("save:{path}");
        let text = run_broadcasts(
            mpi,
            "0,1,2,3",
            &[("RONDO_RULES", &path), ("RONDO_LEARN", &save)],
        );
        let lines = measured(&text);
        assert!(!lines.is_empty(), "{mpi}: {text}");
        assert!(
            lines.iter().all(|line| line.contains(": 777.0 us")),
            "{mpi}: {text}"
        );
        let saved = File::read(&file).expect("a file of rules").network;
        assert_eq!(saved.alpha_us, Some(777.0), "{mpi}");
        assert!(saved.gap_us.is_some(), "{mpi}");
    }
}

#[test]
fn what_was_measured_is_saved_with_what_was_learnt() {
    for mpi in MPIS {
        let file = folder("calibration").join(format!("saved-{mpi}.json"));
        let _ = fs::remove_file(&file);
        let save = format!("save:{}", file.display());
        run(mpi, "0,0,1,1", &[("RONDO_LEARN", &save)]);
        let rules = File::parse(&fs::read_to_string(&file).expect("a file")).expect("of rules");
        assert!(!rules.network.lacks(false), "{mpi}: {rules:?}");
        rules.compile().expect("rules that can be read again");
    }
}

/// What was measured among all nodes serves communicators of some of them.
#[test]
fn the_nodes_of_a_job_are_measured_once() {
    for mpi in MPIS {
        let text = run_program("placement", mpi, "0,1,2,3", &[]);
        let [line] = measured(&text)[..] else {
            panic!("{mpi}: {text}");
        };
        assert!(
            line.contains("network of 4 ranks on 4 nodes:"),
            "{mpi}: {text}"
        );
        assert!(text.contains(": 3 ranks on 3 nodes, "), "{mpi}: {text}");
    }
}

/// Where calls take many times as long as the model says, the network is measured once more, when that takes little of
/// the time of these calls; not if the user says what it is.
#[test]
fn a_network_that_times_contradict_is_measured_again() {
    for mpi in MPIS {
        // Long calls do not say what they see of the rate where the user knows it, and with blocks of this size Rondo
        // has one way, which the MPI library is compared with.
        let rate = ("RONDO_BETA_NS_PER_KB", "8000");
        let blocks = ("RONDO_BLOCK_BYTES", "16K");
        let [latency, gap] = [("RONDO_ALPHA_US", "10"), ("RONDO_GAP_US", "3")];
        // Only the gap is measured: the latency of a machine that is busy with other tests may be as long as the calls.
        // Where the gap is, start again.
        let again = (0..4)
            .map(|_| run_program("slow_rank", mpi, "0,1,2,3", &[rate, blocks, latency]))
            .any(|text| measured(&text).len() >= 2);
        assert!(again, "{mpi}: measured once in each of four runs");
        let off = [rate, ("RONDO_CALIBRATE", "off")];
        let text = run_program("slow_rank", mpi, "0,1,2,3", &off);
        assert_eq!(measured(&text), [""; 0], "{mpi}");
        let known = [rate, gap, latency];
        let text = run_program("slow_rank", mpi, "0,1,2,3", &known);
        assert_eq!(measured(&text), [""; 0], "{mpi}: the user knows better");
    }
}

/// A rank that reduces by a slow function of the program's answers late. That says nothing of the network.
#[test]
fn slow_operators_of_the_program_are_no_slow_network() {
    for mpi in MPIS {
        let reducing = [("RONDO_LEARN", "off"), ("RONDO_ALLREDUCE", "ring")];
        let text = run_program("slow_operator", mpi, "0,1,2,3", &reducing);
        assert!(text.contains("ring"), "{mpi}: {text}");
        assert_eq!(measured(&text).len(), 1, "{mpi}: {text}");
    }
}

/// Saved figures serve another job on the same nodes, until its calls contradict them; and none on others.
#[test]
fn saved_figures_are_measured_again_where_times_contradict_them() {
    for mpi in MPIS {
        let file = folder("calibration").join(format!("again-{mpi}.json"));
        let _ = fs::remove_file(&file);
        let path = file.display().to_string();
        run_broadcasts(mpi, "0,1,2,3", &[("RONDO_LEARN", &format!("save:{path}"))]);
        let saved = File::read(&file).expect("a file of rules");
        let nodes = saved.measured_on.as_ref().map(|on| on.nodes);
        assert_eq!(nodes, Some(4), "{mpi}: {saved:?}");
        // Its rules are others' business. A busy machine may have had a gap that nothing contradicts.
        let figures = File {
            rules: vec![],
            network: Network {
                gap_us: Some(3.0),
                ..saved.network
            },
            ..saved
        };
        figures.write(&file).expect("it can be written");
        let rules = ("RONDO_RULES", path.as_str());
        let rate = ("RONDO_BETA_NS_PER_KB", "8000");
        let off = ("RONDO_LEARN", "off");
        let text = run(mpi, "0,1,2,3", &[rules, rate, off]);
        assert_eq!(measured(&text), [""; 0], "{mpi}: {text}");
        let text = run_broadcasts(mpi, "0,1,2,2", &[rules, rate, off]);
        assert_eq!(measured(&text).len(), 1, "{mpi}: other nodes: {text}");
        let blocks = ("RONDO_BLOCK_BYTES", "16K");
        let latency = ("RONDO_ALPHA_US", "10");
        let again = (0..4)
            .map(|_| run_program("slow_rank", mpi, "0,1,2,3", &[rules, rate, blocks, latency]))
            .any(|text| !measured(&text).is_empty());
        assert!(again, "{mpi}: not measured again in any of four runs");
    }
}
