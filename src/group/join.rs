//! The first call on a communicator: its ranks agree on a number, and on what is asked of them there, by one reduction
//! of the host's.

#![forbid(unsafe_code)]

use super::gpu::ASSERTED;
use super::memory::Place;
use super::promise::PROMISED;
use super::record::{self, Record};
use super::terms::{Own, Terms};
use super::{ALIVE, STATE, State, numbers};
use crate::collective::Collective;
use crate::config::Config;
use crate::decide::{Facts, Why};
use crate::hash;
use crate::host::{self, Abi, Code, Comm, Host, Mpi, SYNCHRONOUS_BYTES};
use crate::job::{self, Begun, Job, Waiting};
use crate::network::Network;
use crate::report;
use crate::shm::Piece;
use crate::topology::Topology;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

/// Makes the state of a communicator. Collective; but if the call `is_refused` on this rank of so many, others need not
/// make it: then there is no state yet.
pub fn join(
    host: &'static Host,
    mpi: &'static Mpi,
    comm: Comm,
    begun: &'static Begun,
    collective: Collective,
    is_refused: impl FnOnce(u32, u32) -> bool,
) -> Result<Option<&'static State>, Code> {
    report::enter(collective.mpi_name());
    let config = match begun {
        Begun::Job(job) => &job.config,
        Begun::Closed(_) => job::process(host),
    };
    let mut state = State::before_agreement(mpi, comm, config)?;
    let p = state.facts.p;
    state.closed = match begun {
        Begun::Closed(why) => Some(*why),
        Begun::Job(_) if mpi.is_inter(comm)? => Some(Why::Inter),
        Begun::Job(_) if p < 3 => Some(Why::FewRanks),
        Begun::Job(job) => match mpi.world_ranks(comm, p)? {
            None => {
                state.report_broken_promise(host, Why::Outside);
                Some(Why::Outside)
            }
            Some(_) if is_refused(state.rank, p) => return Ok(None),
            Some(ranks) => {
                state.agree(mpi, job, &ranks)?;
                state.closed
            }
        },
    };
    if let Some(why @ Why::Gpu) = state.closed {
        state.report_broken_promise(host, why);
    }
    let state = STATE.set(mpi, comm, state)?;
    ALIVE.lock().push(state);
    Ok(Some(state))
}

impl State {
    /// What is known before ranks have spoken to each other.
    ///
    /// A state is large, and threads may have small stacks: what it takes there, copies included, is given back before
    /// the host is called for the reduction.
    #[inline(never)]
    fn before_agreement(
        mpi: &'static Mpi,
        comm: Comm,
        config: &'static Config,
    ) -> Result<Box<Self>, Code> {
        static SERIALS: AtomicU64 = AtomicU64::new(0);
        let (rank, p) = (mpi.rank(comm)?, mpi.size(comm)?);
        let asserted = ASSERTED.get(mpi, comm)?;
        Ok(Box::new(State {
            serial: SERIALS.fetch_add(1, Relaxed),
            comm,
            was_freed_before: host::was_freed_before(comm),
            rank,
            record: Record::none(),
            number: None,
            place: None,
            facts: Facts {
                p,
                nodes: p,
                widest: 1,
                narrowest: 1,
                consecutive: true,
                eager_bytes: Abi::BUILT.eager_bytes(),
                // There receivers spend no time on synchronous messages.
                placed_bytes: match Abi::BUILT.is_simulated() {
                    true => SYNCHRONOUS_BYTES,
                    false => u64::MAX,
                },
                host_leads: Abi::BUILT.host_leads(),
                host_copies: Abi::BUILT.host_copies(),
                network: Network::default(),
            },
            told: config.network,
            config,
            closed: None,
            rules: Box::default(),
            gpu_may_come: false,
            gpu: Default::default(),
            asserted: asserted.copied().unwrap_or(false).into(),
            was_left: Default::default(),
            traced: Default::default(),
            work: Default::default(),
        }))
    }

    /// The reduction, for the communicator of these ranks of the world. Collective.
    fn agree(&mut self, mpi: &'static Mpi, job: &'static Job, ranks: &[u32]) -> Result<(), Code> {
        let (comm, rank) = (self.comm, self.rank);
        let found = record::find(ranks);
        let topology = match &found {
            Some(record) => record.topology.clone(),
            None => Arc::new(Topology::new(&job.names_of(ranks))),
        };
        self.facts.nodes = topology.nodes();
        self.facts.widest = topology.widest();
        self.facts.narrowest = topology.narrowest();
        self.facts.consecutive = topology.is_sorted();
        let promised = PROMISED.get(mpi, comm)?;
        let rules = job::rules_known(rank);
        let locals = topology.locals(topology.node(rank));
        let (n, lowest) = (locals.len() as u32, locals[0]);
        let arena = (job.arena.as_ref()).filter(|arena| self.facts.widest > 1 && arena.fits(n));
        let leads = arena.filter(|_| lowest == rank);
        let reserved = leads.and_then(|arena| arena.reserve());
        let mut own = Own {
            is_first: rank == 0,
            // Where no other thread draws, the first free one will do.
            word: if job.has_threads { random() } else { 0 },
            promise: promised.copied().unwrap_or(job.config.reproducible),
            rules: &rules,
            record: found.as_ref().map_or(0, |record| record.number),
            new_record: random() | 1,
            asserted: self.asserted.load(Relaxed),
            has_memory: arena.is_some() && (lowest != rank || reserved.is_some()),
        };
        let drawn = self.draw(mpi, job.has_threads, &mut own);
        let terms = drawn.inspect_err(|_| {
            reserved.as_ref().map(Piece::give_back);
        })?;
        let leaves_for_gpus = terms.leaves_for_gpus(self.config.gpu);
        if leaves_for_gpus && let Some(number) = self.number.take() {
            numbers::OWN.give_back(number);
        }
        match (self.number, arena) {
            (Some(number), Some(arena)) if terms.have_memory() => {
                let lowest = ranks[lowest as usize];
                self.place = Some(Place::new(arena, reserved, lowest, number, n));
            }
            (Some(_) | None, _) => {
                reserved.inspect(Piece::give_back);
            }
        }
        self.config = job.config_that_promises(terms.promise);
        if !terms.have_one_promise && rank == 0 {
            job::report_that_differ("RONDO_REPRODUCIBLE", self.facts.p);
        }
        let handed_out = terms.rules_to_hand_out;
        let rules = match handed_out {
            Some(count) => job::hand_out(mpi, comm, rank, count, &rules)?,
            None => rules,
        };
        self.gpu_may_come = job.gpu_may_come();
        self.closed = match self.number {
            _ if leaves_for_gpus => Some(Why::Gpu),
            None => Some(Why::NoRoom),
            Some(_) => None,
        };
        *self.rules = rules.among((self.facts.p, self.facts.nodes));
        let asked = (self.config.reproducible, rules.hash());
        let is_common = terms.have_one_record && handed_out.is_none() && !job.has_threads;
        // Like the options, rules go before what was measured. But a job may have measured them, and saved them: the
        // order of sums, which follows from the options' figures, may not follow from them.
        host::with_plain_floats(|| {
            self.told = self.config.network.or(&rules.network());
            self.record = match found.filter(|record| is_common && record.asked == asked) {
                Some(record) => record,
                None => Record::new(terms.new_record, ranks, topology, asked, &job.network),
            };
        });
        self.record.keep();
        Ok(())
    }

    /// What the ranks agree on, and the number that they draw: again if another thread of one of them was faster.
    /// Collective.
    fn draw(&mut self, mpi: &Mpi, has_threads: bool, own: &mut Own<'_>) -> Result<Terms, Code> {
        loop {
            let mut words = own.offer();
            self.all_of(mpi, words.all())?;
            let terms = Terms::of(words);
            // From here on it is given back with the state.
            self.number = (terms.number).filter(|&number| numbers::OWN.take(number));
            if !has_threads || terms.number.is_none() {
                return Ok(terms);
            }
            let mut have_it = [-i64::from(self.number.is_some())];
            self.all_of(mpi, &mut have_it)?;
            if have_it[0] != 0 {
                return Ok(terms);
            }
            if let Some(number) = self.number.take() {
                numbers::OWN.give_back(number);
            }
            own.word = random();
        }
    }

    /// The bitwise "and" of these numbers on all ranks, by the host. Collective.
    fn all_of(&self, mpi: &Mpi, numbers: &mut [i64]) -> Result<(), Code> {
        let waiting = self.waiting();
        let look = move |time| waiting.look(time);
        mpi.and_in_time(self.comm, numbers, waiting.interval(), look)
    }

    /// To agree takes no longer than `RONDO_TIMEOUT_S` either: it is part of the collective under way.
    fn waiting(&self) -> Waiting {
        Waiting {
            rank: self.rank,
            p: self.facts.p,
            name: report::under_way(),
            timeout_s: self.config.timeout_s,
        }
    }
}

/// A word that is another one each time.
fn random() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = now.map_or(0, |time| time.as_nanos() as u64);
    hash::of_words([
        nanos,
        COUNT.fetch_add(1, Relaxed),
        std::process::id().into(),
    ])
}
