//! The arguments of an intercepted call, as they came, and the way to the host's own function.

use super::abi::Word;
use super::attr::Datatype;
use super::data::{Data, Packed};
use super::handles::{Code, Comm};
use super::layout::Layout;
use super::table::{Host, Usable};
use mpi_sys as sys;
use std::ffi::{c_int, c_void};

/// Under which of its names a collective was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `MPI_X`: by the program.
    Mpi,
    /// `PMPI_X`: by a Fortran binding of the host, or by a profiler.
    Pmpi,
}

/// A count, and by that the function that was called: `MPI_X` or `MPI_X_c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Of `MPI_X`.
    Int(c_int),
    /// Of `MPI_X_c`.
    Large(i64),
}

/// A call of `MPI_Bcast` or `MPI_Bcast_c`.
pub struct Bcast {
    buffer: *mut c_void,
    count: Count,
    datatype: Word,
    root: c_int,
    comm: Word,
    level: Level,
}

impl Bcast {
    /// A call with the arguments as they came.
    ///
    /// # Safety
    /// The caller keeps the contract of `MPI_Bcast` (MPI 4.1, section 6.4): if the arguments are
    /// valid, the buffer is good for `count` elements of the datatype until the call returns.
    pub unsafe fn new(
        buffer: *mut c_void,
        count: Count,
        datatype: Word,
        root: c_int,
        comm: Word,
        level: Level,
    ) -> Bcast {
        Bcast {
            buffer,
            count,
            datatype,
            root,
            comm,
            level,
        }
    }

    /// By which name it came.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The communicator, unless it cannot be one.
    pub fn comm(&self, host: &Usable) -> Option<Comm> {
        let comm = self.comm.comm();
        host.h.is_comm(comm).then_some(Comm(comm))
    }

    /// The datatype, unless it cannot be one.
    pub fn datatype(&self, host: &Usable) -> Option<Datatype> {
        let datatype = self.datatype.datatype();
        host.h.is_datatype(datatype).then_some(Datatype(datatype))
    }

    /// The root, unless it is not one of `p` ranks.
    pub fn root(&self, p: u32) -> Option<u32> {
        u32::try_from(self.root).ok().filter(|&root| root < p)
    }

    /// The count, unless it is negative.
    pub fn count(&self) -> Option<u64> {
        match self.count {
            Count::Int(count) => u64::try_from(count).ok(),
            Count::Large(count) => u64::try_from(count).ok(),
        }
    }

    /// The message in the user's buffer; `None` if the buffer cannot be one.
    ///
    /// A null buffer is `MPI_BOTTOM`, which is fine for types that carry addresses and an error for
    /// those whose data begin at the buffer's own address.
    pub fn data(
        &self,
        host: &Usable,
        datatype: Datatype,
        layout: Layout,
    ) -> Option<Result<Data, Code>> {
        let count = self.count()?;
        let buffer: *mut u8 = self.buffer.cast();
        match layout.contiguous(count) {
            Some(0) if buffer.is_null() => None,
            Some(offset) => Some(Ok(Data::InPlace(buffer.wrapping_offset(offset as isize)))),
            None => Some(Packed::new(host, buffer, count, datatype, layout).map(Data::Packed)),
        }
    }
}

impl Host {
    /// What Rondo needs of this host, or why it can only pass calls on.
    pub fn usable(&self) -> Result<&Usable, &str> {
        self.usable.as_ref().map_err(String::as_str)
    }

    /// Hands a call to the host, untouched, and gives back what the host returned.
    pub fn bcast(&self, call: &Bcast) -> c_int {
        let &Bcast {
            buffer,
            count,
            datatype,
            root,
            comm,
            ..
        } = call;
        let int = match count {
            Count::Int(count) => Some(count),
            Count::Large(count) => c_int::try_from(count).ok(),
        };
        // SAFETY: these are the caller's own arguments, and whoever made `call` vouched for them.
        unsafe {
            match (count, self.bcast_large, int) {
                (Count::Large(count), Some(f), _) => f(buffer, count, datatype, root, comm),
                (_, _, Some(count)) => (self.bcast)(buffer, count, datatype, root, comm),
                // A large count without a large function: only with a library built for another
                // MPI, which has said so.
                (_, _, None) => sys::MPI_ERR_COUNT as c_int,
            }
        }
    }
}
