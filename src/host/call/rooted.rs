//! `MPI_Gatherv`, `MPI_Gather`, `MPI_Scatterv`, `MPI_Scatter` and their large-count forms: one call with
//! two directions and two ways to say where the blocks lie.

use super::Call;
use super::refusal::{Function, is_place_refused};
use crate::host::data::blocks::{BlockPlaces, UserBlocks};
use crate::host::data::counts::Count;
use crate::host::data::counts::{Counts, is_alias};
use crate::host::library::abi::{IN_PLACE, MPI_ERR_COUNT, RawHandle};
use crate::host::library::collectives::Collectives;
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
        self.counts.parts(p, size, parts)
    }

    /// This rank's own block in the user's memory; `None` if there are no bytes in it or it is in place.
    pub fn own_block(&self, mpi: &Mpi) -> Result<Option<UserBlocks<'static>>, Code> {
        let count = self.count.get().filter(|&n| n > 0 && !self.in_place());
        let Some((count, datatype)) = count.zip(self.datatype.as_datatype(mpi)) else {
            return Ok(None);
        };
        let layout = mpi.layout(datatype)?;
        if layout.size == 0 {
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

    /// The blocks of all ranks in the user's memory; `None` if there are no bytes in them.
    pub fn all_blocks<'a>(
        &self,
        mpi: &Mpi,
        parts: &'a Parts,
    ) -> Result<Option<UserBlocks<'a>>, Code> {
        let all = self.all_datatype.as_datatype(mpi);
        let Some(datatype) = all.filter(|_| parts.total() > 0) else {
            return Ok(None);
        };
        let layout = mpi.layout(datatype)?;
        let places = BlockPlaces::Many(self.counts, parts);
        UserBlocks::new(mpi, self.all.cast(), datatype, layout, places).map(Some)
    }

    /// Does the host refuse this rank's own block?
    fn is_own_refused(&self, mpi: &Mpi, is_root: bool) -> bool {
        if self.in_place() {
            return !is_root;
        }
        let (Some(count), Some(_)) = (self.count.get(), self.datatype.as_datatype(mpi)) else {
            return true;
        };
        match self.datatype.is_committed(mpi) {
            true => mpi.is_nowhere(self.buffer, self.datatype, count),
            false => count > 0 || mpi.refuses_own_type(self.function(), self.datatype),
        }
    }

    /// Does the host refuse the blocks of all at the root? A host that does not look at their type would carry the call
    /// out without the other ranks, if their type is none: such a call is not its.
    fn are_all_refused(&self, mpi: &Mpi, root: u32, p: u32) -> bool {
        let Some(total) = self.counts.total(p) else {
            return true;
        };
        if ptr::eq(self.all, IN_PLACE) && is_place_refused(total) {
            return true;
        }
        if !self.all_datatype.is_committed(mpi) {
            return mpi.refuses_all_type(self.function(), self.all_datatype, self.in_place());
        }
        (self.all.is_null() && mpi.is_any_nowhere(&self.counts, self.all_datatype, p))
            || self.is_alias_refused(mpi, root)
    }

    /// Does the host refuse the root's own block because it lies where it belongs, but is not said to be in place?
    fn is_alias_refused(&self, mpi: &Mpi, root: u32) -> bool {
        let known = self.all_datatype.as_datatype(mpi);
        let size = known.and_then(|known| mpi.type_size(known).ok());
        let size = size.unwrap_or(0);
        let has_bytes = size > 0 && self.counts.count(root) != Some(0);
        has_bytes
            && self.datatype.datatype() == self.all_datatype.datatype()
            && is_alias(self.buffer, self.all, &self.counts, root, size)
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

    fn is_refused(&self, mpi: &Mpi, rank: u32, p: u32) -> bool {
        let Some(root) = self.root(p) else {
            return true;
        };
        let is_root = root == rank;
        self.is_own_refused(mpi, is_root) || (is_root && self.are_all_refused(mpi, root, p))
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
