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
use crate::remembered::{self, Remembered};
use std::ffi::c_int;

/// What all intercepted calls have in common.
pub trait Call {
    /// The handle of the communicator.
    fn raw_comm(&self) -> RawHandle;

    /// The communicator, unless it cannot be one.
    fn comm(&self, mpi: &Mpi) -> Option<Comm> {
        self.raw_comm().as_comm(mpi)
    }

    /// Hands the call to the host, untouched, and gives back what the host returned.
    fn pass(&self, host: &Host) -> c_int;

    /// The root, valid or not, or a rank, if there is none.
    fn given_root(&self) -> c_int;

    /// The arguments by which it is decided who has a valid call: counts, types and operators. `None` if they are more.
    fn words(&self) -> Option<[u64; 3]>;

    /// Do these arguments mean the same in each call, because their handles are never freed?
    fn is_of_predefined(&self, mpi: &Mpi) -> bool;

    /// Does this process, rank `rank` of the `p` of an intra-communicator, see that the host refuses the call here? It
    /// may be the only rank that makes it. So that is asked before anything that other ranks could notice: before the
    /// handshake, a count, a message. Reads nothing of the data and sends nothing.
    ///
    /// Whatever MPI forbids and some host carries out is asked of the running one: see [`refusal`].
    fn is_refused(&self, mpi: &Mpi, rank: u32, p: u32) -> bool;

    /// The same of a call whose words are known to be valid.
    fn is_refused_by_rest(&self, mpi: &Mpi, rank: u32, p: u32) -> bool {
        self.is_refused(mpi, rank, p)
    }
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

    /// Is it a datatype that can be sent: one that is there and is committed?
    fn is_committed(self, mpi: &Mpi) -> bool {
        let is_known = |datatype| mpi.layout(datatype).is_ok();
        self.is_predefined_type(mpi) || self.as_datatype(mpi).is_some_and(is_known)
    }

    /// Is it a predefined datatype, whose handle is never freed?
    fn is_predefined_type(self, mpi: &Mpi) -> bool {
        thread_local! {
            /// Predefined types are there from the beginning to the end: no handle of another one becomes theirs.
            static ANSWERS: Remembered<u64, bool> = const { Remembered::nothing() };
        }
        remembered::answer(&ANSWERS, self.bits(), self.bits(), || {
            let datatype = self.as_datatype(mpi);
            datatype.and_then(|datatype| mpi.is_predefined(datatype)) == Some(true)
        })
    }
}

impl Host {
    /// What Rondo needs of this host, or why it can only pass calls on.
    pub fn mpi(&self) -> Result<&Mpi, &Trouble> {
        self.mpi.as_ref()
    }
}
