//! The collectives that Rondo intercepts: their signatures, and the host's own functions.

use super::abi::RawHandle;
use super::symbols::Finder;
use std::ffi::{c_int, c_void};
use std::mem::transmute;

/// Signature of `MPI_Bcast`. Handles are words, see [`RawHandle`].
pub type BcastFn =
    unsafe extern "C-unwind" fn(*mut c_void, c_int, RawHandle, c_int, RawHandle) -> c_int;
/// Signature of `MPI_Bcast_c` (MPI 4.0: the count is an `MPI_Count`).
pub type BcastLargeFn =
    unsafe extern "C-unwind" fn(*mut c_void, i64, RawHandle, c_int, RawHandle) -> c_int;
/// Signature of `MPI_Allgatherv`.
pub type AllgathervFn = unsafe extern "C-unwind" fn(
    *const c_void,
    c_int,
    RawHandle,
    *mut c_void,
    *const c_int,
    *const c_int,
    RawHandle,
    RawHandle,
) -> c_int;
/// Signature of `MPI_Allgatherv_c` (displacements are `MPI_Aint`).
pub type AllgathervLargeFn = unsafe extern "C-unwind" fn(
    *const c_void,
    i64,
    RawHandle,
    *mut c_void,
    *const i64,
    *const isize,
    RawHandle,
    RawHandle,
) -> c_int;
/// Signature of `MPI_Allgather`.
pub type AllgatherFn = unsafe extern "C-unwind" fn(
    *const c_void,
    c_int,
    RawHandle,
    *mut c_void,
    c_int,
    RawHandle,
    RawHandle,
) -> c_int;
/// Signature of `MPI_Allgather_c`.
pub type AllgatherLargeFn = unsafe extern "C-unwind" fn(
    *const c_void,
    i64,
    RawHandle,
    *mut c_void,
    i64,
    RawHandle,
    RawHandle,
) -> c_int;

/// Signature of `MPI_Gatherv`.
pub type GathervFn = unsafe extern "C-unwind" fn(
    *const c_void,
    c_int,
    RawHandle,
    *mut c_void,
    *const c_int,
    *const c_int,
    RawHandle,
    c_int,
    RawHandle,
) -> c_int;
/// Signature of `MPI_Gatherv_c`.
pub type GathervLargeFn = unsafe extern "C-unwind" fn(
    *const c_void,
    i64,
    RawHandle,
    *mut c_void,
    *const i64,
    *const isize,
    RawHandle,
    c_int,
    RawHandle,
) -> c_int;
/// Signature of `MPI_Gather` and `MPI_Scatter`.
pub type GatherFn = unsafe extern "C-unwind" fn(
    *const c_void,
    c_int,
    RawHandle,
    *mut c_void,
    c_int,
    RawHandle,
    c_int,
    RawHandle,
) -> c_int;
/// Signature of `MPI_Gather_c` and `MPI_Scatter_c`.
pub type GatherLargeFn = unsafe extern "C-unwind" fn(
    *const c_void,
    i64,
    RawHandle,
    *mut c_void,
    i64,
    RawHandle,
    c_int,
    RawHandle,
) -> c_int;
/// Signature of `MPI_Scatterv`.
pub type ScattervFn = unsafe extern "C-unwind" fn(
    *const c_void,
    *const c_int,
    *const c_int,
    RawHandle,
    *mut c_void,
    c_int,
    RawHandle,
    c_int,
    RawHandle,
) -> c_int;
/// Signature of `MPI_Scatterv_c`.
pub type ScattervLargeFn = unsafe extern "C-unwind" fn(
    *const c_void,
    *const i64,
    *const isize,
    RawHandle,
    *mut c_void,
    i64,
    RawHandle,
    c_int,
    RawHandle,
) -> c_int;

/// Declares the host's own functions, each with its large-count form, and the way to find them.
macro_rules! collectives {
    ($($field:ident: $type:ty = $name:literal, $large:ident: $large_type:ty = $large_name:literal;)*) => {
        /// The host's own functions; the large ones are `None` on hosts that lack them.
        pub struct Collectives {
            $(
                pub $field: $type,
                pub $large: Option<$large_type>,
            )*
        }

        impl Collectives {
            /// Looks the functions up; `None` if one that every MPI library has is missing.
            pub fn find(finder: &Finder) -> Option<Collectives> {
                // SAFETY: the signatures are those of the MPI standard with handles passed as words,
                // which every ABI accepts (see `RawHandle`); a null pointer becomes `None`.
                unsafe {
                    Some(Collectives {
                        $(
                            $field: transmute::<*mut c_void, Option<$type>>(function!(finder, $name))?,
                            $large: transmute::<*mut c_void, Option<$large_type>>(
                                large_function!(finder, $large_name),
                            ),
                        )*
                    })
                }
            }
        }
    };
}

collectives! {
    bcast: BcastFn = "PMPI_Bcast", bcast_large: BcastLargeFn = "PMPI_Bcast_c";
    allgatherv: AllgathervFn = "PMPI_Allgatherv",
        allgatherv_large: AllgathervLargeFn = "PMPI_Allgatherv_c";
    allgather: AllgatherFn = "PMPI_Allgather", allgather_large: AllgatherLargeFn = "PMPI_Allgather_c";
    gatherv: GathervFn = "PMPI_Gatherv", gatherv_large: GathervLargeFn = "PMPI_Gatherv_c";
    gather: GatherFn = "PMPI_Gather", gather_large: GatherLargeFn = "PMPI_Gather_c";
    scatterv: ScattervFn = "PMPI_Scatterv", scatterv_large: ScattervLargeFn = "PMPI_Scatterv_c";
    scatter: GatherFn = "PMPI_Scatter", scatter_large: GatherLargeFn = "PMPI_Scatter_c";
}
