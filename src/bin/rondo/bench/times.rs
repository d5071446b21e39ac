//! What is said of the times of many batches.

#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

/// Microseconds of a call, over the batches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    pub min: f64,
    pub avg: f64,
    pub median: f64,
    pub p99: f64,
    pub max: f64,
}

impl Times {
    /// The times of one batch or more.
    pub fn of(batches: &[f64]) -> Times {
        let mut sorted = batches.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let last = sorted.len() - 1;
        Times {
            min: sorted[0],
            avg: sorted.iter().sum::<f64>() / sorted.len() as f64,
            median: (sorted[last / 2] + sorted[sorted.len() / 2]) / 2.0,
            p99: sorted[percentile(sorted.len(), 99)],
            max: sorted[last],
        }
    }
}

/// The place of the least of `n` sorted values that is not below `percent` of them.
fn percentile(n: usize, percent: usize) -> usize {
    (n * percent).div_ceil(100).max(1) - 1
}
