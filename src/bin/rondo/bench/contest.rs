//! Calls by several sides in turns, and whether their answers are right.
//!
//! A batch is a number of calls, each followed by a barrier of the host: without it ranks run ahead of each other, and
//! calls overlap. Its time is that of the slowest rank, barriers included. Batches are long, because a rank that starts
//! its clock late finds the work done, where ranks share a core. The sides take turns, and their order is reversed each
//! time, so that whatever else the machine does hits both.

#![forbid(unsafe_code)]

use super::answers::Answers;
use crate::{
    Failure,
    mpi::{Call, Mpi, Side},
};
use std::time::Instant;

/// How long a batch shall last at least, and how many calls it has at most.
const BATCH_SECONDS: f64 = 2e-3;
const CALLS_MAX: usize = 1000;

/// A call that several sides carry out, and its memory.
pub struct Contest<'a> {
    mpi: &'a Mpi,
    call: &'a Call<'a>,
    own: Vec<u8>,
    all: Vec<u8>,
    /// How many answers were looked at: each has other data.
    checked: u64,
    /// Look at every answer, not only at the first ones.
    checks_all: bool,
}

impl<'a> Contest<'a> {
    /// Memory for a call.
    pub fn new(mpi: &'a Mpi, call: &'a Call, checks_all: bool) -> Contest<'a> {
        let (own, all) = call.elements(mpi.rank);
        Contest {
            mpi,
            call,
            own: vec![0; own * call.element_bytes()],
            all: vec![0; all * call.element_bytes()],
            checked: 0,
            checks_all,
        }
    }

    /// How many calls last long enough by the slowest side. All ranks find the same.
    pub fn calibrate(&mut self, sides: &[Side]) -> Result<usize, Failure> {
        let mut calls = 1;
        loop {
            let mut slowest: f64 = 0.0;
            for &side in sides {
                slowest = slowest.max(self.batch(side, calls, false)?);
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

    /// Batches of so many calls by each side in turns: microseconds of a call in each.
    pub fn turns(
        &mut self,
        sides: &[Side],
        calls: usize,
        batches: usize,
    ) -> Result<Vec<Vec<f64>>, Failure> {
        let mut series = vec![Vec::new(); sides.len()];
        for i in 0..batches {
            for turn in 0..sides.len() {
                let which = match i % 2 {
                    0 => turn,
                    _ => sides.len() - 1 - turn,
                };
                let seconds = self.batch(sides[which], calls, self.checks_all)?;
                series[which].push(seconds * 1e6);
            }
        }
        Ok(series)
    }

    /// Seconds of one call, if this algorithm of Rondo's carries it out when it is told to, by its counter. Looks at
    /// the answer as well. All ranks find the same.
    pub fn seconds_of(&mut self, algorithm: &str, side: Side) -> Result<Option<f64>, Failure> {
        let before = self.mpi.calls(self.call.collective, algorithm);
        let seconds = self.batch(side, 1, true)?;
        let counted = self.mpi.calls(self.call.collective, algorithm);
        let mut elsewhere = [f64::from(u8::from(counted == before))];
        self.mpi.largest(&mut elsewhere)?;
        Ok(Some(seconds).filter(|_| elsewhere[0] == 0.0))
    }

    /// Seconds of a call on the slowest rank, with the barrier, in a number of calls by one side.
    pub fn batch(&mut self, side: Side, calls: usize, check: bool) -> Result<f64, Failure> {
        let (mut total, mut wrong) = (0.0, false);
        if !check {
            self.mpi.barrier()?;
        }
        let (rank, ranks) = (self.mpi.rank, self.mpi.ranks);
        for _ in 0..calls {
            let answers = check.then(|| {
                self.checked += 1;
                Answers::new(self.call, rank, ranks, self.checked)
            });
            if let Some(answers) = &answers {
                answers.prepare(&mut self.own, &mut self.all);
                self.mpi.barrier()?;
            }
            let start = Instant::now();
            self.mpi
                .call(side, self.call, &mut self.own, &mut self.all)?;
            self.mpi.barrier()?;
            total += start.elapsed().as_secs_f64();
            wrong |= answers.is_some_and(|answers| !answers.are_in(&self.own, &self.all));
        }
        let wrong = if wrong { rank as f64 + 1.0 } else { 0.0 };
        let mut numbers = [total, wrong];
        self.mpi.largest(&mut numbers)?;
        let [slowest, wrong] = numbers;
        if wrong > 0.0 {
            return Err(self.complaint(side, wrong as usize - 1));
        }
        Ok(slowest / calls as f64)
    }

    fn complaint(&self, side: Side, rank: usize) -> Failure {
        let by = match side {
            Side::Host => "the MPI library",
            Side::Rondo | Side::Under(_) => "Rondo",
        };
        Failure::Failed(format!(
            "wrong data on rank {rank}: {} of {} bytes in all, by {by}",
            self.call.collective.name(),
            self.call.blocks.total() * self.call.element_bytes()
        ))
    }
}
