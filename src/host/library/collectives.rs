//! The collectives that Rondo intercepts: their signatures, and the host's own functions.

use super::abi::RawHandle;
use super::loader::as_function;
use super::narrow;
use super::symbols::Finder;
use crate::report;
use std::ffi::{c_int, c_void};

/// THE signatures: calls the macro `$then` with `$with` and the arguments of a collective, for these types of counts
/// and displacements. `RawHandle`, `c_int` and `c_void` must be in scope there. Handles are words, see [`RawHandle`].
macro_rules! signature {
    (Bcast, $count:ty, $displ:ty => $then:ident $with:tt) => {
        $then! { $with (buffer: *mut c_void, count: $count, datatype: RawHandle, root: c_int, comm: RawHandle) }
    };
    (Allgatherv, $count:ty, $displ:ty => $then:ident $with:tt) => {
        $then! { $with (
            sendbuf: *const c_void, sendcount: $count, sendtype: RawHandle,
            recvbuf: *mut c_void, recvcounts: *const $count, displs: *const $displ, recvtype: RawHandle, comm: RawHandle
        ) }
    };
    (Allgather, $count:ty, $displ:ty => $then:ident $with:tt) => {
        $then! { $with (
            sendbuf: *const c_void, sendcount: $count, sendtype: RawHandle,
            recvbuf: *mut c_void, recvcount: $count, recvtype: RawHandle, comm: RawHandle
        ) }
    };
    (Gatherv, $count:ty, $displ:ty => $then:ident $with:tt) => {
        $then! { $with (
            sendbuf: *const c_void, sendcount: $count, sendtype: RawHandle,
            recvbuf: *mut c_void, recvcounts: *const $count, displs: *const $displ, recvtype: RawHandle,
            root: c_int, comm: RawHandle
        ) }
    };
    (Gather, $count:ty, $displ:ty => $then:ident $with:tt) => {
        $then! { $with (
            sendbuf: *const c_void, sendcount: $count, sendtype: RawHandle,
            recvbuf: *mut c_void, recvcount: $count, recvtype: RawHandle, root: c_int, comm: RawHandle
        ) }
    };
    (Scatterv, $count:ty, $displ:ty => $then:ident $with:tt) => {
        $then! { $with (
            sendbuf: *const c_void, sendcounts: *const $count, displs: *const $displ, sendtype: RawHandle,
            recvbuf: *mut c_void, recvcount: $count, recvtype: RawHandle, root: c_int, comm: RawHandle
        ) }
    };
    (Scatter, $($as_gather:tt)*) => { signature! { Gather, $($as_gather)* } };
    (Allreduce, $count:ty, $displ:ty => $then:ident $with:tt) => {
        $then! { $with (
            sendbuf: *const c_void, recvbuf: *mut c_void, count: $count, datatype: RawHandle, op: RawHandle,
            comm: RawHandle
        ) }
    };
    (Reduce, $count:ty, $displ:ty => $then:ident $with:tt) => {
        $then! { $with (
            sendbuf: *const c_void, recvbuf: *mut c_void, count: $count, datatype: RawHandle, op: RawHandle,
            root: c_int, comm: RawHandle
        ) }
    };
    (ReduceScatter, $count:ty, $displ:ty => $then:ident $with:tt) => {
        $then! { $with (
            sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: *const $count, datatype: RawHandle, op: RawHandle,
            comm: RawHandle
        ) }
    };
    (ReduceScatterBlock, $($as_allreduce:tt)*) => { signature! { Allreduce, $($as_allreduce)* } };
    (Scan, $($as_allreduce:tt)*) => { signature! { Allreduce, $($as_allreduce)* } };
    (Exscan, $($as_allreduce:tt)*) => { signature! { Allreduce, $($as_allreduce)* } };
    (Alltoall, $($as_allgather:tt)*) => { signature! { Allgather, $($as_allgather)* } };
    (Alltoallv, $count:ty, $displ:ty => $then:ident $with:tt) => {
        $then! { $with (
            sendbuf: *const c_void, sendcounts: *const $count, sdispls: *const $displ, sendtype: RawHandle,
            recvbuf: *mut c_void, recvcounts: *const $count, rdispls: *const $displ, recvtype: RawHandle,
            comm: RawHandle
        ) }
    };
    (Alltoallw, $count:ty, $displ:ty => $then:ident $with:tt) => {
        $then! { $with (
            sendbuf: *const c_void, sendcounts: *const $count, sdispls: *const $displ, sendtypes: *const c_void,
            recvbuf: *mut c_void, recvcounts: *const $count, rdispls: *const $displ, recvtypes: *const c_void,
            comm: RawHandle
        ) }
    };
    (Barrier, $count:ty, $displ:ty => $then:ident $with:tt) => { $then! { $with (comm: RawHandle) } };
}

pub(crate) use signature;

/// The type of a pointer to a function with these arguments.
macro_rules! pointer {
    (() ($($arg:ident: $type:ty),*)) => { unsafe extern "C-unwind" fn($($type),*) -> c_int };
}

/// What a process without an MPI library has in place of a function, of the pointer's type.
macro_rules! missing {
    (($name:literal) ($($arg:ident: $type:ty),*)) => {{
        unsafe extern "C-unwind" fn missing($($arg: $type),*) -> c_int {
            let _ = ($($arg,)*);
            without_mpi($name)
        }
        missing as unsafe extern "C-unwind" fn($($type),*) -> c_int
    }};
}

/// There is nothing that could carry the call out.
#[cold]
fn without_mpi(name: &str) -> ! {
    let name = name.trim_start_matches('P');
    let advice = "link the program with one behind -lrondo, or take librondo.so out of LD_PRELOAD";
    report::line(
        -1,
        &format!("{name} was called, but no MPI library is loaded: {advice}"),
    );
    std::process::abort()
}

/// Declares the host's own functions, each with its large-count form if it counts anything (MPI 4.0: counts are
/// `MPI_Count`, displacements `MPI_Aint`), and the way to find them.
macro_rules! collectives {
    ($($collective:ident: $field:ident = $name:literal $(, $large:ident = $large_name:literal)?;)*) => {
        /// The host's own functions. A large one that the host lacks is carried out over the one with `int`.
        pub struct Collectives {
            $(
                #[doc = concat!("`", $name, "`.")]
                pub $field: signature!($collective, c_int, c_int => pointer ()),
                $(
                    #[doc = concat!("`", $large_name, "`.")]
                    pub $large: signature!($collective, i64, isize => pointer ()),
                )?
            )*
        }

        impl Collectives {
            /// Looks the functions up; the name of the first one that is missing, though every MPI library has it, as
            /// the error. Where there is no MPI library, such a function ends the process when it is called.
            pub fn find(finder: &Finder) -> Result<Collectives, &'static str> {
                let is_without_mpi = finder.is_without_mpi();
                // SAFETY: the signatures are those of the MPI standard with handles passed as words,
                // which every ABI accepts (see `RawHandle`).
                unsafe {
                    Ok(Collectives {
                        $(
                            $field: as_function(function!(finder, $name))
                                .or(is_without_mpi
                                    .then_some(signature!($collective, c_int, c_int => missing ($name))))
                                .ok_or($name)?,
                            $($large: as_function(large_function!(finder, $large_name))
                                .unwrap_or(narrow::$field),)?
                        )*
                    })
                }
            }
        }
    };
}

collectives! {
    Bcast: bcast = "PMPI_Bcast", bcast_large = "PMPI_Bcast_c";
    Allgatherv: allgatherv = "PMPI_Allgatherv", allgatherv_large = "PMPI_Allgatherv_c";
    Allgather: allgather = "PMPI_Allgather", allgather_large = "PMPI_Allgather_c";
    Gatherv: gatherv = "PMPI_Gatherv", gatherv_large = "PMPI_Gatherv_c";
    Gather: gather = "PMPI_Gather", gather_large = "PMPI_Gather_c";
    Scatterv: scatterv = "PMPI_Scatterv", scatterv_large = "PMPI_Scatterv_c";
    Scatter: scatter = "PMPI_Scatter", scatter_large = "PMPI_Scatter_c";
    Allreduce: allreduce = "PMPI_Allreduce", allreduce_large = "PMPI_Allreduce_c";
    Reduce: reduce = "PMPI_Reduce", reduce_large = "PMPI_Reduce_c";
    ReduceScatter: reduce_scatter = "PMPI_Reduce_scatter", reduce_scatter_large = "PMPI_Reduce_scatter_c";
    ReduceScatterBlock: reduce_scatter_block = "PMPI_Reduce_scatter_block",
        reduce_scatter_block_large = "PMPI_Reduce_scatter_block_c";
    Scan: scan = "PMPI_Scan", scan_large = "PMPI_Scan_c";
    Exscan: exscan = "PMPI_Exscan", exscan_large = "PMPI_Exscan_c";
    Barrier: barrier = "PMPI_Barrier";
    Alltoall: alltoall = "PMPI_Alltoall", alltoall_large = "PMPI_Alltoall_c";
    Alltoallv: alltoallv = "PMPI_Alltoallv", alltoallv_large = "PMPI_Alltoallv_c";
    Alltoallw: alltoallw = "PMPI_Alltoallw", alltoallw_large = "PMPI_Alltoallw_c";
}
