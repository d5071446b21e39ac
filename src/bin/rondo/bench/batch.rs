//! Calls by several sides in turns, and whether their answers are right.
//!
//! A batch is a number of calls, each followed by a barrier of the host: without it ranks run ahead of each other, and
//! calls overlap. Its time is that of the slowest rank, barriers included. Batches are long, because a rank that starts
//! its clock late finds the work done, where ranks share a core. The sides take turns, and their order is reversed each
//! time, so that whatever else the machine does hits both.

#![forbid(unsafe_code)]

use super::data::{GAP, data, expected, gaps_are_left};
use crate::{
    Failure, collectives,
    mpi::{Call, Mpi, Side},
};
use rondo::collective::{Collective, Family};
use std::time::Instant;

/// How long a batch shall last at least, and how many calls it has at most.
const BATCH_SECONDS: f64 = 2e-3;
const CALLS_MAX: usize = 1000;

/// How often something is measured.
pub struct Plan {
    pub warm_up: usize,
    pub batches: usize,
    /// Look at every answer, not only at the first ones.
    pub check: bool,
}

/// Seconds of a call in a batch: of the slowest rank with the barrier, and of the root without.
pub struct Batch {
    pub slowest: f64,
    pub root: f64,
}

/// Microseconds of a call by one side, in each batch.
#[derive(Clone, Default)]
pub struct Series {
    pub times: Vec<f64>,
    pub roots: Vec<f64>,
}

/// The memory of a call, and which data are in it.
pub struct Bench<'a> {
    pub(super) mpi: &'a Mpi,
    pub(super) call: &'a Call<'a>,
    pub(super) own: Vec<u8>,
    pub(super) all: Vec<u8>,
    pub(super) seed: u64,
}

impl<'a> Bench<'a> {
    /// Memory for a call.
    pub fn new(mpi: &'a Mpi, call: &'a Call) -> Bench<'a> {
        let is_root = mpi.rank == call.root;
        let (own, all) = collectives::elements(
            call.collective,
            call.blocks,
            mpi.rank,
            (is_root, call.in_place),
        );
        let elements = |count: usize| vec![GAP; count * call.datatype.extent];
        Bench {
            own: elements(own),
            all: elements(all),
            mpi,
            call,
            seed: 0,
        }
    }

    /// How many calls last long enough by the slowest side. All ranks find the same.
    pub fn calibrate(&mut self, sides: &[Side]) -> Result<usize, Failure> {
        let mut calls = 1;
        loop {
            let mut slowest: f64 = 0.0;
            for &side in sides {
                slowest = slowest.max(self.batch(side, calls, false)?.slowest);
            }
            let needed = (BATCH_SECONDS / slowest).ceil().max(1.0);
            if needed <= calls as f64 {
                return Ok(needed as usize);
            }
            if calls == CALLS_MAX {
                return Ok(calls);
            }
            calls = (calls * 4).min(CALLS_MAX);
        }
    }

    /// Batches of so many calls by each side in turns. `warm` is called when those to warm up are over.
    pub fn turns(
        &mut self,
        sides: &[Side],
        calls: usize,
        plan: &Plan,
        warm: impl FnOnce(),
    ) -> Result<Vec<Series>, Failure> {
        let mut series = vec![Series::default(); sides.len()];
        let mut warm = Some(warm);
        for i in 0..plan.warm_up + plan.batches {
            if i == plan.warm_up
                && let Some(warm) = warm.take()
            {
                warm();
            }
            for turn in 0..sides.len() {
                let which = match i % 2 {
                    0 => turn,
                    _ => sides.len() - 1 - turn,
                };
                let batch = self.batch(sides[which], calls, plan.check)?;
                if i >= plan.warm_up {
                    series[which].times.push(batch.slowest * 1e6);
                    series[which].roots.push(batch.root * 1e6);
                }
            }
        }
        Ok(series)
    }

    /// Does this algorithm of Rondo's carry the call out if it is told to, by its counter? Looks at the answer as well.
    /// All ranks find the same.
    pub fn is_carried_out(&mut self, algorithm: &str, side: Side) -> Result<bool, Failure> {
        let before = self.mpi.calls(self.call.collective, algorithm);
        self.batch(side, 1, true)?;
        let counted = self.mpi.calls(self.call.collective, algorithm);
        let mut elsewhere = [f64::from(u8::from(counted == before))];
        self.mpi.largest(&mut elsewhere)?;
        Ok(elsewhere[0] == 0.0)
    }

    /// A number of calls by one side.
    pub fn batch(&mut self, side: Side, calls: usize, check: bool) -> Result<Batch, Failure> {
        let (mut total, mut inside, mut wrong) = (0.0, 0.0, false);
        if !check {
            self.mpi.barrier()?;
        }
        for _ in 0..calls {
            if check {
                self.fill();
                self.mpi.barrier()?;
            }
            let start = Instant::now();
            self.mpi
                .call(side, self.call, &mut self.own, &mut self.all)?;
            inside += start.elapsed().as_secs_f64();
            self.mpi.barrier()?;
            total += start.elapsed().as_secs_f64();
            wrong |= check && !self.is_right();
        }
        let rank = self.mpi.rank;
        let root = if rank == self.call.root { inside } else { 0.0 };
        let wrong = if wrong { rank as f64 + 1.0 } else { 0.0 };
        let mut numbers = [total, root, wrong];
        self.mpi.largest(&mut numbers)?;
        let [slowest, root, wrong] = numbers;
        if wrong > 0.0 {
            return Err(self.complaint(side, wrong as usize - 1));
        }
        Ok(Batch {
            slowest: slowest / calls as f64,
            root: root / calls as f64,
        })
    }

    fn complaint(&self, side: Side, rank: usize) -> Failure {
        let by = match side {
            Side::Host => "the MPI library",
            Side::Rondo | Side::Under(_) => "Rondo",
        };
        Failure::Failed(format!(
            "wrong data on rank {rank}: {} of {} bytes in all, by {by}",
            self.call.collective.name(),
            self.call.blocks.total() * self.call.datatype.size
        ))
    }

    /// Is this rank's block in its place among all of them, or where its own block is?
    pub(super) fn is_in_place(&self) -> bool {
        let call = self.call;
        call.in_place && (self.mpi.rank == call.root || !call.collective.family().has_root())
    }

    /// Puts new data where the call takes them from, and what is wrong in every byte where it puts them.
    fn fill(&mut self) {
        self.seed += 1;
        if self.call.collective.family().reduces() {
            return self.fill_vectors();
        }
        if self.call.collective.family().is_exchange() {
            return self.fill_blocks();
        }
        let (rank, in_place) = (self.mpi.rank, self.is_in_place());
        let (blocks, size) = (self.call.blocks, self.call.datatype.size);
        let (from, to) = (
            blocks.before(rank),
            blocks.before(rank) + blocks.count(rank),
        );
        let scatter = self.is_scatter();
        let source = scatter || self.call.collective.family() == Family::Broadcast;
        let wrong = if source && rank == self.call.root {
            0
        } else {
            0xff
        };
        let seed = self.seed;
        for (place, byte) in data(&mut self.all, size) {
            let own = in_place && (from * size..to * size).contains(&place);
            *byte = expected(place, seed) ^ if own { 0 } else { wrong };
        }
        let wrong = if scatter { 0xff } else { 0 };
        for (place, byte) in data(&mut self.own, size) {
            *byte = expected(from * size + place, seed) ^ wrong;
        }
    }

    /// Is the answer of the call right, and everything else as it was?
    fn is_right(&mut self) -> bool {
        if self.call.collective.family().reduces() {
            return self.is_reduced();
        }
        if self.call.collective.family().is_exchange() {
            return self.is_exchanged();
        }
        let (size, seed) = (self.call.datatype.size, self.seed);
        let from = self.call.blocks.before(self.mpi.rank) * size;
        let unused = self.is_in_place() && self.is_scatter();
        let all = data(&mut self.all, size).all(|(place, byte)| *byte == expected(place, seed));
        let own = unused
            || data(&mut self.own, size).all(|(place, byte)| *byte == expected(from + place, seed));
        let gaps = size == 1 || (gaps_are_left(&self.all) && gaps_are_left(&self.own));
        all && own && gaps
    }

    fn is_scatter(&self) -> bool {
        matches!(
            self.call.collective,
            Collective::Scatter | Collective::Scatterv
        )
    }
}
