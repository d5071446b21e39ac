//! `rondo algorithms`: what can carry out each collective, and where it is from.

#![forbid(unsafe_code)]

use crate::{Failure, arguments, output};
use rondo::{
    algorithm::{Algorithm, NOTATION},
    collective::Collective,
};
use serde::Serialize;
use std::io::{self, Write};

/// List the algorithms of every collective, with their rounds, their time and their source.
///
/// The name of an algorithm, or another one that it also has, is a value of the option that is named beside the
/// collective. The time is that where every rank has a node of its own, as decisions go by it. 'rondo model' follows
/// messages one by one, and adds what else they take.
#[derive(clap::Args)]
#[command(verbatim_doc_comment, after_long_help = after_help())]
pub struct Args {
    /// Only this collective
    #[arg(value_name = "COLLECTIVE", value_parser = arguments::collective)]
    collective: Option<Collective>,
    /// Print one JSON array instead of text
    #[arg(long)]
    json: bool,
}

/// The symbols of formulas, a line each.
fn notation() -> String {
    let line = |(symbol, meaning): &(&str, &str)| format!("  {symbol:10}  {meaning}\n");
    NOTATION.iter().map(line).collect()
}

fn after_help() -> String {
    format!("NOTATION:\n{}", notation())
        + "  docs/algorithms.md has the reasons.

EXAMPLES:
  rondo algorithms               all collectives
  rondo algorithms allreduce     one of them, by its name or by its MPI name
  rondo algorithms --json        [{\"collective\",\"mpi\",\"option\",\"algorithms\"}]: each algorithm has
                                 {\"name\",\"other_names\",\"rounds\",\"time\",\"source\"}"
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
    other_names: Vec<&'static str>,
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
        write!(out, "\nNotation\n{}", notation())
    })
}

fn listed(collective: Collective) -> Listed {
    let family = collective.family();
    let others = |algorithm: Algorithm| {
        let others = family
            .names()
            .filter(move |&(name, of)| of == algorithm && name != algorithm.name());
        others.map(|(name, _)| name).collect()
    };
    let rows = family.about().iter().map(|about| Row {
        name: about.algorithm.name(),
        other_names: others(about.algorithm),
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
        if !row.other_names.is_empty() {
            writeln!(out, "  {:13}  also    {}", "", row.other_names.join(", "))?;
        }
        writeln!(out, "  {:13}  time    {}", "", row.time)?;
        writeln!(out, "  {:13}  source  {}", "", row.source)?;
    }
    Ok(())
}
