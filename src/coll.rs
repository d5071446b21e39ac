//! Where the layers meet: one function per collective. Is it ours? Choose, fetch state, run, count.

#![forbid(unsafe_code)]

use crate::comm::{self, Lookup, SEND_WINDOW, State, Work};
use crate::decide::{self, Choice, Why};
use crate::engine;
use crate::host::{self, Bcast, Comm, Data, Failure, Host, Level, MpiWire, Usable, call_tag};
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
        plan(host, usable, state, call).carry_out(host, usable, state, call)
    }
}

/// As `bcast`, with the clock running.
#[cold]
fn timed(host: &Host, usable: &Usable, state: &State, call: &Bcast) -> c_int {
    let start = Instant::now();
    let plan = plan(host, usable, state, call);
    let rc = plan.carry_out(host, usable, state, call);
    stats::add_time(Collective::Bcast, plan.choice, start.elapsed());
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
    #[inline]
    fn carry_out(&self, host: &Host, usable: &Usable, state: &State, call: &Bcast) -> c_int {
        match self.choice {
            Choice::Host(why) => pass(host, call, why, self.bytes),
            Choice::Circulant { blocks, .. } | Choice::Binomial { blocks, .. } => {
                self.run(blocks, host, usable, state, call)
            }
        }
    }

    /// Rondo's own way. Until the first message the call can still go to the host, or fail with an
    /// MPI error; after it there is no way back, because the other ranks count on this one.
    fn run(&self, blocks: u32, host: &Host, usable: &Usable, state: &State, call: &Bcast) -> c_int {
        report::enter(Collective::Bcast.mpi_name());
        let work = &mut *state.work.lock();
        let private = match work.private(usable, state) {
            Ok(Some(private)) => private,
            Ok(None) => return pass(host, call, Why::NoRoom, self.bytes),
            Err(code) => return code.get(),
        };
        let sequence = work.next_sequence();
        let tag = call_tag(sequence, self.root, self.bytes, state.tag_mask());
        let layout = call
            .datatype(usable)
            .map(|d| (d, usable.layout(d, private)));
        let Some((datatype, Ok(layout))) = layout else {
            return pass(host, call, Why::Invalid, self.bytes);
        };
        let data = match call.data(usable, datatype, layout) {
            Some(data) => data,
            None => return pass(host, call, Why::Invalid, self.bytes),
        };
        let receive_window = receive_window(state, work, self.root);
        let room = work.requests.reserve(receive_window, SEND_WINDOW);
        let data = match data.and_then(|data| room.map(|()| data)) {
            Ok(data) => data,
            Err(code) => return usable.raise(state.comm(), code),
        };
        stats::count(Collective::Bcast, self.choice, self.bytes);
        let blocks = Blocks::new(self.bytes, blocks);
        if let Err(failure) = messages(usable, state, work, self.root, private, tag, blocks, data) {
            fatal(host, usable, state, self, &failure);
        }
        0
    }
}

/// Receives in flight: by default those of two phases, which covers every block that the schedule
/// still needs for sending.
fn receive_window(state: &State, work: &mut Work, root: u32) -> u32 {
    match state.config().window {
        0 => 2 * work.order(state, root).q() as u32,
        window => window,
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "the one place where all parts of a call meet"
)]
fn messages(
    usable: &Usable,
    state: &State,
    work: &mut Work,
    root: u32,
    private: Comm,
    tag: i32,
    blocks: Blocks,
    data: Data,
) -> Result<(), Failure> {
    let order = work.order(state, root);
    let receive_window = receive_window(state, work, root);
    let Work {
        requests, scratch, ..
    } = work;
    let receives = state.rank() != root;
    let timeout_s = state.config().timeout_s;
    let mut wire = MpiWire::new(usable, private, tag, requests, data, receives, timeout_s);
    let bytes = blocks.span(blocks.count() - 1).end();
    let bcast = engine::Bcast::new(&order, blocks, receive_window, SEND_WINDOW, scratch);
    engine::run(bcast, &mut wire)?;
    wire.finish(bytes)
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
