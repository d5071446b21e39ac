//! What `auto` decides, against what `rondo model` predicts of all algorithms, where each rank has a node.

use super::*;
use rondo::decide::{OperatorProperties, Reduction};
use rondo::script::share;
use serde_json::{Value, json};
use std::{fs, path::Path, process::Command};

/// Networks, as options of `rondo model`: its presets; the last of these if it puts no message into place; a far one.
fn networks() -> [String; 5] {
    let file = |name: &str, [alpha, gap, beta]: [f64; 3]| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let network = json!({ "alpha_us": alpha, "gap_us": gap, "beta_ns_per_kb": beta });
        let text = json!({ "network": network, "rules": [] }).to_string();
        fs::write(&path, text).unwrap();
        format!("--from {}", path.display())
    };
    [
        "--preset gigabit".into(),
        "--preset 200-mbit".into(),
        "--preset 100-gbit".into(),
        file("alpha-near", [1.9, 0.3, 82.0]),
        file("alpha-far", [2000.0, 10.0, 40_960.0]),
    ]
}

const RANKS: [u32; 11] = [3, 4, 5, 8, 16, 17, 36, 64, 100, 576, 1152];
const BYTES: [u64; 11] = [
    1, 100, 1024, 4000, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 67_108_864,
];

/// A decision for the first one, on networks whose options have this text, to which the others (or all) may be
/// predicted to be so many times as fast.
struct Exception(&'static str, &'static str, &'static str, f64);

const BCAST: &[Exception] = &[
    // Messages of 4 KiB and more that a rank sends to several others share its link there, and all come late. No fact
    // says whether a network does so; and on one that does not, postal is the fastest.
    Exception("postal", "100-gbit", "", 3.9),
    // There are few candidates. Relay has up to 64 ranks, and postal tells up to 16 messages at a time apart.
    Exception("postal", "alpha", "linear relay kary circulant", 1.75),
    Exception("circulant", "alpha", "relay", 1.5),
    Exception(
        "circulant",
        "alpha",
        "linear kary knomial chain two-tree postal",
        1.16,
    ),
];

const ALLREDUCE: &[Exception] = &[
    // Every rank takes 64 KiB of vectors at the most, and a census less than 32 KiB, on whatever network.
    Exception("gather", "", "census dissemination doubling ordered", 1.35),
    Exception("census", "", "gather kary knomial linear", 2.25),
    Exception("halving", "", "gather census dissemination doubling", 1.35),
    // All ranks send to all others at once, which takes longer than predicted (tests/predictions, e).
    Exception("halving", "", "ordered", 2.05),
    Exception("census", "", "ordered", 2.55),
];

const REDUCE: &[Exception] = &[
    // All send to one at once, which takes longer than predicted too.
    Exception("circulant", "", "ordered halving", 1.75),
    Exception("postal", "", "ordered linear", 1.55),
    // There are two candidates, which are close together where one gives way to the other.
    Exception("circulant", "", "chain kary", 1.1),
    Exception("postal", "", "circulant kary", 1.15),
];

/// Who has a call of so many bytes.
fn decide(collective: Collective, facts: Facts, bytes: u64, config: &Config) -> Choice {
    match collective {
        Collective::Bcast => bcast(facts, bytes, config),
        Collective::Allgatherv => {
            let mut parts = Parts::default();
            let even = (0..facts.p).map(|i| Some(share(bytes, facts.p, i)));
            parts.set(even).unwrap();
            all_broadcast(facts, &parts, &parts, config).choose()
        }
        _ => {
            let context = Context {
                collective,
                facts,
                config,
            };
            let call = Reduction {
                context,
                bytes,
                unit: 1,
                longest: bytes.div_ceil(facts.p.into()),
                fullest: bytes,
                operator: OperatorProperties::ANY,
            };
            call.choose()
        }
    }
}

#[test]
fn no_algorithm_is_predicted_to_be_much_faster_than_what_auto_decides() {
    let config = Config::default();
    let sizes = BYTES.map(|bytes| bytes.to_string()).join(",");
    let mut found = Vec::new();
    for (collective, exceptions) in [
        (Collective::Bcast, BCAST),
        (Collective::Allgatherv, &[]),
        (Collective::Allreduce, ALLREDUCE),
        (Collective::Reduce, REDUCE),
    ] {
        let mut met = vec![false; exceptions.len()];
        for (p, options) in RANKS.into_iter().flat_map(|p| networks().map(|it| (p, it))) {
            let name = collective.name();
            let command = format!("model {name} --ranks {p} --bytes {sizes} --json {options}");
            let mut tool =
                Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/build/openmpi/rondo"));
            let output = tool.env_clear().args(command.split(' ')).output().unwrap();
            let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            let facts = Facts {
                eager_bytes: said["eager_bytes"].as_u64().unwrap(),
                network: serde_json::from_value(said["network"].clone()).unwrap(),
                ..apart(p)
            };
            for bytes in BYTES {
                let Choice::Rondo(method) = decide(collective, facts, bytes, &config) else {
                    continue;
                };
                let own = method.algorithm.name();
                let rows = said["rows"].as_array().unwrap().iter();
                let times = (rows.filter(|row| row["bytes"] == bytes))
                    .filter_map(|row| Some((row["algorithm"].as_str()?, row["us"].as_f64()?)));
                let own_us = times.clone().find(|(name, _)| *name == own).unwrap().1;
                for (other, us) in times.filter(|(_, us)| 1.05 * us < own_us) {
                    let place = exceptions
                        .iter()
                        .position(|Exception(by, on, others, most)| {
                            let is_named =
                                others.is_empty() || others.split(' ').any(|it| it == other);
                            *by == own && options.contains(on) && is_named && own_us <= most * us
                        });
                    match place {
                        Some(place) => met[place] = true,
                        None => found.push(format!(
                            "{command}: {bytes} bytes by {own} {own_us:.1}, by {other} {us:.1}"
                        )),
                    }
                }
            }
        }
        assert!(
            !met.contains(&false),
            "{collective:?}: exceptions that are none: {met:?}"
        );
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// What a broadcast takes is compared with what the model expects of the blocks that it has: the user's, or as many as
/// keep them short for the host.
#[test]
fn a_broadcast_is_predicted_in_its_blocks() {
    let us = |eager_bytes, block_bytes| {
        let network = Network {
            alpha_us: Some(10.0),
            gap_us: Some(1.0),
            beta_ns_per_kb: Some(80.0),
            ..UNKNOWN
        };
        let facts = Facts {
            network,
            eager_bytes,
            ..apart(8)
        };
        let config = config(|c| c.block_bytes = block_bytes);
        let us = broadcast(facts, 1 << 20, &config).predicted_us();
        us.expect("the network is known")
    };
    // A round for each block takes 3 us at the least, and all bytes 82 us.
    let best = us(1 << 20, 0);
    assert!((100.0..400.0).contains(&best), "{best}");
    let short = us(1 << 20, 4 << 10);
    assert!(short > 3.0 * 256.0, "{short}");
    // Half as many, for which the host asks, would be slower.
    assert_eq!(us(4 << 10, 0), short);
    let asked = us(1 << 20, 1 << 10);
    assert!(asked > 3.0 * 1024.0, "{asked}");
}

/// The same for an allgather: of equal parts, which stay whole, each in so many blocks; and of one part alone.
#[test]
fn an_allgather_is_predicted_in_its_blocks() {
    const BYTES: u64 = 1 << 20;
    let network = Network {
        alpha_us: Some(10.0),
        gap_us: Some(1.0),
        beta_ns_per_kb: Some(80.0),
        ..UNKNOWN
    };
    let equal = parts(&[BYTES / 8; 8]);
    let alone = parts(&[BYTES, 0, 0, 0, 0, 0, 0, 0]);
    // The longest part, and how often it or more of the same is sent.
    for (parts, longest, rounds, algorithm) in [
        (&equal, BYTES / 8, 3, Algorithm::Bruck),
        (&alone, BYTES, 1, Algorithm::Circulant),
    ] {
        let us = |block_bytes| {
            let facts = Facts {
                network,
                eager_bytes: BYTES,
                ..apart(8)
            };
            let config = config(|c| {
                c.block_bytes = block_bytes;
                c.radix = 2;
            });
            let call = all_broadcast(facts, parts, parts, &config);
            assert_eq!(chosen(call.choose()), algorithm);
            call.predicted_us().expect("the network is known")
        };
        // All bytes take 82 us, and a message 3 us at the least.
        let best = us(0);
        assert!((82.0..400.0).contains(&best), "{algorithm:?}: {best}");
        for block in [1 << 10, 256] {
            let messages = (rounds * longest / block) as f64;
            let asked = us(block);
            let expected = 3.0 * messages..3.0 * messages + 2.0 * best;
            assert!(
                expected.contains(&asked),
                "{algorithm:?}, blocks of {block}: {asked}, not in {expected:?}"
            );
        }
    }
}
