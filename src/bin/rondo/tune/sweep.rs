//! One collective by all who can carry it out.

#![forbid(unsafe_code)]

use super::choose::{Candidate, HOST, best, candidates, far};
use crate::{
    Failure,
    bench::{
        batch::{Bench, Plan},
        cases::Case,
        times::Times,
    },
    model::{PRESETS, Question},
    mpi::{Call, Comm, Mpi, Side},
};
use rondo::{
    collective::{Collective, Family},
    config::Config,
    network::Network,
};

/// Candidates that are left after a first look.
const FINALISTS: usize = 3;

/// Where Rondo is tuned, as far as the model has to know.
#[derive(Clone, Copy)]
pub struct Place {
    pub nodes: u32,
    /// What the network may be like.
    pub networks: [Network; 2],
}

/// Candidates for a collective, each with a communicator on which it has all calls.
pub struct Sweep<'a> {
    mpi: &'a Mpi,
    collective: Collective,
    batches: usize,
    place: Place,
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
    pub fn new(
        mpi: &'a Mpi,
        collective: Collective,
        batches: usize,
        place: Place,
    ) -> Result<Sweep<'a>, Failure> {
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
            place,
            ratios: vec![Vec::new(); candidates.len()],
            candidates,
        })
    }

    pub fn is_of(&self, collective: Collective) -> bool {
        self.collective == collective
    }

    /// Do all ranks know the size of a call, so that rules can bound it? A barrier has none.
    pub fn knows_size(&self) -> bool {
        let family = self.collective.family();
        family.knows_bytes() || (!self.collective.is_irregular() && family != Family::Barrier)
    }

    /// Measures calls of one size. The same result on all ranks.
    pub fn measure(&mut self, group: &[&Case]) -> Result<Winner, Failure> {
        let op = group[0].op;
        let datatype = op.map_or_else(|| self.mpi.byte(), |op| self.mpi.elements(op));
        let mut calls: Vec<Call> = Vec::new();
        for case in group {
            calls.push(Call {
                collective: self.collective,
                blocks: &case.blocks,
                datatype: &datatype,
                op,
                root: 0,
                in_place: false,
            });
        }
        let finalists = self.finalists(&calls, group[0].size)?;
        let plan = Plan {
            warm_up: 1,
            batches: self.batches,
            check: false,
        };
        let mut sides = vec![Side::Host];
        sides.extend(
            finalists
                .iter()
                .map(|&i| Side::Under(&self.candidates[i].1)),
        );
        let mut times = vec![];
        for call in &calls {
            let mut bench = Bench::new(self.mpi, call);
            let calls = bench.calibrate(&sides)?;
            let series = bench.turns(&sides, calls, &plan, || ())?;
            let medians = series.iter().map(|series| Times::of(&series.times).median);
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
    fn finalists(&self, calls: &[Call], size: u64) -> Result<Vec<usize>, Failure> {
        let bytes = |call: &Call| (call.blocks.total() * call.datatype.size) as u64;
        let bytes = calls.iter().map(bytes).max().unwrap_or(0);
        let far = match self.knows_size() {
            true => self.far(size)?,
            false => Vec::new(),
        };
        let mut rated: Vec<(usize, f64)> = Vec::new();
        for (i, (candidate, comm)) in self.candidates.iter().enumerate() {
            if candidate.block_bytes >= bytes.max(1) || far.contains(&candidate.algorithm) {
                continue;
            }
            let mut sum = Some(0.0);
            for call in calls {
                let took = self.try_out(candidate, Side::Under(comm), call)?;
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

    /// The algorithms that the model finds much slower than the fastest one for calls of `size` bytes, whatever the
    /// network is like. What it cannot predict is none of them. The same on all ranks: rank 0 says it, as its options
    /// are those of a communicator.
    fn far(&self, size: u64) -> Result<Vec<&'static str>, Failure> {
        let all = self.collective.algorithms();
        let mut is_far = vec![0.0; all.len()];
        if self.mpi.rank == 0 {
            let times = (self.place.networks).map(|network| self.predicted_us(size, network));
            is_far = far(&times).into_iter().map(f64::from).collect();
        }
        self.mpi.largest(&mut is_far)?;
        let far = all.iter().zip(is_far).filter(|(_, is_far)| *is_far > 0.0);
        Ok(far.map(|(algorithm, _)| algorithm.name()).collect())
    }

    /// Microseconds of each algorithm by the model and by the options of this process, where it predicts any.
    fn predicted_us(&self, size: u64, network: Network) -> Vec<Option<f64>> {
        let (usual, config) = (&PRESETS[0], Config::load().config);
        let question = Question {
            collective: self.collective,
            ranks: self.mpi.ranks as u32,
            nodes: self.place.nodes,
            bytes: size,
            network,
            eager: usual.eager,
            gamma_ns_per_kb: 0.0,
            placed_bytes: usual.placed_bytes,
            copies_free: usual.copies_free,
            config: &config,
        };
        let answers = question.ask_all().into_iter();
        answers
            .map(|(_, answer)| Some(answer.ok()?.prediction.us))
            .collect()
    }

    /// Seconds of a call, or `None` if another algorithm carried it out. The same on all ranks.
    fn try_out(
        &self,
        candidate: &Candidate,
        side: Side,
        call: &Call,
    ) -> Result<Option<f64>, Failure> {
        let mut bench = Bench::new(self.mpi, call);
        if !bench.is_carried_out(candidate.algorithm, side)? {
            return Ok(None);
        }
        let first = bench.batch(side, 1, false)?.slowest;
        let second = bench.batch(side, 2, false)?.slowest;
        Ok(Some(first.min(second)))
    }
}
