//! From what `rondo tune` measured to rules.

use super::choose::{Candidate, Found, HOST, best, rules};
use rondo::rules::{Rule, merged};

const CIRCULANT: Candidate = Candidate {
    algorithm: "circulant",
    block_bytes: 0,
};

const IN_BLOCKS: Candidate = Candidate {
    algorithm: "circulant",
    block_bytes: 65536,
};

/// Ratios of a candidate in some cases.
fn took(ratios: &[f64]) -> Vec<Option<f64>> {
    ratios.iter().copied().map(Some).collect()
}

#[test]
fn the_host_gives_way_to_the_first_of_those_that_are_faster_on_average_and_slower_nowhere() {
    for (ratios, chosen, why) in [
        (vec![took(&[0.9]), took(&[0.5])], Some(1), "the fastest"),
        (vec![took(&[0.51]), took(&[0.5])], Some(0), "about as good"),
        (vec![took(&[0.6]), took(&[0.5])], Some(1), "not so good"),
        (vec![took(&[0.98])], None, "a difference that may be chance"),
        (
            vec![took(&[1.0]), took(&[0.97])],
            Some(1),
            "the least that is none",
        ),
        (vec![took(&[1.2])], None, "slower"),
        (
            vec![took(&[0.1, 1.1]), took(&[0.9, 1.0])],
            Some(1),
            "slower somewhere",
        ),
        (
            vec![vec![Some(0.1), None]],
            None,
            "it could not have a case",
        ),
        (vec![], None, "no candidate"),
        (vec![vec![]], None, "nothing measured"),
    ] {
        assert_eq!(best(&ratios), chosen, "{why}");
    }
}

fn found(collective: &'static str, size: Option<u64>, candidate: Candidate) -> Found {
    Found {
        collective,
        size,
        candidate,
    }
}

/// The algorithm, the block and the bounds of sizes of each rule.
fn bounds(rules: &[Rule]) -> Vec<(&str, &str, u64, u64, u64)> {
    let row = |rule: &'_ Rule| (rule.block_bytes, rule.msg_size_min, rule.msg_size_max);
    let all = rules.iter().map(|rule| {
        let (block, min, max) = row(rule);
        (&*rule.collective, &*rule.algorithm, block, min, max)
    });
    all.collect()
}

const MOST: u64 = 1 << 53;

#[test]
fn a_choice_holds_halfway_to_the_next_one() {
    let found = [
        found("bcast", Some(256), HOST),
        found("bcast", Some(1024), HOST),
        found("bcast", Some(4096), CIRCULANT),
        found("bcast", Some(16384), IN_BLOCKS),
        found("allgather", Some(1024), CIRCULANT),
        found("gatherv", None, HOST),
    ];
    let rules = rules(&found, 16, 4, 4);
    assert_eq!(
        bounds(&rules),
        [
            ("bcast", "host", 0, 129, 2048),
            ("bcast", "circulant", 0, 2049, 8192),
            ("bcast", "circulant", 65536, 8193, 32768),
            ("allgather", "circulant", 0, 513, 2048),
            ("gatherv", "host", 0, 0, MOST),
        ]
    );
    for rule in &rules {
        let ranks = (rule.comm_size_min, rule.comm_size_max);
        assert_eq!(
            (ranks, (rule.nodes_min, rule.nodes_max)),
            ((16, 16), (4, 4))
        );
    }
}

#[test]
fn rules_for_other_calls_stay() {
    let of = |collective, ranks, nodes| rules(&[found(collective, None, HOST)], ranks, nodes, 4);
    let old = [
        of("bcast", 16, 4),
        of("bcast", 8, 4),
        of("gather", 16, 4),
        of("bcast", 16, 2),
    ];
    let new = rules(&[found("bcast", None, CIRCULANT)], 16, 4, 4);
    assert_eq!(
        merged(&new, old.concat(), Rule::ranks_as),
        [
            new.clone(),
            of("bcast", 8, 4),
            of("gather", 16, 4),
            of("bcast", 16, 2)
        ]
        .concat()
    );
}
