//! Which script carries a reduction out.

#![forbid(unsafe_code)]

mod members;
mod parts;

pub(super) use members::members;

use super::Operation;
use crate::algorithm::{Algorithm, AllReductionAlgorithm, ReductionAlgorithm, trees};
use crate::collective::Reducing;
use crate::decide::{self, Choice, Form, Method};
use crate::group::State;
use crate::host::{self, Reduction, ReductionOp, Vectors};
use crate::schedule::{Circulant, Shape, Steps, TreeNeighbors};
use crate::script::{
    GRID_PLACES, GatherNodes, GatherTree, Group, Join, LaneLeaders, Lanes, Leaders, Members,
    Script, Shares, broadcast_tree, census, census_places, collect, disseminate, dual_root, gather,
    gather_cut, halving, hand_over, ordered, recursive_doubling, reduce, reduce_broadcast,
    reduce_tree, reduced_by, ring, share, split, split_cut, spread, spread_vectors,
};
use crate::stats;
use std::iter::once;
use std::ops::Range;

/// The blocks of the parts of some ranks, of which each has so many.
fn blocks_of(ranks: Range<u32>, segments: u32) -> Range<u32> {
    ranks.start * segments..ranks.end * segments
}

/// Parts of so many elements, each cut into as many segments.
fn in_segments(
    parts: impl Iterator<Item = u64> + Clone,
    segments: u32,
) -> impl Iterator<Item = u64> + Clone {
    parts.flat_map(move |part| (0..segments).map(move |i| share(part, segments, i)))
}

/// What writes the script of a call.
pub(super) struct Writing<'a> {
    pub call: &'a Reduction,
    /// As what it counts.
    pub choice: Choice,
    pub method: Method,
    pub reducing: Reducing,
    pub state: &'a State,
    /// Elements of a vector.
    pub total: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Elements that share a message.
    pub most: u64,
    pub root: u32,
    /// Do the ranks of a node reduce through the memory that they share? Then the script has only what is between
    /// nodes.
    pub shares: bool,
    /// Is it a reduction over nodes in the order of ranks?
    pub in_order: bool,
    /// Who carries out a script that keeps the order of ranks.
    pub members: Members,
}

impl Writing<'_> {
    pub fn write(&self, script: &mut Script) {
        let Method {
            algorithm,
            form,
            blocks,
            ..
        } = self.method;
        match self.reducing {
            Reducing::Scan => self.write_scan(script, algorithm, blocks),
            _ if self.idles() => script.begin(self.most, std::iter::empty()),
            Reducing::All => self.write_all_reduction(script, algorithm, form, blocks),
            Reducing::Root => self.write_reduction(script, algorithm, form, blocks),
            Reducing::Scattered => self.write_scattered_reduction(script, algorithm, form, blocks),
        }
        self.name_ranks(script);
        script.set_crowd(self.crowd());
    }

    /// Counts the call. There is no way back.
    pub fn count(&self) {
        stats::count(self.call.collective(), self.choice, self.bytes);
    }

    fn write_all_reduction(
        &self,
        script: &mut Script,
        algorithm: Algorithm,
        form: Form,
        blocks: u32,
    ) {
        let (members, group) = (self.members, self.members.group());
        let vectors = |places: u32| {
            let vector = (0..blocks).map(|i| share(self.total, blocks, i));
            (0..places).flat_map(move |_| vector.clone())
        };
        match algorithm.of_all_reduction() {
            AllReductionAlgorithm::Halving | AllReductionAlgorithm::FullLane => {
                self.allreduce(script, form, blocks)
            }
            AllReductionAlgorithm::Gather => self.gather(script, form),
            AllReductionAlgorithm::Ordered => {
                self.ordered(script, blocks);
                self.spread(script, blocks);
                script.result(0..group.p * blocks);
            }
            AllReductionAlgorithm::Split => {
                self.split(script, blocks);
                self.spread(script, blocks);
                script.result(0..group.p * blocks);
            }
            trees!(AllReductionAlgorithm) => self.allreduce_tree(script, algorithm, blocks),
            AllReductionAlgorithm::Census => {
                script.begin(self.most, vectors(census_places(group.p)));
                census(script, &group, blocks);
            }
            AllReductionAlgorithm::Dissemination => {
                script.begin(self.most, vectors(1));
                disseminate(script, &group, blocks);
            }
            AllReductionAlgorithm::Doubling => {
                script.begin(self.most, vectors(1));
                if members.join(script, blocks) {
                    recursive_doubling(script, &group, blocks);
                }
                members.hand_out(script, 0..blocks);
            }
            AllReductionAlgorithm::DualRoot => {
                script.begin(self.most, vectors(1));
                dual_root(script, &group, blocks);
            }
            AllReductionAlgorithm::Ring => {
                script.begin(self.most, self.parts(blocks));
                ring(script, &group, |rank| blocks_of(rank..rank + 1, blocks));
            }
            AllReductionAlgorithm::ReduceBcast => {
                script.begin(self.most, vectors(1));
                reduce_broadcast(script, &group, &Circulant::new(group.p));
            }
        }
    }

    fn write_reduction(&self, script: &mut Script, algorithm: Algorithm, form: Form, blocks: u32) {
        match algorithm.of_reduction() {
            ReductionAlgorithm::Circulant | ReductionAlgorithm::FullLane => {
                self.reduce(script, form, blocks)
            }
            ReductionAlgorithm::Postal | trees!(ReductionAlgorithm) => {
                self.reduce_tree(script, algorithm, blocks)
            }
            ReductionAlgorithm::Ordered => {
                self.ordered(script, blocks);
                self.collect(script, blocks);
            }
            ReductionAlgorithm::Halving => {
                self.halving(script, form, blocks);
                self.collect(script, blocks);
            }
            ReductionAlgorithm::Ring => {
                self.ring(script, blocks);
                self.collect(script, blocks);
            }
        }
    }

    /// The parts that all members have come to the root.
    fn collect(&self, script: &mut Script, segments: u32) {
        let own = |member: u32| blocks_of(member..member + 1, segments);
        let (members, is_root) = (self.members, self.rank() == self.root);
        let root = self.member_of_root().unwrap_or(members.p);
        if is_root || members.leads() {
            let me = if is_root { root } else { members.me };
            collect(script, members.p, me, root, own);
        }
        if is_root {
            script.result(0..members.p * segments);
        }
    }

    /// The vectors of the area.
    pub fn vectors(&self) -> Vectors {
        Vectors {
            first: self.total,
            other: match self.is_ordered() {
                true => reduced_by(&self.every_part(), self.members.me),
                false => self.total,
            },
        }
    }

    /// Vectors in the area of a rank at the most. All ranks say the same.
    pub fn vectors_at_most(&self) -> u64 {
        let vectors = match self.reducing {
            Reducing::Scan => GRID_PLACES,
            Reducing::All if self.method.algorithm == Algorithm::Gather => self.p(),
            // Of the census.
            Reducing::All | Reducing::Root | Reducing::Scattered => 3,
        };
        vectors.into()
    }

    /// Do operands keep the order of ranks?
    pub fn is_ordered(&self) -> bool {
        self.method.algorithm == Algorithm::Ordered
    }

    pub fn p(&self) -> u32 {
        self.state.p()
    }

    pub fn rank(&self) -> u32 {
        self.state.rank()
    }

    fn all(&self) -> Group<'static> {
        Group::all(self.p(), self.rank())
    }

    /// Elements of the part of a rank; of a member where ranks are to have none.
    pub fn part(&self, rank: u32) -> u64 {
        match self.call.which() {
            ReductionOp::ReduceScatter | ReductionOp::ReduceScatterBlock => {
                self.call.count(rank).unwrap_or(0)
            }
            ReductionOp::Allreduce
            | ReductionOp::Reduce
            | ReductionOp::Scan
            | ReductionOp::Exscan => share(self.total, self.members.p, rank),
        }
    }

    /// The parts of all ranks, each cut into as many segments.
    fn parts(&self, segments: u32) -> impl Iterator<Item = u64> + Clone {
        in_segments((0..self.p()).map(|rank| self.part(rank)), segments)
    }

    fn steps(&self, ranks: u32) -> Steps {
        Steps::new(ranks, self.radix(ranks))
    }

    /// In how many messages at a time parts are spread. It changes no bit.
    fn radix(&self, ranks: u32) -> u32 {
        let config = self.state.config();
        match config.radix {
            0 => host::with_plain_floats(|| {
                let (between, _) = self.state.facts().models(config);
                between.radix_behind(ranks, self.bytes)
            }),
            radix => radix,
        }
    }

    /// Who is where, if all nodes have as many ranks: a list of the ranks in the same place as this one.
    fn lane(&self) -> (Vec<u32>, u32) {
        let topology = self.state.topology();
        let place = topology.local(self.rank());
        let nodes = 0..topology.nodes();
        let lane = nodes.map(|node| topology.locals(node)[place as usize]);
        (lane.collect(), place)
    }

    /// Calls `write` with the lanes.
    fn with_lanes(&self, write: impl FnOnce(Lanes)) {
        let topology = self.state.topology();
        let node = topology.node(self.rank());
        let (lane, place) = self.lane();
        let locals = self.state.locals();
        let lanes = Lanes {
            node: Group {
                members: Some(locals),
                p: locals.len() as u32,
                me: place,
            },
            lane: Group {
                members: Some(&lane),
                p: lane.len() as u32,
                me: node,
            },
        };
        write(match self.shares {
            true => lanes.without_node(),
            false => lanes,
        });
    }

    /// Calls `write` with the leaders of the nodes in a call without a root.
    fn with_leaders(&self, write: impl FnOnce(Leaders)) {
        let topology = self.state.topology();
        let leaders = topology.leaders(0);
        write(Leaders {
            leaders: Group {
                members: Some(&leaders),
                p: leaders.len() as u32,
                me: topology.node(self.rank()),
            },
            locals: match self.shares {
                true => &[],
                false => self.state.locals(),
            },
            rank: self.rank(),
        });
    }

    fn allreduce(&self, script: &mut Script, form: Form, segments: u32) {
        match form {
            Form::Flat => {
                script.begin(self.most, self.parts(segments));
                halving(script, &self.all(), |ranks| {
                    once(blocks_of(ranks, segments))
                });
                self.spread(script, segments);
            }
            Form::Nodes { lanes: 1 } => {
                let nodes = self.state.facts.nodes;
                self.with_leaders(|leaders| {
                    let parts = (0..nodes).map(|i| share(self.total, nodes, i));
                    script.begin(self.most, in_segments(parts, segments));
                    leaders.allreduce(script, segments, &self.steps(nodes));
                });
            }
            Form::Nodes { lanes } => {
                let nodes = self.state.facts.nodes;
                let slices = (0..lanes).map(|place| share(self.total, lanes, place));
                let parts =
                    slices.flat_map(|slice| (0..nodes).map(move |i| share(slice, nodes, i)));
                script.begin(self.most, in_segments(parts, segments));
                self.with_lanes(|lanes| {
                    lanes.allreduce(script, segments, |ranks| self.radix(ranks))
                });
            }
        }
    }

    fn spread(&self, script: &mut Script, segments: u32) {
        let members = self.members;
        if members.leads() {
            let steps = self.steps(members.p);
            spread(script, &members.group(), &steps, |ranks| {
                once(blocks_of(ranks, segments))
            });
        }
        members.hand_out(script, 0..members.p * segments);
    }

    fn gather(&self, script: &mut Script, form: Form) {
        let topology = self.state.topology();
        if form != Form::Flat && topology.nodes() > 1 && !self.in_order {
            let steps = self.steps(topology.nodes());
            self.with_leaders(|leaders| {
                let nodes = GatherNodes {
                    leaders: leaders.leaders,
                    locals: leaders.locals,
                    places: self.places(),
                    rank: leaders.rank,
                };
                match self.call.is_exact() {
                    true => {
                        let means = (&steps, self.trees_of_node());
                        nodes.allreduce_exact(script, self.most, self.total, means);
                    }
                    false => nodes.allreduce(script, self.most, self.total, &steps),
                }
            });
            return;
        }
        let is_ordered = (self.call).ask(None, self.state, |problem| problem.is_ordered());
        let tree = match is_ordered {
            true => GatherTree::Ranks,
            false => GatherTree::Halving,
        };
        let members @ Members { p, me, .. } = self.members;
        script.begin(self.most, gather_cut(p, tree, self.total));
        let n = script.cut().blocks() / p;
        if members.join(script, n) {
            if !self.shares || topology.nodes() > 1 {
                spread_vectors(script, &members.group(), &self.steps(p), n);
            }
            gather(script, p, me, tree);
        } else {
            script.result(0..n);
        }
        if self.in_order {
            // The result is where the vector of the last member was, and goes on from the beginning.
            if members.leads() && me + 1 < p {
                script.fold(me + 1, 0..1, Join::Store);
            }
            members.hand_out(script, 0..1);
        }
    }

    /// The trees up and down which short messages go fastest inside a node.
    fn trees_of_node(&self) -> [Shape; 2] {
        host::with_plain_floats(|| {
            let (_, inside) = (self.state.facts()).models(self.state.config());
            [inside.backwards(), inside].map(|model| Shape::Postal(model.latency(self.bytes)))
        })
    }

    /// Writes a reduce-scatter in the order of ranks, each operand straight to where it is reduced. The blocks of this
    /// rank's part.
    fn ordered(&self, script: &mut Script, segments: u32) -> Range<u32> {
        let members = self.members;
        let shares = Shares::new(&self.every_part(), segments);
        script.begin(self.most, shares.cut(members.me));
        if members.join(script, shares.vector()) {
            ordered(script, members.me, &shares);
        }
        shares.part(members.me)
    }

    /// Writes a reduce-scatter in few rounds in the order of ranks. The blocks of this rank's part.
    fn split(&self, script: &mut Script, segments: u32) -> Range<u32> {
        let members @ Members { p, me, .. } = self.members;
        let parts = self.every_part();
        let cut = split_cut(p, me, |member| {
            in_segments(once(parts[member as usize]), segments)
        });
        script.begin(self.most, cut.into_iter());
        if members.join(script, p * segments) {
            split(script, p, me, segments);
        }
        blocks_of(me..me + 1, segments)
    }

    fn reduce(&self, script: &mut Script, form: Form, blocks: u32) {
        if form == Form::Flat {
            script.begin(self.most, (0..blocks).map(|i| share(self.total, blocks, i)));
            let graph = Circulant::new(self.p());
            reduce(script, 0..blocks, &self.all(), &graph, self.root, |_, _| ());
            return;
        }
        let topology = self.state.topology();
        let lanes: Vec<Vec<u32>> = self.lanes().map(|lane| self.lane_leaders(lane)).collect();
        let leaders = LaneLeaders {
            lanes: &lanes,
            node: topology.node(self.rank()),
            locals: match self.shares {
                true => &[],
                false => self.state.locals(),
            },
            rank: self.rank(),
        };
        // What the others have, leaders get through memory.
        if self.shares && leaders.led().is_none() {
            script.begin(self.most, std::iter::empty());
            return;
        }
        let slices = self.lanes().map(|lane| self.slice(lane));
        let slices = slices.map(|slice| slice.end - slice.start);
        script.begin(self.most, in_segments(slices, blocks));
        leaders.reduce(script, topology.node(self.root));
    }

    /// The lanes of a reduction to a root over nodes, each for a slice of the vector.
    pub fn lanes(&self) -> Range<u32> {
        match self.method.form {
            Form::Nodes { lanes } if self.method.algorithm == Algorithm::Circulant => 0..lanes,
            Form::Flat | Form::Nodes { .. } => 0..1,
        }
    }

    /// The slice of a lane.
    pub fn slice(&self, lane: u32) -> Range<u64> {
        let lanes = self.lanes().end;
        let start = (0..lane).map(|lane| share(self.total, lanes, lane)).sum();
        start..start + share(self.total, lanes, lane)
    }

    /// The leaders of a lane, of all nodes.
    fn lane_leaders(&self, lane: u32) -> Vec<u32> {
        let topology = self.state.topology();
        let leader = |node| topology.lane_leader(node, self.root, lane);
        (0..topology.nodes()).map(leader).collect()
    }

    /// A reduction up a tree. Where the order of ranks counts, trees that count ranks from the root have rank 0 for it,
    /// which sends the root what it has in the end.
    fn reduce_tree(&self, script: &mut Script, algorithm: Algorithm, blocks: u32) {
        let is_ordered = (self.call).ask(None, self.state, |problem| problem.is_ordered());
        let (rank, root) = (self.rank(), self.root);
        let shape = self.shape(algorithm);
        let top = match is_ordered && shape.start(root) == root {
            true => 0,
            false => root,
        };
        let family = self.family(script, (shape, top), blocks);
        reduce_tree(script, &family);
        hand_over(script, rank, top, root);
    }

    /// A reduction up a tree from rank 0, or from the one in the middle if the tree is in order whatever the root is,
    /// and the broadcast of the result down the same tree.
    fn allreduce_tree(&self, script: &mut Script, algorithm: Algorithm, blocks: u32) {
        let shape = self.shape(algorithm);
        let family = self.family(script, (shape, shape.top(self.p())), blocks);
        reduce_tree(script, &family);
        broadcast_tree(script, &family);
    }

    /// The tree of an algorithm.
    pub(super) fn shape(&self, algorithm: Algorithm) -> Shape {
        let latency = (self.call).ask(Some(self.bytes), self.state, |problem| problem.latency());
        let shape = decide::shape(algorithm, self.p(), latency, self.state.config());
        shape.unwrap_or(Shape::BINOMIAL)
    }

    /// Begins a script for whole vectors, which go up the tree of a shape and a root. This rank's place in it.
    fn family(
        &self,
        script: &mut Script,
        (shape, top): (Shape, u32),
        blocks: u32,
    ) -> TreeNeighbors {
        script.begin(self.most, (0..blocks).map(|i| share(self.total, blocks, i)));
        self.neighbors(shape, top)
    }

    /// This rank's place in the tree of a shape and a root.
    pub(super) fn neighbors(&self, shape: Shape, top: u32) -> TreeNeighbors {
        let mut family = TreeNeighbors::default();
        family.set(shape, self.p(), self.rank(), top);
        family
    }
}
