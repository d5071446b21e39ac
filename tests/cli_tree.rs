//! `rondo tree`, run as a user runs it.

use rondo::tree::{Algorithm, Distribution};
use serde_json::{Value, json};
use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

fn run(args: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rondo"));
    command
        .env_clear()
        .arg("tree")
        .args(args.split_whitespace());
    command.output().expect("the tool starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The standard output of a run that succeeds without a word on the other one.
fn tree(args: &str) -> String {
    let output = run(args);
    assert_eq!(text(&output.stderr), "", "{args}");
    assert!(output.status.success(), "{args}");
    text(&output.stdout)
}

fn json(args: &str) -> Value {
    serde_json::from_str(&tree(&format!("{args} --json"))).expect("JSON")
}

/// The message of a run that ends with `status` and prints nothing else.
fn error(args: &str, status: i32) -> String {
    let output = run(args);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{args}: {message}");
    assert_eq!(text(&output.stdout), "", "{args}");
    message
}

/// A file with this content, whose name no other test has.
fn file(name: &str, content: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tree-{name}"));
    fs::write(&path, content).expect("the directory of tests can be written");
    path
}

#[test]
fn the_published_times_come_out_of_one_command() {
    let command =
        "--algorithm optimal --dist skewed -p 2000 --block 1000 --alpha 100 --beta 1 --gamma 1";
    let given = json(&format!("{command} --root 1000"));
    let depth = given["depth"].clone();
    assert!((1..=11).contains(&depth.as_u64().expect("an integer")));
    assert_eq!(
        given,
        json!({"algorithm": "optimal", "completion": 2_003_495, "root": 1000, "depth": depth, "messages": 1999})
    );
    assert_eq!(
        json(&format!("{command} --root best"))["completion"],
        2_002_295
    );
}

#[test]
fn the_defaults_are_the_parameters_of_the_paper() {
    let all = "--algorithm optimal --dist same -p 2000 --block 1000 --alpha 100 --beta 1 --gamma 1 --root 1000 \
               --seed 1";
    assert_eq!(tree(""), tree(all));
    assert!(tree("").starts_with(
        "optimal tree of 2000 ranks, same, 2000000 bytes; alpha 100, beta 1, gamma 1\n"
    ));
    // The root is in the middle whatever p is.
    assert_eq!(json("-p 9")["root"], 4);
    assert_eq!(
        json("-p 1"),
        json!({"algorithm": "optimal", "completion": 0, "root": 0, "depth": 0, "messages": 0})
    );
}

/// A line of the table: what is before the times, then times and roots.
fn numbers(line: &str) -> Vec<u64> {
    let words = line.split_whitespace().skip(1);
    words
        .map(|word| word.trim_matches(['(', ')']).parse().expect("a number"))
        .collect()
}

#[test]
fn the_table_has_the_rows_of_the_paper() {
    let table = tree("--compare --dist skewed --gamma 1,0");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 9, "{table}");
    assert_eq!(
        lines[0],
        "p = 2000, given root 1000, alpha 100, beta 1, gamma 1"
    );
    assert_eq!(
        lines[5],
        "p = 2000, given root 1000, alpha 100, beta 1, gamma 0"
    );
    let names: Vec<&str> = lines[1]
        .split_whitespace()
        .filter(|&word| word != "(root)")
        .collect();
    assert_eq!(
        names,
        [
            "bytes", "linear", "binary", "binomial", "adaptive", "optimal"
        ]
    );
    let best = |line: &str| {
        let numbers = numbers(line);
        assert!(
            numbers.iter().skip(2).step_by(2).all(|&root| root < 2000),
            "{line}"
        );
        numbers[1..].iter().copied().step_by(2).collect::<Vec<_>>()
    };
    assert_eq!(
        numbers(lines[2]),
        [2001995, 2201895, 4403490, 17203057, 4003090, 2003495]
    );
    assert_eq!(
        best(lines[3]),
        [2201895, 2402295, 2003095, 2003095, 2002295]
    );
    assert_eq!(
        numbers(lines[7]),
        [2001995, 2201894, 4003489, 16803057, 3603090, 2003294]
    );
    assert_eq!(
        best(lines[8]),
        [1801895, 2002295, 1603095, 1603095, 1602295]
    );
}

#[test]
fn the_table_has_all_distributions_and_a_form_for_scripts() {
    let arguments = "--compare -p 20 --gamma 0.5,2 --seed 7 --root 3";
    let table = tree(arguments);
    let cells = json(arguments);
    let cells = cells.as_array().expect("an array");
    let names = Distribution::ALL.map(Distribution::name);
    assert_eq!(cells.len(), 2 * names.len() * 2 * 5);
    let rows = table.lines().filter(|line| {
        names
            .iter()
            .any(|name| line.starts_with(&format!("{name} ")))
    });
    let rows: Vec<&str> = rows.collect();
    assert_eq!(rows.len(), 2 * names.len() * 2);
    for (row, cells) in rows.iter().zip(cells.chunks(5)) {
        let mut words = row.split_whitespace();
        let mut next = || words.next().expect("a word");
        assert_eq!(next(), cells[0]["distribution"]);
        assert_eq!(next(), cells[0]["bytes"].to_string());
        for cell in cells {
            assert_eq!(next(), cell["completion"].to_string(), "{cell}");
            if cell["best"] == true {
                assert_eq!(next(), format!("({})", cell["root"]), "{cell}");
            } else {
                assert_eq!(cell["root"], 3, "{cell}");
            }
            // The tree of a cell is the one of the single command.
            if cell["gamma"] == 2 {
                let root = if cell["best"] == true { "best" } else { "3" };
                let (algorithm, dist) = (
                    cell["algorithm"].as_str().unwrap(),
                    cell["distribution"].as_str().unwrap(),
                );
                let single = json(&format!(
                    "--algorithm {algorithm} --dist {dist} -p 20 --gamma 2 --seed 7 --root {root}"
                ));
                for key in ["algorithm", "completion", "root", "depth", "messages"] {
                    assert_eq!(single[key], cell[key], "{key} of {cell}");
                }
            }
        }
    }
}

#[test]
fn every_name_is_in_the_help_and_works() {
    let help = tree("--help");
    for algorithm in Algorithm::ALL.map(Algorithm::name) {
        assert!(help.contains(&format!("\n  {algorithm} ")), "{algorithm}");
        assert_eq!(
            json(&format!("--algorithm {algorithm} -p 7 --dist random"))["algorithm"],
            algorithm
        );
    }
    for distribution in Distribution::ALL.map(Distribution::name) {
        let sorted = distribution
            .strip_prefix("random")
            .filter(|&rest| rest == "-decreasing" || rest == "-increasing");
        assert!(
            help.contains(sorted.unwrap_or(distribution)),
            "{distribution}"
        );
        assert!(
            tree(&format!("--dist {distribution} -p 7"))
                .starts_with(&format!("optimal tree of 7 ranks, {distribution}, "))
        );
    }
}

#[test]
fn random_sizes_follow_the_seed() {
    let with = |seed: u32| tree(&format!("--dist random -p 30 --seed {seed}"));
    assert_eq!(with(5), with(5));
    assert_ne!(with(5), with(6));
}

/// Two ranks: the one that is not the root sends its block, while the root copies its own.
#[test]
fn decimal_parameters_are_exact() {
    let time = |alpha: &str, gamma: &str| {
        json(&format!(
            "-p 2 --block 10 --root 0 --alpha {alpha} --beta 0.1 --gamma {gamma}"
        ))
    };
    assert_eq!(time("0.25", "0")["completion"], json!(1.25));
    assert_eq!(time("3.0", "0")["completion"], json!(4));
    assert_eq!(
        time("0.3", "0.000000001")["completion"],
        json!(1.300_000_01)
    );
    assert!(
        tree("-p 2 --block 10 --alpha 0.70 --beta 0.1 --gamma 0")
            .contains("alpha 0.7, beta 0.1, gamma 0\ncompletion 1.7, ")
    );
}

#[test]
fn the_outline_has_every_rank_below_its_receiver() {
    // Rank 2 receives from both of its neighbours, nearest first, and from rank 0 last.
    let outline = tree("-p 4 --algorithm linear --root 2");
    let lines: Vec<&str> = outline.lines().skip(3).collect();
    let expected = [
        "2: 4000 bytes at 4300",
        "  1: 1000 bytes at 0",
        "  0: 1000 bytes at 0",
        "  3: 1000 bytes at 0",
    ];
    assert_eq!(lines, expected);
    assert_eq!(tree("-p 64").lines().count(), 3 + 64);
    assert_eq!(tree("-p 65").lines().count(), 2);
}

#[test]
fn graphviz_gets_every_message() {
    let dot = tree("-p 4 --dist two-blocks --algorithm linear --root 2 --dot");
    let expected = "digraph tree {\n  rankdir = BT\n  node [shape = circle]\n  2 [shape = doublecircle]\n  \
        1 -> 2 [label = \"1: 0\"]\n  0 -> 2 [label = \"2: 2000\"]\n  3 -> 2 [label = \"3: 2000\"]\n}\n";
    assert_eq!(dot, expected);
}

#[test]
fn a_picture_has_a_circle_for_each_rank_and_a_line_for_each_message() {
    let path = file("a&b.txt", "10\n0\n30\n0\n50\n");
    let svg = file("picture.svg", "");
    let summary = tree(&format!(
        "--dist file:{} --algorithm linear --root 1 --svg {}",
        path.display(),
        svg.display()
    ));
    assert!(
        summary.lines().count() == 2 && summary.contains("\ncompletion 390, root 1, "),
        "{summary}"
    );
    let svg = fs::read_to_string(svg).expect("the picture");
    let count = |what: &str| svg.matches(what).count();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(
        (
            count("<circle "),
            count("<line "),
            count("stroke-dasharray")
        ),
        (5, 4, 1)
    );
    assert_eq!(
        count("<g class=\"root\"><title>rank 1: 90 bytes at 390</title>"),
        1
    );
    assert!(
        svg.contains("a&amp;b.txt, alpha 100, beta 1, gamma 1: completion 390</text>"),
        "{svg}"
    );
}

#[test]
fn sizes_come_from_a_file() {
    let path = file("sizes.txt", "100\r\n 1 \n1\n1");
    let from_file = |more: &str| json(&format!("--dist file:{} {more}", path.display()));
    // Rank 0 copies its block while the others come together.
    assert_eq!(from_file("--alpha 10 --root best")["completion"], 113);
    assert_eq!(from_file("-p 4")["root"], 2);
    assert_eq!(from_file("--compare").as_array().map(Vec::len), Some(10));
    let message = error(&format!("--dist file:{} -p 5", path.display()), 2);
    assert!(
        message.contains("tree-sizes.txt has 4 blocks, not the 5 of -p"),
        "{message}"
    );
}

#[test]
fn a_bad_line_is_reported_with_its_number_and_nothing_is_lost() {
    let picture = file("old.svg", "an older picture");
    for (name, content, wrong) in [
        (
            "word",
            "1\n2\n3x\n4\n",
            "line 3: '3x' is no number of bytes",
        ),
        ("blank", "1\n\n3\n", "line 2: '' is no number of bytes"),
        ("negative", "-1\n", "line 1: '-1' is no number of bytes"),
        (
            "huge",
            "1\n18446744073709551616\n",
            "line 2: '18446744073709551616' is no number of bytes",
        ),
        ("empty", "", "no sizes in it"),
    ] {
        let path = file(name, content);
        for more in [
            "",
            "--json",
            "--compare",
            &format!("--svg {}", picture.display()),
        ] {
            let message = error(&format!("--dist file:{} {more}", path.display()), 1);
            assert!(
                message.starts_with("rondo: ") && message.contains(wrong),
                "{message}"
            );
        }
    }
    assert_eq!(
        fs::read_to_string(picture).expect("it is there"),
        "an older picture"
    );
    let message = error("--dist file:/nowhere/sizes", 1);
    assert!(
        message.contains("/nowhere/sizes: No such file"),
        "{message}"
    );
    let message = error("-p 3 --svg /nowhere/picture.svg", 1);
    assert!(
        message.contains("cannot write /nowhere/picture.svg: No such file"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(tree("-p 1").starts_with("optimal tree of 1 rank, "));
    assert!(tree("-p 1K").starts_with("optimal tree of 1024 ranks, "));
    for (args, message) in [
        (
            "-p 8 --root 8",
            "there is no rank 8: the ranks of 8 are 0 to 7",
        ),
        ("-p 8 --root middle", "take a rank, or best"),
        ("-p 0", "0 is not in 1..="),
        ("-p 2000000", "2000000 is not in 1..="),
        ("--block 0", "0 is not in 1..="),
        ("-p 10001", "a table of 1 GiB; 10000 ranks are the limit"),
        (
            "-p 100000 --algorithm binary",
            "a table of 75 GiB; 10000 ranks are the limit",
        ),
        (
            "-p 100000 --compare",
            "a table of 75 GiB; 10000 ranks are the limit",
        ),
        (
            "-p 1001 --dot",
            "a picture of 1001 ranks is too large, 1000 is the limit",
        ),
        (
            "-p 1001 --svg /nowhere",
            "a picture of 1001 ranks is too large, 1000 is the limit",
        ),
        (
            "-p 3 --svg tree.png",
            "tree.png: take a name that ends with .svg",
        ),
        ("--gamma 1,2", "several gammas are for --compare"),
        ("--compare --root best", "--compare shows both"),
        ("--compare --dot", "cannot be used with"),
        ("--compare --algorithm linear", "cannot be used with"),
        ("--json --dot", "cannot be used with"),
        ("--alpha 1e3", "take a number from 0 on"),
        ("--alpha=-1", "take a number from 0 on"),
        ("--beta .5", "take a number from 0 on"),
        ("--beta 1.", "take a number from 0 on"),
        ("--gamma 0.1234567891", "take a number from 0 on"),
        ("--alpha 18446744073709551616", "it does not fit 64 bits"),
        ("--alpha 18446744073709551615", "times do not fit 64 bits"),
        (
            "--alpha 18446744073709551615 --beta 0.1",
            "times do not fit 64 bits",
        ),
        (
            "--beta 1000000 --block 1000000000000",
            "times do not fit 64 bits",
        ),
        ("--dist steps", "take one of same, random, "),
        (
            "--algorithm best",
            "possible values: linear, binary, binomial, adaptive, optimal, two-kinds",
        ),
    ] {
        let error = error(args, 2);
        assert!(error.contains(message), "{args}: {error}");
    }
    // The others have no table.
    assert_eq!(json("-p 100000 --algorithm linear")["messages"], 99_999);
}
