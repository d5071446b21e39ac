//! The memory that the ranks of each node share: made by its lowest rank, mapped by all.

#![forbid(unsafe_code)]

use super::Job;
use crate::host::{Failure, Host, Mpi, Peer};
use crate::report;
use crate::shm::{Arena, Division, Offer};
use crate::topology::Topology;
use std::sync::Arc;

/// This rank's mapping; `None` on all ranks if one has none. Collective.
pub fn share(
    host: &Host,
    mpi: &Mpi,
    job: &Job,
    topology: &Topology,
) -> Result<Option<Arc<Arena>>, Failure> {
    if !job.config.shm || topology.widest() < 2 {
        return Ok(None);
    }
    let shared = map(mpi, job, topology)?;
    // The lowest rank with a reason says it.
    let own = if shared.is_err() { job.p - job.rank } else { 0 };
    let mut failed = [i64::from(own)];
    mpi.max_over(job.channel(), &mut failed)?;
    match shared {
        Ok(mut arena) if failed[0] == 0 => {
            arena.seal();
            Ok(Some(Arc::new(arena)))
        }
        Err(why) if failed[0] == i64::from(own) && job.config.trace => {
            let rank = job.rank;
            let line =
                format!("no shared memory: rank {rank}: {why}; the ranks of a node use messages");
            report::line(host.world_rank(), &line);
            Ok(None)
        }
        Ok(_) | Err(_) => Ok(None),
    }
}

/// The arena of this rank's node, or why it has none. Collective among the ranks of the node.
fn map(mpi: &Mpi, job: &Job, topology: &Topology) -> Result<Result<Arena, String>, Failure> {
    let locals = topology.locals(topology.node(job.rank));
    let maker = locals[0];
    let nothing = Offer([0; 6]);
    let (bytes, n) = (job.config.shm_bytes, locals.len() as u32);
    if Division::new(bytes, n).is_none() {
        return Ok(Err(format!(
            "{bytes} bytes are too few for {n} ranks (RONDO_SHM_BYTES)"
        )));
    }
    let (own, mut offer) = match job.rank == maker {
        false => (None, nothing),
        true => match Arena::create(bytes) {
            Ok((arena, offer)) => (Some(Ok(arena)), offer),
            Err(error) => (Some(Err(error)), nothing),
        },
    };
    // Handed out whatever it is: the others wait for it.
    let from = Peer {
        channel: job.channel(),
        rank: maker,
    };
    mpi.hand_out(job.rank, from, locals, &mut offer.0)?;
    Ok(match own {
        Some(own) => own.map_err(|error| format!("it cannot make any: {error}")),
        None if offer == nothing => Err(format!("rank {maker} made none")),
        None => Arena::open(&offer).map_err(|error| format!("it cannot map it: {error}")),
    })
}
