//! `rondo algorithms`: what can carry out each collective, and where it is from.

#![forbid(unsafe_code)]

use crate::{Failure, arguments, output};
use rondo::{algorithm::NOTATION, collective::Collective};
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
  rondo algorithms allreduce     one of them, by its name or by its MPI name"
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let all = Collective::ALL.iter().copied();
    let listed = all.filter(|it| args.collective.is_none_or(|only| only == *it));
    output(|out| {
        for collective in listed {
            list(out, collective)?;
            writeln!(out)?;
        }
        write!(out, "Notation\n{}", notation())
    })
}

fn list(out: &mut impl Write, collective: Collective) -> io::Result<()> {
    let option = collective.name().to_ascii_uppercase();
    writeln!(out, "{}, RONDO_{option}", collective.mpi_name())?;
    let family = collective.family();
    for about in family.about() {
        let name = about.algorithm.name();
        let others = family
            .names()
            .filter(|&(other, of)| of == about.algorithm && other != name);
        let others: Vec<&str> = others.map(|(other, _)| other).collect();
        writeln!(out, "  {name:13}  rounds  {}", about.rounds)?;
        if !others.is_empty() {
            writeln!(out, "  {:13}  also    {}", "", others.join(", "))?;
        }
        writeln!(out, "  {:13}  time    {}", "", about.time)?;
        writeln!(out, "  {:13}  source  {}", "", about.source)?;
    }
    Ok(())
}
