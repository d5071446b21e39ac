//! `MPI_Bcast`.

#![forbid(unsafe_code)]

use super::nodes::{in_effect, settle};
use super::order::{BlockTransfer, Sources};
use super::room::of_data;
use super::traffic::Traffic;
use super::transfer::Means;
use super::{Operation, Plan, Rest, Stop, context, enter_and_agree, layout};
use crate::collective::Collective;
use crate::decide::{Broadcast, Choice, Form, Method};
use crate::engine::Way;
use crate::group::State;
use crate::host::{Bcast, Mpi, call_tag};
use crate::stats;

impl Operation for Bcast {
    type Problem<'a> = Broadcast<'a>;

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    #[inline]
    fn bytes(&self, mpi: &Mpi, _state: &State) -> Option<u64> {
        let (count, datatype) = (self.count()?, self.datatype(mpi)?);
        mpi.type_size(datatype).ok()?.checked_mul(count)
    }

    #[inline]
    fn plan(&self, mpi: &Mpi, state: &State, plan: &mut Plan) -> Option<()> {
        self.root(state.p())?;
        let bytes = self.bytes(mpi, state)?;
        self.decide(Some(bytes), state, plan);
        Some(())
    }

    #[inline]
    fn rest(&self, _known: Option<u64>, _state: &State) -> Option<Rest> {
        Some(Rest::default())
    }

    #[inline]
    fn with_problem<T>(
        &self,
        known: Option<u64>,
        state: &State,
        question: impl FnOnce(Broadcast) -> T,
    ) -> T {
        question(Broadcast {
            context: context(self.collective(), state),
            bytes: known.unwrap_or(0),
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
        let root = self.root(state.p()).unwrap_or(0);
        let channel = state.channel();
        let work = &mut *state.work();
        let sequence = enter_and_agree(self, (method, plan), work, mpi, state)?;
        let form = settle(method, state)?;
        let choice = in_effect(plan.choice, form);
        let facts = [Collective::Bcast as u64, sequence, root.into(), plan.bytes];

        let (datatype, layout) = layout(mpi, self.datatype(mpi))?;
        let data = self.data(mpi, datatype, layout, form != Form::Flat);
        let data = of_data(data, plan.bytes, mpi, state)?;

        let traffic = Traffic {
            channel,
            tag: call_tag(facts, channel.tags),
            data,
            packs: state.rank() == root,
        };
        let count = || stats::count(Collective::Bcast, choice, plan.bytes);
        let transfer = BlockTransfer {
            way: Way::of_broadcast(algorithm, form, plan.bytes.div_ceil(blocks.into()), state),
            bytes: plan.bytes,
            blocks,
            sources: Sources::Root(root),
            sequence,
        };
        let means = Means {
            schedules: &mut work.schedules,
            cut: &mut work.cut,
            requests: &mut work.requests,
            scratch: &mut work.scratch,
            nodes: &mut work.nodes,
        };
        transfer.run(form, mpi, state, traffic, means, count)?;
        Ok(choice)
    }

    fn describe(&self, plan: &Plan) -> String {
        let root = self.root(u32::MAX).unwrap_or(0);
        format!("of {} bytes from root {root}", plan.bytes)
    }
}
