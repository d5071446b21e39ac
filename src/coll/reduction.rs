//! `MPI_Allreduce`, `MPI_Reduce`, `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`, `MPI_Scan` and `MPI_Exscan`.

#![forbid(unsafe_code)]

use super::nodes::shares;
use super::room::{VECTORS, lacking, of_all};
use super::running::{PIECE_BYTES, Running, finish, trim};
use super::slots::Inside;
use super::writing::{Writing, members};
use super::{Operation, Plan, Rest, Stop, context, enter_and_agree, looked_at};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, Reducing};
use crate::decide::{self, Choice, Method, OperatorProperties, SLOT_UNIT_MAX, Why};
use crate::group::{State, Work};
use crate::host::{
    Area, Buffers, Mpi, Reduction, ReductionOp, Requests, SlotVectors, Vectors, call_tag,
};
use crate::script::Script;

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

    fn depends_on_order(&self, mpi: &Mpi) -> bool {
        self.look_at_operator(mpi).is_some() && !self.is_exact()
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
        let channel = state.channel();
        let (p, rank) = (state.p(), state.rank());
        let root = self.root(p).unwrap_or(0);
        let gets = self.gets(rank);
        let buffers = self.buffers();
        let mut operands = looked_at(self.operands(mpi, channel.comm))?;
        let work = &mut *state.work();
        // Whether there is a segment, all ranks of all nodes know. Without one, messages give the same bits.
        let unit = operands.unit();
        let shares = unit <= SLOT_UNIT_MAX && shares(method.form, state);
        let sequence = enter_and_agree(self, (method, plan), work, mpi, state)?;
        if shares {
            operands.reserve_apart().map_err(lacking)?;
        }
        if !shares && state.facts.widest > 1 {
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
            channel,
            tag: call_tag(words, channel.tags),
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
                most: state.facts.eager_bytes.min(PIECE_BYTES) / operands.bytes(1).max(1),
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
        let shadow = match state.gpu_may_come {
            false => shadow.map_err(lacking)?,
            true => of_all(shadow, plan.bytes, mpi, state)?,
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
        let memory = nodes.memory.as_mut().filter(|_| writing.shares);
        let mut inside = memory.map(|memory| Inside {
            run,
            sequence: self.sequence,
            memory,
        });
        let is_one_node = run.state.facts.nodes == 1;
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
        let area = of_all(area, bytes, mpi, state);
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

impl Reduction {
    /// Are the bits the same in every order?
    pub(super) fn is_exact(&self) -> bool {
        self.known_operator().is_some_and(|op| op.exact)
    }
}
