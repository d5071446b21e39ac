//! Which rows there are.

#![forbid(unsafe_code)]

use super::dist::Dist;
use crate::{
    Failure,
    mpi::{CountsAndDispls, Op},
};
use rondo::collective::{Collective, Family};
use rondo::config;
use std::str::FromStr;

/// Sizes from MIN up to MAX.
#[derive(Clone, Copy)]
pub struct Sizes(u64, u64);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Sizes, String> {
        let bytes = |text: &str| {
            config::bytes(text.trim(), 1 << 40).map_err(|why| format!("'{text}' {why}"))
        };
        let (min, max) = text.split_once(':').unwrap_or((text, text));
        match (bytes(min)?, bytes(max)?) {
            (0, _) => Err("sizes begin with 1".into()),
            (min, max) if min > max => Err("the first size is the larger one".into()),
            (min, max) => Ok(Sizes(min, max)),
        }
    }
}

impl Sizes {
    /// All of them, each `step` times the one before.
    pub fn all(self, step: u64) -> impl Iterator<Item = u64> {
        std::iter::successors(Some(self.0), move |size| Some(size * step))
            .take_while(move |&size| size <= self.1)
    }
}

/// What is asked for.
pub struct Wanted<'a> {
    pub collectives: &'a [Collective],
    pub sizes: Sizes,
    /// From a size to the next.
    pub step: u64,
    /// Of the irregular collectives.
    pub dists: &'a [Dist],
    /// Of those that reduce.
    pub ops: &'a [Op],
}

/// What one row is about.
pub struct Case {
    pub collective: Collective,
    pub dist: Option<Dist>,
    pub op: Option<Op>,
    pub size: u64,
    pub blocks: CountsAndDispls,
}

/// Has every rank a block of the same size?
fn has_equal_blocks(collective: Collective) -> bool {
    match collective.family() {
        Family::AllBroadcast
        | Family::Rooted
        | Family::ScatteredReduction
        | Family::TotalExchange
        | Family::IrregularExchange => true,
        Family::Broadcast
        | Family::AllReduction
        | Family::Reduction
        | Family::Scan
        | Family::Barrier => false,
    }
}

/// The distributions and operators with which a collective has rows.
fn kinds(wanted: &Wanted, collective: Collective) -> Vec<(Option<Dist>, Option<Op>)> {
    let dists: Vec<Option<Dist>> = match collective.is_irregular() {
        true => wanted.dists.iter().copied().map(Some).collect(),
        false => vec![None],
    };
    let ops: Vec<Option<Op>> = match collective.family().reduces() {
        true => wanted.ops.iter().copied().map(Some).collect(),
        false => vec![None],
    };
    let with = |op: Option<Op>| dists.iter().map(move |&dist| (dist, op));
    ops.into_iter().flat_map(with).collect()
}

/// Elements of all blocks in a row, of so many bytes each.
fn total(collective: Collective, size: u64, ranks: u64, element: u64) -> u64 {
    let each = match collective.family() {
        Family::Rooted => ranks,
        Family::Broadcast
        | Family::AllBroadcast
        | Family::AllReduction
        | Family::Reduction
        | Family::ScatteredReduction
        | Family::Scan
        | Family::Barrier
        | Family::TotalExchange
        | Family::IrregularExchange => 1,
    };
    let total = size * each / element;
    match !collective.is_irregular() && has_equal_blocks(collective) {
        true => total - total % ranks,
        false => total,
    }
}

/// All rows in their order, without those whose blocks would be empty. An element of what is not reduced has so many
/// bytes.
pub fn cases(wanted: &Wanted, ranks: usize, element: u64) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for &collective in wanted.collectives {
        let name = collective.name();
        // A barrier has no size.
        let rows = match collective.family() == Family::Barrier {
            true => 1,
            false => usize::MAX,
        };
        if collective.family().reduces() && element > 1 {
            let why = format!("{name}: --op says what is reduced, which is no vector");
            return Err(Failure::Usage(why));
        }
        for (dist, op) in kinds(wanted, collective) {
            let element = op.map_or(element, |op| op.bytes() as u64);
            for size in wanted.sizes.all(wanted.step).take(rows) {
                let total = total(collective, size, ranks as u64, element);
                if total == 0 || size < element {
                    continue;
                }
                let parts = dist.unwrap_or(Dist::SAME).parts(ranks, total);
                let blocks = CountsAndDispls::new(&parts).ok_or_else(|| {
                    Failure::Usage(format!("{name}: {size} is too large, MPI cannot count it"))
                })?;
                cases.push(Case {
                    collective,
                    dist,
                    op,
                    size,
                    blocks,
                });
            }
        }
    }
    match cases.is_empty() {
        true => Err(Failure::Usage("the sizes are too small for any row".into())),
        false => Ok(cases),
    }
}
