//! What the front of the library for every MPI (`src/one/front.c`) asks each core: which one fits.

use crate::host;
use std::ffi::c_int;

/// The ABI of the MPI library of this process, by its place in the front's tables; -1: there is no MPI library.
#[unsafe(no_mangle)]
pub extern "C" fn rondo_one_abi() -> c_int {
    host::abi_of_process().map_or(-1, |abi| abi as c_int)
}
