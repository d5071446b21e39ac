//! Calls that the host has, and the way past the decision for those that it has each time.

#![forbid(unsafe_code)]

use super::{Operation, Plan};
use crate::collective::Collective;
use crate::decide::{Choice, Why};
use crate::group::{self, State};
use crate::host::{self, Comm, Host, Mpi, RawHandle};
use crate::learn::Recurring;
use crate::stats;
use std::ffi::c_int;

/// For how long is a call like this the host's?
#[derive(Clone, Copy)]
pub enum Stays {
    /// For this time.
    Once,
    /// As often as the contest at this place of the table has granted.
    Granted(usize),
    /// As long as nothing else is known of the network.
    Always,
}

/// The host, if the call is known to be its; and the state of its communicator, if the call was counted in a contest.
/// Short calls take no longer than some decisions do.
///
/// One function for all collectives, whose arguments are in registers.
#[inline(never)]
fn is_known(
    collective: Collective,
    [one, two, three]: [u64; 3],
    root: c_int,
    comm: RawHandle,
) -> Option<(&'static Host, Option<&'static State>)> {
    host::abandon_watch();
    let host = host::host();
    let mpi = host.mpi().ok()?;
    if !mpi.world_is_up() {
        return None;
    }
    let state = group::known(mpi, comm.as_comm(mpi)?)?;
    let (why, is_counted) = match state.closed() {
        Some(why) if state.is_quiet() && !state.lacks_promised_bits() => (why, false),
        Some(_) => return None,
        // While figures of the network are missing, calls are counted elsewhere. One with an invalid root is no call on
        // the other ranks, and may not be counted.
        None if state.is_contradicted()
            || !(u32::try_from(root)).is_ok_and(|root| root < state.p()) =>
        {
            return None;
        }
        None => {
            let recurring = Recurring([collective as u64, one, two, three]);
            let (reason, is_counted) = state.passing().passes(&recurring, state.edition())?;
            (*Why::ALL.get(usize::from(reason))?, is_counted)
        }
    };
    stats::count(collective, Choice::Host(why), 0);
    Some((host, is_counted.then_some(state)))
}

/// Hands a call to the host that is known to be its.
#[inline(always)]
pub fn pass_at_once<O: Operation>(call: &O) -> Option<c_int> {
    let (host, counted) = is_known(
        call.collective(),
        call.words()?,
        call.given_root(),
        call.raw_comm(),
    )?;
    if let Some(state) = counted {
        count_rightly(host, state, call);
    }
    Some(call.pass(host))
}

/// Takes a call out of the count of its contest that the host will refuse here, because other ranks need not make it.
/// That cannot wait for what the host says of it: an error handler may never come back.
#[inline(never)]
fn count_rightly<O: Operation>(host: &Host, state: &State, call: &O) {
    if let (Ok(mpi), Some([one, two, three])) = (host.mpi(), call.words())
        && call.is_refused_by_rest(mpi, state.rank(), state.p())
    {
        let recurring = Recurring([call.collective() as u64, one, two, three]);
        state.passing().take_out(&recurring);
    }
}

/// Remembers a call that is planned to be the host's, unless its time counts, or somebody is told of it.
#[inline]
pub fn remember<O: Operation>(plan: &Plan, mpi: &Mpi, state: &State, call: &O) {
    let (Choice::Host(why), None) = (plan.choice, plan.timed) else {
        return;
    };
    let contest = match plan.stays {
        Stays::Once => return,
        Stays::Granted(contest) => Some(contest),
        Stays::Always => None,
    };
    if let Some([one, two, three]) = call.words()
        && state.is_quiet()
        && call.is_of_predefined(mpi)
    {
        let recurring = Recurring([call.collective() as u64, one, two, three]);
        (state.passing()).keep(&recurring, state.edition(), why as u8, contest);
    }
}

/// Plans that the host has a call.
#[inline]
pub fn pass_on<O: Operation>(why: Why, mpi: &Mpi, state: &State, call: &O, plan: &mut Plan) {
    plan.choice = Choice::Host(why);
    plan.bytes = match state.timed() {
        // The arguments of an inter-communicator mean something else: no bytes.
        true if why != Why::Inter => call.bytes(mpi, state).unwrap_or(0),
        true | false => 0,
    };
}

/// Hands a call to the host.
#[inline]
pub fn pass<O: Operation>(host: &Host, call: &O, why: Why, bytes: u64) -> c_int {
    stats::count(call.collective(), Choice::Host(why), bytes);
    call.pass(host)
}

/// Hands a call to the host that the host refuses here. The other ranks need not make it: nothing was counted, and
/// nothing is locked, for an error handler of the program's may take as long as it likes, call other collectives, free
/// the communicator, or never come back.
#[cold]
pub fn refuse<O: Operation>(host: &Host, mpi: &Mpi, comm: Comm, call: &O, bytes: u64) -> c_int {
    match mpi.trouble() {
        Some(code) => mpi.raise(comm, code),
        None => pass(host, call, Why::Invalid, bytes),
    }
}

/// Hands a call to the host whose communicator Rondo may keep nothing of. What is promised of bits does not hold there.
#[cold]
pub fn pass_unknown<O: Operation>(host: &Host, mpi: &Mpi, call: &O, why: Why) -> c_int {
    let code = pass(host, call, why, 0);
    // If it went well, the communicator is one.
    if code == 0
        && call.collective().family().reduces()
        && let Some(comm) = call.comm(mpi)
    {
        group::report_bits_on(host, mpi, comm, why);
    }
    code
}

/// Hands a call to the host that might have been Rondo's.
#[inline]
pub fn leave<O: Operation>(
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
        | Why::Trial => {
            // Bytes are for statistics alone.
            let bytes = if state.timed() { bytes } else { 0 };
            stats::count(call.collective(), Choice::Host(why), bytes);
            call.leave(host, mpi, state)
        }
        Why::Invalid => {
            state.note_left();
            refuse(host, mpi, state.comm(), call, bytes)
        }
        // Told to leave it alone, or calls that are none of Rondo's.
        Why::Off
        | Why::Configured
        | Why::FewRanks
        | Why::Inter
        | Why::Versions
        | Why::Outlives
        | Why::Unusable
        | Why::NotBegun
        | Why::Programs
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
