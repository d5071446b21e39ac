//! `MPI_Alltoall`, `MPI_Alltoallv` and `MPI_Alltoallw`.

#![forbid(unsafe_code)]

mod irregular;
mod packed;

use super::order::filling;
use super::room::lacking;
use super::running::{limits, trim};
use super::{Operation, Plan, Rest, Stop, context, enter, enter_and_agree};
use crate::algorithm::{Algorithm, TotalExchangeAlgorithm};
use crate::collective::Collective;
use crate::decide::{Choice, Form, Method, TotalExchange, Why};
use crate::engine::{self, Execution, Limits};
use crate::group::{State, Work};
use crate::host::{
    Alltoall, AlltoallOp, Channel, Code, Failure, Mpi, MpiPairsWire, PairsJob, Requests, Side,
    Sides,
};
use crate::schedule::Grid;
use crate::script::{Group, Script, pairs};
use crate::stats;
use packed::Route;

impl Operation for Alltoall {
    type Problem<'a> = TotalExchange<'a>;

    fn collective(&self) -> Collective {
        match self.op() {
            AlltoallOp::Alltoall => Collective::Alltoall,
            AlltoallOp::Alltoallv => Collective::Alltoallv,
            AlltoallOp::Alltoallw => Collective::Alltoallw,
        }
    }

    /// Bytes of this rank's blocks together.
    fn bytes(&self, mpi: &Mpi, state: &State) -> Option<u64> {
        let p = state.p();
        match self.op() {
            AlltoallOp::Alltoall => self.block_bytes(mpi)?.checked_mul(p.into()),
            AlltoallOp::Alltoallv | AlltoallOp::Alltoallw => self.sent_bytes(mpi, p),
        }
    }

    /// What only some ranks can know to be invalid does not count here.
    fn plan(&self, mpi: &Mpi, state: &State, plan: &mut Plan) -> Option<()> {
        if self.op() == AlltoallOp::Alltoall {
            let bytes = self.bytes(mpi, state)?;
            self.decide(Some(bytes), state, plan);
            return Some(());
        }
        self.decide(None, state, plan);
        // Where it is Rondo's, they are added up when their types have been looked at.
        let counts = match plan.choice {
            Choice::Host(_) => state.timed(),
            Choice::Rondo(_) => state.config().trace,
        };
        plan.bytes = match counts {
            true => self.bytes(mpi, state).unwrap_or(0),
            false => 0,
        };
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
        question: impl FnOnce(TotalExchange) -> T,
    ) -> T {
        question(TotalExchange {
            context: context(self.collective(), state),
            bytes: known,
        })
    }

    fn attempt(
        &self,
        method: Method,
        plan: &Plan,
        mpi: &Mpi,
        state: &State,
    ) -> Result<Choice, Stop> {
        let algorithm = match self.op() {
            AlltoallOp::Alltoall => method.algorithm.of_total_exchange(),
            AlltoallOp::Alltoallv | AlltoallOp::Alltoallw => {
                method.algorithm.of_irregular_exchange().into()
            }
        };
        let channel = state.channel();
        let work = &mut *state.work();
        let sequence = match plan.known {
            Some(_) => enter_and_agree(self, (method, plan), work, mpi, state)?,
            None => enter(work, mpi, state)?,
        };
        let exchange = Exchange {
            collective: self.collective(),
            sequence,
            sides: self.sides(mpi),
            mpi,
            channel,
            state,
        };
        check_own(&exchange.sides, mpi, state.rank())?;
        let choice = exchange.carry_out((algorithm, method.form), plan, work)?;
        trim(&mut work.script, &mut work.requests);
        Ok(choice)
    }

    fn describe(&self, plan: &Plan) -> String {
        match plan.known {
            Some(bytes) => format!("of {bytes} bytes of this rank"),
            None => "of any blocks".to_owned(),
        }
    }
}

/// Does this rank send itself what it receives from itself?
fn check_own(sides: &Sides, mpi: &Mpi, rank: u32) -> Result<(), Stop> {
    let bytes = |side: &Side| side.bytes(mpi, rank).unwrap_or(0);
    let (sends, expected) = (bytes(sides.sent()), bytes(&sides.receive));
    match sends == expected {
        true => Ok(()),
        false => Err(Stop::Broken(Failure::Contribution { sends, expected })),
    }
}

/// An exchange on this rank.
struct Exchange<'a> {
    collective: Collective,
    sequence: u64,
    sides: Sides,
    mpi: &'a Mpi,
    channel: Channel<'a>,
    state: &'a State,
}

impl Exchange<'_> {
    /// What all ranks agree on.
    fn facts(&self) -> [u64; 2] {
        [self.collective as u64, self.sequence]
    }

    /// Carries it out. Gives the choice in effect.
    fn carry_out(
        &self,
        (algorithm, form): (TotalExchangeAlgorithm, Form),
        plan: &Plan,
        work: &mut Work,
    ) -> Result<Choice, Stop> {
        let Work {
            nodes,
            script,
            requests,
            ..
        } = work;
        let (p, means) = (self.state.p(), (script, requests));
        let route = match (algorithm, form) {
            (TotalExchangeAlgorithm::Linear | TotalExchangeAlgorithm::FullLane, Form::Flat) => {
                return self.pairs(false, means, plan.choice);
            }
            (TotalExchangeAlgorithm::Pairwise, _) => return self.pairs(true, means, plan.choice),
            (TotalExchangeAlgorithm::Circulant, _) if plan.known.is_none() => {
                return self.irregular_with_room(means, plan.choice);
            }
            (TotalExchangeAlgorithm::Circulant, _) => Route::Circulant,
            (TotalExchangeAlgorithm::Hypercube, _) => Route::Grid(Grid::hypercube(p)),
            (TotalExchangeAlgorithm::Mesh, _) => Route::Grid(Grid::mesh(p)),
            (
                TotalExchangeAlgorithm::Linear | TotalExchangeAlgorithm::FullLane,
                Form::Nodes { lanes },
            ) => Route::Nodes(lanes, nodes.memory.as_mut()),
        };
        let count = || stats::count(self.collective, plan.choice, plan.bytes);
        self.packed(route, plan.bytes, means, count)?;
        Ok(plan.choice)
    }

    /// Of blocks of any sizes: on the circulant graph, or each straight to its rank if some rank has no room for what
    /// passes through it.
    fn irregular_with_room(
        &self,
        (script, requests): (&mut Script, &mut Requests),
        choice: Choice,
    ) -> Result<Choice, Stop> {
        if self.irregular((&mut *script, &mut *requests), choice)? {
            return Ok(choice);
        }
        let straight = Choice::Rondo(Method {
            algorithm: Algorithm::Pairwise,
            form: Form::Flat,
            blocks: 1,
            why: Why::Memory,
        });
        self.pairs(true, (script, requests), straight)
    }

    /// Of blocks of any sizes, each straight to its rank: one at a time each way, or many. It counts as this choice.
    fn pairs(
        &self,
        one_at_a_time: bool,
        (script, requests): (&mut Script, &mut Requests),
        choice: Choice,
    ) -> Result<Choice, Stop> {
        let (mpi, state, p) = (self.mpi, self.state, self.state.p());
        let config = state.config();
        let bytes = |side: &Side, rank| side.bytes(mpi, rank).unwrap_or(0);
        let sent = (0..p).map(|rank| bytes(self.sides.sent(), rank));
        let received = (0..p).map(|rank| bytes(&self.sides.receive, rank));
        // Every message is a single block.
        script.begin(1, sent.chain(received));
        let longest = script.cut().longest();
        let many = filling(limits(state), requests, longest, state);
        let limits = match one_at_a_time {
            true => Limits {
                receives: RECEIVES,
                sends: 1,
                ..many
            },
            false => many,
        };
        let copies = self.sides.send.is_none().then(|| {
            let most = config.max_tmp_size / longest.max(1);
            // The next block is copied while one is on its way.
            (limits.sends.max(2) - 1).min(most.try_into().unwrap_or(u32::MAX))
        });
        pairs(script, &Group::all(p, state.rank()), copies);
        requests.reserve_pairs(&limits, p).map_err(lacking)?;
        stats::count(self.collective, choice, script.cut().count(&(0..p)));
        let own = self.sides.copy_own(mpi, self.channel.comm, state.rank());
        let failed = |code: Code| Failure::Host(code, "copying a block");
        own.map_err(|code| Stop::Broken(failed(code)))?;
        let job = PairsJob {
            mpi,
            channel: self.channel,
            facts: self.facts(),
            sides: &self.sides,
            cut: script.cut(),
        };
        let mut wire = MpiPairsWire::new(job, requests);
        let done = engine::run(Execution::new(script, limits), &mut wire);
        done.map(|_| choice).map_err(Stop::Broken)
    }
}

/// Receives of an exchange with one rank after the other: the next one is posted while the last block comes.
const RECEIVES: u32 = 2;
