//! The drawing itself, on any kind of picture.

#![forbid(unsafe_code)]

use plotters::{coord::Shift, element::DashedPathElement, prelude::*, style::FontStyle};

/// A collective: times on the left, ratios on the right.
pub struct Panel {
    pub title: String,
    /// What is on the axis of sizes.
    pub axis: String,
    pub series: Vec<Series>,
}

/// What one file says about a collective.
pub struct Series {
    /// The number of the file, hence the colour.
    pub file: usize,
    /// What the curves are called.
    pub host: String,
    pub rondo: String,
    pub model: String,
    /// Bytes, and microseconds of host and Rondo.
    pub points: Vec<(f64, f64, f64)>,
    /// Bytes, and microseconds by the model.
    pub predicted: Vec<(f64, f64)>,
}

/// Dots and gaps of what is predicted.
pub(super) const DOTS: (u32, u32) = (2, 4);

/// Pixels.
const WIDTH: u32 = 1200;
const PANEL: u32 = 380;
const HEAD: u32 = 50;

/// Colours that people with any kind of sight can tell apart (Okabe and Ito).
pub(super) const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];
const GREY: RGBColor = RGBColor(120, 120, 120);
const LIGHT: RGBColor = RGBColor(225, 225, 225);

/// Something that can be drawn.
pub trait Picture {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);

    /// Draws it.
    fn paint<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B>;
}

/// Draws a picture. An error says what it could not take.
pub fn draw<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    picture: &impl Picture,
) -> Result<(), String> {
    register_font()?;
    picture.paint(area).map_err(|error| error.to_string())
}

/// Panels below each other.
pub struct Panels<'a> {
    pub title: &'a str,
    pub all: &'a [Panel],
}

/// The text is measured with a font of the tool's own, which needs nothing of the system.
fn register_font() -> Result<(), String> {
    plotters::style::register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular())
        .map_err(|_| "the font is broken".to_owned())
}

/// The end of drawing.
pub type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

impl Picture for Panels<'_> {
    fn size(&self) -> (u32, u32) {
        (WIDTH, HEAD + PANEL * self.all.len() as u32)
    }

    fn paint<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B> {
        area.fill(&WHITE)?;
        area.draw(&Text::new(self.title, (20, 16), ("sans-serif", 20)))?;
        let (_, body) = area.split_vertically(HEAD);
        let areas = body.split_evenly((self.all.len(), 1));
        for (area, panel) in areas.iter().zip(self.all) {
            let (left, right) = area.split_horizontally(WIDTH / 2);
            times(&left, panel)?;
            ratios(&right, panel)?;
        }
        area.present()
    }
}

/// Both axes are logarithmic.
pub(super) type Chart<'a, B> = ChartContext<'a, B, Cartesian2d<LogCoord<f64>, LogCoord<f64>>>;

/// Title, axes and grid. The title comes with its size.
pub(super) fn chart<'a, B: DrawingBackend>(
    area: &'a DrawingArea<B, Shift>,
    (axis, places): (&str, LogCoord<f64>),
    (title, points): (&str, i32),
    values: LogCoord<f64>,
    name: &str,
) -> Result<Chart<'a, B>, DrawingAreaErrorKind<B::ErrorType>> {
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", points))
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
        .x_desc(axis)
        .y_desc(name)
        .draw()?;
    Ok(chart)
}

fn times<B: DrawingBackend>(area: &DrawingArea<B, Shift>, panel: &Panel) -> Drawn<B> {
    let all = || panel.series.iter().flat_map(|series| &series.points);
    let measured = all().flat_map(|&(_, host, rondo)| [host, rondo]);
    let predicted = panel.series.iter().flat_map(|series| &series.predicted);
    let values = decades(range(measured.chain(predicted.map(|point| point.1))));
    let mut chart = chart(
        area,
        (&panel.axis, sizes(panel)),
        (&panel.title, 17),
        values,
        "time of a call, µs",
    )?;
    for series in &panel.series {
        let colour = COLOURS[series.file % COLOURS.len()];
        let host = series.points.iter().map(|&(size, host, _)| (size, host));
        let rondo = series.points.iter().map(|&(size, _, rondo)| (size, rondo));
        chart
            .draw_series(DashedLineSeries::new(
                host.clone(),
                6,
                4,
                colour.stroke_width(2),
            ))?
            .label(&series.host)
            .legend(move |(x, y)| {
                DashedPathElement::new([(x, y), (x + 26, y)], 6, 4, colour.stroke_width(2))
            });
        chart
            .draw_series(LineSeries::new(rondo.clone(), colour.stroke_width(2)))?
            .label(&series.rondo)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 26, y)], colour.stroke_width(2)));
        if !series.predicted.is_empty() {
            let ((dot, gap), style) = (DOTS, colour.stroke_width(1));
            let points = series.predicted.iter().copied();
            chart
                .draw_series(DashedLineSeries::new(points, dot, gap, style))?
                .label(&series.model)
                .legend(move |(x, y)| {
                    DashedPathElement::new([(x, y), (x + 26, y)], dot, gap, style)
                });
        }
        chart.draw_series(host.map(|point| Circle::new(point, 3, colour)))?;
        chart.draw_series(rondo.map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    legend(&mut chart)
}

/// An axis of times with room for the legend above the curves; whole decades, so that two numbers or more are on it.
pub(super) fn decades((low, high): (f64, f64)) -> LogCoord<f64> {
    let high = high * (high / low).powf(0.25).max(2.0);
    let (low, high) = (low.log10().floor(), high.log10().ceil());
    (10_f64.powf(low)..10_f64.powf(high)).log_scale().into()
}

/// What the curves are.
pub(super) fn legend<'a, B: DrawingBackend + 'a>(chart: &mut Chart<'a, B>) -> Drawn<B> {
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .legend_area_size(32)
        .label_font(("sans-serif", 13))
        .background_style(WHITE.mix(0.85))
        .border_style(LIGHT)
        .draw()
}

fn ratios<B: DrawingBackend>(area: &DrawingArea<B, Shift>, panel: &Panel) -> Drawn<B> {
    let ratio = |&(size, host, rondo): &(f64, f64, f64)| (size, host / rondo);
    let all = panel.series.iter().flat_map(|series| &series.points);
    let (low, high) = range(all.map(|point| ratio(point).1).chain([0.5, 2.0]));
    let title = ("host / Rondo: above 1, Rondo is faster", 15);
    let values = (low / 1.1..high * 1.1).log_scale().base(2.0).into();
    let axis = (&*panel.axis, sizes(panel));
    let mut chart = chart(area, axis, title, values, "ratio of the medians")?;
    let ends = sizes_of(panel);
    let one = [(ends.0, 1.0), (ends.1, 1.0)];
    chart.draw_series(LineSeries::new(one, GREY.stroke_width(1)))?;
    for series in &panel.series {
        let colour = COLOURS[series.file % COLOURS.len()];
        let points = series.points.iter().map(ratio);
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
        chart.draw_series(points.map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    Ok(())
}

/// The least and the largest of some numbers.
pub(super) fn range(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    numbers.fold((f64::MAX, f64::MIN_POSITIVE), |(low, high), number| {
        (low.min(number), high.max(number))
    })
}

/// The ends of the axis of sizes, with room if there is one size only.
fn sizes_of(panel: &Panel) -> (f64, f64) {
    let all = panel.series.iter().flat_map(|series| &series.points);
    let (low, high) = range(all.map(|point| point.0));
    if low == high {
        (low / 2.0, high * 2.0)
    } else {
        (low, high)
    }
}

fn sizes(panel: &Panel) -> LogCoord<f64> {
    let (low, high) = sizes_of(panel);
    (low..high).log_scale().base(2.0).into()
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
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
