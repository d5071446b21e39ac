//! What is observed: the ends of MPI, of jobs and of communicators, and hints for communicators. Each call goes on to
//! the next function of its own name, so that a profiler behind Rondo sees it.
//!
//! Both names are there because Open MPI's Fortran bindings, and MPICH's for `mpi_f08`, call the `PMPI_` names.

use crate::coll;
#[cfg(not(feature = "direct"))]
use crate::host::Next;
use crate::host::RawHandle;
use std::ffi::{c_int, c_void};

type FinalizeFn = unsafe extern "C-unwind" fn() -> c_int;
type AbortFn = unsafe extern "C-unwind" fn(RawHandle, c_int) -> c_int;
type FreeFn = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type SetInfoFn = unsafe extern "C-unwind" fn(RawHandle, RawHandle) -> c_int;
type DupWithInfoFn = unsafe extern "C-unwind" fn(RawHandle, RawHandle, *mut c_void) -> c_int;

/// Exports a function by one of its names; `$next` is the one that it goes on to.
macro_rules! observe {
    ($name:ident, $next:ident: FinalizeFn) => {
        /// MPI 4.1, section 11.2.2.
        ///
        /// # Safety
        /// The caller keeps the contract of the MPI function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() -> c_int {
            // SAFETY: the type is the MPI standard's for this name.
            coll::finalize(|| next!($next: FinalizeFn, |next| unsafe { next() }))
        }
    };
    ($name:ident, $next:ident: AbortFn) => {
        /// MPI 4.1, section 9.7.
        ///
        /// # Safety
        /// The caller keeps the contract of the MPI function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(comm: RawHandle, code: c_int) -> c_int {
            coll::abort();
            // SAFETY: the type is the MPI standard's for this name; the arguments are the caller's.
            next!($next: AbortFn, |next| unsafe { next(comm, code) })
        }
    };
    ($name:ident, $next:ident: FreeFn) => {
        /// MPI 4.1, sections 7.4.3 and 11.10.4.
        ///
        /// # Safety
        /// The caller keeps the contract of the MPI function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(comm: *mut c_void) -> c_int {
            // SAFETY: by the caller's contract the pointer, if it is not null, points to a handle.
            let which = |host: &crate::host::Mpi| unsafe { host.comm_at(comm) };
            // SAFETY: the type is the MPI standard's for this name; the argument is the caller's.
            coll::free(which, || next!($next: FreeFn, |next| unsafe { next(comm) }))
        }
    };
    ($name:ident, $next:ident: SetInfoFn) => {
        /// MPI 4.1, section 7.4.4.
        ///
        /// # Safety
        /// The caller keeps the contract of the MPI function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(comm: RawHandle, info: RawHandle) -> c_int {
            // SAFETY: the type is the MPI standard's for this name; the arguments are the caller's.
            let code = next!($next: SetInfoFn, |next| unsafe { next(comm, info) });
            coll::hint(code, info, |host| comm.as_comm(host));
            code
        }
    };
    ($name:ident, $next:ident: DupWithInfoFn) => {
        /// MPI 4.1, section 7.4.2.
        ///
        /// # Safety
        /// The caller keeps the contract of the MPI function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(
            comm: RawHandle,
            info: RawHandle,
            made: *mut c_void,
        ) -> c_int {
            // SAFETY: the type is the MPI standard's for this name; the arguments are the caller's.
            let code = next!($next: DupWithInfoFn, |next| unsafe { next(comm, info, made) });
            // SAFETY: by the caller's contract the pointer, if it is not null, points to a handle.
            coll::hint(code, info, |host| unsafe { host.comm_at(made) });
            code
        }
    };
}

/// Calls the next function of a name: the one that comes after this library.
#[cfg(not(feature = "direct"))]
macro_rules! next {
    ($name:ident: $type:ty, $call:expr) => {{
        // SAFETY: `$type` is an `unsafe extern fn` type, as `Next::new` demands.
        static NEXT: Next<$type> = unsafe { Next::new(concat!(stringify!($name), "\0")) };
        NEXT.call($call)
    }};
}

/// Calls a function that is linked.
#[cfg(feature = "direct")]
macro_rules! next {
    ($name:ident: $type:ty, $call:expr) => {{
        unsafe extern "C" {
            // As in `host`, where only its address is taken too.
            #[link_name = stringify!($name)]
            fn linked();
        }
        let address: unsafe extern "C" fn() = linked;
        // SAFETY: whoever exports the function answers for the type of the next one.
        let next = unsafe { crate::host::function_of_type::<$type>(address) };
        with(next, $call)
    }};
}

/// Calls `call` with a function, whose type it gets from there.
#[cfg(feature = "direct")]
fn with<F>(next: F, call: impl FnOnce(F) -> c_int) -> c_int {
    call(next)
}

#[cfg(not(feature = "direct"))]
mod both {
    use super::*;

    observe! { MPI_Finalize, MPI_Finalize: FinalizeFn }
    observe! { PMPI_Finalize, PMPI_Finalize: FinalizeFn }
    observe! { MPI_Abort, MPI_Abort: AbortFn }
    observe! { PMPI_Abort, PMPI_Abort: AbortFn }
    observe! { MPI_Comm_free, MPI_Comm_free: FreeFn }
    observe! { PMPI_Comm_free, PMPI_Comm_free: FreeFn }
    observe! { MPI_Comm_disconnect, MPI_Comm_disconnect: FreeFn }
    observe! { PMPI_Comm_disconnect, PMPI_Comm_disconnect: FreeFn }
    observe! { MPI_Comm_set_info, MPI_Comm_set_info: SetInfoFn }
    observe! { PMPI_Comm_set_info, PMPI_Comm_set_info: SetInfoFn }
    observe! { MPI_Comm_dup_with_info, MPI_Comm_dup_with_info: DupWithInfoFn }
    observe! { PMPI_Comm_dup_with_info, PMPI_Comm_dup_with_info: DupWithInfoFn }
}

#[cfg(feature = "direct")]
mod one {
    use super::*;

    observe! { MPI_Finalize, PMPI_Finalize: FinalizeFn }
    observe! { MPI_Abort, PMPI_Abort: AbortFn }
    observe! { MPI_Comm_free, PMPI_Comm_free: FreeFn }
    observe! { MPI_Comm_disconnect, PMPI_Comm_disconnect: FreeFn }
    observe! { MPI_Comm_set_info, PMPI_Comm_set_info: SetInfoFn }
    observe! { MPI_Comm_dup_with_info, PMPI_Comm_dup_with_info: DupWithInfoFn }
}
