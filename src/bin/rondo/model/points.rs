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

/// A number of ranks or of nodes, written in the same way.
#[derive(Clone, Copy)]
pub struct Count(u64);

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Count, String> {
        let Ok(Size(number)) = text.parse() else {
            return Err("take a whole number from 1 on, like 64 or 1K".into());
        };
        Ok(Count(number))
    }
}

const RANKS_MAX: u64 = 1 << 20;

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
    let Count(p) = args.ranks;
    if !(2..=RANKS_MAX).contains(&p) {
        return usage(format!("{p} ranks: take 2 to {RANKS_MAX}"));
    }
    let nodes = args.nodes.map_or(p, |nodes| nodes.0);
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
        let all = all
            .into_iter()
            .map(|ranks| point(ranks, ranks.div_ceil(width), bytes));
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
