//! `MPI_Allreduce`, `MPI_Reduce`, `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`, `MPI_Scan` and `MPI_Exscan`.

#![forbid(unsafe_code)]

use super::nodes::shares;
use super::room::{VECTORS, lacking, of_all};
use super::running::{PIECE_BYTES, Running, finish, trim};
use super::slots::Inside;
use super::writing::{Writing, members};
use super::{Operation, Plan, Rest, Stop, begin_and_agree, context, found, looked_at, private};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, LEAST_BYTES, Reducing};
use crate::comm::{self, State, Work};
use crate::config::Reproducible;
use crate::decide::{self, Choice, Form, Method, OperatorProperties, SLOT_UNIT_MAX, Why};
use crate::host::{
    self, Area, Buffers, Code, Comm, Mpi, Reduction, ReductionOp, Requests, SlotVectors, Vectors,
    call_tag,
};
use crate::script::{Script, reduce_gathered};
use crate::stats;
use std::mem::take;

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
        self.all_bytes(mpi, state.p())
    }

    fn plan(&self, mpi: &Mpi, state: &State, plan: &mut Plan) -> Option<()> {
        if self.which() == ReductionOp::Reduce {
            self.root(state.p())?;
        }
        let known = Some(self.bytes(mpi, state)?);
        // Nobody asks for the operator of a call that is the host's whatever it is. Rules may say otherwise.
        let stays = state.config().reproducible.is_kept_by_host() && state.rules().is_empty();
        self.decide(known, state, plan);
        match plan.choice {
            Choice::Host(Why::Empty | Why::Off | Why::FewRanks) => {}
            Choice::Host(Why::Configured) if state.config().reproducible.is_kept_by_host() => {}
            Choice::Host(_) if stays => {}
            Choice::Rondo(_) | Choice::Host(_) => {
                self.look_at_operator(mpi)?;
                self.decide(known, state, plan);
            }
        }
        Some(())
    }

    #[inline]
    fn rest(&self, known: Option<u64>, state: &State) -> Option<Rest> {
        let (longest, fullest, unit) = self.shape(known.unwrap_or(0), state.p());
        let operator = self.properties();
        let properties = [
            operator.commutes,
            operator.exact,
            operator.built_in,
            operator.idempotent,
        ];
        let bits = properties.map(u64::from);
        let operator = bits.iter().fold(0, |all, bit| all << 1 | bit);
        Some((longest, fullest, unit, operator))
    }

    fn with_problem<T>(
        &self,
        known: Option<u64>,
        state: &State,
        question: impl FnOnce(decide::Reduction) -> T,
    ) -> T {
        let bytes = known.unwrap_or(0);
        let (longest, fullest, unit) = self.shape(bytes, state.p());
        question(decide::Reduction {
            context: context(self.collective(), state),
            bytes,
            unit,
            longest,
            fullest,
            operator: self.properties(),
        })
    }

    fn is_provisional(&self, plan: &Plan, state: &State) -> bool {
        state.is_new() && self.may_do_without(plan, state)
    }

    fn waits_for_program(&self) -> bool {
        self.known_operator().is_none_or(|op| !op.built_in)
    }

    fn attempt(
        &self,
        method: Method,
        plan: &Plan,
        mpi: &Mpi,
        state: &State,
    ) -> Result<Choice, Stop> {
        if self.is_provisional(plan, state) {
            return (self.without_private(plan, mpi, state)).map(|()| plan.choice);
        }
        // No other promise is kept by the host as well, so under others a private communicator is used if there is one.
        // Some calls have the same bits with one and without: they do not say that others may have one.
        let is_short = self.may_do_without(plan, state);
        let is_for_a_run = state.config().reproducible == Reproducible::Run;
        let private = match is_for_a_run && !self.is_exact() && !is_short {
            true => found(state.private_for_bits(mpi)),
            false => private(mpi, state),
        };
        if matches!(private, Err(Stop::Host(Why::NoRoom))) && !self.is_exact() && is_short {
            // As for the first calls: bits may not change with the number of the call.
            return (self.without_private(plan, mpi, state)).map(|()| plan.choice);
        }
        let private = self.as_promised(private, state)?;
        let (p, rank) = (state.p(), state.rank());
        let root = self.root(p).unwrap_or(0);
        let gets = self.gets(rank);
        let buffers = self.buffers();
        let mut operands = looked_at(self.operands(mpi, private))?;
        let work = &mut *state.work.lock();
        // Whether there is a segment, all ranks of all nodes know. Without one, messages give the same bits.
        let unit = operands.unit();
        let shares =
            unit <= SLOT_UNIT_MAX && shares(method.form, mpi, state, &mut work.nodes, private)?;
        let sequence = begin_and_agree(self, (method, plan), work, private, mpi, state)?;
        if shares {
            operands.reserve_apart().map_err(lacking)?;
        }
        if !shares && state.widest() > 1 {
            // The ranks of a node send each other messages as well.
            work.requests.flow.set_whole(false);
        }
        let slot_unit = if shares { unit } else { 0 };
        // Ranks whose operators differ in what they allow may have chosen differently, and others would have different
        // results. Messages may have elements of several sizes, slots may not.
        let which = self.known_operator().map_or(0, |op| op.which);
        let exact = u64::from(self.is_exact());
        let what = self.collective() as u64
            | (1 + method.algorithm as u64) << 8
            | slot_unit << 16
            | exact << 32
            | u64::from(which) << 33;
        let words = [what, sequence, root.into(), plan.bytes];
        let total = self.total(p).unwrap_or(0);
        let run = Running {
            mpi,
            state,
            private,
            tag: call_tag(words, state.tag_mask()),
            operands: &operands,
        };
        let reducing = self.reducing();
        let in_order =
            method.has_leaders() && reducing != Reducing::Scan && !self.properties().commutes;
        let settled = Settled {
            run: &run,
            writing: Writing {
                call: self,
                choice: plan.choice,
                method,
                reducing,
                state,
                total,
                bytes: plan.bytes,
                most: state.eager_bytes().min(PIECE_BYTES) / operands.bytes(1).max(1),
                root,
                shares,
                in_order,
                members: members(state, in_order, shares),
            },
            sequence,
            gets,
        };
        let result = match gets {
            true => self.result(rank, total),
            false => 0,
        };
        let shadow = operands.shadow(&buffers, result);
        let shadow = match state.may_have_gpus() {
            false => shadow.map_err(lacking)?,
            true => of_all(shadow, plan.bytes, private, mpi, state)?,
        };
        match shadow {
            None => settled.carry_out(&buffers, work)?,
            Some(shadow) => {
                settled.carry_out(shadow.buffers(), work)?;
                (shadow.hand_out(&operands, &buffers)).map_err(Stop::Broken)?;
            }
        }
        Ok(plan.choice)
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

/// A reduction that Rondo carries out.
struct Settled<'a> {
    run: &'a Running<'a>,
    writing: Writing<'a>,
    /// The number of the call.
    sequence: u64,
    /// Does this rank get a result?
    gets: bool,
}

impl Settled<'_> {
    /// Carries it out, on buffers of which the processor can touch the result.
    fn carry_out(&self, buffers: &Buffers, work: &mut Work) -> Result<(), Stop> {
        let (run, writing) = (self.run, &self.writing);
        let Work {
            nodes,
            script,
            requests,
            ..
        } = work;
        let memory = nodes.sharing.memory().filter(|_| writing.shares);
        let mut inside = memory.map(|memory| Inside {
            run,
            sequence: self.sequence,
            memory,
        });
        let is_one_node = run.state.nodes() == 1;
        // Every rank reduces what all have.
        let gathers = is_one_node && writing.method.algorithm == Algorithm::Gather;
        if let Some(inside) = &mut inside
            && is_one_node
            && !gathers
        {
            return inside.on_one_node(writing, buffers, (script, requests));
        }
        writing.write(script);
        let area = self.reserve(buffers, script, requests)?;
        writing.count();
        match &mut inside {
            None => {
                self.fill(buffers, area)?;
                run.carry_out(script, requests, area)?;
            }
            Some(inside) if gathers => {
                self.fill(buffers, area)?;
                inside.exchange(self.in_area(area), &writing.vectors_of_ranks())?;
                run.carry_out(script, requests, area)?;
            }
            Some(inside) => self.over_nodes(inside, buffers, (script, requests, area))?,
        }
        finish(run.operands, buffers, script, (requests, area))
    }

    /// Makes room for a script. Where its area is the result, it is that from the beginning.
    fn reserve(
        &self,
        buffers: &Buffers,
        script: &mut Script,
        requests: &mut Requests,
    ) -> Result<Area, Stop> {
        let Writing { total, shares, .. } = self.writing;
        let whole = script.cut().total() == total && script.results().is_empty();
        let idles = shares && script.cut().total() == 0;
        let result = || self.run.operands.area_of_result(buffers, total);
        let area = (self.gets && (whole || idles)).then(result);
        // A rank that only lays its vector into slots has no use for a whole one.
        let vectors = match idles && !self.gets {
            true => Vectors { first: 0, other: 0 },
            false => self.writing.vectors(),
        };
        let area = self.run.reserve(script, requests, vectors, area);
        let Running { mpi, state, .. } = *self.run;
        // Besides the area, two messages at least wait to be joined.
        let most = self.writing.vectors_at_most() + 2;
        let bytes = (self.writing.bytes).saturating_mul(most.max(VECTORS)) / VECTORS;
        let area = of_all(area, bytes, self.run.private, mpi, state);
        area.inspect_err(|_| trim(script, requests))
    }

    /// Copies this rank's vector to the area.
    fn fill(&self, buffers: &Buffers, area: Area) -> Result<(), Stop> {
        let (operands, writing) = (self.run.operands, &self.writing);
        let Some(ranks) = writing.order() else {
            return (operands.fill(buffers, area, writing.total)).map_err(Stop::Broken);
        };
        // In parts.
        let firsts = writing.parts_cut();
        let mut place = 0;
        for rank in ranks {
            let elements = firsts.elements(&(rank..rank + 1));
            let to = place;
            place += elements.end - elements.start;
            (operands.fill_part(buffers, &elements, area, to)).map_err(Stop::Broken)?;
        }
        Ok(())
    }

    /// The node reduces what its ranks have, and hands out what came from other nodes.
    fn over_nodes(
        &self,
        inside: &mut Inside,
        buffers: &Buffers,
        (script, requests, area): (&mut Script, &mut Requests, Area),
    ) -> Result<(), Stop> {
        let (run, writing) = (self.run, &self.writing);
        let vectors = SlotVectors {
            operands: run.operands,
            from: run.operands.area_of_own(buffers, writing.total),
            to: area,
        };
        inside.reduce_with(vectors, writing, (script, requests))?;
        if let Some(slices) = writing.slices() {
            inside.exchange(self.in_area(area), &slices)?;
        }
        if writing.write_join(script) {
            run.carry_out(script, requests, area)?;
        }
        if let Some((own, longest, wants)) = writing.handed_out().or_else(|| writing.brought()) {
            inside.shuffle(self.in_area(area), own, longest, &wants)?;
        }
        Ok(())
    }

    /// What is read and written in the area.
    fn in_area(&self, area: Area) -> SlotVectors<'_> {
        SlotVectors {
            operands: self.run.operands,
            from: area,
            to: area,
        }
    }
}

impl Reduction {
    /// Of a vector of `bytes` bytes: those of the longest part of a rank, those of the fullest messages of all rounds
    /// of halving, and those of an element.
    fn shape(&self, bytes: u64, p: u32) -> (u64, u64, u64) {
        let (longest, fullest) = self.parts(p, bytes);
        let elements = self.total(p).unwrap_or(0);
        (longest, fullest, bytes.checked_div(elements).unwrap_or(0))
    }

    /// What is known of the operator. Until that is anything, it allows all.
    fn properties(&self) -> OperatorProperties {
        let operator = self.known_operator();
        operator.map_or(OperatorProperties::ANY, |operator| OperatorProperties {
            commutes: operator.commutes,
            exact: operator.exact,
            built_in: operator.built_in,
            idempotent: operator.idempotent,
        })
    }

    /// The private communicator, or what a promise makes of there being no room for it.
    fn as_promised(&self, private: Result<Comm, Stop>, state: &State) -> Result<Comm, Stop> {
        if let Err(Stop::Host(Why::NoRoom)) = private {
            // A promise is not broken for want of room. Of an exact operator the host has the same bits.
            if !self.is_exact() {
                if !state.config().reproducible.is_kept_by_host() {
                    return Err(Stop::Error(Code::no_mem()));
                }
                state.report_bits_of_host(host::host(), self.collective());
            }
        }
        private
    }

    /// Elements of the result of a rank that gets one, of vectors of so many.
    fn result(&self, rank: u32, total: u64) -> u64 {
        match self.which() {
            ReductionOp::ReduceScatter | ReductionOp::ReduceScatterBlock => {
                self.count(rank).unwrap_or(0)
            }
            ReductionOp::Allreduce
            | ReductionOp::Reduce
            | ReductionOp::Scan
            | ReductionOp::Exscan => total,
        }
    }

    /// Who gets what of the result.
    fn reducing(&self) -> Reducing {
        let reducing = self.collective().family().reducing();
        reducing.expect("the collective reduces")
    }
}

/// A longer reduction on one node, before there is a ring, counts as so many short ones.
const LONG_CALL: u32 = 4;

/// Short reductions on a new communicator.
impl Reduction {
    /// Is this a short reduction that is Rondo's by the built-in choice? Which of two ways with the same bits it goes
    /// may have been measured, or be on trial.
    fn is_short_over_nodes(&self, plan: &Plan, state: &State) -> bool {
        let Choice::Rondo(Method {
            algorithm,
            form,
            why: Why::Auto | Why::Trial | Why::Measured,
            ..
        }) = plan.choice
        else {
            return false;
        };
        let is_short = match self.is_exact() {
            // The host has the same bits.
            true => {
                let short = [
                    Algorithm::Gather,
                    Algorithm::Census,
                    Algorithm::Postal,
                    Algorithm::Halving,
                    Algorithm::Doubling,
                ];
                short.contains(&algorithm) && plan.bytes < LEAST_BYTES
            }
            // Halving has the bits of a gather.
            false => {
                let in_order = state.config().reproducible == Reproducible::Order;
                let known = Some(plan.bytes);
                self.reducing() == Reducing::All
                    && [Algorithm::Gather, Algorithm::Halving].contains(&algorithm)
                    && (form != Form::Flat || (state.widest() == 1 && !in_order))
                    && self.ask(known, state, |problem| problem.is_short_for_all())
            }
        };
        is_short && state.nodes() > 1 && self.known_operator().is_some_and(|op| op.built_in)
    }

    /// Does it have the same bits with and without a private communicator?
    fn may_do_without(&self, plan: &Plan, state: &State) -> bool {
        self.is_short_over_nodes(plan, state) || self.is_short_on_node(plan, state)
    }

    /// Is it one by an inexact operator on one node, and so short that for a few calls the host may gather its vectors:
    /// the ring takes longer to make? Under other promises than that for a run the first of them makes the ring, which
    /// later ones need.
    fn is_short_on_node(&self, plan: &Plan, state: &State) -> bool {
        let Choice::Rondo(Method {
            algorithm: Algorithm::Gather | Algorithm::Halving,
            form: Form::Nodes { .. },
            why: Why::Auto,
            ..
        }) = plan.choice
        else {
            return false;
        };
        state.nodes() == 1
            && state.may_have_private()
            && state.config().reproducible == Reproducible::Run
            && self.reducing() == Reducing::All
            && !self.is_exact()
            && self.known_operator().is_some_and(|op| op.built_in)
            && self.ask(Some(plan.bytes), state, |problem| {
                problem.is_short_at_first()
            })
    }

    /// Are the bits the same in every order?
    pub(super) fn is_exact(&self) -> bool {
        self.known_operator().is_some_and(|op| op.exact)
    }

    /// Carries it out without a private communicator, with the same bits: by the host where these are the same, or else
    /// the host gathers, and every rank reduces.
    fn without_private(&self, plan: &Plan, mpi: &Mpi, state: &State) -> Result<(), Stop> {
        if self.is_exact() {
            state.count_short(1);
            return Err(Stop::Host(Why::SetUp));
        }
        debug_assert!(self.which() == ReductionOp::Allreduce);
        let calls = match self.ask(Some(plan.bytes), state, |problem| {
            problem.is_short_for_all()
        }) {
            true => 1,
            false => LONG_CALL,
        };
        let comm = mpi.own_self().unwrap_or(state.comm());
        let operands = looked_at(self.operands(mpi, comm))?;
        let buffers = self.buffers();
        state.count_short(calls);
        let topology = state.topology();
        let total = self.total(topology.p()).unwrap_or(0);
        // No lock is held while the host gathers: it may call the communicator's error handler.
        let (mut script, mut requests) = {
            let work = &mut *state.work.lock();
            (take(&mut work.script), take(&mut work.requests))
        };
        let places = state.places();
        reduce_gathered(&mut script, (topology.nodes(), places), total, |node| {
            topology.locals(node)
        });
        let run = Running {
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
        let area = run.reserve(&script, &mut requests, vectors, None);
        let area = area.map_err(lacking)?;
        stats::count(self.collective(), plan.choice, plan.bytes);
        let serial = state.serial();
        self.gather_by_host(host::host(), &operands, &buffers, area)
            .map_err(Stop::Raised)?;
        if !comm::is_alive(serial) {
            return Err(Stop::Raised(Code::intern())); // the handler freed it and came back with success
        }
        run.carry_out(&script, &mut requests, area)?;
        finish(&operands, &buffers, &mut script, (&mut requests, area))?;
        let work = &mut *state.work.lock();
        (work.script, work.requests) = (script, requests);
        Ok(())
    }
}
