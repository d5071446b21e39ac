//! What may be learnt, and what the candidates are.

use crate::{
    LEADERS, NODE, NODES, all_broadcast, apart, bcast, broadcast, chosen, config, form_and_blocks,
    full, gather, no_shm, parts, set,
};
use rondo::collective::Collective;
use rondo::config::{Algorithm, Config, Setting};
use rondo::decide::{Choice, Facts, Problem, Why};
use rondo::learn::{Candidate, Prior};

fn of(problem: &impl Problem) -> Option<Prior> {
    problem.prior(problem.choose())
}

fn of_bcast(facts: Facts, bytes: u64, config: &Config) -> Option<Prior> {
    of(&broadcast(facts, bytes, config))
}

fn of_allgather(facts: Facts, sizes: &[u64], setting: Setting, config: &Config) -> Option<Prior> {
    let parts = parts(sizes);
    let config = set(Collective::Allgatherv, setting, config);
    of(&all_broadcast(facts, &parts, &parts, &config))
}

fn of_rooted(facts: Facts, setting: Setting) -> Option<Prior> {
    let config = set(Collective::Gatherv, setting, &Config::default());
    of(&gather(facts, None, &config))
}

#[test]
fn what_the_user_says_is_not_put_to_the_test() {
    let named = [Setting::Host, Setting::Use(Algorithm::Circulant)];
    for setting in named {
        let config = config(|c| c[Collective::Bcast].setting = setting);
        assert!(of_bcast(NODES, 1 << 20, &config).is_none());
        let sizes = [1 << 20; 8];
        assert!(of_allgather(NODES, &sizes, setting, &Config::default()).is_none());
    }
    for setting in [Setting::Host, Setting::Use(Algorithm::Hybrid)] {
        assert!(of_rooted(apart(100), setting).is_none());
    }
    // A minimum is one.
    let min = config(|c| {
        (
            c[Collective::Bcast].min_bytes,
            c[Collective::Allgatherv].min_bytes,
        ) = (Some(5000), Some(5000))
    });
    assert!(of_bcast(NODES, 4999, &min).is_none());
    assert!(of_allgather(NODES, &[100; 8], Setting::Auto, &min).is_none());
    // Above it, Rondo chooses.
    assert!(of_bcast(NODES, 5000, &min).is_some());
    assert!(of_allgather(NODES, &[1000; 8], Setting::Auto, &min).is_some());
}

#[test]
fn nothing_is_learnt_where_there_is_no_choice() {
    let default = Config::default();
    assert!(of_bcast(apart(2), 1 << 20, &default).is_none());
    assert!(of_bcast(NODES, 0, &default).is_none());
    assert!(
        of_bcast(NODE, 1 << 20, &no_shm()).is_none(),
        "no way but the host's"
    );
    assert!(of_rooted(apart(2), Setting::Auto).is_none());
    let off = config(|c| c.enabled = false);
    assert!(of_bcast(NODES, 1 << 20, &off).is_none());
}

/// The further below the minimum, the slower may Rondo be, and the later is it tried.
#[test]
fn short_calls_are_expected_to_be_the_hosts() {
    let ratio = |bytes| of_bcast(NODES, bytes, &Config::default()).unwrap().expected[1].unwrap();
    assert_eq!(ratio(16 << 10), 2.0);
    assert_eq!(ratio(4 << 10), 8.0);
    assert_eq!(ratio(1), 32.0);
}

#[test]
fn sizes_and_distributions_are_told_apart() {
    let default = Config::default();
    let class = |sizes: &[u64]| {
        let prior = of_allgather(NODES, sizes, Setting::Auto, &default);
        prior.unwrap().class
    };
    let one = [8 << 20, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(class(&[1 << 20; 8]), class(&[(1 << 20) + 5; 8]));
    assert_ne!(class(&[1 << 20; 8]), class(&[1 << 21; 8]));
    assert_ne!(class(&[1 << 20; 8]), class(&one));
    let class = |bytes| of_bcast(NODES, bytes, &default).unwrap().class;
    assert_eq!(class(4096), class(8191));
    assert_ne!(class(4096), class(8192));
    assert!((class(u64::MAX) as usize) < rondo::learn::SIZE_CLASSES);
}

#[test]
fn the_first_candidate_is_what_the_rules_would_choose() {
    let default = Config::default();
    for facts in [NODE, NODES, full(4, 4), apart(100)] {
        for bytes in [32 << 10, 1 << 20, 1 << 30] {
            let rules = broadcast(facts, bytes, &default).choose();
            let first = broadcast(facts, bytes, &default).candidate(Candidate::First);
            assert_eq!(first, rules);
            let host = broadcast(facts, bytes, &default).candidate(Candidate::Host);
            assert!(matches!(host, Choice::Host(_)));
        }
        // Below the minimum as well, where the rules have none.
        let first = broadcast(facts, 100, &default).candidate(Candidate::First);
        chosen(first);
    }
    let sizes = parts(&[1 << 20; 8]);
    let rules = all_broadcast(NODES, &sizes, &sizes, &default).choose();
    let first = all_broadcast(NODES, &sizes, &sizes, &default).candidate(Candidate::First);
    assert_eq!(first, rules);
    let first = gather(full(4, 4), Some(8), &default).candidate(Candidate::First);
    assert_eq!(
        (chosen(first), form_and_blocks(first).0),
        (Algorithm::Hybrid, LEADERS)
    );
}

/// Hosts count the bytes of a message in a C `int`.
#[test]
fn no_candidate_has_blocks_that_are_too_long() {
    let default = Config::default();
    for bytes in [1 << 30, 1 << 38, 1 << 40] {
        for candidate in [Candidate::First, Candidate::Second, Candidate::Third] {
            let choice = broadcast(apart(2), bytes, &default).candidate(candidate);
            let (_, blocks) = form_and_blocks(choice);
            assert!(bytes.div_ceil(blocks.into()) <= 1 << 30, "{choice:?}");
        }
    }
}

#[test]
fn a_reason_can_be_given_to_a_choice() {
    let host = Choice::Host(Why::Small).because(Why::Trial);
    assert_eq!(host, Choice::Host(Why::Trial));
    let rondo = bcast(NODES, 1 << 20, &Config::default());
    let Choice::Rondo(method) = rondo.because(Why::Measured) else {
        panic!("{rondo:?}");
    };
    assert_eq!(method.why, Why::Measured);
    assert_eq!(rondo.because(Why::Measured).because(Why::Auto), rondo);
}
