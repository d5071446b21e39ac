//! All-broadcasts over nodes, one after the other, from their description to what came of them.

use super::plan::{Call, Plan};
use super::ring::Ring;
use super::world::{Broken, End, Link, Scene, State, World};
use crate::wire::{Net, PiecePlaces, Rules};
use rondo::engine::node::{self, Messages, Positions, Relay, RingRows};
use rondo::engine::{
    self, AllBroadcast, Limits, Members, Order, Part, Pattern, Piece, Schedules, Scratch,
};
use rondo::schedule::{Circulant, Span};
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

/// The leaders of the lanes on a node, and what they receive.
type Lanes = Vec<(u32, Messages)>;

/// Where the networks of a call are in its scene: one for each lane, and two inside of every node.
fn parts_of(plan: &Plan, node: u32) -> usize {
    (plan.call.lanes + 2 * node) as usize
}

fn received_on(plan: &Plan, node: u32) -> usize {
    parts_of(plan, node) + 1
}

/// In which order blocks go between the nodes.
fn pattern<'a>(plan: &Plan, node: u32, schedules: &'a mut Schedules) -> Pattern<'a> {
    let members = Members {
        graph: Circulant::new(plan.topology.nodes()),
        me: node,
        contributors: &plan.contributors,
        radix: plan.call.radix,
    };
    (plan.call.travel).pattern(plan.call.blocks, &members, schedules)
}

/// How the shares of each lane are cut, and who of the node of `rank` leads it and what that receives; the lane that
/// `rank` leads.
fn lanes(plan: &Plan, case: &Case, rank: u32) -> (Vec<Vec<Part>>, Lanes, Option<u32>) {
    let (mut schedules, mut cuts, mut lanes) = (Schedules::default(), vec![], vec![]);
    let pattern = pattern(plan, plan.topology.node(rank), &mut schedules);
    let order = (pattern, case.limits.message);
    let leads = (plan.assembly()).list_lanes(rank, order, &mut cuts, &mut lanes);
    (cuts, lanes, leads)
}

/// What the leader of the node of `rank` broadcasts inside, who it is, and how much it has from the beginning.
fn inside(plan: &Plan, case: &Case, rank: u32) -> (u32, Messages, u32) {
    let (_, mut lanes, _) = lanes(plan, case, rank);
    let (leader, mut messages) = lanes.swap_remove(0);
    let own = (plan.assembly()).list_inside(plan.topology.node(rank), &mut messages);
    (leader, messages, own)
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
        let (shared, (_, messages, _)) = (plan.clone(), inside(plan, case, locals[0]));
        let place = move |piece: &Piece| {
            let spans = messages.spans(piece.span.offset as u32).iter();
            spans.flat_map(|&span| shared.ranges(span)).collect()
        };
        add(locals, 1, Box::new(place));
    }
    scene
}

/// Runs `case` on all ranks to its end and checks what holds in every order of things: all ranks have
/// everything, and what has to come to a node from others does so once.
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
            let bytes: u64 = ports.map(|port| port.received.2).sum();
            assert_eq!(
                bytes,
                plan.call.bytes() - node_part,
                "{case:?}: into {node}"
            );
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

/// The exchange with other nodes, if this rank leads a lane; `wire` is its wire then.
fn network<'n, 'a, 'w>(
    plan: &Plan,
    case: &Case,
    (leads, cuts): (Option<u32>, &'a [Vec<Part>]),
    (schedules, scratch): (&'a mut Schedules, &'a mut Scratch),
    wire: &'n mut Link<'w>,
) -> node::Network<'n, 'a, Link<'w>> {
    let (node, lane) = (plan.topology.node(wire.rank), leads? as usize);
    (wire.exchange, wire.port) = (lane, node);
    let (graph, pattern) = (
        Circulant::new(plan.topology.nodes()),
        pattern(plan, node, schedules),
    );
    let order = Order::new(graph, node, pattern, &cuts[lane]);
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
    let (node, local) = (topology.node(rank), topology.local(rank));
    let (cuts, lanes, leads) = lanes(plan, case, rank);
    let mut rows = RingRows::default();
    (plan.assembly()).list_rows(node, plan.capacity, &lanes, &mut rows);
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
    let (mut schedules, mut scratch) = (Schedules::default(), Scratch::default());
    let mut wire = link(world, (call, rank), 0, 0);
    let kept = (&mut schedules, &mut scratch);
    let network = network(plan, case, (leads, &cuts), kept, &mut wire);
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
    let (topology, assembly) = (&plan.topology, plan.assembly());
    let (node, me) = (topology.node(rank), topology.local(rank));
    let graph = Circulant::new(topology.locals(node).len() as u32);
    if let Some(pattern) = assembly.pattern_of_own(node) {
        let (mut cut, mut scratch) = (vec![], Scratch::default());
        let lens = (topology.locals(node).iter()).map(|&rank| plan.places().part(rank).len);
        let half = lens.max().unwrap_or(0).div_ceil(2);
        assembly.cut_own(node, half.max(1), &mut cut);
        let order = Order::new(graph, me, pattern, &cut);
        let mut wire = link(world, (call, rank), parts_of(plan, node), me);
        engine::run(
            AllBroadcast::new(order, case.limits, &mut scratch),
            &mut wire,
        )?;
    }
    let (leader, messages, own) = inside(plan, case, rank);
    world.say(rank, call, node, format!("{messages:?}"))?;
    let (mut schedules, mut cut, mut scratch) = Default::default();
    let all = assembly.inside(
        rank,
        plan.call.travel.inside(|| 3),
        (leader, &messages),
        |_| case.limits,
        (&mut schedules, &mut cut, &mut scratch),
    );
    let mut local = link(world, (call, rank), received_on(plan, node), me);
    let (cuts, _, leads) = lanes(plan, case, rank);
    let (mut schedules, mut scratch) = (Schedules::default(), Scratch::default());
    let mut wire = link(world, (call, rank), 0, 0);
    let kept = (&mut schedules, &mut scratch);
    let network = network(plan, case, (leads, &cuts), kept, &mut wire);
    node::run_by_messages(all, own, &mut local, network)
}
