//! What people are told of in-flight control.

#![forbid(unsafe_code)]

use serde::Serialize;

/// By such a factor it is another one.
const MARKED: f64 = 1.5;

/// The window of a communicator and the round trip of its processes, as its ranks agreed on them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Path {
    /// Bytes that a rank may have on its way.
    pub window_bytes: u64,
    /// Microseconds of the longest round trip of all edges, of each the least one. `None`: no call has shown it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip_us: Option<f64>,
}

impl Path {
    /// Has it changed markedly since it was this?
    pub fn is_other_than(&self, before: &Path) -> bool {
        let is_other = |one: f64, other: f64| one.max(other) > MARKED * one.min(other);
        is_other(self.window_bytes as f64, before.window_bytes as f64)
            || match (self.round_trip_us, before.round_trip_us) {
                (Some(one), Some(other)) => is_other(one, other),
                (None, None) => false,
                (Some(_), None) | (None, Some(_)) => true,
            }
    }

    /// In words.
    pub fn text(&self) -> String {
        let window = format!("window {} KiB", self.window_bytes >> 10);
        match self.round_trip_us {
            Some(us) => format!("{window}, round trip {us:.1} us"),
            None => window,
        }
    }
}
