//! Nonblocking and persistent collectives. Rondo leaves them to the host, and counts them.
//!
//! Each goes to the next function of its own name, so that a profiler behind Rondo sees it as if Rondo were not there.
//! A program that links the host statically has these functions from the host itself. The library for every MPI (the
//! feature `one`) has those alone that every host has.

use super::RawHandle;
use crate::coll::{self, Why};
use crate::collective::Collective;
use crate::host::{Next, signature};
use std::ffi::{c_int, c_void};

/// Exports functions of one kind: the type of counts, that of displacements, the kind, its last arguments, and the name
/// for each collective.
macro_rules! forward {
    (
        $count:ty, $displ:ty, $why:ident $last:tt:
        $bcast:ident $allgatherv:ident $allgather:ident $gatherv:ident $gather:ident $scatterv:ident $scatter:ident
        $allreduce:ident $reduce:ident $reduce_scatter:ident $reduce_scatter_block:ident $scan:ident $exscan:ident
        $alltoall:ident $alltoallv:ident $alltoallw:ident $($barrier:ident)?
    ) => {
        signature!(Bcast, $count, $displ => export_as (Bcast $why $bcast $last));
        signature!(Allgatherv, $count, $displ => export_as (Allgatherv $why $allgatherv $last));
        signature!(Allgather, $count, $displ => export_as (Allgather $why $allgather $last));
        signature!(Gatherv, $count, $displ => export_as (Gatherv $why $gatherv $last));
        signature!(Gather, $count, $displ => export_as (Gather $why $gather $last));
        signature!(Scatterv, $count, $displ => export_as (Scatterv $why $scatterv $last));
        signature!(Scatter, $count, $displ => export_as (Scatter $why $scatter $last));
        signature!(Allreduce, $count, $displ => export_as (Allreduce $why $allreduce $last));
        signature!(Reduce, $count, $displ => export_as (Reduce $why $reduce $last));
        signature!(ReduceScatter, $count, $displ => export_as (ReduceScatter $why $reduce_scatter $last));
        signature!(ReduceScatterBlock, $count, $displ => export_as (
            ReduceScatterBlock $why $reduce_scatter_block $last
        ));
        signature!(Scan, $count, $displ => export_as (Scan $why $scan $last));
        signature!(Exscan, $count, $displ => export_as (Exscan $why $exscan $last));
        signature!(Alltoall, $count, $displ => export_as (Alltoall $why $alltoall $last));
        signature!(Alltoallv, $count, $displ => export_as (Alltoallv $why $alltoallv $last));
        signature!(Alltoallw, $count, $displ => export_as (Alltoallw $why $alltoallw $last));
        $(signature!(Barrier, $count, $displ => export_as (Barrier $why $barrier $last));)?
    };
}

/// Exports one function: the arguments of the collective's signature, and then those of its kind.
macro_rules! export_as {
    (
        ($collective:ident $why:ident $name:ident ($($last:ident: $more:ty),*))
        ($($arg:ident: $type:ty),*)
    ) => {
        /// MPI 4.1, chapter 6: left to the host.
        ///
        /// # Safety
        /// The caller keeps the contract of the MPI function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($arg: $type,)* $($last: $more),*) -> c_int {
            static NEXT: Next<unsafe extern "C-unwind" fn($($type,)* $($more),*) -> c_int> =
                // SAFETY: the type is one of function pointers, as `Next::new` demands.
                unsafe { Next::new(concat!(stringify!($name), "\0")) };
            coll::forward(Collective::$collective, Why::$why, || {
                // SAFETY: the type is the MPI standard's for this name, with handles as words; the arguments are the
                // caller's.
                NEXT.call(|next| unsafe { next($($arg,)* $($last),*) })
            })
        }
    };
}

forward! { c_int, c_int, Nonblocking (request: *mut c_void):
MPI_Ibcast MPI_Iallgatherv MPI_Iallgather MPI_Igatherv MPI_Igather MPI_Iscatterv MPI_Iscatter
MPI_Iallreduce MPI_Ireduce MPI_Ireduce_scatter MPI_Ireduce_scatter_block MPI_Iscan MPI_Iexscan
MPI_Ialltoall MPI_Ialltoallv MPI_Ialltoallw MPI_Ibarrier }

forward! { c_int, c_int, Nonblocking (request: *mut c_void):
PMPI_Ibcast PMPI_Iallgatherv PMPI_Iallgather PMPI_Igatherv PMPI_Igather PMPI_Iscatterv PMPI_Iscatter
PMPI_Iallreduce PMPI_Ireduce PMPI_Ireduce_scatter PMPI_Ireduce_scatter_block PMPI_Iscan PMPI_Iexscan
PMPI_Ialltoall PMPI_Ialltoallv PMPI_Ialltoallw PMPI_Ibarrier }

#[cfg(persistent)]
forward! { c_int, c_int, Persistent (info: RawHandle, request: *mut c_void):
MPI_Bcast_init MPI_Allgatherv_init MPI_Allgather_init MPI_Gatherv_init MPI_Gather_init MPI_Scatterv_init
MPI_Scatter_init
MPI_Allreduce_init MPI_Reduce_init MPI_Reduce_scatter_init MPI_Reduce_scatter_block_init MPI_Scan_init MPI_Exscan_init
MPI_Alltoall_init MPI_Alltoallv_init MPI_Alltoallw_init MPI_Barrier_init }

#[cfg(persistent)]
forward! { c_int, c_int, Persistent (info: RawHandle, request: *mut c_void):
PMPI_Bcast_init PMPI_Allgatherv_init PMPI_Allgather_init PMPI_Gatherv_init PMPI_Gather_init PMPI_Scatterv_init
PMPI_Scatter_init
PMPI_Allreduce_init PMPI_Reduce_init PMPI_Reduce_scatter_init PMPI_Reduce_scatter_block_init PMPI_Scan_init
PMPI_Exscan_init
PMPI_Alltoall_init PMPI_Alltoallv_init PMPI_Alltoallw_init PMPI_Barrier_init }

// What Open MPI had before MPI 4.0, and still has.
#[cfg(all(abi = "openmpi", not(feature = "one")))]
forward! { c_int, c_int, Persistent (info: RawHandle, request: *mut c_void):
MPIX_Bcast_init MPIX_Allgatherv_init MPIX_Allgather_init MPIX_Gatherv_init MPIX_Gather_init MPIX_Scatterv_init
MPIX_Scatter_init
MPIX_Allreduce_init MPIX_Reduce_init MPIX_Reduce_scatter_init MPIX_Reduce_scatter_block_init MPIX_Scan_init
MPIX_Exscan_init
MPIX_Alltoall_init MPIX_Alltoallv_init MPIX_Alltoallw_init MPIX_Barrier_init }

#[cfg(all(abi = "openmpi", not(feature = "one")))]
forward! { c_int, c_int, Persistent (info: RawHandle, request: *mut c_void):
PMPIX_Bcast_init PMPIX_Allgatherv_init PMPIX_Allgather_init PMPIX_Gatherv_init PMPIX_Gather_init
PMPIX_Scatterv_init PMPIX_Scatter_init
PMPIX_Allreduce_init PMPIX_Reduce_init PMPIX_Reduce_scatter_init PMPIX_Reduce_scatter_block_init PMPIX_Scan_init
PMPIX_Exscan_init
PMPIX_Alltoall_init PMPIX_Alltoallv_init PMPIX_Alltoallw_init PMPIX_Barrier_init }

#[cfg(all(large, not(feature = "one")))]
forward! { i64, isize, Nonblocking (request: *mut c_void):
MPI_Ibcast_c MPI_Iallgatherv_c MPI_Iallgather_c MPI_Igatherv_c MPI_Igather_c MPI_Iscatterv_c MPI_Iscatter_c
MPI_Iallreduce_c MPI_Ireduce_c MPI_Ireduce_scatter_c MPI_Ireduce_scatter_block_c MPI_Iscan_c MPI_Iexscan_c
MPI_Ialltoall_c MPI_Ialltoallv_c MPI_Ialltoallw_c }

#[cfg(all(large, not(feature = "one")))]
forward! { i64, isize, Nonblocking (request: *mut c_void):
PMPI_Ibcast_c PMPI_Iallgatherv_c PMPI_Iallgather_c PMPI_Igatherv_c PMPI_Igather_c PMPI_Iscatterv_c PMPI_Iscatter_c
PMPI_Iallreduce_c PMPI_Ireduce_c PMPI_Ireduce_scatter_c PMPI_Ireduce_scatter_block_c PMPI_Iscan_c PMPI_Iexscan_c
PMPI_Ialltoall_c PMPI_Ialltoallv_c PMPI_Ialltoallw_c }

#[cfg(all(large, persistent))]
forward! { i64, isize, Persistent (info: RawHandle, request: *mut c_void):
MPI_Bcast_init_c MPI_Allgatherv_init_c MPI_Allgather_init_c MPI_Gatherv_init_c MPI_Gather_init_c
MPI_Scatterv_init_c MPI_Scatter_init_c
MPI_Allreduce_init_c MPI_Reduce_init_c MPI_Reduce_scatter_init_c MPI_Reduce_scatter_block_init_c MPI_Scan_init_c
MPI_Exscan_init_c
MPI_Alltoall_init_c MPI_Alltoallv_init_c MPI_Alltoallw_init_c }

#[cfg(all(large, persistent))]
forward! { i64, isize, Persistent (info: RawHandle, request: *mut c_void):
PMPI_Bcast_init_c PMPI_Allgatherv_init_c PMPI_Allgather_init_c PMPI_Gatherv_init_c PMPI_Gather_init_c
PMPI_Scatterv_init_c PMPI_Scatter_init_c
PMPI_Allreduce_init_c PMPI_Reduce_init_c PMPI_Reduce_scatter_init_c PMPI_Reduce_scatter_block_init_c PMPI_Scan_init_c
PMPI_Exscan_init_c
PMPI_Alltoall_init_c PMPI_Alltoallv_init_c PMPI_Alltoallw_init_c }
