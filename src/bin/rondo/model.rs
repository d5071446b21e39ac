//! `rondo model`: what the cost model predicts of every algorithm of a collective.

#![forbid(unsafe_code)]

mod ask;
mod between;
mod input;
mod points;

use crate::plot::{self, Curve, Curves};
use crate::{Failure, collectives, count, output};
use ask::Answer;
pub use ask::Question;
use input::Given;
pub use input::PRESETS;
use input::Preset;
use points::{Point, RANKS_MAX, Size, points};
use rondo::algorithm::Algorithm;
use rondo::collective::Collective;
use rondo::config::{ARITY_MAX, Config, RADIX_MAX};
use rondo::network::Network;
use serde::Serialize;
use std::{
    io::{self, Write},
    path::PathBuf,
};

/// Predict what every algorithm of a collective takes: time, rounds, and the bytes that the busiest rank sends.
///
/// Blocks are those in which Rondo would cut the call by default, parts are equal, and operators of reductions allow
/// every order. Bytes are those of the message, of a rank's vector, of all ranks together in an allgather, of a rank's
/// block in a gather or scatter, of a rank's blocks together in an alltoall. The network is a preset, or that of a file
/// of rules, and single figures go before. Options in the environment do not count here: all have their defaults but
/// those of --arity and --radix. What the model cannot predict is "-", with the reason.
///
/// Times begin when all ranks do and end with the last one. The model knows nothing of what else a computer does;
/// docs/results/simulated.md compares it with simulations.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = input::presets(),
    after_long_help = input::presets() + "
EXAMPLES:
  rondo model bcast --ranks 36 --bytes 4,4K,4M --preset 100-gbit
  rondo model allreduce --ranks 1024 --bytes 1K,64M --plot allreduce.svg
  rondo model barrier --ranks 1M --over ranks --plot barrier.svg
  rondo model bcast --ranks 1000 --bytes 8K --arity 8
  rondo model allgather --ranks 64 --nodes 8 --bytes 1M --from rules.json --json"
)]
pub struct Args {
    /// The collective, by its name or by its MPI name
    #[arg(value_name = "COLLECTIVE", value_parser = collectives::by_any_name)]
    collective: Collective,
    /// The number of ranks, from 2 to 1M
    #[arg(short = 'p', long, value_name = "P", value_parser = count(2, RANKS_MAX))]
    ranks: u32,
    /// The number of nodes; by default every rank has one
    #[arg(long, value_name = "N", value_parser = count(1, RANKS_MAX))]
    nodes: Option<u32>,
    /// Bytes, one or several numbers; none for a barrier
    #[arg(
        short,
        long,
        value_name = "B",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    bytes: Vec<Size>,
    #[command(flatten)]
    network: Given,
    /// The K of kary and knomial, as by RONDO_TREE_ARITY [default: 4]
    #[arg(long, value_name = "K", value_parser = count(1, ARITY_MAX), allow_negative_numbers = true)]
    arity: Option<u32>,
    /// The radix of rounds with several messages, as by RONDO_RADIX [default: what the model finds fastest]
    #[arg(long, value_name = "K", value_parser = count(2, RADIX_MAX), allow_negative_numbers = true)]
    radix: Option<u32>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// Draw times as curves into a file whose name ends with .svg or .png: from the least of --bytes to the largest
    #[arg(long, value_name = "PICTURE")]
    plot: Option<PathBuf>,
    /// What the rows and curves are over; ranks: 2, 4, 8 and so on up to --ranks, with as many on every node
    #[arg(long, default_value = "bytes", value_parser = ["bytes", "ranks"])]
    over: String,
}

/// The JSON form; the field names are an interface to scripts.
#[derive(Serialize)]
struct Json<'a> {
    collective: &'a str,
    network: Network,
    /// Bytes up to which a message leaves without an answer.
    eager_bytes: u64,
    /// Bytes from which on the network puts a message into its place, if it does.
    placed_bytes: Option<u64>,
    copies_free: bool,
    gamma_ns_per_kb: f64,
    arity: u32,
    /// If one is given.
    radix: Option<u32>,
    rows: &'a [Row],
}

#[derive(Serialize)]
struct Row {
    ranks: u32,
    nodes: u32,
    bytes: u64,
    algorithm: &'static str,
    blocks: Option<u32>,
    rounds: Option<u64>,
    sent: Option<u64>,
    us: Option<f64>,
    /// Why there is no prediction.
    why: Option<String>,
}

impl Args {
    /// The options of the library.
    fn config(&self) -> Config {
        let usual = Config::default();
        Config {
            tree_arity: self.arity.unwrap_or(usual.tree_arity),
            radix: self.radix.unwrap_or(usual.radix),
            ..usual
        }
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let preset = args.network.network()?;
    let config = args.config();
    let over_ranks = args.over == "ranks";
    if let Some(path) = &args.plot {
        plot::check_name(path)?;
    }
    let (points, drawn) = points(args, over_ranks)?;
    let rows = |points: &[Point]| -> Vec<Row> {
        let of = |point: &Point| {
            let question = Question {
                collective: args.collective,
                ranks: point.ranks,
                nodes: point.nodes,
                bytes: point.bytes,
                network: preset.network,
                eager: preset.eager,
                placed_bytes: preset.placed_bytes,
                copies_free: preset.copies_free,
                gamma_ns_per_kb: preset.gamma_ns_per_kb,
                config: &config,
            };
            let row = |(algorithm, answer): (Algorithm, Result<Answer, String>)| {
                let known = answer.as_ref().ok();
                Row {
                    ranks: point.ranks,
                    nodes: point.nodes,
                    bytes: point.bytes,
                    algorithm: algorithm.name(),
                    blocks: known.map(|answer| answer.blocks),
                    rounds: known.and_then(|answer| answer.prediction.rounds),
                    sent: known.map(|answer| answer.prediction.sent),
                    us: known.map(|answer| answer.prediction.us),
                    why: answer.err(),
                }
            };
            question
                .ask_all()
                .into_iter()
                .map(row)
                .collect::<Vec<Row>>()
        };
        points.iter().flat_map(of).collect()
    };
    if let Some(path) = &args.plot {
        let curves = curves(args, &rows(&drawn), over_ranks, &preset.network);
        if curves.all.is_empty() {
            return Err(Failure::Usage(
                "the model predicts nothing that could be drawn".into(),
            ));
        }
        plot::write(path, &curves)?;
    }
    let rows = rows(&points);
    output(|out| {
        if args.json {
            let json = Json {
                collective: args.collective.name(),
                network: preset.network,
                eager_bytes: preset.eager,
                placed_bytes: Some(preset.placed_bytes).filter(|&bytes| bytes < u64::MAX),
                copies_free: preset.copies_free,
                gamma_ns_per_kb: preset.gamma_ns_per_kb,
                arity: config.tree_arity,
                radix: args.radix,
                rows: &rows,
            };
            serde_json::to_writer_pretty(&mut *out, &json)?;
            return writeln!(out);
        }
        table(out, args, &rows, &preset)
    })
}

/// A curve for each algorithm that has predictions.
fn curves(args: &Args, rows: &[Row], over_ranks: bool, network: &Network) -> Curves {
    let curve = |name: &str| {
        let own = rows.iter().filter(|row| row.algorithm == name);
        let points = own.filter_map(|row| {
            let x = if over_ranks {
                row.ranks.into()
            } else {
                row.bytes
            };
            // A time of nothing has no place on the axis.
            Some((x as f64, row.us.filter(|&us| us > 0.0)?))
        });
        Curve {
            name: name.into(),
            points: points.collect(),
            predicted: Vec::new(),
        }
    };
    let names = args
        .collective
        .algorithms()
        .iter()
        .map(|algorithm| algorithm.name());
    let all = names.map(curve).filter(|curve| !curve.points.is_empty());
    let last = &rows[rows.len() - 1];
    let (of, axis) = match over_ranks {
        true => (format!("{} bytes", last.bytes), "ranks".to_owned()),
        false => (
            format!("{} ranks on {} nodes", last.ranks, last.nodes),
            format!("bytes of {}", collectives::size_of(args.collective)),
        ),
    };
    Curves {
        title: format!("{}, {of}, by the model", args.collective.mpi_name()),
        about: network.text(),
        axis,
        all: all.collect(),
    }
}

fn table(out: &mut impl Write, args: &Args, rows: &[Row], preset: &Preset) -> io::Result<()> {
    let name = args.collective.mpi_name();
    let of = match args.collective {
        Collective::Barrier => String::new(),
        other => format!(", bytes of {}", collectives::size_of(other)),
    };
    writeln!(out, "{name} by the model{of}")?;
    writeln!(out, "{}", preset.network.text())?;
    writeln!(out, "{}", preset.manners())?;
    if let Some(arity) = args.arity {
        writeln!(out, "trees of arity {arity}")?;
    }
    if let Some(radix) = args.radix {
        writeln!(out, "rounds of radix {radix}")?;
    }
    if args.collective.family().reduces() {
        writeln!(out, "{} ns/KiB to reduce", preset.gamma_ns_per_kb)?;
    }
    let head = [
        "ranks",
        "nodes",
        "bytes",
        "algorithm",
        "blocks",
        "rounds",
        "sent",
        "us",
    ];
    let [ranks, nodes, bytes, algorithm, blocks, rounds, sent, us] = head;
    writeln!(
        out,
        "\n{ranks:>7} {nodes:>7} {bytes:>13}  {algorithm:13} {blocks:>6} {rounds:>8} {sent:>13} {us:>12}"
    )?;
    for row in rows {
        let text = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
        write!(
            out,
            "{:>7} {:>7} {:>13}  {:13} {:>6} {:>8} {:>13} {:>12}",
            row.ranks,
            row.nodes,
            collectives::shown(args.collective, row.bytes),
            row.algorithm,
            text(row.blocks.map(u64::from)),
            text(row.rounds),
            text(row.sent),
            row.us.map_or("-".to_owned(), |us| format!("{us:.1}")),
        )?;
        match &row.why {
            Some(why) => writeln!(out, "  {why}")?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}
