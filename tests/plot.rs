//! `rondo plot`: pictures of results, and files that are none.

use roxmltree::Document;
use serde_json::{Value, json};
use std::{fs, path::PathBuf, process::Command};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("plot-{name}"))
}

/// The picture of this file, or the status and the message.
fn plot(file: &PathBuf, picture: &PathBuf) -> Result<String, (i32, String)> {
    let _ = fs::remove_file(picture);
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/build/openmpi/rondo"));
    command
        .env_clear()
        .arg("plot")
        .arg(file)
        .arg("-o")
        .arg(picture);
    let output = command.output().expect("the tool starts");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.stdout.is_empty());
    if !output.status.success() {
        assert!(!picture.exists());
        return Err((output.status.code().expect("no signal"), said));
    }
    assert_eq!(said, "");
    Ok(fs::read_to_string(picture).expect("a picture"))
}

fn row(collective: &str, dist: Option<&str>, size: u64, host: f64, rondo: f64) -> Value {
    let times =
        |time: f64| json!({"min": time, "avg": time, "median": time, "p99": time, "max": time});
    json!({
        "collective": collective, "dist": dist, "size": size, "total": size, "calls": 5, "host": times(host),
        "rondo": times(rondo), "ratio": host / rondo, "by": "circulant"
    })
}

/// A file of results with these rows.
fn results(name: &str, rows: &[Value]) -> PathBuf {
    let report = json!({
        "rondo": "0.1.0", "mpi": "MPICH 4", "date": "2026-01-01T00:00:00Z", "ranks": 8,
        "nodes": [{"name": "here", "ranks": [0, 1, 2, 3, 4, 5, 6, 7]}], "environment": {},
        "batches": 3, "rows": rows
    });
    write(name, &report.to_string())
}

fn write(name: &str, text: &str) -> PathBuf {
    fs::write(file(name), text).expect("a file");
    file(name)
}

/// Three sizes of a broadcast and one of an irregular allgather.
fn some(name: &str) -> PathBuf {
    let rows = [
        row("bcast", None, 1, 5.0, 2.0),
        row("bcast", None, 1024, 50.0, 20.0),
        row("bcast", None, 1 << 20, 900.0, 4000.0),
        row("allgatherv", Some("spikes"), 4096, 70.0, 7.0),
    ];
    results(name, &rows)
}

/// The texts of a picture.
fn texts(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).expect("XML");
    assert_eq!(document.root_element().tag_name().name(), "svg");
    let texts = document
        .descendants()
        .filter(|node| node.has_tag_name("text"));
    let text = |node: roxmltree::Node| node.text().unwrap_or_default().trim().to_owned();
    texts.map(text).collect()
}

fn count(svg: &str, text: &str) -> usize {
    texts(svg).iter().filter(|found| *found == text).count()
}

#[test]
fn a_picture_names_collectives_curves_and_units() {
    let svg = plot(&some("one.json"), &file("one.svg")).expect("a picture");
    for (text, times) in [
        ("Rondo 0.1.0 on MPICH 4, 8 ranks", 1),
        // Times and ratios of each collective; the host has no ratio.
        ("MPI_Bcast", 2),
        ("MPI_Allgatherv, blocks spikes", 2),
        ("time of a call, µs", 2),
        ("host / Rondo: above 1, Rondo is faster", 2),
        ("bytes of the message", 2),
        ("bytes of all ranks together", 2),
        ("host", 2),
        ("Rondo", 4),
        // The axis of sizes.
        ("1M", 2),
    ] {
        assert_eq!(count(&svg, text), times, "{text}: {:?}", texts(&svg));
    }
    assert_eq!(
        svg.matches("<circle ").count(),
        3 * 4,
        "a dot for each time and each ratio"
    );
}

#[test]
fn broken_and_foreign_files_are_named() {
    let whole = fs::read_to_string(some("whole.json")).expect("results");
    let with = |name: &str, rows: &[Value]| results(name, rows);
    for (path, problem) in [
        (
            write("empty.json", ""),
            "these are no results of 'rondo bench --json': EOF",
        ),
        (
            write("cut.json", &whole[..whole.len() / 2]),
            "'rondo bench --json': EOF",
        ),
        (
            write("foreign.json", r#"{"bench": []}"#),
            "missing field `rondo`",
        ),
        (
            write("binary.json", "\u{0}\u{1}"),
            "'rondo bench --json': expected value",
        ),
        (with("none.json", &[]), "nothing in it could be drawn"),
        (
            with("name.json", &[row("", None, 8, 1.0, 1.0)]),
            "'' is no collective",
        ),
        (
            with("word.json", &[row("ärger", None, 8, 1.0, 1.0)]),
            "'ärger' is no collective",
        ),
        (
            with("zero.json", &[row("bcast", None, 8, 0.0, 1.0)]),
            "bcast of 8 bytes has no time above 0",
        ),
    ] {
        let (status, message) = plot(&path, &file("never.svg")).expect_err(problem);
        assert!(
            message.starts_with(&format!("rondo: {}: ", path.display())),
            "{message}"
        );
        assert!(
            status == 2 && message.contains(problem) && message.lines().count() == 1,
            "{message}"
        );
    }
    for (from, to, status, message) in [
        (
            file("nowhere.json"),
            file("never.svg"),
            1,
            "nowhere.json: No such file",
        ),
        (
            some("good.json"),
            "x.pdf".into(),
            2,
            "x.pdf: take a name that ends with .svg",
        ),
        (
            some("good.json"),
            "/nowhere/x.svg".into(),
            1,
            "cannot write /nowhere/x.svg: No such file",
        ),
    ] {
        let (found, said) = plot(&from, &to).expect_err(message);
        assert!(found == status && said.contains(message), "{said}");
    }
}
