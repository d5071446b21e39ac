//! `rondo tune`: measures which algorithm carries out what on this machine, and writes it as rules.

#![forbid(unsafe_code)]

mod choose;
mod file;
mod network;
mod sweep;

use crate::{
    Failure,
    bench::{
        cases::{Case, Sizes, Wanted, cases},
        dist::Dist,
        report::Node,
    },
    collectives, job,
    mpi::{Mpi, Op},
    output,
};
use choose::{Candidate, Found, GAP_SHARES, rules};
use file::Rules;
use network::Link;
use rondo::collective::Collective;
use rondo::config::{Config, OPTIONS, ValueType};
use std::{ffi::OsString, io::Write, path::PathBuf};
use sweep::{Place, Sweep, Winner};

/// Measure which algorithm carries out what on this machine, and write it as rules for RONDO_RULES.
///
/// Every rank runs this tool, as many and placed as the programs that the rules are for: they hold for this number of
/// ranks and nodes. For every collective and size, the MPI library and each of Rondo's algorithms (circulant also in
/// blocks of several sizes, except in all-to-all exchanges) carry out calls in turns, as in 'rondo bench'. Where all
/// ranks know the size, an algorithm is left out that the cost model finds more than three times as slow as the best.
/// One replaces the MPI library where it is faster by 3 % on the average of the distributions, and slower by 3 % in
/// none.
#[derive(clap::Args)]
#[command(verbatim_doc_comment, after_long_help = AFTER_HELP)]
pub struct Args {
    /// What to measure [default: all but barrier]
    #[arg(value_parser = collectives::Parser, value_name = "COLLECTIVE", hide_default_value = true,
          default_values = collectives::names())]
    collectives: Vec<Collective>,
    /// Sizes, as in 'rondo bench': MIN, 4 MIN, 16 MIN, up to MAX
    #[arg(short = 'm', long, value_name = "MIN:MAX", default_value = "256:4M")]
    sizes: Sizes,
    /// Timed batches of each algorithm
    #[arg(short = 'i', long, value_name = "N", default_value = "5",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    batches: u32,
    /// How blocks differ, in collectives that allow it (...v, alltoallw, reduce_scatter), as in 'rondo bench'
    #[arg(
        long,
        value_name = "DIST",
        value_delimiter = ',',
        default_value = "same,one"
    )]
    dist: Vec<Dist>,
    /// What reductions and scans do, sum, xor or ordered as in 'rondo bench'. Rules hold for all operators
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
  Times are medians, in microseconds, the slowest distribution's of each collective. The numbers of the cost model are
  for comparison: Rondo measures them itself (docs/tuning.md).";

/// From a size to the next.
const STEP: u64 = 4;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    job::run(args.mpi.as_deref(), |mpi| tune(args, mpi))
}

fn tune(args: &Args, mpi: &Mpi) -> Result<(), Failure> {
    job::at_least(mpi, 3, "tune")?;
    job::agreed(mpi, is_free(&args.collectives))?;
    let wanted = Wanted {
        collectives: &args.collectives,
        sizes: args.sizes,
        step: STEP,
        dists: &args.dist,
        ops: &[args.op],
    };
    let cases = cases(&wanted, mpi.ranks, 1)?;
    let nodes = job::nodes(mpi)?;
    // Rank 0 has the file.
    let opened = (mpi.rank == 0).then(|| Rules::open(&args.output, mpi, &nodes));
    let mut file = job::agreed(mpi, opened.transpose())?;
    let links = network::measure(mpi, &nodes)?;
    say(mpi, || introduction(mpi, &nodes, links))?;
    let rows = groups(&cases).count();
    let bar = job::progress(mpi.rank, rows);
    let place = Place {
        nodes: nodes.len() as u32,
        networks: GAP_SHARES.map(|share| network::of(links, share)),
    };
    let mut found: Vec<Found> = Vec::new();
    let mut sweep = None;
    for group in groups(&cases) {
        let (collective, size) = (group[0].collective, group[0].size);
        bar.set_message(format!("{} {size}", collective.name()));
        let sweep = match &mut sweep {
            Some(sweep) if Sweep::is_of(sweep, collective) => sweep,
            // The communicators of the one before are given back first.
            other => {
                *other = None;
                other.insert(Sweep::new(mpi, collective, args.batches as usize, place)?)
            }
        };
        let winner = sweep.measure(&group)?;
        bar.suspend(|| say(mpi, || line(collective, size, &winner)))?;
        bar.inc(1);
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
    bar.finish_and_clear();
    let done = file.as_mut().map(|file| file.summary());
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

/// Cases of one collective and size, which differ in the distribution only, behind each other.
fn groups(cases: &[Case]) -> impl Iterator<Item = Vec<&Case>> {
    let mut keys: Vec<(Collective, u64)> = Vec::new();
    for case in cases {
        if !keys.contains(&(case.collective, case.size)) {
            keys.push((case.collective, case.size));
        }
    }
    keys.into_iter().map(|key| {
        let same = cases
            .iter()
            .filter(|case| (case.collective, case.size) == key);
        same.collect()
    })
}

/// Rank 0 says something. If it cannot, all ranks know.
fn say(mpi: &Mpi, text: impl FnOnce() -> String) -> Result<(), Failure> {
    let said = match mpi.rank {
        0 => output(|out| out.write_all(text().as_bytes())),
        _ => Ok(()),
    };
    job::agreed(mpi, said)
}

fn introduction(mpi: &Mpi, nodes: &[Node], links: [Option<Link>; 2]) -> String {
    let mut text = format!("{} ranks on {}\n", mpi.ranks, in_words(nodes));
    let names = [
        ["between nodes", "ALPHA_US", "BETA_NS_PER_KB"],
        ["within a node", "NODE_ALPHA_US", "NODE_BETA_NS_PER_KB"],
    ];
    for ([place, alpha, beta], link) in names.into_iter().zip(links) {
        if let Some(link) = link {
            text += &format!(
                "{place}: RONDO_{alpha}={:.2} RONDO_{beta}={:.0}\n",
                link.alpha_us, link.beta_ns_per_kb
            );
        }
    }
    text += &format!(
        "{:<11} {:>10} {:>12} {:>12} {:>6}  by\n",
        "collective", "bytes", "host", "best", "ratio"
    );
    text
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
        collectives::shown(collective, size),
        winner.host_us,
        winner.best_us,
        winner.host_us / winner.best_us
    )
}
