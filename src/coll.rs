//! Where the layers meet: what happens to every intercepted call, and a file for each kind of
//! collective. Is it ours? Choose, fetch state, run, count.

#![forbid(unsafe_code)]

mod allgather;
mod alltoall;
mod barrier;
mod bcast;
mod crowd;
mod forward;
mod hints;
mod nodes;
mod order;
mod reduction;
mod room;
mod rooted;
mod running;
mod scans;
mod select;
mod slots;
mod traffic;
mod transfer;
mod writing;

use crate::collective::Collective;
use crate::comm::{self, Figures, Lookup, State, Work};
pub use crate::comm::{figure, give_rules};
pub use crate::decide::Why;
use crate::decide::{self, Choice, Context, Method, Problem};
use crate::host::{self, Abi, Call, Code, Comm, Failure, Host, Mpi};
use crate::learn::Turn;
use crate::report;
use crate::stats;
use select::Open;
use std::ffi::c_int;
use std::time::Instant;

pub use forward::forward;
pub use hints::hint;

/// A call of a collective that Rondo takes over.
pub trait Operation: Call {
    /// What its family decides on.
    type Problem<'a>: Problem;

    /// Which one.
    fn collective(&self) -> Collective;

    /// Bytes that every rank has in the end; `None` if an argument is invalid. Reads arguments that are
    /// significant on this rank only. Not asked of a call on an inter-communicator.
    fn bytes(&self, mpi: &Mpi, state: &State) -> Option<u64>;

    /// Decides; `None` if an argument is invalid. Reads nothing of the data and sends nothing.
    fn plan(&self, mpi: &Mpi, state: &State) -> Option<Plan>;

    /// What the rules of its family say where all ranks know so many bytes, if any.
    #[inline]
    fn decide(&self, known: Option<u64>, state: &State) -> Plan {
        let (choice, open) = match decide::hosts_anyway(state.config(), state.p(), known) {
            Some(why) => (Choice::Host(why), None),
            None => self.ask(known, state, |problem| {
                let choice = problem.choose();
                (choice, select::may_change(&problem, choice, state))
            }),
        };
        Plan {
            known,
            open,
            ..Plan::new(choice, known.unwrap_or(0))
        }
    }

    /// Asks about the problem of [`Operation::with_problem`]. The answer does not depend on how this rank rounds.
    #[inline]
    fn ask<T>(
        &self,
        known: Option<u64>,
        state: &State,
        question: impl FnOnce(Self::Problem<'_>) -> T,
    ) -> T {
        host::with_plain_floats(|| self.with_problem(known, state, question))
    }

    /// Calls `question` with what is to be decided about the call, of which all ranks know so many bytes, if any.
    fn with_problem<T>(
        &self,
        known: Option<u64>,
        state: &State,
        question: impl FnOnce(Self::Problem<'_>) -> T,
    ) -> T;

    /// Is it carried out in a way of its own, because the communicator is new? Its time says nothing of later calls.
    fn is_provisional(&self, _plan: &Plan, _state: &State) -> bool {
        false
    }

    /// Does it wait for a function of the program's? Then the time of its messages is not the network's.
    fn waits_for_program(&self) -> bool {
        false
    }

    /// Carries it out by this method, which the plan has chosen. Until the first message the call can still go to the
    /// host, or fail with an MPI error; after it there is no way back, because the other ranks count on this one. Gives
    /// the choice in effect: the ranks may have found that they need another one.
    fn attempt(
        &self,
        method: Method,
        plan: &Plan,
        mpi: &Mpi,
        state: &State,
    ) -> Result<Choice, Stop>;

    /// Hands the call to the host, as Rondo's choice.
    fn leave(&self, host: &Host, _usable: &Mpi, _state: &State) -> c_int {
        self.pass(host)
    }

    /// The call in words, after its name.
    fn describe(&self, plan: &Plan) -> String;
}

/// A decision, and the bytes it was made for.
#[derive(Clone, Copy)]
pub struct Plan {
    choice: Choice,
    bytes: u64,
    /// The bytes of the message, or of every rank's block, if all ranks know them.
    known: Option<u64>,
    /// What may be said otherwise of it than the built-in choice does.
    open: Option<Open>,
    /// Is it the host's, because the network has not been measured yet?
    is_early: bool,
    /// Of which size class it is and who has it, if its time counts in a comparison, or in the statistics of those.
    timed: Option<(u8, Turn)>,
}

impl Plan {
    fn new(choice: Choice, bytes: u64) -> Plan {
        Plan {
            choice,
            bytes,
            known: None,
            open: None,
            is_early: false,
            timed: None,
        }
    }
}

/// Where a call of this collective is made.
fn context(collective: Collective, state: &State) -> Context<'_> {
    Context {
        collective,
        facts: state.facts(),
        config: state.config(),
    }
}

/// Why Rondo did not carry a call out.
pub enum Stop {
    /// The host should have it; nothing was sent.
    Host(Why),
    /// An error, to be raised on the user's communicator; nothing was sent. All ranks say so.
    Error(Code),
    /// An error that the host has raised there; nothing was sent. What belongs to the communicator may be gone with it.
    Raised(Code),
    /// Something failed that the other ranks cannot know of.
    Broken(Failure),
}

/// Carries out an intercepted call and gives the code to return.
pub fn call<O: Operation>(call: &O) -> c_int {
    host::no_trouble();
    host::abandon_watch();
    let host = host::host();
    let mpi = match host.mpi() {
        Ok(mpi) => mpi,
        Err(_) => {
            comm::process(host); // says so, once
            return pass(host, call, Why::Unusable, 0);
        }
    };
    if !mpi.world_is_up() {
        comm::called_with_sessions();
        return pass_unknown(host, mpi, call, Why::NoWorld);
    }
    let Some(comm) = call.comm(mpi) else {
        return pass(host, call, Why::Invalid, 0);
    };
    let state = match comm::state(host, mpi, comm, call.collective()) {
        Ok(Lookup::Known(state)) => state,
        Ok(Lookup::Invalid) => return pass(host, call, Why::Invalid, 0),
        Ok(Lookup::Freed) => return pass(host, call, Why::Freed, 0),
        Ok(Lookup::Threads) => return pass_unknown(host, mpi, call, Why::Threads),
        Err(code) => return code.get(),
    };
    let mut start = state.timed().then(Instant::now);
    // Asked before the call: an error handler may free the communicator in it.
    let traces = state.config().trace;
    let promised = call
        .collective()
        .family()
        .reduces()
        .then(|| state.config().reproducible);
    // In two steps, so that the plan, which is large, is made where it stays: one match for both copies it.
    let mut plan = match state.closed() {
        Some(why) => passed_on(why, mpi, state, call),
        None => plan(mpi, state, call),
    };
    if state.closed().is_none()
        && let Err(code) = decide(&mut plan, host, mpi, state, call, &mut start)
    {
        return code.get();
    }
    if traces {
        state.trace(host, call.collective(), plan.choice, plan.bytes);
    }
    let (rc, choice) = match plan.timed {
        Some(timed) => select::on_trial(timed, &plan, host, mpi, state, call),
        None => carry_out(&plan, host, mpi, state, call),
    };
    if traces && choice != plan.choice && matches!(choice, Choice::Rondo(_)) {
        state.trace_instead(host, call.collective(), choice, plan.bytes);
    }
    if let Some(start) = start {
        stats::add_time(call.collective(), choice, start.elapsed());
        if let Some(promise) = promised.filter(|_| choice.is_promised()) {
            stats::count_promised(promise);
        }
    }
    rc
}

/// Who is to carry a call out, and how. What has to be measured of the network first is not part of the call's time.
#[inline]
fn decide<O: Operation>(
    plan: &mut Plan,
    host: &Host,
    mpi: &Mpi,
    state: &State,
    call: &O,
    start: &mut Option<Instant>,
) -> Result<(), Code> {
    // A call that is invalid on this rank is no call on the others. What is the host's whatever the network is needs no
    // figures.
    let is_rondos = matches!(plan.choice, Choice::Rondo { .. });
    if is_rondos || plan.choice.is_open() {
        let family = call.collective().family();
        match state.figures(family, plan.known, is_rondos) {
            Figures::There => {}
            Figures::Missing => {
                calibrate(host, mpi, state, call)?;
                *start = state.timed().then(Instant::now);
                *plan = self::plan(mpi, state, call);
            }
            Figures::Later => plan.is_early = !is_rondos,
        }
    }
    select::select(plan, host, mpi, state, call)
}

/// The library was loaded.
pub fn loaded() {
    comm::loaded();
}

/// The process exits.
pub fn exits() {
    comm::exits();
}

/// `MPI_Finalize`: what is to be done first, then `next`, in which the host frees `MPI_COMM_SELF` and lets go of
/// `MPI_COMM_WORLD`.
pub fn finalize(next: impl FnOnce() -> c_int) -> c_int {
    comm::finalized();
    comm::end();
    match host::host().mpi() {
        Ok(mpi) if mpi.world_is_up() => comm::while_ending(mpi, next),
        _ => next(),
    }
}

/// The program calls `MPI_Abort`.
pub fn abort() {
    comm::end_early("MPI_Abort");
}

/// `MPI_Comm_idup`, with hints or without, of the communicator of this handle, by `next`.
#[cfg(all(any(abi = "openmpi", feature = "one"), not(feature = "direct")))]
pub fn duplicate(handle: host::RawHandle, next: impl FnOnce() -> c_int) -> c_int {
    if cfg!(abi = "openmpi")
        && let Ok(mpi) = host::host().mpi()
        && mpi.world_is_up()
        && let Some(comm) = handle.as_comm(mpi)
    {
        comm::duplicate(mpi, comm);
    }
    next()
}

/// A function that frees a communicator, by `next`. `handle` says which, unless it can be none.
pub fn free(handle: impl FnOnce(&Mpi) -> Option<Comm>, next: impl FnOnce() -> c_int) -> c_int {
    let mpi = host::host().mpi();
    let mpi = mpi.ok().filter(|mpi| mpi.world_is_up());
    match mpi.and_then(|mpi| Some((mpi, handle(mpi)?))) {
        // The host refuses to free its own, whose collectives go on on the other ranks.
        Some((mpi, comm)) if comm == mpi.world() || comm == mpi.myself() => next(),
        Some((mpi, comm)) => comm::while_freed(mpi, comm, next),
        None => next(),
    }
}

#[inline]
fn plan<O: Operation>(mpi: &Mpi, state: &State, call: &O) -> Plan {
    let plan = call.plan(mpi, state);
    plan.unwrap_or_else(|| passed_on(Why::Invalid, mpi, state, call))
}

/// A call that is the host's.
#[inline]
fn passed_on<O: Operation>(why: Why, mpi: &Mpi, state: &State, call: &O) -> Plan {
    let bytes = match state.timed() {
        // The arguments of an inter-communicator mean something else: no bytes.
        true if why != Why::Inter => call.bytes(mpi, state).unwrap_or(0),
        true | false => 0,
    };
    Plan::new(Choice::Host(why), bytes)
}

/// The code to return, and who carried the call out in the end. The communicator is free for other
/// calls again when an error handler of the user's runs.
#[inline]
fn carry_out<O: Operation>(
    plan: &Plan,
    host: &Host,
    mpi: &Mpi,
    state: &State,
    call: &O,
) -> (c_int, Choice) {
    let method = match plan.choice {
        Choice::Host(why) => {
            return (leave(host, mpi, state, call, why, plan.bytes), plan.choice);
        }
        // It counts as full-lane, and is carried out as what runs in the lanes.
        Choice::Rondo(method) => Method {
            algorithm: (call.collective().family()).in_lanes(method.algorithm),
            ..method
        },
    };
    report::enter(call.collective().mpi_name());
    state.look_for_devices();
    let rc = match call.attempt(method, plan, mpi, state) {
        Ok(choice) => return (0, choice),
        Err(Stop::Error(code)) => mpi.raise(state.comm(), code),
        Err(Stop::Raised(code)) => code.get(),
        Err(Stop::Broken(failure)) => fatal(host, mpi, state, call, &call.describe(plan), &failure),
        Err(Stop::Host(why)) => {
            if why == Why::Invalid {
                state.stray();
            }
            let rc = leave(host, mpi, state, call, why, plan.bytes);
            return (rc, Choice::Host(why));
        }
    };
    (rc, plan.choice)
}

/// Hands a call to the host.
#[inline]
fn pass<O: Operation>(host: &Host, call: &O, why: Why, bytes: u64) -> c_int {
    stats::count(call.collective(), Choice::Host(why), bytes);
    call.pass(host)
}

/// Hands a call to the host whose communicator Rondo may keep nothing of. What is promised of bits does not hold there.
#[cold]
fn pass_unknown<O: Operation>(host: &Host, mpi: &Mpi, call: &O, why: Why) -> c_int {
    let code = pass(host, call, why, 0);
    // If it went well, the communicator is one.
    if code == 0
        && call.collective().family().reduces()
        && let Some(comm) = call.comm(mpi)
    {
        comm::report_bits_on(host, mpi, comm, why);
    }
    code
}

/// Hands a call to the host that might have been Rondo's.
#[inline]
fn leave<O: Operation>(
    host: &Host,
    mpi: &Mpi,
    state: &State,
    call: &O,
    why: Why,
    bytes: u64,
) -> c_int {
    match why {
        Why::OneNode
        | Why::Slower
        | Why::Promise
        | Why::Small
        | Why::SmallComm
        | Why::Empty
        | Why::NoRoom
        | Why::Memory
        | Why::Rule
        | Why::Measured
        | Why::Trial
        | Why::SetUp => {
            stats::count(call.collective(), Choice::Host(why), bytes);
            call.leave(host, mpi, state)
        }
        Why::Invalid => match mpi.trouble() {
            Some(code) => mpi.raise(state.comm(), code),
            None => pass(host, call, why, bytes),
        },
        // Told to leave it alone, or calls that are none of Rondo's.
        Why::Off
        | Why::Configured
        | Why::FewRanks
        | Why::Inter
        | Why::Versions
        | Why::Outlives
        | Why::Unusable
        | Why::Outside
        | Why::NoWorld
        | Why::Freed
        | Why::Threads
        | Why::Gpu
        | Why::Nonblocking
        | Why::Persistent
        // Reasons for Rondo, never for the host.
        | Why::Order
        | Why::Inexact
        | Why::Repeats
        | Why::NoLanes
        | Why::Auto => pass(host, call, why, bytes),
    }
}

/// The number of this call. Counted before anything that may differ between ranks, so that their counts agree.
fn begin(work: &mut Work, private: Comm, mpi: &Mpi, state: &State) -> Result<u64, Stop> {
    let sequence = work.next_sequence();
    let strayed = state.has_strayed();
    (work.requests.strayed, work.in_flight.strayed) = (strayed, strayed);
    work.nodes.space.requests.strayed = strayed;
    (work.requests.flow).set_whole(state.widest() == 1);
    if state.asks_for_gpus(sequence) {
        let found = state.ask_for_gpus(host::host(), mpi, private);
        let found = found.map_err(|code| Failure::Host(code, "asking for GPUs"));
        if found.map_err(Stop::Broken)? {
            return Err(Stop::Host(Why::Gpu));
        }
    }
    if sequence == 1 {
        expect_of_network(work, state);
    }
    Ok(sequence)
}

/// The same for a call whose bytes all ranks know: now and then they agree on the rate.
fn begin_and_agree<O: Operation>(
    call: &O,
    (method, plan): (Method, &Plan),
    work: &mut Work,
    private: Comm,
    mpi: &Mpi,
    state: &State,
) -> Result<u64, Stop> {
    let sequence = begin(work, private, mpi, state)?;
    // In an exchange over nodes several ranks of a node send, because the messages between nodes are divided among
    // them.
    let leads = method.has_leaders() && !call.collective().family().is_exchange();
    let facts = state.facts();
    let is_whole = facts.nodes > 1 && (facts.widest == 1 || leads);
    (work.requests.flow).set_whole(is_whole && !call.waits_for_program());
    if work.is_to_agree(plan.bytes) && !Abi::BUILT.is_simulated() {
        agree_on_rate(work, private, mpi, state)?;
    }
    Ok(sequence)
}

/// Says what is to be expected of messages between nodes: at the first call, and whenever the figures of the network
/// have changed.
#[cold]
fn expect_of_network(work: &mut Work, state: &State) {
    host::with_plain_floats(|| {
        let (between, _) = state.facts().models(state.config());
        (work.requests.flow).expect(between.alpha_us, between.bytes_per_us());
    });
}

/// The ranks agree on what they learnt of the network from calls.
#[cold]
fn agree_on_rate(work: &mut Work, private: Comm, mpi: &Mpi, state: &State) -> Result<(), Stop> {
    let mut figures = work.requests.flow.offer();
    let agreed = state.max(mpi, private, &mut figures);
    let agreed = agreed.map_err(|code| Failure::Host(code, "agreeing on the network"));
    agreed.map_err(Stop::Broken)?;
    if let Some(rate) = host::with_plain_floats(|| work.requests.flow.agree(figures)) {
        let learnt = state.learn_rate(host::host(), mpi, private, rate);
        learnt.map_err(Stop::Broken)?;
        expect_of_network(work, state);
    }
    Ok(())
}

/// Measures the network before a call, unless others have by now. An error was raised on the user's communicator.
#[cold]
fn calibrate<O: Operation>(host: &Host, mpi: &Mpi, state: &State, call: &O) -> Result<(), Code> {
    report::enter(call.collective().mpi_name());
    if state.learn_from_others(mpi)? {
        expect_of_network(&mut state.work.lock(), state);
        return Ok(());
    }
    let Some(private) = state.private(mpi)? else {
        return Ok(());
    };
    if let Err(failure) = state.calibrate(host, mpi, private) {
        let what = "while the network was measured";
        fatal(host, mpi, state, call, what, &failure);
    }
    expect_of_network(&mut state.work.lock(), state);
    Ok(())
}

/// The private communicator, for a call that is Rondo's. Nothing is locked: errors may be raised on the user's
/// communicator.
fn private(mpi: &Mpi, state: &State) -> Result<Comm, Stop> {
    found(state.private(mpi))
}

/// The private communicator, if there is one.
fn found(private: Result<Option<Comm>, Code>) -> Result<Comm, Stop> {
    match private {
        Ok(private) => private.ok_or(Stop::Host(Why::NoRoom)),
        Err(code) => Err(Stop::Raised(code)),
    }
}

/// Something failed after the first message. The other ranks may be waiting for blocks that will
/// never come, and this rank's buffer is half written: the job ends here, with a reason.
#[cold]
fn fatal<O: Operation>(
    host: &Host,
    mpi: &Mpi,
    state: &State,
    call: &O,
    what: &str,
    failure: &Failure,
) -> ! {
    let name = call.collective().mpi_name();
    let (rank, p) = (state.rank(), state.p());
    comm::end_early(&format!("{name} failed"));
    report::fatal(
        host.world_rank(),
        &format!(
            "{name} {what} failed on rank {rank} of {p}: {}; aborting the job",
            failure.text(mpi)
        ),
    );
    mpi.abort(state.comm(), failure.code())
}
