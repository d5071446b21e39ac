//! `MPI_Bcast` and `MPI_Bcast_c`.

use super::Call;
use super::refusal::is_place_refused;
use crate::host::data::counts::Count;
use crate::host::data::data::{Areas, Data, Packed};
use crate::host::data::elements::Elements;
use crate::host::data::layout::Layout;
use crate::host::library::abi::{IN_PLACE, RawHandle};
use crate::host::library::gpu::may_be_foreign;
use crate::host::library::table::{Host, Mpi};
use crate::host::object::attr::Datatype;
use crate::host::object::code::Code;
use std::ffi::{c_int, c_void};
use std::ptr;

/// A call of `MPI_Bcast` or `MPI_Bcast_c`.
pub struct Bcast {
    buffer: *mut c_void,
    count: Count,
    datatype: RawHandle,
    root: c_int,
    comm: RawHandle,
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
        datatype: RawHandle,
        root: c_int,
        comm: RawHandle,
    ) -> Bcast {
        Bcast {
            buffer,
            count,
            datatype,
            root,
            comm,
        }
    }

    /// The datatype, unless it cannot be one.
    pub fn datatype(&self, mpi: &Mpi) -> Option<Datatype> {
        self.datatype.as_datatype(mpi)
    }

    /// The root, unless it is not one of `p` ranks.
    pub fn root(&self, p: u32) -> Option<u32> {
        u32::try_from(self.root).ok().filter(|&root| root < p)
    }

    /// The count, unless it is negative.
    pub fn count(&self) -> Option<u64> {
        self.count.get()
    }

    /// The message in the user's buffer. If the processor `touches` it, it is not used in place where it cannot.
    pub fn data(
        &self,
        mpi: &Mpi,
        datatype: Datatype,
        layout: Layout,
        touches: bool,
    ) -> Result<Data<'static>, Code> {
        let (buffer, count): (*mut u8, _) = (self.buffer.cast(), self.count().unwrap_or(0));
        if let Some(offset) = layout.contiguous(count)
            && (!touches || !may_be_foreign())
        {
            return Ok(Data::Run(buffer.wrapping_offset(offset as isize)));
        }
        packed(mpi, buffer, count, datatype, layout).map(Data::Packed)
    }
}

fn packed(
    mpi: &Mpi,
    buffer: *mut u8,
    count: u64,
    datatype: Datatype,
    layout: Layout,
) -> Result<Packed<'static>, Code> {
    let (elements, buffer) = Elements::new(mpi, buffer, datatype, layout)?;
    Packed::new(elements, Areas::One(buffer, count), count * layout.size)
}

impl Call for Bcast {
    #[inline]
    fn raw_comm(&self) -> RawHandle {
        self.comm
    }

    fn pass(&self, host: &Host) -> c_int {
        let &Bcast {
            buffer,
            count,
            datatype,
            root,
            comm,
            ..
        } = self;
        // SAFETY: these are the caller's own arguments, and whoever made the call vouched for them.
        unsafe {
            match count {
                Count::Int(count) => (host.own.bcast)(buffer, count, datatype, root, comm),
                Count::Large(count) => (host.own.bcast_large)(buffer, count, datatype, root, comm),
            }
        }
    }

    #[inline]
    fn given_root(&self) -> c_int {
        self.root
    }

    #[inline]
    fn words(&self) -> Option<[u64; 3]> {
        Some([self.count.bits(), self.datatype.bits(), 0])
    }

    fn is_of_predefined(&self, mpi: &Mpi) -> bool {
        self.datatype.is_predefined_type(mpi)
    }

    /// There is nothing that a broadcast could have in place.
    fn is_refused(&self, mpi: &Mpi, _rank: u32, p: u32) -> bool {
        let (Some(_), Some(count)) = (self.root(p), self.count()) else {
            return true;
        };
        (ptr::eq(self.buffer, IN_PLACE) && is_place_refused(count))
            || !self.datatype.is_committed(mpi)
            || mpi.is_nowhere(self.buffer, self.datatype, count)
    }

    fn is_refused_by_rest(&self, mpi: &Mpi, rank: u32, p: u32) -> bool {
        // That is the buffer alone.
        let is_none = self.buffer.is_null() || ptr::eq(self.buffer, IN_PLACE);
        is_none && self.is_refused(mpi, rank, p)
    }
}
