//! Lines of the trace, and those that say that a promise is not kept.

#![forbid(unsafe_code)]

use super::{State, Work};
use crate::collective::Collective;
use crate::config::{Config, Reproducible};
use crate::decide::{Choice, Form, Method, Why};
use crate::flow::Path;
use crate::host::{Comm, Host, Mpi};
use crate::learn::{Candidate, Contest};
use crate::report;
use crate::stats;
use once_cell::sync::OnceCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Ranks of a communicator from which on bits are promised: two operands have one order.
const PROMISED_FROM: u32 = 3;

/// Says once for each reason that reductions have the host's bits though others were promised, on a communicator
/// without a state. It reads the options by itself: what else is done at a process's first call is not due without
/// `MPI_Init`.
#[cold]
pub fn report_bits_on(host: &Host, mpi: &Mpi, comm: Comm, why: Why) {
    static PROMISE: OnceCell<Reproducible> = OnceCell::new();
    let promise = *PROMISE.get_or_init(|| Config::load().config.promise());
    report_broken(host, why, promise, || {
        mpi.rank(comm) == Ok(0) && mpi.size(comm).is_ok_and(|p| p >= PROMISED_FROM)
    });
}

fn report_broken(host: &Host, why: Why, promise: Reproducible, speaks: impl FnOnce() -> bool) {
    /// A bit for each reason.
    static REPORTED: AtomicU64 = AtomicU64::new(0);
    let bit = 1 << why as u32;
    if promise.is_kept_by_host() || REPORTED.load(Relaxed) & bit != 0 || !speaks() {
        return;
    }
    if REPORTED.fetch_or(bit, Relaxed) & bit != 0 {
        return; // another thread was faster
    }
    let remedy = match why == Why::Gpu {
        true => "; RONDO_GPU=off (no buffers on a GPU) keeps the promise",
        false => "",
    };
    report::line(
        host.world_rank(),
        &format!(
            "{}: sums have the MPI library's bits here, and not those that are promised{remedy}",
            why.text()
        ),
    );
}

impl State {
    /// Writes a trace line if one is due: the first call of a size class, on rank 0.
    pub fn trace(&self, host: &Host, collective: Collective, choice: Choice, bytes: u64) {
        let class = 64 - bytes.leading_zeros(); // 0, 1, 2-3, 4-7, ...
        let bit = 1 << class.min(63);
        let traced = &self.traced[collective as usize];
        if self.rank != 0 || traced.fetch_or(bit, Relaxed) & bit != 0 {
            return;
        }
        self.write_choice(host, collective, choice, bytes);
    }

    /// The same for a call that went another way than its line said, as the ranks found in it: the first one of each
    /// collective.
    #[cold]
    pub fn trace_instead(&self, host: &Host, collective: Collective, choice: Choice, bytes: u64) {
        let bit = 1 << collective as u32;
        if self.rank == 0 && self.traced_instead.fetch_or(bit, Relaxed) & bit == 0 {
            self.write_choice(host, collective, choice, bytes);
        }
    }

    /// Writes the line of a call.
    fn write_choice(&self, host: &Host, collective: Collective, choice: Choice, bytes: u64) {
        let name = collective.mpi_name();
        let p = self.facts.p;
        let implementation = stats::implementation(choice);
        let (how, why) = match choice {
            Choice::Host(why) => (String::new(), why),
            Choice::Rondo(Method {
                form, blocks, why, ..
            }) => (format!("{}{}", self.between(form), in_blocks(blocks)), why),
        };
        let on_nodes = self.on_nodes();
        let whose = match collective.family().knows_bytes() {
            true => "",
            false => " on this rank",
        };
        let why = why.text();
        let promise = match collective.family().reduces() && choice.is_promised() {
            true => format!(", reproducible: {}", self.config.reproducible.name()),
            false => String::new(),
        };
        report::line(
            host.world_rank(),
            &format!(
                "{name}: {p} ranks{on_nodes}, {bytes} bytes{whose}: {implementation}{how} ({why}){promise}"
            ),
        );
    }

    /// Says once for each reason that reductions have the host's bits though others were promised.
    #[cold]
    pub fn report_broken_promise(&self, host: &Host, why: Why) {
        let speaks = self.rank == 0 && self.facts.p >= PROMISED_FROM;
        report_broken(host, why, self.config.promise(), || speaks);
    }

    /// Writes which candidate is the fastest for calls like one of `bytes` bytes, on rank 0.
    #[cold]
    pub fn trace_verdict(
        &self,
        host: &Host,
        collective: Collective,
        bytes: u64,
        contest: &Contest,
    ) {
        if self.rank != 0 {
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
        let (p, on_nodes) = (self.facts.p, self.on_nodes());
        let (mpi_name, best) = (collective.mpi_name(), name(contest.incumbent()));
        let times = times.join(", ");
        report::line(
            host.world_rank(),
            &format!(
                "{mpi_name}: {p} ranks{on_nodes}, about {bytes} bytes: {times}: {best} (measured)"
            ),
        );
    }

    /// Notes how much may be in flight, for the statistics; and writes it on rank 0 if it is another window, or round
    /// trip, than the last line said.
    pub fn tell_path(&self, host: &Host, work: &mut Work) {
        let Some(path) = work.requests.flow.path() else {
            return;
        };
        stats::note_path(self.facts.nodes, path);
        let is_news = |told: &Path| path.is_other_than(told);
        if self.config.trace && self.rank == 0 && work.told.as_ref().is_none_or(is_news) {
            work.told = Some(path);
            let (p, on_nodes) = (self.facts.p, self.on_nodes());
            let line = format!("in flight among {p} ranks{on_nodes}: {}", path.text());
            report::line(host.world_rank(), &line);
        }
    }

    /// How many nodes there are, in words, if anybody asked.
    fn on_nodes(&self) -> String {
        match (self.topology().p(), self.facts.nodes) {
            (0, _) => String::new(),
            (_, 1) => " on 1 node".to_owned(),
            (_, nodes) => format!(" on {nodes} nodes"),
        }
    }

    /// Between whom an algorithm runs, in words.
    fn between(&self, form: Form) -> String {
        match (form, self.facts.nodes) {
            (Form::Flat, _) => String::new(),
            (Form::Nodes { .. }, 1) => " through shared memory".into(),
            (Form::Nodes { lanes: 1 }, nodes) => format!(" over leaders of {nodes} nodes"),
            (Form::Nodes { lanes }, nodes) => format!(" over {lanes} lanes of {nodes} nodes"),
        }
    }
}

fn in_blocks(blocks: u32) -> String {
    match blocks {
        1 => " in 1 block".to_owned(),
        _ => format!(" in {blocks} blocks"),
    }
}
