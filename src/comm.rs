//! What Rondo knows of a communicator: the handshake, the private communicator, the schedule, and
//! the memory that one call leaves to the next. It hangs on the communicator and dies with it.
//!
//! The handshake is one reduction by the host at the first intercepted call on a communicator of
//! three or more ranks. It is what makes every later decision the same on all ranks, even where a
//! launcher did not forward the environment; so it takes place whatever this rank's own settings are.

#![forbid(unsafe_code)]

mod nodes;
mod ruled;
mod schedules;
mod words;

use crate::config::{self, Config, StatsFormat};
use crate::decide::{Choice, Facts, Form, Why};
use crate::engine::{Part, Scratch, rooted};
use crate::host::{self, Abi, Attribute, Code, Comm, Host, Post, Requests, Usable};
use crate::learn::{self, Candidate, Class};
use crate::report;
use crate::rules::{Rules, Ruling};
use crate::schedule::Parts;
use crate::stats::{self, Collective, Report};
use crate::topology::Topology;
pub use nodes::{Memory, Nodes, Space};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
pub use ruled::give as give_rules;
pub use schedules::Schedules;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use words::Words;

/// Sends in flight at the most. Few, so that the block that is next in the schedule does not share
/// the link with many later ones; more than one, so that the link never idles between two.
pub const SEND_WINDOW: u32 = 2;

/// State of a communicator.
pub struct State {
    comm: Comm,
    rank: u32,
    facts: Facts,
    topology: Topology,
    config: Config,
    /// Why every call on it goes to the host, if that is so.
    closed: Option<Why>,
    tag_mask: u32,
    /// What rank 0 read in a file of rules.
    rules: Arc<Rules>,
    /// What is learnt of the calls on it.
    pub learnt: Mutex<learn::Table>,
    /// Size classes of which a trace line was written, a bit each, for each collective.
    traced: [AtomicU64; Collective::ALL.len()],
    /// Used by one call at a time, as MPI asks of collectives on one communicator.
    pub work: Mutex<Work>,
}

/// What a running collective changes.
#[derive(Default)]
pub struct Work {
    private: Private,
    /// Calls that Rondo took on, counted alike on all ranks.
    sequence: u64,
    /// The schedules of broadcasts among all ranks.
    pub schedules: Schedules,
    /// How many bytes each rank has in a collective.
    pub parts: Parts,
    /// The parts of a collective under way.
    pub cut: Vec<Part>,
    /// What the engine needs.
    pub scratch: Scratch,
    /// Requests in flight.
    pub requests: Requests,
    /// What the engines of gather and scatter need.
    pub letters: rooted::Scratch,
    /// Mail and blocks in flight.
    pub post: Post,
    /// What collectives over nodes need.
    pub nodes: Nodes,
}

/// The communicator for Rondo's own messages.
#[derive(Default)]
enum Private {
    #[default]
    NotYet,
    Made(Comm),
    Refused,
}

static STATE: Attribute<Comm, State> = Attribute::new();

/// Communicators that exist, for the end.
static ALIVE: Mutex<Vec<Comm>> = Mutex::new(Vec::new());

/// Private communicators of this process.
static PRIVATE: AtomicU32 = AtomicU32::new(0);

/// Is `MPI_Finalize` under way?
static ENDING: AtomicBool = AtomicBool::new(false);

/// Will all ranks of `MPI_COMM_WORLD` add up their statistics? Set by a handshake of all of them.
static ADD_UP: AtomicBool = AtomicBool::new(false);

/// What concerns the process: its configuration, loaded at the first call.
static PROCESS: OnceCell<config::Loaded> = OnceCell::new();

/// The state of `comm`, made by the handshake if this is the first call on it. Collective then.
///
/// `Err` carries a code that the host has already raised on the user's communicator.
#[inline]
pub fn state<'a>(host: &'a Host, usable: &'a Usable, comm: Comm) -> Result<Lookup<'a>, Code> {
    match STATE.get(usable, comm) {
        Ok(Some(state)) => Ok(Lookup::Known(state)),
        Ok(None) => handshake(host, usable, comm).map(Lookup::Known),
        Err(code) if usable.denies_comm(code) => Ok(Lookup::Invalid),
        Err(code) => Err(code),
    }
}

/// What [`state`] found.
pub enum Lookup<'a> {
    /// The state of the communicator.
    Known(&'a State),
    /// The host knows no such communicator.
    Invalid,
}

/// Things to be done once per process, at its first call.
pub fn process(host: &Host) -> &'static Config {
    let loaded = PROCESS.get_or_init(|| {
        let loaded = Config::load();
        report::on_panic(host.world_rank);
        if host.world_rank == 0 {
            for warning in &loaded.warnings {
                report::line(0, warning);
            }
            if loaded.config.help {
                report::block(&config::help(&loaded));
            }
            if let Err(why) = host.usable() {
                report::line(0, why);
            }
        }
        // SMPI says that MPI ends only when it has ended.
        if let Ok(usable) = host.usable()
            && usable.initialized()
            && !Abi::BUILT.is_simulated()
        {
            // Without it, only statistics are lost: nothing to tell the user for.
            let _ = host::at_finalize(usable, at_finalize);
        }
        loaded
    });
    &loaded.config
}

const _: () = assert!(Collective::ALL.len() == learn::COLLECTIVES);

fn handshake<'a>(host: &'a Host, usable: &'a Usable, comm: Comm) -> Result<&'a State, Code> {
    let own = process(host);
    let (rank, p) = (usable.rank(comm)?, usable.size(comm)?);
    let mut state = State {
        comm,
        rank,
        facts: Facts {
            p,
            nodes: p,
            widest: 1,
            narrowest: 1,
            eager_bytes: Abi::BUILT.eager_bytes(),
        },
        topology: Topology::default(),
        config: own.clone(),
        closed: None,
        tag_mask: 0,
        rules: Arc::default(),
        learnt: Mutex::default(),
        traced: Default::default(),
        work: Mutex::default(),
    };
    if usable.is_inter(comm)? {
        state.closed = Some(Why::Inter);
    } else if p < 3 && !state.is_job_of_two(usable)? {
        state.closed = Some(Why::FewRanks);
    } else {
        let known = nodes::known(usable, comm, p)?;
        let tag_max = usable.tag_max(comm);
        let rules = ruled::known(host, usable, own, rank);
        let mut words = Words::offer(rank, &own.to_words(), tag_max, known.is_some(), &rules);
        usable.max_words(comm, &mut words.0)?;
        state.adopt(host, usable, &words)?;
        if state.closed.is_none() {
            let names = match known.filter(|_| words.mapped()) {
                Some(names) => names,
                None => nodes::ask(usable, comm, rank, p, &own.node)?,
            };
            state.place(&names);
            state.rules = match words.rules_to_hand_out() {
                Some(count) => ruled::hand_out(usable, comm, rank, count, &rules)?,
                None => rules,
            };
        }
    }
    ALIVE.lock().push(comm);
    STATE.set(usable, comm, state)
}

impl State {
    /// Two ranks have nothing to decide, but if they are the whole job, they have statistics to add up.
    fn is_job_of_two(&self, usable: &Usable) -> Result<bool, Code> {
        Ok(self.facts.p == 2 && usable.initialized() && usable.spans_world(self.comm)?)
    }

    /// Takes in what the ranks agreed on.
    fn adopt(&mut self, host: &Host, usable: &Usable, words: &Words) -> Result<(), Code> {
        self.config = self.config.adopt(&words.config());
        // The largest 2^k - 1 that is a tag on every rank.
        self.tag_mask = ((1u64 << (words.tag_max() + 1).ilog2()) - 1) as u32;
        if !words.same_version() {
            self.closed = Some(Why::Versions);
        } else if words.ending() {
            self.closed = Some(Why::Ending);
        } else if !self.config.enabled {
            self.closed = Some(Why::Off);
        } else if self.facts.p < 3 {
            self.closed = Some(Why::FewRanks);
        }
        if self.rank == 0 {
            self.report_differences(host, words);
        }
        if self.config.stats.format != StatsFormat::Off
            && usable.initialized()
            && usable.spans_world(self.comm)?
        {
            ADD_UP.store(true, Relaxed);
        }
        Ok(())
    }

    /// Takes in which ranks share a node.
    fn place(&mut self, names: &[u64]) {
        self.topology = Topology::new(names);
        self.facts.nodes = self.topology.nodes();
        self.facts.widest = self.topology.widest();
        self.facts.narrowest = self.topology.narrowest();
    }

    fn report_differences(&self, host: &Host, words: &Words) {
        static REPORTED: AtomicBool = AtomicBool::new(false);
        let differences = words.differences();
        let versions = !words.same_version();
        if (differences.is_empty() && !versions) || REPORTED.swap(true, Relaxed) {
            return;
        }
        let p = self.facts.p;
        let text = if versions {
            format!("{p} ranks loaded different versions of Rondo; it stays out of their way")
        } else {
            format!(
                "{} not the same on all of {p} ranks; the values of this rank are used by all",
                differences.join(", ")
            )
        };
        report::line(host.world_rank, &text);
    }

    /// This process's rank in the communicator.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// What decisions depend on.
    pub fn facts(&self) -> Facts {
        self.facts
    }

    /// Which ranks share a node.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The user's communicator.
    pub fn comm(&self) -> Comm {
        self.comm
    }

    /// The rules for automatic choices.
    #[inline]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What they say of a call of `bytes` bytes, if all ranks know these.
    pub fn ruling(&self, collective: Collective, bytes: Option<u64>) -> Option<Ruling> {
        if self.rules.is_empty() {
            return None;
        }
        let (_, algorithms) = ruled::collectives()[collective as usize];
        let ranks = (self.facts.p, self.facts.nodes);
        self.rules
            .find(collective as usize, algorithms, ranks, bytes)
    }

    /// The configuration that all ranks of the communicator use.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Why every call on this communicator goes to the host, if that is so.
    #[inline]
    pub fn closed(&self) -> Option<Why> {
        self.closed
    }

    /// Are calls timed?
    #[inline]
    pub fn timed(&self) -> bool {
        self.config.stats.format != StatsFormat::Off
    }

    /// The bits that a tag may have on every rank.
    pub fn tag_mask(&self) -> u32 {
        self.tag_mask
    }

    /// Writes a trace line if one is due: the first call of a size class, on rank 0.
    pub fn trace(&self, host: &Host, collective: Collective, choice: Choice, bytes: u64) {
        let class = 64 - bytes.leading_zeros(); // 0, 1, 2-3, 4-7, ...
        let bit = 1 << class.min(63);
        let traced = &self.traced[collective as usize];
        if self.rank != 0 || traced.fetch_or(bit, Relaxed) & bit != 0 {
            return;
        }
        let name = collective.mpi_name();
        let p = self.facts.p;
        let carrier = stats::carrier(choice);
        let (how, why) = match choice {
            Choice::Host(why) => (String::new(), why),
            Choice::Rondo {
                form, blocks, why, ..
            } => (format!("{}{}", self.between(form), in_blocks(blocks)), why),
        };
        let on_nodes = self.on_nodes();
        let whose = match collective.counts_own_block() {
            true => " on this rank",
            false => "",
        };
        let why = why.text();
        report::line(
            host.world_rank,
            &format!("{name}: {p} ranks{on_nodes}, {bytes} bytes{whose}: {carrier}{how} ({why})"),
        );
    }

    /// Writes which candidate is the fastest for calls like one of `bytes` bytes, on rank 0.
    #[cold]
    pub fn trace_verdict(&self, host: &Host, collective: Collective, bytes: u64, class: &Class) {
        if self.rank != 0 {
            return;
        }
        let name = |candidate| match candidate {
            Candidate::Host => "host",
            Candidate::First => "rondo",
            Candidate::Second => "rondo, second way",
        };
        let times = Candidate::ALL.into_iter().zip(class.times());
        let times: Vec<String> = times
            .filter_map(|(candidate, time)| {
                let us = time? as f64 / 1e3;
                Some(format!("{} {us:.1} us", name(candidate)))
            })
            .collect();
        let (p, on_nodes) = (self.facts.p, self.on_nodes());
        let (mpi_name, best) = (collective.mpi_name(), name(class.incumbent()));
        let times = times.join(", ");
        report::line(
            host.world_rank,
            &format!(
                "{mpi_name}: {p} ranks{on_nodes}, about {bytes} bytes: {times}: {best} (measured)"
            ),
        );
    }

    /// How many nodes there are, in words, if anybody asked.
    fn on_nodes(&self) -> String {
        match (self.topology.p(), self.facts.nodes) {
            (0, _) => String::new(),
            (_, 1) => " on 1 node".to_owned(),
            (_, nodes) => format!(" on {nodes} nodes"),
        }
    }

    /// Adds what was saved on this communicator to the statistics.
    fn account(&self) {
        let mut learnt = self.learnt.lock();
        learnt.take_saved(|place, saved| stats::add_saved(Collective::ALL[place], saved));
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

impl Work {
    /// Counts a call that Rondo takes on.
    pub fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Has the private communicator been made? All ranks know alike.
    pub fn is_set_up(&self) -> bool {
        matches!(self.private, Private::Made(_))
    }

    /// The private communicator of `state`, made now if this is the first time. Collective then.
    /// `None` if there is no room for it, which all ranks learn alike and for good. An error is still
    /// to be raised.
    pub fn private(&mut self, usable: &Usable, state: &State) -> Result<Option<Comm>, Code> {
        match self.private {
            Private::Made(comm) => return Ok(Some(comm)),
            Private::Refused => return Ok(None),
            Private::NotYet => {}
        }
        let made = usable.returning_errors(state.comm, || agree_on_private(usable, state))?;
        if made.is_some() {
            PRIVATE.fetch_add(1, Relaxed);
        }
        self.private = made.map_or(Private::Refused, Private::Made);
        Ok(made)
    }
}

/// Makes a private communicator if all ranks have room for one.
fn agree_on_private(usable: &Usable, state: &State) -> Result<Option<Comm>, Code> {
    let full = PRIVATE.load(Relaxed) >= state.config.max_comms;
    let mut refused = [i64::from(full)];
    usable.max_words(state.comm, &mut refused)?;
    if refused[0] != 0 {
        return Ok(None);
    }
    // The host may be out of communicators though the budget is not used up. Whether it is may
    // differ between ranks, so they compare what they got.
    let made = usable.private(state.comm, state.rank).ok();
    let mut failed = [i64::from(made.is_none())];
    usable.max_words(state.comm, &mut failed)?;
    if failed[0] != 0 {
        made.inspect(|&comm| usable.free(comm));
        return Ok(None);
    }
    Ok(made)
}

impl Drop for State {
    /// Runs in the delete callback: local, no messages.
    fn drop(&mut self) {
        ALIVE.lock().retain(|&comm| comm != self.comm);
        self.account();
        if let Private::Made(comm) = self.work.get_mut().private
            && let Ok(usable) = host::host().usable()
        {
            usable.free(comm);
            PRIVATE.fetch_sub(1, Relaxed);
        }
    }
}

/// The start of `MPI_Finalize`: the report, then everything is given back. A collective that a user's
/// own callback calls after this finds no state, shakes hands once more, and goes to the host.
fn at_finalize() {
    ENDING.store(true, Relaxed);
    let host = host::host();
    let Ok(usable) = host.usable() else { return };
    for &comm in ALIVE.lock().iter() {
        if let Ok(Some(state)) = STATE.get(usable, comm) {
            state.account();
        }
    }
    write_statistics(host, usable);
    ruled::save(host, usable);
    let alive = std::mem::take(&mut *ALIVE.lock());
    for comm in alive {
        STATE.delete(usable, comm);
    }
}

fn write_statistics(host: &Host, usable: &Usable) {
    let mut sums = stats::sums();
    let world = usable.world();
    let ranks = usable.size(world).unwrap_or(1);
    let all = ADD_UP.load(Relaxed);
    if all && usable.sum_to_root(world, &mut sums).is_err() {
        return;
    }
    let stats = &process(host).stats;
    if host.world_rank != 0 || stats.format == StatsFormat::Off {
        return;
    }
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        host: usable.version(),
        ranks,
        summed_ranks: if all { ranks } else { 1 },
        collectives: stats::rows(&sums),
        saved: stats::savings(),
    };
    let text = match stats.format {
        StatsFormat::Json => report.json(),
        _ => report.text(),
    };
    match &stats.file {
        None => report::block(&text),
        Some(path) => {
            if let Err(error) = std::fs::write(path, &text) {
                report::line(
                    0,
                    &format!("cannot write statistics to {}: {error}", path.display()),
                );
                report::block(&text);
            }
        }
    }
}
