//! `rondo tune`: measures which algorithm carries out what on this machine, and writes it as rules.

#![forbid(unsafe_code)]

mod choose;
mod file;
mod sweep;

use crate::{
    Failure, arguments,
    arguments::{Numbers, numbers},
    bench::{
        cases::{Case, Wanted, cases},
        dist::Dist,
        report::Node,
    },
    job,
    mpi::{Mpi, Op},
    output,
};
use choose::{Candidate, Found, rules};
use file::Rules;
use rondo::collective::Collective;
use rondo::config::{Config, OPTIONS, ValueType};
use std::{ffi::OsString, io::Write, path::PathBuf};
use sweep::{Sweep, Winner};

/// Measure which algorithm carries out what on this machine, and write it as rules for RONDO_RULES.
///
/// Every rank runs this tool, as many and placed as the programs that the rules are for: they hold for this number of
/// ranks and nodes. For every collective and size, the MPI library and each of Rondo's algorithms (circulant also in
/// blocks of several sizes, except in all-to-all exchanges) carry out calls in turns, as in 'rondo bench'. One replaces
/// the MPI library where it is faster by 3 % on the average of two distributions of blocks (the same on all
/// ranks, and all on one), and slower by 3 % in none.
#[derive(clap::Args)]
#[command(verbatim_doc_comment, after_long_help = AFTER_HELP)]
pub struct Args {
    /// What to measure [default: all but barrier]
    #[arg(value_parser = arguments::collective, value_name = "COLLECTIVE", hide_default_value = true,
          default_values = arguments::names())]
    collectives: Vec<Collective>,
    /// Sizes, several with commas; MIN:MAX are MIN, 4 MIN, 16 MIN, up to MAX
    #[arg(
        short = 'm',
        long,
        value_name = "MIN:MAX",
        value_delimiter = ',',
        default_value = "256:4M"
    )]
    sizes: Vec<Numbers>,
    /// Timed batches of each algorithm
    #[arg(short = 'i', long, value_name = "N", default_value = "5",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    batches: u32,
    /// What reductions and scans do, sum or xor as in 'rondo bench'. Rules hold for all operators
    #[arg(
        long,
        value_enum,
        value_name = "OP",
        default_value = "sum",
        hide_possible_values = true
    )]
    op: Op,
    /// The file to write. Rules in it for other collectives, ranks and nodes stay
    #[arg(
        short = 'o',
        long,
        value_name = "FILE",
        default_value = "rondo-rules.json"
    )]
    output: PathBuf,
    /// The MPI library, where the loader does not find it by its name
    #[arg(long, value_name = "PATH")]
    mpi: Option<OsString>,
}

const AFTER_HELP: &str = "\
EXAMPLES:
  mpirun -np 64 rondo tune -o site.json
  mpirun -np 64 rondo tune -m 64K:16M -o site.json bcast allgatherv
  RONDO_RULES=site.json rondo run mpirun -np 64 ./app

FILE:
  It is written anew after every size, so that what is measured stays if this is interrupted. Sizes that were not
  measured, below MIN / 2 or above 2 MAX or on other numbers of ranks or nodes, are left to Rondo's own choice.
  MPI_Gatherv, MPI_Scatterv, MPI_Alltoallv and MPI_Alltoallw have one rule for all sizes, because not all ranks know
  these, and a barrier has no size. Algorithms that the operator does not allow have no rule. Where a rule names one
  that another operator does not allow, that one is reduced by Rondo's usual algorithm.

OUTPUT:
  Times are medians, in microseconds, the slowest distribution's of each collective.";

/// From a size to the next.
const STEP: u64 = 4;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    job::run(args.mpi.as_deref(), |mpi| tune(args, mpi))
}

fn tune(args: &Args, mpi: &Mpi) -> Result<(), Failure> {
    job::at_least(mpi, 3, "tune")?;
    job::agreed(mpi, is_free(&args.collectives))?;
    let sizes = numbers(&args.sizes, STEP);
    let wanted = Wanted {
        collectives: &args.collectives,
        sizes: &sizes,
        dists: &[Dist::Same, Dist::One],
        op: args.op,
    };
    let cases = cases(&wanted, mpi.ranks)?;
    let nodes = job::nodes(mpi)?;
    // Rank 0 has the file.
    let opened = (mpi.rank == 0).then(|| Rules::open(&args.output, mpi, &nodes));
    let file = job::agreed(mpi, opened.transpose())?;
    say(mpi, || introduction(mpi, &nodes))?;
    let mut found: Vec<Found> = Vec::new();
    for cases in cases.chunk_by(|a, b| a.collective == b.collective) {
        let collective = cases[0].collective;
        let mut sweep = Sweep::new(mpi, collective, args.batches as usize)?;
        for &size in &sizes {
            // They differ in the distribution only.
            let group: Vec<&Case> = cases.iter().filter(|case| case.size == size).collect();
            if group.is_empty() {
                continue;
            }
            let winner = sweep.measure(&group)?;
            say(mpi, || line(collective, size, &winner))?;
            let Some(candidate) = winner.candidate else {
                continue;
            };
            let choice = Found {
                collective: collective.name(),
                size: sweep.knows_size().then_some(size),
                candidate,
            };
            match found.last_mut() {
                // What holds for all sizes is known better with every one.
                Some(last) if choice.size.is_none() && last.collective == choice.collective => {
                    *last = choice;
                }
                _ => found.push(choice),
            }
            let rules = rules(&found, mpi.ranks as u64, nodes.len() as u64, STEP);
            let written = file.as_ref().map(|file| file.write(&rules));
            job::agreed(mpi, written.transpose())?;
        }
    }
    let done = file.as_ref().map(Rules::summary);
    say(mpi, || done.unwrap_or_default())
}

/// Would rules count? What a variable names goes before them.
pub fn is_free(collectives: &[Collective]) -> Result<(), Failure> {
    let loaded = Config::load();
    for opt in OPTIONS {
        let is_asked = |kind| matches!(kind, ValueType::Algorithm(of) if collectives.contains(&of));
        let is_named = opt.name.is_empty() || is_asked(opt.value_type);
        let value = opt.show(&loaded.config);
        if is_named && value != opt.default {
            let variable = opt.variable();
            let why = format!("{variable}={value} goes before any rule: unset it");
            return Err(Failure::Usage(why));
        }
    }
    Ok(())
}

/// Rank 0 says something. If it cannot, all ranks know.
fn say(mpi: &Mpi, text: impl FnOnce() -> String) -> Result<(), Failure> {
    let said = match mpi.rank {
        0 => output(|out| out.write_all(text().as_bytes())),
        _ => Ok(()),
    };
    job::agreed(mpi, said)
}

fn introduction(mpi: &Mpi, nodes: &[Node]) -> String {
    format!(
        "{} ranks on {}\n{:<11} {:>10} {:>12} {:>12} {:>6}  by\n",
        mpi.ranks,
        in_words(nodes),
        "collective",
        "bytes",
        "host",
        "best",
        "ratio"
    )
}

/// How many nodes there are.
fn in_words(nodes: &[Node]) -> String {
    match nodes.len() {
        1 => "1 node".into(),
        n => format!("{n} nodes"),
    }
}

fn line(collective: Collective, size: u64, winner: &Winner) -> String {
    let by = match winner.candidate {
        None => "host, as no algorithm of Rondo's would carry it out: no rule".to_owned(),
        Some(Candidate {
            algorithm,
            block_bytes: 0,
        }) => algorithm.to_owned(),
        Some(Candidate {
            algorithm,
            block_bytes,
        }) => format!("{algorithm} in blocks of {block_bytes} bytes"),
    };
    format!(
        "{:<11} {:>10} {:>12.1} {:>12.1} {:>6.2}  {by}\n",
        collective.name(),
        arguments::shown(collective, size),
        winner.host_us,
        winner.best_us,
        winner.host_us / winner.best_us
    )
}
