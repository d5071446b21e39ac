//! `rondo schedule`: the broadcast schedules, printed as the papers do.

use crate::{Failure, output};
use rondo::schedule::Circulant;
use std::io::{self, Write};

/// Print the schedules that ranks follow in a broadcast.
///
/// Columns are ranks, relative to the root: rank 0 is the root. Row k tells which block a rank
/// receives (recv) or sends (send) in round k of each phase of q rounds. A number from 0 on is a block
/// of the current phase; a negative one is a block of the phase before: add q. The base block is the
/// first that a rank receives; q marks the root, which receives none.
///
/// In round k, rank r sends to rank r + skip[k] and receives from rank r - skip[k], modulo p.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
EXAMPLES:
  rondo schedule -p 20           all ranks of 20
  rondo schedule -p 20 -r 7      rank 7 only

SOURCES:
  J. L. Träff, arXiv 2205.10072 (the schedules and their tables), arXiv 2312.11236 and
  doi 10.1145/3735139 (their computation in O(log p))."
)]
pub struct Args {
    /// The number of ranks
    #[arg(short = 'p', long = "ranks", value_name = "P",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(i32::MAX)))]
    ranks: u32,
    /// Only this rank, counted from the root
    #[arg(short, long)]
    rank: Option<u32>,
}

/// More ranks than anybody reads, and more output than anybody wants.
const TABLE_RANKS_MAX: u32 = 1 << 16;

/// The longest line of the table, in characters.
const LINE: usize = 100;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let p = args.ranks;
    match args.rank {
        Some(rank) if rank >= p => {
            let range = format!("the ranks of {p} are 0 to {}", p - 1);
            return Err(Failure::Usage(format!("there is no rank {rank}: {range}")));
        }
        None if p > TABLE_RANKS_MAX => {
            return Err(Failure::Usage(format!(
                "a table of {p} ranks is too large, {TABLE_RANKS_MAX} is the limit; \
                 add -r RANK for a single one"
            )));
        }
        _ => {}
    }
    let graph = Circulant::new(p);
    let ranks: Vec<u32> = match args.rank {
        Some(rank) => vec![rank],
        None => (0..p).collect(),
    };
    output(|out| table(out, &graph, p, &ranks))
}

fn recv(graph: &Circulant, rank: u32) -> Vec<i8> {
    let mut row = vec![0; graph.q()];
    graph.recv(rank, &mut row);
    row
}

fn send(graph: &Circulant, rank: u32) -> Vec<i8> {
    let mut row = vec![0; graph.q()];
    graph.send(rank, &mut row);
    row
}

/// The table of these ranks, as many side by side as a line holds.
fn table(out: &mut impl Write, graph: &Circulant, p: u32, ranks: &[u32]) -> io::Result<()> {
    let skips: Vec<String> = graph.skips().iter().map(u32::to_string).collect();
    writeln!(out, "p = {p}, q = {}, skips {}", graph.q(), skips.join(" "))?;
    // The widest entries are the number of the last rank and -q, which has at most two digits.
    let width = (p - 1).to_string().len().max(3);
    let ranks_per_line = (LINE - LABEL) / (width + 1);
    for ranks in ranks.chunks(ranks_per_line) {
        let base: Vec<usize> = ranks.iter().map(|rank| graph.baseblock(*rank)).collect();
        writeln!(out)?;
        line(out, "rank", ranks, width)?;
        line(out, "base", &base, width)?;
        for (name, schedule) in [
            ("recv", recv as fn(&Circulant, u32) -> Vec<i8>),
            ("send", send),
        ] {
            let columns: Vec<Vec<i8>> = ranks.iter().map(|rank| schedule(graph, *rank)).collect();
            for k in 0..graph.q() {
                let row: Vec<i8> = columns.iter().map(|column| column[k]).collect();
                line(out, &format!("{name} {k}"), &row, width)?;
            }
        }
    }
    Ok(())
}

/// The width of the names of rows.
const LABEL: usize = 7;

fn line<T: ToString>(out: &mut impl Write, name: &str, row: &[T], width: usize) -> io::Result<()> {
    write!(out, "{name:LABEL$}")?;
    for entry in row {
        write!(out, " {:>width$}", entry.to_string())?;
    }
    writeln!(out)
}
