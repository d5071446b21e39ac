//! THE exported symbols. Bodies pack the arguments, call `coll`, and return its code.
//!
//! `PMPI_Bcast` stands beside `MPI_Bcast` because Open MPI's Fortran bindings call it, handles
//! already converted. MPICH's call `MPI_Bcast`. Large-count names exist where the ABI has them.

pub mod rondo;

use crate::coll;
use crate::host::{Bcast, BcastFn, Count, Level, Word};
use std::ffi::{c_int, c_void};

// These do not compile if a signature differs from the host's.
const _: [BcastFn; 2] = [MPI_Bcast, PMPI_Bcast];

/// MPI 4.1, section 6.4.
///
/// # Safety
/// The caller keeps the contract of `MPI_Bcast`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Bcast(
    buffer: *mut c_void,
    count: c_int,
    datatype: Word,
    root: c_int,
    comm: Word,
) -> c_int {
    // SAFETY: the caller's contract is that of `Bcast::new`.
    coll::bcast(&unsafe { Bcast::new(buffer, Count::Int(count), datatype, root, comm, Level::Mpi) })
}

/// The same by its profiling name.
///
/// # Safety
/// The caller keeps the contract of `MPI_Bcast`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn PMPI_Bcast(
    buffer: *mut c_void,
    count: c_int,
    datatype: Word,
    root: c_int,
    comm: Word,
) -> c_int {
    // SAFETY: the caller's contract is that of `Bcast::new`.
    coll::bcast(&unsafe {
        Bcast::new(buffer, Count::Int(count), datatype, root, comm, Level::Pmpi)
    })
}

/// Large counts: MPI 4.0 and later, where the ABI has them.
#[cfg(abi = "mpich")]
mod large {
    use super::*;
    use crate::host::BcastLargeFn;

    const _: [BcastLargeFn; 2] = [MPI_Bcast_c, PMPI_Bcast_c];

    /// MPI 4.1, section 6.4, with an `MPI_Count`.
    ///
    /// # Safety
    /// The caller keeps the contract of `MPI_Bcast_c`.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn MPI_Bcast_c(
        buffer: *mut c_void,
        count: i64,
        datatype: Word,
        root: c_int,
        comm: Word,
    ) -> c_int {
        // SAFETY: the caller's contract is that of `Bcast::new`.
        coll::bcast(&unsafe {
            Bcast::new(
                buffer,
                Count::Large(count),
                datatype,
                root,
                comm,
                Level::Mpi,
            )
        })
    }

    /// The same by its profiling name.
    ///
    /// # Safety
    /// The caller keeps the contract of `MPI_Bcast_c`.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn PMPI_Bcast_c(
        buffer: *mut c_void,
        count: i64,
        datatype: Word,
        root: c_int,
        comm: Word,
    ) -> c_int {
        // SAFETY: the caller's contract is that of `Bcast::new`.
        coll::bcast(&unsafe {
            Bcast::new(
                buffer,
                Count::Large(count),
                datatype,
                root,
                comm,
                Level::Pmpi,
            )
        })
    }
}
