//! Copying between the user's memory and Rondo's, or within the user's.
//!
//! The processor may not touch the memory of a GPU, and only the host can tell which that is. So once this process has
//! a GPU's driver, the host copies, until the ranks have agreed that all calls are its own. One rank alone cannot leave
//! a call to the host; how its data are copied is its own affair. Elements with gaps are packed by the host anyway, and
//! where bytes lie in one run, it sends from and receives into them: it can reach such memory, or the program could not
//! use it with MPI.

use super::elements::{Chunk, PACK_BYTES, self_message};
use crate::host::library::gpu::may_be_foreign;
use crate::host::library::handle::Comm;
use crate::host::library::table::Mpi;
use crate::host::object::code::Code;
use std::ptr;

/// Copies bytes, whosever memory they are in. `comm` is a communicator of Rondo's on which this rank may send itself a
/// message.
///
/// # Safety
/// As many bytes can be read at `from` and written at `to`, by the processor or by a GPU. Nothing else has a part in
/// either. They may overlap in the processor's memory.
#[inline]
pub(in crate::host) unsafe fn copy(
    mpi: &Mpi,
    comm: Comm,
    from: *const u8,
    to: *mut u8,
    bytes: usize,
) -> Result<(), Code> {
    if may_be_foreign() {
        // SAFETY: the caller's contract.
        return unsafe { by_host(mpi, comm, from, to, bytes) };
    }
    // SAFETY: the caller's contract; all memory is the processor's.
    unsafe { ptr::copy(from, to, bytes) };
    Ok(())
}

/// Has the host copy, which can reach such memory, or the program could not use it with MPI.
///
/// # Safety
/// As for [`copy`].
#[cold]
unsafe fn by_host(
    mpi: &Mpi,
    comm: Comm,
    from: *const u8,
    to: *mut u8,
    bytes: usize,
) -> Result<(), Code> {
    if ptr::eq(from, to) {
        return Ok(());
    }
    for at in (0..bytes).step_by(PACK_BYTES as usize) {
        let chunk = |address: *mut u8| Chunk {
            address: address.wrapping_add(at),
            count: (bytes - at).min(PACK_BYTES as usize) as i32,
            datatype: mpi.h.byte,
        };
        // SAFETY: the caller's contract.
        unsafe { self_message(mpi, comm, chunk(from.cast_mut()), chunk(to))? };
    }
    Ok(())
}
