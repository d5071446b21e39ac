//! `MPI_Allreduce`, `MPI_Reduce`, `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`, `MPI_Scan` and `MPI_Exscan`.

#![forbid(unsafe_code)]

use super::slots::{Inside, UNIT_MAX};
use super::{Operation, Plan, Stop, begin_exchange, context, private};
use crate::algorithm::{
    Algorithm, AllReductionAlgorithm, ReductionAlgorithm, ScanAlgorithm,
    ScatteredReductionAlgorithm,
};
use crate::collective::{Collective, Family};
use crate::comm::{SEND_WINDOW, SIMULATED_SENDS, State, Work};
use crate::decide::{self, Choice, Form, Order, Problem, Why};
use crate::engine::node::{Tree, Want};
use crate::engine::{Execution, Limits, run_script};
use crate::host::{
    self, Abi, Area, Buffers, Code, Comm, Failure, Mpi, MpiScriptWire, Operands, Reduction,
    ReductionOp, Requests, ScriptJob, SlotVectors, Vectors, call_tag,
};
use crate::schedule::{Circulant, Steps};
use crate::script::{
    Cut, Fold, GatherNodes, GatherTree, Group, Join, Lanes, Leaders, Prefix, Scattered, Script,
    binomial, census, census_places, chain, collect, disseminate, doubling, exchange, gather,
    gather_cut, halving, ordered, ordered_cut, reduce, reduce_broadcast, ring, share, spread,
    spread_vectors,
};
use crate::stats;
use std::iter::once;
use std::ops::Range;

/// Receives that are posted ahead.
const WINDOW: u32 = 64;

/// Bytes up to which parts share a message: longer messages would keep waiting what could go on.
const PIECE_BYTES: u64 = 64 << 10;

/// Blocks of fewer bytes are copied to share a message: for longer ones that takes longer than another message.
const COPIED_BYTES: u64 = 8 << 10;

/// Bytes of a script that are kept from call to call.
const SCRIPT_BYTES: usize = 128 << 10;

/// A number for the algorithm of a choice.
fn implementation(choice: Choice) -> u64 {
    match choice {
        Choice::Host(_) => 0,
        Choice::Rondo { algorithm, .. } => 1 + algorithm as u64,
    }
}

/// The blocks of the parts of some ranks, of which each has so many.
fn blocks_of(ranks: Range<u32>, segments: u32) -> Range<u32> {
    ranks.start * segments..ranks.end * segments
}

impl Operation for Reduction {
    type Problem<'a> = decide::Reduction<'a>;

    fn collective(&self) -> Collective {
        match self.which() {
            ReductionOp::Allreduce => Collective::Allreduce,
            ReductionOp::Reduce => Collective::Reduce,
            ReductionOp::ReduceScatter => Collective::ReduceScatter,
            ReductionOp::ReduceScatterBlock => Collective::ReduceScatterBlock,
            ReductionOp::Scan => Collective::Scan,
            ReductionOp::Exscan => Collective::Exscan,
        }
    }

    fn bytes(&self, mpi: &Mpi, state: &State) -> Option<u64> {
        self.all_bytes(mpi, state.facts().p)
    }

    fn plan(&self, mpi: &Mpi, state: &State) -> Option<Plan> {
        if self.which() == ReductionOp::Reduce {
            self.root(state.facts().p)?;
        }
        let bytes = self.bytes(mpi, state)?;
        let known = Some(bytes);
        // Nobody asks for the operator of a call that is the host's whatever it is.
        let choice = self.ask(known, state, |problem| problem.choose());
        let choice = match choice {
            Choice::Host(Why::Empty | Why::Off | Why::FewRanks | Why::Configured) => choice,
            Choice::Host(_) if state.config().reproducible.is_kept_by_host() => choice,
            Choice::Rondo { .. } | Choice::Host(_) => {
                self.look_at_operator(mpi)?;
                self.ask(known, state, |problem| problem.choose())
            }
        };
        Some(Plan {
            known,
            ..Plan::new(choice, bytes)
        })
    }

    fn ask<T>(
        &self,
        known: Option<u64>,
        state: &State,
        question: impl FnOnce(decide::Reduction) -> T,
    ) -> T {
        let (bytes, p) = (known.unwrap_or(0), state.facts().p);
        let order = self.known_operator().map_or(Order::ANY, |operator| Order {
            commutes: operator.commutes,
            exact: operator.exact,
            built_in: operator.built_in,
            idempotent: operator.idempotent,
        });
        question(decide::Reduction {
            context: context(self.collective(), state),
            bytes,
            longest: self.longest_part(p, bytes),
            order,
        })
    }

    fn attempt(&self, plan: &Plan, mpi: &Mpi, state: &State) -> Result<(), Stop> {
        let (collective, p, rank) = (self.collective(), state.facts().p, state.rank());
        if state.is_new() && self.is_short_over_nodes(plan, state) {
            return self.without_private(plan, mpi, state);
        }
        let private = match private(mpi, state) {
            // A promise is not broken for want of room.
            Err(Stop::Host(Why::NoRoom)) if !state.config().reproducible.is_kept_by_host() => {
                return Err(Stop::Error(Code::no_mem()));
            }
            private => private?,
        };
        let root = self.root(p).unwrap_or(0);
        let gets = match self.which() {
            ReductionOp::Reduce => rank == root,
            ReductionOp::Exscan => rank > 0,
            // Without elements there need not be a buffer.
            ReductionOp::ReduceScatter | ReductionOp::ReduceScatterBlock => {
                self.count(rank) != Some(0)
            }
            ReductionOp::Allreduce | ReductionOp::Scan => true,
        };
        // Before the call is counted: the ranks whose operator is invalid do not count it either.
        let found = self.operands(mpi, private, gets);
        let (operands, buffers) = found.ok_or(Stop::Host(Why::Invalid))?;
        let work = &mut *state.work.lock();
        let Choice::Rondo {
            algorithm, form, ..
        } = plan.choice
        else {
            unreachable!("not Rondo's choice");
        };
        // Whether there is a segment, all ranks of all nodes know. Without one, messages give the same bits.
        let unit = operands.unit().filter(|&unit| unit <= UNIT_MAX);
        let built_in = self.known_operator().is_some_and(|op| op.built_in);
        let shares = form != Form::Flat && built_in && unit.is_some();
        if shares {
            (work.nodes.sharing)
                .settle(mpi, state, private)
                .map_err(Stop::Broken)?;
        }
        let sequence = begin_exchange(work, plan, private, mpi, state)?;
        // Ranks whose operators differ in what they allow may have chosen differently.
        let what = collective as u64 | implementation(plan.choice) << 8;
        let facts = [what, sequence, root.into(), plan.bytes];
        let total = self.total(p).ok_or(Stop::Host(Why::Invalid))?;
        let run = Run {
            mpi,
            state,
            private,
            tag: call_tag(facts, state.tag_mask()),
            operands: &operands,
        };
        let Work {
            nodes,
            script,
            requests,
            ..
        } = work;
        let mut inside = (nodes.sharing.memory())
            .filter(|_| shares)
            .map(|memory| Inside {
                run: &run,
                sequence,
                memory,
            });
        let writing = Writing {
            call: self,
            choice: plan.choice,
            state,
            total,
            bytes: plan.bytes,
            most: state.facts().eager_bytes.min(PIECE_BYTES) / operands.bytes(1).max(1),
            root,
            shares: inside.is_some(),
        };
        let own = operands.area_of_own(&buffers, total);
        let result = operands.area_of_result(&buffers, total);
        // Every rank reduces what all have.
        let gathers = algorithm == Algorithm::Gather && state.facts().nodes == 1;
        if let Some(inside) = &mut inside
            && state.facts().nodes == 1
            && !gathers
        {
            stats::count(collective, plan.choice, plan.bytes);
            let vectors = SlotVectors {
                operands: &operands,
                from: own,
                to: result,
            };
            return inside.reduce(vectors, total, &writing.trees(), &writing.wants());
        }
        writing.write(script);

        // Where the area is the result, it is that from the beginning.
        let whole = script.cut().total() == total && script.results().is_empty();
        let idles = inside.is_some() && script.cut().total() == 0;
        let area = (gets && (whole || idles)).then_some(result);
        let vectors = writing.vectors();
        let area = run.reserve(script, requests, vectors, area)?;
        stats::count(collective, plan.choice, plan.bytes);
        match (&mut inside, writing.order()) {
            (Some(inside), _) if !gathers => {
                let vectors = SlotVectors {
                    operands: &operands,
                    from: own,
                    to: area,
                };
                inside.reduce(vectors, total, &writing.trees(), &writing.wants())?;
            }
            (_, None) => (operands.fill(&buffers, area, total)).map_err(Stop::Broken)?,
            (_, Some(ranks)) => {
                let firsts = Cut::of((0..p).map(|rank| writing.part(rank)));
                let mut place = 0;
                for rank in ranks {
                    let elements = firsts.elements(&(rank..rank + 1));
                    let to = place;
                    place += elements.end - elements.start;
                    (operands.fill_part(&buffers, &elements, area, to)).map_err(Stop::Broken)?;
                }
            }
        }
        let in_area = SlotVectors {
            operands: &operands,
            from: area,
            to: area,
        };
        if let Some(inside) = &mut inside
            && gathers
        {
            inside.exchange(in_area, &writing.vectors_of_ranks())?;
        }
        run.carry_out(script, requests, area)?;
        if let Some(inside) = &mut inside
            && let Some(slices) = writing.slices()
            && !gathers
        {
            inside.exchange(in_area, &slices)?;
        }
        hand_out(&operands, &buffers, script, area)?;
        requests.end_script();
        if script.bytes() > SCRIPT_BYTES {
            *script = Script::default();
        }
        Ok(())
    }

    fn describe(&self, plan: &Plan) -> String {
        let root = match self.which() {
            ReductionOp::Reduce => format!(" to root {}", self.root(u32::MAX).unwrap_or(0)),
            ReductionOp::Allreduce
            | ReductionOp::ReduceScatter
            | ReductionOp::ReduceScatterBlock
            | ReductionOp::Scan
            | ReductionOp::Exscan => String::new(),
        };
        format!("of {} bytes{root}", plan.bytes)
    }
}

/// Short reductions on a new communicator.
impl Reduction {
    /// Do leaders gather what their nodes have, because the rules say so?
    fn is_short_over_nodes(&self, plan: &Plan, state: &State) -> bool {
        let by_rules = matches!(
            plan.choice,
            Choice::Rondo {
                algorithm: Algorithm::Gather,
                form: Form::Nodes { .. },
                why: Why::Auto,
                ..
            }
        );
        by_rules && state.facts().nodes > 1 && self.known_operator().is_some_and(|op| op.built_in)
    }

    /// Carries it out without a private communicator, with the same bits: by the host where these are the same, or else
    /// the host gathers, and every rank reduces.
    fn without_private(&self, plan: &Plan, mpi: &Mpi, state: &State) -> Result<(), Stop> {
        let comm = mpi.own_self().unwrap_or(state.comm());
        let found = self.operands(mpi, comm, true);
        let (operands, buffers) = found.ok_or(Stop::Host(Why::Invalid))?;
        state.count_short();
        if self.known_operator().is_some_and(|op| op.exact) {
            return Err(Stop::Host(Why::SetUp));
        }
        let topology = state.topology();
        let total = self.total(topology.p()).ok_or(Stop::Host(Why::Invalid))?;
        let work = &mut *state.work.lock();
        let nodes = GatherNodes {
            leaders: Group::all(topology.nodes(), 0),
            locals: &[],
            places: topology.widest(),
            rank: 0,
        };
        nodes.reduce(&mut work.script, total, |node, place| {
            topology.locals(node)[place as usize]
        });
        let run = Run {
            mpi,
            state,
            private: comm,
            tag: 0,
            operands: &operands,
        };
        let vectors = Vectors {
            first: total,
            other: total,
        };
        let area = run.reserve(&work.script, &mut work.requests, vectors, None)?;
        stats::count(self.collective(), plan.choice, plan.bytes);
        self.gather_by_host(host::host(), &operands, &buffers, area)
            .map_err(Stop::Raised)?;
        run.carry_out(&work.script, &mut work.requests, area)?;
        hand_out(&operands, &buffers, &work.script, area)
    }
}

/// Copies the results of a script to where they belong.
fn hand_out(
    operands: &Operands,
    buffers: &Buffers,
    script: &Script,
    area: Area,
) -> Result<(), Stop> {
    let mut place = 0;
    for blocks in script.results() {
        let elements = script.cut().elements(blocks);
        (operands.hand_out(buffers, area, &elements, place)).map_err(Stop::Broken)?;
        place += elements.end - elements.start;
    }
    Ok(())
}

/// What writes the script of a call.
struct Writing<'a> {
    call: &'a Reduction,
    choice: Choice,
    state: &'a State,
    /// Elements of a vector.
    total: u64,
    /// Its bytes.
    bytes: u64,
    /// Elements that share a message.
    most: u64,
    root: u32,
    /// Do the ranks of a node reduce through the memory that they share? Then the script has what is between nodes only.
    shares: bool,
}

impl Writing<'_> {
    fn write(&self, script: &mut Script) {
        let Choice::Rondo {
            algorithm,
            form,
            blocks,
            ..
        } = self.choice
        else {
            unreachable!("not Rondo's choice");
        };
        match self.call.collective().family() {
            Family::AllReduction => match algorithm.of_all_reduction() {
                AllReductionAlgorithm::Halving => self.allreduce(script, form, blocks),
                AllReductionAlgorithm::Gather => self.gather(script, form),
                AllReductionAlgorithm::Ordered => {
                    self.ordered(script, blocks);
                    self.spread(script, blocks);
                    script.result(0..self.p() * blocks);
                }
                AllReductionAlgorithm::Census
                | AllReductionAlgorithm::Dissemination
                | AllReductionAlgorithm::Doubling
                | AllReductionAlgorithm::Ring
                | AllReductionAlgorithm::ReduceBcast => {
                    self.flat_allreduce(script, algorithm, blocks);
                }
            },
            Family::Reduction => match algorithm.of_reduction() {
                ReductionAlgorithm::Circulant => self.reduce(script, form, blocks),
                ReductionAlgorithm::Binomial => self.binomial(script, blocks),
                ReductionAlgorithm::Ordered => {
                    self.ordered(script, blocks);
                    let own = |rank: u32| blocks_of(rank..rank + 1, blocks);
                    collect(script, self.p(), self.rank(), self.root, own);
                    if self.rank() == self.root {
                        script.result(0..self.p() * blocks);
                    }
                }
            },
            Family::ScatteredReduction => {
                let own = match algorithm.of_scattered_reduction() {
                    ScatteredReductionAlgorithm::Halving => self.halving(script, form, blocks),
                    ScatteredReductionAlgorithm::Ordered => {
                        self.ordered(script, blocks);
                        blocks_of(self.rank()..self.rank() + 1, blocks)
                    }
                    ScatteredReductionAlgorithm::Circulant => self.scattered(script, blocks),
                };
                script.result(own);
            }
            Family::Scan => {
                let prefix = match self.call.which() {
                    ReductionOp::Exscan => Prefix::Exclusive,
                    ReductionOp::Scan
                    | ReductionOp::Allreduce
                    | ReductionOp::Reduce
                    | ReductionOp::ReduceScatter
                    | ReductionOp::ReduceScatterBlock => Prefix::Inclusive,
                };
                let vector = (0..blocks).map(|i| share(self.total, blocks, i));
                let places = match algorithm.of_scan() {
                    ScanAlgorithm::Doubling => prefix.places(self.p()),
                    ScanAlgorithm::Pipelined => prefix.places(self.p()).min(2),
                };
                let area = (0..places).flat_map(|_| vector.clone());
                script.begin(self.most, area);
                let write = match algorithm.of_scan() {
                    ScanAlgorithm::Doubling => doubling,
                    ScanAlgorithm::Pipelined => chain,
                };
                write(script, self.p(), self.rank(), blocks, prefix);
            }
            Family::Broadcast | Family::AllBroadcast | Family::Rooted | Family::Barrier => {
                unreachable!("nothing is reduced")
            }
        }
    }

    /// The vectors of the area.
    fn vectors(&self) -> Vectors {
        Vectors {
            first: self.total,
            other: match self.is_ordered() {
                true => self.part(self.rank()),
                false => self.total,
            },
        }
    }

    fn p(&self) -> u32 {
        self.state.facts().p
    }

    fn rank(&self) -> u32 {
        self.state.rank()
    }

    fn all(&self) -> Group<'static> {
        Group::all(self.p(), self.rank())
    }

    /// Elements of the part of a rank.
    fn part(&self, rank: u32) -> u64 {
        match self.call.which() {
            ReductionOp::ReduceScatter | ReductionOp::ReduceScatterBlock => {
                self.call.count(rank).unwrap_or(0)
            }
            ReductionOp::Allreduce
            | ReductionOp::Reduce
            | ReductionOp::Scan
            | ReductionOp::Exscan => share(self.total, self.p(), rank),
        }
    }

    /// The parts of all ranks, each cut into as many segments.
    fn parts(&self, segments: u32) -> impl Iterator<Item = u64> + Clone {
        (0..self.p())
            .flat_map(move |rank| (0..segments).map(move |i| share(self.part(rank), segments, i)))
    }

    fn steps(&self, ranks: u32) -> Steps {
        Steps::new(ranks, self.radix(ranks))
    }

    /// In how many messages at a time parts are spread. It changes no bit.
    fn radix(&self, ranks: u32) -> u32 {
        let (facts, config) = (self.state.facts(), self.state.config());
        let bytes = self.bytes;
        match config.radix {
            0 => facts.models(config).0.radix(ranks, bytes),
            radix => radix,
        }
    }

    /// Who is where, if all nodes have as many ranks: a list of the ranks in the same place as this one.
    fn lane(&self) -> (Vec<u32>, u32) {
        let topology = self.state.topology();
        let own = topology.locals(topology.node(self.rank()));
        let place = own
            .iter()
            .position(|&rank| rank == self.rank())
            .unwrap_or(0);
        let nodes = 0..topology.nodes();
        let lane = nodes.map(|node| topology.locals(node)[place]).collect();
        (lane, place as u32)
    }

    /// Calls `write` with the lanes.
    fn with_lanes(&self, write: impl FnOnce(Lanes)) {
        let topology = self.state.topology();
        let node = topology.node(self.rank());
        let (lane, place) = self.lane();
        let locals = topology.locals(node);
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

    fn allreduce(&self, script: &mut Script, form: Form, segments: u32) {
        match form {
            Form::Flat => {
                script.begin(self.most, self.parts(segments));
                halving(script, &self.all(), |ranks| {
                    once(blocks_of(ranks, segments))
                });
                self.spread(script, segments);
            }
            Form::Nodes { lanes } => {
                let nodes = self.state.facts().nodes;
                let slices = (0..lanes).map(|place| share(self.total, lanes, place));
                let parts =
                    slices.flat_map(|slice| (0..nodes).map(move |i| share(slice, nodes, i)));
                let cut =
                    parts.flat_map(|part| (0..segments).map(move |i| share(part, segments, i)));
                script.begin(self.most, cut);
                self.with_lanes(|lanes| {
                    lanes.allreduce(script, segments, |ranks| self.radix(ranks))
                });
            }
        }
    }

    fn spread(&self, script: &mut Script, segments: u32) {
        let steps = self.steps(self.p());
        spread(script, &self.all(), &steps, |ranks| {
            once(blocks_of(ranks, segments))
        });
    }

    fn gather(&self, script: &mut Script, form: Form) {
        let topology = self.state.topology();
        if form != Form::Flat && topology.nodes() > 1 {
            let leaders: Vec<u32> = (0..topology.nodes())
                .map(|node| topology.locals(node)[0])
                .collect();
            let locals = topology.locals(topology.node(self.rank()));
            let nodes = GatherNodes {
                leaders: Group {
                    members: Some(&leaders),
                    p: leaders.len() as u32,
                    me: topology.node(self.rank()),
                },
                locals: match self.shares {
                    true => &[],
                    false => locals,
                },
                places: locals.len() as u32,
                rank: self.rank(),
            };
            let steps = self.steps(topology.nodes());
            nodes.allreduce(script, self.most, self.total, &steps);
            return;
        }
        let problem = self
            .call
            .ask(None, self.state, |problem| problem.is_ordered());
        let tree = match problem {
            true => GatherTree::Ranks,
            false => GatherTree::Halving,
        };
        let p = self.p();
        script.begin(self.most, gather_cut(p, tree, self.total));
        if !self.shares {
            spread_vectors(script, p, self.rank(), &self.steps(p));
        }
        gather(script, p, self.rank(), tree);
    }

    fn ordered(&self, script: &mut Script, segments: u32) {
        let (p, rank) = (self.p(), self.rank());
        let cut = ordered_cut(p, segments, rank, self.parts(segments));
        script.begin(self.most, cut);
        ordered(script, p, rank, segments);
    }

    fn reduce(&self, script: &mut Script, form: Form, blocks: u32) {
        script.begin(self.most, (0..blocks).map(|i| share(self.total, blocks, i)));
        match form {
            Form::Flat => {
                let graph = Circulant::new(self.p());
                reduce(script, &self.all(), &graph, self.root, |_, _| ());
            }
            Form::Nodes { .. } => {
                let topology = self.state.topology();
                let (home, node) = (topology.node(self.root), topology.node(self.rank()));
                if self.shares && self.rank() != topology.leader(node, self.root) {
                    return;
                }
                let leader = |node| topology.leader(node, self.root);
                let leaders: Vec<u32> = (0..topology.nodes()).map(leader).collect();
                let leaders = Leaders {
                    leaders: Group {
                        members: Some(&leaders),
                        p: leaders.len() as u32,
                        me: node,
                    },
                    locals: match self.shares {
                        true => &[],
                        false => topology.locals(node),
                    },
                    rank: self.rank(),
                };
                leaders.reduce(script, home);
            }
        }
    }

    fn binomial(&self, script: &mut Script, blocks: u32) {
        script.begin(self.most, (0..blocks).map(|i| share(self.total, blocks, i)));
        binomial(script, &self.all(), 0..blocks);
        if self.root > 0 && self.rank() == 0 {
            script.send(self.root, 0..blocks);
        }
        if self.root > 0 && self.rank() == self.root {
            script.receive(0, 0..blocks, Join::Store);
        }
    }

    /// Writes a reduce-scatter. The blocks of this rank's part.
    fn halving(&self, script: &mut Script, form: Form, segments: u32) -> Range<u32> {
        match form {
            Form::Flat => {
                script.begin(self.most, self.parts(segments));
                halving(script, &self.all(), |ranks| {
                    once(blocks_of(ranks, segments))
                });
                blocks_of(self.rank()..self.rank() + 1, segments)
            }
            Form::Nodes { .. } => {
                let ranks = self.order().unwrap_or_default();
                let parts = ranks.iter().map(|&rank| self.part(rank));
                let cut =
                    parts.flat_map(|part| (0..segments).map(move |i| share(part, segments, i)));
                script.begin(self.most, cut);
                let mut own = 0..0;
                self.with_lanes(|lanes| own = lanes.reduce_scatter(script, segments));
                own
            }
        }
    }

    /// The ranks in the order in which their parts lie in the area, if it is not their own: the ranks in the same place
    /// of their nodes side by side.
    fn order(&self) -> Option<Vec<u32>> {
        let lanes = match self.choice {
            Choice::Rondo {
                form: Form::Nodes { lanes },
                ..
            } if self.call.collective().family() == Family::ScatteredReduction => lanes,
            Choice::Rondo { .. } | Choice::Host(_) => return None,
        };
        let topology = self.state.topology();
        let places = 0..lanes as usize;
        let ranks = places.flat_map(|place| {
            let nodes = 0..topology.nodes();
            nodes.map(move |node| topology.locals(node)[place])
        });
        Some(ranks.collect())
    }

    /// An all-reduction between all ranks.
    fn flat_allreduce(&self, script: &mut Script, algorithm: Algorithm, blocks: u32) {
        let group = self.all();
        let vectors = |places: u32| {
            let vector = (0..blocks).map(|i| share(self.total, blocks, i));
            (0..places).flat_map(move |_| vector.clone())
        };
        match algorithm.of_all_reduction() {
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
                exchange(script, &group, blocks);
            }
            AllReductionAlgorithm::Ring => {
                script.begin(self.most, self.parts(blocks));
                ring(script, &group, |rank| blocks_of(rank..rank + 1, blocks));
            }
            AllReductionAlgorithm::ReduceBcast => {
                script.begin(self.most, vectors(1));
                reduce_broadcast(script, &group, &Circulant::new(group.p));
            }
            AllReductionAlgorithm::Halving
            | AllReductionAlgorithm::Gather
            | AllReductionAlgorithm::Ordered => unreachable!("written above"),
        }
    }

    /// Writes a circulant reduce-scatter. The blocks of this rank's part.
    fn scattered(&self, script: &mut Script, segments: u32) -> Range<u32> {
        let group = self.all();
        let graph = Circulant::new(group.p);
        let parts = (0..group.p).map(|rank| self.part(rank));
        let element = self.bytes.div_ceil(self.total.max(1)).max(1);
        let scattered = Scattered::new(&group, &graph, segments, parts, COPIED_BYTES / element);
        script.begin(self.most, scattered.cut());
        scattered.write(script);
        blocks_of(group.me..group.me + 1, segments)
    }
}

/// What the ranks of a node reduce through the memory that they share.
impl Writing<'_> {
    fn locals(&self) -> &[u32] {
        let topology = self.state.topology();
        topology.locals(topology.node(self.rank()))
    }

    /// The number of a rank among those of its node.
    fn local(&self, rank: u32) -> u32 {
        self.state.topology().local(rank)
    }

    /// Do operands keep the order of ranks?
    fn is_ordered(&self) -> bool {
        matches!(
            self.choice,
            Choice::Rondo {
                algorithm: Algorithm::Ordered,
                ..
            }
        )
    }

    /// The parts of the vectors, each with its order of evaluation: that of the same call by messages.
    fn trees(&self) -> Vec<Tree> {
        let whole = |fold| {
            vec![Tree {
                end: self.total,
                fold,
            }]
        };
        let family = self.call.collective().family();
        if self.is_ordered() {
            return whole(Fold::From(0));
        }
        let leader = || {
            let topology = self.state.topology();
            topology.leader(topology.node(self.rank()), self.root)
        };
        let mut end = 0;
        let mut tree = |count: u64, owner| {
            end += count;
            Tree {
                end,
                fold: Fold::Halving(owner),
            }
        };
        match family {
            Family::Reduction => whole(Fold::From(self.local(leader()))),
            Family::ScatteredReduction => {
                let ranks = 0..self.p();
                ranks
                    .map(|rank| tree(self.part(rank), self.local(rank)))
                    .collect()
            }
            Family::AllReduction
            | Family::Scan
            | Family::Broadcast
            | Family::AllBroadcast
            | Family::Rooted
            | Family::Barrier => {
                let places = self.locals().len() as u32;
                let slice = |place| tree(share(self.total, places, place), place);
                (0..places).map(slice).collect()
            }
        }
    }

    /// What this rank gets of them.
    fn wants(&self) -> Vec<Want> {
        let topology = self.state.topology();
        let (rank, nodes) = (self.rank(), topology.nodes());
        let all = || {
            vec![Want {
                elements: 0..self.total,
                to: 0,
            }]
        };
        match self.call.collective().family() {
            Family::Reduction => match rank == topology.leader(topology.node(rank), self.root) {
                true => all(),
                false => Vec::new(),
            },
            Family::ScatteredReduction => {
                let parts = Cut::of((0..self.p()).map(|rank| self.part(rank)));
                let place = topology.local(rank);
                let of = |rank: u32, to| Want {
                    elements: parts.elements(&(rank..rank + 1)),
                    to,
                };
                let Some(order) = self.order().filter(|_| nodes > 1) else {
                    return vec![of(rank, 0)];
                };
                // Where the parts of the ranks of its lane lie in the area.
                let area = Cut::of(order.iter().map(|&rank| self.part(rank)));
                let wanted = (0..)
                    .zip(&order)
                    .filter(|(_, rank)| topology.local(**rank) == place);
                let want = |(i, &rank): (u32, &u32)| of(rank, area.elements(&(i..i + 1)).start);
                let mut wants: Vec<Want> = wanted.map(want).collect();
                wants.sort_unstable_by_key(|want| want.elements.start);
                wants
            }
            Family::AllReduction
            | Family::Scan
            | Family::Broadcast
            | Family::AllBroadcast
            | Family::Rooted
            | Family::Barrier => match self.slices() {
                Some(slices) => {
                    let elements = slices[topology.local(rank) as usize].clone();
                    vec![Want {
                        to: elements.start,
                        elements,
                    }]
                }
                None => all(),
            },
        }
    }

    /// What the ranks of the node exchange in the end: of each rank, elements of the result.
    fn slices(&self) -> Option<Vec<Range<u64>>> {
        let is_all = self.call.collective().family() == Family::AllReduction;
        (is_all && self.state.facts().nodes > 1).then(|| {
            let places = self.locals().len() as u32;
            let count = |place| match (self.has_leaders(), place) {
                (true, 0) => self.total,
                (true, _) => 0,
                (false, place) => share(self.total, places, place),
            };
            let slices = Cut::of((0..places).map(count));
            let slice = |place| slices.elements(&(place..place + 1));
            (0..places).map(slice).collect()
        })
    }

    /// Does one rank of each node exchange with others for all?
    fn has_leaders(&self) -> bool {
        matches!(
            self.choice,
            Choice::Rondo {
                form: Form::Nodes { lanes: 1 },
                ..
            }
        )
    }

    /// Where the vectors of the ranks of the node lie in the area of a gather.
    fn vectors_of_ranks(&self) -> Vec<Range<u64>> {
        let (p, me) = (self.p(), self.rank());
        let vector = |rank: u32| u64::from((me + p - rank) % p) * self.total;
        (0..p)
            .map(|rank| vector(rank)..vector(rank) + self.total)
            .collect()
    }
}

/// A script of a call, ready to be carried out.
pub(super) struct Run<'a> {
    pub mpi: &'a Mpi,
    pub state: &'a State,
    pub private: Comm,
    pub tag: i32,
    pub operands: &'a Operands<'a>,
}

impl Run<'_> {
    fn limits(&self) -> Limits {
        let config = self.state.config();
        Limits {
            receives: match config.window {
                0 => WINDOW,
                window => window,
            },
            // Where time is simulated, messages in flight share a link, and all come late.
            sends: match Abi::BUILT.is_simulated() {
                true => SIMULATED_SENDS,
                false => SEND_WINDOW,
            },
            message: self.state.facts().eager_bytes,
        }
    }

    /// Makes room for everything. The area has these vectors; it is the one that is given, or memory of Rondo's.
    pub fn reserve(
        &self,
        script: &Script,
        requests: &mut Requests,
        vectors: Vectors,
        area: Option<Area>,
    ) -> Result<Area, Stop> {
        requests
            .reserve_script(&self.limits(), script, self.operands, (vectors, area))
            .map_err(Stop::Error)
    }

    /// Carries it out.
    pub fn carry_out(
        &self,
        script: &Script,
        requests: &mut Requests,
        area: Area,
    ) -> Result<(), Stop> {
        let counts = script.sends().iter();
        let counts = counts.map(|send| script.cut().count(&send.blocks));
        let job = ScriptJob {
            mpi: self.mpi,
            comm: self.private,
            tag: self.tag,
            operands: self.operands,
            area,
            cut: script.cut(),
            sends: counts.sum(),
            sync_freq: self.state.config().sync_freq,
            timeout_s: self.state.config().timeout_s,
        };
        let mut wire = MpiScriptWire::new(job, requests);
        let execution = Execution::new(script, self.limits());
        let done: Result<(), Failure> = run_script(execution, &mut wire);
        done.map_err(Stop::Broken)
    }
}
