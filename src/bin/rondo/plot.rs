//! `rondo plot`: pictures of what `rondo bench` measured.

#![forbid(unsafe_code)]

mod curves;
mod draw;

use crate::{
    Failure,
    bench::report::{Report, Row},
    collectives,
};
pub use curves::{Curve, Curves};
use draw::{Panel, Panels, Picture, Series};
use plotters::prelude::*;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Draw what 'rondo bench' measured: times, and the ratio host / Rondo, over the size.
///
/// The files are those that 'rondo bench --json=FILE' writes. Each collective gets a row of two pictures, with
/// logarithmic axes; several files are drawn into the same ones. Times are medians. What the model predicted (rondo
/// bench --predict) is dotted.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Results of rondo bench
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The picture, whose name ends with .svg or .png
    #[arg(short = 'o', long, value_name = "PICTURE")]
    output: PathBuf,
    /// What stands above it
    #[arg(long)]
    title: Option<String>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    check_name(&args.output)?;
    let reports = args.files.iter().map(|path| read(path));
    let reports: Vec<Report> = reports.collect::<Result<_, _>>()?;
    if let [report] = &reports[..]
        && report.by_algorithm
    {
        return write(&args.output, &by_algorithm(report)?);
    }
    if reports.iter().any(|report| report.by_algorithm) {
        let why = "results by algorithm: draw one file at a time";
        return Err(Failure::Usage(why.into()));
    }
    let panels = panels(&args.files, &reports);
    let of = &reports[0];
    let about = || format!("Rondo {} on {}, {} ranks", of.rondo, of.mpi, of.ranks);
    let title = args.title.clone().unwrap_or_else(about);
    let picture = Panels {
        title: &title,
        all: &panels,
    };
    write(&args.output, &picture)
}

/// The curves of all algorithms of a report about one collective, and that of the MPI library.
pub fn by_algorithm(report: &Report) -> Result<Curves, Failure> {
    let Some(first) = report.rows.first() else {
        return Err(Failure::Failed("there is nothing to draw".into()));
    };
    let about = |row: &Row| (row.collective.clone(), row.dist.clone(), row.op.clone());
    if report.rows.iter().any(|row| about(row) != about(first)) {
        let why = "several collectives by algorithm: a picture has one";
        return Err(Failure::Usage(why.into()));
    }
    let collective = collectives::known(&first.collective).map_err(Failure::Usage)?;
    let mut all: Vec<Curve> = Vec::new();
    let mut add = |name: &str, size: u64, us: f64, predicted: Option<f64>| {
        let place = all.iter().position(|curve| curve.name == name);
        let place = place.unwrap_or_else(|| {
            all.push(Curve {
                name: name.into(),
                points: Vec::new(),
                predicted: Vec::new(),
            });
            all.len() - 1
        });
        let curve = &mut all[place];
        let point = (size as f64, us);
        if curve.points.last() != Some(&point) {
            curve.points.push(point); // once for all rows of a size
        }
        curve
            .predicted
            .extend(predicted.map(|us| (size as f64, us)));
    };
    for row in &report.rows {
        add("host", row.size, row.host.median, None);
        add(&row.by, row.size, row.rondo.median, drawn(row));
    }
    let dotted = match all.iter().any(|curve| !curve.predicted.is_empty()) {
        true => "; dotted: by the model",
        false => "",
    };
    Ok(Curves {
        title: format!("{}, {} ranks", collective.mpi_name(), report.ranks),
        about: format!("Rondo {} on {}, medians{dotted}", report.rondo, report.mpi),
        axis: format!("bytes of {}", collectives::size_of(collective)),
        all,
    })
}

/// What was predicted, if it has a place on the axis.
fn drawn(row: &Row) -> Option<f64> {
    (row.predicted).filter(|&us| us.is_finite() && us > 0.0)
}

/// Is it the name of a picture?
pub fn check_name(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().unwrap_or_default();
    match ending == "svg" || ending == "png" {
        true => Ok(()),
        false => Err(Failure::Usage(format!(
            "{}: take a name that ends with .svg or .png",
            path.display()
        ))),
    }
}

/// Can it be written? What is in it stays.
pub fn check_place(path: &Path) -> Result<(), Failure> {
    let file = fs::File::options().append(true).create(true).open(path);
    file.map(drop).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::Failed(format!("cannot write {}: {error}", path.display()))
}

/// Draws a picture into a file, as its name says.
pub fn write(path: &Path, picture: &impl Picture) -> Result<(), Failure> {
    let (name, size) = (path.display(), picture.size());
    let failed = |why: String| Failure::Failed(format!("cannot draw {name}: {why}"));
    let bytes = if path.extension().unwrap_or_default() == "svg" {
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        draw::draw(&area, picture).map_err(failed)?;
        drop(area);
        svg.into_bytes()
    } else {
        let mut pixels = vec![0; 3 * size.0 as usize * size.1 as usize];
        let area = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
        draw::draw(&area, picture).map_err(failed)?;
        drop(area);
        png(&pixels, size).map_err(|error| failed(error.to_string()))?
    };
    fs::write(path, bytes).map_err(|error| unwritable(path, &error))
}

/// The results in a file, if they can be drawn.
fn read(path: &Path) -> Result<Report, Failure> {
    let fail = |what: String| Failure::Usage(format!("{}: {what}", path.display()));
    let unreadable = |error| Failure::Failed(format!("{}: {error}", path.display()));
    let bytes = fs::read(path).map_err(unreadable)?;
    let report: Report = serde_json::from_slice(&bytes).map_err(|error| {
        fail(format!(
            "these are no results of 'rondo bench --json': {error}"
        ))
    })?;
    if report.rows.is_empty() {
        return Err(fail("no rows in it".into()));
    }
    for row in &report.rows {
        let drawable = |number: f64| number.is_finite() && number > 0.0;
        collectives::known(&row.collective).map_err(fail)?;
        if row.size == 0 || !drawable(row.host.median) || !drawable(row.rondo.median) {
            let (name, size) = (&row.collective, row.size);
            return Err(fail(format!("{name} of {size} bytes has no time above 0")));
        }
    }
    Ok(report)
}

/// A panel for each collective, distribution and operator, in the order of the files.
fn panels(files: &[PathBuf], reports: &[Report]) -> Vec<Panel> {
    let mut panels: Vec<Panel> = Vec::new();
    for (i, report) in reports.iter().enumerate() {
        // With one file there is nothing to tell apart.
        let suffix = match reports.len() {
            1 => String::new(),
            _ => format!(
                ", {}",
                files[i].file_stem().unwrap_or_default().to_string_lossy()
            ),
        };
        for row in &report.rows {
            let collective = collectives::known(&row.collective).expect("asked in `read`");
            let mut title = collective.mpi_name().to_owned();
            if let Some(dist) = &row.dist {
                title += &format!(", blocks {dist}");
            }
            if let Some(op) = &row.op {
                title += &format!(", {op}");
            }
            let place = panels.iter().position(|panel| panel.title == title);
            let place = place.unwrap_or_else(|| {
                panels.push(Panel {
                    axis: format!("bytes of {}", collectives::size_of(collective)),
                    title,
                    series: Vec::new(),
                });
                panels.len() - 1
            });
            let all = &mut panels[place].series;
            let host = format!("host{suffix}");
            let at = all.iter().position(|series| series.file == i);
            let at = at.unwrap_or_else(|| {
                all.push(Series {
                    file: i,
                    host,
                    rondo: format!("Rondo{suffix}"),
                    model: format!("model{suffix}"),
                    points: Vec::new(),
                    predicted: Vec::new(),
                });
                all.len() - 1
            });
            let point = (row.size as f64, row.host.median, row.rondo.median);
            all[at].points.push(point);
            let predicted = drawn(row).map(|us| (row.size as f64, us));
            all[at].predicted.extend(predicted);
        }
    }
    panels
}

fn png(pixels: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(file)
}
