//! THE exported symbols. Bodies pack the arguments, call `coll`, and return its code.
//!
//! Every `PMPI_` name stands beside its `MPI_` name because Open MPI's Fortran bindings call it, handles already
//! converted. MPICH's call the `MPI_` name. Large-count names exist where the ABI has them: a program that looks for
//! them would otherwise call what the host lacks. Under the feature `direct` the `PMPI_` names are the host's own, by
//! which Rondo calls it.
//!
//! The host may call an error handler of the user's, which may leave by `longjmp` or by a C++ exception. Both pass
//! through these functions and everything up to the host's (`C-unwind`): when it is called on the user's communicator,
//! no lock is held.

mod end;
#[cfg(not(feature = "direct"))]
mod forward;
pub mod rondo;

use crate::coll;
use crate::host::{
    Allgather, AllgatherFn, AllgathervFn, Bcast, BcastFn, Count, Counts, GatherFn, GathervFn,
    RawHandle, Rooted, RootedOp, ScattervFn,
};
#[cfg(large)]
use crate::host::{
    AllgatherLargeFn, AllgathervLargeFn, BcastLargeFn, GatherLargeFn, GathervLargeFn,
    ScattervLargeFn,
};
use std::ffi::{c_int, c_void};

/// Exports a collective by both its names (`direct`: by its `MPI_` name). It does not compile if the signature differs
/// from `$type`.
macro_rules! export {
    (
        $(#[$doc:meta])*
        $mpi:ident, $pmpi:ident: $type:ty = |$($arg:ident: $kind:ty),*| $call:expr
    ) => {
        const _: $type = $mpi;

        $(#[$doc])*
        ///
        /// # Safety
        /// The caller keeps the contract of the MPI function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $mpi($($arg: $kind),*) -> c_int {
            // SAFETY: the caller's contract is that of the arguments' constructor.
            coll::call(&unsafe { $call })
        }

        #[cfg(not(feature = "direct"))]
        const _: $type = $pmpi;

        /// The same by its profiling name.
        ///
        /// # Safety
        /// The caller keeps the contract of the MPI function.
        #[cfg(not(feature = "direct"))]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $pmpi($($arg: $kind),*) -> c_int {
            // SAFETY: as above.
            coll::call(&unsafe { $call })
        }
    };
}

export! {
    /// MPI 4.1, section 6.4.
    MPI_Bcast, PMPI_Bcast: BcastFn = |
        buffer: *mut c_void, count: c_int, datatype: RawHandle, root: c_int, comm: RawHandle
    | Bcast::new(buffer, Count::Int(count), datatype, root, comm)
}

export! {
    /// MPI 4.1, section 6.7.
    MPI_Allgatherv, PMPI_Allgatherv: AllgathervFn = |
        sendbuf: *const c_void, sendcount: c_int, sendtype: RawHandle, recvbuf: *mut c_void,
        recvcounts: *const c_int, displs: *const c_int, recvtype: RawHandle, comm: RawHandle
    | Allgather::new(
        sendbuf, Count::Int(sendcount), sendtype, recvbuf, Counts::Int(recvcounts, displs), recvtype,
        comm,
    )
}

export! {
    /// MPI 4.1, section 6.7.
    MPI_Allgather, PMPI_Allgather: AllgatherFn = |
        sendbuf: *const c_void, sendcount: c_int, sendtype: RawHandle, recvbuf: *mut c_void,
        recvcount: c_int, recvtype: RawHandle, comm: RawHandle
    | Allgather::new(
        sendbuf, Count::Int(sendcount), sendtype, recvbuf, Counts::Regular(Count::Int(recvcount)),
        recvtype, comm,
    )
}

export! {
    /// MPI 4.1, section 6.5.
    MPI_Gatherv, PMPI_Gatherv: GathervFn = |
        sendbuf: *const c_void, sendcount: c_int, sendtype: RawHandle, recvbuf: *mut c_void,
        recvcounts: *const c_int, displs: *const c_int, recvtype: RawHandle, root: c_int, comm: RawHandle
    | Rooted::new(
        RootedOp::Gather, (sendbuf, Count::Int(sendcount), sendtype),
        (recvbuf, Counts::Int(recvcounts, displs), recvtype), root, comm,
    )
}

export! {
    /// MPI 4.1, section 6.5.
    MPI_Gather, PMPI_Gather: GatherFn = |
        sendbuf: *const c_void, sendcount: c_int, sendtype: RawHandle, recvbuf: *mut c_void,
        recvcount: c_int, recvtype: RawHandle, root: c_int, comm: RawHandle
    | Rooted::new(
        RootedOp::Gather, (sendbuf, Count::Int(sendcount), sendtype),
        (recvbuf, Counts::Regular(Count::Int(recvcount)), recvtype), root, comm,
    )
}

export! {
    /// MPI 4.1, section 6.6.
    MPI_Scatterv, PMPI_Scatterv: ScattervFn = |
        sendbuf: *const c_void, sendcounts: *const c_int, displs: *const c_int, sendtype: RawHandle,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: RawHandle, root: c_int, comm: RawHandle
    | Rooted::new(
        RootedOp::Scatter, (recvbuf, Count::Int(recvcount), recvtype),
        (sendbuf, Counts::Int(sendcounts, displs), sendtype), root, comm,
    )
}

export! {
    /// MPI 4.1, section 6.6.
    MPI_Scatter, PMPI_Scatter: GatherFn = |
        sendbuf: *const c_void, sendcount: c_int, sendtype: RawHandle, recvbuf: *mut c_void,
        recvcount: c_int, recvtype: RawHandle, root: c_int, comm: RawHandle
    | Rooted::new(
        RootedOp::Scatter, (recvbuf, Count::Int(recvcount), recvtype),
        (sendbuf, Counts::Regular(Count::Int(sendcount)), sendtype), root, comm,
    )
}

#[cfg(large)]
export! {
    /// MPI 4.1, section 6.4, with an `MPI_Count`.
    MPI_Bcast_c, PMPI_Bcast_c: BcastLargeFn = |
        buffer: *mut c_void, count: i64, datatype: RawHandle, root: c_int, comm: RawHandle
    | Bcast::new(buffer, Count::Large(count), datatype, root, comm)
}

#[cfg(large)]
export! {
    /// MPI 4.1, section 6.7, with `MPI_Count`s and displacements of type `MPI_Aint`.
    MPI_Allgatherv_c, PMPI_Allgatherv_c: AllgathervLargeFn = |
        sendbuf: *const c_void, sendcount: i64, sendtype: RawHandle, recvbuf: *mut c_void,
        recvcounts: *const i64, displs: *const isize, recvtype: RawHandle, comm: RawHandle
    | Allgather::new(
        sendbuf, Count::Large(sendcount), sendtype, recvbuf, Counts::Large(recvcounts, displs),
        recvtype, comm,
    )
}

#[cfg(large)]
export! {
    /// MPI 4.1, section 6.7, with `MPI_Count`s.
    MPI_Allgather_c, PMPI_Allgather_c: AllgatherLargeFn = |
        sendbuf: *const c_void, sendcount: i64, sendtype: RawHandle, recvbuf: *mut c_void,
        recvcount: i64, recvtype: RawHandle, comm: RawHandle
    | Allgather::new(
        sendbuf, Count::Large(sendcount), sendtype, recvbuf,
        Counts::Regular(Count::Large(recvcount)), recvtype, comm,
    )
}

#[cfg(large)]
export! {
    /// MPI 4.1, section 6.5, with `MPI_Count`s and displacements of type `MPI_Aint`.
    MPI_Gatherv_c, PMPI_Gatherv_c: GathervLargeFn = |
        sendbuf: *const c_void, sendcount: i64, sendtype: RawHandle, recvbuf: *mut c_void,
        recvcounts: *const i64, displs: *const isize, recvtype: RawHandle, root: c_int, comm: RawHandle
    | Rooted::new(
        RootedOp::Gather, (sendbuf, Count::Large(sendcount), sendtype),
        (recvbuf, Counts::Large(recvcounts, displs), recvtype), root, comm,
    )
}

#[cfg(large)]
export! {
    /// MPI 4.1, section 6.5, with `MPI_Count`s.
    MPI_Gather_c, PMPI_Gather_c: GatherLargeFn = |
        sendbuf: *const c_void, sendcount: i64, sendtype: RawHandle, recvbuf: *mut c_void,
        recvcount: i64, recvtype: RawHandle, root: c_int, comm: RawHandle
    | Rooted::new(
        RootedOp::Gather, (sendbuf, Count::Large(sendcount), sendtype),
        (recvbuf, Counts::Regular(Count::Large(recvcount)), recvtype), root, comm,
    )
}

#[cfg(large)]
export! {
    /// MPI 4.1, section 6.6, with `MPI_Count`s and displacements of type `MPI_Aint`.
    MPI_Scatterv_c, PMPI_Scatterv_c: ScattervLargeFn = |
        sendbuf: *const c_void, sendcounts: *const i64, displs: *const isize, sendtype: RawHandle,
        recvbuf: *mut c_void, recvcount: i64, recvtype: RawHandle, root: c_int, comm: RawHandle
    | Rooted::new(
        RootedOp::Scatter, (recvbuf, Count::Large(recvcount), recvtype),
        (sendbuf, Counts::Large(sendcounts, displs), sendtype), root, comm,
    )
}

#[cfg(large)]
export! {
    /// MPI 4.1, section 6.6, with `MPI_Count`s.
    MPI_Scatter_c, PMPI_Scatter_c: GatherLargeFn = |
        sendbuf: *const c_void, sendcount: i64, sendtype: RawHandle, recvbuf: *mut c_void,
        recvcount: i64, recvtype: RawHandle, root: c_int, comm: RawHandle
    | Rooted::new(
        RootedOp::Scatter, (recvbuf, Count::Large(recvcount), recvtype),
        (sendbuf, Counts::Regular(Count::Large(sendcount)), sendtype), root, comm,
    )
}
