//! `rondo plot`: pictures of results, and files that are none.

use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("plot-{name}"))
}

fn plot(args: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rondo"));
    command.env_clear().arg("plot").args(args);
    command.output().expect("the tool starts")
}

/// Draws files into a picture and gives its contents.
fn picture(files: &[&Path], picture: &Path, more: &[&str]) -> Vec<u8> {
    let _ = fs::remove_file(picture);
    let more = more.iter().map(Path::new);
    let args: Vec<&Path> = files
        .iter()
        .copied()
        .chain([Path::new("-o"), picture])
        .chain(more)
        .collect();
    let output = plot(&args);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
    fs::read(picture).expect("a picture")
}

fn row(collective: &str, dist: Option<&str>, size: u64, host: f64, rondo: f64) -> Value {
    let times =
        |time: f64| json!({"min": time, "avg": time, "median": time, "p99": time, "max": time});
    json!({
        "collective": collective, "dist": dist, "size": size, "total": size, "calls": 5, "host": times(host),
        "rondo": times(rondo), "ratio": host / rondo, "root": null, "by": "circulant"
    })
}

/// A file of results with these rows.
fn results(name: &str, rows: &[Value]) -> PathBuf {
    let path = file(name);
    let report = json!({
        "rondo": "0.1.0", "mpi": "MPICH 4", "date": "2026-01-01T00:00:00Z", "ranks": 8,
        "nodes": [{"name": "here", "ranks": [0, 1, 2, 3, 4, 5, 6, 7]}], "environment": {}, "datatype": "byte",
        "in_place": false, "root": 0, "batches": 3, "rows": rows, "guidelines": []
    });
    fs::write(&path, report.to_string()).expect("a file");
    path
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

/// The texts of an SVG.
fn texts(svg: &[u8]) -> Vec<String> {
    let svg = String::from_utf8(svg.to_vec()).expect("UTF-8");
    let document = roxmltree::Document::parse(&svg).expect("XML");
    assert_eq!(document.root_element().tag_name().name(), "svg");
    let texts = document
        .descendants()
        .filter(|node| node.has_tag_name("text"));
    texts
        .map(|node| node.text().unwrap_or_default().trim().to_owned())
        .collect()
}

#[test]
fn an_svg_names_collectives_curves_and_units() {
    let svg = picture(&[&some("one.json")], &file("one.svg"), &[]);
    let texts = texts(&svg);
    let count = |text: &str| texts.iter().filter(|found| *found == text).count();
    assert_eq!(count("Rondo 0.1.0 on MPICH 4, 8 ranks"), 1, "{texts:?}");
    assert_eq!(
        (count("MPI_Bcast"), count("MPI_Allgatherv, blocks spikes")),
        (1, 1),
        "{texts:?}"
    );
    // A row of two pictures for each collective; the curves are named in the left one.
    assert_eq!((count("host"), count("Rondo")), (2, 2));
    assert_eq!(
        (count("time of a call, µs"), count("ratio of the medians")),
        (2, 2)
    );
    assert_eq!(
        (
            count("bytes of the message"),
            count("bytes of all ranks together")
        ),
        (2, 2)
    );
    // The axis of sizes.
    assert_eq!((count("1M"), count("0.5")), (2, 2), "{texts:?}");
    let svg = String::from_utf8(svg).expect("UTF-8");
    assert_eq!(
        svg.matches("<circle ").count(),
        3 * 4,
        "a dot for each time and each ratio"
    );
}

#[test]
fn several_files_share_a_picture() {
    let (a, b) = (
        some("a.json"),
        results("b.json", &[row("bcast", None, 64, 9.0, 8.0)]),
    );
    let svg = picture(
        &[&a, &b],
        &file("two.svg"),
        &["--title", "Before & <after>"],
    );
    let texts = texts(&svg);
    for text in [
        "Before & <after>",
        "host, plot-a",
        "Rondo, plot-a",
        "host, plot-b",
        "Rondo, plot-b",
    ] {
        assert!(texts.iter().any(|found| found == text), "{text}: {texts:?}");
    }
    assert_eq!(texts.iter().filter(|text| *text == "MPI_Bcast").count(), 1);
}

#[test]
fn a_png_has_the_curves_in_it() {
    let png = picture(&[&some("png.json")], &file("one.png"), &[]);
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let mut reader = png::Decoder::new(std::io::Cursor::new(png))
        .read_info()
        .expect("PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!((info.width, info.height), (1200, 50 + 2 * 380));
    let count = |wanted: [u8; 3]| pixels.chunks(3).filter(|pixel| **pixel == wanted).count();
    let (blue, black) = (count([0, 114, 178]), count([0, 0, 0]));
    assert!(blue > 1000, "curves: {blue}");
    assert!(black > 1000, "axes and letters: {black}");
    assert!(
        count([255; 3]) > pixels.len() / 3 * 8 / 10,
        "the rest is white"
    );
}

#[test]
fn broken_and_foreign_files_are_named() {
    let write = |name: &str, text: &str| {
        fs::write(file(name), text).expect("a file");
        file(name)
    };
    let zero = results("zero.json", &[row("bcast", None, 8, 0.0, 1.0)]);
    let whole = fs::read_to_string(some("whole.json")).expect("results");
    for (path, problem) in [
        (
            write("empty.json", ""),
            "these are no results of 'rondo bench --json': EOF",
        ),
        (
            write("cut.json", &whole[..whole.len() / 2]),
            "these are no results of 'rondo bench --json': EOF",
        ),
        (
            write("foreign.json", r#"{"bench": []}"#),
            "missing field `rondo`",
        ),
        (
            write("binary.json", "\u{0}\u{1}"),
            "these are no results of 'rondo bench --json': expected value",
        ),
        (results("none.json", &[]), "no rows in it"),
        (
            results("name.json", &[row("", None, 8, 1.0, 1.0)]),
            "'' is no collective",
        ),
        (
            results("word.json", &[row("ärger", None, 8, 1.0, 1.0)]),
            "'ärger' is no collective",
        ),
        (zero, "bcast of 8 bytes has no time above 0"),
    ] {
        let picture = file("never.svg");
        let output = plot(&[&some("fine.json"), &path, Path::new("-o"), &picture]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(
            message.starts_with(&format!("rondo: {}: ", path.display())),
            "{message}"
        );
        assert!(
            message.contains(problem) && message.lines().count() == 1,
            "{message}"
        );
        assert!(!picture.exists());
    }
}

#[test]
fn a_missing_file_has_the_status_of_what_failed() {
    let output = plot(&[&file("nowhere.json"), Path::new("-o"), &file("never.svg")]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("nowhere.json: No such file"), "{message}");
}

#[test]
fn pictures_that_cannot_be_are_refused() {
    let good = some("good.json");
    let run = |output: &str| {
        let output = plot(&[&good, Path::new("-o"), Path::new(output)]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), message)
    };
    let expected = "rondo: x.pdf: take a name that ends with .svg or .png\n";
    assert_eq!(run("x.pdf"), (Some(2), expected.into()));
    let (status, message) = run("/nowhere/x.png");
    assert_eq!(status, Some(1));
    assert!(
        message.starts_with("rondo: cannot write /nowhere/x.png: No such file"),
        "{message}"
    );
}

/// What the model predicted is a dotted curve, named where a picture has a legend, and on the axis.
#[test]
fn predictions_are_dotted_beside_what_was_measured() {
    let rows = |predicted: bool| -> Vec<Value> {
        let sizes = [1024, 4096, 16384].into_iter();
        let row = |size: u64| {
            let mut row = row("bcast", None, size, 50.0, 20.0);
            if predicted {
                row["predicted"] = (20_000.0 + size as f64).into();
            }
            row
        };
        sizes.map(row).collect()
    };
    let lines = |svg: &[u8]| String::from_utf8_lossy(svg).matches("<polyline ").count();
    let (without, with) = (
        results("without.json", &rows(false)),
        results("with.json", &rows(true)),
    );
    let [bare, dotted] = [without, with].map(|path| {
        let svg = picture(&[&path], &path.with_extension("svg"), &[]);
        let text = fs::read_to_string(&path).expect("the file");
        let mut report: Value = serde_json::from_str(&text).expect("JSON");
        report["by_algorithm"] = true.into();
        fs::write(&path, report.to_string()).expect("a file");
        let curves = picture(&[&path], &path.with_extension("svg"), &[]);
        [svg, curves]
    });
    let all = |svg: &[u8]| texts(svg).join("; ");
    assert!(!all(&bare[0]).contains("model") && all(&dotted[0]).contains("model"));
    assert!(!all(&bare[1]).contains("model") && all(&dotted[1]).contains("dotted: by the model"));
    for (bare, dotted) in bare.iter().zip(&dotted) {
        assert!(
            lines(dotted) > lines(bare) + 5,
            "{} and {}",
            lines(dotted),
            lines(bare)
        );
        // 20 ms.
        assert!(
            all(dotted).contains("100000") && !all(bare).contains("100000"),
            "{}",
            all(dotted)
        );
    }
}

/// The picture of a run by algorithm: each curve has its name at its end, and no name stands on another.
#[test]
fn curves_of_all_algorithms_have_names_that_can_be_read() {
    let names: Vec<String> = (0..14).map(|i| format!("way-{i}")).collect();
    let rows = [1024, 4096].into_iter().flat_map(|size| {
        let by = names.iter().zip(1..);
        by.map(move |(name, i)| {
            let mut row = row("bcast", None, size, 5.0, 20.0 + 0.01 * f64::from(i));
            row["by"] = name.as_str().into();
            row
        })
    });
    let path = results("ways.json", &rows.collect::<Vec<_>>());
    let text = fs::read_to_string(&path).expect("the file");
    let mut report: Value = serde_json::from_str(&text).expect("JSON");
    report["by_algorithm"] = true.into();
    fs::write(&path, report.to_string()).expect("a file");
    let svg = picture(&[&path], &file("ways.svg"), &[]);
    let svg = String::from_utf8(svg).expect("UTF-8");
    let document = roxmltree::Document::parse(&svg).expect("XML");
    let texts = document
        .descendants()
        .filter(|node| node.has_tag_name("text"));
    let mut heights = Vec::new();
    for node in texts {
        let name = node.text().unwrap_or_default().trim();
        if name == "host" || names.iter().any(|known| known == name) {
            let height: f64 = node
                .attribute("y")
                .expect("a height")
                .parse()
                .expect("a number");
            assert!((0.0..640.0).contains(&height), "{name}");
            heights.push(height);
        }
    }
    assert_eq!(heights.len(), names.len() + 1);
    heights.sort_by(f64::total_cmp);
    assert!(
        heights.windows(2).all(|pair| pair[1] - pair[0] >= 12.0),
        "{heights:?}"
    );
    // Two collectives are no curves of one picture.
    report["rows"][0]["collective"] = "allgather".into();
    fs::write(&path, report.to_string()).expect("a file");
    let output = plot(&[&path, Path::new("-o"), &file("ways.svg")]);
    assert_eq!(output.status.code(), Some(2));
}
