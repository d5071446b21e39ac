//! The record of algorithms: which ones passed cases have seen at work, on each MPI (`RONDO_TEST_RECORD`).

use crate::verdict::Ran;
use rondo::collective::Collective;
use std::collections::BTreeMap;

/// A collective and an algorithm of it, by their names.
type Way = (&'static str, &'static str);

/// How many passed cases Rondo has counted calls of an algorithm in, on each MPI.
#[derive(Default)]
pub struct Record {
    hosts: Vec<String>,
    cases: BTreeMap<(Way, usize), u32>,
}

impl Record {
    /// Of so many MPIs, by their names.
    pub fn of(hosts: Vec<String>) -> Record {
        Record {
            hosts,
            cases: BTreeMap::new(),
        }
    }

    /// A case has passed on the MPI of this number.
    pub fn add(&mut self, host: usize, ran: &[Ran]) {
        for way in ways().filter(|way| ran.iter().any(|ran| ran.is(way.0, way.1))) {
            *self.cases.entry((way, host)).or_default() += 1;
        }
    }

    /// How many cases on each MPI.
    fn cases(&self, way: Way) -> impl Iterator<Item = u32> + '_ {
        let of = move |host| self.cases.get(&(way, host)).copied().unwrap_or(0);
        (0..self.hosts.len()).map(of)
    }

    /// A row for each algorithm of each collective.
    pub fn table(&self) -> String {
        let mut table = format!("| collective | algorithm | {} |\n", self.hosts.join(" | "));
        table += &format!("|---|---|{}\n", "---:|".repeat(self.hosts.len()));
        for way in ways() {
            let cases: Vec<String> = self.cases(way).map(|cases| cases.to_string()).collect();
            table += &format!("| {} | {} | {} |\n", way.0, way.1, cases.join(" | "));
        }
        table
    }

    /// What no case has shown: lines for the user.
    pub fn missing(&self) -> Vec<String> {
        let of_way = |way: Way| {
            let hosts = self.hosts.iter().zip(self.cases(way));
            let without = hosts.filter(|&(_, cases)| cases == 0);
            without.map(move |(host, _)| format!("{} by {} on {host}", way.0, way.1))
        };
        ways().flat_map(of_way).collect()
    }
}

/// All algorithms of all collectives.
fn ways() -> impl Iterator<Item = Way> {
    Collective::ALL.iter().flat_map(|collective| {
        let algorithms = collective.algorithms().iter();
        algorithms.map(|algorithm| (collective.name(), algorithm.name()))
    })
}
