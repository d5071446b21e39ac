//! Starting messages: the only place that calls the host's functions for it.

use super::channel::Channel;
use crate::host::data::elements::Chunk;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::host::object::code::check;
use crate::host::object::failure::{Failure, at};
use std::ffi::c_int;

/// Whose message it is, or for whom, and by what it is known.
#[derive(Clone, Copy)]
pub struct Envelope<'a> {
    pub rank: u32,
    pub tag: c_int,
    pub channel: Channel<'a>,
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
        to: Envelope<'_>,
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
                to.channel.world_rank(to.rank),
                to.tag,
                to.channel.comm.0,
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
        from: Envelope<'_>,
    ) -> Result<sys::MPI_Request, Failure> {
        let mut request = self.h.request_null;
        // SAFETY: the caller's contract; the host checks the other arguments.
        check(unsafe {
            (self.f.irecv)(
                chunk.address.cast(),
                chunk.count,
                chunk.datatype,
                from.channel.world_rank(from.rank),
                from.tag,
                from.channel.comm.0,
                &mut request,
            )
        })
        .map_err(at("receiving"))?;
        Ok(request)
    }
}
