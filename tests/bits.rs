//! The bits of sums of doubles are those of all other runs, whatever the machine is busy with, and those that are
//! promised for other placements of the ranks.

mod mpirun;

use mpirun::{Ended, MPIS, compile, ctest, folder, library, mpirun};
use std::path::PathBuf;
use std::process::{Child, Command};

struct Programs {
    sums: PathBuf,
    on_node: PathBuf,
}

fn programs(mpi: &str, test: &str) -> Programs {
    let at = |name: &str| folder("bits").join(format!("{name}.{test}.{mpi}"));
    Programs {
        sums: compile(Some(mpi), &ctest("red_hash.c"), at("red_hash"), &[]),
        on_node: compile(None, &ctest("on_node.c"), at("on_node"), &[]),
    }
}

/// What a job says of its bits, with ranks on these nodes.
fn bits(mpi: &str, programs: &Programs, nodes: &[u32], variables: &[(&str, &str)]) -> String {
    let preload = library(mpi).display().to_string();
    let own = [("LD_PRELOAD", preload.as_str()), ("EXPECT_RONDO", "any")];
    let mut command = mpirun(mpi, nodes.len() as u32, 600, &[&own, variables].concat());
    let nodes: Vec<String> = nodes.iter().map(u32::to_string).collect();
    command.arg(&programs.on_node).arg(nodes.join(","));
    let ended = Ended::of(&command.arg(&programs.sums).output().expect("mpirun"));
    let line = ended.stdout.lines().find(|line| line.starts_with("bits "));
    let line = line.unwrap_or_else(|| panic!("{mpi} {nodes:?}: {ended:?}"));
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(!line.ends_with(" 0 calls"), "{mpi} {nodes:?}: {line}");
    line.to_owned()
}

/// Processes that keep all cores busy until they are dropped.
struct Load(Vec<Child>);

impl Load {
    fn on_all_cores() -> Load {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let spin = || {
            Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .spawn()
        };
        Load((0..cores).map(|_| spin().expect("a shell")).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// In so many runs, every third one under load, on one node, on two and on one for each rank.
/// (Other tests beside these are the load of the second.)
fn every_run_has_the_same_bits(runs: u32, test: &str) {
    for mpi in MPIS {
        let programs = programs(mpi, test);
        for nodes in [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 2, 3]] {
            let learning = [("RONDO_LEARN", "on")];
            let first = bits(mpi, &programs, &nodes, &learning);
            for run in 1..runs {
                let load = (run % 3 == 2).then(Load::on_all_cores);
                let again = bits(mpi, &programs, &nodes, &learning);
                assert_eq!(again, first, "{mpi} {nodes:?}, run {run}");
                drop(load);
            }
        }
    }
}

/// `placement`: on one node, on two, in turns on three and four, and on one for each rank; `order` as well.
fn every_placement_has_the_same_bits(ranks: impl Iterator<Item = u32>, test: &str) {
    for p in ranks {
        let turns = |nodes: u32| (0..p).map(|rank| rank % nodes).collect::<Vec<_>>();
        let halves = (0..p).map(|rank| rank * 2 / p).collect();
        for mpi in MPIS {
            let programs = programs(mpi, test);
            for promise in ["placement", "order"] {
                let promise = [("RONDO_REPRODUCIBLE", promise)];
                let first = bits(mpi, &programs, &turns(1), &promise);
                for nodes in [&halves, &turns(3), &turns(4), &turns(p)] {
                    let again = bits(mpi, &programs, nodes, &promise);
                    assert_eq!(again, first, "{mpi} {promise:?} {nodes:?}");
                }
            }
        }
    }
}

#[test]
fn sums_have_the_same_bits_in_every_run() {
    every_run_has_the_same_bits(2, "few");
}

/// A job may have measured them, and saved them for the next one.
#[test]
fn figures_of_a_file_of_rules_choose_no_bits() {
    for mpi in MPIS {
        let programs = programs(mpi, "ruled");
        let file = folder("bits").join(format!("rules.{mpi}.json"));
        let text =
            r#"{"network": {"alpha_us": 2, "gap_us": 0.3, "beta_ns_per_kb": 100}, "rules": []}"#;
        std::fs::write(&file, text).expect("a file");
        let options = [("RONDO_REDUCE", "circulant"), ("RONDO_SCAN", "two-tree")];
        let ruled = [("RONDO_RULES", file.to_str().expect("a name"))];
        let set = [
            ("RONDO_ALPHA_US", "2"),
            ("RONDO_GAP_US", "0.3"),
            ("RONDO_BETA_NS_PER_KB", "100"),
        ];
        let with = |more: &[(&str, &str)]| {
            let variables = [&options[..], more].concat();
            bits(mpi, &programs, &[0, 1, 2, 3], &variables)
        };
        let bare = with(&[]);
        assert_eq!(with(&ruled), bare, "{mpi}: figures of a file");
        assert_ne!(with(&set), bare, "{mpi}: figures that are options");
    }
}

#[test]
#[ignore = "hundreds of jobs: make deep"]
fn sums_have_the_same_bits_in_a_hundred_runs() {
    every_run_has_the_same_bits(100, "many");
}

#[test]
fn sums_have_the_promised_bits_wherever_the_ranks_are() {
    every_placement_has_the_same_bits([5].into_iter(), "five");
}

/// Another number of lanes has other bits.
#[test]
fn sums_over_lanes_have_the_same_bits_with_and_without_shared_memory() {
    let placements = [[0, 0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1, 1]];
    for (mpi, nodes) in MPIS.into_iter().zip(placements) {
        let programs = programs(mpi, "lanes");
        let with = |lanes, shm| {
            let variables = [
                ("RONDO_REDUCE", "circulant"),
                // Nothing else is Rondo's in both cases.
                ("RONDO_ALLREDUCE", "host"),
                ("RONDO_REDUCE_SCATTER_BLOCK", "host"),
                ("RONDO_REDUCE_SCATTER", "host"),
                ("RONDO_SCAN", "host"),
                ("RONDO_EXSCAN", "host"),
                ("RONDO_HIERARCHY", "lanes"),
                ("RONDO_LANES", lanes),
                ("RONDO_SHM", shm),
            ];
            bits(mpi, &programs, &nodes, &variables)
        };
        let all = ["1", "3"].map(|lanes| {
            let line = with(lanes, "on");
            assert_eq!(with(lanes, "off"), line, "{mpi} {nodes:?}, {lanes} lanes");
            line
        });
        assert_ne!(all[0], all[1], "{mpi} {nodes:?}: one lane and three");
    }
}

/// Where the ranks of each node follow each other; between all ranks a scan has other bits.
#[test]
fn scans_over_nodes_have_the_same_bits_with_and_without_shared_memory() {
    let placements = [[0, 0, 0, 1, 1, 1, 1], [0, 1, 1, 1, 2, 2, 3]];
    for (mpi, nodes) in MPIS.into_iter().zip(placements) {
        let programs = programs(mpi, "scans");
        let with = |hierarchy, shm| {
            let variables = [
                ("RONDO_SCAN", "doubling"),
                // Nothing else is Rondo's in all cases.
                ("RONDO_ALLREDUCE", "host"),
                ("RONDO_REDUCE", "host"),
                ("RONDO_REDUCE_SCATTER_BLOCK", "host"),
                ("RONDO_REDUCE_SCATTER", "host"),
                ("RONDO_EXSCAN", "host"),
                ("RONDO_HIERARCHY", hierarchy),
                ("RONDO_SHM", shm),
            ];
            bits(mpi, &programs, &nodes, &variables)
        };
        let line = with("auto", "on");
        assert_eq!(with("auto", "off"), line, "{mpi} {nodes:?}");
        assert_ne!(
            with("flat", "on"),
            line,
            "{mpi} {nodes:?}: between all ranks"
        );
    }
}

#[test]
#[ignore = "hundreds of jobs: make deep"]
fn sums_have_the_promised_bits_wherever_3_to_17_ranks_are() {
    every_placement_has_the_same_bits(3..=17, "all");
}
