//! The collectives that Rondo intercepts: their signatures, and the host's own functions.

use super::abi::Word;
use super::symbols::Finder;
use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;

/// Signature of `MPI_Bcast`. Handles are words, see [`Word`].
pub type BcastFn = unsafe extern "C" fn(*mut c_void, c_int, Word, c_int, Word) -> c_int;
/// Signature of `MPI_Bcast_c` (MPI 4.0: the count is an `MPI_Count`).
pub type BcastLargeFn = unsafe extern "C" fn(*mut c_void, i64, Word, c_int, Word) -> c_int;
/// Signature of `MPI_Allgatherv`.
pub type AllgathervFn = unsafe extern "C" fn(
    *const c_void,
    c_int,
    Word,
    *mut c_void,
    *const c_int,
    *const c_int,
    Word,
    Word,
) -> c_int;
/// Signature of `MPI_Allgatherv_c` (displacements are `MPI_Aint`).
pub type AllgathervLargeFn = unsafe extern "C" fn(
    *const c_void,
    i64,
    Word,
    *mut c_void,
    *const i64,
    *const isize,
    Word,
    Word,
) -> c_int;
/// Signature of `MPI_Allgather`.
pub type AllgatherFn =
    unsafe extern "C" fn(*const c_void, c_int, Word, *mut c_void, c_int, Word, Word) -> c_int;
/// Signature of `MPI_Allgather_c`.
pub type AllgatherLargeFn =
    unsafe extern "C" fn(*const c_void, i64, Word, *mut c_void, i64, Word, Word) -> c_int;

/// The host's own functions; the large ones are `None` on hosts that lack them.
pub struct Collectives {
    pub bcast: BcastFn,
    pub bcast_large: Option<BcastLargeFn>,
    pub allgatherv: AllgathervFn,
    pub allgatherv_large: Option<AllgathervLargeFn>,
    pub allgather: AllgatherFn,
    pub allgather_large: Option<AllgatherLargeFn>,
}

impl Collectives {
    /// Looks the functions up; `None` if one that every MPI library has is missing.
    pub fn find(finder: &Finder) -> Option<Collectives> {
        let large = |name: &CStr| finder.function(name);
        let always = |name: &CStr| {
            let function = finder.function(name);
            (!function.is_null()).then_some(function)
        };
        // SAFETY: the signatures are those of the MPI standard with handles passed as words, which
        // every ABI accepts (see `Word`). Those that are not optional are not null.
        unsafe {
            Some(Collectives {
                bcast: transmute::<*mut c_void, BcastFn>(always(c"PMPI_Bcast")?),
                bcast_large: transmute::<*mut c_void, Option<BcastLargeFn>>(large(c"PMPI_Bcast_c")),
                allgatherv: transmute::<*mut c_void, AllgathervFn>(always(c"PMPI_Allgatherv")?),
                allgatherv_large: transmute::<*mut c_void, Option<AllgathervLargeFn>>(large(
                    c"PMPI_Allgatherv_c",
                )),
                allgather: transmute::<*mut c_void, AllgatherFn>(always(c"PMPI_Allgather")?),
                allgather_large: transmute::<*mut c_void, Option<AllgatherLargeFn>>(large(
                    c"PMPI_Allgather_c",
                )),
            })
        }
    }
}
