//! Where results go: a table for people, and JSON.

#![forbid(unsafe_code)]

use super::report::{Report, Row, Times};
use crate::{Failure, arguments, output};
use rondo::collective::{Collective, Family};
use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

/// What is written. Without a file, JSON takes the place of the table on the standard output.
pub struct Outputs {
    table: bool,
    json: Option<Sink>,
    /// What the table's rows have been about so far.
    section: Option<(String, [Option<String>; 2])>,
    /// The first that went wrong. Other ranks measure with this one, so it goes on to the end.
    done: Result<(), Failure>,
}

/// A file or the standard output, with its name for messages.
pub struct Sink(Box<dyn Write>, String);

impl Sink {
    /// Opens it: `-` is the standard output.
    pub fn open(path: &Path) -> Result<Sink, Failure> {
        if path.as_os_str() == "-" {
            return Ok(Sink(Box::new(io::stdout()), "the output".into()));
        }
        let name = path.display().to_string();
        match File::create(path) {
            Ok(file) => Ok(Sink(Box::new(file), name)),
            Err(error) => Err(Failure::Failed(format!("cannot write {name}: {error}"))),
        }
    }

    /// Writes a text, at once.
    pub fn write(&mut self, text: &str) -> Result<(), Failure> {
        let done = self
            .0
            .write_all(text.as_bytes())
            .and_then(|()| self.0.flush());
        done.map_err(|error| Failure::Failed(format!("cannot write {}: {error}", self.1)))
    }
}

impl Outputs {
    /// Opens the file before anything is measured.
    pub fn open(json: Option<&Path>) -> Result<Outputs, Failure> {
        Ok(Outputs {
            table: json.is_none_or(|path| path.as_os_str() != "-"),
            json: json.map(Sink::open).transpose()?,
            section: None,
            done: Ok(()),
        })
    }

    /// A row as soon as it is there.
    pub fn row(&mut self, row: &Row, report: &Report) {
        if self.table && self.done.is_ok() {
            let section = (row.collective.clone(), [row.dist.clone(), row.op.clone()]);
            let mut text = String::new();
            if self.section.is_none() {
                text = title(report);
            }
            if self.section.as_ref() != Some(&section) {
                text += &header(row, report);
                self.section = Some(section);
            }
            text += &table_row(row);
            self.done = output(|out| out.write_all(text.as_bytes()));
        }
    }

    /// JSON, which is written at once.
    pub fn finish(mut self, report: &Report) -> Result<(), Failure> {
        self.done?;
        let Some(json) = &mut self.json else {
            return Ok(());
        };
        let text = serde_json::to_string_pretty(report).expect("numbers, texts and lists of them");
        json.write(&(text + "\n"))
    }
}

fn title(report: &Report) -> String {
    let (ranks, nodes) = (report.ranks, report.nodes.len());
    let plural = if nodes == 1 { "node" } else { "nodes" };
    format!(
        "# rondo {} on {}, {ranks} ranks on {nodes} {plural}\n",
        report.rondo, report.mpi
    )
}

/// Columns of a side, and of all.
const SIDE: usize = 4 * 11;

fn header(row: &Row, report: &Report) -> String {
    let mut about = format!("\n# {}", row.collective);
    if let Some(dist) = &row.dist {
        about += &format!(", blocks {dist}");
    }
    if let Some(op) = &row.op {
        about += &format!(", op {op}");
    }
    if row.root.is_some() {
        about += &format!(", root {}", report.root);
    }
    let collective = Collective::named(&row.collective).expect("rows are of known collectives");
    if collective.family() != Family::Barrier {
        about += &format!("; size is that of {}", arguments::size_of(collective));
    }
    let times = format!("{:>11}{:>11}{:>11}{:>11}", "min", "avg", "max", "P99");
    let (root, both) = match row.root {
        Some(_) => (
            format!("{:>22}", "root itself us"),
            format!("{:>11}{:>11}", "host", "Rondo"),
        ),
        None => Default::default(),
    };
    format!(
        "{about}\n# {:>9}{:>SIDE$}{:>SIDE$}{:>8}{root}\n# {:>9}{times}{times}{:>8}{both}  by\n",
        "", "host us", "Rondo us", "", "size", "ratio"
    )
}

fn table_row(row: &Row) -> String {
    let collective = Collective::named(&row.collective).expect("rows are of known collectives");
    let side = |times: &Times| {
        let Times {
            min, avg, max, p99, ..
        } = times;
        format!("{min:>11.2}{avg:>11.2}{max:>11.2}{p99:>11.2}")
    };
    let root = row
        .root
        .map(|[host, rondo]| format!("{host:>11.2}{rondo:>11.2}"));
    format!(
        "{:>11}{}{}{:>8.2}{}  {}\n",
        arguments::shown(collective, row.size),
        side(&row.host),
        side(&row.rondo),
        row.ratio,
        root.unwrap_or_default(),
        row.by
    )
}
