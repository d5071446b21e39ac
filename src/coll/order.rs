//! What an all-broadcast moves, and in which order.

#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, AllBroadcastAlgorithm};
use crate::decide::{self, Form};
use crate::engine::{Limits, Pattern, Way};
use crate::group::State;
use crate::host::{self, Abi, Requests, SYNCHRONOUS_BYTES, StagingRoom};
use crate::schedule::{Circulant, Moves, Parts};
use std::slice;

/// Bytes of staged messages at a time, each way. About what a window holds (see [`crate::flow`]).
const STAGED_BYTES: u64 = 512 << 10;

/// Requests of sends at a time, at the least. What is under way is bounded by [`crate::flow`].
pub const SEND_WINDOW: u32 = 64;

/// Requests each way at a time, at the most.
const WINDOW_MAX: u32 = 1024;

/// Receives that are posted ahead, at the least.
pub const RECEIVE_WINDOW: u32 = 64;

/// Sends in flight in a simulation, where all are synchronous. Few, so that the block that is next in the schedule does
/// not share the link with many later ones; more than one, so that the link never idles between two.
pub(super) const SIMULATED_SENDS: u32 = 2;

impl From<AllBroadcastAlgorithm> for Way {
    fn from(algorithm: AllBroadcastAlgorithm) -> Way {
        match algorithm {
            AllBroadcastAlgorithm::Circulant | AllBroadcastAlgorithm::FullLane => Way::Circulant,
            AllBroadcastAlgorithm::Bruck => Way::Bruck,
            AllBroadcastAlgorithm::Ring => Way::Ring,
            AllBroadcastAlgorithm::Doubling => Way::Moves(Moves::Doubling),
            AllBroadcastAlgorithm::Neighbor => Way::Moves(Moves::Neighbours),
            AllBroadcastAlgorithm::Mesh => Way::Moves(Moves::Mesh),
        }
    }
}

impl Way {
    /// That of a broadcast, between ranks or nodes, of blocks of so many bytes.
    pub(super) fn of_broadcast(
        algorithm: Algorithm,
        form: Form,
        block_bytes: u64,
        state: &State,
    ) -> Way {
        let config = state.config();
        let (facts, latency) = host::with_plain_floats(|| {
            let facts = state.facts();
            (facts, facts.latencies(block_bytes, config).0)
        });
        match decide::shape(algorithm, facts.members(form), latency, config) {
            Some(shape) => Way::Tree(shape),
            None if algorithm == Algorithm::Relay => Way::Relay,
            None if algorithm == Algorithm::Hypercube => Way::Hypercube,
            None if algorithm == Algorithm::ScatterAllgather => Way::Moves(Moves::Scatter),
            None => Way::Circulant,
        }
    }
}

/// The blocks of an all-broadcast, of which a broadcast is one with a single part, and how they go.
pub(super) struct BlockTransfer<'a> {
    pub way: Way,
    /// Bytes of all parts.
    pub bytes: u64,
    /// Blocks of a part, or of the longest.
    pub blocks: u32,
    pub sources: Sources<'a>,
    /// The number of the call.
    pub sequence: u64,
}

/// Who has what in the beginning.
#[derive(Clone, Copy)]
pub(super) enum Sources<'a> {
    /// The root of a broadcast has all.
    Root(u32),
    /// Every rank has a part.
    Ranks(&'a Parts),
}

impl Sources<'_> {
    pub(super) fn contributors(&self) -> &[u32] {
        match self {
            Sources::Root(root) => slice::from_ref(root),
            Sources::Ranks(parts) => parts.contributors(),
        }
    }

    /// The root of a broadcast.
    pub(super) fn root(&self) -> Option<u32> {
        match self {
            Sources::Root(root) => Some(*root),
            Sources::Ranks(_) => None,
        }
    }
}

impl BlockTransfer<'_> {
    /// The most that a member sends, or receives, in a round.
    pub(super) fn round(&self) -> u64 {
        match self.way.has_part_of_each() {
            true => self.bytes,
            false => self.bytes.div_ceil(self.blocks.into()),
        }
    }

    /// How blocks go on inside a node, by messages.
    pub(super) fn way_inside(&self, state: &State) -> Way {
        let latencies = || state.facts().latencies(self.round(), state.config());
        (self.way).inside(|| host::with_plain_floats(latencies).1)
    }

    /// The radix of whole parts between those of this form.
    pub(super) fn radix(&self, state: &State, form: Form) -> u32 {
        match self.way {
            Way::Bruck => {
                host::with_plain_floats(|| state.facts().radix(form, self.bytes, state.config()))
            }
            Way::Circulant
            | Way::Ring
            | Way::Tree(_)
            | Way::Relay
            | Way::Hypercube
            | Way::Moves(_) => 2,
        }
    }
}

/// Ranks that one sends to, or receives from, at the most.
pub(super) fn neighbors(ranks: u32, pattern: &Pattern) -> u32 {
    match pattern {
        Pattern::Circulant(..) => Circulant::new(ranks).q() as u32,
        Pattern::Bruck(steps) => steps.count() as u32,
        Pattern::Ring => 1,
        Pattern::Tree(family) => {
            let edges = family.children().len().max(family.parents().len());
            // In a tree from another root this rank may have as many.
            Circulant::new(ranks).q().max(edges).max(1) as u32
        }
        Pattern::Relay => ranks - 1,
        // Both ranks of a pair in each dimension, and the other one of its own.
        Pattern::Hypercube(cube) => (2 * cube.dimensions() + 1).min(ranks),
        // One for each bit of their number, and one beside it.
        Pattern::Moves(_) => (Circulant::new(ranks).q() as u32 + 2).min(ranks),
    }
}

/// Room for staged messages of up to `bytes` bytes in `pieces` pieces, of a transfer of `total` bytes.
pub(super) fn staging(limits: &Limits, bytes: u64, pieces: usize, total: u64) -> StagingRoom {
    let memory = bytes + (pieces * StagingRoom::PIECE_BYTES) as u64;
    // One is copied while another travels.
    let messages = (STAGED_BYTES / memory.max(1)).clamp(2, limits.receives.max(2).into());
    let all = total.div_ceil(bytes.max(1)).saturating_add(2);
    StagingRoom {
        messages: messages.min(all) as u32,
        bytes,
        pieces,
    }
}

/// Is one message at a time, each way, best? That is how the schedule means it, and where time is simulated no
/// rank is ever late by chance, for which others would need something in stock: two messages in flight would
/// only share a link, and both come late. Short blocks are different, because most of their time is no link's.
fn keeps_step(state: &State, pattern: &Pattern, round_bytes: u64) -> bool {
    let (between, _) = state.facts().models(state.config());
    let link_us = round_bytes as f64 * between.beta_ns_per_kb / 1024.0 / 1000.0;
    Abi::BUILT.is_simulated()
        && matches!(
            pattern,
            Pattern::Circulant(..) | Pattern::Tree(_) | Pattern::Hypercube(_)
        )
        && link_us > between.alpha_us
}

/// How much a transfer among `ranks` ranks may have under way, of which each sends, or receives,
/// `round_bytes` bytes in a round at the most.
pub(super) fn limits(state: &State, ranks: u32, pattern: &Pattern, round_bytes: u64) -> Limits {
    let in_step = keeps_step(state, pattern, round_bytes);
    let simulated = Abi::BUILT.is_simulated();
    let two_phases = 2 * Circulant::new(ranks).q() as u32;
    Limits {
        // At least those of two phases: that covers every block still needed for sending.
        receives: match state.config().window {
            0 if in_step => 1,
            0 if simulated => two_phases,
            0 => RECEIVE_WINDOW.max(two_phases),
            window => window,
        },
        sends: match pattern {
            _ if !simulated => SEND_WINDOW,
            _ if in_step => 1,
            // The postal tree counts on so many; more would share the link, and all come late.
            Pattern::Tree(_) if round_bytes >= SYNCHRONOUS_BYTES => {
                let (latency, _) = state.facts().latencies(round_bytes, state.config());
                neighbors(ranks, pattern).min(latency)
            }
            Pattern::Tree(_) | Pattern::Relay => neighbors(ranks, pattern),
            // Those of a round are all sent at the same time.
            Pattern::Bruck(steps) => {
                let most = steps.rounds().map(|(_, messages)| messages).max();
                most.unwrap_or(1).max(SIMULATED_SENDS)
            }
            Pattern::Circulant(..) | Pattern::Ring | Pattern::Hypercube(_) | Pattern::Moves(_) => {
                SIMULATED_SENDS
            }
        },
        message: state.facts.eager_bytes,
    }
}

/// These limits, or more messages where so many of up to `bytes` bytes fill the window between nodes: not the requests
/// are to bound what is under way.
pub(super) fn filling(limits: Limits, requests: &Requests, bytes: u64, state: &State) -> Limits {
    if Abi::BUILT.is_simulated() {
        return limits;
    }
    let messages = requests.flow.messages(bytes).min(WINDOW_MAX.into()) as u32;
    Limits {
        receives: match state.config().window {
            0 => limits.receives.max(messages),
            _ => limits.receives,
        },
        sends: limits.sends.max(messages),
        ..limits
    }
}
