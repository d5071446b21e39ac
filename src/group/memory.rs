//! The memory that the ranks of a node share.

#![forbid(unsafe_code)]

use crate::engine::node::{Positions, Space};
use crate::host::{MailboxState, Requests};
use crate::schedule::Parts;
use crate::shm::{Arena, Mailboxes, Piece, Ring, Shared};
use std::sync::Arc;

/// What collectives over nodes leave from one call to the next.
#[derive(Default)]
pub struct Nodes {
    /// What the ranks of this node share, if the ranks of all nodes do.
    pub memory: Option<Memory>,
    /// Bytes of the ranks in the order of their places.
    pub places: Parts,
    /// Bytes of the nodes.
    pub node_parts: Parts,
    /// Memory of all-broadcasts.
    pub space: Space,
    /// Their requests in flight inside this node.
    pub requests: Requests,
    /// Packets of gathers and scatters within the node.
    pub mailbox_state: MailboxState,
}

/// What the ranks of this node share.
pub struct Memory {
    /// For data that all ranks of the node read.
    pub ring: Ring,
    /// For packets between two of them.
    pub mailboxes: Mailboxes,
    /// Where calls begin in the ring.
    pub positions: Positions,
}

/// This rank's end of a piece of the arena.
pub struct Place {
    piece: Arc<Piece>,
    lowest: u32,
    number: u32,
    /// The ranks of the node.
    n: u32,
    /// Is this rank the lowest of them, which reserved the piece?
    pub leads: bool,
}

impl Place {
    /// Finds the piece that the lowest rank of the node, as one of the world, has reserved for the communicator of this
    /// number, or names it so, if this is that rank. Local: the lowest one names it as soon as it knows the number; the
    /// others `wait` until then.
    pub fn find(
        arena: &Arc<Arena>,
        reserved: Option<Piece>,
        lowest: u32,
        number: u32,
        n: u32,
        mut wait: impl FnMut(),
    ) -> Place {
        let leads = reserved.is_some();
        let piece = match reserved {
            Some(piece) => {
                piece.name(lowest, number, n);
                piece
            }
            None => loop {
                match arena.find(lowest, number) {
                    Some(piece) => break piece,
                    // The host may have messages to move before the lowest rank can go on.
                    None => wait(),
                }
            },
        };
        Place {
            piece: Arc::new(piece),
            lowest,
            number,
            n,
            leads,
        }
    }

    /// The view of rank `me` of the node.
    pub fn memory(&self, me: u32) -> Option<Memory> {
        let Shared { ring, mailboxes } = Shared::new(self.piece.clone(), self.n, me)?;
        let positions = Positions::new(ring.capacity());
        Some(Memory {
            ring,
            mailboxes,
            positions,
        })
    }

    /// This rank frees the communicator.
    pub fn leave(&self, was_used: bool) {
        self.piece.leave(self.n, was_used);
    }

    /// Have all ranks of the node done so?
    pub fn is_clear(&self) -> bool {
        !self.piece.is_of(self.lowest, self.number)
    }
}

impl Nodes {
    /// Do the ranks of this node share memory?
    pub fn share(&self) -> bool {
        self.memory.is_some()
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.places.bytes()
            + self.node_parts.bytes()
            + self.space.bytes()
            + self.requests.bytes()
            + self.mailbox_state.bytes()
    }
}
