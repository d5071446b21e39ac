//! All-broadcasts over nodes: leaders exchange with other nodes, and shared memory, or messages where there is
//! none, brings what they receive to the other ranks of the node.

#![forbid(unsafe_code)]

use super::Stop;
use super::order::{Exchange, Members, STAGED, cut_long, limits, pattern};
use super::traffic::Traffic;
use crate::algorithm::Algorithm;
use crate::comm::{Memory, Nodes, Schedules, Space, State};
use crate::decide::{Choice, Form, Why};
use crate::engine::node::{self, Messages, Places, Relay};
use crate::engine::{self, AllBroadcast, Limits, Order, Part, Pattern, Scratch};
use crate::host::{Comm, Failure, Job, MpiWire, Requests, RingLocal, StagingRoom, Usable, View};
use crate::schedule::{Blocks, Circulant};

/// An all-broadcast over nodes.
pub(super) struct Over<'a> {
    pub exchange: &'a Exchange<'a>,
    pub lanes: u32,
    pub places: Places<'a>,
    /// The nodes with a part, ascending.
    pub contributors: &'a [u32],
}

/// Between whom the call is carried out, now that it shows whether there is a segment: without one there is
/// nothing to gain on a single node.
pub(super) fn settle(
    choice: &Choice,
    usable: &Usable,
    state: &State,
    nodes: &mut Nodes,
    private: Comm,
) -> Result<Form, Stop> {
    let Choice::Rondo { form, why, .. } = *choice else {
        return Ok(Form::Flat);
    };
    if form == Form::Flat {
        return Ok(form);
    }
    nodes
        .sharing
        .settle(usable, state, private)
        .map_err(Stop::Broken)?;
    if nodes.sharing.memory().is_some() {
        return Ok(form);
    }
    match state.facts().nodes {
        1 if why == Why::Configured => Ok(Form::Flat),
        1 => Err(Stop::Host(Why::OneNode)),
        _ => Ok(Form::Nodes { lanes: 1 }),
    }
}

impl Over<'_> {
    /// Carries it out. What the exchange with other nodes uses is in `network`; `count` is called when there is no way back.
    #[expect(
        clippy::too_many_arguments,
        reason = "state of several kinds, used once"
    )]
    pub(super) fn run(
        &self,
        usable: &Usable,
        state: &State,
        traffic: Traffic,
        memory: Option<&mut Memory>,
        space: &mut Space,
        (requests, scratch): (&mut Requests, &mut Scratch),
        count: impl FnOnce(),
    ) -> Result<(), Stop> {
        let (topology, rank) = (state.topology(), state.rank());
        let (node, n) = (topology.node(rank), topology.nodes());
        let Space {
            schedules,
            local_schedules,
            cuts,
            lanes,
            rows,
            cut,
            scratch: local_scratch,
            requests: local_requests,
        } = space;
        let graph = Circulant::new(n);
        let members = Members {
            graph,
            me: node,
            contributors: self.contributors,
            latency: self.exchange.latencies(state).0,
        };
        let pattern = pattern(
            self.exchange.algorithm,
            self.exchange.blocks,
            &members,
            schedules,
        );
        let round = self.exchange.bytes.div_ceil(self.exchange.blocks.into());
        let limits = limits(state, n, &pattern, round);
        let root = self.exchange.sources.root().unwrap_or(0);
        cuts.resize_with(self.lanes as usize, Vec::new);
        lanes.resize_with(self.lanes as usize, Default::default);
        let mut leads = None;
        for (lane, (cut, (leader, messages))) in (0..).zip(cuts.iter_mut().zip(&mut *lanes)) {
            self.cut(lane, n, cut);
            let leading = topology.lane_leader(node, root, lane);
            if leading == rank && n > 1 {
                leads = Some(lane);
            }
            *leader = topology.local(leading);
            messages.clear();
            if n > 1 {
                let order = Order::new(graph, node, pattern, cut);
                let start = |node| self.places.share(node, (lane, self.lanes)).offset;
                messages.list(&order, limits.message, start);
            }
        }
        if let Some(lane) = leads {
            let room = self.staging(&limits, &cuts[lane as usize]);
            requests
                .reserve(limits.receives, limits.sends, room)
                .map_err(Stop::Error)?;
        }
        let network = Leading {
            lane: leads.map(|lane| (lane, self.lanes)),
            graph,
            pattern,
            cuts,
            limits,
        };
        if let Some(memory) = memory {
            let locals = topology.locals(node);
            let slices = match n {
                1 => node::slices(self.places.blob(0).len, memory.ring.capacity()),
                _ => 1,
            };
            let parts = locals.iter().map(|&rank| self.places.part(rank));
            rows.list(parts, slices, lanes.iter().map(|(leader, m)| (*leader, m)));
            let begin = memory.begin(rows.through());
            let relay = Relay::new(rows, topology.local(rank), begin);
            count();
            return traffic.carry(usable, state, |job| {
                let (places, ring) = (self.places, &mut memory.ring);
                let mut local = RingLocal::new(*job, ring, places, locals, self.exchange.sequence);
                let mut wire = MpiWire::new(job, requests, self.view(state, network.lane));
                let network = network.begin(node, scratch, &mut wire);
                node::run(relay, &mut local, network)
            });
        }
        let inside = Inside {
            over: self,
            state,
            cut,
            scratch: local_scratch,
            requests: local_requests,
        };
        count();
        let (lanes, schedules) = (&mut lanes[..], local_schedules);
        traffic.carry(usable, state, |job| {
            inside.run(job, lanes, schedules, |local, own, all| {
                let mut wire = MpiWire::new(job, requests, self.view(state, network.lane));
                let network = network.begin(node, scratch, &mut wire);
                node::run_by_messages(all, own, local, network)
            })
        })
    }

    /// The parts of `lane` in an exchange among `n` nodes.
    fn cut(&self, lane: u32, n: u32, cut: &mut Vec<Part>) {
        let len = |node| self.places.share(node, (lane, self.lanes)).len;
        self.exchange.cut(n, self.contributors, len, cut);
    }

    fn view<'a>(&'a self, state: &'a State, lane: Option<(u32, u32)>) -> View<'a> {
        View::Nodes {
            topology: state.topology(),
            root: self.exchange.sources.root().unwrap_or(0),
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
            Places::Many(..) => StagingRoom {
                messages: STAGED as u32,
                bytes: limits.message.min(total).max(longest),
                pieces: cut.len(),
            },
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
struct Inside<'a> {
    over: &'a Over<'a>,
    state: &'a State,
    cut: &'a mut Vec<Part>,
    scratch: &'a mut Scratch,
    requests: &'a mut Requests,
}

impl Inside<'_> {
    /// Exchanges the parts of the node's ranks, then calls `run` with the wire to them, the blocks that the
    /// leader has for them from the beginning, and the broadcast of what it has and receives.
    fn run<'j>(
        self,
        job: &Job<'j>,
        lanes: &mut [(u32, Messages)],
        schedules: &mut Schedules,
        run: impl FnOnce(&mut MpiWire<'_>, u32, Option<AllBroadcast<'_>>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Inside {
            over,
            state,
            cut,
            scratch,
            requests,
        } = self;
        let (topology, rank) = (state.topology(), state.rank());
        let node = topology.node(rank);
        let (locals, me) = (topology.locals(node), topology.local(rank));
        let n = locals.len() as u32;
        let graph = Circulant::new(n);
        let limits_of = |pattern: &Pattern, round| limits(state, n, pattern, round);
        let limits = limits_of(&Pattern::Bruck, 0);
        let reserve = |requests: &mut Requests, bytes, pieces| {
            let room = StagingRoom {
                messages: STAGED as u32,
                bytes,
                pieces,
            };
            requests
                .reserve(limits.receives, limits.sends, room)
                .map_err(Failure::memory)
        };
        let root = over.exchange.sources.root();
        if n > 1 && root.is_none() {
            let len = |&rank: &u32| over.places.part(rank).len;
            let longest = locals.iter().map(len).max().unwrap_or(0);
            let blocks = longest.div_ceil(limits.message).max(1) as u32;
            cut_long(locals.iter().map(len), blocks, cut);
            reserve(requests, limits.message, cut.len())?;
            let order = Order::new(graph, me, Pattern::Bruck, cut);
            let mut wire = MpiWire::new(job, requests, View::Locals(locals));
            engine::run(AllBroadcast::new(order, limits, scratch), &mut wire)?;
        }
        let [(leader, messages)] = lanes else {
            unreachable!("lanes need shared memory");
        };
        let mut own = 0;
        if root.is_some_and(|root| topology.node(root) == node) {
            messages.list_own(Blocks::new(
                over.places.blob(node).len,
                over.exchange.blocks,
            ));
            own = messages.count();
        }
        let (leader, count) = (*leader, messages.count());
        cut.clear();
        cut.push(Part {
            root: leader,
            first: 0,
            blocks: Blocks::new(count.into(), count.max(1)),
        });
        reserve(requests, messages.longest(), 1)?;
        let all = (n > 1 && count > 0).then(|| {
            // Whatever brings the blocks to this node, here they have a root.
            let algorithm = match over.exchange.algorithm == Algorithm::Postal {
                true => Algorithm::Postal,
                false => Algorithm::Circulant,
            };
            let members = Members {
                graph,
                me,
                contributors: &[leader],
                latency: over.exchange.latencies(state).1,
            };
            let pattern = pattern(algorithm, count, &members, schedules);
            let limits = Limits {
                message: 1, // a block is a message, whatever its number says of bytes
                ..limits_of(&pattern, messages.longest())
            };
            AllBroadcast::new(Order::new(graph, me, pattern, cut), limits, scratch)
        });
        let view = View::Received {
            locals,
            lanes,
            places: over.places,
        };
        run(&mut MpiWire::new(job, requests, view), own, all)
    }
}
