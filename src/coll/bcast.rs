//! `MPI_Bcast`.

#![forbid(unsafe_code)]

use super::{Operation, Plan, Stop, Traffic, begin, exchange};
use crate::comm::{State, Work};
use crate::decide::{self, Choice, Why};
use crate::engine::{Entries, Part, Pattern};
use crate::host::{Bcast, Usable, call_tag};
use crate::schedule::{Blocks, Circulant, Rounds};
use crate::stats::{self, Collective};

impl Operation for Bcast {
    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    #[inline]
    fn bytes(&self, usable: &Usable, _state: &State) -> Option<u64> {
        let (count, datatype) = (self.count()?, self.datatype(usable)?);
        usable.type_size(datatype).ok()?.checked_mul(count)
    }

    #[inline]
    fn plan(&self, usable: &Usable, state: &State) -> Option<Plan> {
        self.root(state.facts().p)?;
        let bytes = self.bytes(usable, state)?;
        let choice = decide::bcast(state.facts(), bytes, state.config());
        Some(Plan { choice, bytes })
    }

    fn attempt(&self, plan: &Plan, usable: &Usable, state: &State) -> Result<(), Stop> {
        let (Choice::Rondo { blocks, .. }, Some(root)) = (plan.choice, self.root(state.facts().p))
        else {
            unreachable!("not Rondo's choice");
        };
        let work = &mut *state.work.lock();
        let (private, sequence) = begin(work, usable, state)?;
        let facts = [Collective::Bcast as u64, sequence, root.into(), plan.bytes];

        let datatype = self.datatype(usable).ok_or(Stop::Host(Why::Invalid))?;
        let layout = usable.layout(datatype, private);
        let layout = layout.map_err(|_| Stop::Host(Why::Invalid))?;
        let data = self.data(usable, datatype, layout);
        let data = data.ok_or(Stop::Host(Why::Invalid))?.map_err(Stop::Error)?;

        work.row(state, root);
        let Work {
            rows,
            requests,
            scratch,
            ..
        } = work;
        let q = Circulant::new(state.facts().p).q();
        let part = Part {
            root,
            first: 0,
            blocks: Blocks::new(plan.bytes, blocks),
        };
        let traffic = Traffic {
            private,
            tag: call_tag(facts, state.tag_mask()),
            pattern: Pattern::Circulant(Rounds::new(q, blocks), Entries::Rows(rows)),
            round_bytes: plan.bytes.div_ceil(blocks.into()),
            data,
            packs: state.rank() == root,
        };
        let count = || stats::count(Collective::Bcast, plan.choice, plan.bytes);
        exchange(usable, state, traffic, &[part], scratch, requests, count)
    }

    fn describe(&self, plan: &Plan) -> String {
        let root = self.root(u32::MAX).unwrap_or(0);
        format!("of {} bytes from root {root}", plan.bytes)
    }
}
