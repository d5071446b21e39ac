//! The arguments of an intercepted call, as they came, and the way to the host's own function.

mod allgather;
mod alltoall;
mod barrier;
mod bcast;
mod reduction;
pub(in crate::host) mod refusal;
mod rooted;

pub use allgather::Allgather;
pub use alltoall::{Alltoall, AlltoallOp, Types};
pub use barrier::Barrier;
pub use bcast::Bcast;
pub use reduction::{Amount, Reduction, ReductionOp};
pub use rooted::{Rooted, RootedOp};

use crate::host::library::abi::RawHandle;
use crate::host::library::handle::Comm;
use crate::host::library::table::{Host, Mpi};
use crate::host::object::attr::Datatype;
use crate::records::Trouble;
use std::ffi::c_int;

/// What all intercepted calls have in common.
pub trait Call {
    /// The communicator, unless it cannot be one.
    fn comm(&self, mpi: &Mpi) -> Option<Comm>;

    /// Hands the call to the host, untouched, and gives back what the host returned.
    fn pass(&self, host: &Host) -> c_int;
}

impl RawHandle {
    /// The communicator, unless it cannot be one.
    pub fn as_comm(self, mpi: &Mpi) -> Option<Comm> {
        let comm = self.comm();
        mpi.h.is_comm(comm).then_some(Comm(comm))
    }

    /// The datatype, unless it cannot be one.
    fn as_datatype(self, mpi: &Mpi) -> Option<Datatype> {
        let datatype = self.datatype();
        mpi.h.is_datatype(datatype).then_some(Datatype(datatype))
    }
}

impl Host {
    /// What Rondo needs of this host, or why it can only pass calls on.
    pub fn mpi(&self) -> Result<&Mpi, &Trouble> {
        self.mpi.as_ref()
    }
}
