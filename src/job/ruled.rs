//! Files of rules: read by rank 0 of the job, known to all ranks; and written at the end.

#![forbid(unsafe_code)]

use super::measure::KNOWN as NETWORKS;
use super::{job, process, record};
use crate::config::Config;
use crate::decide;
use crate::group::{self, State};
use crate::host::{self, Code, Comm, Host, Mpi};
use crate::network::Network;
use crate::records::Concern;
use crate::report;
use crate::rules::{self, File, Rule, Rules};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What this process read itself, or was given.
static OWN: Mutex<Option<Arc<Rules>>> = Mutex::new(None);

/// What rank 0 of some communicator had at last, if not all its ranks had it.
static KNOWN: Mutex<Option<Arc<Rules>>> = Mutex::new(None);

/// What was learnt on communicators that are no more, if it is to be saved.
static FREED: Mutex<Vec<Rule>> = Mutex::new(Vec::new());

/// The rules that this rank of the world has when the job begins: rank 0 those of its file.
pub fn at_the_beginning(host: &Host, mpi: &Mpi, own: &Config, rank: u32) -> Arc<Rules> {
    if rank != 0 {
        return Arc::default();
    }
    let mut rules = OWN.lock();
    let rules = rules.get_or_insert_with(|| read(host, mpi, &own.rules));
    rules.clone()
}

/// The rules that this rank of a new communicator offers, or knows: those that rank 0 was given, or else the job's.
pub fn known(rank: u32) -> Arc<Rules> {
    let own = match rank {
        0 => OWN.lock().clone(),
        _ => KNOWN.lock().clone(),
    };
    let of_job = || job().map(|job| job.rules.clone());
    own.or_else(of_job).unwrap_or_default()
}

/// Gives this process these rules, in place of those it had. The error is a sentence's end.
pub fn give(text: &str) -> Result<(), String> {
    let rules = File::parse(text)?.compile()?;
    *OWN.lock() = Some(Arc::new(rules));
    Ok(())
}

/// What the rules that this process read say of the network. No lock is waited for.
pub fn network() -> Network {
    let own = OWN.try_lock();
    own.and_then(|own| Some(own.as_ref()?.network()))
        .unwrap_or_default()
}

/// The rules of the file at `path`. What is wrong with it is said once, and then there are none.
fn read(host: &Host, mpi: &Mpi, path: &str) -> Arc<Rules> {
    if path.is_empty() {
        return Arc::default();
    }
    match File::rules_for(Path::new(path), &mpi.version()) {
        Ok((rules, removed)) => {
            if let Some(what) = removed {
                report::line(host.world_rank(), &rules::passed_over(path, &what));
            }
            Arc::new(rules)
        }
        Err(what) => {
            let line = rules::ignored(path, &what);
            report::line(host.world_rank(), &line);
            record::warned(Concern::RulesIgnored, line);
            Arc::default()
        }
    }
}

/// The rules of rank 0, of which there are `count`, on all ranks. Collective.
pub fn hand_out(
    mpi: &Mpi,
    comm: Comm,
    rank: u32,
    count: usize,
    own: &Arc<Rules>,
) -> Result<Arc<Rules>, Code> {
    if count == 0 {
        return Ok(Arc::default());
    }
    let mut numbers = match rank {
        0 => own.encode(),
        _ => vec![i64::MIN; Rules::encoded_len(count)],
    };
    mpi.max(comm, &mut numbers)?;
    let rules = match rank {
        0 => own.clone(),
        _ => Arc::new(Rules::decode(&numbers)),
    };
    *KNOWN.lock() = Some(rules.clone());
    Ok(rules)
}

/// Where this process writes what was learnt: rank 0 of the job, if the user wants it.
fn file(host: &Host) -> Option<&'static Path> {
    let path = process(host).learn.save.as_deref()?;
    (host.world_rank() == 0).then_some(path)
}

/// The communicator of this state is freed: what was learnt on it is kept, if it is to be saved. Local.
pub fn keep(host: &Host, state: &State) {
    if file(host).is_some() {
        add(&mut FREED.lock(), state);
    }
}

/// Adds what was learnt on a communicator. What a call has in use is passed over.
fn add(rules: &mut Vec<Rule>, state: &State) {
    let Some(table) = state.learnt().try_lock() else {
        return;
    };
    // The program may have a signal for each division.
    let learnt =
        host::with_plain_floats(|| decide::learnt_rules(&table, state.facts(), state.config()));
    add_new(rules, learnt);
}

/// Of several communicators of one size the first counts.
fn add_new(rules: &mut Vec<Rule>, more: Vec<Rule>) {
    for rule in more {
        if rules.len() < rules::RULES && rules.iter().all(|old| !old.bounds_as(&rule)) {
            rules.push(rule);
        }
    }
}

/// Writes what was learnt, if the user wants it, on rank 0 of the job.
pub fn save(host: &Host, mpi: &Mpi) {
    let Some(path) = file(host) else {
        return;
    };
    let mut learnt = vec![];
    group::each(Duration::MAX, |state| add(&mut learnt, state));
    add_new(&mut learnt, std::mem::take(&mut *FREED.lock()));
    let known = NETWORKS.get();
    if !learnt.is_empty() || !known.1.is_empty() {
        File::learn(path, mpi.version(), &learnt, network(), known);
    }
}
