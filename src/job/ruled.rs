//! Files of rules: read by rank 0 of the job, known to all ranks; and written at the end.

#![forbid(unsafe_code)]

use super::measure::KNOWN as NETWORKS;
use super::{job, process, record};
use crate::collective::{Collective, Family};
use crate::config::Config;
use crate::decide::{self, Choice, Context, SizeClass};
use crate::group::{self, State};
use crate::host::{self, Code, Comm, Host, Mpi};
use crate::learn::{Candidate, Contest};
use crate::network::{Network, Placement};
use crate::records::Concern;
use crate::report;
use crate::rules::{self, File, MeasuredOn, Refusal, Rule, Rules};
use crate::stats;
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;

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
    let rules = File::read(Path::new(path)).and_then(|file| {
        let version = mpi.version();
        match file.host.is_empty() || file.host == version {
            true => Ok((file.compile()?, file.removed())),
            false => Err(format!(
                "made for {}, and this is {version}; measure again with 'rondo tune', or remove \"host\" from the file",
                file.host
            )),
        }
    });
    match rules {
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

/// Adds what was learnt on a communicator. Of several ones of one size the first counts. What a call has in use is
/// passed over.
fn add(rules: &mut Vec<Rule>, state: &State) {
    let Some(table) = state.learnt().try_lock() else {
        return;
    };
    let facts = state.facts();
    let add_rule = |collective, class, contest: &Contest| {
        let context = Context {
            collective,
            facts,
            config: state.config(),
        };
        let rule = learnt(context, SizeClass::with(class), contest);
        let rule = rule.filter(|new| rules.iter().all(|old| !old.bounds_as(new)));
        if rules.len() < rules::RULES {
            rules.extend(rule);
        }
    };
    // The program may have a signal for each division.
    host::with_plain_floats(|| table.each(add_rule));
}

/// Writes what was learnt, if the user wants it, on rank 0 of the job. Rules that are in the file already, for other
/// calls, stay there.
pub fn save(host: &Host, mpi: &Mpi) {
    let Some(path) = file(host) else {
        return;
    };
    let mut learnt = vec![];
    group::each(|state| add(&mut learnt, state));
    for rule in FREED.lock().drain(..) {
        if learnt.len() < rules::RULES && learnt.iter().all(|new| !new.bounds_as(&rule)) {
            learnt.push(rule);
        }
    }
    let known = NETWORKS.get();
    if learnt.is_empty() && known.1.is_empty() {
        return;
    }
    let _alone = rules::alone(path);
    let version = mpi.version();
    let (old, why) = match File::before(path, &version) {
        Ok(old) => (old, None),
        Err(Refusal::Unreadable(error)) => (File::default(), Some(error.to_string())),
        Err(Refusal::Other(what)) => (File::default(), Some(format!("it {what}"))),
    };
    let (network, measured_on) = figures(&old, known);
    let mut file = File {
        host: version,
        network,
        measured_on,
        gamma_ns_per_kb: None,
        rules: rules::merged(&learnt, old.rules, Rule::bounds_as),
        made: old.made,
    };
    file.add_made(concat!("learnt by rondo ", env!("CARGO_PKG_VERSION")));
    let why = why.or_else(|| Some(file.write(path).err()?.to_string()));
    if let Some(why) = why {
        let path = path.display();
        let line = format!("cannot write what was learnt to {path}: {why}; it follows here");
        report::line(0, &rules::printable(&line));
        report::block(&file.text());
    }
}

/// The figures of the network in a file in place of the `old` one, where so much was measured on these nodes, and where
/// they were measured. If a user wrote some, in the rules in use or the old file, all of them stay.
fn figures(old: &File, (nodes, measured): (Placement, Network)) -> (Network, Option<MeasuredOn>) {
    let set = network();
    if !set.is_empty() || (old.measured_on.is_none() && !old.network.is_empty()) {
        return (set.or(&measured).or(&old.network), None);
    }
    if measured.is_empty() {
        return (old.network, old.measured_on.clone());
    }
    let on = Some(MeasuredOn::new(nodes));
    match on == old.measured_on {
        true => (measured.or(&old.network), on),
        false => (measured, on),
    }
}

/// What was learnt of one size class, as a rule.
fn learnt(context: Context, class: SizeClass, contest: &Contest) -> Option<Rule> {
    let Context {
        collective, facts, ..
    } = context;
    let is_measured = contest.times().iter().flatten().count() >= 2;
    // It holds for some distributions only, or for some operators.
    let is_special = collective == Collective::Allgatherv || collective.family().reduces();
    if !is_measured || is_special {
        return None;
    }
    let (candidate, bytes) = (contest.incumbent(), class.bytes());
    let choice = decide::typical(context, class, candidate);
    // Only of broadcasts do the candidates differ in their blocks. Others have those of their algorithm again.
    let is_broadcast = collective.family() == Family::Broadcast;
    let block_bytes = match (choice, candidate) {
        (Choice::Rondo(method), Candidate::Second | Candidate::Third) if is_broadcast => {
            bytes.div_ceil(method.blocks.into())
        }
        (Choice::Rondo(_) | Choice::Host(_), _) => 0,
    };
    let (least, most) = class.bounds();
    Some(Rule {
        collective: collective.name().into(),
        algorithm: stats::implementation(choice).into(),
        comm_size_min: facts.p.into(),
        comm_size_max: facts.p.into(),
        nodes_min: facts.nodes.into(),
        nodes_max: facts.nodes.into(),
        msg_size_min: least,
        msg_size_max: most,
        block_bytes: block_bytes.min(1 << 30),
    })
}
