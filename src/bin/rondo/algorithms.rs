//! `rondo algorithms`: what can carry out each collective, and where it is from.

#![forbid(unsafe_code)]

use crate::{Failure, collectives, output};
use rondo::collective::Collective;
use serde::Serialize;
use std::io::{self, Write};

/// List the algorithms of every collective, with their rounds, their time and their source.
///
/// The name of an algorithm is a value of the option that is named beside the collective. The time is that where every
/// rank has a node of its own, as decisions go by it. 'rondo model' follows messages one by one, and adds what else
/// they take.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
NOTATION:
  p ranks, q = ceil(log2 p); a message of b bytes takes alpha + beta b
  m bytes: of the message, of a rank's vector, or of all ranks together; n blocks of them
  b bytes of every rank's block in a gather or scatter; T bytes, from which on they go straight
  g'     the least time between two messages of a rank that receives others meanwhile
  o      what the root spends on each of many messages
  h      messages one after the other on a block's longest way, about floor(log2 p) + 1
  gamma  the time to reduce a byte; delta: to pass a byte on
  k      the radix: a round has up to k - 1 messages of each rank
  F(t)   1 for t < L, then F(t-1) + F(t-L), for L messages under way at a time
  docs/algorithms.md has the reasons.

EXAMPLES:
  rondo algorithms               all collectives
  rondo algorithms allreduce     one of them, by its name or by its MPI name
  rondo algorithms --json        [{\"collective\",\"mpi\",\"option\",\"algorithms\"}], of which each has
                                 {\"name\",\"rounds\",\"time\",\"source\"}"
)]
pub struct Args {
    /// Only this collective
    #[arg(value_name = "COLLECTIVE", value_parser = collectives::by_any_name)]
    collective: Option<Collective>,
    /// Print one JSON array instead of text
    #[arg(long)]
    json: bool,
}

/// The JSON form; the field names are an interface to scripts.
#[derive(Serialize)]
struct Listed {
    collective: &'static str,
    mpi: &'static str,
    option: String,
    algorithms: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    rounds: &'static str,
    time: &'static str,
    source: &'static str,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let all = Collective::ALL.iter().copied();
    let listed: Vec<Listed> = all
        .filter(|collective| args.collective.is_none_or(|only| only == *collective))
        .map(listed)
        .collect();
    output(|out| {
        if args.json {
            serde_json::to_writer_pretty(&mut *out, &listed)?;
            return writeln!(out);
        }
        for (i, collective) in listed.iter().enumerate() {
            if i > 0 {
                writeln!(out)?;
            }
            text(out, collective)?;
        }
        Ok(())
    })
}

fn listed(collective: Collective) -> Listed {
    let rows = collective.family().about().iter().map(|about| Row {
        name: about.algorithm.name(),
        rounds: about.rounds,
        time: about.time,
        source: about.source,
    });
    Listed {
        collective: collective.name(),
        mpi: collective.mpi_name(),
        option: format!("RONDO_{}", collective.name().to_ascii_uppercase()),
        algorithms: rows.collect(),
    }
}

fn text(out: &mut impl Write, listed: &Listed) -> io::Result<()> {
    writeln!(out, "{}, {}", listed.mpi, listed.option)?;
    for row in &listed.algorithms {
        writeln!(out, "  {:13}  rounds  {}", row.name, row.rounds)?;
        writeln!(out, "  {:13}  time    {}", "", row.time)?;
        writeln!(out, "  {:13}  source  {}", "", row.source)?;
    }
    Ok(())
}
