//! What is measured, and in which forms it comes.

use super::launch::{MPIS, bench, folder};
use super::report::{Report, Row};
use std::fs;

/// The numbers of a row of the table, and who carried the calls out.
fn row(line: &str) -> (Vec<f64>, &str) {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let by = words.pop().expect("a word");
    (
        words
            .iter()
            .map(|word| word.parse().expect("a number"))
            .collect(),
        by,
    )
}

/// The parts of the table: what stands above each, and its rows.
fn parts(table: &str) -> Vec<(&str, Vec<&str>)> {
    let parts = table.split("\n\n").skip(1);
    parts
        .map(|part| {
            let mut lines = part.lines();
            let about = lines.next().expect("a line");
            (about, lines.filter(|line| !line.starts_with('#')).collect())
        })
        .collect()
}

/// A barrier moves nothing.
#[test]
fn a_barrier_has_no_size() {
    let ended = bench("openmpi", 3, &[], "-i 1 barrier");
    assert!(!ended.stdout.contains("size is that"), "{ended:?}");
    let row = ended
        .stdout
        .lines()
        .last()
        .and_then(|row| row.split_whitespace().next());
    assert_eq!(row, Some("-"), "{ended:?}");
}

#[test]
fn the_table_has_rows_of_all_sizes_and_tells_who_did_it() {
    for mpi in MPIS {
        let env = [
            ("RONDO_BCAST", "circulant"),
            ("RONDO_GATHERV", "linear"),
            ("RONDO_SCATTERV", "host"),
            ("RONDO_LEARN", "off"),
        ];
        let ended = bench(mpi, 3, &env, "-m 1K:4K -i 3 -x 1");
        assert_eq!(ended.status, Some(0), "{mpi}");
        assert!(ended.complaint().contains("RONDO_SCATTERV=host"), "{mpi}");
        let name = if mpi == "mpich" { "MPICH" } else { "Open MPI" };
        let title = ended.stdout.lines().next().expect("a title");
        assert!(
            title.starts_with("# rondo ") && title.contains(name),
            "{title}"
        );
        assert!(title.ends_with(", 3 ranks on 1 node"), "{title}");
        let mut parts = parts(&ended.stdout);
        let (about, guidelines) = parts.pop().expect("guidelines");
        assert!(about.starts_with("# guidelines"), "{about}");
        for name in ["bcast <= scatterv + allgatherv", "gatherv <= allgatherv"] {
            assert!(
                guidelines.iter().any(|line| line.contains(name)),
                "{guidelines:?}"
            );
        }
        let expected = [
            ("# bcast, root 0; size is that of the message", "circulant"),
            // One node and few bytes.
            (
                "# allgatherv, blocks same; size is that of all ranks together",
                "host",
            ),
            (
                "# gatherv, blocks same, root 0; size is that of a block, on the average",
                "linear",
            ),
            (
                "# scatterv, blocks same, root 0; size is that of a block, on the average",
                "host",
            ),
        ];
        assert_eq!(parts.len(), expected.len(), "{mpi}: {}", ended.stdout);
        for ((about, rows), (expected_about, expected_by)) in parts.iter().zip(expected) {
            assert_eq!(*about, expected_about, "{mpi}");
            let sizes: Vec<f64> = rows.iter().map(|line| row(line).0[0]).collect();
            assert_eq!(sizes, [1024.0, 2048.0, 4096.0], "{mpi} {about}");
            for line in rows {
                let (numbers, by) = row(line);
                assert_eq!(by, expected_by, "{mpi} {about}");
                assert_eq!(
                    numbers.len(),
                    if about.contains("root") { 12 } else { 10 },
                    "{line}"
                );
                for side in [&numbers[1..5], &numbers[5..9]] {
                    let &[min, avg, max, p99] = side else {
                        unreachable!()
                    };
                    assert!(
                        0.0 < min && min <= avg && avg <= max && p99 == max,
                        "{line}"
                    );
                }
            }
        }
    }
}

/// All collectives, by an algorithm each.
const ALL: [(&str, &str); 7] = [
    ("bcast", "binomial"),
    ("allgatherv", "ring"),
    ("gatherv", "binomial"),
    ("scatterv", "linear"),
    ("allgather", "bruck"),
    ("gather", "hybrid"),
    ("scatter", "adaptive"),
];

#[test]
fn json_has_everything_and_every_answer_is_right() {
    for mpi in MPIS {
        let variables = ALL.map(|(collective, _)| format!("RONDO_{}", collective.to_uppercase()));
        let mut env: Vec<(&str, &str)> = variables
            .iter()
            .map(String::as_str)
            .zip(ALL.map(|(_, by)| by))
            .collect();
        env.push(("RONDO_NODE", "here"));
        let collectives = ALL.map(|(collective, _)| collective).join(" ");
        let args = "-c -m 16:128 -i 2 -x 0 --type vector --in-place --root 3 --dist one,spikes,two-blocks --json ";
        let ended = bench(mpi, 4, &env, &(args.to_owned() + &collectives));
        assert_eq!((ended.status, &*ended.stderr), (Some(0), ""), "{mpi}");
        let report: Report = serde_json::from_str(&ended.stdout).expect("nothing but JSON");
        assert_eq!((report.ranks, report.root, report.batches), (4, 3, 2));
        assert!(report.in_place && report.datatype == "vector");
        assert_eq!(report.rondo, env!("CARGO_PKG_VERSION"));
        assert!(
            report
                .mpi
                .contains(if mpi == "mpich" { "MPICH" } else { "Open MPI" }),
            "{}",
            report.mpi
        );
        assert!(
            report.date.len() == 20 && report.date.ends_with('Z'),
            "{}",
            report.date
        );
        let nodes: Vec<_> = report
            .nodes
            .iter()
            .map(|node| (&*node.name, &*node.ranks))
            .collect();
        assert_eq!(nodes, [("here", &[0, 1, 2, 3][..])]);
        for (name, value) in &env {
            assert_eq!(
                report.environment.get(*name).map(String::as_str),
                Some(*value)
            );
        }
        for (collective, by) in ALL {
            let rows: Vec<&Row> = report
                .rows
                .iter()
                .filter(|row| row.collective == collective)
                .collect();
            let irregular = collective.ends_with('v');
            // An allgather of 16 bytes has no element of 8 bytes for each of 4 ranks.
            let sizes: &[u64] = if collective == "allgather" {
                &[32, 64, 128]
            } else {
                &[16, 32, 64, 128]
            };
            let dists = if irregular {
                &[Some("one"), Some("spikes"), Some("two-blocks")][..]
            } else {
                &[None]
            };
            let expected = dists
                .iter()
                .flat_map(|dist| sizes.iter().map(move |size| (*dist, *size)));
            let found = rows.iter().map(|row| (row.dist.as_deref(), row.size));
            assert!(found.eq(expected), "{mpi} {collective}: {rows:?}");
            for row in rows {
                let of_all = matches!(collective, "bcast" | "allgather" | "allgatherv");
                assert_eq!(
                    row.total,
                    if of_all { row.size } else { 4 * row.size },
                    "{row:?}"
                );
                assert_eq!(row.by, by, "{mpi} {row:?}");
                let ratio = row.host.median / row.rondo.median;
                assert!((row.ratio / ratio - 1.0).abs() < 1e-9, "{row:?}");
                assert_eq!(
                    row.root.is_some(),
                    !collective.starts_with("allgather"),
                    "{row:?}"
                );
                assert!(
                    row.calls > 0
                        && row
                            .root
                            .is_none_or(|times| times.iter().all(|&time| time > 0.0))
                );
            }
        }
        let guideline = |name: &str, dist: &str| {
            report
                .guidelines
                .iter()
                .any(|it| it.name == name && it.dist == dist)
        };
        assert!(guideline("bcast <= scatterv + allgatherv", "two-blocks"));
        assert!(
            !guideline("gather <= gatherv", "one"),
            "equal blocks are compared with equal ones"
        );
    }
}

#[test]
fn csv_and_json_files_come_with_the_table() {
    let (csv, json) = (folder().join("all.csv"), folder().join("all.json"));
    let args = format!(
        "-m 4K -i 1 -x 0 --csv={} --json={} bcast allgatherv allgather gatherv gather scatterv scatter",
        csv.display(),
        json.display()
    );
    for mpi in MPIS {
        let ended = bench(mpi, 4, &[], &args);
        assert_eq!((ended.status, &*ended.stderr), (Some(0), ""), "{mpi}");
        assert_eq!(parts(&ended.stdout).len(), 8, "{}", ended.stdout);
        let report: Report = serde_json::from_slice(&fs::read(&json).unwrap()).expect("JSON");
        let csv = fs::read_to_string(&csv).unwrap();
        let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
        let columns = lines[0].len();
        assert_eq!(
            (lines.len(), columns, lines[0][0], lines[0][columns - 1]),
            (8, 20, "collective", "by")
        );
        for (line, row) in lines[1..].iter().zip(&report.rows) {
            assert_eq!(line.len(), columns, "{line:?}");
            assert_eq!(
                line[..4],
                [
                    &*row.collective,
                    row.dist.as_deref().unwrap_or(""),
                    row.op.as_deref().unwrap_or(""),
                    &*row.size.to_string()
                ]
            );
            // Rounded, and JSON is not read to the last bit.
            let median: f64 = line[8].parse().expect("microseconds");
            assert!((median - row.host.median).abs() < 0.0006, "{line:?}");
        }
        // 4 ranks: totals meet, so every guideline has its data, the blocks of gather and scatter being the same.
        let names: Vec<&str> = report.guidelines.iter().map(|it| &*it.name).collect();
        let expected = [
            "allgather <= allgatherv",
            "gather <= gatherv",
            "scatter <= scatterv",
        ];
        assert_eq!(
            names, expected,
            "one size each: 4K of all ranks is not 4K a block"
        );
    }
}

#[test]
fn a_scan_is_compared_with_what_could_stand_in_its_place() {
    let json = folder().join("scans.json");
    let args = format!("-m 64K -i 3 -x 1 --json={} scan exscan", json.display());
    for mpi in MPIS {
        let ended = bench(mpi, 4, &[], &args);
        assert_eq!((ended.status, &*ended.stderr), (Some(0), ""), "{mpi}");
        let report: Report = serde_json::from_slice(&fs::read(&json).unwrap()).expect("JSON");
        let locals: Vec<_> = report.rows.iter().map(|row| row.local).collect();
        let [None, Some(local)] = locals[..] else {
            panic!("{mpi}: {locals:?}");
        };
        // 64 KiB take less than a second, and their time is not that of the scan.
        assert!(local > 0.0 && local < 1e6, "{mpi}: {local}");
        assert_eq!(report.guidelines.len(), 1, "{mpi}: {:?}", report.guidelines);
        assert_eq!(report.guidelines[0].name, "scan <= exscan + reduce_local");
    }
}

/// Every answer is looked at, in all ways that the tool has for them.
#[test]
fn each_operator_has_rows_and_every_answer_is_right() {
    let collectives = "allreduce reduce reduce_scatter reduce_scatter_block scan exscan bcast";
    for mpi in MPIS {
        for more in ["--dist same,spikes", "--in-place --root 2"] {
            let args =
                format!("-c -m 40:80 -i 1 -x 0 --op xor,sum,ordered {more} --json {collectives}");
            let ended = bench(mpi, 3, &[("RONDO_ALLREDUCE", "halving")], &args);
            assert_eq!(
                (ended.status, &*ended.stderr),
                (Some(0), ""),
                "{mpi} {more}"
            );
            let report: Report = serde_json::from_str(&ended.stdout).expect("nothing but JSON");
            let of = |collective: &str, size| {
                let rows = report.rows.iter();
                let rows = rows.filter(move |row| row.collective == collective && row.size == size);
                rows.map(|row| (row.op.as_deref(), &*row.by))
                    .collect::<Vec<_>>()
            };
            assert_eq!(of("bcast", 40).len(), 1, "{mpi} {more}");
            let expected = [
                ("xor", "halving"),
                ("sum", "halving"),
                ("ordered", "ordered"),
            ];
            let found = of("allreduce", 40);
            assert_eq!(found.len(), expected.len(), "{mpi} {more}");
            for ((op, by), expected) in found.into_iter().zip(expected) {
                assert_eq!(op, Some(expected.0), "{mpi} {more}");
                assert_eq!(
                    by == "halving",
                    expected.1 == "halving",
                    "{mpi} {more}: {by}"
                );
            }
            let guidelines = report.guidelines.iter();
            let ops =
                guidelines.filter(|it| it.name == "allreduce <= reduce + bcast" && it.total == 80);
            let ops: Vec<_> = ops.map(|it| it.op.as_deref()).collect();
            assert_eq!(
                ops,
                [Some("xor"), Some("sum"), Some("ordered")],
                "{mpi} {more}"
            );
        }
    }
}

#[test]
fn every_algorithm_has_a_row_by_itself_and_a_curve() {
    for mpi in MPIS {
        let file = |ending| folder().join(format!("{mpi}-by-algorithm.{ending}"));
        let (json, svg) = (file("json"), file("svg"));
        let args = format!(
            "bcast -m 1K:4K -i 2 -x 1 --algorithm all --json={} --plot {}",
            json.display(),
            svg.display()
        );
        let ended = bench(mpi, 4, &[("RONDO_LEARN", "off")], &args);
        assert_eq!((ended.status, &*ended.stderr), (Some(0), ""), "{mpi}");
        let text = fs::read_to_string(&json).expect("the results");
        let report: Report = serde_json::from_str(&text).expect("JSON");
        assert!(report.by_algorithm);
        for size in [1024, 2048, 4096] {
            let rows: Vec<&Row> = (report.rows.iter())
                .filter(|row| row.size == size)
                .collect();
            let by: Vec<&str> = rows.iter().map(|row| &*row.by).collect();
            for name in ["circulant", "binomial", "chain", "two-tree"] {
                assert!(by.contains(&name), "{mpi}, {size}: {by:?}");
            }
            assert!(rows.iter().all(|row| row.rondo.median > 0.0));
        }
        let svg = fs::read_to_string(&svg).expect("a picture");
        assert!(svg.contains("two-tree"), "{mpi}");
        // Another name of relay, and of doubling.
        let args = "bcast allgather -m 1K:1K -i 2 -x 1 --algorithm two-phase,hypercube --csv";
        let ended = bench(mpi, 4, &[("RONDO_LEARN", "off")], args);
        assert_eq!((ended.status, &*ended.stderr), (Some(0), ""), "{mpi}");
        for by in [",relay", ",hypercube", ",doubling"] {
            let rows = ended.stdout.lines().filter(|row| row.contains(by));
            assert_eq!(rows.count(), 1, "{mpi} {by}: {}", ended.stdout);
        }
    }
}

/// The figures are those that the variables name: a binomial broadcast takes so many latencies.
#[test]
fn the_model_predicts_each_row_by_the_figures_that_rondo_goes_by() {
    for mpi in MPIS {
        let file = |ending| folder().join(format!("{mpi}-predicted.{ending}"));
        let (json, csv) = (file("json"), file("csv"));
        let env = [
            ("RONDO_LEARN", "off"),
            ("RONDO_BCAST", "binomial"),
            ("RONDO_SHM", "off"),
            ("RONDO_NODE_ALPHA_US", "1000"),
            ("RONDO_NODE_BETA_NS_PER_KB", "0"),
        ];
        let args = format!(
            "bcast -m 16:64 -i 1 -x 0 --predict --json={} --csv={}",
            json.display(),
            csv.display()
        );
        let ended = bench(mpi, 4, &env, &args);
        assert_eq!((ended.status, &*ended.stderr), (Some(0), ""), "{mpi}");
        let text = fs::read_to_string(&json).expect("the results");
        let report: Report = serde_json::from_str(&text).expect("JSON");
        let network = report.network.expect("figures");
        assert_eq!(network.node_alpha_us, Some(1000.0), "{mpi}");
        let lines: Vec<&str> = ended.stdout.lines().collect();
        assert!(
            lines[1].contains("1000.0 us and 0 ns/KiB inside a node"),
            "{lines:?}"
        );
        let head = lines
            .iter()
            .find(|line| line.contains("ratio"))
            .expect("a head");
        assert!(head.ends_with("  predicted  by"), "{head}");
        assert_eq!(report.rows.len(), 3, "{mpi}");
        for row in &report.rows {
            // Two rounds.
            let us = row.predicted.expect("a prediction");
            assert!((2000.0..2100.0).contains(&us), "{mpi}: {row:?}");
            let cell = format!("{us:.2}  binomial");
            assert!(lines.iter().any(|line| line.ends_with(&cell)), "{lines:?}");
            let cell = format!(",{us:.3},binomial");
            let csv = fs::read_to_string(&csv).expect("a table");
            assert!(csv.lines().any(|line| line.ends_with(&cell)), "{csv}");
        }
    }
}

/// The model knows nothing of the host, nor of parts that differ; without the option nothing is predicted.
#[test]
fn what_the_model_cannot_tell_is_a_dash() {
    let json = folder().join("unpredicted.json");
    let of = |args: &str| {
        let args = format!("{args} -m 4K -i 1 -x 0 --json={}", json.display());
        let env = [
            ("RONDO_GATHERV", "linear"),
            ("RONDO_BCAST", "host"),
            ("RONDO_LEARN", "off"),
        ];
        let ended = bench(MPIS[0], 4, &env, &args);
        assert_eq!(ended.status, Some(0), "{ended:?}");
        let text = fs::read_to_string(&json).expect("the results");
        let report: Report = serde_json::from_str(&text).expect("JSON");
        (ended.stdout, report, text)
    };
    let (table, report, _) = of("--predict bcast gatherv --dist same,one");
    assert!(table.contains("          -  host\n"), "{table}");
    let told: Vec<bool> = report
        .rows
        .iter()
        .map(|row| row.predicted.is_some())
        .collect();
    assert_eq!(told, [false, true, false], "{table}");
    let (table, _, text) = of("gatherv");
    assert!(
        !table.contains("predicted") && !text.contains("predicted"),
        "{table}"
    );
}
