//! `MPI_Bcast`.

#![forbid(unsafe_code)]

use super::nodes::{Means, Over, Travel, settle};
use super::{Operation, Plan, Stop, Traffic, begin, exchange, private};
use crate::comm::{Nodes, State, Work};
use crate::config::Algorithm;
use crate::decide::{self, Choice, Form, Why};
use crate::engine::node::Places;
use crate::engine::{Part, Pattern};
use crate::host::{Bcast, Usable, call_tag};
use crate::learn::{Candidate, Lesson};
use crate::rules::Ruling;
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
        Some(Plan::new(choice, bytes))
    }

    #[inline]
    fn kind(&self, plan: &Plan, state: &State) -> Option<(u8, Candidate)> {
        decide::bcast_kind(plan.bytes, state.config(), plan.choice)
    }

    fn lesson(&self, plan: &Plan, state: &State) -> Option<Lesson> {
        decide::bcast_lesson(state.facts(), plan.bytes, state.config(), plan.choice)
    }

    fn ruled(&self, plan: &Plan, state: &State, ruling: Ruling) -> Choice {
        decide::bcast_ruled(state.facts(), plan.bytes, state.config(), ruling)
    }

    fn candidate(&self, plan: &Plan, state: &State, candidate: Candidate) -> Choice {
        decide::bcast_candidate(state.facts(), plan.bytes, state.config(), candidate)
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
