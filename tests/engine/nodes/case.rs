//! All-broadcasts over nodes, one after the other, from their description to what came of them.

use super::plan::{Call, Plan};
use super::ring::Ring;
use super::world::{Broken, End, Link, Scene, State, World};
use crate::wire::{Net, PiecePlaces, Rules};
use rondo::engine::node::{self, Messages, Positions, Relay, RingRows};
use rondo::engine::{
    self, AllBroadcast, Limits, Members, Order, Part, Pattern, Piece, Schedules, Scratch, cut_long,
};
use rondo::schedule::{Blocks, Circulant, Span, Steps};
use rondo::topology::Topology;
use std::sync::Arc;

/// Calls to be tried.
#[derive(Clone, Debug)]
pub struct Case {
    /// The node of each rank.
    pub nodes: Vec<u64>,
    pub calls: Vec<Call>,
    /// Bytes of the ring of a node; without one, the ranks of a node use messages.
    pub ring: Option<u64>,
    pub limits: Limits,
    /// Receives, and as many sends, that a wire has memory for.
    pub room: u32,
    /// A rank that does nothing before the others cannot go on without it.
    pub slow: Option<u32>,
    pub seed: u64,
}

impl Case {
    pub fn new(nodes: Vec<u64>, calls: Vec<Call>, ring: Option<u64>) -> Case {
        Case {
            nodes,
            calls,
            ring,
            limits: Limits {
                receives: 8,
                sends: 2,
                message: u64::MAX,
            },
            room: u32::MAX,
            slow: None,
            seed: 1,
        }
    }

    fn plans(&self) -> Vec<Arc<Plan>> {
        let topology = Topology::new(&self.nodes);
        let capacity = self.ring.unwrap_or(0);
        let plan = |call| Arc::new(Plan::new(&topology, call, capacity));
        self.calls.iter().map(plan).collect()
    }
}

/// Where the networks of a call are in its scene: one for each lane, and two inside of every node.
fn parts_of(plan: &Plan, node: u32) -> usize {
    (plan.call.lanes + 2 * node) as usize
}

fn received_on(plan: &Plan, node: u32) -> usize {
    parts_of(plan, node) + 1
}

/// What the leader of `lane` receives on `node`.
fn messages(plan: &Plan, case: &Case, node: u32, lane: u32) -> Messages {
    let mut messages = Messages::default();
    if plan.topology.nodes() > 1 {
        let (mut schedules, cut) = (Schedules::default(), plan.cut(lane));
        let order = order(plan, node, pattern(plan, node, &mut schedules), &cut);
        let start = |node| plan.share(node, lane).offset;
        messages.list(&order, case.limits.message, start);
    }
    messages
}

/// In which order blocks go between the nodes.
fn pattern<'a>(plan: &Plan, node: u32, schedules: &'a mut Schedules) -> Pattern<'a> {
    let members = Members {
        graph: Circulant::new(plan.topology.nodes()),
        me: node,
        contributors: &plan.contributors,
        radix: 2,
    };
    (plan.call.travel).pattern(plan.call.blocks, &members, schedules)
}

fn order<'a>(plan: &Plan, node: u32, pattern: Pattern<'a>, cut: &'a [Part]) -> Order<'a> {
    Order::new(Circulant::new(plan.topology.nodes()), node, pattern, cut)
}

/// What the leader of `node` broadcasts inside: the blocks of a message that it has, or what it receives.
fn inside(plan: &Plan, case: &Case, node: u32) -> (Messages, u32) {
    let mut messages = messages(plan, case, node, 0);
    let mut own = 0;
    if plan
        .call
        .root
        .is_some_and(|root| plan.topology.node(root) == node)
    {
        messages.list_own(Blocks::new(plan.call.bytes(), plan.call.blocks));
        own = messages.count();
    }
    (messages, own)
}

/// A call before it begins.
fn scene(plan: &Arc<Plan>, case: &Case) -> Scene {
    let byte = |i: u64| ((i * 7 + i / 251) % 255) as u8 + 1;
    let message: Vec<u8> = (0..plan.call.bytes()).map(byte).collect();
    let topology = &plan.topology;
    let memory = |rank| {
        let mut memory = vec![0; message.len()];
        let own = plan.own(rank);
        memory[own.clone()].copy_from_slice(&message[own]);
        memory
    };
    let mut scene = Scene::new(message.clone(), (0..topology.p()).map(memory).collect());
    let mut add = |ranks: Vec<u32>, most, places: PiecePlaces| {
        let rules = Rules {
            message: message.clone(),
            places,
            most,
            room: case.room,
        };
        let nobody = vec![0; ranks.len()];
        scene.add(ranks, Net::new(rules, &nobody));
    };
    for lane in 0..plan.call.lanes {
        let shared = plan.clone();
        let place = move |piece: &Piece| {
            let offset = shared.share(piece.root, lane).offset + piece.span.offset;
            shared.ranges(Span {
                offset,
                ..piece.span
            })
        };
        add(plan.leaders(lane), case.limits.message, Box::new(place));
    }
    for node in 0..topology.nodes() {
        let locals = topology.locals(node).to_vec();
        let (shared, ranks) = (plan.clone(), locals.clone());
        let place = move |piece: &Piece| {
            let rank = ranks[piece.root as usize];
            Vec::from([shared.range(rank, piece.span)])
        };
        add(locals.clone(), case.limits.message, Box::new(place));
        let (shared, (messages, _)) = (plan.clone(), inside(plan, case, node));
        let place = move |piece: &Piece| {
            let spans = messages.spans(piece.span.offset as u32).iter();
            spans.flat_map(|&span| shared.ranges(span)).collect()
        };
        add(locals, 1, Box::new(place));
    }
    scene
}

/// Runs `case` on all ranks to its end and checks what holds in every order of things: all ranks have
/// everything, what has to pass between nodes does so once, and no more than that comes in.
pub fn run(case: &Case) -> State {
    let state = carry_out(case);
    let mut state = state.unwrap_or_else(|fault| panic!("{case:?}: {fault}"));
    for (plan, scene) in case.plans().iter().zip(&mut state.scenes) {
        for node in 0..plan.topology.nodes() {
            let networks = &scene.exchanges[..plan.call.lanes as usize];
            let ports = networks
                .iter()
                .map(|exchange| &exchange.net.ports[node as usize]);
            let node_part = plan.places().node_part(node).len;
            let bytes: u64 = ports.clone().map(|port| port.received.2).sum();
            assert_eq!(
                bytes,
                plan.call.bytes() - node_part,
                "{case:?}: into {node}"
            );
            let pieces = ports
                .flat_map(|port| &port.log)
                .flat_map(|(_, pieces)| pieces);
            let bytes: u64 = pieces.map(|piece| piece.span.len).sum();
            let most = plan.most_out(node);
            assert!(bytes <= most, "{case:?}: {bytes} out of {node}, not {most}");
        }
    }
    state
}

/// Runs `case`; an error is the first thing that went wrong.
pub fn carry_out(case: &Case) -> Result<State, String> {
    let plans = case.plans();
    let topology = Topology::new(&case.nodes);
    let scenes = plans.iter().map(|plan| scene(plan, case)).collect();
    let width = |node| topology.locals(node).len();
    let ring = |node| Ring::new(case.ring.unwrap_or(0), width(node));
    let rings = (0..topology.nodes()).map(ring).collect();
    let mut world = World::new(topology.p(), scenes, rings, case.seed);
    world.starve(case.slow);
    std::thread::scope(|scope| {
        for rank in 0..topology.p() {
            let (world, plans) = (&world, &plans);
            scope.spawn(move || {
                let _end = AtEnd(world, rank);
                // What went wrong is in the state.
                let _ = calls(world, plans, case, rank);
            });
        }
    });
    let mut state = world.into_state();
    if let Some(fault) = state.fault.take() {
        return Err(fault);
    }
    let mut exchanges = state.scenes.iter().flat_map(|scene| &scene.exchanges);
    match exchanges.any(|exchange| !exchange.net.under_way.is_empty()) {
        true => Err("messages are under way at the end".into()),
        false => Ok(state),
    }
}

/// Says that a rank is at its end, however it came there.
struct AtEnd<'w>(&'w World, u32);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.end(self.1);
    }
}

/// All calls on one rank, each as soon as the one before is done there.
fn calls(world: &World, plans: &[Arc<Plan>], case: &Case, rank: u32) -> Result<(), Broken> {
    world.begin(rank)?;
    // Without a ring, nothing is asked for.
    let mut positions = Positions::new(case.ring.unwrap_or(0));
    for (call, plan) in plans.iter().enumerate() {
        match case.ring {
            Some(_) => by_ring(world, plan, case, (call, rank), &mut positions)?,
            None => by_messages(world, plan, case, (call, rank))?,
        }
        world.done(rank, call)?;
    }
    Ok(())
}

/// The exchange with other nodes, if `rank` leads a lane; `wire` is its wire then.
fn network<'n, 'a, 'w>(
    plan: &Plan,
    case: &Case,
    (schedules, cuts): (&'a mut Schedules, &'a [Vec<Part>]),
    scratch: &'a mut Scratch,
    wire: &'n mut Link<'w>,
) -> node::Network<'n, 'a, Link<'w>> {
    let node = plan.topology.node(wire.rank);
    let lane = (0..plan.call.lanes).find(|&lane| plan.leaders(lane)[node as usize] == wire.rank);
    let lane = lane.filter(|_| plan.topology.nodes() > 1)? as usize;
    (wire.exchange, wire.port) = (lane, node);
    let order = order(plan, node, pattern(plan, node, schedules), &cuts[lane]);
    Some((AllBroadcast::new(order, case.limits, scratch), wire))
}

fn by_ring(
    world: &World,
    plan: &Plan,
    case: &Case,
    (call, rank): (usize, u32),
    positions: &mut Positions,
) -> Result<(), Broken> {
    let topology = &plan.topology;
    let (node, local, n) = (topology.node(rank), topology.local(rank), topology.nodes());
    let lead = |lane| {
        let leader = topology.local(plan.leaders(lane)[node as usize]);
        (leader, messages(plan, case, node, lane))
    };
    let lanes: Vec<(u32, Messages)> = (0..plan.call.lanes).map(lead).collect();
    let slices = match n {
        1 => node::slices(plan.places().node_part(0).len, plan.capacity),
        _ => 1,
    };
    let parts = topology.locals(node).iter();
    let parts = parts.map(|&rank| plan.places().part(rank));
    let mut rows = RingRows::default();
    rows.list(parts, slices, lanes.iter().map(|(leader, m)| (*leader, m)));
    let position = positions.begin(rows.through());
    world.say(rank, call, node, format!("{position} {rows:?}"))?;
    let relay = Relay::new(&rows, local, position);
    let mut end = End {
        world,
        plan,
        rank,
        call,
        node,
        local,
    };
    let cuts: Vec<_> = (0..plan.call.lanes).map(|lane| plan.cut(lane)).collect();
    let (mut schedules, mut scratch) = (Schedules::default(), Scratch::default());
    let mut wire = link(world, (call, rank), 0, 0);
    let network = network(plan, case, (&mut schedules, &cuts), &mut scratch, &mut wire);
    node::run(relay, &mut end, network)
}

fn link(world: &World, (call, rank): (usize, u32), exchange: usize, port: u32) -> Link<'_> {
    Link {
        world,
        rank,
        call,
        exchange,
        port,
    }
}

fn by_messages(
    world: &World,
    plan: &Plan,
    case: &Case,
    (call, rank): (usize, u32),
) -> Result<(), Broken> {
    let topology = &plan.topology;
    let (node, me) = (topology.node(rank), topology.local(rank));
    let locals = topology.locals(node);
    let n = locals.len() as u32;
    let graph = Circulant::new(n);
    if n > 1 && plan.call.root.is_none() {
        let lens = locals.iter().map(|&rank| plan.places().part(rank).len);
        let (mut cut, mut scratch) = (vec![], Scratch::default());
        cut_long(lens, 2, &mut cut);
        let order = Order::new(graph, me, Pattern::Bruck(Steps::new(n, 2)), &cut);
        let mut wire = link(world, (call, rank), parts_of(plan, node), me);
        engine::run(
            AllBroadcast::new(order, case.limits, &mut scratch),
            &mut wire,
        )?;
    }
    let (messages, own) = inside(plan, case, node);
    let leader = topology.local(plan.leaders(0)[node as usize]);
    let count = messages.count();
    world.say(rank, call, node, format!("{messages:?}"))?;
    let cut = [Part {
        root: leader,
        first: 0,
        blocks: Blocks::new(count.into(), count.max(1)),
    }];
    let (mut inside, mut scratch) = (Schedules::default(), Scratch::default());
    let all = (n > 1 && count > 0).then(|| {
        let members = Members {
            graph,
            me,
            contributors: &[leader],
            radix: 2,
        };
        let way = plan.call.travel.inside(|| 3);
        let pattern = way.pattern(count, &members, &mut inside);
        let limits = Limits {
            message: 1,
            ..case.limits
        };
        AllBroadcast::new(Order::new(graph, me, pattern, &cut), limits, &mut scratch)
    });
    let mut local = link(world, (call, rank), received_on(plan, node), me);
    let cuts = [plan.cut(0)];
    let (mut schedules, mut scratch) = (Schedules::default(), Scratch::default());
    let mut wire = link(world, (call, rank), 0, 0);
    let network = network(plan, case, (&mut schedules, &cuts), &mut scratch, &mut wire);
    node::run_by_messages(all, own, &mut local, network)
}
