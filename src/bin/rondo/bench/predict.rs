//! What the cost model says of the calls that were measured.

#![forbid(unsafe_code)]

use super::report::{Report, Row};
use crate::{
    Failure, collectives,
    model::{PRESETS, Question},
    mpi::{Mpi, Op},
};
use clap::ValueEnum;
use rondo::config::Config;
use rondo::network::{Network, START};
use std::collections::BTreeMap;

/// Adds to each row what the model predicts of it, by the figures that Rondo knows now on rank 0, where this is.
pub fn add(report: &mut Report, mpi: &Mpi) -> Result<(), Failure> {
    let mut failed = None;
    let known = Network::by_names(|name| {
        let figure = mpi.figure(name);
        figure.unwrap_or_else(|failure| {
            failed = Some(failure);
            None
        })
    });
    if let Some(failure) = failed {
        return Err(failure);
    }
    let mut gamma = BTreeMap::new();
    for &op in Op::value_variants() {
        let figure = match op {
            Op::Xor => "gamma.integers",
            Op::Sum => "gamma.floats",
            Op::Ordered => "gamma.user",
        };
        gamma.insert(op.name().to_owned(), mpi.figure(figure)?.unwrap_or(0.0));
    }
    let network = known.or(&START);
    let config = Config::load().config;
    let (ranks, nodes) = (report.ranks as u32, report.nodes.len() as u32);
    for row in &mut report.rows {
        let gamma_ns_per_kb = row.op.as_ref().and_then(|op| gamma.get(op).copied());
        let figures = (network, gamma_ns_per_kb.unwrap_or(0.0));
        row.predicted = predicted(row, (ranks, nodes), figures, &config);
    }
    (report.network, report.gamma_ns_per_kb) = (Some(network), Some(gamma));
    Ok(())
}

/// Microseconds by the model, in which all parts are equal; `None` if it cannot tell, or several algorithms carried the
/// calls out.
fn predicted(
    row: &Row,
    (ranks, nodes): (u32, u32),
    (network, gamma_ns_per_kb): (Network, f64),
    config: &Config,
) -> Option<f64> {
    if row.dist.as_deref().is_some_and(|dist| dist != "same") {
        return None;
    }
    let (usual, collective) = (&PRESETS[0], collectives::known(&row.collective).ok()?);
    let question = Question {
        collective,
        ranks,
        nodes,
        bytes: row.size,
        network,
        eager: usual.eager,
        gamma_ns_per_kb,
        placed_bytes: usual.placed_bytes,
        copies_free: usual.copies_free,
        config,
    };
    let mut answers = question.ask_all().into_iter();
    let (_, answer) = answers.find(|(algorithm, _)| algorithm.name() == row.by)?;
    Some(answer.ok()?.prediction.us)
}
