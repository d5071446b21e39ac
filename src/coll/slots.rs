//! What the ranks of a node do through the memory that they share, in reductions and barriers.

#![forbid(unsafe_code)]

use super::Stop;
use super::reduction::Run;
use crate::comm::Memory;
use crate::engine::node::{
    GATE_BYTES, Gate, Groups, SlotExchange, SlotReduction, Tree, Want, run_slots,
};
use crate::host::{Failure, NodeCall, RingSlots, SlotVectors};
use std::ops::Range;

/// The longest element for which every ring has slots, in bytes. Those of predefined types are shorter.
pub(super) const UNIT_MAX: u64 = 64;

/// A call, inside the node of a rank.
pub(super) struct Inside<'a> {
    pub run: &'a Run<'a>,
    /// The number of the call.
    pub sequence: u64,
    pub memory: &'a mut Memory,
}

impl Inside<'_> {
    /// The number of this rank among those of its node.
    fn me(&self) -> u32 {
        let state = self.run.state;
        state.topology().local(state.rank())
    }

    fn locals(&self) -> &[u32] {
        let topology = self.run.state.topology();
        topology.locals(topology.node(self.run.state.rank()))
    }

    /// Groups for vectors of so many elements, and where they begin in the ring.
    fn groups(
        &mut self,
        make: impl Fn(u32, u64, u64, u64) -> Groups,
        elements: u64,
    ) -> (Groups, u64) {
        let (ranks, unit) = (self.locals().len() as u32, self.run.operands.unit());
        let capacity = self.memory.ring.capacity();
        let groups = make(ranks, unit.unwrap_or(UNIT_MAX), elements, capacity);
        (groups, self.memory.begin_groups(&groups))
    }

    /// The ring, in a call that begins at the position `begin`.
    fn slots<'s>(&'s mut self, begin: u64, vectors: Option<SlotVectors<'s>>) -> RingSlots<'s> {
        let Run {
            mpi,
            state,
            private,
            tag,
            ..
        } = *self.run;
        let topology = state.topology();
        let call = NodeCall {
            mpi,
            comm: private,
            tag,
            number: self.sequence,
            locals: topology.locals(topology.node(state.rank())),
            timeout_s: state.config().timeout_s,
        };
        RingSlots::new(call, &mut self.memory.ring, begin, vectors)
    }

    /// Reduces vectors of so many elements. This rank gets what it wants.
    pub fn reduce(
        &mut self,
        vectors: SlotVectors,
        elements: u64,
        trees: &[Tree],
        wants: &[Want],
    ) -> Result<(), Stop> {
        let (groups, begin) = self.groups(Groups::striped, elements);
        let mut reduction = SlotReduction::new(groups, begin, self.me(), trees, wants);
        let mut slots = self.slots(begin, Some(vectors));
        let done: Result<(), Failure> = run_slots(&mut slots, |slots| {
            let step = reduction.advance(slots)?;
            Ok((step, reduction.waiting()))
        });
        done.map_err(Stop::Broken)
    }

    /// Every rank of the node gets the parts of the others.
    pub fn exchange(&mut self, vectors: SlotVectors, parts: &[Range<u64>]) -> Result<(), Stop> {
        let longest = parts.iter().map(|part| part.end - part.start).max();
        let (groups, begin) = self.groups(Groups::new, longest.unwrap_or(0));
        let mut exchange = SlotExchange::new(groups, begin, self.me(), parts);
        let mut slots = self.slots(begin, Some(vectors));
        let done: Result<(), Failure> = run_slots(&mut slots, |slots| {
            let step = exchange.advance(slots)?;
            Ok((step, exchange.waiting()))
        });
        done.map_err(Stop::Broken)
    }

    /// No rank of the node goes on before all have come, and before the lowest one has come back from `between`.
    pub fn gate(&mut self, between: impl FnOnce() -> Result<(), Stop>) -> Result<(), Stop> {
        let gate = Gate {
            ranks: self.locals().len() as u32,
            me: self.me(),
            leader: 0,
            begin: self.memory.begin(GATE_BYTES),
        };
        let mut slots = self.slots(gate.begin, None);
        let come: Result<(), Failure> = gate.come(&mut slots);
        come.map_err(Stop::Broken)?;
        if gate.me == gate.leader {
            between()?;
        }
        let pass: Result<(), Failure> = gate.pass(&mut slots);
        pass.map_err(Stop::Broken)
    }
}
