//! What passes between the ranks of a node in an all-broadcast over nodes.
//!
//! Seen from the network a node is one rank with one part, its *node part*: the parts of its ranks, one behind the
//! other. One rank of the node, the leader, or a few, one for each *lane*, exchange the node parts with those of
//! other nodes by [`AllBroadcast`]; a lane has an equal share of every node part. Inside the node, all data
//! pass through a ring of memory that all its ranks share, in *rows* whose order every rank knows beforehand:
//! first every rank of the node puts its own part in, then the leaders put in what they receive, in the order
//! in which they receive it, which follows from their schedule. So nothing in the ring needs to be described.
//!
//! Bytes are known by their place among the parts of all ranks in the order of [`Topology`] places.
//!
//! [`Topology`]: crate::topology::Topology

#![forbid(unsafe_code)]

mod assembly;
mod gate;
mod messages;
mod overlap;
mod places;
mod positions;
mod relay;
mod rows;
mod slots;
mod space;

pub use assembly::Assembly;
pub use gate::{GATE_BYTES, Gate};
pub use messages::Messages;
pub use overlap::run_both;
pub use places::Places;
pub use positions::Positions;
pub use relay::Relay;
pub use rows::{MARK, RingRows, slices};
pub use slots::{Groups, Operand, SlotExchange, SlotReduction, SlotShuffle, Slots, Tree, Want};
pub use space::Space;

use super::{AllBroadcast, Engine, Progress, Wire};
use crate::schedule::Span;

/// One rank's view of the ring of its node: what it says to the others, and what they say.
///
/// Positions count the bytes that have ever been put into the ring; the memory of one is used again for
/// another that lies a capacity behind it.
pub trait NodeRing {
    /// Why the collective cannot go on.
    type Error;

    /// Have all ranks done with what the positions below `end` take the room of?
    fn has_room(&mut self, end: u64) -> bool;

    /// Writes the mark of this call, of at most [`MARK`] bytes, by which readers know that the writer is in
    /// the same call as they are.
    fn mark(&mut self, at: u64);

    /// Checks the mark of rank `writer` of the node.
    fn check(&mut self, at: u64, writer: u32) -> Result<(), Self::Error>;

    /// All bytes below `until` that this rank writes are there.
    fn publish(&mut self, until: u64);

    /// Below this position, all bytes that rank `writer` of the node writes are there.
    fn written(&self, writer: u32) -> u64;

    /// This rank needs no bytes below `until` any more, and has written those that are its own.
    fn release(&mut self, until: u64);

    /// Called when nothing can be done; `waiting` is the rank of the node that is waited for, if it is one.
    fn idle(&mut self, waiting: Option<u32>) -> Result<(), Self::Error>;
}

/// The ring as an all-broadcast sees it, and its way to the user's memory.
pub trait Local: NodeRing {
    /// Bytes that the ring holds.
    fn capacity(&self) -> u64;

    /// Copies the bytes of `span` from the user's memory into the ring.
    fn put(&mut self, at: u64, span: Span) -> Result<(), Self::Error>;

    /// Copies the bytes of `span` from the ring into the user's memory.
    fn get(&mut self, at: u64, span: Span) -> Result<(), Self::Error>;
}

/// A network, as a leader has it: what it exchanges with other nodes, and the wire to them.
pub type Network<'n, 'a, W> = Option<(AllBroadcast<'a>, &'n mut W)>;

/// Carries an all-broadcast over nodes out, with a ring inside the node.
pub fn run<L, W>(
    mut relay: Relay<'_>,
    local: &mut L,
    mut network: Network<'_, '_, W>,
) -> Result<(), L::Error>
where
    L: Local,
    W: Wire<Error = L::Error>,
{
    // What other nodes send is received while ranks of this one still come. Sent is what all of them have.
    let mut sends = true;
    loop {
        let mut moved = relay.advance(local)?;
        if let Some((all, wire)) = &mut network {
            if sends != relay.has_own() {
                sends = relay.has_own();
                all.allow(if sends { u32::MAX } else { 0 });
            }
            let progress = all.advance(*wire)?;
            relay.set_received(all.received());
            moved |= progress != Progress::Waiting;
            if progress == Progress::Done {
                network = None;
            }
        }
        match &mut network {
            None if relay.is_done() => return Ok(()),
            _ if moved => {}
            Some((_, wire)) if relay.has_own() => wire.idle(0)?,
            _ => local.idle(relay.waiting())?,
        }
    }
}

/// Carries an all-broadcast over nodes out by messages, after the ranks of the node have exchanged their
/// parts: the leaders exchange the node parts and broadcast inside the node what they receive.
///
/// `inside` has a block for every message that the leader receives, after `own` blocks that it has from
/// the beginning.
pub fn run_by_messages<L, W>(
    mut inside: Option<AllBroadcast<'_>>,
    own: u32,
    local: &mut L,
    mut network: Network<'_, '_, W>,
) -> Result<(), L::Error>
where
    L: Wire,
    W: Wire<Error = L::Error>,
{
    loop {
        let mut moved = false;
        if let Some((all, wire)) = &mut network {
            let progress = all.advance(*wire)?;
            if let Some(inside) = &mut inside {
                inside.allow(own + all.received());
            }
            moved |= progress != Progress::Waiting;
            if progress == Progress::Done {
                network = None;
            }
        }
        if let Some(all) = &mut inside {
            let progress = all.advance(local)?;
            moved |= progress != Progress::Waiting;
            if progress == Progress::Done {
                inside = None;
            }
        }
        match (&mut network, &inside) {
            (None, None) => return Ok(()),
            _ if moved => {}
            (Some((_, wire)), _) => wire.idle(0)?,
            (None, Some(_)) => local.idle(0)?,
        }
    }
}
