//! What it takes to reduce a byte: the figure that follows from pieces, and where it is told.

mod mpirun;

use mpirun::{Ended, MPIS, compile, ctest, folder, library, mpirun};
use rondo::gamma::{Class, Gamma, Pieces};
use rondo::rules::File;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The figure after pieces of so many bytes that took so many nanoseconds.
fn figure(pieces: impl IntoIterator<Item = (u64, u64)>) -> Option<f64> {
    let all = Pieces::new();
    for (bytes, nanos) in pieces {
        all.add(bytes, nanos);
    }
    all.figure()
}

const KIB: u64 = 1 << 10;

#[test]
fn the_figure_is_the_time_of_all_bytes_at_one_pace() {
    let pieces = (0..100).map(|_| (64 * KIB, 64 * 100));
    assert_eq!(figure(pieces), Some(100.0));
    // A little faster and a little slower.
    let pieces = (0..100).map(|i| (64 * KIB, 64 * (90 + 20 * (i % 2))));
    assert_eq!(figure(pieces), Some(100.0));
}

#[test]
fn a_few_pieces_say_nothing() {
    assert_eq!(figure([]), None);
    assert_eq!(figure([(127 * KIB, 127 * 100)]), None);
    assert_eq!(figure([(128 * KIB, 128 * 100)]), Some(100.0));
}

/// A rank that was kept from running for ten milliseconds in every third piece.
#[test]
fn pauses_do_not_count() {
    let pieces = (0..99).map(|i| (64 * KIB, 64 * 100 + 10_000_000 * u64::from(i % 3 == 0)));
    assert_eq!(figure(pieces), Some(100.0));
}

/// Many short pieces that find their bytes in the cache, and as many long ones, which have most bytes.
#[test]
fn bytes_count_and_not_pieces() {
    let short = (0..100).map(|_| (8 * KIB, 8 * 20));
    let long = (0..100).map(|_| (512 * KIB, 512 * 200));
    assert_eq!(figure(short.chain(long)), Some(200.0));
}

#[test]
fn a_clock_that_stands_still_or_an_age_are_paces_too() {
    assert_eq!(figure([(MIB, 0)]), Some(0.0));
    let age = figure([(MIB, u64::MAX / 4)]).expect("a figure");
    assert!(age > 1e15 && age.is_finite());
}

const MIB: u64 = 1 << 20;

#[test]
fn figures_are_told_in_words_and_completed_by_others() {
    let some = Gamma {
        floats: Some(41.6),
        user: Some(7000.0),
        ..Gamma::default()
    };
    assert_eq!(some.text(), "floats 42 ns/KiB, user 7000 ns/KiB");
    let others = Gamma {
        floats: Some(1.0),
        host: Some(900.0),
        ..Gamma::default()
    };
    let both = some.or(&others);
    assert_eq!(both.of(Class::Floats), Some(41.6));
    assert_eq!(
        (both.of(Class::Host), both.of(Class::Integers)),
        (Some(900.0), None)
    );
    assert!(both.check().is_ok() && Gamma::default().is_empty() && !both.is_empty());
    let nonsense = Gamma {
        host: Some(-1.0),
        ..Gamma::default()
    };
    assert!(nonsense.check().is_err());
}

/// One job at a time: a rank that is kept from running measures less.
static TURN: Mutex<()> = Mutex::new(());

/// Runs `red_gamma` on three ranks, on these nodes, with these variables; and the statistics.
fn run(mpi: &str, nodes: &str, variables: &[(&str, &str)]) -> Value {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let at = |name: &str| folder("gamma").join(format!("{name}.{mpi}"));
    let program = compile(Some(mpi), &ctest("red_gamma.c"), at("red_gamma"), &[]);
    let on_node = compile(None, &ctest("on_node.c"), at("on_node"), &[]);
    let stats: PathBuf = at("stats");
    let _ = fs::remove_file(&stats);
    let (preload, to) = (
        library(mpi).display().to_string(),
        format!("json:{}", stats.display()),
    );
    let own = [
        ("LD_PRELOAD", preload.as_str()),
        ("EXPECT_RONDO", "any"),
        ("RONDO_ALLREDUCE", "halving"),
        ("RONDO_STATS", &to),
    ];
    let mut command = mpirun(mpi, 3, 600, &[&own, variables].concat());
    command.arg(on_node).arg(nodes).arg(program);
    let ended = Ended::of(&command.output().expect("mpirun"));
    assert!(
        ended.status == Some(0) && ended.stdout.contains("PASS red_gamma"),
        "{mpi}: {ended:?}"
    );
    serde_json::from_str(&fs::read_to_string(&stats).expect("statistics")).expect("JSON")
}

/// Each class has a figure, and that of the operator that is slow on purpose is many times as large, through the memory
/// of a node, between nodes, and by messages alone.
#[test]
fn the_statistics_tell_what_it_takes_to_reduce() {
    for mpi in MPIS {
        for (nodes, shm) in [("0,0,0", "on"), ("0,1,2", "on"), ("0,0,0", "off")] {
            let report = run(mpi, nodes, &[("RONDO_SHM", shm)]);
            let gamma = &report["gamma_ns_per_kb"];
            let of = |class: &str| {
                gamma[class]
                    .as_f64()
                    .unwrap_or_else(|| panic!("{mpi}, {nodes}: {class} of {gamma}"))
            };
            println!("{mpi} {nodes} shm {shm}: {gamma}");
            let floats = of("floats");
            assert!(
                floats > 1.0 && of("integers") > 1.0,
                "{mpi}, {nodes}: {gamma}"
            );
            assert!(of("host") > 1.0, "{mpi}, {nodes}: {gamma}");
            assert!(of("user") > 5.0 * floats, "{mpi}, {nodes}: {gamma}");
        }
    }
}

/// What was measured of a network is saved, and this beside it. The rules serve the next run, and `rondo model`.
#[test]
fn what_it_takes_is_saved_with_the_network() {
    let mpi = MPIS[0];
    let file = folder("gamma").join("saved.json");
    let _ = fs::remove_file(&file);
    run(
        mpi,
        "0,1,2",
        &[("RONDO_LEARN", &format!("save:{}", file.display()))],
    );
    let saved = File::read(&file).expect("a file of rules");
    assert!(!saved.network.is_empty(), "{saved:?}");
    let gamma = saved.gamma_ns_per_kb;
    assert!(
        gamma.floats.is_some() && gamma.user > gamma.floats,
        "{saved:?}"
    );
    let path = file.display().to_string();
    let report = run(mpi, "0,1,2", &[("RONDO_RULES", &path)]);
    let (told, known) = (
        saved.network.alpha_us,
        report["network"]["alpha_us"].as_f64(),
    );
    let difference = told.expect("a latency") - known.expect("a latency");
    assert!(difference.abs() < 0.001, "{report}: the file is in use");
}
