//! The drawing itself.

#![forbid(unsafe_code)]

use plotters::{coord::Shift, prelude::*};

/// A picture of some curves.
pub struct Panel {
    pub title: String,
    /// What is on the axis from left to right.
    pub axis: String,
    pub value: Value,
    pub curves: Vec<Curve>,
}

/// What is on the axis from below.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Microseconds.
    Time,
    /// That of the host's to Rondo's.
    Ratio,
}

pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Pixels of the picture, of its title, of a panel, and of the names to the right of its curves.
const WIDTH: u32 = 1400;
const HEAD: u32 = 50;
const HEIGHT: u32 = 480;
const NAMES: u32 = 140;

/// Pixels from one name to the next.
const LINE: i32 = 15;

/// Colours that people with any kind of sight can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];
const LIGHT: RGBColor = RGBColor(225, 225, 225);

/// Dashes and gaps of curves that have the same colour. The first ones have a line without gaps.
const DASHES: [(u32, u32); 4] = [(1, 0), (8, 4), (2, 4), (14, 6)];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<LogCoord<f64>, LogCoord<f64>>>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// The panels, two side by side. An error says what could not be drawn.
pub fn svg(title: &str, panels: &[Panel]) -> Result<String, String> {
    let mut svg = String::new();
    let rows = panels.len().div_ceil(2);
    let size = (WIDTH, HEAD + HEIGHT * rows as u32);
    let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    draw(&area, title, panels).map_err(|error| error.to_string())?;
    drop(area);
    Ok(svg)
}

fn draw(area: &Area, title: &str, panels: &[Panel]) -> Drawn {
    area.fill(&WHITE)?;
    area.draw(&Text::new(title, (20, 16), ("sans-serif", 20)))?;
    let (_, body) = area.split_vertically(HEAD);
    let places = body.split_evenly((panels.len().div_ceil(2), 2));
    for (place, panel) in places.iter().zip(panels) {
        draw_panel(area, place, panel)?;
    }
    area.present()
}

/// Curves have a colour each; from the seventh on they are dashed. Each has its name at its end.
fn draw_panel(whole: &Area, area: &Area, panel: &Panel) -> Drawn {
    let points = || panel.curves.iter().flat_map(|curve| &curve.points);
    let (left, right) = range(points().map(|point| point.0));
    // There has to be some room if there is one size only.
    let places = if left == right {
        left / 2.0..right * 2.0
    } else {
        left..right
    };
    let (low, high) = range(points().map(|point| point.1));
    let (values, base, name) = match panel.value {
        // Whole decades, so that two numbers or more are on the axis.
        Value::Time => (
            decade(low, f64::floor)..decade(high * 1.01, f64::ceil),
            10.0,
            "time of a call, µs",
        ),
        Value::Ratio => (
            low.min(0.5) / 1.1..high.max(2.0) * 1.1,
            2.0,
            "host / Rondo: above 1, Rondo is faster",
        ),
    };
    let (places, values) = (places.log_scale().base(2.0), values.log_scale().base(base));
    let mut chart: Chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 17))
        .margin(12)
        .margin_right(NAMES)
        .x_label_area_size(48)
        .y_label_area_size(76)
        .build_cartesian_2d(places, values)?;
    chart
        .configure_mesh()
        .bold_line_style(LIGHT)
        .light_line_style(WHITE)
        .x_labels(12)
        .y_labels(8)
        .label_style(("sans-serif", 13))
        .axis_desc_style(("sans-serif", 14))
        .x_label_formatter(&bytes)
        .y_label_formatter(&plain)
        .x_desc(&panel.axis)
        .y_desc(name)
        .draw()?;
    for (i, curve) in panel.curves.iter().enumerate() {
        let points = || curve.points.iter().copied();
        let style = colour(i).stroke_width(2);
        match DASHES[i / COLOURS.len() % DASHES.len()] {
            (_, 0) => chart.draw_series(LineSeries::new(points(), style))?,
            (dash, gap) => chart.draw_series(DashedLineSeries::new(points(), dash, gap, style))?,
        };
        chart.draw_series(points().map(|point| Circle::new(point, 2, colour(i).filled())))?;
    }
    draw_names(whole, area, &chart, &panel.curves)
}

fn colour(i: usize) -> RGBColor {
    COLOURS[i % COLOURS.len()]
}

/// The names at the ends of the curves, each with a line from there.
fn draw_names(whole: &Area, area: &Area, chart: &Chart, curves: &[Curve]) -> Drawn {
    let end = |(i, curve): (usize, &Curve)| {
        let place = curve.points.last().map(|point| chart.backend_coord(point));
        place.map(|(x, y)| (y, x, i))
    };
    let mut ends: Vec<_> = curves.iter().enumerate().filter_map(end).collect();
    ends.sort_unstable();
    let (across, down) = area.get_pixel_range();
    let heights = apart(ends.iter().map(|&(y, ..)| y), down.end);
    for (&(y, x, i), height) in ends.iter().zip(heights) {
        let right = across.end - NAMES as i32 + LINE;
        let line = [(x, y), (right, height)];
        whole.draw(&PathElement::new(line, colour(i).mix(0.5).stroke_width(1)))?;
        let font = ("sans-serif", 13).into_font().color(&colour(i));
        let place = (right + 4, height - LINE / 2);
        whole.draw(&Text::new(&*curves[i].name, place, font))?;
    }
    Ok(())
}

/// Heights near those that are given in ascending order, so far apart that a line of text fits between, up to `end`.
fn apart(heights: impl Iterator<Item = i32>, end: i32) -> Vec<i32> {
    let mut all: Vec<i32> = heights.collect();
    let mut least = 0;
    for height in &mut all {
        *height = (*height).max(least);
        least = *height + LINE;
    }
    let mut most = end - LINE;
    for height in all.iter_mut().rev() {
        *height = (*height).min(most);
        most = *height - LINE;
    }
    all
}

/// The least and the largest of some numbers.
fn range(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    numbers.fold((f64::MAX, f64::MIN_POSITIVE), |(low, high), number| {
        (low.min(number), high.max(number))
    })
}

/// The power of ten next to a number.
fn decade(number: f64, to_whole: fn(f64) -> f64) -> f64 {
    10_f64.powf(to_whole(number.log10()))
}

/// A size as people write it.
fn bytes(size: &f64) -> String {
    let units = [(30, "G"), (20, "M"), (10, "K")];
    let unit = |&(shift, _): &(i32, &str)| *size >= f64::from(1 << shift);
    match units.into_iter().find(unit) {
        Some((shift, letter)) => format!("{}{letter}", size / f64::from(1 << shift)),
        None => plain(size),
    }
}

/// A number with three digits, without those that say nothing.
fn plain(number: &f64) -> String {
    let decimals = (2.0 - number.log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{number:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
