//! Which rows there are.

#![forbid(unsafe_code)]

use super::{Args, dist::Dist};
use crate::{
    Failure,
    mpi::{Blocks, Collective},
};
use rondo::config;
use std::str::FromStr;

/// Sizes from MIN, each twice the one before, up to MAX.
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
    fn all(self) -> impl Iterator<Item = u64> {
        std::iter::successors(Some(self.0), |size| Some(size * 2))
            .take_while(move |&size| size <= self.1)
    }
}

/// What one row is about.
pub struct Case {
    pub collective: Collective,
    pub dist: Option<Dist>,
    pub size: u64,
    pub blocks: Blocks,
}

/// All rows in their order, without those whose blocks would be empty.
pub fn cases(args: &Args, ranks: usize, element: u64) -> Result<Vec<Case>, Failure> {
    let (mut cases, n) = (Vec::new(), ranks as u64);
    for &collective in &args.collectives {
        let dists: Vec<Option<Dist>> = match collective.is_irregular() {
            true => args.dist.iter().copied().map(Some).collect(),
            false => vec![None],
        };
        for dist in dists {
            for size in args.sizes.all() {
                let each = if collective.size_is_total() { 1 } else { n };
                let mut total = size * each / element;
                if !collective.is_irregular() && collective != Collective::Bcast {
                    total -= total % n;
                }
                if total == 0 || size < element {
                    continue;
                }
                let parts = dist.unwrap_or(Dist::SAME).parts(ranks, total);
                let blocks = Blocks::new(&parts).ok_or_else(|| {
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
