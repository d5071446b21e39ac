//! One collective by all who can carry it out.

#![forbid(unsafe_code)]

use super::choose::{Candidate, HOST, best, candidates};
use crate::{
    Failure,
    bench::{cases::Case, contest::Contest, report::Times},
    mpi::{Call, Comm, Mpi, Side},
};
use rondo::collective::{Collective, Family};

/// Candidates that are left after a first look.
const FINALISTS: usize = 3;

/// Whose first call takes so many times as long as the fastest one's gets no second.
const FAR: f64 = 10.0;

/// Candidates for a collective, each with a communicator on which it has all calls.
pub struct Sweep<'a> {
    mpi: &'a Mpi,
    collective: Collective,
    batches: usize,
    candidates: Vec<(Candidate, Comm<'a>)>,
    /// How many times as long as the host each took in every case so far, where one choice is for all.
    ratios: Vec<Vec<Option<f64>>>,
}

/// The best at one size, and the times of the distribution that takes longest.
pub struct Winner {
    /// `None` if there was nobody but the host.
    pub candidate: Option<Candidate>,
    pub host_us: f64,
    pub best_us: f64,
}

impl<'a> Sweep<'a> {
    /// All ranks together.
    pub fn new(mpi: &'a Mpi, collective: Collective, batches: usize) -> Result<Sweep<'a>, Failure> {
        let candidates = candidates(collective);
        let candidates = candidates.into_iter().map(|candidate| {
            let Candidate {
                algorithm,
                block_bytes,
            } = candidate;
            Ok((
                candidate,
                mpi.by_algorithm(collective, algorithm, block_bytes)?,
            ))
        });
        let candidates = candidates.collect::<Result<Vec<_>, Failure>>()?;
        Ok(Sweep {
            mpi,
            collective,
            batches,
            ratios: vec![Vec::new(); candidates.len()],
            candidates,
        })
    }

    /// Do all ranks know the size of a call, so that rules can bound it? A barrier has none.
    pub fn knows_size(&self) -> bool {
        let family = self.collective.family();
        family.knows_bytes() || (!self.collective.is_irregular() && family != Family::Barrier)
    }

    /// Measures calls of one size. The same result on all ranks.
    pub fn measure(&mut self, group: &[&Case]) -> Result<Winner, Failure> {
        let calls = group.iter().map(|case| Call {
            collective: self.collective,
            blocks: &case.blocks,
            op: case.op,
        });
        let calls: Vec<Call> = calls.collect();
        let finalists = self.finalists(&calls)?;
        let mut sides = vec![Side::Host];
        sides.extend(
            finalists
                .iter()
                .map(|&i| Side::Under(&self.candidates[i].1)),
        );
        let mut times = vec![];
        for call in &calls {
            let mut contest = Contest::new(self.mpi, call, false);
            let calls = contest.calibrate(&sides)?;
            contest.turns(&sides, calls, 1)?;
            let series = contest.turns(&sides, calls, self.batches)?;
            let medians = series.iter().map(|series| Times::of(series).median);
            times.push(medians.collect::<Vec<f64>>());
        }
        let ratio_of = |place: usize| times.iter().map(move |times| Some(times[place] / times[0]));
        let best = if self.knows_size() {
            let ratios: Vec<_> = (1..sides.len())
                .map(|place| ratio_of(place).collect())
                .collect();
            best(&ratios).map(|place| finalists[place])
        } else {
            for (i, ratios) in self.ratios.iter_mut().enumerate() {
                match finalists.iter().position(|&finalist| finalist == i) {
                    Some(place) => ratios.extend(ratio_of(place + 1)),
                    None => ratios.extend(times.iter().map(|_| None)),
                }
            }
            best(&self.ratios)
        };
        let place = best.and_then(|i| finalists.iter().position(|&finalist| finalist == i));
        let place = place.map_or(0, |place| place + 1);
        let slowest = times.iter().max_by(|a, b| a[0].total_cmp(&b[0]));
        let slowest = slowest.expect("there is a case");
        Ok(Winner {
            candidate: (!finalists.is_empty()).then(|| best.map_or(HOST, |i| self.candidates[i].0)),
            host_us: slowest[0],
            best_us: slowest[place],
        })
    }

    /// The places of the candidates that are worth a closer look: those that carry the calls out, by
    /// their counters, and do it fast, by a few calls. Their answers are checked. Where one choice is for all sizes,
    /// they are all of them.
    fn finalists(&self, calls: &[Call]) -> Result<Vec<usize>, Failure> {
        let bytes = |call: &Call| (call.blocks.total() * call.element_bytes()) as u64;
        let bytes = calls.iter().map(bytes).max().unwrap_or(0);
        let mut fastest = vec![f64::MAX; calls.len()];
        let mut rated: Vec<(usize, f64)> = Vec::new();
        for (i, (candidate, comm)) in self.candidates.iter().enumerate() {
            if candidate.block_bytes >= bytes.max(1) {
                continue;
            }
            let mut sum = Some(0.0);
            for (call, fastest) in calls.iter().zip(&mut fastest) {
                let took = self.try_out(candidate, Side::Under(comm), call, fastest)?;
                sum = sum.and_then(|sum| Some(sum + took?));
            }
            rated.extend(sum.map(|sum| (i, sum)));
        }
        rated.sort_by(|a, b| a.1.total_cmp(&b.1));
        if self.knows_size() {
            rated.truncate(FINALISTS);
        }
        let mut finalists: Vec<usize> = rated.into_iter().map(|(i, _)| i).collect();
        finalists.sort_unstable();
        Ok(finalists)
    }

    /// Seconds of a call, or `None` if another algorithm carried it out, or it takes far longer than by the `fastest`
    /// so far. The same on all ranks.
    fn try_out(
        &self,
        candidate: &Candidate,
        side: Side,
        call: &Call,
        fastest: &mut f64,
    ) -> Result<Option<f64>, Failure> {
        let mut contest = Contest::new(self.mpi, call, false);
        let Some(first) = contest.seconds_of(candidate.algorithm, side)? else {
            return Ok(None);
        };
        if first > FAR * *fastest {
            return Ok(None);
        }
        let second = contest.batch(side, 1, false)?;
        let third = contest.batch(side, 2, false)?;
        *fastest = first.min(*fastest);
        Ok(Some(second.min(third)))
    }
}
