//! `MPI_Gatherv`, `MPI_Gather`, `MPI_Scatterv`, `MPI_Scatter` and their large-count forms: one call with
//! two directions and two ways to say where the blocks lie.

use super::Call;
use super::refusal::Function;
use crate::host::data::blocks::{BlockPlaces, UserBlocks};
use crate::host::data::counts::Count;
use crate::host::data::counts::{Counts, is_alias};
use crate::host::library::abi::{IN_PLACE, MPI_ERR_COUNT, RawHandle};
use crate::host::library::collectives::Collectives;
use crate::host::library::handle::Comm;
use crate::host::library::table::{Host, Mpi};
use crate::host::object::code::Code;
use crate::schedule::Parts;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Where the blocks go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootedOp {
    /// To the root.
    Gather,
    /// From the root.
    Scatter,
}

/// A call of a collective in which one rank has, or gets, the blocks of all.
pub struct Rooted {
    op: RootedOp,
    /// This rank's own block. Not significant at the root if it is in place there.
    buffer: *mut c_void,
    count: Count,
    datatype: RawHandle,
    /// The blocks of all ranks. Significant at the root only.
    all: *mut c_void,
    counts: Counts,
    all_datatype: RawHandle,
    root: c_int,
    comm: RawHandle,
}

impl Rooted {
    /// A call with the arguments as they came: this rank's block (`buffer`, `count`, `datatype`) and
    /// those of all ranks (`all`, `counts`, `all_datatype`).
    ///
    /// # Safety
    /// The caller keeps the contract of the MPI function (MPI 4.1, sections 6.5 and 6.6): if the
    /// arguments that are significant on this rank are valid, the buffers are good for the elements
    /// they name, and the arrays for one entry per rank, until the call returns.
    pub unsafe fn new(
        op: RootedOp,
        (buffer, count, datatype): (*const c_void, Count, RawHandle),
        (all, counts, all_datatype): (*const c_void, Counts, RawHandle),
        root: c_int,
        comm: RawHandle,
    ) -> Rooted {
        Rooted {
            op,
            buffer: buffer.cast_mut(),
            count,
            datatype,
            all: all.cast_mut(),
            counts,
            all_datatype,
            root,
            comm,
        }
    }

    /// Where the blocks go.
    pub fn op(&self) -> RootedOp {
        self.op
    }

    /// Do all ranks know the size of all blocks, as in `MPI_Gather` and `MPI_Scatter`?
    pub fn is_regular(&self) -> bool {
        matches!(self.counts, Counts::Regular(_))
    }

    /// The root, unless it is not one of `p` ranks.
    pub fn root(&self, p: u32) -> Option<u32> {
        u32::try_from(self.root).ok().filter(|&root| root < p)
    }

    fn function(&self) -> Function {
        match (self.op, self.is_regular()) {
            (RootedOp::Gather, true) => Function::Gather,
            (RootedOp::Gather, false) => Function::Gatherv,
            (RootedOp::Scatter, true) => Function::Scatter,
            (RootedOp::Scatter, false) => Function::Scatterv,
        }
    }

    /// Is the block of this rank in place, though this is not the root?
    pub fn is_misplaced(&self, is_root: bool) -> bool {
        self.in_place() && !is_root
    }

    /// Is the block of this rank, the root, where it belongs already?
    fn in_place(&self) -> bool {
        ptr::eq(self.buffer, IN_PLACE)
    }

    /// Bytes of this rank's block by its own account; `None` if the count or the type is invalid.
    pub fn own_bytes(&self, mpi: &Mpi, is_root: bool) -> Option<u64> {
        let (count, datatype) = match is_root && self.in_place() {
            true => (self.counts.checked(self.root as u32)?, self.all_datatype),
            false => (self.count.get()?, self.datatype),
        };
        let datatype = datatype.as_datatype(mpi)?;
        mpi.type_size(datatype).ok()?.checked_mul(count)
    }

    /// States the bytes of all blocks, at the root; `None` if an argument is invalid.
    pub fn parts(&self, mpi: &Mpi, p: u32, parts: &mut Parts) -> Option<()> {
        let datatype = self.all_datatype.as_datatype(mpi)?;
        let size = mpi.type_size(datatype).ok()?;
        (!ptr::eq(self.all, IN_PLACE)).then_some(())?;
        self.counts.parts(p, size, parts)
    }

    /// This rank's own block in the user's memory; `None` if there are no bytes in it or it is in
    /// place. An error if the host refuses it; those without data only if the host looks at their type.
    pub fn own_block(&self, mpi: &Mpi, private: Comm) -> Result<Option<UserBlocks<'static>>, Code> {
        let count = self.count.get().filter(|_| !self.in_place());
        let Some((count, datatype)) = count.zip(self.datatype.as_datatype(mpi)) else {
            return Ok(None);
        };
        let layout = match mpi.layout(datatype, private) {
            Err(_) if count == 0 && !mpi.refuses_own_type(self.function(), self.datatype) => {
                return Ok(None);
            }
            layout => layout?,
        };
        if count == 0 || layout.size == 0 {
            return Ok(None);
        }
        UserBlocks::new(
            mpi,
            self.buffer.cast(),
            datatype,
            layout,
            BlockPlaces::One(count),
        )
        .map(Some)
    }

    /// The blocks of all ranks in the user's memory; `None` if there are no bytes in them. Errors are as with
    /// `own_block`.
    pub fn all_blocks<'a>(
        &self,
        mpi: &Mpi,
        private: Comm,
        parts: &'a Parts,
    ) -> Result<Option<UserBlocks<'a>>, Code> {
        let Some(datatype) = self.all_datatype.as_datatype(mpi) else {
            return Ok(None);
        };
        let layout = match mpi.layout(datatype, private) {
            Err(_) if parts.total() == 0 && !self.refuses_all_type(mpi) => return Ok(None),
            layout => layout?,
        };
        if parts.total() == 0 {
            return Ok(None);
        }
        let places = BlockPlaces::Many(self.counts, parts);
        UserBlocks::new(mpi, self.all.cast(), datatype, layout, places).map(Some)
    }

    fn refuses_all_type(&self, mpi: &Mpi) -> bool {
        mpi.refuses_all_type(self.function(), self.all_datatype, self.in_place())
    }

    /// Is the type of all blocks invalid, and the host would not notice? It would carry the call out, without the other
    /// ranks.
    #[cold]
    pub fn is_overlooked(&self, mpi: &Mpi, private: Comm) -> bool {
        let datatype = self.all_datatype.as_datatype(mpi);
        let is_valid = datatype.is_some_and(|datatype| mpi.layout(datatype, private).is_ok());
        !is_valid && !self.refuses_all_type(mpi)
    }

    /// Does the host refuse the root's own block, of so many bytes, because it lies where it belongs but is not said to
    /// be in place?
    pub fn is_refused_alias(&self, mpi: &Mpi, bytes: u64) -> bool {
        let Some(count) = self.count.get().filter(|&n| n > 0 && bytes > 0) else {
            return false;
        };
        let (root, size) = (self.root as u32, bytes / count);
        is_alias(self.buffer, self.all, &self.counts, root, size)
            && self.datatype.datatype() == self.all_datatype.datatype()
            && mpi.refuses_aliases(self.function())
    }
}

impl Call for Rooted {
    #[inline]
    fn raw_comm(&self) -> RawHandle {
        self.comm
    }

    fn pass(&self, host: &Host) -> c_int {
        match self.op {
            RootedOp::Gather => self.pass_gather(&host.own),
            RootedOp::Scatter => self.pass_scatter(&host.own),
        }
    }

    #[inline]
    fn given_root(&self) -> c_int {
        self.root
    }

    #[inline]
    fn words(&self) -> Option<[u64; 3]> {
        // Some are significant at the root alone.
        None
    }

    fn is_of_predefined(&self, _mpi: &Mpi) -> bool {
        false
    }
}

impl Rooted {
    fn pass_gather(&self, own: &Collectives) -> c_int {
        let (from, own_type, to, all_type) =
            (self.buffer, self.datatype, self.all, self.all_datatype);
        let (root, comm) = (self.root, self.comm);
        // SAFETY: these are the caller's own arguments, and whoever made the call vouched for them.
        unsafe {
            match (self.count, self.counts) {
                (Count::Int(n), Counts::Int(counts, displs)) => {
                    (own.gatherv)(from, n, own_type, to, counts, displs, all_type, root, comm)
                }
                (Count::Large(n), Counts::Large(counts, displs)) => {
                    (own.gatherv_large)(from, n, own_type, to, counts, displs, all_type, root, comm)
                }
                (Count::Int(n), Counts::Regular(Count::Int(all_n))) => {
                    (own.gather)(from, n, own_type, to, all_n, all_type, root, comm)
                }
                (Count::Large(n), Counts::Regular(Count::Large(all_n))) => {
                    (own.gather_large)(from, n, own_type, to, all_n, all_type, root, comm)
                }
                // A call is of one form as a whole.
                _ => MPI_ERR_COUNT as c_int,
            }
        }
    }

    fn pass_scatter(&self, own: &Collectives) -> c_int {
        let (from, all_type, to, own_type) =
            (self.all, self.all_datatype, self.buffer, self.datatype);
        let (root, comm) = (self.root, self.comm);
        // SAFETY: as in `pass_gather`.
        unsafe {
            match (self.count, self.counts) {
                (Count::Int(n), Counts::Int(counts, displs)) => {
                    (own.scatterv)(from, counts, displs, all_type, to, n, own_type, root, comm)
                }
                (Count::Large(n), Counts::Large(counts, displs)) => (own.scatterv_large)(
                    from, counts, displs, all_type, to, n, own_type, root, comm,
                ),
                (Count::Int(n), Counts::Regular(Count::Int(all_n))) => {
                    (own.scatter)(from, all_n, all_type, to, n, own_type, root, comm)
                }
                (Count::Large(n), Counts::Regular(Count::Large(all_n))) => {
                    (own.scatter_large)(from, all_n, all_type, to, n, own_type, root, comm)
                }
                // A call is of one form as a whole.
                _ => MPI_ERR_COUNT as c_int,
            }
        }
    }
}
