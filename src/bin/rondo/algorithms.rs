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

fn after_help() -> String {
    let mut text = "NOTATION:\n".to_owned();
    for symbol in all_symbols() {
        text += &format!("  {}\n", symbol.line());
    }
    text + "  docs/algorithms.md has the reasons.

EXAMPLES:
  rondo algorithms               all collectives
  rondo algorithms allreduce     one of them, by its name or by its MPI name
  rondo algorithms --json        [{\"collective\",\"mpi\",\"option\",\"algorithms\",\"notation\"}]: each algorithm has
                                 {\"name\",\"other_names\",\"rounds\",\"time\",\"source\"}, and each symbol of
                                 their formulas {\"symbol\",\"meaning\"}"
}

/// The JSON form; the field names are an interface to scripts.
#[derive(Serialize)]
struct Listed {
    collective: &'static str,
    mpi: &'static str,
    option: String,
    algorithms: Vec<Row>,
    /// The symbols in what is said of them.
    notation: Vec<Symbol>,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
struct Symbol {
    symbol: &'static str,
    meaning: &'static str,
}

impl Symbol {
    fn line(&self) -> String {
        format!("{:10}  {}", self.symbol, self.meaning)
    }

    /// Does it occur in these words?
    fn is_in(&self, text: &str) -> bool {
        words(text).any(|word| words(self.symbol).next() == Some(word))
    }
}

fn all_symbols() -> impl Iterator<Item = Symbol> {
    let all = NOTATION.iter();
    all.map(|&(symbol, meaning)| Symbol { symbol, meaning })
}

/// The words of a formula. A function keeps its parenthesis: T is not T(k, s, d).
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
    let words = text.split_inclusive(move |c| !is_in_word(c));
    words.map(move |word| word.trim_end_matches(|c| !is_in_word(c) && c != '('))
}

/// The symbols in what is said of these, and those by which they are explained.
fn notation(rows: &[Row]) -> Vec<Symbol> {
    let mut texts: Vec<&str> = rows.iter().flat_map(|row| [row.rounds, row.time]).collect();
    let mut seen = 0;
    while let Some(&text) = texts.get(seen) {
        let new = all_symbols().filter(|symbol| symbol.is_in(text));
        let new: Vec<&str> = new.map(|symbol| symbol.meaning).collect();
        texts.extend(
            new.into_iter()
                .filter(|new| !texts.contains(new))
                .collect::<Vec<_>>(),
        );
        seen += 1;
    }
    let occurs = |symbol: &Symbol| texts.iter().any(|text| symbol.is_in(text));
    all_symbols().filter(occurs).collect()
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
        writeln!(out, "\nNotation")?;
        let occurs = |symbol: &Symbol| listed.iter().any(|it| it.notation.contains(symbol));
        for symbol in all_symbols().filter(occurs) {
            writeln!(out, "  {}", symbol.line())?;
        }
        Ok(())
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
    let rows: Vec<Row> = rows.collect();
    Listed {
        collective: collective.name(),
        mpi: collective.mpi_name(),
        option: format!("RONDO_{}", collective.name().to_ascii_uppercase()),
        notation: notation(&rows),
        algorithms: rows,
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
