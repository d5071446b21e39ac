//! `MPI_Barrier`.

#![forbid(unsafe_code)]

use super::nodes::shares;
use super::room::lacking;
use super::running::Running;
use super::slots::Inside;
use super::{Operation, Plan, Rest, Stop, context, enter};
use crate::collective::Collective;
use crate::decide::{self, Choice, Form, Method};
use crate::group::{State, Work};
use crate::host::{self, Barrier, Mpi, Vectors, call_tag};
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

    fn plan(&self, _mpi: &Mpi, state: &State, plan: &mut Plan) -> Option<()> {
        self.decide(None, state, plan);
        Some(())
    }

    #[inline]
    fn rest(&self, _known: Option<u64>, _state: &State) -> Option<Rest> {
        Some(Rest::default())
    }

    fn with_problem<T>(
        &self,
        _known: Option<u64>,
        state: &State,
        question: impl FnOnce(decide::Barrier) -> T,
    ) -> T {
        let context = context(Collective::Barrier, state);
        question(decide::Barrier { context })
    }

    fn attempt(
        &self,
        method: Method,
        plan: &Plan,
        mpi: &Mpi,
        state: &State,
    ) -> Result<Choice, Stop> {
        let channel = state.channel();
        let work = &mut *state.work();
        // Without memory that the ranks of a node share, between all ranks.
        let form = match shares(method.form, state) {
            true => method.form,
            false => Form::Flat,
        };
        let sequence = enter(work, mpi, state)?;
        let Work {
            nodes,
            script,
            requests,
            ..
        } = work;
        let operands = mpi.signals(channel.comm);
        let run = Running {
            mpi,
            state,
            channel,
            tag: call_tag([Collective::Barrier as u64, sequence, 0, 0], channel.tags),
            operands: &operands,
        };
        let (topology, rank) = (state.topology(), state.rank());
        let leaders;
        let group = match form {
            Form::Flat => Some(Group::all(state.p(), rank)),
            Form::Nodes { .. } if state.locals().first() != Some(&rank) => None,
            Form::Nodes { .. } => {
                leaders = topology.leaders(0);
                Some(Group {
                    members: Some(&leaders),
                    p: topology.nodes(),
                    me: topology.node(rank),
                })
            }
        };
        // Between those who exchange messages.
        let mut area = None;
        if let Some(group) = group {
            let radix = || state.facts().radix(form, 0, state.config());
            let steps = Steps::new(group.p, host::with_plain_floats(radix));
            script.begin(1, repeat_n(1, 1 + steps.count()));
            dissemination(script, &group, &steps);
            let signals = Vectors {
                first: u64::from(script.cut().blocks()),
                other: 0,
            };
            area = Some(
                run.reserve(script, requests, signals, None)
                    .map_err(lacking)?,
            );
        }
        stats::count(Collective::Barrier, plan.choice, 0);
        let mut between = || area.map_or(Ok(()), |area| run.carry_out(script, requests, area));
        let done = match nodes.memory.as_mut().filter(|_| form != Form::Flat) {
            Some(memory) => {
                let mut inside = Inside {
                    run: &run,
                    sequence,
                    memory,
                };
                inside.gate(between)
            }
            None => between(),
        };
        done.map(|()| plan.choice)
    }

    fn describe(&self, _plan: &Plan) -> String {
        String::new()
    }
}
