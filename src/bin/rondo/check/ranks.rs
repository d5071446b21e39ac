//! What the ranks of a job wrote.

#![forbid(unsafe_code)]

use rondo::records::{Called, Record};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// The processes of a job that had the library, by rank. Those of a rank are what it was, one after the other (a shell
/// and then the program, say), and programs that it started.
#[derive(Default)]
pub struct Ranks {
    /// How many ranks the job has, as far as is known.
    pub count: u32,
    /// Is each process a job of its own to MPI, though the launcher started them as one?
    pub apart: bool,
    processes: BTreeMap<u32, Vec<Record>>,
}

/// How far the library got on a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// No process had it.
    Nowhere,
    /// Processes had it, but none with MPI.
    BesideMpi,
    /// The program had it, but no call came.
    Program,
    /// MPI ended, and no call of a collective came before.
    End,
    /// Calls came with sessions alone, which are the MPI library's.
    Sessions,
    /// Calls came.
    Calls,
}

impl Ranks {
    /// What is in the folder.
    pub fn read(folder: &Path) -> Ranks {
        let mut records: Vec<Record> = vec![];
        for file in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = file.path();
            if path.extension().is_some_and(|ending| ending == "json")
                && let Ok(text) = fs::read_to_string(&path)
                && let Ok(record) = serde_json::from_str(&text)
            {
                records.push(record);
            }
        }
        let mut ranks = Ranks {
            apart: are_apart(&records),
            ..Ranks::default()
        };
        for record in records {
            ranks.add(record);
        }
        for processes in ranks.processes.values_mut() {
            processes.sort_by(|a, b| a.began.total_cmp(&b.began));
        }
        ranks
    }

    fn add(&mut self, record: Record) {
        let called = record.called.as_ref().filter(|_| !self.apart);
        let of_world = called.and_then(|called| u32::try_from(called.rank).ok());
        // A program without a launcher is a job of its own.
        let rank = of_world.or(record.place.0).unwrap_or(0);
        self.count = self.count.max(rank + 1).max(record.place.1.unwrap_or(1));
        self.processes.entry(rank).or_default().push(record);
    }

    /// Are ranks in their first collective on a communicator, and can others never come to theirs?
    pub fn wait_in_vain(&self) -> bool {
        let waits = |record: &&Record| record.waiting;
        // Before MPI_Init is over, all ranks are there. A program may load MPI later, as Python does.
        let callers: BTreeSet<&str> = self.all().filter(waits).map(|r| &*r.program).collect();
        let may_come = |rank: u32| {
            let of_program = |record: &Record| callers.contains(&*record.program);
            let reached = self.reach(rank) >= Reach::Program;
            reached || self.of(rank).iter().any(of_program)
        };
        !callers.is_empty() && !(0..self.count).all(may_come)
    }

    /// The processes of a rank.
    pub fn of(&self, rank: u32) -> &[Record] {
        self.processes.get(&rank).map_or(&[], Vec::as_slice)
    }

    /// All processes.
    pub fn all(&self) -> impl Iterator<Item = &Record> {
        self.processes.values().flatten()
    }

    /// The processes that called collectives, with their ranks, and what they knew then.
    pub fn callers(&self) -> impl Iterator<Item = (u32, &Record, &Called)> {
        let all = self.processes.iter();
        let all = all.flat_map(|(rank, processes)| processes.iter().map(|it| (*rank, it)));
        all.filter_map(|(rank, record)| Some((rank, record, record.called.as_ref()?)))
    }

    /// How far the library got on a rank.
    pub fn reach(&self, rank: u32) -> Reach {
        let reach = self.of(rank).iter().map(|record| match record {
            record if record.called.is_some() => Reach::Calls,
            record if record.sessions => Reach::Sessions,
            record if record.finalized => Reach::End,
            record if record.mpi.is_some() => Reach::Program,
            _ => Reach::BesideMpi,
        });
        reach.max().unwrap_or(Reach::Nowhere)
    }

    /// The ranks on which it got just so far.
    pub fn with(&self, reach: Reach) -> Vec<u32> {
        (0..self.count)
            .filter(|rank| self.reach(*rank) == reach)
            .collect()
    }
}

/// Are all processes that called collectives rank 0 to MPI, and not all of them to the launcher?
fn are_apart(records: &[Record]) -> bool {
    let mut callers = records
        .iter()
        .filter_map(|record| Some((record.place.0, record.called.as_ref()?.rank)));
    callers.clone().all(|(_, rank)| rank == 0) && callers.any(|(place, _)| place > Some(0))
}

/// Some of `all` ranks in words: `rank 1`, `ranks 0, 2-5`, `all 8 ranks`.
pub fn in_words(ranks: &[u32], all: u32) -> String {
    if ranks.len() as u32 == all && all > 1 {
        return format!("all {all} ranks");
    }
    let mut runs: Vec<(u32, u32)> = vec![];
    for &rank in ranks {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == rank => *last = rank,
            _ => runs.push((rank, rank)),
        }
    }
    let words = runs.iter().map(|&(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}-{last}"),
    });
    let words: Vec<String> = words.collect();
    let noun = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{noun} {}", words.join(", "))
}
