//! The results as JSON, which `rondo plot` reads.

#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A run of `rondo bench`; the field names are an interface to scripts.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    /// The version of Rondo.
    pub rondo: String,
    /// What the MPI library says about itself.
    pub mpi: String,
    /// UTC, at the beginning.
    pub date: String,
    pub ranks: usize,
    pub nodes: Vec<Node>,
    /// The variables of Rondo's that were set.
    pub environment: BTreeMap<String, String>,
    pub batches: usize,
    pub rows: Vec<Row>,
}

/// A node and the ranks on it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Node {
    pub name: String,
    pub ranks: Vec<usize>,
}

/// A collective at one size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub collective: String,
    /// For the irregular collectives.
    pub dist: Option<String>,
    /// The operator, of those that reduce.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Bytes: of the message (bcast), of all ranks together (allgather, allgatherv), or of a block on the average.
    pub size: u64,
    /// Bytes of all ranks together.
    pub total: u64,
    /// Calls in a batch.
    pub calls: usize,
    pub host: Times,
    pub rondo: Times,
    /// Host / Rondo, of the medians.
    pub ratio: f64,
    /// The algorithm of Rondo's that carried the calls out, several with a + between, or "host".
    pub by: String,
}

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
