//! Memory that a node shares, memory of GPUs, and names of nodes.

#![forbid(unsafe_code)]

use super::{Evidence, Finding, fine, left, problem};
use rondo::decide::Why;
use rondo::records::Kind;
use std::collections::{BTreeMap, BTreeSet};

/// Can the ranks of a node share memory?
pub fn memory(evidence: &Evidence) -> Vec<Finding> {
    let callers = || evidence.ranks.callers();
    if callers().any(|(_, _, called)| !called.shm) {
        let what = "the ranks of a node do not share memory: RONDO_SHM=off";
        return vec![problem(Kind::NoSharedMemory, what, "unset RONDO_SHM")];
    }
    let refused: Vec<(u32, &str, &str)> = callers()
        .filter_map(|(rank, record, called)| {
            Some((rank, &*record.name, called.no_memory.as_deref()?))
        })
        .collect();
    match refused.first() {
        None => vec![fine(Kind::SharedMemory, "the system grants shared memory")],
        Some((rank, name, why)) => vec![problem(
            Kind::NoSharedMemory,
            format!(
                "{} of {} cannot make shared memory (rank {rank} on {name}: {why})",
                refused.len(),
                callers().count()
            ),
            "raise the limits on files and on memory (ulimit -f, ulimit -v, the job's memory), or make \
             RONDO_SHM_BYTES smaller",
        )],
    }
}

/// Were calls left to the MPI library because buffers may be on a GPU? Rank 0 counted them.
pub fn gpus(evidence: &Evidence) -> Option<Finding> {
    let calls = left(evidence, Why::Gpu);
    let what = format!(
        "{}, so that {calls} calls of rank 0 were left to the MPI library: their buffers may be on a GPU",
        Why::Gpu.text()
    );
    let advice = "if none is, set RONDO_GPU=off, or let the program say so by the MPI hint \
                  mpi_assert_memory_alloc_kinds";
    (calls > 0).then(|| problem(Kind::Gpu, what, advice))
}

/// Do names of nodes say which ranks share a machine?
pub fn nodes(evidence: &Evidence) -> Vec<Finding> {
    let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut machines: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let callers = || evidence.ranks.callers();
    for (_, record, called) in callers().filter(|(_, _, called)| !called.node.is_empty()) {
        names
            .entry(&called.node)
            .or_default()
            .insert(&record.machine);
        machines
            .entry(&record.machine)
            .or_default()
            .insert(&called.node);
    }
    if let Some((name, _)) = names.iter().find(|(_, machines)| machines.len() > 1) {
        return vec![problem(
            Kind::NodeNames,
            format!("several machines are called {name}, so that their ranks seem to share memory"),
            "give the machines (or containers) different names, or set RONDO_NODE to the machine's name on each",
        )];
    }
    let several = machines.values().find(|names| names.len() > 1);
    let is_given = callers().any(|(_, _, called)| called.node_is_given);
    match several {
        Some(names) if !is_given => {
            let names: Vec<&str> = names.iter().copied().collect();
            vec![problem(
                Kind::NodeNames,
                format!(
                    "one machine has several names ({}), so that its ranks seem to be apart",
                    names.join(", ")
                ),
                "give all containers of a machine its name, or set RONDO_NODE to it",
            )]
        }
        Some(_) => {
            let what = format!(
                "{} nodes by RONDO_NODE, on machines: {}",
                names.len(),
                machines.len()
            );
            vec![fine(Kind::NodeNames, what)]
        }
        // Of ranks that make no names all is unknown.
        None if names.is_empty() => vec![],
        None => {
            let noun = if names.len() == 1 { "node" } else { "nodes" };
            vec![fine(
                Kind::NodeNames,
                format!("{} {noun} by name", names.len()),
            )]
        }
    }
}
