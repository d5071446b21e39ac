//! Which rows there are.

#![forbid(unsafe_code)]

use super::dist::Dist;
use crate::{
    Failure,
    mpi::{Blocks, Op},
};
use rondo::collective::{Collective, Family};

/// What is asked for.
pub struct Wanted<'a> {
    pub collectives: &'a [Collective],
    pub sizes: &'a [u64],
    /// Of the irregular collectives.
    pub dists: &'a [Dist],
    /// Of those that reduce.
    pub op: Op,
}

/// What one row is about.
pub struct Case {
    pub collective: Collective,
    pub dist: Option<Dist>,
    pub op: Option<Op>,
    pub size: u64,
    pub blocks: Blocks,
}

/// All rows in their order, without those whose blocks would be empty.
pub fn cases(wanted: &Wanted, ranks: usize) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for &collective in wanted.collectives {
        let family = collective.family();
        let dists: Vec<Option<Dist>> = match collective.is_irregular() {
            true => wanted.dists.iter().copied().map(Some).collect(),
            false => vec![None],
        };
        let op = family.reduces().then_some(wanted.op);
        // A barrier has no size.
        let sizes = match family {
            Family::Barrier => &wanted.sizes[..1],
            _ => wanted.sizes,
        };
        for &dist in &dists {
            for &size in sizes {
                let total = elements(collective, size, ranks as u64, op);
                if total == 0 {
                    continue;
                }
                let parts = dist.unwrap_or(Dist::Same).parts(ranks, total);
                let blocks = Blocks::new(&parts).ok_or_else(|| {
                    let name = collective.name();
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
    if cases.is_empty() {
        return Err(Failure::Usage("the sizes are too small for any row".into()));
    }
    Ok(cases)
}

/// Elements of all blocks in a row.
fn elements(collective: Collective, size: u64, ranks: u64, op: Option<Op>) -> u64 {
    let element_bytes = op.map_or(1, Op::bytes) as u64;
    let (total, has_blocks) = match collective.family() {
        Family::Rooted => (size * ranks, true),
        Family::AllBroadcast
        | Family::ScatteredReduction
        | Family::TotalExchange
        | Family::IrregularExchange => (size / element_bytes, true),
        Family::Broadcast
        | Family::AllReduction
        | Family::Reduction
        | Family::Scan
        | Family::Barrier => (size / element_bytes, false),
    };
    if has_blocks && !collective.is_irregular() {
        // Blocks are equal.
        return total - total % ranks;
    }
    total
}
