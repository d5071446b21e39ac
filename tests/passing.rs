//! Calls that are passed on without a question: ranks that remember different ones count alike.

#![forbid(unsafe_code)]

use rondo::collective::Collective;
use rondo::learn::{Candidate, Prior, Recurring, Table, Trials};
use std::sync::Arc;

const TRIALS: Trials = Trials {
    calls: 4,
    relearn: 10_000,
};

const CLASS: u8 = 12;

fn table() -> Table {
    let mut table = Table::default();
    let prior = Prior {
        class: CLASS,
        default: Candidate::Host,
        expected: [Some(1.0), Some(1.2), None, None],
        margin: 0.98,
    };
    table.add(Collective::Bcast, &prior);
    table
}

/// A call of a rank, by what it remembers or by its table. Who has it, and was that remembered?
fn call(table: &mut Table, what: &Recurring, nanos: [u64; 2]) -> (Candidate, bool) {
    let passing = Arc::clone(table.passing());
    if passing.passes(what, 1).is_some() {
        return (Candidate::Host, true);
    }
    let contest = table.contest(Collective::Bcast, CLASS).unwrap();
    if contest.question().is_some() {
        contest.agree(nanos, TRIALS);
    }
    let turn = contest.begin();
    if turn.timed {
        let own = usize::from(turn.candidate != contest.incumbent());
        contest.time(turn, nanos[own]);
    } else if let Some(place) = table.grant(Collective::Bcast, CLASS) {
        passing.keep(what, 1, 3, Some(place));
    }
    (turn.candidate, false)
}

/// Whatever of several calls of one size class each rank makes in turn, the same rank has the same call, and the ranks
/// ask each other before the same ones.
#[test]
fn ranks_that_remember_different_calls_count_alike() {
    // The host is faster, so that it has most of them.
    let nanos = [100, 130];
    let what = |rank: u64, i: u64| Recurring([0, 8 + i * rank % 5, 1, 0]);
    let mut tables = [table(), table(), table()];
    let mut remembered = [0; 3];
    for i in 0..5000 {
        let said: Vec<_> = (0..3u64)
            .map(|rank| {
                let (who, known) = call(&mut tables[rank as usize], &what(rank, i), nanos);
                remembered[rank as usize] += u64::from(known);
                who
            })
            .collect();
        assert!(said.iter().all(|who| *who == said[0]), "call {i}: {said:?}");
    }
    assert!(
        remembered.iter().all(|&calls| calls > 3000),
        "{remembered:?}"
    );
    let calls = tables.map(|mut table| table.contest(Collective::Bcast, CLASS).unwrap().calls());
    assert_eq!(calls, [5000; 3]);
}

#[test]
fn a_call_passes_while_all_is_as_it_was() {
    let table = Table::default();
    let passing = table.passing();
    let what = Recurring([1, 8, 2, 3]);
    assert_eq!(passing.passes(&what, 7), None, "nothing is known");
    passing.keep(&what, 7, 5, None);
    for _ in 0..100 {
        assert_eq!(passing.passes(&what, 7), Some((5, false)));
    }
    assert_eq!(
        passing.passes(&what, 8),
        None,
        "other figures of the network"
    );
    for i in 0..4 {
        let mut other = what;
        other.0[i] += 1;
        assert_eq!(passing.passes(&other, 7), None, "another argument, {i}");
    }
    passing.forget();
    assert_eq!(passing.passes(&what, 7), None);
}

/// A call that one rank alone makes, and whose library refuses it, is none of those that were granted.
#[test]
fn a_call_that_is_taken_out_again_was_not_counted() {
    let nanos = [100, 130];
    let what = Recurring([0; 4]);
    let (mut one, mut other) = (table(), table());
    let mut taken_out = 0;
    for i in 0..5000 {
        let passing = Arc::clone(one.passing());
        if i % 7 == 0 && passing.passes(&what, 1).is_some() {
            passing.take_out(&what);
            taken_out += 1;
        }
        let (alone, _) = call(&mut one, &what, nanos);
        assert_eq!(alone, call(&mut other, &what, nanos).0, "call {i}");
    }
    assert!(taken_out > 500, "{taken_out}");
}

/// What is forgotten was counted.
#[test]
fn calls_that_passed_are_counted_when_contests_are_forgotten() {
    let mut table = table();
    let what = Recurring([0; 4]);
    for _ in 0..50 {
        call(&mut table, &what, [100, 130]);
    }
    table.forget(|_, _| false);
    assert_eq!(table.passing().passes(&what, 1), None);
    let contest = table.contest(Collective::Bcast, CLASS).unwrap();
    assert_eq!(contest.calls(), 50);
}

#[test]
fn a_contest_grants_the_hosts_calls_alone() {
    let mut table = table();
    let mut said = vec![];
    // Rondo is twice as fast, and has them soon.
    for _ in 0..300 {
        let contest = table.contest(Collective::Bcast, CLASS).unwrap();
        let nanos = match contest.incumbent() == Candidate::Host {
            true => [100, 50],
            false => [50, 100],
        };
        said.push(call(&mut table, &Recurring([0; 4]), nanos));
    }
    let first = said
        .iter()
        .position(|(who, _)| *who == Candidate::First)
        .unwrap();
    assert!(
        said[first..]
            .iter()
            .all(|(who, known)| !known || *who == Candidate::Host)
    );
    let rondos = said
        .iter()
        .filter(|(who, _)| *who == Candidate::First)
        .count();
    assert!(rondos > 100, "{rondos}");
}

/// Two kinds of calls in turn, whatever they are, are soon both remembered, though others were before: with one place
/// for each, some would put each other out in every call.
#[test]
fn two_kinds_of_calls_in_turn_are_remembered() {
    let table = table();
    let passing = table.passing();
    for bytes in 0..500 {
        for other in 0..64 {
            passing.keep(&Recurring([9, other, 1, 7]), 1, 3, None);
        }
        let calls = [Recurring([0, 8, 1, 0]), Recurring([3, bytes, 1, 7])];
        let mut missed = 0;
        for call in calls.iter().cycle().take(60) {
            if passing.passes(call, 1).is_none() {
                passing.keep(call, 1, 3, None);
                missed += 1;
            }
        }
        assert!(missed < 12, "{bytes}: {missed} of 60");
        for call in &calls {
            let known = passing.passes(call, 1);
            assert_eq!(known, Some((3, false)), "{bytes}: {call:?}");
        }
    }
}

/// What is remembered by another number of what is known, or was forgotten, gives way to what is asked now.
#[test]
fn what_is_outdated_gives_its_place_away() {
    let table = table();
    let passing = table.passing();
    let calls: Vec<_> = (0..16).map(|i| Recurring([0, 1 << i, 1, 0])).collect();
    for call in &calls {
        passing.keep(call, 1, 3, None);
    }
    let known = |edition| {
        calls
            .iter()
            .filter(|call| passing.passes(call, edition).is_some())
            .count()
    };
    assert!(known(1) >= 8, "{}", known(1));
    assert_eq!(known(2), 0);
    for call in &calls[..2] {
        passing.keep(call, 2, 4, None);
    }
    assert_eq!(known(2), 2);
    passing.forget();
    assert_eq!((known(1), known(2)), (0, 0));
}
