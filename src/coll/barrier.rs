//! `MPI_Barrier`.

#![forbid(unsafe_code)]

use super::reduction::Run;
use super::slots::Inside;
use super::{Operation, Plan, Stop, begin, context, private};
use crate::collective::Collective;
use crate::comm::{State, Work};
use crate::decide::{self, Choice, Form, Problem};
use crate::host::{Barrier, Comm, Mpi, Vectors, call_tag};
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
        let form = settle(mpi, state, work, plan.choice, private)?;
        let sequence = begin(work, private, mpi, state)?;
        let Work {
            nodes,
            script,
            requests,
            ..
        } = work;
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
        let topology = state.topology();
        let leaders: Vec<u32> = match form {
            Form::Flat => Vec::new(),
            Form::Nodes { .. } => (0..topology.nodes())
                .map(|node| topology.locals(node)[0])
                .collect(),
        };
        let group = match form {
            Form::Flat => Group::all(state.facts().p, state.rank()),
            Form::Nodes { .. } => Group {
                members: Some(&leaders),
                p: topology.nodes(),
                me: topology.node(state.rank()),
            },
        };
        let steps = Steps::new(group.p, state.facts().radix(form, 0, state.config()));
        script.begin(1, repeat_n(1, 1 + steps.count()));
        dissemination(script, &group, &steps);
        let signals = Vectors {
            first: u64::from(script.cut().blocks()),
            other: 0,
        };
        let area = run.reserve(script, requests, signals, None)?;
        stats::count(Collective::Barrier, plan.choice, 0);
        match (form, nodes.sharing.memory()) {
            (Form::Nodes { .. }, Some(memory)) => {
                let mut inside = Inside {
                    run: &run,
                    sequence,
                    memory,
                };
                inside.gate(|| run.carry_out(script, requests, area))
            }
            (Form::Flat | Form::Nodes { .. }, _) => run.carry_out(script, requests, area),
        }
    }

    fn describe(&self, _plan: &Plan) -> String {
        String::new()
    }
}

/// Between whom the barrier is made, now that it shows whether there is memory that the ranks of a node share: without
/// it, between all ranks.
fn settle(
    mpi: &Mpi,
    state: &State,
    work: &mut Work,
    choice: Choice,
    private: Comm,
) -> Result<Form, Stop> {
    let form = match choice {
        Choice::Rondo { form, .. } => form,
        Choice::Host(_) => Form::Flat,
    };
    if form == Form::Flat {
        return Ok(form);
    }
    let sharing = &mut work.nodes.sharing;
    sharing.settle(mpi, state, private).map_err(Stop::Broken)?;
    Ok(match sharing.memory() {
        Some(_) => form,
        None => Form::Flat,
    })
}
