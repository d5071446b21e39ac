//! `rondo plot`: pictures of what `rondo bench` measured.

#![forbid(unsafe_code)]

mod draw;

use crate::{Failure, arguments, bench::report::Report};
use draw::{Curve, Panel, Value};
use rondo::collective::Collective;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Draw what 'rondo bench' measured: times over the size.
///
/// The files are those that 'rondo bench --json=FILE' writes. Each collective gets a picture of its times, which are
/// medians, and beside it one of the ratios host / Rondo; axes are logarithmic. Several files are drawn into the same
/// ones.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Results of rondo bench
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The picture, whose name ends with .svg
    #[arg(short = 'o', long, value_name = "PICTURE")]
    output: PathBuf,
    /// What stands above it
    #[arg(long)]
    title: Option<String>,
}

/// Where a point belongs.
struct Point {
    panel: String,
    axis: String,
    value: Value,
    curve: String,
    at: (f64, f64),
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let output = args.output.display();
    if args.output.extension().unwrap_or_default() != "svg" {
        let why = format!("{output}: take a name that ends with .svg");
        return Err(Failure::Usage(why));
    }
    let (mut panels, mut title): (Vec<Panel>, _) = (Vec::new(), None);
    for path in &args.files {
        let (about, points) = read(path)?;
        title.get_or_insert(about);
        // With one file there is nothing to tell apart.
        let suffix = match &args.files[..] {
            [_] => String::new(),
            _ => format!(", {}", path.file_stem().unwrap_or_default().display()),
        };
        for point in points {
            add(&mut panels, point, &suffix);
        }
    }
    let title = args.title.clone().or(title).unwrap_or_default();
    let svg = draw::svg(&title, &panels);
    let svg = svg.map_err(|why| Failure::Failed(format!("cannot draw {output}: {why}")))?;
    fs::write(&args.output, svg)
        .map_err(|error| Failure::Failed(format!("cannot write {output}: {error}")))
}

/// Puts a point into its curve.
fn add(panels: &mut Vec<Panel>, point: Point, suffix: &str) {
    let is_same = |panel: &Panel| panel.title == point.panel && panel.value == point.value;
    let place = panels.iter().position(is_same).unwrap_or_else(|| {
        panels.push(Panel {
            title: point.panel.clone(),
            axis: point.axis.clone(),
            value: point.value,
            curves: Vec::new(),
        });
        panels.len() - 1
    });
    let curves = &mut panels[place].curves;
    let name = point.curve + suffix;
    let place = curves.iter().position(|curve| curve.name == name);
    let place = place.unwrap_or_else(|| {
        curves.push(Curve {
            name,
            points: Vec::new(),
        });
        curves.len() - 1
    });
    curves[place].points.push(point.at);
}

/// What is in a file, if it can be drawn, and what stands above it.
fn read(path: &Path) -> Result<(String, Vec<Point>), Failure> {
    let fail = |what: String| Failure::Usage(format!("{}: {what}", path.display()));
    let unreadable = |error| Failure::Failed(format!("{}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let foreign = |error| format!("these are no results of 'rondo bench --json': {error}");
    let report = serde_json::from_str(&text).map_err(foreign);
    let (title, points) = report.and_then(measured).map_err(fail)?;
    if points.is_empty() {
        return Err(fail("nothing in it could be drawn".into()));
    }
    Ok((title, points))
}

fn measured(report: Report) -> Result<(String, Vec<Point>), String> {
    let mut points = Vec::new();
    for row in &report.rows {
        let found = Collective::named(&row.collective);
        let found = found.filter(|collective| collective.name() == row.collective);
        let collective = found.ok_or_else(|| format!("'{}' is no collective", row.collective))?;
        let is_time = |us: f64| us.is_finite() && us > 0.0;
        if row.size == 0 || !is_time(row.host.median) || !is_time(row.rondo.median) {
            let (name, size) = (&row.collective, row.size);
            return Err(format!("{name} of {size} bytes has no time above 0"));
        }
        let mut panel = collective.mpi_name().to_owned();
        if let Some(dist) = &row.dist {
            panel += &format!(", blocks {dist}");
        }
        if let Some(op) = &row.op {
            panel += &format!(", {op}");
        }
        let point = |value, curve: &str, y| Point {
            panel: panel.clone(),
            axis: format!("bytes of {}", arguments::size_of(collective)),
            value,
            curve: curve.to_owned(),
            at: (row.size as f64, y),
        };
        points.push(point(Value::Time, "host", row.host.median));
        points.push(point(Value::Time, "Rondo", row.rondo.median));
        let ratio = row.host.median / row.rondo.median;
        points.push(point(Value::Ratio, "Rondo", ratio));
    }
    let title = format!(
        "Rondo {} on {}, {} ranks",
        report.rondo, report.mpi, report.ranks
    );
    Ok((title, points))
}
