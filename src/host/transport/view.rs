//! Whom and what an engine means by its numbers: an engine for ranks of the communicator, for nodes, or for
//! the ranks of a node.

use crate::engine::Piece;
use crate::engine::node::{Messages, Places};
use crate::host::data::data::Data;
use crate::host::data::staging::{Run, push};
use crate::schedule::Span;
use crate::topology::Topology;

/// Whom and what an engine means.
#[derive(Clone, Copy)]
pub enum View<'a> {
    /// Ranks of the communicator, and their parts.
    Ranks,
    /// Nodes, and a lane's shares of their node parts.
    Nodes {
        /// Where the ranks are.
        topology: &'a Topology,
        /// The root of a broadcast, else 0.
        root: u32,
        /// Which lane, and of how many.
        lane: (u32, u32),
        /// Where the bytes are.
        places: Places<'a>,
    },
    /// Ranks of this node, and their parts.
    Locals(&'a [u32]),
    /// Ranks of this node; block by block, the messages that each leader of a lane receives.
    Received {
        /// The ranks of the node.
        locals: &'a [u32],
        /// For each lane its leader among them, and the messages.
        lanes: &'a [(u32, Messages)],
        /// Where the bytes are.
        places: Places<'a>,
    },
}

impl View<'_> {
    /// The rank of the communicator.
    pub(in crate::host) fn rank(&self, number: u32) -> u32 {
        match self {
            View::Ranks => number,
            View::Nodes {
                topology,
                root,
                lane,
                ..
            } => topology.lane_leader(number, *root, lane.0),
            View::Locals(locals) | View::Received { locals, .. } => locals[number as usize],
        }
    }

    /// How many bytes of the message of a broadcast must be there for a piece to be.
    pub(in crate::host) fn end(&self, piece: &Piece) -> u64 {
        match self {
            View::Nodes { lane, places, .. } => {
                places.share(piece.root, *lane).offset + piece.span.end()
            }
            View::Received { lanes, .. } => {
                let ends = received(lanes, piece).iter().map(|span| span.end());
                ends.max().unwrap_or(0)
            }
            View::Ranks | View::Locals(_) => piece.span.end(),
        }
    }

    /// How many bytes at the front of all parts are there when the engine says so of its own.
    pub(in crate::host) fn arrived(&self, bytes: u64) -> u64 {
        match self {
            View::Ranks => bytes,
            View::Nodes { .. } | View::Locals(_) | View::Received { .. } => 0, // has another order
        }
    }

    /// Puts the places of `pieces` into `runs`; bytes in all.
    pub(in crate::host) fn runs(&self, data: &Data, pieces: &[Piece], runs: &mut Vec<Run>) -> u64 {
        runs.clear();
        for piece in pieces {
            let span = piece.span;
            match self {
                View::Ranks => add(data, piece.root, span.offset, span.len, runs),
                View::Locals(locals) => {
                    let rank = locals[piece.root as usize];
                    add(data, rank, span.offset, span.len, runs);
                }
                View::Nodes { lane, places, .. } => {
                    let share = places.share(piece.root, *lane);
                    let offset = share.offset + span.offset;
                    places.each(Span { offset, ..span }, |rank, span| {
                        add(data, rank, span.offset, span.len, runs);
                    });
                }
                View::Received { lanes, places, .. } => {
                    for &span in received(lanes, piece) {
                        places.each(span, |rank, span| {
                            add(data, rank, span.offset, span.len, runs);
                        });
                    }
                }
            }
        }
        runs.iter().map(|run| run.len).sum()
    }
}

/// The bytes of the message that a block of a leader's stands for.
fn received<'a>(lanes: &'a [(u32, Messages)], piece: &Piece) -> &'a [Span] {
    let lane = lanes.iter().find(|(leader, _)| *leader == piece.root);
    lane.map_or(&[], |(_, messages)| {
        messages.spans(piece.span.offset as u32)
    })
}

fn add(data: &Data, rank: u32, offset: u64, len: u64, runs: &mut Vec<Run>) {
    push(runs, data.part(rank).wrapping_add(offset as usize), len);
}
