//! `MPI_Allgatherv` and `MPI_Allgather`: an all-broadcast.

#![forbid(unsafe_code)]

use super::nodes::{in_effect, settle};
use super::order::{BlockTransfer, Sources};
use super::room::of_data;
use super::traffic::Traffic;
use super::transfer::Means;
use super::{Operation, Plan, Rest, Stop, context, enter_and_agree, layout};
use crate::algorithm::Algorithm;
use crate::collective::Collective;
use crate::decide::{AllBroadcast, Choice, Form, Method};
use crate::group::{Nodes, State, Work};
use crate::host::{Allgather, Host, Mpi, call_tag};
use crate::stats;
use std::ffi::c_int;

impl Operation for Allgather {
    type Problem<'a> = AllBroadcast<'a>;

    fn collective(&self) -> Collective {
        if self.is_regular() {
            Collective::Allgather
        } else {
            Collective::Allgatherv
        }
    }

    fn bytes(&self, mpi: &Mpi, state: &State) -> Option<u64> {
        if let Some(block) = self.block(mpi) {
            return block.checked_mul(state.p().into());
        }
        let parts = &mut state.work().parts;
        self.parts(mpi, state.p(), parts)?;
        Some(parts.total())
    }

    /// States the parts if they may differ. If all are alike, that is left to whoever asks for them: most calls are as
    /// one before, whose choice is remembered.
    fn plan(&self, mpi: &Mpi, state: &State, plan: &mut Plan) -> Option<()> {
        let bytes = self.bytes(mpi, state)?;
        if !self.is_regular() {
            state_nodes(state, &mut state.work());
        }
        self.decide(Some(bytes), state, plan);
        Some(())
    }

    /// Parts that may differ are as many as ranks.
    #[inline]
    fn rest(&self, _known: Option<u64>, _state: &State) -> Option<Rest> {
        self.is_regular().then(Rest::default)
    }

    fn with_problem<T>(
        &self,
        known: Option<u64>,
        state: &State,
        question: impl FnOnce(AllBroadcast) -> T,
    ) -> T {
        let work = &mut *state.work();
        self.state_equal_parts(known, state, work);
        let Work { parts, nodes, .. } = work;
        question(AllBroadcast {
            context: context(self.collective(), state),
            parts,
            node_parts: &nodes.node_parts,
        })
    }

    fn attempt(
        &self,
        method: Method,
        plan: &Plan,
        mpi: &Mpi,
        state: &State,
    ) -> Result<Choice, Stop> {
        let Method {
            algorithm, blocks, ..
        } = method;
        let channel = state.channel();
        let work = &mut *state.work();
        self.state_equal_parts(plan.known, state, work);
        let sequence = enter_and_agree(self, (method, plan), work, mpi, state)?;
        let form = settle(method, state)?;
        let choice = in_effect(plan.choice, form);
        let facts = [self.collective() as u64, sequence, work.parts.hash(), 0];
        let rank = state.rank();
        let (datatype, layout) = layout(mpi, self.recvtype(mpi))?;
        let Work {
            parts,
            cut,
            schedules,
            requests,
            scratch,
            nodes,
            ..
        } = work;
        let data = self.data(mpi, datatype, layout, parts, form != Form::Flat);
        let data = of_data(data, plan.bytes, mpi, state)?;
        self.check_own(mpi, parts, rank).map_err(Stop::Broken)?;
        let own = self.place_own(mpi, channel.comm, &data, parts, rank);
        own.map_err(Stop::Broken)?;

        let traffic = Traffic {
            channel,
            tag: call_tag(facts, channel.tags),
            data,
            packs: false,
        };
        let count = || stats::count(self.collective(), choice, plan.bytes);
        // One block is what Bruck's order is for.
        let algorithm = match algorithm == Algorithm::Circulant && blocks == 1 {
            true => Algorithm::Bruck,
            false => algorithm,
        };
        let transfer = BlockTransfer {
            way: algorithm.of_all_broadcast().into(),
            bytes: plan.bytes,
            blocks,
            sources: Sources::Ranks(parts),
            sequence,
        };
        let means = Means {
            schedules,
            cut,
            requests,
            scratch,
            nodes,
        };
        transfer.run(form, mpi, state, traffic, means, count)?;
        Ok(choice)
    }

    fn leave(&self, host: &Host, mpi: &Mpi, state: &State) -> c_int {
        self.pass_repaired(host, mpi, state.rank())
    }

    fn describe(&self, plan: &Plan) -> String {
        format!("of {} bytes in all", plan.bytes)
    }
}

impl Allgather {
    /// States the parts of a call of so many bytes if all are alike. The plan has stated others.
    fn state_equal_parts(&self, known: Option<u64>, state: &State, work: &mut Work) {
        if !self.is_regular() {
            return;
        }
        let p = state.p();
        let block = known.map(|bytes| bytes / u64::from(p));
        // The total is known, so it is a number of bytes.
        let _ = work.parts.set_equal(p, block);
        state_nodes(state, work);
    }
}

/// States what each node contributes. Where nodes have a single rank, every choice is flat, and nobody asks.
fn state_nodes(state: &State, work: &mut Work) {
    let (topology, parts) = (state.topology(), &work.parts);
    let Nodes {
        places, node_parts, ..
    } = &mut work.nodes;
    let are_stated =
        parts.equal().is_some() && (places.equal(), places.p()) == (parts.equal(), parts.p());
    if state.facts.widest < 2 || are_stated {
        return;
    }
    let of_places = (0..topology.p()).map(|place| Some(parts.span(topology.rank(place)).len));
    // The total is the same, so it is a number of bytes.
    let _ = places.set(of_places);
    let start = |node| topology.start(node);
    let of_nodes = (0..topology.nodes())
        .map(|node| Some(places.window(start(node), start(node + 1) - start(node))));
    let _ = node_parts.set(of_nodes);
}
