//! What is written about a job.

#![forbid(unsafe_code)]

use super::findings::{self, Evidence, Finding};
use rondo::stats;
use serde::Serialize;
use serde_json::Value;

/// The report.
#[derive(Serialize)]
pub struct Report {
    version: &'static str,
    library: String,
    ranks: u32,
    problems: Vec<Finding>,
    fine: Vec<Finding>,
    /// What rank 0 counted.
    statistics: Option<Value>,
}

impl Report {
    /// The report on a job.
    pub fn new(evidence: &Evidence) -> Report {
        let all = findings::all(evidence).into_iter();
        let (problems, fine) = all.partition(|finding| finding.advice.is_some());
        Report {
            version: env!("CARGO_PKG_VERSION"),
            library: evidence.library.display().to_string(),
            ranks: evidence.ranks.count,
            problems,
            fine,
            statistics: evidence.statistics.clone(),
        }
    }

    /// Was no problem found?
    pub fn is_fine(&self) -> bool {
        self.problems.is_empty()
    }

    /// For scripts.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("text and numbers") + "\n"
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut lines = vec![format!(
            "rondo check: {} ranks, {}",
            self.ranks, self.library
        )];
        lines.extend(self.fine.iter().map(|it| format!("  ok       {}", it.what)));
        for problem in &self.problems {
            lines.push(format!("  PROBLEM  {}", problem.what));
            lines.extend(problem.advice.iter().map(|it| format!("           {it}")));
        }
        if let Some(statistics) = &self.statistics {
            lines.extend(statistics["job"].as_str().map(str::to_owned));
            lines.extend(collectives(statistics));
        }
        lines.push(match self.problems.len() {
            0 => "no problem found".to_owned(),
            1 => "1 problem found".to_owned(),
            n => format!("{n} problems found"),
        });
        lines.join("\n") + "\n"
    }
}

/// Which collectives went where, and what was gained.
fn collectives(statistics: &Value) -> Vec<String> {
    let rows = |name: &str| statistics[name].as_array().cloned().unwrap_or_default();
    let (calls, saved) = (rows("collectives"), rows("saved"));
    let word = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let mut lines = vec![];
    if !calls.is_empty() {
        lines.push(format!(
            "{:<20} {:<13} {:>10} {:>12}  reason",
            "collective", "algorithm", "calls", "seconds"
        ));
    }
    for row in &calls {
        let seconds = row["seconds"].as_f64().unwrap_or(0.0);
        lines.push(format!(
            "{:<20} {:<13} {:>10} {seconds:>12.6}  {}",
            word(row, "collective"),
            word(row, "algorithm"),
            row["calls"].as_u64().unwrap_or(0),
            word(row, "reason")
        ));
    }
    for row in &saved {
        let seconds = row["seconds"].as_f64().unwrap_or(0.0);
        let calls = row["calls"].as_u64().unwrap_or(0);
        lines.push(stats::saving(&word(row, "collective"), calls, seconds));
    }
    let own = calls.iter().filter(|row| row["algorithm"] != "host");
    let own: u64 = own.filter_map(|row| row["calls"].as_u64()).sum();
    if own == 0 && !calls.is_empty() {
        let why = "Rondo carried out no call: the reasons are above, docs/limits.md explains them";
        lines.push(why.to_owned());
    }
    lines
}
