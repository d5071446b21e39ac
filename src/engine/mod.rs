//! Engines carry schedules out over a [`Wire`]. Offsets in, no pointers, no MPI.
//!
//! * [`AllBroadcast`]: any number of broadcasts at a time, each from another root. A broadcast is the case of
//!   one of them, an allgather that of one from every rank. Which blocks travel when is a [`Pattern`]'s
//!   business.
//! * [`node`]: what the ranks of a node pass to each other while their leaders run an [`AllBroadcast`] between
//!   the nodes; and reductions and exchanges in the memory that they share, over [`node::Slots`].
//! * [`rooted::Gather`] and [`rooted::Scatter`]: whole blocks through a tree, or straight from or to the root,
//!   over a [`rooted::RootedWire`].
//! * [`Execution`]: a script of a reduction, a scan, a barrier or an exchange, over a [`ScriptWire`].
//!
//! An [`Engine`] is a state machine: `advance` does what can be done now and never waits, so that a test can
//! drive many ranks from one thread and [`run`] can decide how to wait.

#![forbid(unsafe_code)]

mod allbroadcast;
mod cut;
mod line;
pub mod node;
mod pattern;
pub mod rooted;
mod schedules;
mod script;
mod way;
mod window;

pub use allbroadcast::{AllBroadcast, Limits, Scratch};
pub use cut::{Part, cut_alike, cut_long};
pub use line::{Found, Line, Sends};
pub use pattern::{Entries, Order, Pattern, RootSchedules};
pub use schedules::Schedules;
pub use script::{Complete, Execution, Filled, ScriptWire};
pub use way::{Members, Way};
pub use window::Window;

use crate::schedule::Span;

/// One rank's part in a collective over `W`: a wire, or the ring of a node.
pub trait Engine<W> {
    /// Why the collective cannot go on.
    type Error;

    /// Does what can be done now.
    fn advance(&mut self, wire: &mut W) -> Result<Progress, Self::Error>;

    /// Called when nothing can be done before something happens on the wire.
    fn idle(&mut self, wire: &mut W) -> Result<(), Self::Error>;
}

/// What [`Engine::advance`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is nothing left to do.
    Done,
    /// Something was done.
    Moved,
    /// Nothing can be done before something happens on the wire.
    Waiting,
}

impl Progress {
    fn of(done: bool, moved: bool) -> Progress {
        match (done, moved) {
            (true, _) => Progress::Done,
            (false, true) => Progress::Moved,
            (false, false) => Progress::Waiting,
        }
    }
}

/// Carries `engine` out to its end.
pub fn run<W, E: Engine<W>>(mut engine: E, wire: &mut W) -> Result<(), E::Error> {
    loop {
        match engine.advance(wire)? {
            Progress::Done => return Ok(()),
            Progress::Moved => {}
            Progress::Waiting => engine.idle(wire)?,
        }
    }
}

/// A block of one rank's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The rank that the block comes from.
    pub root: u32,
    /// Number of the block among all blocks of all parts.
    pub number: u32,
    /// Its bytes within the part.
    pub span: Span,
}

/// What a [`Wire`] reports as complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The receive of this number, counted from 0 in the order in which they were started, is complete: its pieces
    /// are in their places.
    Received(u32),
    /// One of the sends in flight is complete.
    Sent,
}

/// One rank's view of a collective in progress.
///
/// A message is made of pieces, one behind the other. Messages between two ranks arrive in the order in
/// which they were sent, and a receive takes the oldest message from its rank that no earlier receive
/// took: sender and receiver need to agree on order and sizes only. Ranks are those of the
/// communicator. After an error nothing more may be asked of the wire.
pub trait Wire {
    /// Why the collective cannot go on.
    type Error;

    /// Starts receiving a message from rank `from`; returns at once. `false`: there is no memory for
    /// it before another receive is complete; never so while none is in flight.
    fn recv(&mut self, from: u32, pieces: &[Piece]) -> Result<bool, Self::Error>;

    /// Starts sending a message of pieces that this rank has to rank `to`, which gets about `more` bytes after it;
    /// returns at once. `false`: it cannot leave before another send is complete; never so while none is in flight.
    fn send(&mut self, to: u32, pieces: &[Piece], more: u64) -> Result<bool, Self::Error>;

    /// One completed operation, if there is any; does not wait. Receives from one rank are reported in the order in
    /// which they were started.
    fn poll(&mut self) -> Result<Option<Event>, Self::Error>;

    /// Called when `poll` had nothing and nothing can be started: the first `arrived` bytes of the
    /// message, or of all parts in the order of ranks, are there and may be unpacked; then the
    /// processor should be given away for a moment.
    fn idle(&mut self, arrived: u64) -> Result<(), Self::Error>;
}
