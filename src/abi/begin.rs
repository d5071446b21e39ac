//! `MPI_Init` and `MPI_Init_thread`: forwarded to what the caller would have got without Rondo; then the job begins.
//!
//! Each comes by both of its names: C and MPICH's Fortran bindings call `MPI_Init`, Open MPI's, and MPICH's for
//! `mpi_f08`, call `PMPI_Init`. A profiler that is in front of Rondo, or behind it, makes two calls of one; the inner
//! one comes back first, and the outer one finds that the job has begun.
//!
//! Where several MPI libraries are loaded, none is initialised yet, so that nobody can tell which one it will be. The
//! caller tells: its own dependencies have the one that it was linked with. Its address is where the function returns
//! to, which compiled code cannot ask for; so the names are a few instructions that hand it on.

use crate::coll;
use std::ffi::{c_int, c_void};

#[cfg(not(feature = "direct"))]
use crate::host::Next;

#[cfg(not(feature = "direct"))]
type InitFn = unsafe extern "C-unwind" fn(*mut c_int, *mut c_void) -> c_int;
#[cfg(not(feature = "direct"))]
type InitThreadFn =
    unsafe extern "C-unwind" fn(*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int;

/// Exports a function by one of its names. `$register` is the first that its arguments leave free.
#[cfg(not(feature = "direct"))]
macro_rules! begin {
    ($name:ident $forward:ident: $type:ty, $x86_64:literal $aarch64:literal, $($arg:ident: $of:ty),*) => {
        /// MPI 4.1, section 11.2.
        ///
        /// # Safety
        /// The caller keeps the contract of the MPI function.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C-unwind" fn $name($($arg: $of),*) -> c_int {
            #[cfg(target_arch = "x86_64")]
            std::arch::naked_asm!(concat!("mov ", $x86_64, ", [rsp]"), "jmp {}", sym $forward);
            #[cfg(target_arch = "aarch64")]
            std::arch::naked_asm!(concat!("mov ", $aarch64, ", x30"), "b {}", sym $forward);
        }

        unsafe extern "C-unwind" fn $forward($($arg: $of,)* caller: *const c_void) -> c_int {
            // SAFETY: the type is one of function pointers, as `Next::new` demands.
            static NEXT: Next<$type> = unsafe { Next::new(concat!(stringify!($name), "\0")) };
            coll::initialize(|| {
                // SAFETY: the type is the MPI standard's for this name; the arguments are the caller's.
                let code = NEXT.call_as(caller, |next| unsafe { next($($arg),*) });
                begun(code, stringify!($name))
            })
        }
    };
}

#[cfg(not(feature = "direct"))]
begin! { MPI_Init init: InitFn, "rdx" "x2", argc: *mut c_int, argv: *mut c_void }
#[cfg(not(feature = "direct"))]
begin! { PMPI_Init profiled_init: InitFn, "rdx" "x2", argc: *mut c_int, argv: *mut c_void }
#[cfg(not(feature = "direct"))]
begin! {
    MPI_Init_thread init_thread: InitThreadFn, "r8" "x4",
    argc: *mut c_int, argv: *mut c_void, required: c_int, provided: *mut c_int
}
#[cfg(not(feature = "direct"))]
begin! {
    PMPI_Init_thread profiled_init_thread: InitThreadFn, "r8" "x4",
    argc: *mut c_int, argv: *mut c_void, required: c_int, provided: *mut c_int
}

#[cfg(feature = "direct")]
mod linked {
    use super::*;

    unsafe extern "C-unwind" {
        fn PMPI_Init(argc: *mut c_int, argv: *mut c_void) -> c_int;
        fn PMPI_Init_thread(
            argc: *mut c_int,
            argv: *mut c_void,
            required: c_int,
            provided: *mut c_int,
        ) -> c_int;
    }

    /// MPI 4.1, section 11.2.
    ///
    /// # Safety
    /// The caller keeps the contract of the MPI function.
    #[unsafe(no_mangle)]
    pub unsafe extern "C-unwind" fn MPI_Init(argc: *mut c_int, argv: *mut c_void) -> c_int {
        // SAFETY: the arguments are the caller's.
        coll::initialize(|| begun(unsafe { PMPI_Init(argc, argv) }, "MPI_Init"))
    }

    /// The same.
    ///
    /// # Safety
    /// The caller keeps the contract of the MPI function.
    #[unsafe(no_mangle)]
    pub unsafe extern "C-unwind" fn MPI_Init_thread(
        argc: *mut c_int,
        argv: *mut c_void,
        required: c_int,
        provided: *mut c_int,
    ) -> c_int {
        coll::initialize(|| {
            // SAFETY: the arguments are the caller's.
            let code = unsafe { PMPI_Init_thread(argc, argv, required, provided) };
            begun(code, "MPI_Init_thread")
        })
    }
}

/// The host's function has come back with this code.
#[cfg(not(feature = "one"))]
fn begun(code: c_int, name: &'static str) -> c_int {
    match code {
        0 => coll::begin(name),
        _ => code,
    }
}

/// The same. Which core fits may show only now that the library is initialised.
#[cfg(feature = "one")]
fn begun(code: c_int, _name: &'static str) -> c_int {
    unsafe extern "C-unwind" {
        /// Of the front: calls `rondo_one_begin` of the core that fits.
        fn rondo_front_begin() -> c_int;
    }
    match code {
        // SAFETY: the front has this function.
        0 => unsafe { rondo_front_begin() },
        _ => code,
    }
}
