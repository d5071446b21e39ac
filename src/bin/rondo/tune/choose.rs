//! What is tried, and from times to rules. Pure.

#![forbid(unsafe_code)]

use rondo::algorithm::Algorithm;
use rondo::collective::Collective;
use rondo::rules::Rule;

/// A way of Rondo's to carry out a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub algorithm: &'static str,
    /// 0: as the cost model says.
    pub block_bytes: u64,
}

/// The MPI library, in rules.
pub const HOST: Candidate = Candidate {
    algorithm: "host",
    block_bytes: 0,
};

/// Sizes of blocks that are tried besides that of the cost model.
const BLOCKS: [u64; 4] = [4 << 10, 16 << 10, 64 << 10, 256 << 10];

/// The algorithms of a collective, and sizes of blocks for the one that all sizes of messages go by.
pub fn candidates(collective: Collective) -> Vec<Candidate> {
    let family = collective.family();
    // Between nodes of as many ranks, to which full-lane is confined then, halving is the same.
    let is_another =
        |it: Algorithm| it == Algorithm::FullLane && family.in_lanes(it) == Algorithm::Halving;
    let mut all = Vec::new();
    for &algorithm in collective.algorithms() {
        if is_another(algorithm) {
            continue;
        }
        // In an exchange no block is cut: the same calls would be measured several times, and the luckiest taken.
        let is_cut = !family.is_exchange();
        let blocks = match algorithm == Algorithm::Circulant && is_cut {
            true => &BLOCKS[..],
            false => &[],
        };
        let each = [0].iter().chain(blocks).map(|&block_bytes| Candidate {
            algorithm: algorithm.name(),
            block_bytes,
        });
        all.extend(each);
    }
    all
}

/// No candidate may take more times as long as the host in any case. What is less may be chance.
const SLOWER: f64 = 1.03;

/// Whoever is to take the host's place is faster by at least this on the average.
const FASTER: f64 = 0.97;

/// How many times as long as the host candidates take, each in several cases: the place of the best one, or `None` for
/// the host. Of those that are about as good, the first. A candidate without a time in a case cannot have it.
pub fn best(ratios: &[Vec<Option<f64>>]) -> Option<usize> {
    let averages = ratios.iter().map(|cases| average(cases));
    let rated: Vec<(usize, f64)> = averages
        .enumerate()
        .filter_map(|(i, r)| Some((i, r?)))
        .collect();
    let best = rated.iter().map(|(_, ratio)| *ratio).fold(FASTER, f64::min);
    let first = rated
        .iter()
        .find(|(_, ratio)| *ratio <= FASTER && ratio * FASTER <= best);
    first.map(|(i, _)| *i)
}

/// The geometric mean, if no ratio rules the candidate out.
fn average(cases: &[Option<f64>]) -> Option<f64> {
    let mut sum = 0.0;
    for ratio in cases {
        sum += ratio.filter(|ratio| *ratio <= SLOWER)?.ln();
    }
    (!cases.is_empty()).then(|| (sum / cases.len() as f64).exp())
}

/// What was found for one size of a collective, or for all sizes.
#[derive(Clone, Debug)]
pub struct Found {
    pub collective: &'static str,
    /// `None` where not all ranks know the size, so that there is one choice for all.
    pub size: Option<u64>,
    pub candidate: Candidate,
}

/// The rules for so many ranks on so many nodes. A choice holds around its size, halfway to the next one measured, or
/// to where the next one would be: nothing is known of sizes beyond.
pub fn rules(found: &[Found], ranks: u64, nodes: u64, step: u64) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for (i, this) in found.iter().enumerate() {
        let rule = Rule {
            comm_size_min: ranks,
            comm_size_max: ranks,
            nodes_min: nodes,
            nodes_max: nodes,
            ..Rule::all(
                this.collective,
                this.candidate.algorithm,
                this.candidate.block_bytes,
            )
        };
        let Some(size) = this.size else {
            rules.push(rule);
            continue;
        };
        let next = found
            .get(i + 1)
            .filter(|next| next.collective == this.collective);
        let most = match next.and_then(|next| next.size) {
            Some(next) => halfway(size, next),
            None => halfway(size, size.saturating_mul(step)),
        };
        match rules.last_mut() {
            Some(last) if last.collective == this.collective => {
                if (&last.algorithm, last.block_bytes) == (&rule.algorithm, rule.block_bytes) {
                    last.msg_size_max = most;
                } else {
                    let least = last.msg_size_max + 1;
                    rules.push(Rule {
                        msg_size_min: least,
                        msg_size_max: most,
                        ..rule
                    });
                }
            }
            _ => rules.push(Rule {
                msg_size_min: halfway(size / step, size) + 1,
                msg_size_max: most,
                ..rule
            }),
        }
    }
    rules
}

/// Halfway in the sense of ratios.
fn halfway(a: u64, b: u64) -> u64 {
    (a as f64 * b as f64).sqrt() as u64
}
