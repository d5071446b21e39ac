//! What the ranks of a node do through the memory that they share, in reductions and barriers.

#![forbid(unsafe_code)]

use super::Stop;
use super::room::{lacking, of_all};
use super::running::{Running, trim};
use super::writing::Writing;
use crate::collective::Reducing;
use crate::engine::node::{
    self, GATE_BYTES, Gate, Groups, Operand, SlotExchange, SlotReduction, SlotShuffle, Tree, Want,
};
use crate::engine::{self, Engine};
use crate::group::Memory;
use crate::host::{Buffers, Failure, NodeCall, Requests, RingSlots, SlotVectors, Vectors};
use crate::script::{Cut, Fold, Script, share};
use std::iter::once;
use std::ops::Range;

/// A call, inside the node of a rank.
pub(super) struct Inside<'a> {
    pub run: &'a Running<'a>,
    /// The number of the call.
    pub sequence: u64,
    pub memory: &'a mut Memory,
}

impl Inside<'_> {
    /// The number of this rank among those of its node.
    fn me(&self) -> u32 {
        let state = self.run.state;
        state.topology().local(state.rank())
    }

    /// Groups for vectors of so many elements, and where they begin in the ring.
    fn groups(
        &mut self,
        make: impl Fn(u32, u64, u64, u64) -> Groups,
        elements: u64,
    ) -> (Groups, u64) {
        let (ranks, unit) = (
            self.run.state.locals().len() as u32,
            self.run.operands.unit(),
        );
        let capacity = self.memory.ring.capacity();
        let groups = make(ranks, unit, elements, capacity);
        (groups, self.memory.positions.begin_groups(&groups))
    }

    /// The ring, in a call that begins at the position `begin`.
    fn slots<'s>(&'s mut self, begin: u64, vectors: Option<SlotVectors<'s>>) -> RingSlots<'s> {
        let Running {
            mpi,
            state,
            channel,
            tag,
            ..
        } = *self.run;
        let call = NodeCall {
            mpi,
            channel,
            tag,
            number: self.sequence,
            locals: state.locals(),
        };
        RingSlots::new(call, &mut self.memory.ring, begin, vectors)
    }

    /// Carries out what the ranks of the node do together, in a call that begins at the position `begin`.
    fn run<'s>(
        &'s mut self,
        begin: u64,
        vectors: SlotVectors<'s>,
        engine: impl Engine<RingSlots<'s>, Error = Failure>,
    ) -> Result<(), Stop> {
        let mut slots = self.slots(begin, Some(vectors));
        engine::run(engine, &mut slots).map_err(Stop::Broken)
    }

    /// The groups of a call in which the ranks reduce their vectors, and where they begin in the ring.
    fn reduction_groups(&mut self, writing: &Writing) -> (Groups, u64) {
        let striped = match self.run.operands.calls_program() {
            true => Groups::striped_for_calls,
            false => Groups::striped,
        };
        let first = writing.first_needed();
        let ordered = |ranks, unit, elements, capacity| {
            let groups = striped(ranks, unit, elements, capacity);
            match first {
                Needed::Any => groups,
                Needed::Last => groups.backwards(),
                Needed::Before(element) => groups.before(element),
            }
        };
        self.groups(ordered, writing.total)
    }

    /// The ranks of the only node reduce their vectors. This rank gets what it wants.
    pub fn reduce(&mut self, vectors: SlotVectors, writing: &Writing) -> Result<(), Stop> {
        let (groups, begin) = self.reduction_groups(writing);
        let (trees, wants) = (writing.trees(), writing.wants());
        let reduction = SlotReduction::new(groups, begin, self.me(), &trees, &wants);
        self.run(begin, vectors, reduction)
    }

    /// The ranks of the node reduce their vectors. What this rank gets of it is in the area of the script, which is
    /// carried out at the same time.
    pub fn reduce_with(
        &mut self,
        vectors: SlotVectors,
        writing: &Writing,
        (script, requests): (&Script, &mut Requests),
    ) -> Result<(), Stop> {
        let (groups, begin) = self.reduction_groups(writing);
        let (trees, wants) = (writing.trees(), writing.wants());
        let reduction = SlotReduction::new(groups, begin, self.me(), &trees, &wants);
        if reduction.groups() > 1 {
            // Its messages wait for the node as well, and do not tell how fast the network is.
            requests.flow.set_whole(false);
        }
        let run = self.run;
        let (execution, mut wire) = run.begin(script, requests, vectors.to);
        let mut slots = self.slots(begin, Some(vectors));
        let between = (execution, script.cut());
        node::run_both(reduction, &mut slots, between, &mut wire).map_err(Stop::Broken)
    }

    /// Carries a call out on the only node.
    pub fn on_one_node(
        &mut self,
        writing: &Writing,
        buffers: &Buffers,
        (script, requests): (&mut Script, &mut Requests),
    ) -> Result<(), Stop> {
        let (run, total) = (self.run, writing.total);
        // The ranks put in parts of their vectors in an order in which a part of the result may come before an operand
        // that it would overwrite.
        let part = writing.part(run.state.rank());
        let is_part = writing.reducing == Reducing::Scattered;
        let apart = is_part && buffers.is_one();
        let to = match apart {
            false => Ok(run.operands.area_of_result(buffers, total)),
            true => {
                script.begin(u64::MAX, once(part));
                let vectors = Vectors {
                    first: part,
                    other: 0,
                };
                run.reserve(script, requests, vectors, None)
            }
        };
        // Only this rank knows whether its part is reduced in place, so all ranks ask wherever one may be.
        let to = match is_part {
            false => to.map_err(lacking),
            true => of_all(to, writing.bytes, run.mpi, run.state),
        };
        let to = to.inspect_err(|_| trim(script, requests))?;
        writing.count();
        let vectors = SlotVectors {
            operands: run.operands,
            from: run.operands.area_of_own(buffers, total),
            to,
        };
        self.reduce(vectors, writing)?;
        if apart {
            (run.operands.hand_out(buffers, to, &(0..part), 0)).map_err(Stop::Broken)?;
            requests.end_script();
        }
        Ok(())
    }

    /// Every rank of the node gets the parts of the others.
    pub fn exchange(&mut self, vectors: SlotVectors, parts: &[Range<u64>]) -> Result<(), Stop> {
        let longest = parts.iter().map(|part| part.end - part.start).max();
        let (groups, begin) = self.groups(Groups::new, longest.unwrap_or(0));
        let exchange = SlotExchange::new(groups, begin, self.me(), parts);
        self.run(begin, vectors, exchange)
    }

    /// Every rank of the node gets what it wants of the vector of each, the longest of which has so many elements.
    pub fn shuffle(
        &mut self,
        vectors: SlotVectors,
        own: Range<u64>,
        longest: u64,
        wants: &[Vec<Want>],
    ) -> Result<(), Stop> {
        let (groups, begin) = self.groups(Groups::new, longest);
        let shuffle = SlotShuffle::new(groups, begin, self.me(), own, wants);
        self.run(begin, vectors, shuffle)
    }

    /// No rank of the node goes on before all have come, and before the lowest one has come back from `between`.
    pub fn gate(&mut self, between: impl FnOnce() -> Result<(), Stop>) -> Result<(), Stop> {
        let gate = Gate {
            ranks: self.run.state.locals().len() as u32,
            me: self.me(),
            leader: 0,
            begin: self.memory.positions.begin(GATE_BYTES),
        };
        let mut slots = self.slots(gate.begin, None);
        let come: Result<(), Failure> = gate.come(&mut slots);
        come.map_err(Stop::Broken)?;
        if gate.me == gate.leader {
            between()?;
        }
        let pass: Result<(), Failure> = gate.pass(&mut slots);
        pass.map_err(Stop::Broken)
    }
}

/// Which elements of what a node reduces are needed first between nodes.
enum Needed {
    /// It does not matter.
    Any,
    /// The last ones of the vector.
    Last,
    /// Of the slice of each rank of the node, those before this one, the last of them before the others; then those
    /// behind it in the same way.
    Before(u64),
}

/// What the ranks of a node reduce and exchange.
impl Writing<'_> {
    /// What the script sends first. All ranks of a node say the same.
    fn first_needed(&self) -> Needed {
        let nodes = self.state.facts.nodes;
        match self.reducing {
            // The blocks of a broadcast, backwards.
            Reducing::Root if nodes > 1 && self.lanes().end == 1 => Needed::Last,
            // Halving begins with the part of the node before this one.
            Reducing::All if nodes > 1 && !self.method.has_leaders() => {
                let slice = share(self.total, self.state.locals().len() as u32, 0);
                let own = self.state.topology().node(self.rank());
                Needed::Before((0..own).map(|node| share(slice, nodes, node)).sum())
            }
            Reducing::Root | Reducing::All | Reducing::Scattered | Reducing::Scan => Needed::Any,
        }
    }

    /// The parts of the vectors, each with its order of evaluation: that of the same call by messages.
    pub fn trees(&self) -> Vec<Tree> {
        let whole = |fold| {
            vec![Tree {
                end: self.total,
                fold,
            }]
        };
        if self.is_ordered() || self.in_order {
            return whole(Fold::From(0));
        }
        let topology = self.state.topology();
        let local = |rank| topology.local(rank);
        let mut end = 0;
        let mut tree = |count: u64, owner| {
            end += count;
            Tree {
                end,
                fold: Fold::Halving(owner),
            }
        };
        match self.reducing {
            Reducing::Scan => whole(Fold::From(0)),
            Reducing::Root => {
                let tree = |lane| Tree {
                    end: self.slice(lane).end,
                    fold: Fold::From(local(self.lane_leader(lane))),
                };
                self.lanes().map(tree).collect()
            }
            // As leaders that get messages.
            Reducing::All | Reducing::Scattered if self.places().is_none() => whole(Fold::From(0)),
            Reducing::Scattered => {
                let ranks = 0..self.p();
                ranks
                    .map(|rank| tree(self.part(rank), local(rank)))
                    .collect()
            }
            Reducing::All => {
                let places = self.state.locals().len() as u32;
                let slice = |place| tree(share(self.total, places, place), place);
                // The slices behind have no elements.
                let slices = u64::from(places).min(self.total.max(1)) as u32;
                (0..slices).map(slice).collect()
            }
        }
    }

    /// What this rank gets of them.
    pub fn wants(&self) -> Vec<Want> {
        let topology = self.state.topology();
        let (rank, nodes) = (self.rank(), topology.nodes());
        match self.reducing {
            Reducing::Root => {
                let led = self.led(rank).into_iter();
                let want = led.map(|elements| Want {
                    to: elements.start,
                    elements,
                    of: Operand::All,
                });
                want.collect()
            }
            Reducing::Scattered => {
                let parts = self.parts_cut();
                let place = topology.local(rank);
                let of = |rank: u32, to| Want {
                    elements: parts.elements(&(rank..rank + 1)),
                    to,
                    of: Operand::All,
                };
                let Some(order) = self.order().filter(|_| nodes > 1) else {
                    return vec![of(rank, 0)];
                };
                // Where the parts of the ranks of its lane lie in the area, or with a leader those of all.
                let area = Cut::of(order.iter().map(|&rank| self.part(rank)));
                let wanted = (0..)
                    .zip(&order)
                    .filter(|(_, rank)| match self.places().is_some() {
                        true => topology.local(**rank) == place,
                        false => place == 0,
                    });
                let want = |(i, &rank): (u32, &u32)| of(rank, area.elements(&(i..i + 1)).start);
                let mut wants: Vec<Want> = wanted.map(want).collect();
                wants.sort_unstable_by_key(|want| want.elements.start);
                side_by_side(wants)
            }
            Reducing::Scan => self.prefixes(),
            Reducing::All => {
                let (start, place) = (self.slice_starts(), topology.local(rank));
                let elements = match nodes {
                    1 => 0..self.total,
                    _ => start(place)..start(place + 1),
                };
                vec![Want {
                    to: elements.start,
                    elements,
                    of: Operand::All,
                }]
            }
        }
    }

    /// Where in the result of an allreduce over nodes the slice of each place of the node begins.
    fn slice_starts(&self) -> impl Fn(u32) -> u64 {
        let places = self.state.locals().len() as u64;
        let (total, has_leaders) = (self.total, self.method.has_leaders());
        let (each, more) = (total / places, total % places);
        move |place| match (has_leaders, u64::from(place)) {
            (true, 0) => 0,
            (true, _) => total,
            (false, place) => each * place + place.min(more),
        }
    }

    /// What the ranks of the node exchange in the end: of each rank, elements of the area.
    pub fn slices(&self) -> Option<Vec<Range<u64>>> {
        if self.reducing == Reducing::Scan {
            return self.before_node();
        }
        let is_all = self.reducing == Reducing::All;
        (is_all && self.state.facts.nodes > 1).then(|| {
            let places = self.state.locals().len() as u32;
            let start = self.slice_starts();
            (0..places)
                .map(|place| start(place)..start(place + 1))
                .collect()
        })
    }

    /// What leaders hand out of a result in parts: where that lies in the area, how many elements it has, and what this
    /// rank gets of it.
    pub fn handed_out(&self) -> Option<(Range<u64>, u64, Vec<Vec<Want>>)> {
        if self.places().is_some() {
            return None;
        }
        let order = self.order()?;
        let topology = self.state.topology();
        let (node, place) = (topology.node(self.rank()), topology.local(self.rank()));
        let places = topology.start(node)..topology.start(node + 1);
        let area = Cut::of(order.iter().map(|&rank| self.part(rank)));
        let all = area.elements(&places);
        let longest = all.end - all.start;
        let mut wants = vec![Vec::new(); places.len()];
        if place == 0 {
            return Some((all, longest, wants)); // its own part is in its place
        }
        let own = area.elements(&(places.start + place..places.start + place + 1));
        wants[0] = vec![Want {
            elements: own.start - all.start..own.end - all.start,
            to: 0,
            of: Operand::All,
        }];
        Some((0..0, longest, wants))
    }

    /// The rank of this node that leads a lane of a reduction to a root.
    fn lane_leader(&self, lane: u32) -> u32 {
        let topology = self.state.topology();
        // In the order of ranks the lowest one of each node leads.
        let root = match self.in_order {
            true => 0,
            false => self.root,
        };
        topology.lane_leader(topology.node(self.rank()), root, lane)
    }

    /// The slice of a rank of this node that leads a lane.
    fn led(&self, rank: u32) -> Option<Range<u64>> {
        let mut lanes = self.lanes();
        let lane = lanes.find(|&lane| self.lane_leader(lane) == rank)?;
        Some(self.slice(lane))
    }

    /// What those who lead lanes bring to the root, on its node: the elements of this rank, how many the longest slice
    /// has, and what this rank gets of each.
    pub fn brought(&self) -> Option<(Range<u64>, u64, Vec<Vec<Want>>)> {
        let topology = self.state.topology();
        let (rank, root, lanes) = (self.rank(), self.root, self.lanes().end);
        if lanes == 1 || topology.node(rank) != topology.node(root) {
            return None;
        }
        let slice = |rank: u32| self.led(rank).unwrap_or(0..0);
        let own = match rank == root {
            true => 0..0, // it is in its place
            false => slice(rank),
        };
        let wants = self.state.locals().iter().map(|&local| {
            let slice = slice(local);
            match rank == root && local != root && !slice.is_empty() {
                true => vec![Want {
                    elements: 0..slice.end - slice.start,
                    to: slice.start,
                    of: Operand::All,
                }],
                false => Vec::new(),
            }
        });
        Some((own, share(self.total, lanes, 0), wants.collect()))
    }

    /// Where the vectors of the ranks of the node lie in the area of a gather.
    pub fn vectors_of_ranks(&self) -> Vec<Range<u64>> {
        let (p, me) = (self.p(), self.rank());
        let vector = |rank: u32| u64::from((me + p - rank) % p) * self.total;
        (0..p)
            .map(|rank| vector(rank)..vector(rank) + self.total)
            .collect()
    }
}

/// The same with what lies side by side, here and there, as one.
fn side_by_side(wants: Vec<Want>) -> Vec<Want> {
    let mut all: Vec<Want> = Vec::with_capacity(wants.len());
    for want in wants {
        match all.last_mut() {
            Some(last)
                if last.elements.end == want.elements.start
                    && last.to + (last.elements.end - last.elements.start) == want.to =>
            {
                last.elements.end = want.elements.end;
            }
            _ => all.push(want),
        }
    }
    all
}
