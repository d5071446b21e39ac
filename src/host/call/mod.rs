//! The arguments of an intercepted call, as they came, and the way to the host's own function.

mod allgather;
mod bcast;
pub mod refusal;
mod rooted;

pub use allgather::Allgather;
pub use bcast::Bcast;
pub use rooted::{Rooted, Way};

use crate::host::library::abi::Word;
use crate::host::library::handle::Comm;
use crate::host::library::table::{Host, Usable};
use crate::host::object::attr::Datatype;
use std::ffi::c_int;

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
