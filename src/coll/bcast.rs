//! `MPI_Bcast`.

#![forbid(unsafe_code)]

use super::nodes::{Means, Over, Travel, settle};
use super::{Operation, Plan, Stop, Traffic, begin, context, exchange, private};
use crate::algorithm::Algorithm;
use crate::collective::Collective;
use crate::comm::{Nodes, State, Work};
use crate::decide::{self, Broadcast, Choice, Form, Problem, Why};
use crate::engine::node::Places;
use crate::engine::{Part, Pattern};
use crate::host::{Bcast, Usable, call_tag};
use crate::schedule::{Blocks, Circulant, Rounds};
use crate::stats;

impl Operation for Bcast {
    type Problem<'a> = Broadcast<'a>;

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
        let known = Some(bytes);
        let choice = self.ask(known, state, |problem| problem.choose());
        Some(Plan {
            known,
            ..Plan::new(choice, bytes)
        })
    }

    #[inline]
    fn ask<T>(
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

    fn attempt(&self, plan: &Plan, usable: &Usable, state: &State) -> Result<(), Stop> {
        let p = state.facts().p;
        let (
            Choice::Rondo {
                algorithm, blocks, ..
            },
            Some(root),
        ) = (plan.choice, self.root(p))
        else {
            unreachable!("not Rondo's choice");
        };
        let round = plan.bytes.div_ceil(blocks.into());
        let travel = match algorithm {
            Algorithm::Postal => {
                let (between, inside) = decide::latencies(round, state.config());
                Travel::Tree { between, inside }
            }
            _ => Travel::Circulant,
        };
        let private = private(usable, state)?;
        let work = &mut *state.work.lock();
        let sequence = begin(work, private, usable, state)?;
        let form = settle(&plan.choice, usable, state, &mut work.nodes, private)?;
        let facts = [Collective::Bcast as u64, sequence, root.into(), plan.bytes];

        let datatype = self.datatype(usable).ok_or(Stop::Host(Why::Invalid))?;
        let layout = usable.layout(datatype, private);
        let layout = layout.map_err(|_| Stop::Host(Why::Invalid))?;
        let data = self.data(usable, datatype, layout);
        let data = data.ok_or(Stop::Host(Why::Invalid))?.map_err(Stop::Error)?;

        let Work {
            schedules,
            requests,
            scratch,
            nodes,
            ..
        } = work;
        let traffic = Traffic {
            private,
            sequence,
            tag: call_tag(facts, state.tag_mask()),
            data,
            packs: state.rank() == root,
        };
        let count = || stats::count(Collective::Bcast, plan.choice, plan.bytes);
        if let Form::Nodes { lanes } = form {
            let home = state.topology().node(root);
            let over = Over {
                travel,
                bytes: plan.bytes,
                blocks,
                lanes,
                root: Some(root),
                places: Places::One(root, home, plan.bytes),
                contributors: &[home],
                sequence,
            };
            let Nodes { sharing, space, .. } = nodes;
            let means = Means {
                memory: sharing.memory(),
                space,
                requests,
                scratch,
            };
            return over.run(usable, state, traffic, means, count);
        }
        let graph = Circulant::new(p);
        let pattern = match travel {
            Travel::Tree { between, .. } => {
                Pattern::Tree(schedules.of_tree(p, state.rank(), root, between))
            }
            _ => {
                let entries = schedules.of_root(&graph, state.rank(), root);
                Pattern::Circulant(Rounds::new(graph.q(), blocks), entries)
            }
        };
        let cut = [Part {
            root,
            first: 0,
            blocks: Blocks::new(plan.bytes, blocks),
        }];
        exchange(
            usable, state, traffic, pattern, round, &cut, scratch, requests, count,
        )
    }

    fn describe(&self, plan: &Plan) -> String {
        let root = self.root(u32::MAX).unwrap_or(0);
        format!("of {} bytes from root {root}", plan.bytes)
    }
}
