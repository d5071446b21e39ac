//! `rondo tree`: a tree for gather and scatter, and its completion time.

use crate::{Failure, output};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rondo::tree::{Algorithm, Cost, Distribution, Root, Tree};
use std::io::{self, Write};

/// Build a tree for an irregular gather or scatter, and tell how long it takes.
///
/// Rank i has a block of m_i bytes. A message of s bytes takes alpha + beta s, and no time for no bytes; a rank with
/// children copies its own block in gamma m_i. A rank does one thing at a time. The completion time is that of the
/// gather; the scatter on the same tree takes as long. Below it is a line for each rank, under the rank that it sends
/// to, in the order of messages: the bytes of its subtree, and when it has them.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
ALGORITHMS:
  linear     a star: every rank sends to the root
  binary     the fastest tree with two children at most, served in rank order
  binomial   the binomial tree that ignores sizes
  adaptive   the binomial tree in which the group with less to receive sends
  optimal    the fastest tree whose subtrees are ranges of ranks, served nearest first
  two-kinds  blocks above the average in one adaptive tree, all others in another

DISTRIBUTIONS, of p blocks of b bytes on average:
  same               all b
  random             1 to 2b; -decreasing and -increasing: the same, sorted
  random-bucket      b/2 and 1 to b more
  spikes             5b with probability 1/5, else 1
  decreasing         falling evenly from 2b + 1; increasing: the reverse
  alternating        3b/2, b/2, 3b/2, ...
  skewed             the first 5 ranks have bp/5 each, the others 1
  two-blocks         the first and the last rank have bp/2 each, the others 0

EXAMPLES:
  rondo tree -p 20                                     the optimal tree of 20 equal blocks
  rondo tree -p 20 --dist random --root best           of random ones, to the root that suits it
  rondo tree --dist skewed --algorithm adaptive        of 2000 ranks, of which five have nearly everything

SOURCES:
  J. L. Träff, On optimal trees for irregular gather and scatter collectives, IEEE TPDS 30(9), 2019;
  Practical, distributed, low overhead algorithms for irregular gather and scatter collectives,
  Parallel Computing 75, 2018."
)]
pub struct Args {
    /// The kind of tree
    #[arg(long, default_value = "optimal", value_parser = algorithm())]
    algorithm: Algorithm,
    /// The sizes of blocks
    #[arg(long, value_name = "DIST", default_value = "same", value_parser = distribution())]
    dist: Distribution,
    /// The number of ranks
    #[arg(short = 'p', long = "ranks", value_name = "P", default_value_t = 2000,
          value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    ranks: u32,
    /// The average size of a block in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1000,
          value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    block: u64,
    /// The time of a message, a whole number of any unit, as the next two
    #[arg(long, default_value_t = 100)]
    alpha: u64,
    /// The time of a byte in a message
    #[arg(long, default_value_t = 1)]
    beta: u64,
    /// The time of copying a byte
    #[arg(long, default_value_t = 1)]
    gamma: u64,
    /// The root, or best for one that the algorithm chooses; p/2 by default
    #[arg(long, value_name = "RANK|best", value_parser = root)]
    root: Option<Root>,
    /// What random sizes follow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn algorithm() -> impl TypedValueParser<Value = Algorithm> {
    let named = |name: &str| Algorithm::ALL.into_iter().find(|a| a.name() == name);
    let names = PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name));
    names.map(move |name| named(&name).expect("one of the names"))
}

fn distribution() -> impl TypedValueParser<Value = Distribution> {
    let named = |name: &str| Distribution::ALL.into_iter().find(|d| d.name() == name);
    let names = PossibleValuesParser::new(Distribution::ALL.map(Distribution::name));
    names.map(move |name| named(&name).expect("one of the names"))
}

fn root(text: &str) -> Result<Root, String> {
    if text == "best" {
        return Ok(Root::Best);
    }
    let rank = text.parse().map(Root::Given);
    rank.map_err(|_| "take a rank, or best".to_owned())
}

/// Binary and optimal trees are found by dynamic programs, which have a table of 8 p^2 bytes, and half as much for
/// windows at worst: 1.1 GiB for this many ranks.
const PROGRAM_RANKS_MAX: usize = 10_000;

/// More than anybody reads as an outline.
const OUTLINE_RANKS_MAX: usize = 64;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let cost = Cost {
        alpha: args.alpha,
        beta: args.beta,
        gamma: args.gamma,
    };
    let p = args.ranks as usize;
    let blocks = args.dist.blocks(p, args.block, args.seed);
    if !cost.fits(&blocks) {
        return Err(Failure::Usage(
            "times do not fit 64 bits: take smaller parameters or blocks".into(),
        ));
    }
    let root = args.root.unwrap_or(Root::Given(p / 2));
    if let Root::Given(rank) = root
        && rank >= p
    {
        let range = format!("the ranks of {p} are 0 to {}", p - 1);
        return Err(Failure::Usage(format!("there is no rank {rank}: {range}")));
    }
    if args.algorithm.is_program() && p > PROGRAM_RANKS_MAX {
        let gibibytes = (8 * p as u64 * p as u64).div_ceil(1 << 30);
        return Err(Failure::Usage(format!(
            "binary and optimal trees of {p} ranks need a table of {gibibytes} GiB; \
             {PROGRAM_RANKS_MAX} ranks are the limit"
        )));
    }
    let tree = args.algorithm.tree(&blocks, root, &cost);
    output(|out| {
        let ranks = if p == 1 { "rank" } else { "ranks" };
        writeln!(
            out,
            "{} tree of {p} {ranks}, {}, {} bytes; alpha {}, beta {}, gamma {}",
            args.algorithm.name(),
            args.dist.name(),
            tree.size(tree.root()),
            args.alpha,
            args.beta,
            args.gamma,
        )?;
        writeln!(
            out,
            "completion {}, root {}, depth {}, {} messages",
            tree.completion(&cost),
            tree.root(),
            tree.depth(),
            tree.messages(),
        )?;
        if p <= OUTLINE_RANKS_MAX {
            writeln!(out)?;
            outline(out, &tree, &cost)?;
        }
        Ok(())
    })
}

/// A line for each rank, below the rank that it sends to; children are in the order of their messages.
fn outline(out: &mut impl Write, tree: &Tree, cost: &Cost) -> io::Result<()> {
    let ready = tree.ready(cost);
    let mut todo = vec![(tree.root(), 0)];
    while let Some((rank, depth)) = todo.pop() {
        writeln!(
            out,
            "{:indent$}{rank}: {} bytes at {}",
            "",
            tree.size(rank),
            ready[rank],
            indent = 2 * depth
        )?;
        let children = tree.children(rank).iter().rev();
        todo.extend(children.map(|&child| (child, depth + 1)));
    }
    Ok(())
}
