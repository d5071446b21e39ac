//! Files of rules: read by rank 0 of a communicator, known to all of its ranks; and written at the end.

#![forbid(unsafe_code)]

use super::{ALIVE, calibration, process};
use crate::config::Config;
use crate::decide::{self, Choice, Context, SizeClass};
use crate::host::{Code, Comm, Host, Mpi};
use crate::learn::{Candidate, Contest};
use crate::report;
use crate::rules::{File, Rule, Rules};
use crate::stats;
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;

/// What this process read itself, or was given.
static OWN: Mutex<Option<Arc<Rules>>> = Mutex::new(None);

/// What rank 0 of some communicator had at last.
static KNOWN: Mutex<Option<Arc<Rules>>> = Mutex::new(None);

/// The rules that this rank can offer or has: rank 0 those of its file.
pub fn known(host: &Host, mpi: &Mpi, own: &Config, rank: u32) -> Arc<Rules> {
    if rank == 0 {
        let mut rules = OWN.lock();
        let rules = rules.get_or_insert_with(|| read(host, mpi, &own.rules));
        return rules.clone();
    }
    KNOWN.lock().clone().unwrap_or_default()
}

/// Gives this process these rules, in place of those it had. The error is a sentence's end.
pub fn give(text: &str) -> Result<(), String> {
    let rules = File::parse(text)?.compile()?;
    *OWN.lock() = Some(Arc::new(rules));
    Ok(())
}

/// The rules of the file at `path`. What is wrong with it is said once, and then there are none.
fn read(host: &Host, mpi: &Mpi, path: &str) -> Arc<Rules> {
    if path.is_empty() {
        return Arc::default();
    }
    let rules = std::fs::read_to_string(path)
        .map_err(|error| error.to_string())
        .and_then(|text| File::parse(&text))
        .and_then(|file| {
            let version = mpi.version();
            match file.host.is_empty() || file.host == version {
                true => file.compile(),
                false => Err(format!(
                    "made for {}, and this is {version}; measure again with 'rondo tune', or remove \"host\" from the \
                     file",
                    file.host
                )),
            }
        });
    match rules {
        Ok(rules) => Arc::new(rules),
        Err(what) => {
            let line = format!("RONDO_RULES={path}: {what}; all of it is ignored");
            report::line(host.world_rank(), &line);
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

/// Writes what was learnt, if the user wants it, on rank 0 of the job.
pub fn save(host: &Host, mpi: &Mpi) {
    let Some(path) = &process(host).learn.save else {
        return;
    };
    if host.world_rank() != 0 {
        return;
    }
    let mut rules: Vec<Rule> = vec![];
    for state in ALIVE.lock().iter() {
        state.learnt.lock().each(|collective, class, contest| {
            let context = Context {
                collective,
                facts: state.facts(),
                config: state.config(),
            };
            let rule = learnt(context, SizeClass::with(class), contest);
            // Of several communicators of one size the first counts.
            rules.extend(rule.filter(|new| rules.iter().all(|old| !old.bounds_as(new))));
        });
    }
    let file = File {
        host: mpi.version(),
        made: format!("learnt by rondo {}", env!("CARGO_PKG_VERSION")),
        network: calibration::KNOWN.get(),
        rules,
    };
    let text = serde_json::to_string_pretty(&file).expect("names and numbers are always JSON");
    write(path, &(text + "\n"));
}

fn write(path: &Path, text: &str) {
    if let Err(error) = std::fs::write(path, text) {
        let path = path.display();
        report::line(
            0,
            &format!("cannot write what was learnt to {path}: {error}"),
        );
    }
}

/// What was learnt of one size class, as a rule.
fn learnt(context: Context, class: SizeClass, contest: &Contest) -> Option<Rule> {
    let Context {
        collective, facts, ..
    } = context;
    let is_measured = contest.times().iter().flatten().count() >= 2;
    // It holds for some distributions only, or for some operators.
    let is_special = !class.even || collective.family().reduces();
    if !is_measured || is_special {
        return None;
    }
    let (candidate, bytes) = (contest.incumbent(), class.bytes());
    let choice = decide::typical(context, class, candidate);
    let block_bytes = match (choice, candidate) {
        (Choice::Rondo { blocks, .. }, Candidate::Second | Candidate::Third) => {
            bytes.div_ceil(blocks.into())
        }
        _ => 0,
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
