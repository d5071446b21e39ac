//! `MPI_Barrier`.

#![forbid(unsafe_code)]

use super::reduction::Run;
use super::{Operation, Plan, Stop, begin, context, private};
use crate::collective::Collective;
use crate::comm::State;
use crate::decide::{self, Form, Problem};
use crate::host::{Barrier, Mpi, Vectors, call_tag};
use crate::schedule::Steps;
use crate::script::{Group, dissemination};
use crate::stats;
use std::iter::repeat_n;

impl Operation for Barrier {
    type Problem<'a> = decide::Barrier<'a>;

    fn collective(&self) -> Collective {
        Collective::Barrier
    }

    fn bytes(&self, _mpi: &Mpi, _state: &State) -> Option<u64> {
        Some(0)
    }

    fn plan(&self, _mpi: &Mpi, state: &State) -> Option<Plan> {
        let choice = self.ask(None, state, |problem| problem.choose());
        Some(Plan::new(choice, 0))
    }

    fn ask<T>(
        &self,
        _known: Option<u64>,
        state: &State,
        question: impl FnOnce(decide::Barrier) -> T,
    ) -> T {
        let context = context(Collective::Barrier, state);
        question(decide::Barrier { context })
    }

    fn attempt(&self, plan: &Plan, mpi: &Mpi, state: &State) -> Result<(), Stop> {
        let private = private(mpi, state)?;
        let work = &mut *state.work.lock();
        let sequence = begin(work, private, mpi, state)?;
        let p = state.facts().p;
        let radix = state.facts().radix(Form::Flat, 0, state.config());
        let steps = Steps::new(p, radix);
        let group = Group::all(p, state.rank());
        work.script.begin(1, repeat_n(1, 1 + steps.count()));
        dissemination(&mut work.script, &group, &steps);
        let operands = mpi.signals(private);
        let run = Run {
            mpi,
            state,
            private,
            tag: call_tag(
                [Collective::Barrier as u64, sequence, 0, 0],
                state.tag_mask(),
            ),
            operands: &operands,
        };
        let signals = Vectors {
            first: u64::from(work.script.cut().blocks()),
            other: 0,
        };
        let area = run.reserve(work, signals, None)?;
        stats::count(Collective::Barrier, plan.choice, 0);
        run.carry_out(work, area)
    }

    fn describe(&self, _plan: &Plan) -> String {
        String::new()
    }
}
