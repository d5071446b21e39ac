//! Where the layers meet: one function per collective. Is it ours? Choose, fetch state, run, count.

#![forbid(unsafe_code)]

use crate::comm::{self, Lookup, SEND_WINDOW, State, Work};
use crate::decide::{self, Choice, Why};
use crate::engine;
use crate::host::{self, Bcast, Code, Failure, Host, Level, MpiWire, Usable, call_tag};
use crate::report;
use crate::schedule::Blocks;
use crate::stats::{self, Collective};
use std::ffi::c_int;
use std::time::Instant;

/// Carries out a call of `MPI_Bcast` and gives the code to return.
pub fn bcast(call: &Bcast) -> c_int {
    let host = host::host();
    let usable = match host.usable() {
        Ok(usable) => usable,
        Err(_) => {
            comm::process(host); // says so, once
            return pass(host, call, Why::Unusable, 0);
        }
    };
    let Some(comm) = call.comm(usable) else {
        return pass(host, call, Why::Invalid, 0);
    };
    let state = match comm::state(host, usable, comm) {
        Ok(Lookup::Known(state)) => state,
        Ok(Lookup::Invalid) => return pass(host, call, Why::Invalid, 0),
        Err(code) => return code.get(),
    };
    if state.timed() {
        timed(host, usable, state, call)
    } else {
        plan(host, usable, state, call)
            .carry_out(host, usable, state, call)
            .0
    }
}

/// As `bcast`, with the clock running.
#[cold]
fn timed(host: &Host, usable: &Usable, state: &State, call: &Bcast) -> c_int {
    let start = Instant::now();
    let plan = plan(host, usable, state, call);
    let (rc, choice) = plan.carry_out(host, usable, state, call);
    stats::add_time(Collective::Bcast, choice, start.elapsed());
    rc
}

/// A decision, and the facts it is carried out with.
struct Plan {
    choice: Choice,
    bytes: u64,
    root: u32,
}

/// Decides. Reads nothing of the message and sends nothing.
#[inline]
fn plan(host: &Host, usable: &Usable, state: &State, call: &Bcast) -> Plan {
    let to_host = |why| Plan {
        choice: Choice::Host(why),
        bytes: if state.timed() {
            bytes(usable, call).unwrap_or(0)
        } else {
            0
        },
        root: 0,
    };
    if let Some(why) = state.closed() {
        return to_host(why);
    }
    if call.level() == Level::Pmpi && !state.config().pmpi {
        return to_host(Why::Pmpi);
    }
    let (Some(root), Some(bytes)) = (call.root(state.facts().p), bytes(usable, call)) else {
        return to_host(Why::Invalid);
    };
    let choice = decide::bcast(state.facts(), bytes, state.config());
    if state.config().trace {
        state.trace(host, Collective::Bcast, choice, bytes);
    }
    Plan {
        choice,
        bytes,
        root,
    }
}

/// Bytes of the message; `None` if count or datatype is invalid.
#[inline]
fn bytes(usable: &Usable, call: &Bcast) -> Option<u64> {
    let (count, datatype) = (call.count()?, call.datatype(usable)?);
    usable.type_size(datatype).ok()?.checked_mul(count)
}

impl Plan {
    /// The code to return, and who carried the call out in the end.
    #[inline]
    fn carry_out(
        &self,
        host: &Host,
        usable: &Usable,
        state: &State,
        call: &Bcast,
    ) -> (c_int, Choice) {
        match self.choice {
            Choice::Host(why) => (pass(host, call, why, self.bytes), self.choice),
            Choice::Circulant { blocks, .. } | Choice::Binomial { blocks, .. } => {
                self.run(blocks, host, usable, state, call)
            }
        }
    }

    /// Rondo's own way, and what comes of it. The communicator is free for other calls again when an
    /// error handler of the user's runs.
    fn run(
        &self,
        blocks: u32,
        host: &Host,
        usable: &Usable,
        state: &State,
        call: &Bcast,
    ) -> (c_int, Choice) {
        report::enter(Collective::Bcast.mpi_name());
        let rc = match self.attempt(blocks, usable, state, call) {
            Ok(()) => 0,
            Err(Stop::Raised(code)) => code.get(),
            Err(Stop::Error(code)) => usable.raise(state.comm(), code),
            Err(Stop::Broken(failure)) => fatal(host, usable, state, self, &failure),
            Err(Stop::Host(why)) => {
                return (pass(host, call, why, self.bytes), Choice::Host(why));
            }
        };
        (rc, self.choice)
    }

    /// Until the first message the call can still go to the host, or fail with an MPI error; after it
    /// there is no way back, because the other ranks count on this one.
    fn attempt(
        &self,
        blocks: u32,
        usable: &Usable,
        state: &State,
        call: &Bcast,
    ) -> Result<(), Stop> {
        let work = &mut *state.work.lock();
        let private = work.private(usable, state).map_err(Stop::Raised)?;
        let private = private.ok_or(Stop::Host(Why::NoRoom))?;
        // Counted before anything that may differ between ranks, so that their counts agree.
        let sequence = work.next_sequence();
        let tag = call_tag(sequence, self.root, self.bytes, state.tag_mask());

        let datatype = call.datatype(usable).ok_or(Stop::Host(Why::Invalid))?;
        let layout = usable.layout(datatype, private);
        let layout = layout.map_err(|_| Stop::Host(Why::Invalid))?;
        let data = call.data(usable, datatype, layout);
        let data = data.ok_or(Stop::Host(Why::Invalid))?.map_err(Stop::Error)?;

        let order = work.order(state, self.root);
        // By default the receives of two phases: that covers every block still needed for sending.
        let receive_window = match state.config().window {
            0 => 2 * order.q() as u32,
            window => window,
        };
        let Work {
            requests, scratch, ..
        } = work;
        requests
            .reserve(receive_window, SEND_WINDOW)
            .map_err(Stop::Error)?;

        stats::count(Collective::Bcast, self.choice, self.bytes);
        let receives = state.rank() != self.root;
        let timeout_s = state.config().timeout_s;
        let mut wire = MpiWire::new(usable, private, tag, requests, data, receives, timeout_s);
        let blocks = Blocks::new(self.bytes, blocks);
        let bcast = engine::Bcast::new(&order, blocks, receive_window, SEND_WINDOW, scratch);
        engine::run(bcast, &mut wire).map_err(Stop::Broken)?;
        wire.finish(self.bytes).map_err(Stop::Broken)
    }
}

/// Why Rondo did not carry a call out.
enum Stop {
    /// The host should have it; nothing was sent.
    Host(Why),
    /// The host has raised this error on the user's communicator; nothing was sent.
    Raised(Code),
    /// An error of Rondo's own, still to be raised; nothing was sent.
    Error(Code),
    /// Something failed after the first message.
    Broken(Failure),
}

/// Hands a call to the host.
#[inline]
fn pass(host: &Host, call: &Bcast, why: Why, bytes: u64) -> c_int {
    stats::count(Collective::Bcast, Choice::Host(why), bytes);
    host.bcast(call)
}

/// Something failed after the first message. The other ranks may be waiting for blocks that will
/// never come, and this rank's buffer is half written: the job ends here, with a reason.
#[cold]
fn fatal(host: &Host, usable: &Usable, state: &State, plan: &Plan, failure: &Failure) -> ! {
    let (rank, p, root, bytes) = (state.rank(), state.facts().p, plan.root, plan.bytes);
    report::fatal(
        host.world_rank,
        &format!(
            "MPI_Bcast of {bytes} bytes from root {root} failed on rank {rank} of {p}: {}; \
             aborting the job",
            failure.text(usable)
        ),
    );
    usable.abort(state.comm(), failure.code())
}
