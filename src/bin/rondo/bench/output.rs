//! Where results go: a table for people, and JSON.

#![forbid(unsafe_code)]

use super::report::{Report, Row, Times};
use crate::{Failure, arguments, output};
use rondo::collective::{Collective, Family};
use std::{fs::File, io::Write, path::Path};

/// A file, with its name for messages.
pub struct Sink(File, String);

impl Sink {
    pub fn open(path: &Path) -> Result<Sink, Failure> {
        let name = path.display().to_string();
        match File::create(path) {
            Ok(file) => Ok(Sink(file, name)),
            Err(error) => Err(Failure::Failed(format!("cannot write {name}: {error}"))),
        }
    }

    /// Writes a text, at once.
    pub fn write(&mut self, text: &str) -> Result<(), Failure> {
        let done = self.0.write_all(text.as_bytes());
        done.map_err(|error| Failure::Failed(format!("cannot write {}: {error}", self.1)))
    }
}

/// What is written: the table, and JSON if there is a file for it.
pub struct Outputs {
    json: Option<Sink>,
    /// The first that went wrong. Other ranks measure with this one, so it goes on to the end.
    done: Result<(), Failure>,
}

impl Outputs {
    /// Opens the file before anything is measured.
    pub fn open(json: Option<&Path>) -> Result<Outputs, Failure> {
        Ok(Outputs {
            json: json.map(Sink::open).transpose()?,
            done: Ok(()),
        })
    }

    /// A row behind those of the report, as soon as it is there.
    pub fn row(&mut self, row: &Row, report: &Report) {
        let last = report.rows.last();
        let mut text = match last {
            None => title(report),
            Some(_) => String::new(),
        };
        if last.is_none_or(|last| last.collective != row.collective) {
            text += &header(row);
        }
        text += &table_row(row);
        if self.done.is_ok() {
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

/// Columns of a side.
const SIDE: usize = 4 * 11;

fn header(row: &Row) -> String {
    let mut about = format!("\n# {}", row.collective);
    if let Some(dist) = &row.dist {
        about += &format!(", blocks {dist}");
    }
    if let Some(op) = &row.op {
        about += &format!(", op {op}");
    }
    let collective = Collective::named(&row.collective).expect("rows are of known collectives");
    if collective.family() != Family::Barrier {
        about += &format!("; size is that of {}", arguments::size_of(collective));
    }
    let times = format!("{:>11}{:>11}{:>11}{:>11}", "min", "avg", "max", "P99");
    format!(
        "{about}\n# {:>9}{:>SIDE$}{:>SIDE$}\n# {:>9}{times}{times}{:>8}  by\n",
        "", "host us", "Rondo us", "size", "ratio"
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
    format!(
        "{:>11}{}{}{:>8.2}  {}\n",
        arguments::shown(collective, row.size),
        side(&row.host),
        side(&row.rondo),
        row.ratio,
        row.by
    )
}
