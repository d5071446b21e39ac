//! The memory that the ranks of a node share.

#![forbid(unsafe_code)]

use crate::engine::node::{Positions, Space};
use crate::host::{MailboxState, Requests};
use crate::schedule::Parts;
use crate::shm::{Arena, Mailboxes, Piece, Ring, Shared};
use once_cell::sync::OnceCell;
use std::sync::Arc;

/// What collectives over nodes leave from one call to the next.
#[derive(Default)]
pub struct Nodes {
    /// What the ranks of this node share, from the first call of Rondo's on: [`super::State::shares_memory`].
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
    arena: Arc<Arena>,
    /// Found at the first call that needs it.
    piece: OnceCell<Arc<Piece>>,
    lowest: u32,
    number: u32,
    /// The ranks of the node.
    n: u32,
    /// Is this rank the lowest of them, which reserved the piece?
    pub leads: bool,
}

impl Place {
    /// The place of a communicator of this number, with `n` ranks on the node, of which the lowest is this one of the
    /// world. If it is this rank, it has reserved a piece, and names it.
    pub fn new(
        arena: &Arc<Arena>,
        reserved: Option<Piece>,
        lowest: u32,
        number: u32,
        n: u32,
    ) -> Place {
        let leads = reserved.is_some();
        reserved
            .iter()
            .for_each(|piece| piece.name(lowest, number, n));
        Place {
            arena: arena.clone(),
            piece: reserved.map_or_else(OnceCell::new, |piece| OnceCell::with_value(piece.into())),
            lowest,
            number,
            n,
            leads,
        }
    }

    /// The piece. Local: the lowest rank names it as soon as it knows the number; the others `wait` until then.
    fn find(&self, mut wait: impl FnMut()) -> &Arc<Piece> {
        self.piece.get_or_init(|| {
            loop {
                match self.arena.find(self.lowest, self.number) {
                    Some(piece) => break piece.into(),
                    // The host may have messages to move before the lowest rank can go on.
                    None => wait(),
                }
            }
        })
    }

    /// The view of rank `me` of the node.
    pub fn memory(&self, me: u32, wait: impl FnMut()) -> Option<Memory> {
        let Shared { ring, mailboxes } = Shared::new(self.find(wait).clone(), self.n, me)?;
        let positions = Positions::new(ring.capacity());
        Some(Memory {
            ring,
            mailboxes,
            positions,
        })
    }

    /// This rank frees the communicator.
    pub fn leave(&self, was_used: bool, wait: impl FnMut()) {
        self.find(wait).leave(self.n, was_used);
    }

    /// Have all ranks of the node done so, of which this is the lowest?
    pub fn is_clear(&self) -> bool {
        let piece = self.piece.get();
        piece.is_none_or(|piece| !piece.is_of(self.lowest, self.number))
    }
}

impl Nodes {
    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.places.bytes()
            + self.node_parts.bytes()
            + self.space.bytes()
            + self.requests.bytes()
            + self.mailbox_state.bytes()
    }
}
