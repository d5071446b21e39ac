//! `rondo bench`: collectives by the MPI library and by Rondo, in turns in one run.

#![forbid(unsafe_code)]

mod answers;
pub mod cases;
pub mod contest;
pub mod dist;
pub mod output;
pub mod report;
mod rows;

use crate::{
    Failure, arguments,
    arguments::{Numbers, numbers},
    job,
    mpi::{Mpi, Op},
};
use cases::{Wanted, cases};
use dist::Dist;
use output::Outputs;
use report::Report;
use rondo::collective::Collective;
use rondo::config;
use rows::measure;
use std::{ffi::OsString, path::PathBuf, time::SystemTime};

/// Time collectives by the MPI library and by Rondo, in turns in one run.
///
/// Every rank runs this tool, under the launcher of the MPI that it is built for. It loads Rondo and the MPI library by
/// itself. A time is that of a call with a barrier behind it, on the slowest rank, in a batch of calls that lasts about
/// 2 ms; min, avg, max and P99 are over the batches, and the ratio is host / Rondo of the medians. The answers of the
/// first calls are checked.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
EXAMPLES:
  mpirun -np 8 rondo bench
  mpirun -np 8 rondo bench -m 1K:1M --json=results.json bcast allgather allgatherv
  mpirun -np 8 rondo bench gatherv --dist one -i 100
  mpirun -np 8 rondo bench allreduce reduce bcast --op xor
  mpirun -np 8 -x RONDO_BCAST=binomial rondo bench bcast

SIZES:
  bcast                   the message
  allgather, allgatherv   all ranks together
  gather(v), scatter(v)   a block, on the average
  reductions, scans       a rank's vector
  alltoall(v, w)          a rank's blocks together
  barrier                 none: it has one row
  Sizes that do not fill an element for each block (of the regular collectives) are left out.

OPERATORS:
  sum       doubles by MPI_SUM; their last bits depend on the order, as those of most programs' reductions do
  xor       bytes by MPI_BXOR, which gives the same in every order: more algorithms fit, and Rondo may choose by times

LEARNING:
  Rondo chooses by its rules and its model, as with RONDO_LEARN=off, unless RONDO_LEARN is set or Rondo is preloaded
  already.

COLUMNS:
  Microseconds. With fewer than 100 batches, P99 is the maximum. The last column says which algorithm of Rondo's carried
  the calls out, by its counters on rank 0; host if Rondo passed them on. The root is rank 0. Where ranks share cores,
  times are mostly the scheduler's, and change while a run lasts: host and Rondo in a row, which take turns, can still
  be compared, but rows cannot."
)]
pub struct Args {
    /// What to time [default: bcast allgatherv gatherv scatterv]
    #[arg(value_parser = arguments::collective, value_name = "COLLECTIVE", hide_default_value = true,
          default_values = ["bcast", "allgatherv", "gatherv", "scatterv"])]
    collectives: Vec<Collective>,
    /// Sizes, several with commas; MIN:MAX are powers of two times MIN, up to MAX
    #[arg(
        short = 'm',
        long,
        value_name = "MIN:MAX",
        value_delimiter = ',',
        default_value = "1:4M"
    )]
    sizes: Vec<Numbers>,
    /// Timed batches of each side
    #[arg(short = 'i', long, value_name = "N", default_value = "20",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batches: u32,
    /// Batches of each side before those
    #[arg(short = 'x', long, value_name = "N", default_value = "2",
          value_parser = clap::value_parser!(u32).range(0..=100_000))]
    warm_up: u32,
    /// Check every answer, with the clock stopped
    #[arg(short = 'c', long)]
    check: bool,
    /// How blocks differ, in collectives that allow it (...v, alltoallw, reduce_scatter)
    #[arg(long, value_enum, value_name = "DIST", default_value = "same")]
    dist: Dist,
    /// What reductions and scans do, as explained below
    #[arg(
        long,
        value_enum,
        value_name = "OP",
        default_value = "sum",
        hide_possible_values = true
    )]
    op: Op,
    /// Write everything as JSON, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The MPI library, where the loader does not find it by its name
    #[arg(long, value_name = "PATH")]
    mpi: Option<OsString>,
}

/// From a size to the next.
const STEP: u64 = 2;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    job::run(args.mpi.as_deref(), |mpi| bench(args, mpi))
}

fn bench(args: &Args, mpi: &Mpi) -> Result<(), Failure> {
    job::at_least(mpi, 2, "bench")?;
    let wanted = Wanted {
        collectives: &args.collectives,
        sizes: &numbers(&args.sizes, STEP),
        dists: &[args.dist],
        op: args.op,
    };
    let cases = cases(&wanted, mpi.ranks)?;
    let mut report = report(args, mpi)?;
    // Rank 0 has the outputs.
    let opened = (mpi.rank == 0).then(|| Outputs::open(args.json.as_deref()));
    let mut outputs = job::agreed(mpi, opened.transpose())?;
    for case in &cases {
        let row = measure(mpi, case, args)?;
        if let Some(outputs) = &mut outputs {
            outputs.row(&row, &report);
        }
        report.rows.push(row);
    }
    let written = outputs.map(|outputs| outputs.finish(&report));
    job::agreed(mpi, written.transpose()).map(|_| ())
}

/// Everything but the rows.
fn report(args: &Args, mpi: &Mpi) -> Result<Report, Failure> {
    let text = |text: OsString| text.to_string_lossy().into_owned();
    let variables = config::variables().into_iter();
    Ok(Report {
        rondo: env!("CARGO_PKG_VERSION").into(),
        mpi: mpi.version()?,
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        ranks: mpi.ranks,
        nodes: job::nodes(mpi)?,
        environment: variables
            .map(|(name, value)| (text(name), text(value)))
            .collect(),
        batches: args.batches as usize,
        rows: Vec::new(),
    })
}
