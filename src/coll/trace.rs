//! Lines of the trace that tell of calls.

#![forbid(unsafe_code)]

use crate::collective::Collective;
use crate::decide::{Choice, Form, Method};
use crate::flow::Path;
use crate::group::{State, Work};
use crate::host::Host;
use crate::learn::{Candidate, Contest};
use crate::report;
use crate::stats;

/// Writes a line if one is due: the first call of a size class, on rank 0.
pub fn choice(state: &State, host: &Host, collective: Collective, choice: Choice, bytes: u64) {
    let class = 64 - bytes.leading_zeros(); // 0, 1, 2-3, 4-7, ...
    if state.rank() == 0 && state.is_first(collective, class.min(INSTEAD - 1)) {
        write_choice(state, host, collective, choice, bytes);
    }
}

/// In place of a size class: a call that went another way than its line said.
const INSTEAD: u32 = 63;

/// Writes a line for such a call, as the ranks found in it: the first one of each collective.
#[cold]
pub fn choice_instead(
    state: &State,
    host: &Host,
    collective: Collective,
    choice: Choice,
    bytes: u64,
) {
    if state.rank() == 0 && state.is_first(collective, INSTEAD) {
        write_choice(state, host, collective, choice, bytes);
    }
}

/// Writes the line of a call.
fn write_choice(state: &State, host: &Host, collective: Collective, choice: Choice, bytes: u64) {
    let name = collective.mpi_name();
    let p = state.p();
    let implementation = stats::implementation(choice);
    let (how, why) = match choice {
        Choice::Host(why) => (String::new(), why),
        Choice::Rondo(Method {
            form, blocks, why, ..
        }) => (
            format!("{}{}", between(state, form), in_blocks(blocks)),
            why,
        ),
    };
    let on_nodes = on_nodes(state);
    let whose = match collective.family().knows_bytes() {
        true => "",
        false => " on this rank",
    };
    let why = why.text();
    let promise = match collective.family().reduces() && choice.is_promised() {
        true => format!(", reproducible: {}", state.config().reproducible.name()),
        false => String::new(),
    };
    let line = format!(
        "{name}: {p} ranks{on_nodes}, {bytes} bytes{whose}: {implementation}{how} ({why}){promise}"
    );
    report::line(host.world_rank(), &line);
}

/// Writes which candidate is the fastest for calls like one of `bytes` bytes, on rank 0.
#[cold]
pub fn verdict(state: &State, host: &Host, collective: Collective, bytes: u64, contest: &Contest) {
    if state.rank() != 0 {
        return;
    }
    let name = |candidate| match candidate {
        Candidate::Host => "host",
        Candidate::First => "rondo",
        Candidate::Second => "rondo, second way",
        Candidate::Third => "rondo, third way",
    };
    let times = Candidate::ALL.into_iter().zip(contest.times());
    let times: Vec<String> = times
        .filter_map(|(candidate, time)| {
            let us = time? as f64 / 1e3;
            Some(format!("{} {us:.1} us", name(candidate)))
        })
        .collect();
    let (p, on_nodes) = (state.p(), on_nodes(state));
    let (mpi_name, best) = (collective.mpi_name(), name(contest.incumbent()));
    let times = times.join(", ");
    let line =
        format!("{mpi_name}: {p} ranks{on_nodes}, about {bytes} bytes: {times}: {best} (measured)");
    report::line(host.world_rank(), &line);
}

/// Notes how much may be in flight, for the statistics; and writes it on rank 0 if it is another window, or round trip,
/// than the last line said.
pub fn path(state: &State, host: &Host, work: &mut Work) {
    let Some(path) = work.requests.flow.path() else {
        return;
    };
    stats::note_path(state.facts.nodes, path);
    let is_news = |told: &Path| path.is_other_than(told);
    if state.config().trace && state.rank() == 0 && work.told.as_ref().is_none_or(is_news) {
        work.told = Some(path);
        let (p, on_nodes) = (state.p(), on_nodes(state));
        let line = format!("in flight among {p} ranks{on_nodes}: {}", path.text());
        report::line(host.world_rank(), &line);
    }
}

/// How many nodes there are, in words, if anybody asked.
fn on_nodes(state: &State) -> String {
    match (state.topology().p(), state.facts.nodes) {
        (0, _) => String::new(),
        (_, 1) => " on 1 node".to_owned(),
        (_, nodes) => format!(" on {nodes} nodes"),
    }
}

/// Between whom an algorithm runs, in words.
fn between(state: &State, form: Form) -> String {
    match (form, state.facts.nodes) {
        (Form::Flat, _) => String::new(),
        (Form::Nodes { .. }, 1) => " through shared memory".into(),
        (Form::Nodes { lanes: 1 }, nodes) => format!(" over leaders of {nodes} nodes"),
        (Form::Nodes { lanes }, nodes) => format!(" over {lanes} lanes of {nodes} nodes"),
    }
}

fn in_blocks(blocks: u32) -> String {
    match blocks {
        1 => " in 1 block".to_owned(),
        _ => format!(" in {blocks} blocks"),
    }
}
