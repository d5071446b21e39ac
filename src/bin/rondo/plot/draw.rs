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
    pub name: &'static str,
    pub points: Vec<(f64, f64)>,
}

/// Pixels of the picture, of its title, and of a panel.
const WIDTH: u32 = 1400;
const HEAD: u32 = 50;
const HEIGHT: u32 = 480;

/// Colours that people with any kind of sight can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 2] = [RGBColor(0, 114, 178), RGBColor(213, 94, 0)];
const LIGHT: RGBColor = RGBColor(225, 225, 225);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
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
        draw_panel(place, panel)?;
    }
    area.present()
}

/// Curves have a colour each, and a name beside it.
fn draw_panel(area: &Area, panel: &Panel) -> Drawn {
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
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 17))
        .margin(12)
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
    for (curve, colour) in panel.curves.iter().zip(COLOURS) {
        let points = || curve.points.iter().copied();
        let sample = move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2));
        chart
            .draw_series(LineSeries::new(points(), colour.stroke_width(2)))?
            .label(curve.name)
            .legend(sample);
        chart.draw_series(points().map(|point| Circle::new(point, 2, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font(("sans-serif", 13))
        .background_style(WHITE.mix(0.7))
        .border_style(LIGHT)
        .draw()
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
