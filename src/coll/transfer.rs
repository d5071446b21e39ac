//! Carrying out all-broadcasts, of which a broadcast is one with a single part: one way between all ranks or over
//! nodes.

#![forbid(unsafe_code)]

use super::Stop;
use super::nodes::Over;
use super::order::{BlockTransfer, Sources, filling, limits, neighbors, staging};
use super::room::lacking;
use super::traffic::Traffic;
use crate::decide::Form;
use crate::engine::node::Places;
use crate::engine::{self, AllBroadcast, Members, Part, Schedules, Scratch};
use crate::group::{Nodes, State};
use crate::host::{Mpi, MpiWire, Requests, StagingRoom, View};
use crate::schedule::Circulant;

/// What a rank uses.
pub(super) struct Means<'a> {
    pub schedules: &'a mut Schedules,
    pub cut: &'a mut Vec<Part>,
    pub requests: &'a mut Requests,
    pub scratch: &'a mut Scratch,
    pub nodes: &'a mut Nodes,
}

impl BlockTransfer<'_> {
    /// Carries it out. `count` is called when there is no way back.
    pub(super) fn run(
        &self,
        form: Form,
        mpi: &Mpi,
        state: &State,
        traffic: Traffic,
        means: Means,
        count: impl FnOnce(),
    ) -> Result<(), Stop> {
        let Form::Nodes { lanes } = form else {
            return self.flat(mpi, state, traffic, means, count);
        };
        let Nodes {
            memory,
            places,
            node_parts,
            space,
            requests,
            ..
        } = means.nodes;
        let home;
        let (places, contributors) = match self.sources {
            Sources::Root(root) => {
                home = [state.topology().node(root)];
                (Places::One(root, home[0], self.bytes), &home[..])
            }
            Sources::Ranks(_) => (
                Places::Many(state.topology(), places),
                node_parts.contributors(),
            ),
        };
        let over = Over {
            mpi,
            state,
            transfer: self,
            lanes,
            places,
            contributors,
        };
        let network = (means.requests, means.scratch);
        over.run(traffic, memory.as_mut(), (space, requests), network, count)
    }

    /// Carries it out between all ranks.
    fn flat(
        &self,
        mpi: &Mpi,
        state: &State,
        traffic: Traffic,
        means: Means,
        count: impl FnOnce(),
    ) -> Result<(), Stop> {
        let Means {
            schedules,
            cut,
            requests,
            scratch,
            ..
        } = means;
        let (p, rank) = (state.p(), state.rank());
        let graph = Circulant::new(p);
        let contributors = self.sources.contributors();
        let members = Members {
            graph,
            me: rank,
            contributors,
            radix: self.radix(state, Form::Flat),
        };
        let pattern = (self.way).pattern(self.blocks, &members, schedules);
        self.way.cut(
            self.blocks,
            (p, contributors),
            |rank| match self.sources {
                Sources::Root(_) => self.bytes,
                Sources::Ranks(parts) => parts.span(rank).len,
            },
            cut,
        );
        let round = self.round();
        let limits = filling(limits(state, p, &pattern, round), requests, round, state);
        let (parts, message) = (cut.len(), limits.message.min(round + cut.len() as u64));
        let staging = match parts {
            1 => StagingRoom::none(), // a single part lies in a run
            _ => staging(&limits, message, parts, self.bytes),
        };
        requests
            .reserve(&limits, neighbors(p, &pattern), staging)
            .map_err(lacking)?;
        count();
        traffic.carry(mpi, |job| {
            let mut wire = MpiWire::new(job, requests, View::Ranks);
            let order = engine::Order::new(graph, rank, pattern, cut);
            engine::run(AllBroadcast::new(order, limits, scratch), &mut wire)
        })
    }
}
