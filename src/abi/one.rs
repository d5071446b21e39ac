//! What the front of the library for every MPI (`src/one/front.c`) asks of each core: which one fits, and that the job
//! begins.

use crate::coll;
use crate::host::{self, Abi};
use std::ffi::c_int;

/// The ABI of the MPI library of this process, by its place in the front's tables; -1: there is none, or several,
/// of which none is initialised.
#[unsafe(no_mangle)]
pub extern "C" fn rondo_one_abi() -> c_int {
    match host::abi_of_process() {
        None => -1,
        // Any core passes all calls on; this one says why.
        Some(Abi::Later | Abi::Unknown) => Abi::Standard as c_int,
        Some(abi @ (Abi::OpenMpi | Abi::Mpich | Abi::Standard | Abi::Smpi)) => abi as c_int,
    }
}

/// The job begins: `MPI_Init` has come back. Gives the code to return.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn rondo_one_begin() -> c_int {
    coll::begin("MPI_Init")
}
