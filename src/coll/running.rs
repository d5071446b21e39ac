//! How a script is carried out, whichever collective it is of: room for it, its messages, and what is given back in the
//! end.

#![forbid(unsafe_code)]

use super::Stop;
use super::order::{RECEIVE_WINDOW, SEND_WINDOW, SIMULATED_SENDS, filling};
use crate::engine::{self, Execution, Limits};
use crate::group::State;
use crate::host::{
    Abi, Area, Buffers, Channel, Code, Mpi, MpiScriptWire, Operands, Requests, ScriptJob, Vectors,
};
use crate::script::Script;

/// Bytes up to which parts share a message: longer messages would keep waiting what could go on.
pub(super) const PIECE_BYTES: u64 = 64 << 10;

/// Bytes of a script that are kept from call to call.
const SCRIPT_BYTES: usize = 128 << 10;

/// Carries scripts out in a call whose elements and tag are known.
pub(super) struct Running<'a> {
    pub mpi: &'a Mpi,
    pub state: &'a State,
    pub channel: Channel<'a>,
    pub tag: i32,
    pub operands: &'a Operands<'a>,
}

impl Running<'_> {
    /// Makes room for everything. The area has these vectors; it is the one that is given, or memory of Rondo's.
    pub fn reserve(
        &self,
        script: &Script,
        requests: &mut Requests,
        vectors: Vectors,
        area: Option<Area>,
    ) -> Result<Area, Code> {
        let limits = self.limits(requests);
        requests.reserve_script(&limits, script, self.operands, (vectors, area))
    }

    /// How many messages may be under way; the same from when room is made until the script is over.
    fn limits(&self, requests: &Requests) -> Limits {
        let limits = limits(self.state);
        let longest = limits.message.min(PIECE_BYTES);
        filling(limits, requests, longest, self.state)
    }

    /// Carries it out.
    pub fn carry_out(
        &self,
        script: &Script,
        requests: &mut Requests,
        area: Area,
    ) -> Result<(), Stop> {
        let (execution, mut wire) = self.begin(script, requests, area);
        engine::run(execution, &mut wire).map_err(Stop::Broken)
    }

    /// Begins it: what carries it out, over which wire.
    pub fn begin<'a>(
        &'a self,
        script: &'a Script,
        requests: &'a mut Requests,
        area: Area,
    ) -> (Execution<'a>, MpiScriptWire<'a>) {
        let counts = script.sends().iter();
        let counts = counts.map(|send| script.cut().count(&send.blocks));
        let job = ScriptJob {
            mpi: self.mpi,
            channel: self.channel,
            tag: self.tag,
            operands: self.operands,
            area,
            cut: script.cut(),
            sends: counts.sum(),
        };
        let limits = self.limits(requests);
        let wire = MpiScriptWire::new(job, requests);
        (Execution::new(script, limits), wire)
    }
}

/// Copies the results of a script from its area to where they belong, and gives back what is not kept.
pub(super) fn finish(
    operands: &Operands,
    buffers: &Buffers,
    script: &mut Script,
    (requests, area): (&mut Requests, Area),
) -> Result<(), Stop> {
    let mut place = 0;
    for elements in script.results() {
        (operands.hand_out(buffers, area, elements, place)).map_err(Stop::Broken)?;
        place += elements.end - elements.start;
    }
    trim(script, requests);
    Ok(())
}

/// Gives back what is not kept of a script that is over.
pub(super) fn trim(script: &mut Script, requests: &mut Requests) {
    requests.end_script();
    if script.bytes() > SCRIPT_BYTES {
        *script = Script::default();
    }
}

/// How many messages of a script may be under way.
pub(super) fn limits(state: &State) -> Limits {
    Limits {
        receives: match state.config().window {
            0 => RECEIVE_WINDOW,
            window => window,
        },
        // Where time is simulated, messages in flight share a link, and all come late.
        sends: match Abi::BUILT.is_simulated() {
            true => SIMULATED_SENDS,
            false => SEND_WINDOW,
        },
        message: state.facts.eager_bytes,
    }
}
