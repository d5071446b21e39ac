//! All-broadcasts over nodes: leaders exchange with other nodes, and shared memory, or messages where there is
//! none, brings what they receive to the other ranks of the node.

#![forbid(unsafe_code)]

use super::Stop;
use super::order::{BlockTransfer, filling, limits, neighbors, staging};
use super::room::lacking;
use super::traffic::Traffic;
use crate::algorithm::Algorithm;
use crate::decide::{Choice, Form, Method, Why};
use crate::engine::node::{self, Assembly, Messages, Places, Relay, RingRows, Space};
use crate::engine::{
    self, AllBroadcast, Limits, Members, Order, Part, Pattern, Schedules, Scratch,
};
use crate::group::{Memory, State};
use crate::host::{Failure, Job, Mpi, MpiWire, Requests, RingLocal, StagingRoom, View};
use crate::schedule::{Circulant, Steps};

/// Bytes of the list of rows in the ring that are kept from call to call.
const ROWS_BYTES: usize = 128 << 10;

/// An all-broadcast over nodes.
pub(super) struct Over<'a> {
    pub mpi: &'a Mpi,
    pub state: &'a State,
    pub transfer: &'a BlockTransfer<'a>,
    pub lanes: u32,
    pub places: Places<'a>,
    /// The nodes with a part, ascending.
    pub contributors: &'a [u32],
}

/// Between whom the call is carried out: without shared memory there is nothing to gain on a single node.
pub(super) fn settle(method: Method, state: &State) -> Result<Form, Stop> {
    let Method { form, why, .. } = method;
    if form == Form::Flat || shares(form, state) {
        return Ok(form);
    }
    match state.facts.nodes {
        1 if why == Why::Configured => Ok(Form::Flat),
        1 => Err(Stop::Host(Why::OneNode)),
        _ => Ok(Form::Nodes { lanes: 1 }),
    }
}

/// The choice in effect, now that it is settled between whom: in lanes data pass through a segment.
pub(super) fn in_effect(choice: Choice, form: Form) -> Choice {
    match choice {
        Choice::Rondo(method) if method.algorithm == Algorithm::FullLane && method.form != form => {
            Choice::Rondo(Method {
                algorithm: Algorithm::Circulant,
                form,
                why: Why::NoLanes,
                ..method
            })
        }
        Choice::Rondo(_) | Choice::Host(_) => choice,
    }
}

/// Do the ranks of every node share memory, where the form asks for that? All ranks know alike.
pub(super) fn shares(form: Form, state: &State) -> bool {
    form != Form::Flat && state.shares_memory()
}

impl Over<'_> {
    /// Carries it out. What the exchange with other nodes uses is in `network`; `count` is called when there is no way
    /// back.
    pub(super) fn run(
        &self,
        traffic: Traffic,
        memory: Option<&mut Memory>,
        (space, local_requests): (&mut Space, &mut Requests),
        (requests, scratch): (&mut Requests, &mut Scratch),
        count: impl FnOnce(),
    ) -> Result<(), Stop> {
        let (mpi, state) = (self.mpi, self.state);
        let (topology, rank) = (state.topology(), state.rank());
        let node = topology.node(rank);
        let Space {
            schedules,
            local_schedules,
            cuts,
            lanes,
            rows,
            cut,
            scratch: local_scratch,
        } = space;
        let network = self.lead(schedules, cuts, lanes, requests)?;
        if let Some(memory) = memory {
            let locals = topology.locals(node);
            (self.assembly()).list_rows(node, memory.ring.capacity(), lanes, rows);
            let begin = memory.positions.begin(rows.through());
            let relay = Relay::new(rows, topology.local(rank), begin);
            count();
            let done = traffic.carry(mpi, |job| {
                let (places, ring) = (self.places, &mut memory.ring);
                let mut local = RingLocal::new(*job, ring, places, locals, self.transfer.sequence);
                let mut wire = MpiWire::new(job, requests, self.view(network.lane));
                let network = network.begin(node, scratch, &mut wire);
                node::run(relay, &mut local, network)
            });
            if rows.bytes() > ROWS_BYTES {
                *rows = RingRows::default();
            }
            return done;
        }
        let inside = ByMessages {
            over: self,
            cut,
            scratch: local_scratch,
            requests: local_requests,
        };
        count();
        let (lanes, schedules) = (&mut lanes[..], local_schedules);
        traffic.carry(mpi, |job| {
            inside.run(job, lanes, schedules, |local, own, all| {
                let mut wire = MpiWire::new(job, requests, self.view(network.lane));
                let network = network.begin(node, scratch, &mut wire);
                node::run_by_messages(all, own, local, network)
            })
        })
    }

    /// What all ranks know of it.
    fn assembly(&self) -> Assembly<'_> {
        Assembly {
            topology: self.state.topology(),
            places: self.places,
            root: self.transfer.sources.root(),
            lanes: self.lanes,
            way: self.transfer.way,
            blocks: self.transfer.blocks,
            contributors: self.contributors,
        }
    }

    /// What this rank exchanges with other nodes, if it leads a lane, with room for it in `requests`.
    fn lead<'a>(
        &self,
        schedules: &'a mut Schedules,
        cuts: &'a mut Vec<Vec<Part>>,
        lanes: &mut Vec<(u32, Messages)>,
        requests: &mut Requests,
    ) -> Result<Leading<'a>, Stop> {
        let (state, transfer) = (self.state, self.transfer);
        let topology = state.topology();
        let n = topology.nodes();
        let graph = Circulant::new(n);
        let members = Members {
            graph,
            me: topology.node(state.rank()),
            contributors: self.contributors,
            radix: transfer.radix(state, Form::Nodes { lanes: self.lanes }),
        };
        let pattern = (transfer.way).pattern(transfer.blocks, &members, schedules);
        let round = transfer.bytes.div_ceil(transfer.blocks.into());
        let limits = filling(limits(state, n, &pattern, round), requests, round, state);
        let assembly = self.assembly();
        let lane = assembly.list_lanes(state.rank(), (pattern, limits.message), cuts, lanes);
        if let Some(lane) = lane {
            let room = self.staging(&limits, &cuts[lane as usize]);
            requests
                .reserve(&limits, neighbors(n, &pattern), room)
                .map_err(lacking)?;
        }
        // Ranks that lead in no lane of this call are told as well: they lead where they are the root.
        if let Some(root) = transfer.sources.root() {
            let senders = neighbors(n, &pattern).saturating_mul(state.facts.widest);
            (requests.flow).lean_on(root, senders.min(state.p() - 1));
        }
        Ok(Leading {
            lane: lane.map(|lane| (lane, self.lanes)),
            graph,
            pattern,
            cuts,
            limits,
        })
    }

    fn view(&self, lane: Option<(u32, u32)>) -> View<'_> {
        View::Nodes {
            topology: self.state.topology(),
            root: self.transfer.sources.root().unwrap_or(0),
            lane: lane.unwrap_or((0, 1)),
            places: self.places,
        }
    }

    /// The parts of a node's ranks need not lie side by side, even in a single piece.
    fn staging(&self, limits: &Limits, cut: &[Part]) -> StagingRoom {
        let longest = cut
            .iter()
            .map(|part| part.blocks.span(0).len)
            .max()
            .unwrap_or(0);
        let total: u64 = cut.iter().map(Part::bytes).sum();
        match self.places {
            Places::One(..) => StagingRoom::none(),
            Places::Many(..) => {
                let message = limits.message.min(total).max(longest);
                staging(limits, message, cut.len(), total)
            }
        }
    }
}

/// The exchange with other nodes, on a leader.
struct Leading<'a> {
    /// The lane that this rank leads, and of how many.
    lane: Option<(u32, u32)>,
    graph: Circulant,
    pattern: Pattern<'a>,
    cuts: &'a [Vec<Part>],
    limits: Limits,
}

impl<'a> Leading<'a> {
    fn begin<'n, 'w>(
        &self,
        node: u32,
        scratch: &'a mut Scratch,
        wire: &'n mut MpiWire<'w>,
    ) -> node::Network<'n, 'a, MpiWire<'w>> {
        let (lane, _) = self.lane?;
        let order = Order::new(self.graph, node, self.pattern, &self.cuts[lane as usize]);
        Some((AllBroadcast::new(order, self.limits, scratch), wire))
    }
}

/// What passes between the ranks of a node by messages.
struct ByMessages<'a> {
    over: &'a Over<'a>,
    cut: &'a mut Vec<Part>,
    scratch: &'a mut Scratch,
    requests: &'a mut Requests,
}

/// Room for so many bytes and pieces in a message inside a node of `n` ranks.
fn reserve(
    requests: &mut Requests,
    n: u32,
    limits: &Limits,
    bytes: u64,
    pieces: usize,
) -> Result<(), Failure> {
    let room = staging(limits, bytes, pieces, u64::MAX);
    requests
        .reserve(limits, Circulant::new(n).q() as u32, room)
        .map_err(Failure::memory)
}

impl ByMessages<'_> {
    /// Exchanges the parts of the node's ranks, where each has one.
    fn exchange_own(&mut self, job: &Job) -> Result<(), Failure> {
        let (state, assembly) = (self.over.state, self.over.assembly());
        let (topology, rank) = (state.topology(), state.rank());
        let node = topology.node(rank);
        let Some(pattern) = assembly.pattern_of_own(node) else {
            return Ok(());
        };
        let locals = topology.locals(node);
        let n = locals.len() as u32;
        let limits = limits(state, n, &pattern, 0);
        assembly.cut_own(node, limits.message, self.cut);
        reserve(self.requests, n, &limits, limits.message, self.cut.len())?;
        let order = Order::new(Circulant::new(n), topology.local(rank), pattern, self.cut);
        let mut wire = MpiWire::new(job, self.requests, View::Locals(locals));
        engine::run(AllBroadcast::new(order, limits, self.scratch), &mut wire)
    }

    /// Exchanges the parts of the node's ranks, then calls `run` with the wire to them, the blocks that the
    /// leader has for them from the beginning, and the broadcast of what it has and receives.
    fn run<'j>(
        mut self,
        job: &Job<'j>,
        lanes: &mut [(u32, Messages)],
        schedules: &mut Schedules,
        run: impl FnOnce(&mut MpiWire<'_>, u32, Option<AllBroadcast<'_>>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.exchange_own(job)?;
        let ByMessages {
            over,
            cut,
            scratch,
            requests,
        } = self;
        let (state, assembly) = (over.state, over.assembly());
        let (topology, rank) = (state.topology(), state.rank());
        let node = topology.node(rank);
        let locals = topology.locals(node);
        let n = locals.len() as u32;
        let [(leader, messages)] = lanes else {
            unreachable!("lanes need shared memory");
        };
        let own = assembly.list_inside(node, messages);
        let (leader, longest) = (*leader, messages.longest());
        reserve(
            requests,
            n,
            &limits(state, n, &Pattern::Bruck(Steps::new(n, 2)), 0),
            longest,
            1,
        )?;
        let all = assembly.inside(
            rank,
            over.transfer.way_inside(state),
            (leader, messages),
            |pattern| limits(state, n, pattern, longest),
            (schedules, cut, scratch),
        );
        let view = View::Received {
            locals,
            lanes,
            places: over.places,
        };
        run(&mut MpiWire::new(job, requests, view), own, all)
    }
}
