//! What a thread remembers of communicators: their states. To ask the host takes as long as all else of a call that is
//! passed on.

#![forbid(unsafe_code)]

use super::{STATE, State};
use crate::host::{self, Abi, Code, Comm, Mpi};
use crate::remembered;
use std::cell::Cell;
use std::ptr;

/// So many communicators. Programs have some for rows, columns and nodes.
const PLACES: usize = 8;

/// A communicator, with its state.
#[derive(Clone, Copy)]
struct Known {
    comm: Comm,
    state: &'static State,
    /// [`host::changes`] before the host was asked.
    changes: u64,
}

/// What one thread remembers.
struct Memory {
    places: [Cell<Option<Known>>; PLACES],
    /// How many were kept.
    kept: Cell<u32>,
}

thread_local! {
    static MEMORY: Memory = const {
        Memory {
            places: [const { Cell::new(None) }; PLACES],
            kept: Cell::new(0),
        }
    };
}

/// The state of `comm` that this thread remembers, if nothing has changed since.
#[inline]
fn told(comm: Comm, changes: u64) -> Option<&'static State> {
    MEMORY.with(|memory| {
        let mut known = memory.places.iter().filter_map(Cell::get);
        let it = known.find(|known| known.comm == comm && known.changes == changes);
        it.map(|known| known.state)
    })
}

/// Remembers it instead of another one: of those in no order, for else nothing would be found where one more
/// communicator than there are places takes its turn.
#[inline]
fn keep(known: Known) {
    MEMORY.with(|memory| {
        let kept = memory.kept.get().wrapping_add(1);
        memory.kept.set(kept);
        let free = memory.places.iter().find(|place| {
            let old = place.get();
            old.is_none_or(|old| old.comm == known.comm || old.changes != known.changes)
        });
        let any = remembered::spread(kept.into(), PLACES.ilog2());
        free.unwrap_or(&memory.places[any]).set(Some(known));
    });
}

/// The state of a communicator, if this thread has asked for it not long before.
#[inline]
pub fn known(mpi: &'static Mpi, comm: Comm) -> Option<&'static State> {
    if host::is_being_freed(comm) {
        return None;
    }
    let state = told(comm, host::changes())?;
    match state.was_freed_before {
        false => Some(state),
        true => {
            let now = STATE.get(mpi, comm).ok().flatten();
            now.filter(|now| ptr::eq(*now, state))
        }
    }
}

/// The state of a communicator, if it has one.
#[inline]
pub fn find(mpi: &'static Mpi, comm: Comm) -> Result<Option<&'static State>, Code> {
    if let Some(state) = known(mpi, comm) {
        return Ok(Some(state));
    }
    let changes = host::changes();
    let found = STATE.get(mpi, comm)?;
    // In a simulation ranks share threads, and have communicators of the same handle.
    if let Some(state) = found
        && !Abi::BUILT.is_simulated()
        && !host::is_being_freed(comm)
    {
        keep(Known {
            comm,
            state,
            changes,
        });
    }
    Ok(found)
}
