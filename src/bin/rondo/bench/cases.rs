//! Which rows there are.

#![forbid(unsafe_code)]

use super::dist::Dist;
use crate::{Failure, mpi::CountsAndDispls};
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
}

/// What one row is about.
pub struct Case {
    pub collective: Collective,
    pub dist: Option<Dist>,
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

/// All rows in their order, without those whose blocks would be empty.
pub fn cases(wanted: &Wanted, ranks: usize, element: u64) -> Result<Vec<Case>, Failure> {
    let (mut cases, n) = (Vec::new(), ranks as u64);
    for &collective in wanted.collectives {
        let dists: Vec<Option<Dist>> = match collective.is_irregular() {
            true => wanted.dists.iter().copied().map(Some).collect(),
            false => vec![None],
        };
        // A barrier has no size.
        let rows = match collective.family() {
            Family::Barrier => 1,
            Family::Broadcast
            | Family::AllBroadcast
            | Family::Rooted
            | Family::AllReduction
            | Family::Reduction
            | Family::ScatteredReduction
            | Family::Scan
            | Family::TotalExchange
            | Family::IrregularExchange => usize::MAX,
        };
        if collective.family().reduces() && element > 1 {
            let name = collective.name();
            return Err(Failure::Usage(format!(
                "{name}: operators reduce plain bytes only, not those of a vector"
            )));
        }
        for dist in dists {
            for size in wanted.sizes.all(wanted.step).take(rows) {
                let each = match collective.family() {
                    Family::Rooted => n,
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
                let mut total = size * each / element;
                if !collective.is_irregular() && has_equal_blocks(collective) {
                    total -= total % n;
                }
                if total == 0 || size < element {
                    continue;
                }
                let parts = dist.unwrap_or(Dist::SAME).parts(ranks, total);
                let blocks = CountsAndDispls::new(&parts).ok_or_else(|| {
                    let name = collective.name();
                    Failure::Usage(format!("{name}: {size} is too large, MPI cannot count it"))
                })?;
                cases.push(Case {
                    collective,
                    dist,
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
