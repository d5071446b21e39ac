//! Starting messages: the only place that calls the host's functions for it.

use crate::host::data::elements::Chunk;
use crate::host::library::handle::Comm;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::host::object::code::check;
use crate::host::object::failure::{Failure, at};
use std::ffi::c_int;

/// Whose message it is, or for whom, and by what it is known.
#[derive(Clone, Copy)]
pub struct Envelope {
    pub rank: u32,
    pub tag: c_int,
    pub comm: Comm,
}

impl Mpi {
    /// So many bytes in a row.
    pub(in crate::host) fn bytes_at(&self, address: *mut u8, bytes: u64) -> Chunk {
        Chunk {
            address,
            count: bytes as c_int,
            datatype: self.h.byte,
        }
    }

    /// Starts sending a chunk, and waits in the end until it is being received if it is `synchronous`.
    ///
    /// # Safety
    /// The memory of the chunk can be read, and nothing writes to it, until the request is complete. Its bytes fit an
    /// `int`.
    #[inline]
    pub(in crate::host) unsafe fn start_send(
        &self,
        chunk: Chunk,
        to: Envelope,
        synchronous: bool,
    ) -> Result<sys::MPI_Request, Failure> {
        let mut request = self.h.request_null;
        let send = match synchronous {
            true => self.f.issend,
            false => self.f.isend,
        };
        // SAFETY: the caller's contract; the host checks the other arguments.
        check(unsafe {
            send(
                chunk.address.cast_const().cast(),
                chunk.count,
                chunk.datatype,
                to.rank as c_int,
                to.tag,
                to.comm.0,
                &mut request,
            )
        })
        .map_err(at("sending"))?;
        Ok(request)
    }

    /// Starts receiving a chunk.
    ///
    /// # Safety
    /// The memory of the chunk can be written to, and nothing else touches it, until the request is complete. Its bytes
    /// fit an `int`.
    #[inline]
    pub(in crate::host) unsafe fn start_receive(
        &self,
        chunk: Chunk,
        from: Envelope,
    ) -> Result<sys::MPI_Request, Failure> {
        let mut request = self.h.request_null;
        // SAFETY: the caller's contract; the host checks the other arguments.
        check(unsafe {
            (self.f.irecv)(
                chunk.address.cast(),
                chunk.count,
                chunk.datatype,
                from.rank as c_int,
                from.tag,
                from.comm.0,
                &mut request,
            )
        })
        .map_err(at("receiving"))?;
        Ok(request)
    }
}
