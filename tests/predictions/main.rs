//! What `rondo model` predicts of every algorithm against what SimGrid simulates of it, on 36 nodes of one rank.
//!
//! The simulated times are in `simulated.csv`: case, bytes, algorithm, microseconds. `scripts/predictions` makes them
//! anew, and then runs this test.

use serde_json::Value;
use std::collections::HashMap;
use std::{fs, path::Path, process::Command};

/// By how much a prediction may be off where the model applies, in percent.
const NEAR: f64 = 10.0;

/// The rows to which the model does not apply: a letter that says why, cases, algorithm, and bytes.
///
/// * a: A root and its relays send at the same time; the model does not see that their blocks wait for each other.
/// * b: In a pair of trees a rank has to do with both in turn; the model has the longest way, not these delays.
/// * c: Scattered parts come to each rank at another moment, and then go around in step with the latest.
/// * d: Long messages of different rounds meet on links, as a rank does not wait for others to begin a round.
/// * e: A rank has two long messages under way in the simulation, and so many more elsewhere.
/// * f: A rank that reduces blocks sends some while others come; what waits for what is beyond the model.
/// * g: In a scan on a mesh a rank sends to all higher ranks of its line at once; the model counts them one by one.
/// * h: In a reduce-scatter by circulant every rank works in every round; the model has a reduction to one rank.
/// * i: A postal reduction of 4 000 bytes is faster than predicted; why is not understood.
/// * k: The ranks agree on room by an allreduce of the simulator's, which takes 32 us by default.
/// * l: Who sends split sums in a round differs from rank to rank; the prediction is that of rank 0, which sends most.
/// * m: In a round of halving a rank sends first what the next round needs, so short rounds overlap.
/// * n: A rank begins the next block for one child while the last one for the other is under way.
/// * q: A message travels in the simulator when its receiver looks for it, and in this search ranks look late.
const EXCUSES: &[(char, &[&str], &str, &[u64])] = &[
    ('a', &["bcast"], "relay", &[4_000_000]),
    ('n', &["bcast"], "binary", &[40_000]),
    ('b', &["bcast"], "two-tree", &[4000]),
    ('b', &["allreduce"], "two-tree", &[400_000, 4_000_000]),
    ('b', &["reduce"], "two-tree", &[400_000, 4_000_000]),
    (
        'b',
        &["scan", "exscan"],
        "two-tree",
        &[400, 4000, 40_000, 4_000_000],
    ),
    (
        'c',
        &["bcast"],
        "scatter-allgather",
        &[400, 4000, 40_000, 400_000, 4_000_000],
    ),
    (
        'd',
        &["same", "allgather"],
        "doubling",
        &[400_000, 4_000_000],
    ),
    (
        'd',
        &["allreduce"],
        "doubling",
        &[40_000, 400_000, 4_000_000],
    ),
    ('d', &["scan", "exscan"], "doubling", &[40_000, 400_000]),
    (
        'e',
        &[
            "allreduce",
            "reduce",
            "reduce_scatter",
            "reduce_scatter_block",
        ],
        "ordered",
        &[400_000],
    ),
    ('f', &["allreduce"], "binomial", &[400_000, 4_000_000]),
    ('f', &["reduce"], "binomial", &[40_000, 4_000_000]),
    ('f', &["allreduce"], "chain", &[400_000, 4_000_000]),
    ('f', &["reduce"], "circulant", &[40_000, 4_000_000]),
    (
        'f',
        &["reduce_scatter", "reduce_scatter_block"],
        "circulant",
        &[400_000],
    ),
    (
        'f',
        &["allreduce"],
        "dual-root",
        &[4000, 40_000, 400_000, 4_000_000],
    ),
    ('f', &["allreduce"], "fibonacci", &[400_000, 4_000_000]),
    ('f', &["reduce"], "fibonacci", &[40_000, 400_000, 4_000_000]),
    ('f', &["reduce"], "kary", &[40_000]),
    ('f', &["allreduce"], "knomial", &[4_000_000]),
    ('f', &["allreduce"], "linear", &[40_000, 4_000_000]),
    ('f', &["allreduce"], "mesh", &[4_000_000]),
    ('f', &["allreduce"], "reduce-bcast", &[40_000, 4_000_000]),
    (
        'g',
        &["scan", "exscan"],
        "mesh",
        &[400, 40_000, 400_000, 4_000_000],
    ),
    (
        'h',
        &["reduce_scatter", "reduce_scatter_block"],
        "circulant",
        &[400],
    ),
    ('i', &["reduce"], "postal", &[4000]),
    (
        'k',
        &["alltoallv", "alltoallw"],
        "circulant",
        &[8, 64, 4000],
    ),
    ('l', &["allreduce"], "split", &[400_000, 4_000_000]),
    (
        'l',
        &["reduce_scatter", "reduce_scatter_block"],
        "split",
        &[400, 4000, 40_000, 400_000, 4_000_000],
    ),
    ('q', &["gather"], "adaptive", &[8, 64]),
    ('q', &["gatherv"], "adaptive", &[64]),
    ('m', &["allreduce"], "halving", &[400_000]),
    (
        'm',
        &["reduce_scatter", "reduce_scatter_block"],
        "halving",
        &[400, 4000, 40_000, 400_000],
    ),
];

/// A row of the file.
struct Row {
    case: String,
    bytes: u64,
    algorithm: String,
    us: f64,
}

/// What the tool says of an algorithm: blocks, and microseconds.
type Predicted = (u64, f64);

fn rows() -> Vec<Row> {
    let row = |line: &str| {
        let [case, bytes, algorithm, us] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("no row: {line}");
        };
        Row {
            case: case.into(),
            bytes: bytes.parse().expect("bytes"),
            algorithm: algorithm.into(),
            us: us.parse().expect("a time"),
        }
    };
    include_str!("simulated.csv").lines().map(row).collect()
}

/// What the tool predicts of all algorithms for a case.
fn predict(case: &str, bytes: u64) -> HashMap<String, Predicted> {
    let collective = match case {
        "same" => "allgatherv",
        "max" => "allreduce",
        other => other,
    };
    let all = match case {
        "barrier" => String::new(),
        // The simulated program counts a block, and the model all blocks of a rank.
        case if case.starts_with("alltoall") => format!("--bytes {}", 36 * bytes),
        _ => format!("--bytes {bytes}"),
    };
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/build/openmpi/rondo"));
    command.env_clear();
    command.args([
        "model", collective, "--ranks", "36", "--preset", "100-gbit", "--json",
    ]);
    let output = command.args(all.split_whitespace()).output();
    let report: Value =
        serde_json::from_slice(&output.expect("the tool runs").stdout).expect("JSON");
    let known = |row: &Value| {
        let predicted = (row["blocks"].as_u64()?, row["us"].as_f64()?);
        Some((row["algorithm"].as_str()?.to_owned(), predicted))
    };
    let rows = report["rows"].as_array().expect("rows");
    rows.iter().filter_map(known).collect()
}

fn excuse(row: &Row) -> Option<char> {
    let fits = |(_, cases, algorithm, bytes): &&(char, &[&str], &str, &[u64])| {
        cases.contains(&&*row.case) && *algorithm == row.algorithm && bytes.contains(&row.bytes)
    };
    EXCUSES.iter().find(fits).map(|(letter, ..)| *letter)
}

/// Every row is within [`NEAR`] or has an excuse, and none that has one would do without. A table of all is written for
/// people.
#[test]
fn predictions_are_near_what_is_simulated() {
    let mut table = String::from(
        "| case | bytes | algorithm | blocks | predicted us | simulated us | off % | |\n\
         |---|---:|---|---:|---:|---:|---:|---|\n",
    );
    let mut predictions = HashMap::new();
    let (mut wrong, mut excused) = (Vec::new(), 0);
    let rows = rows();
    for row in &rows {
        let Row {
            case,
            bytes,
            algorithm,
            us,
        } = row;
        let predicted = predictions
            .entry((case, bytes))
            .or_insert_with(|| predict(case, *bytes))
            .get(algorithm);
        let (blocks, predicted) = predicted.expect("a prediction");
        let off = 100.0 * (predicted / us - 1.0);
        let letter = excuse(row);
        excused += usize::from(letter.is_some());
        let line = format!(
            "| {case} | {bytes} | {algorithm} | {blocks} | {predicted:.1} | {us:.1} | {off:+.1} | {} |\n",
            letter.map_or(String::new(), String::from)
        );
        if (off.abs() <= NEAR) == letter.is_some() {
            wrong.push(line.clone());
        }
        table += &line;
    }
    assert_eq!(wrong, Vec::<String>::new(), "off, or excused without need");
    let total = rows.len();
    let said = format!(
        "{} of {total} predictions are within 10 % of the simulation",
        total - excused
    );
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("predictions.md");
    fs::write(file, &table).expect("a file");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/results/simulated.md");
    let page = fs::read_to_string(page).expect("the page");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        page.contains(&said),
        "docs/results/simulated.md lacks: {said}"
    );
}
