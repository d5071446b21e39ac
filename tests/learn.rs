//! Who is faster, found out by calls whose times are invented: on every rank by a clock of its own.

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};
use rondo::collective::Collective;
use rondo::learn::{Candidate, Contest, Prior, SIZE_CLASSES, Table, Trials};

const TRIALS: Trials = Trials {
    calls: 4,
    relearn: 10_000,
};

fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

fn prior(default: Candidate, [host, first, second]: [Option<f64>; 3]) -> Prior {
    Prior {
        class: 40,
        default,
        expected: [host, first, second, None],
        margin: 0.98,
    }
}

/// Rondo by the built-in choice, and nothing known of the others.
fn rondo_first() -> Prior {
    prior(Candidate::First, [Some(1.1), Some(1.0), Some(1.5)])
}

/// The host by the built-in choice, and Rondo may take this many times as long.
fn host_first(ratio: f64) -> Prior {
    prior(Candidate::Host, [Some(1.0), Some(ratio), None])
}

/// What came of a program.
struct Outcome {
    /// Microseconds of all calls, as long as the slowest rank takes.
    total: f64,
    /// Who had each call.
    calls: Vec<Candidate>,
    /// Reductions.
    questions: u64,
    best: Candidate,
}

/// A program of so many calls on three ranks. `cost` gives the microseconds of a call by its number and who has it;
/// `noise` those that a rank measures on top.
fn run(
    prior: &Prior,
    calls: u64,
    trials: Trials,
    cost: impl Fn(u64, Candidate) -> f64,
    mut noise: impl FnMut(u64) -> f64,
) -> Outcome {
    let mut ranks = vec![Contest::new(prior); 3];
    let (mut total, mut questions, mut who) = (0.0, 0, vec![]);
    for call in 0..calls {
        let own: Vec<Option<[u64; 2]>> = ranks.iter().map(Contest::question).collect();
        let ask = own[0].is_some();
        assert!(own.iter().all(|own| own.is_some() == ask), "all ask alike");
        if ask {
            questions += 1;
            let slowest = |i: usize| own.iter().map(|own| own.unwrap()[i]).max().unwrap();
            let slowest = [slowest(0), slowest(1)];
            for rank in &mut ranks {
                rank.agree(slowest, trials);
            }
        }
        let turns: Vec<_> = ranks.iter_mut().map(Contest::begin).collect();
        assert!(turns.iter().all(|turn| *turn == turns[0]), "all go alike");
        let us = cost(call, turns[0].candidate);
        total += us;
        who.push(turns[0].candidate);
        for (rank, turn) in ranks.iter_mut().zip(turns) {
            if turn.timed {
                rank.time(turn, ((us + noise(call)) * 1000.0) as u64);
            }
        }
    }
    Outcome {
        total,
        calls: who,
        questions,
        best: ranks[0].incumbent(),
    }
}

/// Costs by candidate, the same in every call.
fn fixed(host: f64, first: f64, second: f64) -> impl Fn(u64, Candidate) -> f64 {
    move |_, candidate| [host, first, second, f64::MAX][candidate as usize]
}

#[test]
fn the_fastest_candidate_has_the_calls_in_the_end() {
    for (host, first, second, best) in [
        (100.0, 50.0, 60.0, Candidate::First),
        (100.0, 50.0, 40.0, Candidate::Second),
        (30.0, 50.0, 40.0, Candidate::Host),
        (900.0, 100.0, 500.0, Candidate::First),
        (10.0, 100.0, 100.0, Candidate::Host),
    ] {
        // As long as there may be second thoughts.
        let trials = Trials {
            relearn: 0,
            ..TRIALS
        };
        let costs = fixed(host, first, second);
        let outcome = run(&rondo_first(), 200_000, trials, costs, |_| 0.0);
        assert_eq!(outcome.best, best, "{host} {first} {second}");
        let of_best = outcome.calls.iter().filter(|who| **who == best).count();
        assert!(of_best > 199_000, "{host} {first} {second}: {of_best}");
        let late = &outcome.calls[150_000..];
        assert!(
            late.iter().all(|who| *who == best),
            "{host} {first} {second}"
        );
    }
    for (first, best) in [(20.0, Candidate::First), (500.0, Candidate::Host)] {
        let outcome = run(
            &host_first(3.0),
            2000,
            TRIALS,
            fixed(100.0, first, 0.0),
            |_| 0.0,
        );
        assert_eq!(outcome.best, best);
    }
}

/// What a program of 100 calls loses against the better of host and Rondo: 5 % at the most. This cannot be so where the
/// built-in choice is wrong by more than a factor of 1.7, because six calls go by it before it is given up, nor where
/// the other candidate takes more than six times as long, of which there must be one call to know.
#[test]
fn short_programs_lose_little() {
    for ratio in [0.6, 0.7, 0.9, 0.97, 1.0, 1.03, 1.1, 1.3, 1.9, 2.1, 3.0, 5.0] {
        for second in [0.8, 1.0, 1.2, 1.6] {
            let cost = fixed(100.0 * ratio, 100.0, 100.0 * second);
            let best = 100.0 * (100.0 * ratio).min(100.0);
            let outcome = run(&rondo_first(), 100, TRIALS, cost, |_| 0.0);
            assert!(
                outcome.total <= best / 0.95,
                "{ratio} {second}: {}",
                outcome.total / best
            );
        }
        if ratio > 1.7 {
            continue;
        }
        let cost = fixed(100.0, 100.0 / ratio, 0.0);
        let expected = (1.0 / ratio).max(1.0);
        let outcome = run(&host_first(expected), 100, TRIALS, cost, |_| 0.0);
        let best = 100.0 * (100.0 / ratio).min(100.0);
        assert!(
            outcome.total <= best / 0.95,
            "{ratio}: {}",
            outcome.total / best
        );
    }
}

/// Trials of what is expected to be slow come late enough to be paid for.
#[test]
fn a_trial_waits_until_it_costs_a_twentieth() {
    for ratio in [2.0, 4.0, 10.0, 32.0] {
        let outcome = run(
            &host_first(ratio),
            5000,
            TRIALS,
            fixed(1.0, ratio, 0.0),
            |_| 0.0,
        );
        let first = outcome
            .calls
            .iter()
            .position(|who| *who == Candidate::First);
        let before = first.expect("is tried") as f64;
        assert!(
            (ratio - 1.0) / (before + 1.0) <= 0.0501,
            "{ratio}: call {before}"
        );
        assert!(before < 21.0 * ratio, "{ratio}: call {before}");
        assert!(outcome.total <= 5000.0 * 1.02);
    }
}

/// Reductions are few: three for each comparison at the most, and five comparisons for each of two challengers.
#[test]
fn the_ranks_agree_rarely() {
    for (host, second) in [(100.0, 100.0), (300.0, 100.0), (300.0, 300.0), (10.0, 10.0)] {
        let outcome = run(
            &rondo_first(),
            9000,
            TRIALS,
            fixed(host, 100.0, second),
            |_| 0.0,
        );
        assert!(
            (1..=30).contains(&outcome.questions),
            "{}",
            outcome.questions
        );
    }
}

/// One call that is late by chance decides nothing for good, whichever it is.
#[test]
fn a_single_slow_call_does_not_decide() {
    for slow in 0..40 {
        for (host, best) in [
            (150.0, Candidate::First),
            (60.0, Candidate::Host),
            (400.0, Candidate::First),
        ] {
            let noise = move |call: u64| if call == slow { 5000.0 } else { 0.0 };
            let outcome = run(
                &rondo_first(),
                2500,
                TRIALS,
                fixed(host, 100.0, 130.0),
                noise,
            );
            assert_eq!(outcome.best, best, "host {host}, call {slow} late");
        }
    }
}

/// The first call of a way finds cold caches, and connections that are still to be made. It costs the way no more than
/// a second look, behind a call that warms caches, which comes when all three are paid for.
#[test]
fn a_first_call_does_not_condemn() {
    for (slow, look) in [(2.0, 103), (5.0, 403), (16.0, 1503), (1000.0, 1503)] {
        let cold = std::cell::Cell::new(true);
        let cost = |_, who: Candidate| match who {
            Candidate::Host if cold.take() => 100.0 * slow,
            Candidate::Host => 50.0,
            _ => 100.0,
        };
        let prior = prior(Candidate::First, [Some(1.1), Some(1.0), None]);
        let outcome = run(&prior, 2000, TRIALS, cost, |_| 0.0);
        let of_host = |&who: &Candidate| who == Candidate::Host;
        let calls = &outcome.calls;
        assert_eq!(calls.iter().position(of_host), Some(2));
        let second = calls.iter().skip(3).position(of_host).expect("a look") + 3;
        assert!((look..look + 10).contains(&second), "{slow}: {second}");
        // Then there is a race.
        let after = &calls[second + 70..second + 100];
        assert!(after.iter().all(of_host), "{slow}");
    }
}

/// What a single call showed is not known, be it slow, or fast and followed by a race: no other size begins with it,
/// and no rule is made of it.
#[test]
fn what_is_not_confirmed_is_not_known() {
    let knows = |contest: &Contest| contest.times().iter().any(Option::is_some);
    for (host, verdict) in [(900_000, 803), (50_000, 9)] {
        let mut contest = Contest::new(&prior(Candidate::First, [Some(1.1), Some(1.0), None]));
        let cost = |_, candidate| match candidate {
            Candidate::Host => host,
            Candidate::First | Candidate::Second | Candidate::Third => 100_000,
        };
        let calls = alone(&mut contest, 4, |_| false, cost);
        assert_eq!(calls[2], Candidate::Host);
        assert!(!knows(&contest), "{host}");
        alone(&mut contest, verdict - 5, |_| false, cost);
        assert!(!knows(&contest), "{host}");
        alone(&mut contest, 20, |_| false, cost);
        assert!(knows(&contest), "{host}");
    }
}

/// Who is slow again is out for long.
#[test]
fn a_second_slow_call_condemns() {
    for slow in [2.0, 5.0, 16.0] {
        let costs = fixed(100.0 * slow, 100.0, f64::MAX);
        let prior = prior(Candidate::First, [Some(1.1), Some(1.0), None]);
        let outcome = run(&prior, 1500, TRIALS, costs, |_| 0.0);
        let tried = outcome.calls.iter().filter(|&&who| who == Candidate::Host);
        assert!(tried.count() <= 6, "{slow}");
        assert!(outcome.total <= 1500.0 * 100.0 / 0.95, "{slow}");
    }
}

/// A network that changes is noticed after RONDO_RELEARN calls. With 0 it is not when the last of the second thoughts
/// is over.
#[test]
fn what_changes_is_learnt_again() {
    let cost = |call: u64, who: Candidate| match (who, call < 30_000) {
        (Candidate::Host, true) => 130.0,
        (Candidate::Host, false) => 20.0,
        _ => 100.0,
    };
    for (relearn, best) in [(1000, Candidate::Host), (0, Candidate::First)] {
        let trials = Trials { calls: 4, relearn };
        let outcome = run(&rondo_first(), 40_000, trials, cost, |_| 0.0);
        assert_eq!(outcome.best, best, "relearn {relearn}");
    }
}

#[test]
fn one_trial_is_enough_if_the_user_says_so() {
    let trials = Trials {
        calls: 1,
        relearn: 0,
    };
    for (host, best) in [(90.0, Candidate::Host), (110.0, Candidate::First)] {
        let outcome = run(
            &rondo_first(),
            300,
            trials,
            fixed(host, 100.0, 105.0),
            |_| 0.0,
        );
        assert_eq!(outcome.best, best);
        let tried = outcome.calls.iter().filter(|who| **who != best).count();
        assert!(tried <= 6, "{tried}");
    }
}

proptest! {
    /// Ranks agree on everything whatever their clocks show, and the choice is right where the difference is larger
    /// than the noise.
    #[test]
    fn noisy_clocks(host in 20.0f64..500.0, first in 20.0f64..500.0, jitter in 0.0f64..30.0, seed in any::<u64>()) {
        let mut rng = rng(seed);
        let prior = prior(Candidate::First, [Some(1.1), Some(1.0), None]);
        let noise = |_| rng.random_range(0.0..=1.0) * jitter;
        let outcome = run(&prior, 3000, TRIALS, fixed(host, first, 0.0), noise);
        let faster = if host < first { Candidate::Host } else { Candidate::First };
        let (least, most) = (host.min(first), host.max(first));
        if least + jitter < 0.9 * most {
            prop_assert_eq!(outcome.best, faster);
        }
        let chosen = if outcome.best == Candidate::Host { host } else { first };
        prop_assert!(chosen <= (least + jitter) / 0.9, "{} of {} and {}", chosen, host, first);
    }
}

/// The contest for these calls, made if this is the first.
fn contest_of<'a>(
    table: &'a mut Table,
    collective: Collective,
    prior: &Prior,
) -> Option<&'a mut Contest> {
    if table.contest(collective, prior.class).is_none() {
        table.add(collective, prior);
    }
    table.contest(collective, prior.class)
}

/// What is known of one size is a guess for the next.
#[test]
fn a_neighbour_gives_the_expected_ratio() {
    let mut table = Table::default();
    let of_class = |class| Prior {
        class,
        ..rondo_first()
    };
    let next_trial_of_host = |table: &mut Table, prior: &Prior, host: u64| {
        for call in 1..1000 {
            let contest = contest_of(table, Collective::Bcast, prior).unwrap();
            if let Some(own) = contest.question() {
                contest.agree(own, TRIALS);
            }
            let turn = contest.begin();
            let nanos = if turn.candidate == Candidate::Host {
                host
            } else {
                1000
            };
            if turn.timed {
                contest.time(turn, nanos);
            }
            if turn.candidate == Candidate::Host && turn.timed {
                // On to the verdict.
                let contest = contest_of(table, Collective::Bcast, prior).unwrap();
                let own = contest.question().unwrap();
                contest.agree(own, TRIALS);
                return call;
            }
        }
        unreachable!("the host is never tried");
    };
    // A first call says nothing of other sizes.
    assert_eq!(next_trial_of_host(&mut table, &of_class(40), 9000), 3);
    assert_eq!(next_trial_of_host(&mut table, &of_class(42), 9000), 3);
    // A second one does. Nine times as long: eight calls more are 5 % of 160.
    next_trial_of_host(&mut table, &of_class(40), 9000);
    assert_eq!(next_trial_of_host(&mut table, &of_class(38), 9000), 160);
    // Another size and another collective are other matters.
    let contest = contest_of(&mut table, Collective::Bcast, &of_class(60)).unwrap();
    let turns: Vec<_> = (0..3).map(|_| contest.begin().candidate).collect();
    assert_eq!(turns[2], Candidate::Host);
    let contest = contest_of(&mut table, Collective::Allgatherv, &of_class(42)).unwrap();
    let turns: Vec<_> = (0..3).map(|_| contest.begin().candidate).collect();
    assert_eq!(turns[2], Candidate::Host);
}

/// Broadcasts that take the host so many nanoseconds, and Rondo 1000.
fn broadcasts(table: &mut Table, class: u8, host: u64) {
    let prior = Prior {
        class,
        ..rondo_first()
    };
    for _ in 0..800 {
        let contest = contest_of(table, Collective::Bcast, &prior).unwrap();
        if let Some(own) = contest.question() {
            contest.agree(own, TRIALS);
        }
        let turn = contest.begin();
        let nanos = match turn.candidate {
            Candidate::Host => host,
            Candidate::First | Candidate::Second | Candidate::Third => 1000,
        };
        contest.time(turn, nanos);
    }
}

/// What an uneven distribution showed says nothing of an even one, though the numbers of their classes are next to each
/// other.
#[test]
fn a_neighbour_is_of_the_same_distribution() {
    let mut table = Table::default();
    let (even, uneven) = (40, 43);
    broadcasts(&mut table, even, 5000);
    broadcasts(&mut table, uneven, 500);
    for (class, faster) in [(42, Candidate::First), (41, Candidate::Host)] {
        let prior = Prior {
            class,
            ..rondo_first()
        };
        let contest = contest_of(&mut table, Collective::Bcast, &prior).unwrap();
        assert_eq!(contest.begin().candidate, faster, "{class}");
    }
}

/// Where nearby sizes were clearly faster in one way, that is where a size begins, whatever the built-in choice is.
#[test]
fn a_clear_neighbour_names_who_begins() {
    for (host, faster) in [(5000, Candidate::First), (500, Candidate::Host)] {
        let mut table = Table::default();
        let of_class = |class, prior| Prior { class, ..prior };
        broadcasts(&mut table, 40, host);
        for (prior, near, far) in [(rondo_first(), 38, 20), (host_first(4.0), 42, 60)] {
            let mut begins_with = |class| {
                let prior = of_class(class, prior);
                let contest = contest_of(&mut table, Collective::Bcast, &prior).unwrap();
                contest.begin().candidate
            };
            assert_eq!(begins_with(near), faster);
            assert_eq!(begins_with(far), prior.default, "the built-in choice is it");
        }
    }
}

/// A trial waits until it costs a twentieth, whatever calls take; where Rondo begins, the host has its turn soon.
#[test]
fn a_first_trial_waits_for_its_share() {
    assert_eq!(first_trial(&host_first(2.0), 1000), Some(20));
    assert_eq!(first_trial(&host_first(2.0), 1_000_000), Some(20));
    assert_eq!(first_trial(&rondo_first(), 1000), Some(3));
}

/// The call that is the first of another candidate than began, if calls take so many nanoseconds.
fn first_trial(prior: &Prior, nanos: u64) -> Option<u64> {
    let mut table = Table::default();
    let mut began = None;
    (1..100_000).find(|_| {
        let contest = contest_of(&mut table, Collective::Bcast, prior).unwrap();
        if let Some(own) = contest.question() {
            contest.agree(own, TRIALS);
        }
        let turn = contest.begin();
        contest.time(turn, nanos);
        turn.candidate != *began.get_or_insert(turn.candidate)
    })
}

/// What calls saved is told by the mean of all calls of Rondo's, not by the few that were compared, and by that of the
/// host's, without the first. It may be less than nothing.
#[test]
fn what_calls_save_is_what_all_of_them_took() {
    for (own, saved) in [(1000, 10 * 3000 - 10_000), (4000, 10 * 3000 - 40_000)] {
        let mut table = table_with(&[40]);
        for nanos in [90_000, 2000, 4000] {
            table.spend(Collective::Gatherv, 40, true, nanos);
        }
        for nanos in [own / 2, own * 3 / 2].repeat(5) {
            table.spend(Collective::Gatherv, 40, false, nanos);
        }
        assert_eq!(taken(&mut table), (10, saved), "{own}");
        assert_eq!(taken(&mut table), (0, 0), "each call is accounted for once");
    }
}

/// A single call of the host's says nothing; a second one, of the calls before it as well.
#[test]
fn what_calls_save_is_known_once_the_host_had_two() {
    let mut table = table_with(&[40, 42]);
    table.spend(Collective::Gatherv, 40, false, 1000);
    table.spend(Collective::Gatherv, 40, true, 90_000);
    table.spend(Collective::Gatherv, 42, true, 3000);
    assert_eq!(taken(&mut table), (0, 0), "other sizes are another matter");
    table.spend(Collective::Gatherv, 40, true, 3000);
    table.spend(Collective::Gatherv, 40, false, 1000);
    assert_eq!(taken(&mut table), (2, 4000));
    // It is still known when another size is forgotten.
    table.forget(|_, class| class == 42);
    table.spend(Collective::Gatherv, 40, false, 1000);
    assert_eq!(taken(&mut table), (1, 2000));
    table.forget(|_, class| class == 40);
    table.spend(Collective::Gatherv, 40, false, 1000);
    assert_eq!(taken(&mut table), (0, 0));
}

/// A table with gathers of these size classes.
fn table_with(classes: &[u8]) -> Table {
    let mut table = Table::default();
    for &class in classes {
        let prior = Prior {
            class,
            ..rondo_first()
        };
        table.add(Collective::Gatherv, &prior).expect("room");
    }
    table
}

/// The calls of gathers and the nanoseconds that they saved.
fn taken(table: &mut Table) -> (u64, i64) {
    let mut all = (0, 0);
    table.take_saved(|collective, saved| {
        assert_eq!(collective, Collective::Gatherv);
        all = (all.0 + saved.calls, all.1 + saved.nanos);
    });
    all
}

/// Rondo's other ways have no turn where the host has the calls because they were its own nearby.
#[test]
fn other_ways_wait_with_the_first() {
    let mut table = Table::default();
    broadcasts(&mut table, 40, 500);
    let prior = Prior {
        class: 38,
        ..rondo_first()
    };
    let contest = table.add(Collective::Bcast, &prior).unwrap();
    let cost = |_, candidate| match candidate {
        Candidate::Host => 1000,
        Candidate::First | Candidate::Second | Candidate::Third => 2500,
    };
    let calls = alone(contest, 300, |_| false, cost);
    assert!(!calls.contains(&Candidate::Second), "{calls:?}");
}

/// Second thoughts: whoever lost its place by chance has it back soon.
#[test]
fn a_lost_place_is_fought_for_again() {
    // The second way is slower, but for the calls of the first comparison, which all went well by chance.
    let prior = prior(Candidate::First, [None, Some(1.0), Some(1.5)]);
    for lucky in [95.0, 80.0, 50.0] {
        let cost = |call: u64, who: Candidate| match who {
            Candidate::Second if call < 20 => lucky,
            Candidate::Second => 180.0,
            _ => 100.0,
        };
        let outcome = run(&prior, 200, TRIALS, cost, |_| 0.0);
        assert_eq!(outcome.best, Candidate::First, "{lucky}");
    }
}

/// And again, if the first hundreds of calls were unlike all that follow.
#[test]
fn a_beginning_does_not_decide_for_ever() {
    for unlike in [50, 150, 300, 600] {
        let cost = |call: u64, who: Candidate| match who {
            Candidate::Host if call < unlike => 90.0,
            Candidate::Host => 180.0,
            _ => 100.0,
        };
        let outcome = run(&rondo_first(), 12 * unlike + 1000, TRIALS, cost, |_| 0.0);
        assert_eq!(outcome.best, Candidate::First, "{unlike}");
    }
}

/// A network may let the first bytes after a pause pass faster than it can go on; links of the cloud do, and so do
/// token buckets. Who needs much of it seems to be fast, in single calls between those of others.
#[test]
fn credit_of_the_network_does_not_decide() {
    let mut credit = 2;
    let mut ranks = Contest::new(&prior(Candidate::First, [None, Some(1.0), Some(1.5)]));
    for _ in 0..500 {
        if let Some(own) = ranks.question() {
            ranks.agree(own, TRIALS);
        }
        let turn = ranks.begin();
        let nanos = match turn.candidate {
            Candidate::Second if credit > 0 => {
                credit -= 1;
                90
            }
            Candidate::Second => 300,
            _ => {
                credit = 2;
                100
            }
        };
        if turn.timed {
            ranks.time(turn, nanos);
        }
    }
    assert_eq!(ranks.incumbent(), Candidate::First);
}

/// What counts is how long calls take on the average: one in five that is fast does not make a candidate fast.
#[test]
fn luck_is_no_speed() {
    for seed in 0..20 {
        let lucky = |call: u64| (call.wrapping_mul(2_654_435_761) >> 7).wrapping_add(seed) % 5 == 0;
        let cost = |call: u64, who: Candidate| match who {
            Candidate::Host if lucky(call) => 350.0,
            Candidate::Host => 1300.0,
            _ => 500.0,
        };
        let outcome = run(&host_first(8.0), 3000, TRIALS, cost, |_| 0.0);
        assert_eq!(outcome.best, Candidate::First, "{seed}");
    }
}

/// Comparisons do not keep step with the calls, so nobody always has the long ones.
#[test]
fn a_pattern_of_long_and_short_calls_does_not_decide_for_ever() {
    for pattern in [
        &[10.0, 1.0][..],
        &[1.0, 10.0],
        &[20.0, 1.0],
        &[1.0, 1.0, 20.0],
    ] {
        for (host, first, best) in [
            (100.0, 300.0, Candidate::Host),
            (300.0, 100.0, Candidate::First),
        ] {
            let cost = |call: u64, who| {
                pattern[call as usize % pattern.len()] * fixed(host, first, f64::MAX)(call, who)
            };
            let prior = prior(Candidate::First, [Some(1.1), Some(1.0), None]);
            let outcome = run(&prior, 50_000, TRIALS, cost, |_| 0.0);
            let of_best = outcome.calls.iter().filter(|who| **who == best).count();
            assert!(of_best > 40_000, "{pattern:?} {host} {first}: {of_best}");
        }
    }
}

#[test]
fn a_table_is_small_however_many_size_classes_there_are() {
    let mut table = Table::default();
    let mut taken = 0;
    // Of all collectives, which is more than many classes of one.
    for class in 0..SIZE_CLASSES as u8 {
        for &collective in Collective::ALL {
            let prior = Prior {
                class,
                ..rondo_first()
            };
            taken += usize::from(contest_of(&mut table, collective, &prior).is_some());
            table.spend(collective, class, false, 1);
        }
    }
    let bytes = table.bytes() + size_of::<Table>();
    assert!(taken >= 40, "{taken}");
    assert!(bytes <= 14 << 10, "{bytes}");
}

/// The answers of a job of one rank whose calls take what `cost` says; a call of the numbers in `failed` ends with an
/// error and is not timed.
fn alone(
    contest: &mut Contest,
    calls: u64,
    failed: impl Fn(u64) -> bool,
    cost: impl Fn(u64, Candidate) -> u64,
) -> Vec<Candidate> {
    (0..calls)
        .map(|call| {
            if let Some(own) = contest.question() {
                contest.agree(own.map(|time| time.min(i64::MAX as u64)), TRIALS);
            }
            let turn = contest.begin();
            if turn.timed && !failed(call) {
                contest.time(turn, cost(call, turn.candidate));
            }
            turn.candidate
        })
        .collect()
}

/// The best way is slow at the start, so the host has the calls; when it is fast, the other ways have their turn again.
#[test]
fn ways_that_were_never_tried_come_back_when_the_host_loses_the_calls() {
    let mut contest = Contest::new(&rondo_first());
    let cost = |call, candidate| match candidate {
        Candidate::Host => 100_000,
        Candidate::First if call < 20 => 300_000,
        Candidate::First => 80_000,
        Candidate::Second | Candidate::Third => 40_000,
    };
    let calls = alone(&mut contest, 200_000, |_| false, cost);
    assert!(calls[..30].contains(&Candidate::Host));
    assert_eq!(contest.incumbent(), Candidate::Second);
}

/// A rank whose call failed has no time. That is no time of many years.
#[test]
fn a_call_that_fails_decides_nothing() {
    for who in [Candidate::Host, Candidate::First] {
        let mut contest = Contest::new(&host_first(1.0));
        let cost = |_, candidate| match candidate {
            Candidate::Host => 100_000,
            Candidate::First | Candidate::Second | Candidate::Third => 50_000,
        };
        // The first comparison of one of them fails.
        let first = alone(&mut contest.clone(), 1000, |_| false, cost);
        let trial = first.iter().position(|&it| it == Candidate::First);
        let trial = trial.expect("a trial") as u64;
        let failed = |call| match who {
            Candidate::Host => call < trial,
            _ => call == trial,
        };
        alone(&mut contest, 10_000, failed, cost);
        assert_eq!(contest.incumbent(), Candidate::First, "{who:?} failed");
        assert!(
            contest
                .times()
                .iter()
                .flatten()
                .all(|&time| time <= 100_000)
        );
    }
}

#[test]
fn contests_are_forgotten_one_by_one() {
    let mut table = Table::default();
    for class in [10, 20, 30] {
        let prior = Prior {
            class,
            ..rondo_first()
        };
        let contest = table.add(Collective::Bcast, &prior).expect("room");
        for _ in 0..u64::from(class) {
            contest.begin();
        }
    }
    table.forget(|_, class| class == 20);
    let calls =
        |table: &mut Table, class| table.contest(Collective::Bcast, class).map(|it| it.calls());
    assert_eq!(calls(&mut table, 10), Some(10));
    assert_eq!(calls(&mut table, 20), None);
    assert_eq!(calls(&mut table, 30), Some(30));
    let prior = Prior {
        class: 20,
        ..rondo_first()
    };
    table.add(Collective::Bcast, &prior).expect("room");
    assert_eq!(calls(&mut table, 20), Some(0));
    assert_eq!(calls(&mut table, 30), Some(30));
}

/// The least and the most that the model expected are those of the calls that are compared, by the model as it is.
#[test]
fn what_is_expected_is_that_of_the_calls_that_are_compared() {
    let mut table = table_with(&[40]);
    let contest = |table: &mut Table| table.contest(Collective::Gatherv, 40).unwrap().clone();
    assert_eq!(contest(&mut table).expected(), None);
    let inner = table.contest(Collective::Gatherv, 40).unwrap();
    for us in [7.0, 5.0, 9.0] {
        inner.expect(us);
    }
    assert_eq!(inner.expected(), Some((5.0, 9.0)));
    // Figures of the network are others now.
    table.forget(|_, _| false);
    assert_eq!(contest(&mut table).expected(), None);
    let mut inner = contest(&mut table);
    inner.expect(7.0);
    // Another comparison.
    while inner.question().is_none() {
        inner.begin();
    }
    inner.agree([1000, 5000], TRIALS);
    assert_eq!(inner.expected(), None);
}

/// Costs of four candidates, each in every place, and so much of the best one's apart.
fn orders(step: f64) -> Vec<[f64; 4]> {
    let places = || 0..4;
    let all = places().flat_map(|host| {
        places().flat_map(move |first| places().map(move |second| [host, first, second]))
    });
    let differ =
        |[host, first, second]: &[u8; 3]| host != first && first != second && second != host;
    all.filter(differ)
        .map(|[host, first, second]| {
            let third = 6 - host - first - second;
            [host, first, second, third].map(|place| 100.0 * (1.0 + step * f64::from(place)))
        })
        .collect()
}

/// After 20 calls the choice is within 3 % of the best of all candidates, whoever begins, and whichever is the best;
/// 21 where the others were expected to be slower by half. It takes longer where Rondo's best way is not its first, and
/// the MPI library is between the two: then it had to be expected that the others are not worth a trial yet.
#[test]
fn the_best_of_four_is_found_in_twenty_calls() {
    for (others, soon) in [(1.1, 20), (1.5, 21)] {
        for default in [Candidate::First, Candidate::Host] {
            for step in [0.06, 0.1, 0.15, 0.2, 0.3] {
                for costs in orders(step) {
                    let prior = Prior {
                        expected: [1.1, 1.1, others, others].map(Some),
                        default,
                        ..rondo_first()
                    };
                    let [host, first, ..] = costs;
                    let is_between = host > 100.0 && host < first;
                    let calls = if is_between { 40 } else { soon };
                    for seed in 0..10 {
                        let mut rng = rng(seed);
                        let noise = |_| rng.random_range(0.0..=3.0);
                        let cost = |_, who: Candidate| costs[who as usize];
                        // The ranks agree before the call behind these.
                        let outcome = run(&prior, calls + 1, TRIALS, cost, noise);
                        assert!(
                            costs[outcome.best as usize] <= 103.0,
                            "{default:?} {others} {costs:?}, seed {seed}: {:?}",
                            outcome.best
                        );
                    }
                }
            }
        }
    }
}

/// Where the MPI library beats Rondo's first way by little, another one of Rondo's may still beat both. Where it takes
/// twice as long, no other one is tried.
#[test]
fn a_first_way_that_is_near_does_not_keep_others_from_their_turn() {
    for (first, is_tried) in [(150.0, true), (250.0, false)] {
        for default in [Candidate::First, Candidate::Host] {
            let prior = Prior {
                expected: [Some(1.1), Some(1.1), Some(1.1), None],
                default,
                ..rondo_first()
            };
            let outcome = run(&prior, 2000, TRIALS, fixed(100.0, first, 60.0), |_| 0.0);
            assert_eq!(
                outcome.calls.contains(&Candidate::Second),
                is_tried,
                "{default:?} {first}"
            );
            let best = if is_tried {
                Candidate::Second
            } else {
                Candidate::Host
            };
            assert_eq!(outcome.best, best, "{default:?} {first}");
        }
    }
}

/// Where all may take about as long as who begins, each is tried at once.
#[test]
fn every_challenger_that_costs_little_has_a_call_soon() {
    let prior = Prior {
        expected: [1.1; 4].map(Some),
        ..rondo_first()
    };
    let mut contest = Contest::new(&prior);
    let mut seen = vec![];
    for _ in 0..20 {
        if let Some(own) = contest.question() {
            contest.agree(own, TRIALS);
        }
        let turn = contest.begin();
        if !seen.contains(&turn.candidate) {
            seen.push(turn.candidate);
        }
        contest.time(turn, 100_000);
    }
    assert_eq!(seen.len(), 4);
    assert_eq!(seen[0], Candidate::First);
}
