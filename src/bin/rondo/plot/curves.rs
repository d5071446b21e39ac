//! Curves of times, one for each way, in a picture.

#![forbid(unsafe_code)]

use super::draw::{COLOURS, Drawn, Picture, chart, decades, legend, range};
use plotters::{coord::Shift, element::DashedPathElement, prelude::*};

/// Pixels above the axes.
const HEAD: u32 = 40;

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
    pub name: &'static str,
    /// Places, and microseconds.
    pub points: Vec<(f64, f64)>,
}

/// Curves have a colour each; from the seventh on they are dashed.
impl Picture for Curves {
    fn size(&self) -> (u32, u32) {
        (900, 560)
    }

    fn paint<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B> {
        area.fill(&WHITE)?;
        let (head, body) = area.split_vertically(HEAD);
        head.draw(&Text::new(&*self.about, (20, 24), ("sans-serif", 13)))?;
        let all = || self.all.iter().flat_map(|curve| &curve.points);
        let (low, high) = range(all().map(|point| point.0));
        let places = (low..high).log_scale().base(2.0).into();
        let values = decades(range(all().map(|point| point.1)));
        let axis = (&*self.axis, places);
        let title = (&*self.title, 17);
        let mut chart = chart(&body, axis, title, values, "time of a call, µs")?;
        for (i, curve) in self.all.iter().enumerate() {
            let style = COLOURS[i % COLOURS.len()].stroke_width(2);
            let points = curve.points.iter().copied();
            let drawn = match i < COLOURS.len() {
                true => {
                    let line = chart.draw_series(LineSeries::new(points, style))?;
                    line.legend(move |(x, y)| {
                        PathElement::new([(x, y), (x + 26, y)], style).into_dyn()
                    })
                }
                false => {
                    let line = chart.draw_series(DashedLineSeries::new(points, 6, 4, style))?;
                    line.legend(move |(x, y)| {
                        DashedPathElement::new([(x, y), (x + 26, y)], 6, 4, style).into_dyn()
                    })
                }
            };
            drawn.label(curve.name);
        }
        legend(&mut chart)?;
        area.present()
    }
}
