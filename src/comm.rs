//! What Rondo knows of a communicator: the handshake, the private communicator, the schedule, and
//! the memory that one call leaves to the next. It hangs on the communicator and dies with it.
//!
//! The handshake is one reduction by the host at the first intercepted call on a communicator of
//! three or more ranks. It is what makes every later decision the same on all ranks, even where a
//! launcher did not forward the environment; so it takes place whatever this rank's own settings are.

#![forbid(unsafe_code)]

mod end;
mod nodes;
mod ruled;
mod schedules;
mod waiting;
mod words;

use crate::collective::Collective;
use crate::config::{self, Config, Gpu, StatsFormat};
use crate::decide::{Choice, Facts, Form, Why};
use crate::engine::{Part, Scratch, rooted};
use crate::host::{self, Abi, Attribute, Code, Comm, Host, Post, Requests, Usable};
use crate::learn::{self, Candidate, Contest};
use crate::report;
use crate::rules::{Rules, Ruling};
use crate::schedule::Parts;
use crate::stats;
use crate::topology::Topology;
pub use end::end;
pub use nodes::{Memory, Nodes, Space};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
pub use ruled::give as give_rules;
pub use schedules::Schedules;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use waiting::Waiting;
pub use words::BUILD;
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
    /// Do all ranks know that one of them may have memory that the processor cannot touch, since some call?
    gpu: AtomicBool,
    /// The communicator for Rondo's own messages; `None` if there is no room for one.
    private: OnceCell<Option<Comm>>,
    /// Was `MPI_Comm_idup` called on the communicator before the private one was made? All ranks know alike.
    duplicated: AtomicBool,
    /// Was this rank handed an error in a call that others carried out, so that messages for it may lie on the private communicator?
    strayed: AtomicBool,
    /// Size classes of which a trace line was written, a bit each, for each collective.
    traced: [AtomicU64; Collective::COUNT],
    /// Used by one call at a time, as MPI asks of collectives on one communicator.
    pub work: Mutex<Work>,
}

/// What a running collective changes.
#[derive(Default)]
pub struct Work {
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

static STATE: Attribute<Comm, State> = Attribute::new();

/// On communicators that were duplicated by `MPI_Comm_idup` before they had a state.
static DUPLICATED: Attribute<Comm, ()> = Attribute::new();

/// `MPI_Comm_idup` is called on `comm`. Until it is complete, which is not seen, Open MPI (4.1, 5.0) may not be asked for another
/// communicator: both are agreed on by nonblocking reductions that it starts whenever it makes progress, so that ranks mix them up.
/// Local.
pub fn duplicate(usable: &Usable, comm: Comm) {
    match STATE.get(usable, comm) {
        Ok(Some(state)) => state.duplicated.store(true, Relaxed),
        // Without room for it, the host has none for the duplicate either.
        Ok(None) => drop(DUPLICATED.set(usable, comm, ())),
        Err(_) => {}
    }
}

/// The states of all communicators that exist. They live until their communicators are freed, or until the process ends: collectives
/// that the program's own callbacks call in `MPI_Finalize` find what all other calls found.
static ALIVE: Mutex<Vec<&'static State>> = Mutex::new(Vec::new());

/// Private communicators of this process.
static PRIVATE: AtomicU32 = AtomicU32::new(0);

/// Will all ranks of `MPI_COMM_WORLD` add up their statistics? Set by a handshake of all of them.
static ADD_UP: AtomicBool = AtomicBool::new(false);

/// What concerns the process: its configuration, loaded at the first call.
static PROCESS: OnceCell<config::Loaded> = OnceCell::new();

/// The state of `comm`, made by the handshake if this is the first call on it. Collective then.
///
/// `Err` carries a code that the host has already raised on the user's communicator.
#[inline]
pub fn state(
    host: &'static Host,
    usable: &'static Usable,
    comm: Comm,
    collective: Collective,
) -> Result<Lookup, Code> {
    match STATE.get(usable, comm) {
        Ok(Some(state)) => Ok(Lookup::Known(state)),
        Ok(None) if host::is_being_freed(comm) => Ok(Lookup::Freed),
        Ok(None) => handshake(host, usable, comm, collective).map(Lookup::Known),
        Err(code) if usable.denies_comm(code) => Ok(Lookup::Invalid),
        Err(code) => Err(code),
    }
}

/// What [`state`] found.
pub enum Lookup {
    /// The state of the communicator.
    Known(&'static State),
    /// The host knows no such communicator.
    Invalid,
    /// The first collective on a communicator that is being freed.
    Freed,
}

/// Calls `free`, in which the host frees `comm`. Collectives that delete callbacks of the program's call on it, which all ranks call in it, find
/// the state that it had, be Rondo's callback called before them or after.
pub fn while_freed<R>(usable: &Usable, comm: Comm, free: impl FnOnce() -> R) -> R {
    STATE.while_freed(usable, comm, free)
}

/// Is the communicator of this state still there? An error handler of the program's, called by the host, may have freed it. Whether it was
/// called does not show in what the host returns: MPICH 5 returns success behind a handler.
pub fn is_alive(state: *const State) -> bool {
    ALIVE.lock().iter().any(|known| std::ptr::eq(*known, state))
}

/// Things to be done once per process, at its first call.
pub fn process(host: &Host) -> &'static Config {
    let loaded = PROCESS.get_or_init(|| {
        let loaded = match host::rights::exceed_those_of_the_user() {
            true => Config::load().without_files(),
            false => Config::load(),
        };
        report::on_panic(host.world_rank());
        if host.world_rank() == 0 {
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
        if loaded.config.gpu == Gpu::Off {
            host::ignore_devices();
        }
        loaded
    });
    &loaded.config
}

fn handshake(
    host: &'static Host,
    usable: &'static Usable,
    comm: Comm,
    collective: Collective,
) -> Result<&'static State, Code> {
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
        gpu: AtomicBool::default(),
        strayed: AtomicBool::default(),
        duplicated: AtomicBool::new(
            cfg!(abi = "openmpi") && DUPLICATED.get(usable, comm)?.is_some(),
        ),
        private: OnceCell::default(),
        traced: Default::default(),
        work: Mutex::default(),
    };
    if usable.is_inter(comm)? {
        state.closed = Some(Why::Inter);
    } else if p < 3 && (p, usable.size(usable.world())?) != (2, 2) {
        state.closed = Some(Why::FewRanks);
    } else {
        match usable.world_ranks(comm, p)? {
            None => state.closed = Some(Why::Outside),
            // Two ranks have nothing to decide, but if they are the whole job, they have statistics to add up.
            Some(ranks) => state.agree(host, usable, own, &ranks, collective)?,
        }
    }
    let state = STATE.set(usable, comm, state)?;
    ALIVE.lock().push(state);
    Ok(state)
}

impl State {
    /// The handshake itself; `ranks` are those of the communicator in `MPI_COMM_WORLD`. Collective.
    fn agree(
        &mut self,
        host: &'static Host,
        usable: &'static Usable,
        own: &Config,
        ranks: &[u32],
        collective: Collective,
    ) -> Result<(), Code> {
        let (comm, rank, p) = (self.comm, self.rank, self.facts.p);
        let known = nodes::known(ranks);
        let tag_max = usable.tag_max(comm);
        let rules = ruled::known(host, usable, own, rank);
        let mut words = Words::offer(rank, &own.to_words(), tag_max, known.is_some(), &rules);
        let mut waiting = Waiting::new(rank, p, own.timeout_s, collective);
        let interval = waiting.interval();
        usable.max_words_in_time(comm, &mut words.0, interval, move |time| {
            waiting.look(host, usable, comm, time);
        })?;
        waiting::shook_hands();
        let spans_world = p == usable.size(usable.world())?;
        self.adopt(host, &words, spans_world);
        if self.closed.is_some() {
            return Ok(());
        }
        let names = match known.filter(|_| words.mapped()) {
            Some(names) => names,
            None => nodes::ask(usable, comm, rank, ranks, &own.node)?,
        };
        self.place(&names);
        self.rules = match words.rules_to_hand_out() {
            Some(count) => ruled::hand_out(usable, comm, rank, count, &rules)?,
            None => rules,
        };
        Ok(())
    }

    /// Takes in what the ranks agreed on.
    fn adopt(&mut self, host: &Host, words: &Words, spans_world: bool) {
        self.config = self.config.adopt(&words.config());
        // The largest 2^k - 1 that is a tag on every rank.
        self.tag_mask = ((1u64 << (words.tag_max() + 1).ilog2()) - 1) as u32;
        if !words.same_version() {
            self.closed = Some(Why::Versions);
        } else if !self.config.enabled {
            self.closed = Some(Why::Off);
        } else if self.facts.p < 3 {
            self.closed = Some(Why::FewRanks);
        } else if words.gpu() && self.config.gpu == Gpu::Auto {
            self.closed = Some(Why::Gpu);
        }
        if self.config.gpu == Gpu::Off {
            host::ignore_devices();
        }
        if self.rank == 0 {
            self.report_differences(host, words);
        }
        if self.config.stats.format != StatsFormat::Off && spans_world {
            ADD_UP.store(true, Relaxed);
        }
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
            format!(
                "{p} ranks loaded different versions or builds of Rondo; it stays out of their way"
            )
        } else {
            format!(
                "{} not the same on all of {p} ranks; the values of this rank are used by all",
                differences.join(", ")
            )
        };
        report::line(host.world_rank(), &text);
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
        let ranks = (self.facts.p, self.facts.nodes);
        self.rules.find(collective, ranks, bytes)
    }

    /// The configuration that all ranks of the communicator use.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Why every call on this communicator goes to the host, if that is so.
    #[inline]
    pub fn closed(&self) -> Option<Why> {
        let gpu = || self.gpu.load(Relaxed).then_some(Why::Gpu);
        self.closed.or_else(gpu)
    }

    /// This rank leaves a call that others may carry out.
    pub fn stray(&self) {
        self.strayed.store(true, Relaxed);
    }

    /// Has the private communicator been made? All ranks know alike.
    pub fn is_set_up(&self) -> bool {
        matches!(self.private.get(), Some(Some(_)))
    }

    /// The private communicator, made now if this is the first time. Collective then. `None` if there is no room for it, which
    /// all ranks learn alike and for good. An error was raised by the host.
    ///
    /// No lock is held, for the host may call the error handler of the user's.
    pub fn private(&self, usable: &Usable) -> Result<Option<Comm>, Code> {
        if let Some(private) = self.private.get() {
            return Ok(*private);
        }
        if self.duplicated.load(Relaxed) {
            return Ok(None);
        }
        let made = agree_on_private(usable, self)?;
        if made.is_some() {
            PRIVATE.fetch_add(1, Relaxed);
        }
        Ok(*self.private.get_or_init(|| made))
    }

    /// Are the ranks to tell each other, in the call of this number, whether one of them may have got memory of a GPU?
    pub fn asks_for_gpus(&self, sequence: u64) -> bool {
        let due = sequence.is_multiple_of(1024) || (sequence >= 64 && sequence.is_power_of_two());
        due && self.config.gpu == Gpu::Auto && !Abi::BUILT.is_simulated()
    }

    /// Asks all ranks whether one has loaded a GPU's driver since the handshake. If so, all calls from this one on are the host's.
    /// Collective, on the private communicator.
    pub fn ask_for_gpus(&self, host: &Host, usable: &Usable, private: Comm) -> Result<bool, Code> {
        let mut words = [i64::from(host::driver_is_loaded())];
        usable.max_words(private, &mut words)?;
        let found = words[0] != 0;
        if found && !self.gpu.swap(true, Relaxed) && self.rank == 0 && self.config.trace {
            let (p, why) = (self.facts.p, Why::Gpu.text());
            let line = format!("all further calls on this communicator of {p} ranks: host ({why})");
            report::line(host.world_rank(), &line);
        }
        Ok(found)
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
        let whose = match collective.family().knows_bytes() {
            true => "",
            false => " on this rank",
        };
        let why = why.text();
        report::line(
            host.world_rank(),
            &format!("{name}: {p} ranks{on_nodes}, {bytes} bytes{whose}: {carrier}{how} ({why})"),
        );
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
        learnt.take_saved(stats::add_saved);
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
}

/// Makes a private communicator if all ranks have room for one.
fn agree_on_private(usable: &Usable, state: &State) -> Result<Option<Comm>, Code> {
    let full = PRIVATE.load(Relaxed) >= state.config.max_comms || !usable.has_room();
    let mut refused = [i64::from(full)];
    usable.max_words(state.comm, &mut refused)?;
    if refused[0] != 0 {
        return Ok(None);
    }
    // It may fail all the same, if no name for a communicator is free on all ranks. Whether it does may differ between ranks, so
    // they compare what they got.
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
        ALIVE.lock().retain(|state| !std::ptr::eq(*state, self));
        self.account();
        // MPICH 5 complains of messages that nobody received, and raises that on MPI_COMM_SELF, whose handler is the user's. Such a
        // communicator is lost, and counts as one of the budget.
        if let Some(Some(comm)) = self.private.get()
            && !*self.strayed.get_mut()
            && let Ok(usable) = host::host().usable()
        {
            usable.free(*comm);
            PRIVATE.fetch_sub(1, Relaxed);
        }
    }
}
