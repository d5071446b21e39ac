//! From what `rondo tune` measured to rules.

use super::ask::Question;
use super::choose::{Candidate, Found, GAP_SHARES, HOST, best, far, rules};
use rondo::collective::{Collective, Family};
use rondo::config::Config;
use rondo::network::{Network, START};
use rondo::rules::{Rule, merged};

const CIRCULANT: Candidate = Candidate {
    algorithm: "circulant",
    block_bytes: 0,
};

const IN_BLOCKS: Candidate = Candidate {
    algorithm: "circulant",
    block_bytes: 65536,
};

/// What the model says of each algorithm between 36 nodes, whose messages travel for 500 us.
fn far_away(collective: Collective, bytes: u64, gap_us: f64) -> Vec<Option<f64>> {
    let config = Config::default();
    let question = Question {
        collective,
        ranks: 36,
        nodes: 36,
        bytes,
        network: Network {
            alpha_us: Some(500.0),
            gap_us: Some(gap_us),
            ..START
        },
        eager: 32 << 10,
        gamma_ns_per_kb: 0.0,
        placed_bytes: u64::MAX,
        copies_free: false,
        config: &config,
    };
    let answers = question.ask_all().into_iter();
    answers
        .map(|(_, answer)| {
            let answer = answer.ok()?;
            assert!(answer.blocks > 0);
            Some(answer.prediction.us)
        })
        .collect()
}

/// Where messages cost their sender 15 us, and not what is guessed.
#[test]
fn the_fastest_on_a_far_network_is_tried() {
    let mut lost = 0;
    for &collective in Collective::ALL {
        for bytes in [256, 4 << 10, 64 << 10, 1 << 20] {
            let bytes = match collective.family() {
                Family::Barrier => 0,
                _ => bytes,
            };
            let times = far_away(collective, bytes, 15.0);
            let known = (0..times.len()).filter(|&i| times[i].is_some());
            let fastest = known.min_by(|&i, &j| times[i].partial_cmp(&times[j]).expect("times"));
            let fastest = fastest.expect("an algorithm");
            let guesses = GAP_SHARES.map(|share| far_away(collective, bytes, share * 500.0));
            assert!(
                !far(&guesses)[fastest],
                "{collective:?} of {bytes} bytes by {:?}",
                collective.algorithms()[fastest]
            );
            lost += usize::from(far(&guesses[..1])[fastest]);
        }
    }
    assert!(lost > 0, "by the first guess alone some would not be");
}

#[test]
fn what_is_too_slow_by_every_guess_is_not_tried() {
    let guesses = [took(&[1.0, 4.0, 4.0, 2.0]), took(&[9.0, 40.0, 3.0, 3.0])];
    assert_eq!(far(&guesses), [false, true, false, false]);
    assert_eq!(far(&[vec![None, Some(1.0)]]), [false, false]);
}

/// Ratios of a candidate in some cases.
fn took(ratios: &[f64]) -> Vec<Option<f64>> {
    ratios.iter().copied().map(Some).collect()
}

#[test]
fn the_fastest_is_chosen_if_it_is_faster_than_the_host() {
    assert_eq!(best(&[took(&[0.9]), took(&[0.5])]), Some(1));
    assert_eq!(
        best(&[took(&[0.98])]),
        None,
        "a difference that may be chance"
    );
    assert_eq!(best(&[took(&[1.2])]), None);
    assert_eq!(best(&[]), None);
    assert_eq!(best(&[vec![]]), None, "nothing measured");
}

#[test]
fn nobody_is_chosen_who_loses_anywhere() {
    assert_eq!(best(&[took(&[0.1, 1.1]), took(&[0.9, 1.0])]), Some(1));
    assert_eq!(best(&[took(&[0.1, 1.1])]), None);
    assert_eq!(
        best(&[vec![Some(0.1), None]]),
        None,
        "it could not have a case"
    );
}

#[test]
fn of_those_that_are_about_as_good_the_first_is_chosen() {
    assert_eq!(best(&[took(&[0.51]), took(&[0.5])]), Some(0));
    assert_eq!(best(&[took(&[0.6]), took(&[0.5])]), Some(1));
    assert_eq!(
        best(&[took(&[1.0]), took(&[0.97])]),
        Some(1),
        "the host's place needs more"
    );
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
