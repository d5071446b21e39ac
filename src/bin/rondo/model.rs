//! `rondo model`: what the cost model predicts of every algorithm of a collective.

#![forbid(unsafe_code)]

mod ask;
mod input;

use crate::arguments::{self, Numbers, numbers};
use crate::{Failure, output};
use ask::Question;
use input::Given;
use input::Preset;
use rondo::collective::{Collective, Family};
use rondo::config::Config;
use rondo::network::Network;
use serde::Serialize;
use std::io::{self, Write};

/// Predict what every algorithm of a collective takes: time, rounds, and the bytes that the busiest rank sends.
///
/// Every rank has a node of its own. Blocks are those in which Rondo would cut the call by default, parts are equal,
/// and operators of reductions allow every order. Bytes are those of the message, of a rank's vector, of all ranks
/// together in an allgather, of a rank's block in a gather or scatter, of a rank's blocks together in an alltoall. The
/// network is a preset, or that of a file of rules. Options in the environment do not count here: all have their
/// defaults. What the model cannot predict is "-", with the reason.
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
  rondo model barrier --ranks 2:1M
  rondo model allgather --ranks 64 --bytes 1M --from rules.json --json

FILE:
  RONDO_LEARN=save:FILE writes what it measured. Or write one, with the figures of another network:
  {\"network\": {\"alpha_us\": 1.9, \"gap_us\": 0.3, \"beta_ns_per_kb\": 82}, \"rules\": []}"
)]
pub struct Args {
    /// The collective, by its name or by its MPI name
    #[arg(value_name = "COLLECTIVE", value_parser = arguments::collective)]
    collective: Collective,
    /// The number of ranks, from 2 to 1M; several with commas, and MIN:MAX are MIN, 2 MIN, 4 MIN, up to MAX
    #[arg(
        short = 'p',
        long,
        value_name = "P",
        value_delimiter = ',',
        required = true
    )]
    ranks: Vec<Numbers>,
    /// Bytes, one or several numbers in the same way; none for a barrier
    #[arg(
        short,
        long,
        value_name = "B",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    bytes: Vec<Numbers>,
    #[command(flatten)]
    network: Given,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Where more ranks are asked for than any machine has, the number is a mistake.
const RANKS_MAX: u32 = 1 << 20;

/// From a number to the next in MIN:MAX.
const STEP: u64 = 2;

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
    rows: &'a [Row],
}

#[derive(Serialize)]
struct Row {
    ranks: u32,
    bytes: u64,
    algorithm: String,
    blocks: Option<u32>,
    rounds: Option<u64>,
    sent: Option<u64>,
    us: Option<f64>,
    /// Why there is no prediction.
    why: Option<String>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let preset = args.network.network()?;
    let config = Config::default();
    let mut rows = Vec::new();
    for ranks in ranks(args)? {
        for bytes in sizes(args, ranks)? {
            let question = Question {
                collective: args.collective,
                ranks,
                bytes,
                network: preset.network,
                eager: preset.eager,
                placed_bytes: preset.placed_bytes,
                copies_free: preset.copies_free,
                gamma_ns_per_kb: preset.gamma_ns_per_kb,
                config: &config,
            };
            for (algorithm, answer) in question.ask_all() {
                let known = answer.as_ref().ok();
                rows.push(Row {
                    ranks,
                    bytes,
                    algorithm: algorithm.name().to_owned(),
                    blocks: known.map(|answer| answer.blocks),
                    rounds: known.and_then(|answer| answer.prediction.rounds),
                    sent: known.map(|answer| answer.prediction.sent),
                    us: known.map(|answer| answer.prediction.us),
                    why: answer.err(),
                });
            }
        }
    }
    output(|out| {
        if args.json {
            let json = Json {
                collective: args.collective.name(),
                network: preset.network,
                eager_bytes: preset.eager,
                placed_bytes: Some(preset.placed_bytes).filter(|&bytes| bytes < u64::MAX),
                copies_free: preset.copies_free,
                gamma_ns_per_kb: preset.gamma_ns_per_kb,
                rows: &rows,
            };
            serde_json::to_writer_pretty(&mut *out, &json)?;
            return writeln!(out);
        }
        table(out, args, &rows, &preset)
    })
}

/// Numbers of ranks.
fn ranks(args: &Args) -> Result<Vec<u32>, Failure> {
    let rank = |ranks: u64| {
        let fits = (2..=RANKS_MAX.into()).contains(&ranks);
        let wrong = || Failure::Usage(format!("{ranks} ranks are not in 2..={RANKS_MAX}"));
        fits.then_some(ranks as u32).ok_or_else(wrong)
    };
    numbers(&args.ranks, STEP).into_iter().map(rank).collect()
}

/// Numbers of bytes for so many ranks.
fn sizes(args: &Args, ranks: u32) -> Result<Vec<u64>, Failure> {
    let usage = |what: String| Err(Failure::Usage(what));
    let sizes = numbers(&args.bytes, STEP);
    let family = args.collective.family();
    match sizes.first() {
        Some(_) if family == Family::Barrier => usage("a barrier has no bytes".into()),
        None if family == Family::Barrier => Ok(vec![0]),
        None => usage("say with --bytes how many bytes there are".into()),
        Some(&least) if family.is_exchange() && least < ranks.into() => usage(format!(
            "{least} bytes are less than one for each of {ranks} ranks: --bytes are all that a rank sends"
        )),
        Some(_) => Ok(sizes),
    }
}

fn table(out: &mut impl Write, args: &Args, rows: &[Row], preset: &Preset) -> io::Result<()> {
    let name = args.collective.mpi_name();
    let of = match args.collective {
        Collective::Barrier => String::new(),
        other => format!(", bytes of {}", arguments::size_of(other)),
    };
    writeln!(out, "{name} by the model{of}")?;
    writeln!(out, "{}", preset.network.text())?;
    writeln!(out, "{}", preset.manners())?;
    if args.collective.family().reduces() {
        writeln!(out, "{} ns/KiB to reduce", preset.gamma_ns_per_kb)?;
    }
    let head = [
        "ranks",
        "bytes",
        "algorithm",
        "blocks",
        "rounds",
        "sent",
        "us",
    ];
    let [ranks, bytes, algorithm, blocks, rounds, sent, us] = head;
    writeln!(
        out,
        "\n{ranks:>7} {bytes:>13}  {algorithm:13} {blocks:>6} {rounds:>8} {sent:>13} {us:>12}"
    )?;
    for row in rows {
        let text = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
        write!(
            out,
            "{:>7} {:>13}  {:13} {:>6} {:>8} {:>13} {:>12}",
            row.ranks,
            arguments::shown(args.collective, row.bytes),
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
