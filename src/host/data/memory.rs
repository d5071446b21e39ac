//! Whose memory an address is in, and copying between memories. The processor may not touch the memory of a GPU. What
//! is the user's, and is not sent or received by the host, is copied here.

use super::elements::{Chunk, PACK_BYTES, self_message};
use crate::host::library::devices::{Devices, cuda, devices, hip, level_zero};
use crate::host::library::driver::Context;
use crate::host::library::handle::Comm;
use crate::host::library::table::{Mpi, host};
use crate::host::object::code::Code;
use crate::report;
use std::ptr;

/// Whose memory an address is in.
enum Owner {
    /// The processor may touch it.
    Processor,
    /// CUDA's, of this context.
    Cuda(Context),
    /// HIP's.
    Hip,
    /// Level Zero's, or perhaps a GPU's: the host copies.
    Host,
}

/// Asks the drivers.
#[cold]
fn owner(address: *const u8) -> Owner {
    if let Some(context) = cuda().and_then(|cuda| cuda.owns(address)) {
        return Owner::Cuda(context);
    }
    if hip().is_some_and(|hip| hip.owns(address)) {
        return Owner::Hip;
    }
    // A driver that cannot tell yet may own it.
    if level_zero().is_some_and(|driver| driver.owns(address).unwrap_or(true)) {
        return Owner::Host;
    }
    match devices() {
        Devices::Unknown => Owner::Host,
        Devices::Known | Devices::None => Owner::Processor,
    }
}

/// May this address be in memory that the processor cannot touch? Where no driver is loaded, a word is read, no more.
#[inline]
pub(in crate::host) fn is_foreign(address: *const u8) -> bool {
    devices() != Devices::None && !matches!(owner(address), Owner::Processor)
}

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
    if devices() == Devices::None {
        // SAFETY: the caller's contract; without a driver all memory is the processor's.
        unsafe { ptr::copy(from, to, bytes) };
        return Ok(());
    }
    // SAFETY: the caller's contract.
    unsafe { copy_between(mpi, comm, from, to, bytes) }
}

/// # Safety
/// As for [`copy`].
#[cold]
unsafe fn copy_between(
    mpi: &Mpi,
    comm: Comm,
    from: *const u8,
    to: *mut u8,
    bytes: usize,
) -> Result<(), Code> {
    if bytes == 0 || ptr::eq(from, to) {
        return Ok(());
    }
    // SAFETY: the caller's contract, and what the drivers say of the addresses.
    unsafe {
        match (owner(from), owner(to)) {
            (Owner::Processor, Owner::Processor) => {
                ptr::copy(from, to, bytes);
                Ok(())
            }
            (Owner::Cuda(context), Owner::Cuda(_) | Owner::Processor)
            | (Owner::Processor, Owner::Cuda(context)) => {
                let cuda = cuda().ok_or(Code::intern())?;
                let copied = cuda.copy(context, from, to, bytes);
                copied.map_err(|status| refused("CUDA", 2, bytes, status))
            }
            (Owner::Hip, Owner::Hip | Owner::Processor) | (Owner::Processor, Owner::Hip) => {
                let hip = hip().ok_or(Code::intern())?;
                let copied = hip.copy(from, to, bytes);
                copied.map_err(|status| refused("HIP", 2, bytes, status))
            }
            // Of two kinds, or of a kind that the host copies.
            (Owner::Host | Owner::Cuda(_) | Owner::Hip | Owner::Processor, _) => {
                by_host(mpi, comm, from, to, bytes)
            }
        }
    }
}

/// A driver refuses to copy.
#[cold]
fn refused(driver: &str, no_memory: i32, bytes: usize, status: i32) -> Code {
    let line = format!("{driver} did not copy {bytes} bytes of a call's data: error {status}");
    report::line(host().world_rank(), &line);
    match status == no_memory {
        true => Code::no_mem(),
        false => Code::intern(),
    }
}

/// Has the host copy, which can reach such memory, or the program could not use it with MPI.
///
/// # Safety
/// As for [`copy`].
unsafe fn by_host(
    mpi: &Mpi,
    comm: Comm,
    from: *const u8,
    to: *mut u8,
    bytes: usize,
) -> Result<(), Code> {
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
