//! `MPI_Barrier`.

use super::Call;
use crate::host::library::abi::RawHandle;
use crate::host::library::table::{Host, Mpi};
use std::ffi::c_int;

/// A call of `MPI_Barrier`.
pub struct Barrier {
    comm: RawHandle,
}

impl Barrier {
    /// A call with the argument as it came.
    ///
    /// # Safety
    /// The caller keeps the contract of `MPI_Barrier` (MPI 4.1, section 6.3).
    pub unsafe fn new(comm: RawHandle) -> Barrier {
        Barrier { comm }
    }
}

impl Call for Barrier {
    #[inline]
    fn raw_comm(&self) -> RawHandle {
        self.comm
    }

    fn pass(&self, host: &Host) -> c_int {
        // SAFETY: the communicator is the caller's, valid by the contract of `new`.
        unsafe { (host.own.barrier)(self.comm) }
    }

    #[inline]
    fn given_root(&self) -> c_int {
        0
    }

    #[inline]
    fn words(&self) -> Option<[u64; 3]> {
        Some([0; 3])
    }

    fn is_of_predefined(&self, _mpi: &Mpi) -> bool {
        true
    }

    fn is_refused(&self, _mpi: &Mpi, _rank: u32, _p: u32) -> bool {
        false
    }
}
