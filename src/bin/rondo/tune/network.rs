//! The cost model's numbers for this machine: messages between two ranks, there and back.

#![forbid(unsafe_code)]

use crate::{Failure, bench::report::Node, mpi::Mpi};
use rondo::network::{Network, START};
use std::time::Instant;

/// Messages there and back of each length, and how many of them are not counted.
const ROUNDS: usize = 50;
const WARM_UP: usize = 5;

/// A short message, and two long ones: what their bytes add is the link's part.
const SHORT: usize = 8;
const LONG: [usize; 2] = [64 << 10, 512 << 10];

/// What a message between two ranks takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Microseconds of a short one.
    pub alpha_us: f64,
    /// Nanoseconds that each 1024 bytes add.
    pub beta_ns_per_kb: f64,
}

/// Between rank 0 and another node, and within its node, where there are such ranks.
pub fn measure(mpi: &Mpi, nodes: &[Node]) -> Result<[Option<Link>; 2], Failure> {
    let far = nodes.get(1).map(|node| node.ranks[0]);
    let near = nodes[0].ranks.get(1).copied();
    let mut links = [None; 2];
    for (link, partner) in links.iter_mut().zip([far, near]) {
        if let Some(partner) = partner {
            *link = Some(between(mpi, partner)?);
        }
    }
    Ok(links)
}

/// As the model has it, with this share of a short message that its sender spends.
pub fn of([between, inside]: [Option<Link>; 2], gap_share: f64) -> Network {
    let alpha = |link: Option<Link>| link.map(|link| link.alpha_us);
    let beta = |link: Option<Link>| link.map(|link| link.beta_ns_per_kb);
    let known = Network {
        alpha_us: alpha(between),
        gap_us: alpha(between).map(|alpha| gap_share * alpha),
        beta_ns_per_kb: beta(between),
        node_alpha_us: alpha(inside),
        node_beta_ns_per_kb: beta(inside),
    };
    known.or(&START)
}

fn between(mpi: &Mpi, partner: usize) -> Result<Link, Failure> {
    let short = one_way_us(mpi, partner, SHORT)?;
    let long = [
        one_way_us(mpi, partner, LONG[0])?,
        one_way_us(mpi, partner, LONG[1])?,
    ];
    let kilobytes = (LONG[1] - LONG[0]) as f64 / 1024.0;
    Ok(Link {
        alpha_us: short,
        beta_ns_per_kb: ((long[1] - long[0]) * 1e3 / kilobytes).max(0.0),
    })
}

/// Microseconds of a message of so many bytes, at best. The same on all ranks.
fn one_way_us(mpi: &Mpi, partner: usize, bytes: usize) -> Result<f64, Failure> {
    let mut message = vec![0; bytes];
    let mut best = f64::MAX;
    for round in 0..WARM_UP + ROUNDS {
        let start = Instant::now();
        mpi.ping(partner, &mut message)?;
        if round >= WARM_UP {
            best = best.min(start.elapsed().as_secs_f64());
        }
    }
    // The others only waited.
    let mut best = [if mpi.rank == 0 { best } else { 0.0 }];
    mpi.largest(&mut best)?;
    Ok(best[0] * 1e6 / 2.0)
}
