//! `rondo bench`: collectives by the MPI library and by Rondo, in turns in one run.

#![forbid(unsafe_code)]

mod algorithms;
pub mod batch;
pub mod cases;
mod data;
pub mod dist;
mod guidelines;
mod help;
mod measure;
mod operands;
pub mod output;
mod predict;
pub mod report;
pub mod times;

use crate::{
    Failure, collectives, job,
    mpi::{Call, Mpi, Op},
    plot, tune, warn,
};
use algorithms::Algorithms;
use batch::Plan;
use cases::{Sizes, Wanted, cases};
use clap::ValueEnum;
use dist::Dist;
use help::AFTER_HELP;
use measure::{measure, unmeasured};
use output::Outputs;
use report::Report;
use rondo::collective::Collective;
use rondo::config::{self, Config, OPTIONS, ValueType};
use std::{ffi::OsString, path::PathBuf, time::SystemTime};

/// Time collectives by the MPI library and by Rondo, in turns in one run.
///
/// Every rank runs this tool, under the launcher of the MPI that it is built for. It loads Rondo and the MPI library by
/// itself. A time is that of a call with a barrier behind it, on the slowest rank, in a batch of calls that lasts about
/// 2 ms; min, avg, max and P99 are over the batches, and the ratio is host / Rondo of the medians. The answers of the
/// first calls are checked.
#[derive(clap::Args)]
#[command(verbatim_doc_comment, after_long_help = AFTER_HELP)]
pub struct Args {
    /// What to time [default: bcast allgatherv gatherv scatterv]
    #[arg(value_parser = collectives::Parser, value_name = "COLLECTIVE", hide_default_value = true,
          default_values = ["bcast", "allgatherv", "gatherv", "scatterv"])]
    collectives: Vec<Collective>,
    /// Sizes: powers of two times MIN, up to MAX
    #[arg(short = 'm', long, value_name = "MIN:MAX", default_value = "1:4M")]
    sizes: Sizes,
    /// Timed batches of each side
    #[arg(short = 'i', long, value_name = "N", default_value = "20",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batches: u32,
    /// Batches of each side before those
    #[arg(short = 'x', long, value_name = "N", default_value = "2",
          value_parser = clap::value_parser!(u32).range(0..=100_000))]
    warm_up: u32,
    /// A row for each of these algorithms of Rondo's, or for all, in turns; what does not fit a call has none
    #[arg(short, long, value_name = "NAME", value_delimiter = ',', value_parser = algorithms::name)]
    algorithm: Vec<String>,
    /// Draw the times of the algorithms of one collective as curves, into a file whose name ends with .svg or .png
    #[arg(long, value_name = "PICTURE", requires = "algorithm")]
    plot: Option<PathBuf>,
    /// Add what the cost model predicts of each row, by the figures of the network that Rondo knows in the end
    #[arg(long)]
    predict: bool,
    /// Check every answer, with the clock stopped
    #[arg(short = 'c', long)]
    check: bool,
    /// How blocks differ, in collectives that allow it (...v, alltoallw, reduce_scatter): several of the names below
    #[arg(
        long,
        value_name = "DIST",
        value_delimiter = ',',
        default_value = "same"
    )]
    dist: Vec<Dist>,
    /// What reductions and scans do: several of sum, xor and ordered, which are explained below
    #[arg(
        long,
        value_enum,
        value_name = "OP",
        value_delimiter = ',',
        default_value = "sum",
        hide_possible_values = true
    )]
    op: Vec<Op>,
    /// The root of those that have one
    #[arg(long, value_name = "RANK", default_value = "0")]
    root: usize,
    /// Use MPI_IN_PLACE (broadcasts have no such thing)
    #[arg(long)]
    in_place: bool,
    /// Plain bytes, or 8 bytes with gaps between them
    #[arg(
        long = "type",
        value_enum,
        default_value = "byte",
        hide_possible_values = true,
        value_name = "byte|vector"
    )]
    datatype: Datatype,
    /// Write a table with commas, to FILE or in the place of the usual one
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv: Option<PathBuf>,
    /// Write everything as JSON, to FILE or in the place of the table
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// The MPI library, where the loader does not find it by its name
    #[arg(long, value_name = "PATH")]
    mpi: Option<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Datatype {
    Byte,
    Vector,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    job::run(args.mpi.as_deref(), |mpi| bench(args, mpi))
}

fn bench(args: &Args, mpi: &Mpi) -> Result<(), Failure> {
    let ranks = mpi.ranks;
    job::at_least(mpi, 2, "bench")?;
    if args.root >= ranks {
        let (root, last) = (args.root, ranks - 1);
        let why = format!("there is no rank {root}: the ranks of {ranks} are 0 to {last}");
        return Err(Failure::Usage(why));
    }
    let datatype = match args.datatype {
        Datatype::Byte => mpi.byte(),
        Datatype::Vector => mpi.vector()?,
    };
    let wanted = Wanted {
        collectives: &args.collectives,
        sizes: args.sizes,
        step: 2,
        dists: &args.dist,
        ops: &args.op,
    };
    let cases = cases(&wanted, ranks, datatype.size as u64)?;
    if !args.algorithm.is_empty() {
        algorithms::check(&args.algorithm, &args.collectives)?;
        job::agreed(mpi, tune::is_free(&args.collectives))?;
    }
    if let Some(path) = &args.plot {
        plot::check_name(path)?;
        if args.collectives.len() > 1 || args.dist.len() > 1 || args.op.len() > 1 {
            let why = "--plot draws the algorithms of one collective, with one --dist and one --op";
            return Err(Failure::Usage(why.into()));
        }
    }
    if mpi.rank == 0
        && let Some(variable) = leaves_all(&args.collectives)
    {
        warn(&format!(
            "{variable}: the MPI library is compared with itself"
        ));
    }
    let mut report = report(args, mpi)?;
    let plan = Plan {
        warm_up: args.warm_up as usize,
        batches: args.batches as usize,
        check: args.check,
    };
    // Rank 0 has the outputs.
    let open = || {
        args.plot.as_deref().map_or(Ok(()), plot::check_place)?;
        Outputs::open(args.csv.as_deref(), args.json.as_deref(), args.predict)
    };
    let opened = (mpi.rank == 0).then(open);
    let mut outputs = job::agreed(mpi, opened.transpose())?;
    let bar = job::progress(mpi.rank, cases.len());
    let mut each: Option<Algorithms> = None;
    for case in cases {
        bar.set_message(format!("{} {}", case.collective.name(), case.size));
        let reduced = case.op.map(|op| mpi.elements(op));
        let datatype = reduced.as_ref().unwrap_or(&datatype);
        let call = Call {
            collective: case.collective,
            blocks: &case.blocks,
            datatype,
            op: case.op,
            root: args.root,
            in_place: args.in_place,
        };
        let row = unmeasured(&case, datatype.size);
        let rows = match (&mut each, args.algorithm.is_empty()) {
            (_, true) => vec![measure(mpi, &call, &plan, row)?],
            (Some(each), _) if each.is_of(case.collective) => each.measure(&call, &plan, &row)?,
            // The communicators of the one before are given back first.
            (other, _) => {
                *other = None;
                let each = Algorithms::new(mpi, case.collective, &args.algorithm)?;
                other.insert(each).measure(&call, &plan, &row)?
            }
        };
        for row in rows {
            if let Some(outputs) = outputs.as_mut().filter(|_| !args.predict) {
                bar.suspend(|| outputs.row(&row, &report));
            }
            report.rows.push(row);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if report.rows.is_empty() {
        let why = "there is no row: none of the algorithms carried a call out";
        return Err(Failure::Failed(why.into()));
    }
    if !report.by_algorithm {
        report.guidelines = guidelines::check(&report.rows);
    }
    let written = outputs.map(|mut outputs| {
        if args.predict {
            predict::add(&mut report, mpi)?;
            report.rows.iter().for_each(|row| outputs.row(row, &report));
        }
        outputs.finish(&report)?;
        match &args.plot {
            Some(path) => plot::write(path, &plot::by_algorithm(&report)?),
            None => Ok(()),
        }
    });
    job::agreed(mpi, written.transpose()).map(|_| ())
}

/// A variable by which Rondo leaves calls of one of these to the MPI library, and its value.
fn leaves_all(collectives: &[Collective]) -> Option<String> {
    let config = Config::load().config;
    OPTIONS.iter().find_map(|opt| {
        let is_asked =
            matches!(opt.value_type, ValueType::Algorithm(of) if collectives.contains(&of));
        let value = opt.show(&config);
        let leaves = (opt.name.is_empty() && value == "off") || (is_asked && value == "host");
        leaves.then(|| format!("{}={value}", opt.variable()))
    })
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
        datatype: match args.datatype {
            Datatype::Byte => "byte".into(),
            Datatype::Vector => "vector".into(),
        },
        in_place: args.in_place,
        root: args.root,
        batches: args.batches as usize,
        by_algorithm: !args.algorithm.is_empty(),
        network: None,
        gamma_ns_per_kb: None,
        rows: Vec::new(),
        guidelines: Vec::new(),
    })
}
