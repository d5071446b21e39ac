//! Engines carry schedules out over a [`Wire`]. Offsets in, no pointers, no MPI.
//!
//! An engine is a state machine: [`Bcast::advance`] does what can be done now and never waits, so
//! that a test can drive many ranks from one thread and `run` can decide how to wait.

#![forbid(unsafe_code)]

mod bcast;

pub use bcast::{Bcast, Order, Progress, Scratch, run};

use crate::schedule::Span;

/// What a [`Wire`] reports as complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Block `.0` has arrived and may be forwarded.
    Received(u32),
    /// One of the sends in flight is complete.
    Sent,
}

/// One rank's view of a collective in progress.
///
/// Messages between two ranks arrive in the order in which they were sent, and a receive takes the
/// oldest message from its rank that no earlier receive took: sender and receiver need to agree on
/// order and sizes only. Ranks are those of the communicator. Spans count bytes of the packed
/// message. After an error nothing more may be asked of the wire.
pub trait Wire {
    /// Why the collective cannot go on.
    type Error;

    /// Starts receiving `block` from rank `from`; returns at once. Completion is an
    /// [`Event::Received`] with the same block.
    fn recv(&mut self, from: u32, block: u32, span: Span) -> Result<(), Self::Error>;

    /// Starts sending `block`, which this rank has, to rank `to`; returns at once. Completion is an
    /// [`Event::Sent`].
    fn send(&mut self, to: u32, block: u32, span: Span) -> Result<(), Self::Error>;

    /// One completed operation, if there is any; does not wait.
    fn poll(&mut self) -> Result<Option<Event>, Self::Error>;

    /// Called when `poll` had nothing and nothing can be started: the first `arrived` bytes of the
    /// message are there and may be unpacked; then the processor should be given away for a moment.
    fn idle(&mut self, arrived: u64) -> Result<(), Self::Error>;
}
