//! `rondo plot`: a picture of what `rondo bench` measured.

#![forbid(unsafe_code)]

mod draw;

use crate::{
    Failure, arguments,
    bench::report::{Report, Row},
};
use draw::{Curve, Panel, Value};
use rondo::collective::Collective;
use std::{fs, path::PathBuf};

/// Draw what 'rondo bench' measured: times over the size.
///
/// The file is one that 'rondo bench --json=FILE' writes. Each collective gets a picture of its times, which are
/// medians, and beside it one of the ratios host / Rondo; axes are logarithmic.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Results of rondo bench
    file: PathBuf,
    /// The picture, whose name ends with .svg
    #[arg(short = 'o', long, value_name = "PICTURE")]
    output: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let (file, output) = (args.file.display(), args.output.display());
    if args.output.extension().unwrap_or_default() != "svg" {
        let why = format!("{output}: take a name that ends with .svg");
        return Err(Failure::Usage(why));
    }
    let text = fs::read_to_string(&args.file);
    let text = text.map_err(|error| Failure::Failed(format!("{file}: {error}")))?;
    let foreign = |error| format!("these are no results of 'rondo bench --json': {error}");
    let report: Result<Report, String> = serde_json::from_str(&text).map_err(foreign);
    let drawn = report.and_then(|report| {
        let (rondo, mpi, ranks) = (&report.rondo, &report.mpi, report.ranks);
        Ok((
            format!("Rondo {rondo} on {mpi}, {ranks} ranks"),
            panels(&report.rows)?,
        ))
    });
    let (title, panels) = drawn.map_err(|what| Failure::Usage(format!("{file}: {what}")))?;
    let svg = draw::svg(&title, &panels);
    let svg = svg.map_err(|why| Failure::Failed(format!("cannot draw {output}: {why}")))?;
    fs::write(&args.output, svg)
        .map_err(|error| Failure::Failed(format!("cannot write {output}: {error}")))
}

/// Two for each collective.
fn panels(rows: &[Row]) -> Result<Vec<Panel>, String> {
    if rows.is_empty() {
        return Err("nothing in it could be drawn".into());
    }
    let is_time = |us: f64| us.is_finite() && us > 0.0;
    let mut panels = vec![];
    for rows in rows.chunk_by(|a, b| a.collective == b.collective) {
        let Row {
            collective: name,
            dist,
            op,
            ..
        } = &rows[0];
        let collective = Collective::named(name).filter(|collective| collective.name() == name);
        let collective = collective.ok_or_else(|| format!("'{name}' is no collective"))?;
        let is_wrong =
            |row: &&Row| row.size == 0 || !is_time(row.host.median) || !is_time(row.rondo.median);
        if let Some(row) = rows.iter().find(is_wrong) {
            let size = row.size;
            return Err(format!("{name} of {size} bytes has no time above 0"));
        }
        let mut title = collective.mpi_name().to_owned();
        if let Some(dist) = dist {
            title += &format!(", blocks {dist}");
        }
        if let Some(op) = op {
            title += &format!(", {op}");
        }
        let curve = |name, of: fn(&Row) -> f64| Curve {
            name,
            points: rows.iter().map(|row| (row.size as f64, of(row))).collect(),
        };
        let panel = |value, curves| Panel {
            title: title.clone(),
            axis: format!("bytes of {}", arguments::size_of(collective)),
            value,
            curves,
        };
        let times = [
            curve("host", |row| row.host.median),
            curve("Rondo", |row| row.rondo.median),
        ];
        let ratio = curve("Rondo", |row| row.host.median / row.rondo.median);
        panels.push(panel(Value::Time, times.into()));
        panels.push(panel(Value::Ratio, vec![ratio]));
    }
    Ok(panels)
}
