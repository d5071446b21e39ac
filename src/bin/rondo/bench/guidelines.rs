//! Performance guidelines: a collective should not be slower than others that do the same work, or more of it.

#![forbid(unsafe_code)]

use super::report::{Guideline, Row};

/// What is by more than a tenth slower than its substitute violates the guideline: less may be chance.
pub const TOLERANCE: f64 = 1.1;

/// The collective, what could stand in its place, and whether blocks have to be equal.
type Rule = (&'static str, &'static [&'static str], bool);

const RULES: &[Rule] = &[
    ("bcast", &["scatterv", "allgatherv"], false),
    ("gatherv", &["allgatherv"], false),
    ("allgather", &["allgatherv"], true),
    ("gather", &["gatherv"], true),
    ("scatter", &["scatterv"], true),
    ("allreduce", &["reduce", "bcast"], false),
    ("reduce", &["allreduce"], false),
    ("reduce_scatter", &["scatterv", "reduce"], false),
    ("reduce_scatter_block", &["reduce_scatter"], true),
    ("scan", &["exscan", LOCAL], false),
];

/// A reduction of two vectors on a rank, which is measured with the scans that it would have to follow.
const LOCAL: &str = "reduce_local";

/// What of a row is compared, if it was measured.
type Time = fn(&Row) -> Option<f64>;

/// All guidelines for which there are data, by both sides' medians. What is compared moves equally many bytes in all,
/// and reduces them by the same operator.
pub fn check(rows: &[Row]) -> Vec<Guideline> {
    let mut found = Vec::new();
    for (collective, substitutes, equal) in RULES {
        for left in rows.iter().filter(|row| row.collective == *collective) {
            for dist in distributions(rows, substitutes) {
                // Rows of a collective that knows distributions are compared with the same one.
                let apart = left.dist.as_deref().is_some_and(|own| own != dist);
                if apart || (*equal && dist != "same") {
                    continue;
                }
                let like = Like {
                    dist,
                    op: left.op.as_deref(),
                    total: left.total,
                };
                let sum = |time: Time| {
                    let parts = substitutes.iter().map(|&name| match name {
                        LOCAL => like.at(rows, substitutes[0], |row| row.local),
                        _ => like.at(rows, name, time),
                    });
                    parts.sum::<Option<f64>>()
                };
                let host = sum(|row| Some(row.host.median));
                let rondo = sum(|row| Some(row.rondo.median));
                let (Some(host), Some(rondo)) = (host, rondo) else {
                    continue;
                };
                found.push(Guideline {
                    name: format!("{collective} <= {}", substitutes.join(" + ")),
                    dist: dist.to_owned(),
                    op: left.op.clone(),
                    total: left.total,
                    host: left.host.median / host,
                    rondo: left.rondo.median / rondo,
                });
            }
        }
    }
    found
}

/// The distributions that the first of the collectives was measured with, in that order.
fn distributions<'a>(rows: &'a [Row], collectives: &[&str]) -> Vec<&'a str> {
    let mut all = Vec::new();
    let rows = rows.iter().filter(|row| row.collective == collectives[0]);
    for dist in rows.map(|row| row.dist.as_deref().unwrap_or("same")) {
        if !all.contains(&dist) {
            all.push(dist);
        }
    }
    all
}

/// What rows must be like to be compared.
struct Like<'a> {
    /// Of those that know distributions.
    dist: &'a str,
    /// Of those that reduce, if it is a reduction that they are compared with.
    op: Option<&'a str>,
    total: u64,
}

impl Like<'_> {
    fn is_of(&self, row: &Row, collective: &str) -> bool {
        row.collective == collective
            && row.dist.as_deref().is_none_or(|dist| dist == self.dist)
            && row.op.as_deref().is_none_or(|op| Some(op) == self.op)
    }

    /// The time of a collective for so many bytes, between two measured sizes on the line through them (both axes being
    /// logarithmic): sizes are blocks for some collectives, and with 3 ranks no two totals are the same.
    fn at(&self, rows: &[Row], collective: &str, time: Time) -> Option<f64> {
        let total = self.total;
        let rows = rows.iter().filter(|row| self.is_of(row, collective));
        let below = rows
            .clone()
            .filter(|row| row.total <= total)
            .max_by_key(|row| row.total)?;
        let above = rows
            .filter(|row| row.total >= total)
            .min_by_key(|row| row.total)?;
        if below.total == above.total {
            return time(below);
        }
        let log = |bytes: u64| (bytes as f64).ln();
        let way = (log(total) - log(below.total)) / (log(above.total) - log(below.total));
        let (low, high) = (time(below)?.ln(), time(above)?.ln());
        Some((low + (high - low) * way).exp())
    }
}
