//! `rondo tree`: trees for gather and scatter, and their completion times.

mod compare;
mod input;
mod picture;

use crate::{Failure, count, output};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use input::{Decimal, Model, Root, Sizes, too_large};
use rondo::tree::{self, Algorithm, Tree};
use serde::Serialize;
use serde_json::Number;
use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

/// Build a tree for an irregular gather or scatter, and tell how long it takes.
///
/// Rank i has a block of m_i bytes. A message of s bytes takes alpha + beta s, and no time for no bytes; a rank with
/// children copies its own block in gamma m_i. A rank does one thing at a time. The completion time is that of the
/// gather; the scatter on the same tree takes as long.
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
  file:PATH          sizes from a file, one on each line

EXAMPLES:
  rondo tree -p 20                                     the optimal tree of 20 equal blocks
  rondo tree -p 20 --dist random --svg tree.svg        a picture of it
  rondo tree --dist skewed --algorithm adaptive --json {\"algorithm\",\"completion\",\"root\",\"depth\",\"messages\"}
  rondo tree --compare --gamma 1,0                     the paper's table 1 (random rows differ)

SOURCES:
  J. L. Träff, On optimal trees for irregular gather and scatter collectives, IEEE TPDS 30(9), 2019;
  Practical, distributed, low overhead algorithms for irregular gather and scatter collectives,
  Parallel Computing 75, 2018."
)]
pub struct Args {
    /// The kind of tree
    #[arg(long, default_value = "optimal", value_parser = algorithm())]
    algorithm: Algorithm,
    /// The sizes of blocks, a distribution or file:PATH; same by default, all of them with --compare
    #[arg(long, value_name = "DIST")]
    dist: Option<Sizes>,
    /// The number of ranks; 2000 by default, or the lines of the file
    #[arg(short = 'p', long = "ranks", value_name = "P", value_parser = count(1, 1 << 20))]
    ranks: Option<u32>,
    /// The average size of a block in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1000,
          value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    block: u64,
    /// The time of a message
    #[arg(long, default_value = "100")]
    alpha: Decimal,
    /// The time of a byte in a message
    #[arg(long, default_value = "1")]
    beta: Decimal,
    /// The time of copying a byte; several, separated by commas, with --compare
    #[arg(long, default_value = "1", value_delimiter = ',')]
    gamma: Vec<Decimal>,
    /// The root, or best for one that the algorithm chooses; p/2 by default
    #[arg(long, value_name = "RANK|best")]
    root: Option<Root>,
    /// What random sizes follow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print a table of all ordered trees: for each distribution a line with the given root, and one with the root that
    /// each algorithm chooses, in brackets
    #[arg(long, conflicts_with_all = ["algorithm", "dot", "svg"])]
    compare: bool,
    /// Print one JSON object; with --compare an array of them
    #[arg(long, group = "form")]
    json: bool,
    /// Print the tree for Graphviz
    #[arg(long, group = "form")]
    dot: bool,
    /// Draw the tree into a file
    #[arg(long, group = "form", value_name = "FILE")]
    svg: Option<PathBuf>,
}

fn algorithm() -> impl TypedValueParser<Value = Algorithm> {
    let named = |name: &str| Algorithm::ALL.into_iter().find(|a| a.name() == name);
    let names = PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name));
    names.map(move |name| named(&name).expect("one of the names"))
}

/// The dynamic programs have a table of 8 p^2 bytes, and half as much for windows at worst: 1.1 GiB for these.
const PROGRAM_RANKS_MAX: usize = 10_000;

/// More than anybody recognizes in a picture.
const PICTURE_RANKS_MAX: usize = 1000;

/// More than anybody reads as an outline.
const OUTLINE_RANKS_MAX: usize = 64;

/// The JSON form; the field names are an interface to scripts.
#[derive(Serialize)]
struct Json {
    algorithm: &'static str,
    completion: Number,
    root: usize,
    depth: usize,
    messages: usize,
}

impl Json {
    fn new(algorithm: Algorithm, tree: &Tree, model: &Model) -> Json {
        Json {
            algorithm: algorithm.name(),
            completion: model.number(tree.completion(&model.cost)),
            root: tree.root(),
            depth: tree.depth(),
            messages: tree.messages(),
        }
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.compare {
        return compare::run(args);
    }
    let [gamma] = &args.gamma[..] else {
        return Err(Failure::Usage("several gammas are for --compare".into()));
    };
    let model = Model::new(&args.alpha, &args.beta, gamma)?;
    let sizes = args.dist.clone().unwrap_or_default();
    let blocks = blocks(args, &sizes, &model)?;
    let p = blocks.len();
    let root = root(args, p)?;
    if args.algorithm.is_program() {
        check_program(p)?;
    }
    if (args.dot || args.svg.is_some()) && p > PICTURE_RANKS_MAX {
        return Err(Failure::Usage(format!(
            "a picture of {p} ranks is too large, {PICTURE_RANKS_MAX} is the limit; see -p"
        )));
    }
    if let Some(path) = args.svg.as_ref()
        && path.extension().is_none_or(|ending| ending != "svg")
    {
        let path = path.display();
        return Err(Failure::Usage(format!(
            "{path}: take a name that ends with .svg"
        )));
    }
    let tree = args.algorithm.tree(&blocks, root, &model.cost);
    if let Some(file) = &args.svg {
        let title = format!(
            "{}, {}, {}",
            args.algorithm.name(),
            sizes.name(),
            model.text
        );
        fs::write(file, picture::svg(&tree, &title, &model)).map_err(|error| {
            Failure::Failed(format!("cannot write {}: {error}", file.display()))
        })?;
    }
    output(|out| {
        if args.json {
            serde_json::to_writer(&mut *out, &Json::new(args.algorithm, &tree, &model))?;
            return writeln!(out);
        }
        if args.dot {
            return write!(out, "{}", picture::dot(&tree));
        }
        let ranks = if p == 1 { "rank" } else { "ranks" };
        let (name, all) = (args.algorithm.name(), tree.size(tree.root()));
        writeln!(
            out,
            "{name} tree of {p} {ranks}, {}, {all} bytes; {}",
            sizes.name(),
            model.text
        )?;
        summary(out, &tree, &model)?;
        if args.svg.is_none() && p <= OUTLINE_RANKS_MAX {
            writeln!(out)?;
            outline(out, &tree, &model)?;
        }
        Ok(())
    })
}

/// The sizes of blocks, whose times fit the model.
fn blocks(args: &Args, sizes: &Sizes, model: &Model) -> Result<Vec<u64>, Failure> {
    let p = args.ranks.map(|p| p as usize);
    let blocks = match sizes {
        Sizes::Named(distribution) => distribution.blocks(p.unwrap_or(2000), args.block, args.seed),
        Sizes::File(path) => input::read(path)?,
    };
    match p {
        Some(p) if p != blocks.len() => Err(Failure::Usage(format!(
            "{} has {} blocks, not the {p} of -p",
            sizes.name(),
            blocks.len()
        ))),
        _ if !model.cost.fits(&blocks) => Err(too_large()),
        _ => Ok(blocks),
    }
}

fn root(args: &Args, p: usize) -> Result<tree::Root, Failure> {
    match args.root {
        Some(Root(tree::Root::Given(rank))) if rank >= p => {
            let range = format!("the ranks of {p} are 0 to {}", p - 1);
            Err(Failure::Usage(format!("there is no rank {rank}: {range}")))
        }
        Some(Root(root)) => Ok(root),
        None => Ok(tree::Root::Given(p / 2)),
    }
}

fn check_program(p: usize) -> Result<(), Failure> {
    if p <= PROGRAM_RANKS_MAX {
        return Ok(());
    }
    let gibibytes = (8 * p as u64 * p as u64).div_ceil(1 << 30);
    Err(Failure::Usage(format!(
        "binary and optimal trees of {p} ranks need a table of {gibibytes} GiB; {PROGRAM_RANKS_MAX} ranks are the limit"
    )))
}

fn summary(out: &mut impl Write, tree: &Tree, model: &Model) -> io::Result<()> {
    let (root, depth, messages) = (tree.root(), tree.depth(), tree.messages());
    let time = model.show(tree.completion(&model.cost));
    writeln!(
        out,
        "completion {time}, root {root}, depth {depth}, {messages} messages"
    )
}

/// A line for each rank, below the rank that it sends to; children are in the order of their messages.
fn outline(out: &mut impl Write, tree: &Tree, model: &Model) -> io::Result<()> {
    let ready = tree.ready(&model.cost);
    let mut todo = vec![(tree.root(), 0)];
    while let Some((rank, depth)) = todo.pop() {
        let (bytes, time) = (tree.size(rank), model.show(ready[rank]));
        writeln!(
            out,
            "{:indent$}{rank}: {bytes} bytes at {time}",
            "",
            indent = 2 * depth
        )?;
        todo.extend(
            tree.children(rank)
                .iter()
                .rev()
                .map(|&child| (child, depth + 1)),
        );
    }
    Ok(())
}
