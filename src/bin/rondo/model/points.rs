//! Which calls the rows and the curves of `rondo model` are about.

#![forbid(unsafe_code)]

use super::Args;
use crate::Failure;
use rondo::collective::Family;
use rondo::config;
use std::str::FromStr;

/// A number as sizes are written.
#[derive(Clone, Copy)]
pub struct Size(u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        match config::bytes(text.trim(), 1 << 40).map_err(|why| format!("it {why}"))? {
            0 => Err("numbers begin with 1".into()),
            number => Ok(Size(number)),
        }
    }
}

pub const RANKS_MAX: u32 = 1 << 20;

/// A collective of so many bytes on a cluster.
#[derive(Clone, Copy)]
pub struct Point {
    pub ranks: u32,
    pub nodes: u32,
    pub bytes: u64,
}

/// What the rows are about, and what the curves are.
pub fn points(args: &Args, over_ranks: bool) -> Result<(Vec<Point>, Vec<Point>), Failure> {
    let usage = |what: String| Err(Failure::Usage(what));
    let p = u64::from(args.ranks);
    let nodes = args.nodes.map_or(p, u64::from);
    if nodes > p {
        return usage(format!("{nodes} nodes are more than {p} ranks"));
    }
    let mut sizes: Vec<u64> = args.bytes.iter().map(|bytes| bytes.0).collect();
    match args.collective.family() {
        Family::Barrier if !sizes.is_empty() => return usage("a barrier has no bytes".into()),
        Family::Barrier => sizes.push(0),
        _ if sizes.is_empty() => return usage("say with --bytes how many bytes there are".into()),
        _ => {}
    }
    sizes.sort_unstable();
    sizes.dedup();
    let is_exchange = args.collective.family().is_exchange();
    if is_exchange && sizes[0] < p {
        let least = sizes[0];
        return usage(format!(
            "{least} bytes are less than one for each of {p} ranks: --bytes are all that a rank sends"
        ));
    }
    let point = |p: u64, nodes: u64, bytes| Point {
        // At most `RANKS_MAX`.
        ranks: p as u32,
        nodes: nodes as u32,
        bytes,
    };
    if over_ranks {
        let [bytes] = sizes[..] else {
            return usage("rows over ranks are of one number of bytes".into());
        };
        let powers = (1..=20).map(|exponent| 1 << exponent);
        let mut all: Vec<u64> = powers.take_while(|&ranks| ranks < p).collect();
        all.push(p);
        let width = p.div_ceil(nodes);
        let nodes_of = |ranks: u64| match ranks == p {
            // Not all nodes may be full: as many as were asked for.
            true => nodes,
            false => ranks.div_ceil(width),
        };
        let all = all
            .into_iter()
            .map(|ranks| point(ranks, nodes_of(ranks), bytes));
        let all: Vec<Point> = all.collect();
        if args.plot.is_some() && all.len() < 2 {
            return usage("a curve over ranks needs 3 ranks or more".into());
        }
        return Ok((all.clone(), all));
    }
    let of = |&bytes: &u64| point(p, nodes, bytes);
    let rows = sizes.iter().map(of).collect();
    let (least, most) = (sizes[0], sizes[sizes.len() - 1]);
    if args.plot.is_some() && args.collective.family() == Family::Barrier {
        return usage("a barrier has no bytes to draw curves over: add --over ranks".into());
    }
    if args.plot.is_some() && least == most {
        return usage("a curve over the size needs two sizes, as --bytes 1,1M".into());
    }
    // Some between, two for each doubling.
    let mut drawn: Vec<u64> = (0..=2 * 40)
        .map(|i| (f64::from(i) / 2.0).exp2() as u64)
        .filter(|bytes| (least..=most).contains(bytes))
        .chain(sizes)
        .collect();
    drawn.sort_unstable();
    drawn.dedup();
    Ok((rows, drawn.iter().map(of).collect()))
}
