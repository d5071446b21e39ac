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

mod begin;
#[cfg(not(feature = "direct"))]
mod forward;
#[cfg(not(feature = "direct"))]
mod load;
mod observe;
#[cfg(feature = "one")]
pub mod one;
pub mod rondo;

use crate::coll;
use crate::host::{
    Allgather, Alltoall, Barrier, Bcast, RawHandle, Reduction, ReductionOp, Rooted, RootedOp,
    signature,
};
use std::ffi::{c_int, c_void};

/// Exports a collective by its names, with the arguments of its signature: ints, and then large counts.
macro_rules! export {
    (
        $(#[$doc:meta])*
        $collective:ident: $mpi:ident $pmpi:ident $mpi_large:ident $pmpi_large:ident = $call:tt
    ) => {
        signature!($collective, c_int, c_int => export_as ($(#[$doc])* $mpi $call));
        #[cfg(not(feature = "direct"))]
        signature!($collective, c_int, c_int => export_as ($(#[$doc])* $pmpi $call));
        #[cfg(large)]
        signature!($collective, i64, isize => export_as ($(#[$doc])* $mpi_large $call));
        #[cfg(all(large, not(feature = "direct")))]
        signature!($collective, i64, isize => export_as ($(#[$doc])* $pmpi_large $call));
    };
}

/// Exports a collective that counts nothing.
macro_rules! export_plain {
    ($(#[$doc:meta])* $collective:ident: $mpi:ident $pmpi:ident = $call:tt) => {
        signature!($collective, c_int, c_int => export_as ($(#[$doc])* $mpi $call));
        #[cfg(not(feature = "direct"))]
        signature!($collective, c_int, c_int => export_as ($(#[$doc])* $pmpi $call));
    };
}

/// Exports a collective by one name. The signature has the types; what names its arguments have here, `$call` says.
macro_rules! export_as {
    (
        ($(#[$doc:meta])* $name:ident { |$($arg:ident),*| $call:expr })
        ($($named:ident: $type:ty),*)
    ) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The caller keeps the contract of the MPI function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($arg: $type),*) -> c_int {
            // SAFETY: the caller's contract is that of the arguments' constructor.
            coll::call(|| unsafe { $call })
        }
    };
}

export! {
    /// MPI 4.1, section 6.4.
    Bcast: MPI_Bcast PMPI_Bcast MPI_Bcast_c PMPI_Bcast_c = {
        |buffer, count, datatype, root, comm| Bcast::new(buffer, count.into(), datatype, root, comm)
    }
}

export! {
    /// MPI 4.1, section 6.7.
    Allgatherv: MPI_Allgatherv PMPI_Allgatherv MPI_Allgatherv_c PMPI_Allgatherv_c = {
        |sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm| Allgather::new(
            sendbuf, sendcount.into(), sendtype, recvbuf, (recvcounts, displs).into(), recvtype, comm,
        )
    }
}

export! {
    /// MPI 4.1, section 6.7.
    Allgather: MPI_Allgather PMPI_Allgather MPI_Allgather_c PMPI_Allgather_c = {
        |sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm| Allgather::new(
            sendbuf, sendcount.into(), sendtype, recvbuf, recvcount.into(), recvtype, comm,
        )
    }
}

export! {
    /// MPI 4.1, section 6.5.
    Gatherv: MPI_Gatherv PMPI_Gatherv MPI_Gatherv_c PMPI_Gatherv_c = {
        |sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm| Rooted::new(
            RootedOp::Gather, (sendbuf, sendcount.into(), sendtype),
            (recvbuf, (recvcounts, displs).into(), recvtype), root, comm,
        )
    }
}

export! {
    /// MPI 4.1, section 6.5.
    Gather: MPI_Gather PMPI_Gather MPI_Gather_c PMPI_Gather_c = {
        |sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm| Rooted::new(
            RootedOp::Gather, (sendbuf, sendcount.into(), sendtype), (recvbuf, recvcount.into(), recvtype), root, comm,
        )
    }
}

export! {
    /// MPI 4.1, section 6.6.
    Scatterv: MPI_Scatterv PMPI_Scatterv MPI_Scatterv_c PMPI_Scatterv_c = {
        |sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm| Rooted::new(
            RootedOp::Scatter, (recvbuf, recvcount.into(), recvtype),
            (sendbuf, (sendcounts, displs).into(), sendtype), root, comm,
        )
    }
}

export! {
    /// MPI 4.1, section 6.6.
    Scatter: MPI_Scatter PMPI_Scatter MPI_Scatter_c PMPI_Scatter_c = {
        |sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm| Rooted::new(
            RootedOp::Scatter, (recvbuf, recvcount.into(), recvtype), (sendbuf, sendcount.into(), sendtype), root, comm,
        )
    }
}

export! {
    /// MPI 4.1, section 6.9.6.
    Allreduce: MPI_Allreduce PMPI_Allreduce MPI_Allreduce_c PMPI_Allreduce_c = {
        |sendbuf, recvbuf, count, datatype, op, comm| Reduction::new(
            ReductionOp::Allreduce, sendbuf, recvbuf, count.into(), datatype, op, 0, comm,
        )
    }
}

export! {
    /// MPI 4.1, section 6.9.1.
    Reduce: MPI_Reduce PMPI_Reduce MPI_Reduce_c PMPI_Reduce_c = {
        |sendbuf, recvbuf, count, datatype, op, root, comm| Reduction::new(
            ReductionOp::Reduce, sendbuf, recvbuf, count.into(), datatype, op, root, comm,
        )
    }
}

export! {
    /// MPI 4.1, section 6.10.2.
    ReduceScatter: MPI_Reduce_scatter PMPI_Reduce_scatter MPI_Reduce_scatter_c PMPI_Reduce_scatter_c = {
        |sendbuf, recvbuf, recvcounts, datatype, op, comm| Reduction::new(
            ReductionOp::ReduceScatter, sendbuf, recvbuf, recvcounts.into(), datatype, op, 0, comm,
        )
    }
}

export! {
    /// MPI 4.1, section 6.10.1.
    ReduceScatterBlock: MPI_Reduce_scatter_block PMPI_Reduce_scatter_block MPI_Reduce_scatter_block_c
        PMPI_Reduce_scatter_block_c = {
        |sendbuf, recvbuf, count, datatype, op, comm| Reduction::new(
            ReductionOp::ReduceScatterBlock, sendbuf, recvbuf, count.into(), datatype, op, 0, comm,
        )
    }
}

export! {
    /// MPI 4.1, section 6.11.1.
    Scan: MPI_Scan PMPI_Scan MPI_Scan_c PMPI_Scan_c = {
        |sendbuf, recvbuf, count, datatype, op, comm| Reduction::new(
            ReductionOp::Scan, sendbuf, recvbuf, count.into(), datatype, op, 0, comm,
        )
    }
}

export! {
    /// MPI 4.1, section 6.11.2.
    Exscan: MPI_Exscan PMPI_Exscan MPI_Exscan_c PMPI_Exscan_c = {
        |sendbuf, recvbuf, count, datatype, op, comm| Reduction::new(
            ReductionOp::Exscan, sendbuf, recvbuf, count.into(), datatype, op, 0, comm,
        )
    }
}

export_plain! {
    /// MPI 4.1, section 6.3.
    Barrier: MPI_Barrier PMPI_Barrier = { |comm| Barrier::new(comm) }
}

export! {
    /// MPI 4.1, section 6.8.
    Alltoall: MPI_Alltoall PMPI_Alltoall MPI_Alltoall_c PMPI_Alltoall_c = {
        |sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm| Alltoall::new(
            (sendbuf, sendcount.into(), sendtype.into()), (recvbuf, recvcount.into(), recvtype.into()), comm,
        )
    }
}

export! {
    /// MPI 4.1, section 6.8.
    Alltoallv: MPI_Alltoallv PMPI_Alltoallv MPI_Alltoallv_c PMPI_Alltoallv_c = {
        |sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm| Alltoall::new(
            (sendbuf, (sendcounts, sdispls).into(), sendtype.into()),
            (recvbuf, (recvcounts, rdispls).into(), recvtype.into()), comm,
        )
    }
}

export! {
    /// MPI 4.1, section 6.8.
    Alltoallw: MPI_Alltoallw PMPI_Alltoallw MPI_Alltoallw_c PMPI_Alltoallw_c = {
        |sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm| Alltoall::new(
            (sendbuf, (sendcounts, sdispls).into(), sendtypes.into()),
            (recvbuf, (recvcounts, rdispls).into(), recvtypes.into()), comm,
        )
    }
}
