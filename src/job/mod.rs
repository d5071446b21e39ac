//! What is the same for the whole job, agreed once, when it begins: options, nodes, rules, figures of the network, and
//! the private communicator on which all messages of Rondo's travel.
//!
//! It begins when `MPI_Init` has come back on all ranks ([`begin`]). If Rondo did not see that, because it was loaded
//! later, the first blocking collective on `MPI_COMM_WORLD` itself is the beginning, and until then calls are the
//! host's. No legal program with one thread calling MPI can then begin at different calls on different ranks: its
//! collectives on the world come in one order on all ranks, and each of its ranks makes the first of them. A process
//! whose threads call MPI at the same time may make that call while another of its calls, on another communicator, is
//! the host's on this rank and Rondo's on one that was faster. So if a rank has such threads, which all learn there,
//! the job stays the host's.

#![forbid(unsafe_code)]

mod arena;
mod end;
mod measure;
mod process;
mod proposal;
mod record;
mod ruled;
mod waiting;
mod words;

use crate::config::{self, Config, Gpu, Reproducible, StatsFormat};
use crate::decide::Why;
use crate::hash;
use crate::host::{
    self, Abi, Channel, Code, Comm, Failure, Group, Host, Mpi, TAG_BITS_MIN, TagSpace,
};
use crate::network::{Network, Placement};
use crate::records::{self, Concern};
use crate::report;
use crate::rules::Rules;
use crate::shm::Arena;
use crate::topology::Topology;
use once_cell::sync::OnceCell;
use parking_lot::ReentrantMutex;
use proposal::Proposal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub use end::{abort, end, end_early, figure};
pub use measure::{KNOWN, Measuring, tell as tell_of_network};
pub use process::process;
pub use proposal::BUILD;
pub use record::{called_with_sessions, exits, finalized, loaded};
pub use ruled::{give as give_rules, hand_out, keep, known as rules_known};
pub use waiting::Waiting;
pub use words::Words;

/// What the ranks of `MPI_COMM_WORLD` agreed on.
pub struct Job {
    /// The communicator of Rondo's messages: the ranks of the world, in their order.
    pub comm: Comm,
    p: u32,
    rank: u32,
    /// The names of the nodes of all ranks.
    names: Vec<u64>,
    /// The options, which are those of rank 0.
    pub config: Config,
    /// The same with each promise of bits that some communicator has by a hint.
    promising: [OnceCell<Config>; Reproducible::NAMES.len()],
    /// Bits that a tag may have on every rank.
    tag_bits: u32,
    /// Rank 0's.
    pub rules: Arc<Rules>,
    /// May a rank run on a machine that has a GPU?
    pub gpu_may_be_there: bool,
    /// What the ranks of this node share; on all nodes or none.
    pub arena: Option<Arc<Arena>>,
    /// What was measured of the network.
    pub network: Network,
    /// Do threads of a process call MPI at the same time?
    pub has_threads: bool,
}

/// How the job went on from its beginning.
pub enum Begun {
    /// Its ranks agreed.
    Job(Box<Job>),
    /// All calls are the host's, for this reason.
    Closed(Why),
}

impl Begun {
    /// The same in words.
    fn describe(&self) -> String {
        match self {
            Begun::Job(job) => job.describe(),
            Begun::Closed(why) => {
                format!(
                    "all calls of the job are the MPI library's ({})",
                    why.text()
                )
            }
        }
    }
}

static BEGUN: OnceCell<Begun> = OnceCell::new();

/// The thread has it that is in `MPI_Init`. It may come here again: an error handler of the program's, or a profiler's
/// `MPI_Init`, may call collectives meanwhile.
static BEGINS: ReentrantMutex<()> = ReentrantMutex::new(());

/// Calls `initialize`, in which the host's `MPI_Init` is called and the job begins.
pub fn while_beginning<T>(initialize: impl FnOnce() -> T) -> T {
    let _one = BEGINS.lock();
    initialize()
}

/// What came of the beginning, if there was one. If another thread is in it, that is waited for: to the program, which
/// may ask `MPI_Initialized`, MPI is there before the ranks have agreed, and this call on other ranks may find that
/// they have.
pub fn begun() -> Option<&'static Begun> {
    BEGUN.get().or_else(|| while_beginning(|| BEGUN.get()))
}

/// The job, if its ranks agreed.
pub fn job() -> Option<&'static Job> {
    match BEGUN.get() {
        Some(Begun::Job(job)) => Some(job),
        Some(Begun::Closed(_)) | None => None,
    }
}

/// The job begins, in an `MPI_Init` of this name. Collective over `MPI_COMM_WORLD`; nothing is done the second time.
pub fn begin(host: &'static Host, mpi: &'static Mpi, name: &'static str) -> Result<(), Code> {
    while_beginning(|| match BEGUN.get() {
        Some(_) => Ok(()),
        None => begin_in(host, mpi, name, false).map(|_| ()),
    })
}

/// The job begins in a call of this name, or in a collective on `MPI_COMM_WORLD` if that is late. Then no other thread
/// is to wait for this one, because the ranks that this one waits for may wait for that thread's call: which goes to
/// the host, like all calls where a process has such threads.
pub fn begin_in(
    host: &'static Host,
    mpi: &'static Mpi,
    name: &'static str,
    is_late: bool,
) -> Result<&'static Begun, Code> {
    report::enter(name);
    let begun = agree(host, mpi, name, is_late)?;
    Ok(BEGUN.get_or_init(|| begun))
}

fn agree(
    host: &'static Host,
    mpi: &'static Mpi,
    name: &'static str,
    is_late: bool,
) -> Result<Begun, Code> {
    let world = mpi.world();
    let (rank, p) = (mpi.rank(world)?, mpi.size(world)?);
    let own = process(host);
    end::prepare(host, mpi, &own.stats);
    if p < 2 {
        return Ok(Begun::Closed(Why::FewRanks));
    }
    if config::programs_of_job().is_some_and(|programs| programs > 1) && !own.mpmd {
        if rank == 0 {
            let text = "the job has several programs; as nothing says that all have Rondo, all calls go to the MPI \
                        library. To have it in each: 'rondo run', or RONDO_MPMD=on";
            report::line(0, text);
        }
        return Ok(Begun::Closed(Why::Programs));
    }
    let rules = ruled::at_the_beginning(host, mpi, own, rank);
    let outlives = mpi.is_of_mpich() && process::PROCESS.get().is_some_and(|own| own.outlives);
    if outlives {
        mpi.outlive();
    }
    let group = group_with_room(mpi);
    let mut words = proposal::offer(mpi, rank, own, outlives, group.is_some(), &rules);
    let waiting = Waiting {
        rank,
        p,
        name,
        timeout_s: own.timeout_s,
    };
    let (interval, look) = waiting.at_the_beginning(host);
    mpi.and_in_time(world, words.all(), interval, look)?;
    records::change(|record| record.waiting = false);
    let proposal = Proposal::of(words);
    if let Some(why) = adopt(host, own, rank, p, &proposal, is_late) {
        return Ok(Begun::Closed(why));
    }
    let config = own.adopt(&proposal.config);
    let rules = match proposal.rules_to_hand_out {
        Some(count) => ruled::hand_out(mpi, world, rank, count, &rules)?,
        None => rules,
    };
    // It is never freed: collectives that callbacks of the program's call in `MPI_Finalize` go the way of all others.
    let group = group.filter(|_| proposal.has_room);
    let comm = group.and_then(|group| private(mpi, &group));
    let names = names_of_nodes(mpi, rank, p, &own.node, comm.is_some())?;
    let (Some(comm), Some(names)) = (comm, names) else {
        if rank == 0 {
            let text =
                "the MPI library has no room for a communicator of Rondo's; all calls go to it";
            report::line(0, text);
        }
        return Ok(Begun::Closed(Why::NoRoom));
    };
    let mut job = Job {
        comm,
        p,
        rank,
        names,
        // Simulated ranks have no memory in common.
        config: Config {
            shm: config.shm && !Abi::BUILT.is_simulated(),
            ..config
        },
        promising: Default::default(),
        tag_bits: proposal.tag_bits,
        rules,
        gpu_may_be_there: proposal.gpu_may_be_there,
        arena: None,
        network: Network::NOTHING,
        has_threads: proposal.has_threads,
    };
    let topology = Topology::new(&job.names);
    job.arena = arena::share(host, mpi, &job, &topology)
        .unwrap_or_else(|failure| fail(mpi, "sharing memory", &failure));
    job.network = measure::at_the_beginning(mpi, &job, &topology);
    KNOWN.note(job.placement(), job.network);
    if job.config.trace && rank == 0 {
        let line = format!("{name}: {}", job.describe());
        report::line(host.world_rank(), &line);
    }
    Ok(Begun::Job(Box::new(job)))
}

/// Why all calls are the host's, as the ranks told each other. Says what they do not have in common.
fn adopt(
    host: &Host,
    own: &Config,
    rank: u32,
    p: u32,
    proposal: &Proposal,
    is_late: bool,
) -> Option<Why> {
    let is_first = rank == 0;
    if !proposal.same_build {
        if is_first {
            let text = format!(
                "{p} ranks loaded different versions or builds of Rondo; all calls go to the MPI library. Let all \
                 ranks load the same librondo.so ('rondo check' names the files)"
            );
            report::line(host.world_rank(), &text);
        }
        return Some(Why::Versions);
    }
    if is_first && !proposal.differences.is_empty() {
        report_that_differ(&proposal.differences.join(", "), p);
    }
    let config = own.adopt(&proposal.config);
    // In the end not all may be there to add up.
    if config.stats.format != StatsFormat::Off && !proposal.outlives {
        end::ADD_UP.store(true, Relaxed);
    }
    if !config.enabled {
        return Some(Why::Off);
    }
    if proposal.outlives {
        if is_first {
            report::line(0, host::OUTLIVES);
        }
        return Some(Why::Outlives);
    }
    if p < 3 {
        return Some(Why::FewRanks);
    }
    if is_late && proposal.has_threads {
        return Some(Why::NotBegun);
    }
    (proposal.tag_bits < TAG_BITS_MIN).then_some(Why::NoRoom)
}

/// Says once in a process that these options are not the same on all of `p` ranks.
pub fn report_that_differ(options: &str, p: u32) {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if REPORTED.swap(true, Relaxed) {
        return;
    }
    let text = format!(
        "{options} not the same on all of {p} ranks; the values of this rank are used by all. To set them everywhere: \
         'rondo run', mpirun -x NAME, srun --export=ALL"
    );
    report::line(host::host().world_rank(), &text);
    record::warned(Concern::OptionsDiffer, text);
}

/// The names of the nodes of all `p` ranks of the world, this one's being the user's unless that is empty. `None` if a
/// rank has no private communicator: the host may have failed on some ranks alone. Collective.
fn names_of_nodes(
    mpi: &Mpi,
    rank: u32,
    p: u32,
    name: &str,
    has_comm: bool,
) -> Result<Option<Vec<u64>>, Code> {
    let host = mpi.node_name();
    let own = hash::of_bytes(if name.is_empty() { &host } else { name }.as_bytes());
    let mut words = vec![i64::MIN; p as usize];
    words[rank as usize] = own as i64;
    words.push(i64::from(!has_comm));
    mpi.max(mpi.world(), &mut words)?;
    let have_comm = words.pop() == Some(0);
    Ok(have_comm.then(|| words.into_iter().map(|name| name as u64).collect()))
}

/// The ranks of the world, of which a private communicator can be made if all ranks have room for it. Local.
///
/// Of a group, because a duplicate would run the program's attribute copy callbacks.
fn group_with_room(mpi: &Mpi) -> Option<Group<'_>> {
    let group = Group::of(mpi, mpi.world()).ok();
    group.filter(|_| mpi.has_room())
}

/// The private communicator of this group. It may fail all the same, if no name for a communicator is free on all
/// ranks; whether it does may differ between ranks. Collective.
fn private(mpi: &Mpi, group: &Group) -> Option<Comm> {
    let made = mpi.private(mpi.world(), group).ok();
    made.filter(|&comm| mpi.return_errors(comm).is_ok())
}

/// The job ends before it has begun.
fn fail(mpi: &Mpi, what: &str, failure: &Failure) -> ! {
    let line = format!("{what} failed: {}", failure.text(mpi));
    abort(what, &line, failure.code())
}

impl Job {
    /// How messages travel that are of no communicator of the program's: number 0.
    fn channel(&self) -> Channel<'_> {
        Channel {
            ranks: None,
            p: self.p,
            ..self.channel_of(0, &[], self.rank)
        }
    }

    /// How messages travel of the communicator of this number, whose ranks these are in the world, where this process
    /// has the rank `me`.
    pub fn channel_of<'a>(&self, number: u32, ranks: &'a [u32], me: u32) -> Channel<'a> {
        Channel {
            comm: self.comm,
            ranks: Some(ranks),
            p: ranks.len() as u32,
            me,
            tags: TagSpace::new(number, self.tag_bits),
            timeout_s: self.config.timeout_s,
        }
    }

    /// The options, with this promise of bits.
    pub fn config_that_promises(&self, promise: Reproducible) -> &Config {
        if promise == self.config.reproducible {
            return &self.config;
        }
        self.promising[promise as usize].get_or_init(|| Config {
            reproducible: promise,
            ..self.config.clone()
        })
    }

    /// What was agreed on, in words.
    fn describe(&self) -> String {
        let (p, nodes, bits) = (self.p, self.placement().nodes, self.tag_bits);
        let memory = self.arena.as_ref().map_or(String::new(), |arena| {
            format!(", {} pieces of shared memory on each", arena.pieces())
        });
        format!("the job has {p} ranks on {nodes} nodes{memory}; tags have {bits} bits")
    }

    /// The names of the nodes of these ranks.
    pub fn names_of(&self, ranks: &[u32]) -> Vec<u64> {
        ranks
            .iter()
            .map(|&rank| self.names[rank as usize])
            .collect()
    }

    /// The nodes of the whole job.
    pub fn placement(&self) -> Placement {
        Placement::of(&self.names)
    }

    /// May a rank get memory of a GPU after the beginning? All ranks know alike.
    pub fn gpu_may_come(&self) -> bool {
        match self.config.gpu {
            Gpu::Auto => self.gpu_may_be_there,
            Gpu::Host => true,
            Gpu::Off => false,
        }
    }
}
