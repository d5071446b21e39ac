//! What is measured, and in which forms it comes.

use super::launch::{MPIS, bench, folder};
use super::report::{Report, Row};
use std::fs;

/// The results of a run that says nothing else.
fn report(mpi: &str, ranks: u32, env: &[(&str, &str)], args: &str) -> Report {
    let file = folder().join(format!("{mpi}-{ranks}.json"));
    let args = format!("{args} --json={}", file.display());
    let ended = bench(mpi, ranks, env, &args);
    assert_eq!((ended.status, &*ended.stderr), (Some(0), ""), "{ended:?}");
    serde_json::from_str(&fs::read_to_string(file).expect("a file")).expect("JSON")
}

/// The parts of the table: what stands above each, and its rows, as words.
fn parts(table: &str) -> Vec<(&str, Vec<Vec<&str>>)> {
    let parts = table.split("\n\n").skip(1).map(|part| {
        let (about, rows) = part.split_once('\n').expect("lines");
        let rows = rows.lines().filter(|line| !line.starts_with('#'));
        (
            about,
            rows.map(|row| row.split_whitespace().collect()).collect(),
        )
    });
    parts.collect()
}

/// By variables for one algorithm of each, and on one node, where few bytes are the host's.
#[test]
fn the_table_has_rows_of_all_sizes_and_tells_who_did_it() {
    for mpi in MPIS {
        let env = [
            ("RONDO_BCAST", "circulant"),
            ("RONDO_GATHERV", "linear"),
            ("RONDO_SCATTERV", "host"),
            ("RONDO_LEARN", "off"),
        ];
        let file = folder().join(format!("{mpi}-table.json"));
        let args = format!(
            "-m 1K:4K -i 3 -x 1 bcast allgatherv gatherv scatterv barrier --json={}",
            file.display()
        );
        let ended = bench(mpi, 3, &env, &args);
        assert_eq!((ended.status, &*ended.stderr), (Some(0), ""), "{mpi}");
        let name = if mpi == "mpich" { "MPICH" } else { "Open MPI" };
        let title = ended.stdout.lines().next().expect("a title");
        assert!(
            title.starts_with("# rondo ") && title.contains(name),
            "{title}"
        );
        assert!(title.ends_with(", 3 ranks on 1 node"), "{title}");
        let expected = [
            ("# bcast; size is that of the message", "circulant"),
            (
                "# allgatherv, blocks same; size is that of all ranks together",
                "host",
            ),
            (
                "# gatherv, blocks same; size is that of a block, on the average",
                "linear",
            ),
            (
                "# scatterv, blocks same; size is that of a block, on the average",
                "host",
            ),
            ("# barrier", "host"),
        ];
        let parts = parts(&ended.stdout);
        assert_eq!(parts.len(), expected.len(), "{mpi}: {}", ended.stdout);
        for ((about, rows), (expected_about, by)) in parts.iter().zip(expected) {
            assert_eq!(*about, expected_about, "{mpi}");
            let sizes: Vec<&str> = rows.iter().map(|row| row[0]).collect();
            let all = ["1024", "2048", "4096"];
            assert_eq!(
                sizes,
                if about.ends_with("barrier") {
                    &["-"]
                } else {
                    &all[..]
                }
            );
            for row in rows {
                assert_eq!(row[row.len() - 1], by, "{mpi} {about}");
                let numbers = row[1..row.len() - 1].iter().map(|word| word.parse());
                let numbers: Vec<f64> = numbers.collect::<Result<_, _>>().expect("numbers");
                assert_eq!(numbers.len(), 9);
                for side in numbers[..8].chunks(4) {
                    let &[min, avg, max, p99] = side else {
                        unreachable!()
                    };
                    assert!(
                        0.0 < min && min <= avg && avg <= max && p99 == max,
                        "{row:?}"
                    );
                }
            }
        }
        let text = fs::read_to_string(&file).expect("the same in a file");
        let report: Report = serde_json::from_str(&text).expect("JSON");
        assert_eq!(report.rows.len(), 4 * 3 + 1, "{mpi}");
    }
}

/// All collectives that move blocks, by an algorithm each.
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
        let named = variables
            .iter()
            .map(String::as_str)
            .zip(ALL.map(|(_, by)| by));
        let env: Vec<_> = named.chain([("RONDO_NODE", "here")]).collect();
        let collectives = ALL.map(|(collective, _)| collective).join(" ");
        let args = "-c -m 2,16:64 -i 2 -x 0 --dist one ";
        let report = report(mpi, 4, &env, &(args.to_owned() + &collectives));
        assert_eq!((report.ranks, report.batches), (4, 2));
        assert_eq!(report.rondo, env!("CARGO_PKG_VERSION"));
        assert!(
            report
                .mpi
                .contains(if mpi == "mpich" { "MPICH" } else { "Open MPI" })
        );
        assert!(
            report.date.len() == 20 && report.date.ends_with('Z'),
            "{}",
            report.date
        );
        let nodes = report.nodes.iter().map(|node| (&*node.name, &*node.ranks));
        assert!(nodes.eq([("here", &[0, 1, 2, 3][..])]));
        for (name, value) in &env {
            assert_eq!(
                report.environment.get(*name).map(String::as_str),
                Some(*value)
            );
        }
        for (collective, by) in ALL {
            let rows = report
                .rows
                .iter()
                .filter(|row| row.collective == collective);
            let rows: Vec<&Row> = rows.collect();
            // An allgather of 2 bytes has none for each of 4 ranks.
            let sizes = if collective == "allgather" {
                &[16, 32, 64][..]
            } else {
                &[2, 16, 32, 64]
            };
            let dist = collective.ends_with('v').then_some("one");
            let found = rows.iter().map(|row| (row.dist.as_deref(), row.size));
            let expected = sizes.iter().map(|size| (dist, *size));
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
                assert!(
                    (row.ratio / ratio - 1.0).abs() < 1e-9 && row.calls > 0,
                    "{row:?}"
                );
            }
        }
    }
}

/// Every answer is looked at, by each operator, and of exchanges.
#[test]
fn each_operator_has_right_answers() {
    let collectives = "allreduce reduce reduce_scatter reduce_scatter_block scan exscan alltoall alltoallv alltoallw";
    for (mpi, op) in MPIS
        .into_iter()
        .flat_map(|mpi| [(mpi, "xor"), (mpi, "sum")])
    {
        let args = format!("-c -m 40:80 -i 1 -x 0 --op {op} {collectives}");
        let report = report(mpi, 3, &[("RONDO_ALLREDUCE", "halving")], &args);
        let of = |collective: &str| {
            let rows = report.rows.iter();
            let rows = rows.filter(|row| row.collective == collective && row.size == 40);
            rows.map(|row| (row.op.as_deref(), row.dist.as_deref(), &*row.by))
                .collect::<Vec<_>>()
        };
        assert_eq!(of("allreduce"), [(Some(op), None, "halving")], "{mpi}");
        assert_eq!(of("reduce_scatter")[0].1, Some("same"), "{mpi}");
        assert_eq!(of("alltoall")[0].0, None, "{mpi}");
    }
}
