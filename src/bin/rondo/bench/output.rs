//! Where results go: a table for people, CSV, JSON.

#![forbid(unsafe_code)]

use super::{
    guidelines::TOLERANCE,
    report::{Report, Row},
    times::Times,
};
use crate::{Failure, collectives};
use rondo::collective::Family;
use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

/// What is written. Without a file, CSV and JSON take the place of the table on the standard output.
pub struct Outputs {
    table: bool,
    csv: Option<Sink>,
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

/// The columns; the last one comes behind the prediction, where there is one.
const CSV: &str = "collective,dist,op,size,total,calls,host_min_us,host_avg_us,host_median_us,host_max_us,host_p99_us,\
    rondo_min_us,rondo_avg_us,rondo_median_us,rondo_max_us,rondo_p99_us,ratio,host_root_us,rondo_root_us,";

impl Outputs {
    /// Opens the files before anything is measured.
    pub fn open(
        csv: Option<&Path>,
        json: Option<&Path>,
        predicted: bool,
    ) -> Result<Outputs, Failure> {
        let is_stdout = |path: Option<&Path>| path.is_some_and(|path| path.as_os_str() == "-");
        if is_stdout(csv) && is_stdout(json) {
            let why = "only one of --csv and --json can have the standard output";
            return Err(Failure::Usage(why.into()));
        }
        let mut csv_sink = csv.map(Sink::open).transpose()?;
        if let Some(csv) = &mut csv_sink {
            let last = if predicted {
                "predicted_us,by\n"
            } else {
                "by\n"
            };
            csv.write(&format!("{CSV}{last}"))?;
        }
        Ok(Outputs {
            table: !is_stdout(csv) && !is_stdout(json),
            csv: csv_sink,
            json: json.map(Sink::open).transpose()?,
            section: None,
            done: Ok(()),
        })
    }

    /// A row as soon as it is there.
    pub fn row(&mut self, row: &Row, report: &Report) {
        if self.done.is_ok() {
            self.done = self.write_row(row, report);
        }
    }

    fn write_row(&mut self, row: &Row, report: &Report) -> Result<(), Failure> {
        if let Some(csv) = &mut self.csv {
            csv.write(&csv_row(row, report.network.is_some()))?;
        }
        if !self.table {
            return Ok(());
        }
        let section = (row.collective.clone(), [row.dist.clone(), row.op.clone()]);
        let mut text = String::new();
        if self.section.is_none() {
            text = title(report);
        }
        if self.section.as_ref() != Some(&section) {
            text += &header(row, report);
            self.section = Some(section);
        }
        print(&(text + &table_row(row, report.network.is_some())))
    }

    /// The guidelines, and JSON.
    pub fn finish(mut self, report: &Report) -> Result<(), Failure> {
        self.done?;
        if self.table && !report.guidelines.is_empty() {
            print(&guidelines(report))?;
        }
        let Some(json) = &mut self.json else {
            return Ok(());
        };
        let text = serde_json::to_string_pretty(report).expect("numbers, texts and lists of them");
        json.write(&(text + "\n"))
    }
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

fn title(report: &Report) -> String {
    let (ranks, nodes) = (report.ranks, report.nodes.len());
    let plural = if nodes == 1 { "node" } else { "nodes" };
    let network = report.network.as_ref();
    let network = network.map(|network| format!("# the model goes by {}\n", network.text()));
    format!(
        "# rondo {} on {}, {ranks} ranks on {nodes} {plural}\n{}",
        report.rondo,
        report.mpi,
        network.unwrap_or_default()
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
    if report.datatype != "byte" {
        about += &format!(", {}", report.datatype);
    }
    let collective = collectives::known(&row.collective).expect("rows are of known collectives");
    if report.in_place && collective.family() != Family::Broadcast {
        about += ", in place";
    }
    if collective.family() != Family::Barrier {
        about += &format!("; size is that of {}", collectives::size_of(collective));
    }
    let times = format!("{:>11}{:>11}{:>11}{:>11}", "min", "avg", "max", "P99");
    let (root, both) = match row.root {
        Some(_) => (
            format!("{:>22}", "root itself us"),
            format!("{:>11}{:>11}", "host", "Rondo"),
        ),
        None => Default::default(),
    };
    let predicted = match report.network {
        Some(_) => format!("{:>11}", "predicted"),
        None => String::new(),
    };
    format!(
        "{about}\n# {:>9}{:>SIDE$}{:>SIDE$}{:>8}{root}\n# {:>9}{times}{times}{:>8}{both}{predicted}  by\n",
        "", "host us", "Rondo us", "", "size", "ratio"
    )
}

fn table_row(row: &Row, predicts: bool) -> String {
    let collective = collectives::known(&row.collective).expect("rows are of known collectives");
    let side = |times: &Times| {
        let Times {
            min, avg, max, p99, ..
        } = times;
        format!("{min:>11.2}{avg:>11.2}{max:>11.2}{p99:>11.2}")
    };
    let root = row
        .root
        .map(|[host, rondo]| format!("{host:>11.2}{rondo:>11.2}"));
    let predicted = match row.predicted {
        _ if !predicts => String::new(),
        Some(us) => format!("{us:>11.2}"),
        None => format!("{:>11}", "-"),
    };
    format!(
        "{:>11}{}{}{:>8.2}{}{predicted}  {}\n",
        collectives::shown(collective, row.size),
        side(&row.host),
        side(&row.rondo),
        row.ratio,
        root.unwrap_or_default(),
        row.by
    )
}

fn csv_row(row: &Row, predicts: bool) -> String {
    let side = |times: &Times| {
        let Times {
            min,
            avg,
            median,
            p99,
            max,
        } = times;
        format!("{min:.3},{avg:.3},{median:.3},{max:.3},{p99:.3}")
    };
    let root = row
        .root
        .map(|[host, rondo]| format!("{host:.3},{rondo:.3}"));
    let predicted = match row.predicted {
        _ if !predicts => String::new(),
        Some(us) => format!("{us:.3},"),
        None => ",".into(),
    };
    format!(
        "{},{},{},{},{},{},{},{},{:.4},{},{predicted}{}\n",
        row.collective,
        row.dist.as_deref().unwrap_or_default(),
        row.op.as_deref().unwrap_or_default(),
        row.size,
        row.total,
        row.calls,
        side(&row.host),
        side(&row.rondo),
        row.ratio,
        root.unwrap_or_else(|| ",".into()),
        row.by
    )
}

fn guidelines(report: &Report) -> String {
    let mut text = String::from("\n# guidelines: times as long as what could stand in its place\n");
    text += &format!(
        "# {:<36}{:<20}{:<9}{:>11}{:>9}{:>9}\n",
        "", "blocks", "op", "all bytes", "host", "Rondo"
    );
    for guideline in &report.guidelines {
        let flag = match [guideline.host, guideline.rondo].map(|factor| factor > TOLERANCE) {
            [false, false] => "",
            [true, false] => "  violated by the host",
            [false, true] => "  violated by Rondo",
            [true, true] => "  violated by both",
        };
        text += &format!(
            "  {:<36}{:<20}{:<9}{:>11}{:>9.2}{:>9.2}{flag}\n",
            guideline.name,
            guideline.dist,
            guideline.op.as_deref().unwrap_or("-"),
            guideline.total,
            guideline.host,
            guideline.rondo
        );
    }
    text
}
