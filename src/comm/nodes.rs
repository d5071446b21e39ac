//! Which ranks share a node, and the memory that they share.

#![forbid(unsafe_code)]

use super::State;
use crate::engine::node::{Messages, Positions, RingRows};
use crate::engine::{Part, Schedules, Scratch};
use crate::hash;
use crate::host::{Code, Comm, Failure, MailboxState, Mpi, Peer, Requests};
use crate::network::Placement;
use crate::report;
use crate::schedule::Parts;
use crate::shm::{Division, Mailboxes, Offer, Ring, Segment, Shared};
use crate::topology::Topology;
use once_cell::sync::OnceCell;

/// What collectives over nodes leave from one call to the next.
#[derive(Default)]
pub struct Nodes {
    /// The segment of this rank's node.
    pub sharing: Sharing,
    /// Bytes of the ranks in the order of their places.
    pub places: Parts,
    /// Bytes of the nodes.
    pub node_parts: Parts,
    /// Memory of all-broadcasts.
    pub space: Space,
    /// Packets of gathers and scatters within the node.
    pub mailbox_state: MailboxState,
}

/// Memory that one all-broadcast over nodes leaves to the next.
#[derive(Default)]
pub struct Space {
    /// The schedules of broadcasts among the nodes.
    pub schedules: Schedules,
    /// The schedules of broadcasts among the ranks of this node.
    pub local_schedules: Schedules,
    /// For each lane, its parts of the nodes.
    pub cuts: Vec<Vec<Part>>,
    /// For each lane, the leader among the ranks of this node, and what it receives.
    pub lanes: Vec<(u32, Messages)>,
    /// What passes through the ring.
    pub rows: RingRows,
    /// The parts of an exchange inside the node by messages.
    pub cut: Vec<Part>,
    /// What its engine needs.
    pub scratch: Scratch,
    /// Its requests in flight.
    pub requests: Requests,
}

impl Space {
    fn bytes(&self) -> usize {
        let part = size_of::<Part>();
        let cuts = self.cuts.iter().map(|cut| cut.capacity() * part);
        let lanes = self.lanes.iter().map(|(_, messages)| messages.bytes());
        self.schedules.bytes()
            + self.local_schedules.bytes()
            + cuts.chain(lanes).sum::<usize>()
            + self.cuts.capacity() * size_of::<Vec<Part>>()
            + self.lanes.capacity() * size_of::<(u32, Messages)>()
            + self.rows.bytes()
            + self.cut.capacity() * part
            + self.scratch.bytes()
            + self.requests.bytes()
    }
}

/// The segment of this rank's node.
#[derive(Default)]
pub enum Sharing {
    /// Nobody has asked for one.
    #[default]
    NotYet,
    /// Made on every node.
    Made(Memory),
    /// Not wanted, or refused to one of the ranks: none on any node.
    None,
}

/// What is in the segment of a node.
pub struct Memory {
    /// For data that all ranks of the node read.
    pub ring: Ring,
    /// For packets between two of them.
    pub mailboxes: Mailboxes,
    /// Where calls begin in the ring.
    pub positions: Positions,
}

impl Sharing {
    /// Makes the segment if this is the first time: a collective of all ranks of the communicator then.
    pub fn settle(&mut self, mpi: &Mpi, state: &State, private: Comm) -> Result<(), Failure> {
        if matches!(self, Sharing::NotYet) {
            *self = match make(mpi, state, private)? {
                Some(memory) => Sharing::Made(memory),
                None => Sharing::None,
            };
        }
        Ok(())
    }

    /// The segment; `None` on all ranks if there is none for one of them.
    pub fn memory(&mut self) -> Option<&mut Memory> {
        match self {
            Sharing::Made(memory) => Some(memory),
            Sharing::NotYet | Sharing::None => None,
        }
    }
}

impl Nodes {
    /// Do the ranks of this node share memory?
    pub fn share(&self) -> bool {
        matches!(self.sharing, Sharing::Made(_))
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.places.bytes()
            + self.node_parts.bytes()
            + self.space.bytes()
            + self.mailbox_state.bytes()
    }

    /// States the parts of the places and nodes of a communicator's topology.
    pub fn set(&mut self, topology: &Topology, parts: &Parts) {
        if parts.equal().is_some()
            && (self.places.equal(), self.places.p()) == (parts.equal(), parts.p())
        {
            return; // as they are
        }
        let places = (0..topology.p()).map(|place| Some(parts.span(topology.rank(place)).len));
        // The total is the same, so it is a number of bytes.
        let _ = self.places.set(places);
        let (places, start) = (&self.places, |node| topology.start(node));
        let node_parts = (0..topology.nodes())
            .map(|node| Some(places.window(start(node), start(node + 1) - start(node))));
        let _ = self.node_parts.set(node_parts);
    }
}

/// Makes the segments of all nodes; `None` if one could not be made or mapped. A failure of the host leaves the other
/// ranks waiting.
fn make(mpi: &Mpi, state: &State, private: Comm) -> Result<Option<Memory>, Failure> {
    // Simulated ranks are not processes, and time stands still for one that looks at memory.
    if !state.config().shm {
        return Ok(None);
    }
    let shared = share(mpi, state, private)?;
    // The lowest rank with a reason says it.
    let p = state.p();
    let own = if shared.is_err() { p - state.rank() } else { 0 };
    let mut failed = [i64::from(own)];
    (state.max(mpi, private, &mut failed))
        .map_err(|code| Failure::Host(code, "agreeing on shared memory"))?;
    match shared {
        Ok(mut segment) if failed[0] == 0 => {
            segment.seal();
            let (topology, rank) = (state.topology(), state.rank());
            let n = topology.locals(topology.node(rank)).len() as u32;
            let shared = Shared::new(segment, n, topology.local(rank));
            Ok(shared.map(|Shared { ring, mailboxes }| {
                let positions = Positions::new(ring.capacity());
                // What short calls use, or the first dozen of them would take two or three times as long.
                ring.populate(positions.window());
                Memory {
                    ring,
                    mailboxes,
                    positions,
                }
            }))
        }
        Err(why) if failed[0] == i64::from(own) && state.config().trace => {
            let rank = state.rank();
            let line = format!(
                "no shared segment for {p} ranks: rank {rank}: {why}; the ranks of a node use messages"
            );
            report::line(crate::host::host().world_rank(), &line);
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// A node's segment as one of its ranks has it, or why the rank has none: then the node uses messages.
type Mapped = Result<Segment, String>;

/// The segment of this rank's node. Collective among the ranks of the node.
fn share(mpi: &Mpi, state: &State, private: Comm) -> Result<Mapped, Failure> {
    let (topology, rank) = (state.topology(), state.rank());
    let locals = topology.locals(topology.node(rank));
    let (bytes, n) = (state.config().shm_bytes, locals.len() as u32);
    if Division::new(bytes, n).is_none() {
        return Ok(Err(format!(
            "{bytes} bytes are too few for {n} ranks (RONDO_SHM_BYTES)"
        )));
    }
    let creator = locals[0];
    let nothing = Offer([0; 6]);
    let (own, mut offer) = match rank == creator {
        false => (None, nothing),
        true => match Segment::create(bytes as usize) {
            Ok((segment, offer)) => (Some(Ok(segment)), offer),
            Err(error) => (Some(Err(error)), nothing),
        },
    };
    // Handed out whatever it is: the others wait for it.
    let from = Peer {
        comm: private,
        rank: creator,
        timeout_s: state.config().timeout_s,
    };
    mpi.hand_out(rank, from, locals, &mut offer.0)?;
    Ok(match own {
        Some(own) => own.map_err(|error| format!("it cannot make one: {error}")),
        None if offer == nothing => Err(format!("rank {creator} made none")),
        None => Segment::open(&offer).map_err(|error| format!("it cannot map one: {error}")),
    })
}

/// The names of the nodes of all ranks of `MPI_COMM_WORLD`, once they have been asked.
static WORLD: OnceCell<Vec<u64>> = OnceCell::new();

/// The nodes of these ranks of `MPI_COMM_WORLD`, if they are known. Local.
pub fn known(ranks: &[u32]) -> Option<Vec<u64>> {
    let world = WORLD.get()?;
    Some(ranks.iter().map(|&rank| world[rank as usize]).collect())
}

/// The nodes with these names, whatever ranks are on them.
pub fn placement(names: &[u64]) -> Placement {
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    Placement {
        nodes: names.len() as u32,
        hash: hash::of_words(names),
    }
}

/// Asks all ranks of `comm`, which are `ranks` in `MPI_COMM_WORLD`, for their nodes. Collective. `name` is the user's
/// for this process, if not empty.
pub fn ask(mpi: &Mpi, comm: Comm, rank: u32, ranks: &[u32], name: &str) -> Result<Vec<u64>, Code> {
    let host = mpi.node_name();
    let own = hash::of_bytes(if name.is_empty() { &host } else { name }.as_bytes());
    let mut numbers = vec![i64::MIN; ranks.len()];
    numbers[rank as usize] = own as i64;
    mpi.max(comm, &mut numbers)?;
    let names: Vec<u64> = numbers.into_iter().map(|number| number as u64).collect();
    let in_order = (0..).zip(ranks).all(|(rank, &of_world)| rank == of_world);
    if in_order && ranks.len() as u32 == mpi.size(mpi.world())? {
        // Another thread may have asked the same; the answer is the same.
        let _ = WORLD.set(names.clone());
    }
    Ok(names)
}
