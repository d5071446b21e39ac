//! The results as JSON, which `rondo plot` reads.

#![forbid(unsafe_code)]

use super::times::Times;
use rondo::network::Network;
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
    pub datatype: String,
    pub in_place: bool,
    pub root: usize,
    pub batches: usize,
    /// Is there a row for each algorithm, so that several have the same size?
    #[serde(default)]
    pub by_algorithm: bool,
    /// The figures by which the model predicted the rows, if it was asked for: those that Rondo knew at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// By operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gamma_ns_per_kb: Option<BTreeMap<String, f64>>,
    pub rows: Vec<Row>,
    pub guidelines: Vec<Guideline>,
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
    /// Microseconds that the root itself spends in a call, of host and Rondo, median over the batches.
    pub root: Option<[f64; 2]>,
    /// Microseconds of a reduction of two such vectors on one rank, of exclusive scans, median over the batches.
    #[serde(default)]
    pub local: Option<f64>,
    /// The algorithm of Rondo's that carried the calls out, several with a + between, or "host".
    pub by: String,
    /// Microseconds that the model predicts of it, if it was asked for and can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<f64>,
}

/// A guideline tested: how many times as long the collective takes as what could stand in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guideline {
    pub name: String,
    pub dist: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Bytes of all ranks together.
    pub total: u64,
    pub host: f64,
    pub rondo: f64,
}
