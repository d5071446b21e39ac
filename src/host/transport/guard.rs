//! What ends a wait that would never end.

use crate::host::object::failure::Failure;
use crate::shm::{Entry, Whereabouts};
use std::time::Duration;

/// The ranks of a node that share memory, and where each says it is.
pub struct Neighbors {
    whereabouts: Whereabouts,
    /// Their numbers in the communicator.
    ranks: Vec<u32>,
    /// The name of the collective with this number.
    name: fn(u8) -> &'static str,
}

impl Neighbors {
    /// Of the ranks `ranks`, in the order of the segment. `name` is the name of the collective with a number.
    pub fn new(whereabouts: Whereabouts, ranks: &[u32], name: fn(u8) -> &'static str) -> Neighbors {
        Neighbors {
            whereabouts,
            ranks: ranks.to_vec(),
            name,
        }
    }

    /// Says where this rank is.
    #[inline]
    pub fn say(&self, entry: Entry) {
        self.whereabouts.say(entry);
    }

    /// From now on this rank says nothing of where it is and was.
    pub fn fall_silent(&self) {
        self.whereabouts.fall_silent();
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.ranks.capacity() * size_of::<u32>()
    }

    /// Does a rank of this node take a call for another one than this rank does? Then one of them waits in vain.
    pub fn elsewhere(&self) -> Result<(), Failure> {
        match self.whereabouts.contradiction() {
            None => Ok(()),
            Some((local, collective)) => Err(Failure::Elsewhere {
                rank: self.ranks[local as usize],
                collective: collective.map(self.name),
            }),
        }
    }
}

/// What ends a wait: evidence, and the user's patience.
#[derive(Clone, Copy)]
pub struct Guard<'a> {
    /// See `RONDO_TIMEOUT_S`.
    pub timeout_s: u32,
    /// The ranks of the node, if they share memory.
    pub neighbors: Option<&'a Neighbors>,
}

impl Guard<'_> {
    /// The user's patience alone.
    pub fn of_time(timeout_s: u32) -> Guard<'static> {
        Guard {
            timeout_s,
            neighbors: None,
        }
    }

    /// Nothing has happened for so long, in which `from` was waited for: is that the end?
    pub fn check(&self, idle: Duration, from: Option<u32>) -> Result<(), Failure> {
        if let Some(neighbors) = self.neighbors {
            neighbors.elsewhere()?;
        }
        let limit = Duration::from_secs(self.timeout_s.into());
        match !limit.is_zero() && idle > limit {
            true => Err(Failure::Timeout(limit, from)),
            false => Ok(()),
        }
    }
}
