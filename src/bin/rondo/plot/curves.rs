//! Curves of times, one for each way, in a picture.

#![forbid(unsafe_code)]

use super::draw::{COLOURS, Chart, DOTS, Drawn, Picture, chart, decades, range};
use plotters::{coord::Shift, prelude::*};

/// Pixels above the axes.
const HEAD: u32 = 40;

/// Pixels to the right of them, and from one name there to the next.
const NAMES: u32 = 150;
const LINE: i32 = 15;

/// Dashes and gaps of curves that have the same colour. The first ones have a line without gaps.
const DASHES: [(u32, u32); 3] = [(8, 4), (2, 4), (14, 6)];

/// Times over something, a curve for each of several ways.
pub struct Curves {
    pub title: String,
    /// What stands below the title.
    pub about: String,
    /// What is on the axis from left to right.
    pub axis: String,
    pub all: Vec<Curve>,
}

/// One of them.
pub struct Curve {
    pub name: String,
    /// Places, and microseconds.
    pub points: Vec<(f64, f64)>,
    /// What the model says, if these points are measured.
    pub predicted: Vec<(f64, f64)>,
}

/// Curves have a colour each; from the seventh on they are dashed. Each has its name at its end.
impl Picture for Curves {
    fn size(&self) -> (u32, u32) {
        (1000, 640)
    }

    fn paint<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B> {
        area.fill(&WHITE)?;
        let (head, body) = area.split_vertically(HEAD);
        head.draw(&Text::new(&*self.about, (20, 24), ("sans-serif", 13)))?;
        let (body, _) = body.split_horizontally(self.size().0 - NAMES);
        let all = || self.all.iter().flat_map(|curve| &curve.points);
        let (low, high) = range(all().map(|point| point.0));
        let places = (low..high).log_scale().base(2.0).into();
        let predicted = self.all.iter().flat_map(|curve| &curve.predicted);
        let values = decades(range(all().chain(predicted).map(|point| point.1)));
        let axis = (&*self.axis, places);
        let title = (&*self.title, 17);
        let mut chart = chart(&body, axis, title, values, "time of a call, µs")?;
        for (i, curve) in self.all.iter().enumerate() {
            let style = colour(i).stroke_width(2);
            let points = curve.points.iter().copied();
            match i / COLOURS.len() {
                0 => chart.draw_series(LineSeries::new(points, style))?,
                again => {
                    let (dash, gap) = DASHES[(again - 1) % DASHES.len()];
                    chart.draw_series(DashedLineSeries::new(points, dash, gap, style))?
                }
            };
            let ((dot, gap), style) = (DOTS, colour(i).stroke_width(1));
            let predicted = curve.predicted.iter().copied();
            chart.draw_series(DashedLineSeries::new(predicted, dot, gap, style))?;
        }
        self.names(area, &chart)?;
        area.present()
    }
}

/// Of the curve of this number.
fn colour(i: usize) -> RGBColor {
    COLOURS[i % COLOURS.len()]
}

impl Curves {
    /// The names at the ends of the curves, each with a line from there.
    fn names<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        chart: &Chart<'_, B>,
    ) -> Drawn<B> {
        let end = |(i, curve): (usize, &Curve)| {
            let place = curve.points.last().map(|point| chart.backend_coord(point));
            place.map(|place| (place, i))
        };
        let mut ends: Vec<_> = self.all.iter().enumerate().filter_map(end).collect();
        ends.sort_by_key(|&((_, y), i)| (y, i));
        let heights = apart(ends.iter().map(|&((_, y), _)| y), self.size().1 as i32);
        for (&((x, y), i), height) in ends.iter().zip(heights) {
            let colour = colour(i);
            let right = (self.size().0 - NAMES) as i32;
            let line = [(x, y), (right, height)];
            area.draw(&PathElement::new(line, colour.mix(0.5).stroke_width(1)))?;
            let font = ("sans-serif", 13).into_font().color(&colour);
            area.draw(&Text::new(
                &*self.all[i].name,
                (right + 4, height - 7),
                font,
            ))?;
        }
        Ok(())
    }
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
