//! `MPI_Gatherv`, `MPI_Gather`, `MPI_Scatterv` and `MPI_Scatter`.

#![forbid(unsafe_code)]

use super::nodes::settle;
use super::room::lacking;
use super::{Operation, Plan, Rest, Stop, context, enter, looked_at};
use crate::algorithm::RootedAlgorithm;
use crate::collective::Collective;
use crate::decide::{self, Choice, Form, Method};
use crate::engine;
use crate::engine::rooted::{Gather, Misfit, RootedTree, Scatter, Terms};
use crate::group::{Memory, Nodes, State, Work};
use crate::host::{
    self, Comm, Failure, LocalPackets, Mpi, MpiRootedWire, Rooted, RootedOp, Route, Tags,
    UserBlocks,
};
use crate::schedule::Parts;
use crate::stats;

impl Operation for Rooted {
    type Problem<'a> = decide::Rooted<'a>;

    fn collective(&self) -> Collective {
        match (self.op(), self.is_regular()) {
            (RootedOp::Gather, false) => Collective::Gatherv,
            (RootedOp::Gather, true) => Collective::Gather,
            (RootedOp::Scatter, false) => Collective::Scatterv,
            (RootedOp::Scatter, true) => Collective::Scatter,
        }
    }

    /// Bytes of this rank's own block.
    fn bytes(&self, mpi: &Mpi, state: &State) -> Option<u64> {
        let root = self.root(state.p())?;
        self.own_bytes(mpi, root == state.rank())
    }

    /// What only some ranks can know to be invalid does not count here.
    fn plan(&self, mpi: &Mpi, state: &State, plan: &mut Plan) -> Option<()> {
        self.root(state.p())?;
        let bytes = self.bytes(mpi, state);
        let known = match self.is_regular() {
            true => Some(bytes?),
            false => None,
        };
        self.decide(known, state, plan);
        plan.bytes = bytes.unwrap_or(0);
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
        question: impl FnOnce(decide::Rooted) -> T,
    ) -> T {
        question(decide::Rooted {
            context: context(self.collective(), state),
            block: known,
        })
    }

    fn attempt(
        &self,
        method: Method,
        plan: &Plan,
        mpi: &Mpi,
        state: &State,
    ) -> Result<Choice, Stop> {
        let root = self.root(state.p()).unwrap_or(0);
        let channel = state.channel();
        let work = &mut *state.work();
        let sequence = enter(work, mpi, state)?;
        let form = settle(method, state)?;
        let Work {
            parts,
            rooted_scratch,
            in_flight,
            nodes,
            ..
        } = work;
        let Nodes {
            memory,
            mailbox_state,
            ..
        } = nodes;
        let terms = terms(self.collective(), method, root, state);
        let memory = memory.as_mut().filter(|_| form != Form::Flat);
        let mut local = memory.map(|memory| {
            let route = route(self.op(), &terms, sequence, memory, state);
            LocalPackets::new(route, mailbox_state)
        });
        // What the host refuses is not here: only the type of the root's blocks may be none still.
        let overlooked = || Stop::Broken(Failure::Datatype);
        let own = self.bytes(mpi, state).ok_or_else(overlooked)?;
        let parts = if root == terms.rank {
            let stated = self.parts(mpi, terms.p, parts);
            stated.ok_or_else(overlooked)?;
            Some(&*parts)
        } else {
            None
        };
        let blocks = blocks(self, own, terms.rank, parts, mpi, channel.comm)?;
        // What the engines start at the most: a packet each way for each part of the tree, and long blocks.
        let requests = 2 * terms.tree().parts(terms.rank) + terms.window.min(terms.p);
        in_flight
            .reserve(requests as usize, terms.p)
            .map_err(lacking)?;
        if let Some(local) = &mut local {
            local.reserve().map_err(lacking)?;
        }
        stats::count(self.collective(), plan.choice, plan.bytes);
        let facts = [self.collective() as u64, root.into(), terms.long];
        let tags = Tags::new(self.op(), sequence, facts, channel.tags);
        let wire = MpiRootedWire::new(mpi, channel, (root, sequence), tags, in_flight, blocks);
        let mut wire = wire.with_local(local);
        let done = match self.op() {
            RootedOp::Gather => {
                let gather = Gather::new(terms, own, parts, rooted_scratch);
                engine::run(gather, &mut wire)
            }
            RootedOp::Scatter => {
                let scatter = Scatter::new(terms, own, parts, rooted_scratch);
                engine::run(scatter, &mut wire)
            }
        };
        done.map_err(Stop::Broken)?;
        Ok(plan.choice)
    }

    fn describe(&self, plan: &Plan) -> String {
        let (root, bytes) = (self.root(u32::MAX).unwrap_or(0), plan.bytes);
        match self.op() {
            RootedOp::Gather => format!("of {bytes} bytes of this rank to root {root}"),
            RootedOp::Scatter => format!("of {bytes} bytes for this rank from root {root}"),
        }
    }
}

/// The way of packets within a node in the call of this number.
fn route<'a>(
    op: RootedOp,
    terms: &Terms,
    call: u64,
    memory: &'a Memory,
    state: &'a State,
) -> Route<'a> {
    Route {
        nodes: state.topology(),
        mailboxes: &memory.mailboxes,
        rank: terms.rank,
        root: terms.root,
        op,
        call,
    }
}

/// What all ranks agree on in a call that is carried out in this way.
fn terms(collective: Collective, method: Method, root: u32, state: &State) -> Terms<'_> {
    let (algorithm, form) = (method.algorithm.of_rooted(), method.form);
    Terms {
        rank: state.rank(),
        p: state.p(),
        root,
        shape: match algorithm {
            RootedAlgorithm::Linear => RootedTree::Star,
            RootedAlgorithm::Adaptive => RootedTree::Adaptive,
            RootedAlgorithm::Hybrid | RootedAlgorithm::Binomial if form != Form::Flat => {
                RootedTree::Nodes(state.topology())
            }
            RootedAlgorithm::Hybrid | RootedAlgorithm::Binomial => RootedTree::Binomial,
        },
        long: host::with_plain_floats(|| decide::long_block(context(collective, state), algorithm)),
        window: decide::asked_at_a_time(state.config()),
    }
}

/// The blocks that this rank exchanges with others, in the user's memory. The root's own one is
/// copied to where it belongs.
fn blocks<'a>(
    call: &Rooted,
    bytes: u64,
    rank: u32,
    parts: Option<&'a Parts>,
    mpi: &Mpi,
    comm: Comm,
) -> Result<Option<UserBlocks<'a>>, Stop> {
    let own = looked_at(call.own_block(mpi))?;
    let Some(parts) = parts else {
        return Ok(own);
    };
    let all = call.all_blocks(mpi, parts);
    let all = all.map_err(|_| Stop::Broken(Failure::Datatype))?;
    let root = parts.span(rank).len;
    if bytes != root {
        let own = bytes;
        return Err(Stop::Broken(Misfit::Block { rank, own, root }.into()));
    }
    if let (Some(own), Some(all)) = (&own, &all) {
        let copied = match call.op() {
            RootedOp::Gather => own.copy(mpi, comm, rank, all),
            RootedOp::Scatter => all.copy(mpi, comm, rank, own),
        };
        copied.map_err(|code| Stop::Broken(Failure::Host(code, "copying the root's block")))?;
    }
    Ok(all)
}
