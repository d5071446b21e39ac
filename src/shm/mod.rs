//! Memory that the ranks of a node share.
//!
//! When the job begins, one rank of each node makes a [`Segment`] and tells the others by message where it is (an
//! [`Offer`]); when all have mapped it, the first one seals it. The file behind it has no name anywhere: it goes with
//! the last process that has it mapped, however that process ends. It is the node's [`Arena`], of which each
//! communicator takes a [`Piece`], divided (see [`Division`]) into
//!
//! ```text
//! controls   for every rank: how far it has written, joined and read the ring, which call it is in
//! mailboxes  two for every rank: packets of gather and scatter
//! ring       bytes on their way from one rank to all
//! ```
//!
//! Words of control are atomics, each with one writer at a time; bytes are copied by the rank to
//! which a word of control gives the right. Nothing here waits: whoever must wait has MPI to drive in the meantime.

mod arena;
mod available;
mod division;
mod mailboxes;
mod ring;
mod segment;

pub use arena::{Arena, Piece, pieces};
pub use available::available;
pub use division::Division;
pub use mailboxes::{Found, Mailboxes, Side};
pub use ring::Ring;
pub use segment::{Offer, Segment};

use std::sync::Arc;

/// One rank's view of a piece.
pub struct Shared {
    /// For bytes from one rank to all.
    pub ring: Ring,
    /// For packets from one rank to another.
    pub mailboxes: Mailboxes,
}

impl Shared {
    /// The view of rank `me` of `n`; `None` if the piece is too small for so many ranks.
    ///
    /// All ranks give the same `n`, and each a `me` of its own.
    pub fn new(piece: Arc<Piece>, n: u32, me: u32) -> Option<Shared> {
        assert!(me < n, "rank {me} of {n}");
        let division = Division::new(piece.bytes() as u64, n)?;
        Some(Shared {
            ring: Ring::new(piece.clone(), &division, me),
            mailboxes: Mailboxes::new(piece, &division),
        })
    }
}
