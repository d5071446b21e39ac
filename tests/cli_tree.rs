//! `rondo tree`, run as a user runs it. Times of trees are tests of the library (tests/tree).

use rondo::tree::{Algorithm, Distribution};
use std::process::Command;

/// What a run printed, or its exit status and its message; it may not do both.
fn run(args: &str) -> Result<String, (i32, String)> {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/build/openmpi/rondo"));
    let words = args.split_whitespace();
    let output = command.env_clear().arg("tree").args(words).output();
    let output = output.expect("the tool starts");
    let [out, err] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).expect("UTF-8"));
    if output.status.success() {
        assert_eq!(err, "", "{args}");
        return Ok(out);
    }
    assert_eq!(out, "", "{args}");
    Err((output.status.code().expect("no signal"), err))
}

fn tree(args: &str) -> String {
    run(args).unwrap_or_else(|error| panic!("{args}: {error:?}"))
}

/// What the line of results says: how long the tree takes, its root, its depth, and its messages.
fn results(args: &str) -> [u64; 4] {
    let said = tree(args);
    let line = said.lines().nth(1).expect("a line of results");
    let words: Vec<&str> = line.split([' ', ',']).collect();
    [1, 4, 7, 9].map(|place| words[place].parse().expect("a number"))
}

/// The defaults are the parameters of the paper, and the root is in the middle whatever p is.
#[test]
fn the_published_times_come_out_of_one_command() {
    let all = "--algorithm optimal --block 1000 --alpha 100 --beta 1 --gamma 1 --seed 1";
    for (short, long, completion) in [
        ("", "--dist same -p 2000 --root 1000", 2_001_100),
        ("--dist skewed", "--dist skewed --root 1000", 2_003_495),
        (
            "--dist skewed --root best",
            "-p 2000 --dist skewed --root best",
            2_002_295,
        ),
        ("-p 1", "-p 1 --root 0", 0),
    ] {
        assert_eq!(tree(short), tree(&format!("{all} {long}")));
        assert_eq!(results(short)[0], completion, "{short}");
    }
}

/// Rank 2 receives from both of its neighbours, nearest first, and from rank 0 last.
#[test]
fn every_rank_is_below_the_one_that_it_sends_to() {
    let args = "-p 4 --algorithm linear --root 2";
    let expected = "\
linear tree of 4 ranks, same, 4000 bytes; alpha 100, beta 1, gamma 1
completion 4300, root 2, depth 1, 3 messages

2: 4000 bytes at 4300
  1: 1000 bytes at 0
  0: 1000 bytes at 0
  3: 1000 bytes at 0
";
    assert_eq!(tree(args), expected);
    assert_eq!(tree("-p 64").lines().count(), 3 + 64);
    assert_eq!(tree("-p 65").lines().count(), 2);
}

#[test]
fn every_name_is_in_the_help_and_works() {
    let help = tree("--help");
    for algorithm in Algorithm::ALL.map(Algorithm::name) {
        assert!(help.contains(&format!("\n  {algorithm} ")), "{algorithm}");
        let made = tree(&format!("--algorithm {algorithm} -p 7 --dist random"));
        assert!(made.starts_with(&format!("{algorithm} tree of 7 ranks, ")));
    }
    for distribution in Distribution::ALL.map(Distribution::name) {
        let sorted = distribution.strip_prefix("random");
        let sorted = sorted.filter(|&rest| rest == "-decreasing" || rest == "-increasing");
        let shown = sorted.unwrap_or(distribution);
        assert!(help.contains(shown), "{distribution}");
        let head = format!("optimal tree of 7 ranks, {distribution}, ");
        assert!(tree(&format!("--dist {distribution} -p 7")).starts_with(&head));
    }
    let with = |seed: u32| tree(&format!("--dist random -p 30 --seed {seed}"));
    assert_eq!(with(5), with(5));
    assert_ne!(with(5), with(6));
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(tree("-p 1").starts_with("optimal tree of 1 rank, "));
    // It has no table.
    assert_eq!(results("-p 100000 --algorithm linear")[3], 99_999);
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
        ("--alpha 0.5", "invalid digit"),
        ("--alpha 18446744073709551615", "times do not fit 64 bits"),
        (
            "--beta 1000000 --block 1000000000000",
            "times do not fit 64 bits",
        ),
        ("--dist steps", "possible values: same, random, "),
        (
            "--algorithm best",
            "values: linear, binary, binomial, adaptive, optimal, two-kinds",
        ),
    ] {
        let (status, error) = run(args).expect_err(args);
        assert!(status == 2 && error.contains(message), "{args}: {error}");
    }
}
