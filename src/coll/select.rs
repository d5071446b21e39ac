//! What comes between the built-in choice and the call: files of rules, and what is measured.

#![forbid(unsafe_code)]

use super::passed::Stays;
use super::{Operation, Plan, carry_out, fatal, trace};
use crate::collective::Collective;
use crate::config::Config;
use crate::decide::{Choice, Problem, Why};
use crate::group::{self, State};
use crate::host::{self, Abi, Code, Failure, Host, Mpi};
use crate::learn::{Candidate, Contest, Trials, Turn};
use crate::report;
use std::ffi::c_int;
use std::time::Instant;

/// A built-in choice that rules or measurement may replace.
#[derive(Clone, Copy)]
pub(super) struct Open {
    /// The number of the call's size class.
    class: u8,
    /// Who has the calls of that class by the built-in choice.
    default: Candidate,
    /// Can it be measured who is fastest?
    is_learnable: bool,
    /// Bytes that the host has to take for that, if all ranks know them.
    bytes: Option<u64>,
}

/// May rules or measurement replace the built-in choice for a call?
#[inline]
pub(super) fn may_change(problem: &impl Problem, choice: Choice, state: &State) -> Option<Open> {
    // Where time is simulated, clocks show nothing.
    let learns = state.config().learn.on && !Abi::BUILT.is_simulated();
    if !choice.is_open() || !learns && state.rules().is_empty() {
        return None;
    }
    let (class, default) = problem.size_class(choice)?;
    Some(Open {
        class: class.number(),
        default,
        is_learnable: learns && problem.learns(choice),
        bytes: problem.bytes(),
    })
}

/// Replaces the built-in choice by what a file of rules says, or by what was measured to be better or is to be
/// measured.
#[inline]
pub(super) fn select<O: Operation>(
    plan: &mut Plan,
    host: &Host,
    mpi: &Mpi,
    state: &State,
    call: &O,
) -> Result<(), Code> {
    let Some(open) = &plan.open else {
        plan.stays = Stays::Always;
        return Ok(());
    };
    let &Open { class, default, .. } = open;
    // The host may not even take a count of that many.
    let is_learnable = open.is_learnable && open.bytes.is_none_or(|bytes| mpi.takes(bytes));
    let choice = plan.choice;
    let collective = call.collective();
    if let Some(ruling) = state.ruling(collective, plan.known) {
        plan.choice = call.ask(plan.known, state, |problem| problem.ruled(ruling));
        plan.stays = Stays::Always;
        return Ok(());
    }
    if !is_learnable {
        plan.stays = Stays::Always;
        return Ok(());
    }
    let mut learnt = state.learnt().lock();
    let question = match learnt.contest(collective, class) {
        Some(contest) => contest.question(),
        None => {
            let prior = call.ask(plan.known, state, |problem| problem.prior(choice));
            let Some(prior) = prior.filter(|_| !learnt.is_full()) else {
                return Ok(()); // such calls follow the built-in choice
            };
            host::with_plain_floats(|| {
                learnt.add(collective, &prior);
            });
            None
        }
    };
    if let Some(own) = question {
        // Not held meanwhile: should the host find an error, the handler of the user's may call us.
        drop(learnt);
        report::enter(collective.mpi_name());
        let slowest = slowest(own, mpi, state).unwrap_or_else(|failure| {
            let what = "while the ranks compared times";
            fatal(mpi, state, call, what, &failure)
        });
        learnt = state.learnt().lock();
        // A handler that came back with success may have called others, after which all ranks forgot it.
        let Some(contest) = learnt.contest(collective, class) else {
            return Ok(());
        };
        judge(contest, slowest, (collective, plan.bytes), host, state);
    }
    if let Some(contest) = learnt.contest(collective, class) {
        take_turn(contest, (class, default), plan, state, call);
        if plan.timed.is_none()
            && let Some(contest) = learnt.grant(collective, class)
        {
            plan.stays = Stays::Granted(contest);
        }
    }
    Ok(())
}

/// Tells a contest the times of the slowest rank, and the network's model what the first of them says of it.
#[cold]
fn judge(
    contest: &mut Contest,
    slowest: [u64; 2],
    (collective, bytes): (Collective, u64),
    host: &Host,
    state: &State,
) {
    let config = state.config();
    let first = contest
        .parties()
        .iter()
        .position(|&party| party == Candidate::First);
    let expected = contest.expected();
    let is_news = host::with_plain_floats(|| contest.agree(slowest, trials(config)));
    if is_news && config.trace {
        trace::verdict(state, host, collective, bytes, contest);
    }
    // A party that has not been timed, or only in calls that failed, has no time.
    let is_timed = |&place: &usize| slowest[place] < i64::MAX as u64;
    if let Some(place) = first.filter(is_timed)
        && is_timed(&0)
        && let Some(expected) = expected
    {
        // Most calls so far were the incumbent's.
        let spent = slowest[0].saturating_mul(contest.calls());
        state.compare(slowest[place], expected, spent);
    }
}

/// Gives the call to whose turn it is in the contest of its size class, of which the rules have a default.
#[inline]
fn take_turn<O: Operation>(
    contest: &mut Contest,
    (class, default): (u8, Candidate),
    plan: &mut Plan,
    state: &State,
    call: &O,
) {
    let turn = contest.begin();
    if turn.candidate != default {
        let reason = match turn.candidate == contest.incumbent() {
            true => Why::Measured,
            false => Why::Trial,
        };
        let choice = match turn.candidate {
            Candidate::Host => Choice::Host(reason),
            Candidate::First | Candidate::Second | Candidate::Third => {
                call.ask(plan.known, state, |problem| {
                    problem.candidate(turn.candidate)
                })
            }
        };
        plan.choice = choice.because(reason);
    }
    // Of this very call: others of its size class may have twice as many bytes, or other parts.
    if turn.timed
        && turn.candidate == Candidate::First
        && let Some(us) = call.ask(plan.known, state, |problem| problem.predicted_us())
    {
        contest.expect(us);
    }
    if turn.timed || state.timed() {
        plan.timed = Some((class, turn));
    }
}

/// How many calls measurements may take.
fn trials(config: &Config) -> Trials {
    Trials {
        calls: config.learn_calls,
        relearn: config.relearn.into(),
    }
}

/// The times of the slowest rank, where this one has its `own`. Collective.
#[cold]
fn slowest(own: [u64; 2], mpi: &Mpi, state: &State) -> Result<[u64; 2], Failure> {
    let mut times = own.map(|time| i64::try_from(time).unwrap_or(i64::MAX));
    state.max(mpi, &mut times)?;
    Ok(times.map(|time| time as u64))
}

/// Carries a call out whose time counts: in a comparison, or in the statistics alone.
#[cold]
pub(super) fn on_trial<O: Operation>(
    (class, turn): (u8, Turn),
    plan: &Plan,
    host: &Host,
    mpi: &Mpi,
    state: &State,
    call: &O,
) -> (c_int, Option<Choice>) {
    let serial = state.serial();
    let start = Instant::now();
    let done = carry_out(plan, host, mpi, state, call);
    let nanos = start.elapsed().as_nanos() as u64;
    if !group::is_alive(serial) {
        return done;
    }
    let choice = done.1.unwrap_or(plan.choice);
    // An error says nothing of speed, nor does a call that the host had for want of room, on all ranks.
    if done.0 != 0 || matches!(choice, Choice::Host(Why::Memory)) {
        return done;
    }
    let mut learnt = state.learnt().lock();
    let collective = call.collective();
    if turn.timed
        && let Some(contest) = learnt.contest(collective, class)
    {
        contest.time(turn, nanos);
    }
    if state.timed() {
        let is_hosts = matches!(choice, Choice::Host(_));
        learnt.spend(collective, class, is_hosts, nanos);
    }
    done
}
