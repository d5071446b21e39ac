//! The hints that a program gives communicators.

#![forbid(unsafe_code)]

use crate::group;
use crate::host::{self, Comm, Mpi, RawHandle};
use std::ffi::{CStr, c_int};

/// The key of an info object whose value is to a communicator what `RONDO_REPRODUCIBLE` is to all.
const PROMISE_KEY: &CStr = c"rondo_reproducible";

/// The hint that lists the kinds of memory that a process passes to calls on a communicator (MPI 4.1, section 7.4.4).
const MEMORY_KEY: &CStr = c"mpi_assert_memory_alloc_kinds";

/// The host returned `code` when the program gave a communicator, of which `handle` says which it is, hints.
pub fn hint(code: c_int, info: RawHandle, handle: impl FnOnce(&Mpi) -> Option<Comm>) {
    let host = host::host();
    if code == 0
        && let Ok(mpi) = host.mpi()
        && mpi.world_is_up()
        && let [promise, kinds] = [PROMISE_KEY, MEMORY_KEY].map(|key| mpi.info_value(info, key))
        && (promise.is_some() || kinds.is_some())
        && let Some(comm) = handle(mpi)
    {
        if let Some(value) = promise {
            group::promise(host, mpi, comm, &value);
        }
        if let Some(value) = kinds {
            group::assert_memory(mpi, comm, &value);
        }
    }
}
