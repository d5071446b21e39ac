//! Rules files: what they say, what is wrong with them, and which rule fits a call.

use proptest::prelude::*;
use rondo::collective::Collective;
use rondo::config::{Algorithm, Setting};
use rondo::rules::{File, Rules, Ruling};

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
    assert!(File::parse("").is_err());
    assert!(File::parse("[]").is_err());
    assert!(File::parse("{}").unwrap_err().contains("rules"));
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
