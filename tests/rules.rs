//! Rules files: what they say, what is wrong with them, and which rule fits a call.

mod pipe;

use proptest::prelude::*;
use rondo::collective::Collective;
use rondo::config::{Algorithm, Setting};
use rondo::network::{Network, Placement};
use rondo::rules::{File, MeasuredOn, Refusal, Rule, Rules, Ruling, merged};
use std::fs;
use std::path::{Path, PathBuf};

fn rules(text: &str) -> Result<Rules, String> {
    File::parse(text)?.compile()
}

const TWO: &str = r#"{
  "host": "Some MPI 1.2", "made": "by hand",
  "rules": [
    {"collective": "bcast", "algorithm": "host", "msg_size_max": 999},
    {"collective": "bcast", "algorithm": "circulant", "comm_size_min": 8, "comm_size_max": 16,
     "nodes_min": 2, "nodes_max": 4, "block_bytes": 4096},
    {"collective": "gatherv", "algorithm": "hybrid", "msg_size_min": 10},
    {"collective": "gatherv", "algorithm": "host"}
  ]
}"#;

fn bcast(rules: &Rules, p: u32, nodes: u32, bytes: u64) -> Option<Ruling> {
    rules.find(Collective::Bcast, (p, nodes), Some(bytes))
}

#[test]
fn the_first_rule_that_fits_counts() {
    let rules = rules(TWO).unwrap();
    let host = Ruling {
        setting: Setting::Host,
        block_bytes: 0,
    };
    let circulant = Ruling {
        setting: Setting::Use(Algorithm::Circulant),
        block_bytes: 4096,
    };
    assert_eq!(bcast(&rules, 8, 2, 999), Some(host));
    assert_eq!(bcast(&rules, 8, 2, 1000), Some(circulant));
    assert_eq!(bcast(&rules, 16, 4, u64::MAX >> 12), Some(circulant));
    for (p, nodes) in [(7, 2), (17, 2), (8, 1), (8, 5)] {
        assert_eq!(bcast(&rules, p, nodes, 1000), None, "{p} {nodes}");
    }
    // Nobody knows the bytes: only a rule without bounds for them fits.
    assert_eq!(rules.find(Collective::Gatherv, (5, 5), None), Some(host));
    let hybrid = rules.find(Collective::Gatherv, (5, 5), Some(10)).unwrap();
    assert_eq!(hybrid.setting, Setting::Use(Algorithm::Hybrid));
}

/// In the file it stays as it was written.
#[test]
fn an_algorithm_goes_by_another_name_as_well() {
    let text = |collective| {
        format!(r#"{{"rules": [{{"collective": "{collective}", "algorithm": "hypercube"}}]}}"#)
    };
    for (name, collective, algorithm) in [
        ("allgather", Collective::Allgather, Algorithm::Doubling),
        ("allreduce", Collective::Allreduce, Algorithm::Doubling),
        ("reduce", Collective::Reduce, Algorithm::Binomial),
        ("alltoall", Collective::Alltoall, Algorithm::Hypercube),
    ] {
        let ruling = rules(&text(name))
            .unwrap()
            .find(collective, (8, 8), Some(8));
        assert_eq!(ruling.unwrap().setting, Setting::Use(algorithm));
    }
    assert!(rules(&text("gatherv")).is_err());
}

#[test]
fn what_a_file_says_of_itself_is_kept() {
    let file = File::parse(TWO).unwrap();
    assert_eq!(
        (file.host.as_str(), file.made.as_str()),
        ("Some MPI 1.2", "by hand")
    );
    let text = serde_json::to_string(&file).unwrap();
    assert_eq!(File::parse(&text).unwrap(), file);
}

/// The line, and the key, or the number of the rule and the key.
/// A file that 0.2 wrote.
#[test]
fn a_key_that_does_nothing_any_more_is_passed_over_with_a_word() {
    let old = r#"{"gamma_ns_per_kb": {"floats": 50}, "rules": [{"collective": "bcast", "algorithm": "host"}]}"#;
    let file = File::parse(old).expect("a file");
    assert_eq!(
        file.removed().as_deref(),
        Some("gamma_ns_per_kb does nothing any more: no choice went by what it takes to reduce")
    );
    assert!(bcast(&file.compile().expect("rules"), 4, 1, 8).is_some());
    let new = file.text();
    assert!(!new.contains("gamma"), "{new}");
    assert_eq!(File::parse(&new).expect("a file").removed(), None);
}

#[test]
fn a_mistake_is_named_with_its_place() {
    let rule = |rule: &str| rules(&format!("{{\"rules\": [\n{rule}\n]}}")).unwrap_err();
    for (text, says) in [
        (
            r#"{"collective": "bcast", "algoritm": "host"}"#,
            ["algoritm", "line 2"],
        ),
        (r#"{"collective": "bcast"}"#, ["`algorithm`", "line 2"]),
        (
            r#"{"collective": "bcast", "algorithm": 3}"#,
            ["integer `3`", "line 2"],
        ),
        (
            r#"{"collective": "bcast", "algorithm": "host", "nodes_min": -1}"#,
            ["-1", "line 2"],
        ),
        (
            r#"{"collective": "bcast", "algorithm": "host"} x"#,
            ["expected", "line 2"],
        ),
        ("3", ["expected an object", "line 2"]),
        // As characters of the terminal they would colour the line, and begin another one.
        (r#"{"a\u001b[31m\nb": 1}"#, [r"`a\u{1b}[31m\nb`", "line 2"]),
        (
            r#"{"collective": "bcats", "algorithm": "host"}"#,
            ["rule 1: collective", "bcats"],
        ),
        (
            r#"{"collective": "bcast", "algorithm": "ring"}"#,
            ["rule 1: algorithm", "ring"],
        ),
        (
            r#"{"collective": "bcast", "algorithm": "auto"}"#,
            ["rule 1: algorithm", "auto"],
        ),
        (
            r#"{"collective": "gatherv", "algorithm": "circulant"}"#,
            ["rule 1: algorithm", "gatherv"],
        ),
        (
            r#"{"collective": "bcast", "algorithm": "host", "nodes_min": 3, "nodes_max": 2}"#,
            ["rule 1: nodes_min", "nodes_max"],
        ),
        (
            r#"{"collective": "bcast", "algorithm": "host", "block_bytes": 2000000000}"#,
            ["rule 1: block_bytes", "1 GiB"],
        ),
    ] {
        let error = rule(text);
        for says in says {
            assert!(error.contains(says), "{text}: {error}");
        }
    }
    for text in ["", "[]", "3", r#"["", "", {}, []]"#] {
        let error = File::parse(text).unwrap_err();
        assert!(error.contains("it is no object"), "{text}: {error}");
    }
    assert!(File::parse("{}").unwrap_err().contains("rules"));
}

/// A file of these tests, with this text.
fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rules-{name}"));
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn only_files_of_a_usual_size_are_read() {
    assert_eq!(File::read(&file("two", TWO)), File::parse(TWO));
    let pipe = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rules-pipe");
    let _ = fs::remove_file(&pipe);
    pipe::make(&pipe);
    for path in [&pipe, Path::new("/dev/zero"), Path::new("/")] {
        let error = File::read(path).unwrap_err();
        assert!(error.contains("no regular file"), "{error}");
    }
    let error = File::read(&file("long", &" ".repeat((16 << 20) + 1))).unwrap_err();
    assert!(error.contains("more than 16 MiB"), "{error}");
}

#[test]
fn a_file_is_written_anew_if_it_is_one_of_rules_for_the_same_library() {
    let host = "Some MPI 1.2";
    let of = |text: &str| File::before(&file("before", text), host);
    assert_eq!(of(TWO).unwrap().rules.len(), 4);
    for none in [
        " \n",
        r#"{"rules": []}"#,
        r#"{"host": "Other", "rules": []}"#,
    ] {
        assert_eq!(of(none).unwrap().rules, []);
    }
    let nowhere = File::before(Path::new("/nowhere/rules"), host);
    assert_eq!(nowhere.unwrap(), File::default());
    let rule = r#"[{"collective": "bcast", "algorithm": "host"}]"#;
    for (text, why) in [
        ("notes".to_owned(), "no file of rules: it is no object"),
        (
            format!(r#"{{"host": "Other\u001b", "rules": {rule}}}"#),
            r"has rules for Other\u{1b}, and",
        ),
        (
            format!(r#"{{"rules": {rule}}}"#),
            "has rules for any MPI library, and",
        ),
        (
            r#"{"rules": [{"collective": "bcast", "algorithm": "x"}]}"#.to_owned(),
            "rule 1: algorithm",
        ),
    ] {
        match of(&text) {
            Err(Refusal::Other(what)) => assert!(what.contains(why), "{text}: {what}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    let folder = File::before(Path::new("/"), host);
    assert!(matches!(folder, Err(Refusal::Unreadable(_))));
}

#[test]
fn a_file_says_once_how_it_was_made() {
    let mut file = File::default();
    for made in ["b", "a", "b"] {
        file.add_made(made);
    }
    assert_eq!(file.made, "a; b");
}

#[test]
fn new_rules_come_before_old_ones_for_other_calls() {
    let of = |ranks, bytes, algorithm| Rule {
        comm_size_min: ranks,
        msg_size_min: bytes,
        ..Rule::all("bcast", algorithm, 0)
    };
    let new = [of(4, 10, "host")];
    let old = [
        of(4, 10, "postal"),
        of(4, 20, "postal"),
        of(5, 10, "postal"),
    ];
    let sizes_stay = merged(&new, old.to_vec(), Rule::bounds_as);
    assert_eq!(sizes_stay, [new[0].clone(), old[1].clone(), old[2].clone()]);
    let sizes_go = merged(&new, old.to_vec(), Rule::ranks_as);
    assert_eq!(sizes_go, [new[0].clone(), old[2].clone()]);
    // Ranks take no more than that.
    let many: Vec<Rule> = (100..10_200).map(|bytes| of(4, bytes, "host")).collect();
    let all = File {
        rules: merged(&new, many, Rule::bounds_as),
        ..File::default()
    };
    assert!(all.compile().is_ok());
}

#[test]
fn no_rules_are_rules_as_well() {
    let none = rules(r#"{"rules": []}"#).unwrap();
    assert_eq!((none.len(), none.hash()), (0, 0));
    assert_eq!(bcast(&none, 8, 2, 1), None);
}

#[test]
fn other_ranks_get_the_same() {
    let own = rules(TWO).unwrap();
    let numbers = own.encode();
    assert_eq!(numbers.len(), Rules::encoded_len(own.len()));
    let other = Rules::decode(&numbers);
    assert_eq!((&own, own.hash()), (&other, other.hash()));
    let mut changed = numbers.clone();
    changed[8] += 1;
    assert_ne!(Rules::decode(&changed).hash(), own.hash());
}

/// What Rondo measured between some nodes, and saved, is none of the figures that a user sets; and serves these nodes.
#[test]
fn figures_that_were_measured_serve_the_nodes_that_they_are_of() {
    let nodes = Placement {
        nodes: 4,
        hash: 0xfedc_ba98_7654_3210,
    };
    let network = Network {
        alpha_us: Some(5.0),
        ..Network::default()
    };
    let file = File {
        network,
        measured_on: Some(MeasuredOn::new(nodes)),
        ..File::default()
    };
    let own = File::parse(&file.text()).unwrap().compile().unwrap();
    for rules in [Rules::decode(&own.encode()), own] {
        assert!(rules.network().is_empty());
        assert_eq!(rules.measured(nodes), Some(network));
        assert_eq!(rules.measured(Placement { nodes: 5, ..nodes }), None);
        assert_eq!(rules.measured(Placement { hash: 1, ..nodes }), None);
    }
    let users = rules(r#"{"network": {"alpha_us": 5}, "rules": []}"#).unwrap();
    assert_eq!(users.network(), network);
    assert_eq!(users.measured(nodes), None);
    for (nodes, what) in [("0", "nodes: 0 is none"), ("4", "names: \"xyz\"")] {
        let text = format!(
            r#"{{"network": {{"alpha_us": 5}}, "measured_on": {{"nodes": {nodes}, "names": "xyz"}}, "rules": []}}"#
        );
        let text = if nodes == "0" {
            text.replace("xyz", "1")
        } else {
            text
        };
        let error = rules(&text).unwrap_err();
        assert!(
            error.contains("measured_on: ") && error.contains(what),
            "{error}"
        );
    }
}

proptest! {
    /// Never a panic, whatever the file is.
    #[test]
    fn any_text(text in ".{0,200}") {
        let _ = rules(&text);
    }

    /// Valid files with any numbers: either what is wrong is said, or the bounds hold.
    #[test]
    fn any_bounds(min in any::<u64>(), max in any::<u64>(), bytes in any::<u64>(), block in any::<u64>()) {
        let text = format!(
            r#"{{"rules": [{{"collective": "bcast", "algorithm": "binomial",
                "msg_size_min": {min}, "msg_size_max": {max}, "block_bytes": {block}}}]}}"#
        );
        match rules(&text) {
            Err(what) => prop_assert!(min > max || block > 1 << 30, "{}", what),
            Ok(rules) => {
                let inside = (min..=max).contains(&bytes);
                let cut = i64::MAX as u64;
                if bytes < cut {
                    prop_assert_eq!(bcast(&rules, 5, 5, bytes).is_some(), inside && min < cut);
                }
            }
        }
    }

    /// The numbers of a broken rank are no reason to panic either.
    #[test]
    fn any_numbers(numbers in prop::collection::vec(any::<i64>(), 0..40)) {
        let rules = Rules::decode(&numbers);
        let _ = bcast(&rules, 8, 2, 100);
        let _ = rules.hash();
    }
}
