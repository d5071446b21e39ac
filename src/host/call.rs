//! The arguments of an intercepted call, as they came, and the way to the host's own function.

mod allgather;
mod bcast;
mod counts;
mod rooted;

pub use allgather::Allgather;
pub use bcast::Bcast;
pub use counts::{Counts, Slots};
pub use rooted::{Rooted, Way};

use super::abi::Word;
use super::attr::Datatype;
use super::handles::Comm;
use super::table::{Host, Usable};
use std::ffi::c_int;

/// A count, and by that the function that was called: `MPI_X` or `MPI_X_c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Of `MPI_X`.
    Int(c_int),
    /// Of `MPI_X_c`.
    Large(i64),
}

impl Count {
    /// The count, unless it is negative.
    pub fn get(self) -> Option<u64> {
        match self {
            Count::Int(count) => u64::try_from(count).ok(),
            Count::Large(count) => u64::try_from(count).ok(),
        }
    }
}

/// What all intercepted calls have in common.
pub trait Call {
    /// The communicator, unless it cannot be one.
    fn comm(&self, host: &Usable) -> Option<Comm>;

    /// Hands the call to the host, untouched, and gives back what the host returned.
    fn pass(&self, host: &Host) -> c_int;
}

impl Word {
    /// The communicator, unless it cannot be one.
    pub fn as_comm(self, host: &Usable) -> Option<Comm> {
        let comm = self.comm();
        host.h.is_comm(comm).then_some(Comm(comm))
    }

    /// The datatype, unless it cannot be one.
    fn as_datatype(self, host: &Usable) -> Option<Datatype> {
        let datatype = self.datatype();
        host.h.is_datatype(datatype).then_some(Datatype(datatype))
    }
}

impl Host {
    /// What Rondo needs of this host, or why it can only pass calls on.
    pub fn usable(&self) -> Result<&Usable, &str> {
        self.usable.as_ref().map_err(String::as_str)
    }
}
