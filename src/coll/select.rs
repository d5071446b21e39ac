//! What comes between the decision by rules and the call: files of rules, and what is measured.

#![forbid(unsafe_code)]

use super::nodes::settle;
use super::{Operation, Plan, Stop, carry_out, fatal};
use crate::comm::{self, State};
use crate::decide::{Choice, Problem, SET_UP_US, Why};
use crate::host::{Abi, Code, Host, Usable};
use crate::learn::{Trials, Turn};
use crate::stats;
use std::ffi::c_int;
use std::ptr;
use std::time::Instant;

/// Replaces what the model and its rules chose by what a file of rules says, or by what was measured to be better or is to be
/// measured.
#[inline]
pub(super) fn select<O: Operation>(
    plan: &mut Plan,
    host: &Host,
    usable: &Usable,
    state: &State,
    call: &O,
) -> Result<(), Code> {
    let config = state.config();
    // Where time is simulated, clocks show nothing.
    let learns = config.learn.on && !Abi::BUILT.is_simulated();
    if !learns && state.rules().is_empty() {
        return Ok(());
    }
    let choice = plan.choice;
    let learnable = call.ask(plan.known, state, |problem| problem.size_class(choice));
    let Some((class, default)) = learnable else {
        return Ok(());
    };
    let class = class.number();
    let collective = call.collective();
    if let Some(ruling) = state.ruling(collective, plan.known) {
        plan.choice = call.ask(plan.known, state, |problem| problem.ruled(ruling));
        return Ok(());
    }
    if !learns {
        return Ok(());
    }
    let mut learnt = state.learnt.lock();
    if learnt.contest(collective, class).is_none() {
        if learnt.is_full() {
            return Ok(()); // such calls follow the rules
        }
        let set_up_us = match state.is_set_up() {
            true => 0,
            false => SET_UP_US,
        };
        let Some(prior) = call.ask(plan.known, state, |problem| problem.prior(choice)) else {
            return Ok(());
        };
        learnt.add(collective, &prior, set_up_us);
    }
    let Some(mut contest) = learnt.contest(collective, class) else {
        return Ok(());
    };
    if let Some(own) = contest.question() {
        // Not held meanwhile: should the host find an error, the handler of the user's may call us.
        drop(learnt);
        let mut words = own.map(|time| i64::try_from(time).unwrap_or(i64::MAX));
        let known = ptr::from_ref(state);
        usable.max_words(state.comm(), &mut words)?;
        if !comm::is_alive(known) {
            return Err(Code::intern());
        }
        learnt = state.learnt.lock();
        contest = learnt.contest(collective, class).expect("contests stay");
        let trials = Trials {
            calls: config.learn_calls,
            relearn: config.relearn.into(),
        };
        stats::add_saved(collective, contest.take_saved());
        if contest.agree(words.map(|time| time as u64), trials) && config.trace {
            state.trace_verdict(host, collective, plan.bytes, contest);
        }
    }
    let turn = contest.begin();
    if turn.candidate != default {
        let reason = match turn.candidate == contest.incumbent() {
            true if contest.is_measured() => Why::Measured,
            true => Why::SetUp,
            false => Why::Trial,
        };
        let choice = call.ask(plan.known, state, |problem| {
            problem.candidate(turn.candidate)
        });
        plan.choice = choice.because(reason);
    }
    plan.timed = turn.timed.then_some((class, turn));
    Ok(())
}

/// Carries a call out whose time counts.
#[cold]
pub(super) fn on_trial<O: Operation>(
    (class, turn): (u8, Turn),
    plan: &Plan,
    host: &Host,
    usable: &Usable,
    state: &State,
    call: &O,
) -> (c_int, Choice) {
    if let Some(candidate) = turn.ahead {
        let choice = call.ask(plan.known, state, |problem| problem.candidate(candidate));
        match prepare(&choice, usable, state) {
            Err(Stop::Error(code)) => return (usable.raise(state.comm(), code), plan.choice),
            Err(Stop::Raised(code)) => return (code.get(), plan.choice),
            Err(Stop::Broken(failure)) => fatal(host, usable, state, call, plan, &failure),
            // If there is to be none, all ranks learn so from the call itself.
            Ok(()) | Err(Stop::Host(_)) => {}
        }
    }
    let known = ptr::from_ref(state);
    let start = Instant::now();
    let done = carry_out(plan, host, usable, state, call);
    let nanos = start.elapsed().as_nanos() as u64;
    if done.0 != 0 || !comm::is_alive(known) {
        return done; // an error says nothing of speed
    }
    let mut learnt = state.learnt.lock();
    if let Some(contest) = learnt.contest(call.collective(), class) {
        contest.time(turn, nanos);
    }
    done
}

/// Makes what a choice needs on the communicator.
fn prepare(choice: &Choice, usable: &Usable, state: &State) -> Result<(), Stop> {
    let Choice::Rondo { .. } = choice else {
        return Ok(());
    };
    match state.private(usable).map_err(Stop::Raised)? {
        Some(private) => {
            let work = &mut *state.work.lock();
            settle(choice, usable, state, &mut work.nodes, private).map(drop)
        }
        None => Ok(()),
    }
}
