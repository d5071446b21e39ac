//! The MPI types and constants of the ABI this build speaks: those of `mpi.h` by the crate mpi-sys, or, without it,
//! those of the MPI standard's own ABI (MPI 5.0, chapter 20), which needs no `mpi.h`.
//!
//! Of mpi-sys only types and constants are used, never a function or a variable: those would need the MPI library at
//! link time.

#[cfg(not(abi = "standard"))]
pub use mpi_sys::*;
#[cfg(abi = "standard")]
pub use standard::*;

#[cfg(abi = "standard")]
#[allow(
    non_camel_case_types,
    non_snake_case,
    reason = "the standard's names, as mpi-sys has them"
)]
mod standard {
    use std::ffi::{c_int, c_void};

    /// A handle: a pointer that nobody looks behind, of the type that this kind of object has in C.
    macro_rules! handles {
        ($($name:ident)*) => { $(
            #[doc = concat!("A handle of this kind: `", stringify!($name), "`.")]
            #[repr(transparent)]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $name(pub *mut c_void);
        )* };
    }

    handles! { MPI_Comm MPI_Datatype MPI_Errhandler MPI_Group MPI_Info MPI_Op MPI_Request }

    pub type MPI_Aint = isize;
    pub type MPI_Count = i64;

    /// Section 20.3.2: three public fields and 20 bytes for the library.
    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    pub struct MPI_Status {
        /// The rank that sent the message.
        pub MPI_SOURCE: c_int,
        /// Its tag.
        pub MPI_TAG: c_int,
        /// What went wrong, where several messages are waited for.
        pub MPI_ERROR: c_int,
        /// The library's own.
        pub MPI_internal: [c_int; 5],
    }

    const _: () = assert!(size_of::<MPI_Status>() == 32);

    // Annex A.1.1 and the tables of section 20.3.
    pub const MPI_SUCCESS: u32 = 0;
    pub const MPI_ERR_BUFFER: u32 = 1;
    pub const MPI_ERR_COUNT: u32 = 2;
    pub const MPI_ERR_TYPE: u32 = 3;
    pub const MPI_ERR_COMM: u32 = 5;
    pub const MPI_ERR_OP: u32 = 10;
    pub const MPI_ERR_ARG: u32 = 13;
    pub const MPI_ERR_TRUNCATE: u32 = 15;
    pub const MPI_ERR_INTERN: u32 = 17;
    pub const MPI_ERR_NO_MEM: u32 = 39;

    pub const MPI_ANY_SOURCE: c_int = -1;
    pub const MPI_THREAD_MULTIPLE: c_int = 4096;
    pub const MPI_ROOT: c_int = -4;
    pub const MPI_ANY_TAG: c_int = -2;
    pub const MPI_UNDEFINED: c_int = -32766;

    pub const MPI_MAX_ERROR_STRING: u32 = 512;
    pub const MPI_MAX_LIBRARY_VERSION_STRING: u32 = 8192;
    pub const MPI_MAX_PROCESSOR_NAME: u32 = 256;

    pub const MPI_TAG_UB: u32 = 501;

    pub const MPI_COMBINER_NAMED: u32 = 101;
    pub const MPI_COMBINER_DUP: u32 = 102;
    pub const MPI_COMBINER_CONTIGUOUS: u32 = 103;
    pub const MPI_COMBINER_VECTOR: u32 = 104;
    pub const MPI_COMBINER_HVECTOR: u32 = 105;
    pub const MPI_COMBINER_INDEXED: u32 = 106;
    pub const MPI_COMBINER_HINDEXED: u32 = 107;
    pub const MPI_COMBINER_INDEXED_BLOCK: u32 = 108;
    pub const MPI_COMBINER_HINDEXED_BLOCK: u32 = 109;
    pub const MPI_COMBINER_STRUCT: u32 = 110;
    pub const MPI_COMBINER_SUBARRAY: u32 = 111;
    pub const MPI_COMBINER_DARRAY: u32 = 112;
    pub const MPI_COMBINER_F90_REAL: u32 = 113;
    pub const MPI_COMBINER_F90_COMPLEX: u32 = 114;
    pub const MPI_COMBINER_F90_INTEGER: u32 = 115;
    pub const MPI_COMBINER_RESIZED: u32 = 116;
}
