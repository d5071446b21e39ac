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
mod passed;
mod reduction;
mod remembered;
mod room;
mod rooted;
mod running;
mod scans;
mod select;
mod slots;
mod trace;
mod traffic;
mod transfer;
mod writing;

use crate::collective::Collective;
pub use crate::decide::Why;
use crate::decide::{self, Choice, Context, Method, Problem};
use crate::group::{self, Lookup, State, Work};
use crate::host::{self, Abi, Call, Code, Comm, Datatype, Failure, Host, Layout, Mpi};
use crate::job;
pub use crate::job::{figure, give_rules};
use crate::learn::Turn;
use crate::report;
use crate::stats;
pub use order::{RECEIVE_WINDOW, SEND_WINDOW};
use passed::{Stays, leave, pass, pass_on, pass_unknown, refuse};
use remembered::{Question, Rest, remembered};
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

    /// Makes a new plan complete; `None` if an argument is invalid. Reads nothing of the data and sends nothing.
    ///
    /// In its place, because a processor waits where it copies what has just been written in parts: three copies of a
    /// plan took as long as the decision.
    fn plan(&self, mpi: &Mpi, state: &State, plan: &mut Plan) -> Option<()>;

    /// Plans what the rules of its family say where all ranks know so many bytes, if any.
    #[inline]
    fn decide(&self, known: Option<u64>, state: &State, plan: &mut Plan) {
        (plan.known, plan.bytes) = (known, known.unwrap_or(0));
        (plan.choice, plan.open) = match decide::hosts_anyway(state.config(), state.p(), known) {
            Some(why) => (Choice::Host(why), None),
            None => {
                let choose = || {
                    self.ask(known, state, |problem| {
                        let choice = problem.choose();
                        (choice, select::may_change(&problem, choice, state))
                    })
                };
                match self.rest(known, state) {
                    Some(rest) => {
                        let question = Question::new(state, self.collective(), known, rest);
                        remembered(question, choose)
                    }
                    None => choose(),
                }
            }
        };
    }

    /// All that [`Operation::with_problem`] depends on besides the bytes and the communicator, if that is little.
    fn rest(&self, known: Option<u64>, state: &State) -> Option<Rest>;

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

    /// Do the bits of its result depend on the order of operands?
    fn depends_on_order(&self, _mpi: &Mpi) -> bool {
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
    /// Of which size class it is and who has it, if its time counts in a comparison, or in the statistics of those.
    timed: Option<(u8, Turn)>,
    /// For how long it is the host's.
    stays: Stays,
}

impl Plan {
    /// One that is to be made.
    fn new() -> Plan {
        Plan {
            choice: Choice::Host(Why::Invalid),
            bytes: 0,
            known: None,
            open: None,
            timed: None,
            stays: Stays::Once,
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

/// Carries out an intercepted call, the arguments of which `packed` packs, and gives the code to return.
///
/// They are packed again for a call that is not passed on at once: so there is nothing in memory to come back to if it
/// is, and the host's function is jumped to.
#[inline]
pub fn call<O: Operation>(packed: impl Fn() -> O) -> c_int {
    let call = packed();
    match passed::pass_at_once(&call) {
        Some(code) => code,
        None => consider(&packed()),
    }
}

/// Carries out a call about which something is to be decided.
#[inline(never)]
fn consider<O: Operation>(call: &O) -> c_int {
    host::no_trouble();
    host::abandon_watch();
    let host = host::host();
    let mpi = match host.mpi() {
        Ok(mpi) => mpi,
        Err(_) => {
            job::process(host); // says so, once
            return pass(host, call, Why::Unusable, 0);
        }
    };
    if !mpi.world_is_up() {
        job::called_with_sessions();
        return pass_unknown(host, mpi, call, Why::NoWorld);
    }
    let Some(comm) = call.comm(mpi) else {
        return pass(host, call, Why::Invalid, 0);
    };
    let is_refused = |rank, p| call.is_refused(mpi, rank, p);
    let state = match group::state(host, mpi, comm, call.collective(), is_refused) {
        Ok(Lookup::Known(state)) => state,
        Ok(Lookup::Invalid) => return pass(host, call, Why::Invalid, 0),
        Ok(Lookup::Refused) => return refuse(host, mpi, comm, call, 0),
        Ok(Lookup::Left(why)) => return pass_unknown(host, mpi, call, why),
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
    let mut plan = Plan::new();
    match state.closed() {
        Some(Why::NoRoom) if state.lacks_promised_bits() && call.depends_on_order(mpi) => {
            return mpi.raise(comm, Code::no_mem());
        }
        Some(why) => pass_on(why, mpi, state, call, &mut plan),
        None => {
            self::plan(mpi, state, call, &mut plan);
            if plan.choice != Choice::Host(Why::Invalid)
                && let Err(code) = decide(&mut plan, host, mpi, state, call, &mut start)
            {
                return code.get();
            }
        }
    }
    passed::remember(&plan, mpi, state, call);
    if traces {
        trace::choice(state, host, call.collective(), plan.choice, plan.bytes);
    }
    let (rc, instead) = match plan.timed {
        Some(timed) => select::on_trial(timed, &plan, host, mpi, state, call),
        None => carry_out(&plan, host, mpi, state, call),
    };
    if traces && let Some(choice @ Choice::Rondo(_)) = instead {
        trace::choice_instead(state, host, call.collective(), choice, plan.bytes);
    }
    if let Some(start) = start {
        let choice = instead.unwrap_or(plan.choice);
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
    // What is the host's whatever the network is needs no figures.
    let needs_figures = matches!(plan.choice, Choice::Rondo { .. }) || plan.choice.is_open();
    if needs_figures && state.is_contradicted() {
        measure_again(mpi, state, call);
        *start = state.timed().then(Instant::now);
        *plan = Plan::new();
        self::plan(mpi, state, call, plan);
    }
    select::select(plan, host, mpi, state, call)
}

/// The library was loaded.
pub fn loaded() {
    job::loaded();
}

/// A function that initialises MPI, by `next`, after which the job begins.
pub fn initialize(next: impl FnOnce() -> c_int) -> c_int {
    job::while_beginning(next)
}

/// `MPI_Init` has come back by this name: the job begins. Gives the code to return.
pub fn begin(name: &'static str) -> c_int {
    let host = host::host();
    let Ok(mpi) = host.mpi() else { return 0 };
    if !mpi.world_is_up() {
        return 0;
    }
    match job::begin(host, mpi, name) {
        Ok(()) => 0,
        Err(code) => code.get(),
    }
}

/// The process exits.
pub fn exits() {
    job::exits();
}

/// `MPI_Finalize`: what is to be done first, then `next`, in which the host frees `MPI_COMM_SELF` and lets go of
/// `MPI_COMM_WORLD`.
pub fn finalize(next: impl FnOnce() -> c_int) -> c_int {
    job::finalized();
    job::end();
    match host::host().mpi() {
        Ok(mpi) if mpi.world_is_up() => group::while_ending(mpi, next),
        _ => next(),
    }
}

/// The program calls `MPI_Abort`.
pub fn abort() {
    job::end_early("MPI_Abort");
}

/// A function that frees a communicator, by `next`. `handle` says which, unless it can be none.
pub fn free(handle: impl FnOnce(&Mpi) -> Option<Comm>, next: impl FnOnce() -> c_int) -> c_int {
    let mpi = host::host().mpi();
    let mpi = mpi.ok().filter(|mpi| mpi.world_is_up());
    match mpi.and_then(|mpi| Some((mpi, handle(mpi)?))) {
        // The host refuses to free its own, whose collectives go on on the other ranks.
        Some((mpi, comm)) if comm == mpi.world() || comm == mpi.myself() => next(),
        Some((mpi, comm)) => group::while_freed(mpi, comm, next),
        None => next(),
    }
}

/// Plans a call. One that the host refuses here is the host's: the other ranks need not make it, so nothing is counted.
#[inline]
fn plan<O: Operation>(mpi: &Mpi, state: &State, call: &O, plan: &mut Plan) {
    let is_valid = call.plan(mpi, state, plan).is_some();
    // Nobody else notices a call that is the host's whatever is known. Others are counted, or carried out.
    let is_noticed = matches!(plan.choice, Choice::Rondo(_)) || plan.choice.is_open();
    if !is_valid || (is_noticed && call.is_refused(mpi, state.rank(), state.p())) {
        *plan = Plan::new();
        pass_on(Why::Invalid, mpi, state, call, plan);
    }
}

/// The code to return, and who carried the call out in the end if not as planned. The communicator is free for other
/// calls again when an error handler of the user's runs.
#[inline]
fn carry_out<O: Operation>(
    plan: &Plan,
    host: &Host,
    mpi: &Mpi,
    state: &State,
    call: &O,
) -> (c_int, Option<Choice>) {
    let method = match plan.choice {
        Choice::Host(why) => return (leave(host, mpi, state, call, why, plan.bytes), None),
        // It counts as full-lane, and is carried out as what runs in the lanes.
        Choice::Rondo(method) => Method {
            algorithm: (call.collective().family()).in_lanes(method.algorithm),
            ..method
        },
    };
    report::enter(call.collective().mpi_name());
    let memory = state.look_for_driver();
    let attempt = call.attempt(method, plan, mpi, state);
    drop(memory);
    let rc = match attempt {
        Ok(choice) => return (0, (choice != plan.choice).then_some(choice)),
        Err(Stop::Error(code)) => mpi.raise(state.comm(), code),
        Err(Stop::Raised(code)) => code.get(),
        Err(Stop::Broken(failure)) => fatal(mpi, state, call, &call.describe(plan), &failure),
        Err(Stop::Host(why)) => {
            let rc = leave(host, mpi, state, call, why, plan.bytes);
            return (rc, Some(Choice::Host(why)));
        }
    };
    (rc, None)
}

/// The number of this call. Counted before anything that may differ between ranks, so that their counts agree.
fn enter(work: &mut Work, mpi: &Mpi, state: &State) -> Result<u64, Stop> {
    let sequence = work.next_sequence();
    (work.requests.flow).set_whole(state.facts.widest == 1);
    if state.asks_for_gpus(sequence) {
        let found = state.ask_for_gpus(host::host(), mpi);
        if found.map_err(Stop::Broken)? {
            return Err(Stop::Host(Why::Gpu));
        }
    }
    if sequence == 1 {
        state.find_memory(work);
        expect_of_network(work, state);
    }
    Ok(sequence)
}

/// The same for a call whose bytes all ranks know: now and then they agree on the rate.
fn enter_and_agree<O: Operation>(
    call: &O,
    (method, plan): (Method, &Plan),
    work: &mut Work,
    mpi: &Mpi,
    state: &State,
) -> Result<u64, Stop> {
    let sequence = enter(work, mpi, state)?;
    // In an exchange over nodes several ranks of a node send, because the messages between nodes are divided among
    // them.
    let leads = method.has_leaders() && !call.collective().family().is_exchange();
    let is_whole = state.facts.nodes > 1 && (state.facts.widest == 1 || leads);
    (work.requests.flow).set_whole(is_whole && !call.waits_for_program());
    if work.is_to_agree(plan.bytes) && !Abi::BUILT.is_simulated() {
        agree_on_rate(work, mpi, state)?;
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
    trace::path(state, host::host(), work);
}

/// The ranks agree on what they learnt of the network from calls.
#[cold]
fn agree_on_rate(work: &mut Work, mpi: &Mpi, state: &State) -> Result<(), Stop> {
    let mut figures = work.requests.flow.offer();
    state.max(mpi, &mut figures).map_err(Stop::Broken)?;
    if let Some(rate) = host::with_plain_floats(|| work.requests.flow.agree(figures)) {
        state.learn_rate(rate);
        expect_of_network(work, state);
    } else {
        trace::path(state, host::host(), work);
    }
    Ok(())
}

/// Measures the network before a call, because others contradicted what is known of it.
#[cold]
fn measure_again<O: Operation>(mpi: &Mpi, state: &State, call: &O) {
    report::enter(call.collective().mpi_name());
    if let Err(failure) = state.measure(mpi) {
        let what = "while the network was measured";
        fatal(mpi, state, call, what, &failure);
    }
    expect_of_network(&mut state.work(), state);
}

/// What the host says of arguments that were found to be valid. Should it fail now, others may count on this rank.
fn looked_at<T>(found: Result<T, Code>) -> Result<T, Stop> {
    found.map_err(|code| Stop::Broken(Failure::Host(code, "looking at the arguments")))
}

/// The layout of a datatype that was found to be valid.
fn layout(mpi: &Mpi, datatype: Option<Datatype>) -> Result<(Datatype, Layout), Stop> {
    let datatype = looked_at(datatype.ok_or(Code::datatype()))?;
    Ok((datatype, looked_at(mpi.layout(datatype))?))
}

/// Something failed after the first message. The other ranks may be waiting for blocks that will
/// never come, and this rank's buffer is half written: the job ends here, with a reason.
#[cold]
fn fatal<O: Operation>(mpi: &Mpi, state: &State, call: &O, what: &str, failure: &Failure) -> ! {
    let name = call.collective().mpi_name();
    let (rank, p, text) = (state.rank(), state.p(), failure.text(mpi));
    let line = format!("{name} {what} failed on rank {rank} of {p}: {text}");
    job::abort(name, &line, failure.code())
}
