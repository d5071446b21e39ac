//! `rondo plot`: pictures of what `rondo bench` measured, or `rondo model` predicted.

#![forbid(unsafe_code)]

mod draw;

use crate::{Failure, arguments, bench::report::Report, model};
use draw::{Curve, Panel, Value};
use rondo::collective::Collective;
use serde::{Deserialize, de::DeserializeOwned};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Draw what 'rondo bench' measured, or 'rondo model' predicted: times over the size.
///
/// The files are those that 'rondo bench --json=FILE' writes, or 'rondo model --json >FILE'. Each collective gets a
/// picture of its times, which are medians where they are measured, and beside it one of the ratios host / Rondo; axes
/// are logarithmic. Several files are drawn into the same ones. Predictions for several numbers of ranks are drawn over
/// these.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Results of rondo bench or rondo model
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The picture, whose name ends with .svg
    #[arg(short = 'o', long, value_name = "PICTURE")]
    output: PathBuf,
    /// What stands above it
    #[arg(long)]
    title: Option<String>,
}

/// Predictions, as far as they are drawn.
#[derive(Deserialize)]
struct Predictions {
    collective: String,
    rows: Vec<model::Row>,
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
    let points = &mut curves[place].points;
    // Rows by algorithm have the time of the host again and again.
    if points.last() != Some(&point.at) {
        points.push(point.at);
    }
}

/// What is in a file, if it can be drawn, and what stands above it.
fn read(path: &Path) -> Result<(String, Vec<Point>), Failure> {
    let fail = |what: String| Failure::Usage(format!("{}: {what}", path.display()));
    let unreadable = |error| Failure::Failed(format!("{}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let is_model = parse::<Predictions>(&text);
    let (title, points) = match is_model {
        Ok(predictions) => predicted(predictions),
        Err(_) => measured(parse(&text).map_err(fail)?),
    }
    .map_err(fail)?;
    if points.is_empty() {
        return Err(fail("nothing in it could be drawn".into()));
    }
    Ok((title, points))
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let foreign = |error| {
        format!("these are no results of 'rondo bench --json' or 'rondo model --json': {error}")
    };
    serde_json::from_str(text).map_err(foreign)
}

fn named(name: &str) -> Result<Collective, String> {
    let found = Collective::named(name).filter(|collective| collective.name() == name);
    found.ok_or_else(|| format!("'{name}' is no collective"))
}

fn measured(report: Report) -> Result<(String, Vec<Point>), String> {
    let mut points = Vec::new();
    for row in &report.rows {
        let collective = named(&row.collective)?;
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
        let name = if report.by_algorithm {
            &row.by
        } else {
            "Rondo"
        };
        let point = |value, curve: &str, y| Point {
            panel: panel.clone(),
            axis: format!("bytes of {}", arguments::size_of(collective)),
            value,
            curve: curve.to_owned(),
            at: (row.size as f64, y),
        };
        points.push(point(Value::Time, "host", row.host.median));
        points.push(point(Value::Time, name, row.rondo.median));
        points.push(point(
            Value::Ratio,
            name,
            row.host.median / row.rondo.median,
        ));
    }
    let title = format!(
        "Rondo {} on {}, {} ranks",
        report.rondo, report.mpi, report.ranks
    );
    Ok((title, points))
}

fn predicted(predictions: Predictions) -> Result<(String, Vec<Point>), String> {
    let collective = named(&predictions.collective)?;
    let rows = &predictions.rows;
    let is_over_ranks = rows.iter().any(|row| row.ranks != rows[0].ranks);
    let is_over_bytes = rows.iter().any(|row| row.bytes != rows[0].bytes);
    let axis = match is_over_ranks {
        true => "ranks".to_owned(),
        false => format!("bytes of {}", arguments::size_of(collective)),
    };
    let point = |row: &model::Row| {
        let panel = match (is_over_ranks, is_over_bytes) {
            (false, _) => format!("{} ranks on {} nodes", row.ranks, row.nodes),
            (true, true) => format!("{} bytes", row.bytes),
            (true, false) => "all numbers of ranks".to_owned(),
        };
        let x = if is_over_ranks {
            row.ranks.into()
        } else {
            row.bytes
        };
        Some(Point {
            panel: format!("{}, {panel}", collective.mpi_name()),
            axis: axis.clone(),
            value: Value::Time,
            curve: row.algorithm.clone(),
            // A time of nothing has no place on the axis, and neither has a barrier's size.
            at: (x.max(1) as f64, row.us.filter(|&us| us > 0.0)?),
        })
    };
    let points = rows.iter().filter_map(point).collect();
    Ok(("by the model".to_owned(), points))
}
