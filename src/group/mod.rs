//! What Rondo knows of a communicator: what its ranks agreed on at its first call, schedules, and the memory that one
//! call leaves to the next. It hangs on the communicator and dies with it.

#![forbid(unsafe_code)]

mod figures;
mod gpu;
mod join;
mod known;
mod memory;
pub mod numbers;
mod promise;
mod record;
mod terms;

use crate::collective::Collective;
use crate::config::{Config, StatsFormat};
use crate::decide::{Facts, Why};
use crate::engine::{Part, Schedules, Scratch, rooted};
use crate::flow::{Path, Volume};
use crate::host::{self, Attribute, Channel, Code, Comm, Failure, Host, InFlight, Mpi, Requests};
use crate::job;
use crate::learn::{self, Passing};
use crate::network::Network;
use crate::report;
use crate::rules::{Rules, Ruling};
use crate::schedule::Parts;
use crate::script::Script;
use crate::stats;
use crate::topology::Topology;
pub use gpu::assert_memory;
pub use known::known;
pub use memory::{Memory, Nodes, Place};
use parking_lot::{Mutex, MutexGuard};
pub use promise::{promise, report_bits_on};
use record::Record;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// State of a communicator.
pub struct State {
    /// Tells it from all others that this process had.
    serial: u64,
    comm: Comm,
    /// See [`host::was_freed_before`].
    was_freed_before: bool,
    rank: u32,
    /// What it has in common with others of the same ranks.
    record: Arc<Record>,
    /// Its number, unless it is closed: see [`numbers`].
    number: Option<u32>,
    /// Its place in the memory of this node, if it has one.
    place: Option<Place>,
    /// What decisions depend on, but for the network: [`State::facts`].
    pub facts: Facts,
    /// What the options say of the network, and then the rules.
    told: Network,
    config: &'static Config,
    /// Why every call on it goes to the host, if that is so.
    closed: Option<Why>,
    /// What rank 0 read in a file of rules, for so many ranks and nodes.
    rules: Box<Rules>,
    /// May a rank get memory of a GPU after the first call? All ranks know alike.
    pub gpu_may_come: bool,
    /// Do all ranks know that one of them may have memory that the processor cannot touch, since some call?
    gpu: AtomicBool,
    /// Did this process say that it passes no such memory to calls on this communicator?
    asserted: AtomicBool,
    /// Did this rank leave a call, because the host refuses it here, to which others may have sent it messages?
    was_left: AtomicBool,
    /// Of what a trace line was written, a bit each, for each collective.
    traced: [AtomicU64; Collective::COUNT],
    /// What calls use one after the other.
    work: Mutex<Work>,
}

/// What a running collective changes.
#[derive(Default)]
pub struct Work {
    /// Calls that Rondo took on, counted alike on all ranks.
    sequence: u64,
    /// Bytes of those among them whose bytes all ranks know.
    volume: Volume,
    /// What the trace says of in-flight control.
    pub told: Option<Path>,
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
    pub rooted_scratch: rooted::Scratch,
    /// Packets and blocks in flight.
    pub in_flight: InFlight,
    /// What collectives over nodes need.
    pub nodes: Nodes,
    /// What reductions, scans, barriers and exchanges do.
    pub script: Script,
}

static STATE: Attribute<Comm, State> = Attribute::new();

/// A report of statistics looks for a moment at what a call uses, from a thread of its own. What takes longer is
/// another call.
const PATIENCE: Duration = Duration::from_secs(1);

/// The states of all communicators that exist. They live until their communicators are freed, or until the process
/// ends: collectives that the program's own callbacks call in `MPI_Finalize` find what all other calls found.
static ALIVE: Mutex<Vec<&'static State>> = Mutex::new(Vec::new());

/// Calls `each` with all of them, if they can be had in so much time: a call that never ends may have them.
pub fn each(patience: Duration, each: impl FnMut(&&'static State)) {
    if let Some(alive) = ALIVE.try_lock_for(patience) {
        alive.iter().for_each(each);
    }
}

/// The state of `comm`, made if this is the first call on it. Collective then, unless the call `is_refused` on this
/// rank of so many. So is the beginning of the job, if this is the first call on `MPI_COMM_WORLD` and `MPI_Init` was
/// not seen.
///
/// `Err` carries a code that the host has already raised on the user's communicator.
#[inline]
pub fn state(
    host: &'static Host,
    mpi: &'static Mpi,
    comm: Comm,
    collective: Collective,
    is_refused: impl Fn(u32, u32) -> bool,
) -> Result<Lookup, Code> {
    match known::find(mpi, comm) {
        Ok(Some(state)) => Ok(Lookup::Known(state)),
        Ok(None) if host::is_being_freed(comm) => Ok(Lookup::Left(Why::Freed)),
        // Nothing is kept: the threads of a process have the communicator, and so what hangs on it, in common.
        Ok(None) if mpi.has_threads_as_ranks(comm)? => Ok(Lookup::Left(Why::Threads)),
        Ok(None) => first(host, mpi, comm, collective, is_refused),
        Err(code) if mpi.denies_comm(code) => Ok(Lookup::Invalid),
        Err(code) => Err(code),
    }
}

/// The first call on a communicator.
#[cold]
fn first(
    host: &'static Host,
    mpi: &'static Mpi,
    comm: Comm,
    collective: Collective,
    is_refused: impl Fn(u32, u32) -> bool,
) -> Result<Lookup, Code> {
    let mut begun = job::begun();
    if begun.is_none() && comm == mpi.world() {
        if is_refused(mpi.rank(comm)?, mpi.size(comm)?) {
            return Ok(Lookup::Refused);
        }
        begun = Some(job::begin_in(host, mpi, collective.mpi_name(), true)?);
    }
    let Some(begun) = begun else {
        return Ok(Lookup::Left(Why::NotBegun));
    };
    let made = join::join(host, mpi, comm, begun, collective, is_refused)?;
    Ok(made.map_or(Lookup::Refused, Lookup::Known))
}

/// What [`state`] found.
pub enum Lookup {
    /// The state of the communicator.
    Known(&'static State),
    /// The host knows no such communicator.
    Invalid,
    /// It has none, and its calls are the host's, for this reason.
    Left(Why),
    /// The host refuses the first collective on the communicator, for what this rank alone may see.
    Refused,
}

/// Calls `free`, in which the host frees `comm`. Collectives that delete callbacks of the program's call on it, which
/// all ranks call in it, find the state that it had, be Rondo's callback called before them or after.
pub fn while_freed(mpi: &Mpi, comm: Comm, free: impl FnOnce() -> c_int) -> c_int {
    STATE.while_freed(mpi, comm, false, free)
}

/// `MPI_Finalize` by `end`, in which the host lets go of its own communicators. The same holds.
pub fn while_ending(mpi: &Mpi, end: impl FnOnce() -> c_int) -> c_int {
    STATE.while_freed(mpi, mpi.myself(), true, || {
        STATE.while_freed(mpi, mpi.world(), true, end)
    })
}

/// Is the communicator of the state with this number still there? An error handler of the program's, called by the
/// host, may have freed it. Whether it was called does not show in what the host returns: MPICH 5 returns success
/// behind a handler.
pub fn is_alive(serial: u64) -> bool {
    ALIVE.lock().iter().any(|known| known.serial == serial)
}

impl State {
    /// See [`is_alive`].
    #[inline]
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// This process's rank in the communicator.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// How many ranks the communicator has.
    #[inline]
    pub fn p(&self) -> u32 {
        self.facts.p
    }

    /// What decisions depend on, with all that is known of the network by now.
    pub fn facts(&self) -> Facts {
        Facts {
            network: self.told.or(&self.record.network.get()),
            ..self.facts
        }
    }

    /// The number of what is known of the network: see [`network::Shared::edition`].
    #[inline]
    pub fn edition(&self) -> u32 {
        self.record.network.edition()
    }

    /// What is learnt of the calls on it, and on others of the same ranks.
    pub fn learnt(&self) -> &Mutex<learn::Table> {
        &self.record.learnt
    }

    /// Calls on these that are passed on.
    #[inline]
    pub fn passing(&self) -> &Passing {
        &self.record.passing
    }

    /// Which ranks share a node.
    pub fn topology(&self) -> &Topology {
        &self.record.topology
    }

    /// The ranks of this rank's node, ascending.
    pub fn locals(&self) -> &[u32] {
        self.topology().locals(self.topology().node(self.rank))
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
    pub fn config(&self) -> &'static Config {
        self.config
    }

    /// Why every call on this communicator goes to the host, if that is so.
    #[inline]
    pub fn closed(&self) -> Option<Why> {
        let gpu = || self.gpu.load(Relaxed).then_some(Why::Gpu);
        self.closed.or_else(gpu)
    }

    /// Is there no room for the communicator, though bits were promised that the host does not have? A promise is not
    /// broken for want of room.
    #[inline]
    pub fn lacks_promised_bits(&self) -> bool {
        self.closed == Some(Why::NoRoom) && !self.config.reproducible.is_kept_by_host()
    }

    /// Are calls timed?
    #[inline]
    pub fn timed(&self) -> bool {
        self.config.stats.format != StatsFormat::Off
    }

    /// Is nobody told of single calls?
    #[inline]
    pub fn is_quiet(&self) -> bool {
        !self.timed() && !self.config.trace
    }

    /// Is it the first call of a collective for which a trace line is written under this bit?
    pub fn is_first(&self, collective: Collective, bit: u32) -> bool {
        let traced = &self.traced[collective as usize];
        traced.fetch_or(1 << bit, Relaxed) & 1 << bit == 0
    }

    /// What a call uses. If another one has it, a thread of the program's makes two calls at a time, or an operator
    /// called this one, which would wait for itself for ever: the job ends.
    pub fn work(&self) -> MutexGuard<'_, Work> {
        (self.work.try_lock_for(PATIENCE)).unwrap_or_else(|| {
            let name = report::under_way();
            let line = format!(
                "{name}: called while another collective on this communicator is under way, by an operator or by \
                 another thread"
            );
            job::abort(name, &line, Code::intern())
        })
    }

    /// How the messages of calls that are Rondo's travel.
    #[inline]
    pub fn channel(&self) -> Channel<'_> {
        let (Some(job), Some(number)) = (job::job(), self.number) else {
            unreachable!("without a number all calls are the host's");
        };
        job.channel_of(number, &self.record.ranks, self.rank)
    }

    /// Element-wise maximum of `numbers` over all ranks, in their place. Collective: all ranks ask between the same two
    /// calls.
    pub fn max(&self, mpi: &Mpi, numbers: &mut [i64]) -> Result<(), Failure> {
        mpi.max_over(self.channel(), numbers)
    }

    /// Do the ranks of all nodes share memory? All ranks know alike.
    pub fn shares_memory(&self) -> bool {
        self.place.is_some()
    }

    /// The first call of Rondo's on the communicator has this place in the memory of the node, if there is one.
    pub fn find_memory(&self, work: &mut Work) {
        let me = self.topology().local(self.rank);
        let place = self.place.as_ref();
        work.nodes.memory = place.and_then(|place| place.memory(me, progress));
    }

    /// This rank leaves a call to the host, which refuses it here, though others may make it.
    #[cold]
    pub fn note_left(&self) {
        self.was_left.store(true, Relaxed);
    }

    /// Adds what was saved on this communicator, and what it takes, to the statistics. What a call has in use, in which
    /// the job may end, is passed over.
    pub fn account(&self) {
        if let Some(mut learnt) = self.record.learnt.try_lock() {
            learnt.take_saved(stats::add_saved);
        }
        stats::add_memory(self.facts.p, self.facts.nodes, self.memory());
    }

    /// What it takes in this process, and what its node shares.
    fn memory(&self) -> stats::Memory {
        let work = self.work.try_lock();
        let (own, shared) = work.map_or((0, false), |work| {
            (work.bytes(), work.nodes.memory.is_some())
        });
        stats::Memory {
            own: (size_of::<State>() + self.record.bytes() + own) as u64,
            shared: if shared { self.config.shm_bytes } else { 0 },
        }
    }
}

/// The host moves its messages.
fn progress() {
    if let (Ok(mpi), Some(job)) = (host::host().mpi(), job::job()) {
        mpi.progress(job.comm);
    }
}

impl Work {
    /// Bytes on the heap.
    fn bytes(&self) -> usize {
        self.schedules.bytes()
            + self.parts.bytes()
            + self.cut.capacity() * size_of::<Part>()
            + self.scratch.bytes()
            + self.requests.bytes()
            + self.rooted_scratch.bytes()
            + self.in_flight.bytes()
            + self.nodes.bytes()
            + self.script.bytes()
    }

    /// Counts a call that Rondo takes on.
    pub fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Counts the bytes of a call, which all ranks know. Are they to agree on what is known of the network before it?
    pub fn is_to_agree(&mut self, bytes: u64) -> bool {
        self.volume.is_to_agree(bytes)
    }
}

impl Drop for State {
    /// Runs in the delete callback: local, no messages.
    fn drop(&mut self) {
        ALIVE.lock().retain(|state| !std::ptr::eq(*state, self));
        self.account();
        job::keep(host::host(), self);
        let was_used = self.work.get_mut().sequence > 0;
        if let Some(place) = &self.place {
            place.leave(was_used, progress);
        }
        let Some(number) = self.number.filter(|_| !self.was_left.load(Relaxed)) else {
            return;
        };
        match self.place.take().filter(|place| place.leads) {
            Some(place) => numbers::OWN.give_back_when_clear(number, place),
            None => numbers::OWN.give_back(number),
        }
    }
}
