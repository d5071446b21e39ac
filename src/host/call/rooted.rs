//! `MPI_Gatherv`, `MPI_Gather`, `MPI_Scatterv`, `MPI_Scatter` and their large-count forms: one call with
//! two directions and two ways to say where the blocks lie.

use super::Call;
use super::refusal::Function;
use crate::host::data::blocks::{Blocks, Places};
use crate::host::data::counts::Count;
use crate::host::data::counts::{Counts, is_alias};
use crate::host::library::abi::{IN_PLACE, MPI_ERR_COUNT, Word};
use crate::host::library::handle::Comm;
use crate::host::library::table::{Host, Usable};
use crate::host::object::code::Code;
use crate::schedule::Parts;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Where the blocks go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the root.
    Gather,
    /// From the root.
    Scatter,
}

/// A call of a collective in which one rank has, or gets, the blocks of all.
pub struct Rooted {
    way: Way,
    /// This rank's own block. Not significant at the root if it is in place there.
    buffer: *mut c_void,
    count: Count,
    datatype: Word,
    /// The blocks of all ranks. Significant at the root only.
    all: *mut c_void,
    counts: Counts,
    all_datatype: Word,
    root: c_int,
    comm: Word,
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
        way: Way,
        (buffer, count, datatype): (*const c_void, Count, Word),
        (all, counts, all_datatype): (*const c_void, Counts, Word),
        root: c_int,
        comm: Word,
    ) -> Rooted {
        Rooted {
            way,
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
    pub fn way(&self) -> Way {
        self.way
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
        match (self.way, self.is_regular()) {
            (Way::Gather, true) => Function::Gather,
            (Way::Gather, false) => Function::Gatherv,
            (Way::Scatter, true) => Function::Scatter,
            (Way::Scatter, false) => Function::Scatterv,
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
    pub fn own_bytes(&self, host: &Usable, is_root: bool) -> Option<u64> {
        let (count, datatype) = match is_root && self.in_place() {
            true => (self.counts.checked(self.root as u32)?, self.all_datatype),
            false => (self.count.get()?, self.datatype),
        };
        let datatype = datatype.as_datatype(host)?;
        host.type_size(datatype).ok()?.checked_mul(count)
    }

    /// States the bytes of all blocks, at the root; `None` if an argument is invalid.
    pub fn parts(&self, host: &Usable, p: u32, parts: &mut Parts) -> Option<()> {
        let datatype = self.all_datatype.as_datatype(host)?;
        let size = host.type_size(datatype).ok()?;
        (!ptr::eq(self.all, IN_PLACE)).then_some(())?;
        self.counts.parts(p, size, parts)
    }

    /// This rank's own block in the user's memory; `None` if there are no bytes in it or it is in
    /// place. An error if the host refuses it; those without data only if the host looks at their type.
    pub fn own_block(&self, host: &Usable, private: Comm) -> Result<Option<Blocks<'static>>, Code> {
        let count = self.count.get().filter(|_| !self.in_place());
        let Some((count, datatype)) = count.zip(self.datatype.as_datatype(host)) else {
            return Ok(None);
        };
        let layout = match host.layout(datatype, private) {
            Err(_) if count == 0 && !host.refuses_own_type(self.function(), self.datatype) => {
                return Ok(None);
            }
            layout => layout?,
        };
        if count == 0 || layout.size == 0 {
            return Ok(None);
        }
        Blocks::new(
            host,
            self.buffer.cast(),
            datatype,
            layout,
            Places::One(count),
        )
        .map(Some)
    }

    /// The blocks of all ranks in the user's memory; `None` if there are no bytes in them. Errors are as with `own_block`.
    pub fn all_blocks<'a>(
        &self,
        host: &Usable,
        private: Comm,
        parts: &'a Parts,
    ) -> Result<Option<Blocks<'a>>, Code> {
        let Some(datatype) = self.all_datatype.as_datatype(host) else {
            return Ok(None);
        };
        let layout = match host.layout(datatype, private) {
            Err(_) if parts.total() == 0 && !self.refuses_all_type(host) => return Ok(None),
            layout => layout?,
        };
        if parts.total() == 0 {
            return Ok(None);
        }
        let places = Places::Many(self.counts, parts);
        Blocks::new(host, self.all.cast(), datatype, layout, places).map(Some)
    }

    fn refuses_all_type(&self, host: &Usable) -> bool {
        host.refuses_all_type(self.function(), self.all_datatype, self.in_place())
    }

    /// Is the type of all blocks invalid, and the host would not notice? It would carry the call out, without the other ranks.
    #[cold]
    pub fn is_overlooked(&self, host: &Usable, private: Comm) -> bool {
        let datatype = self.all_datatype.as_datatype(host);
        let is_valid = datatype.is_some_and(|datatype| host.layout(datatype, private).is_ok());
        !is_valid && !self.refuses_all_type(host)
    }

    /// Does the host refuse the root's own block, of so many bytes, because it lies where it belongs but is not said to be in place?
    pub fn is_refused_alias(&self, host: &Usable, bytes: u64) -> bool {
        let Some(count) = self.count.get().filter(|&n| n > 0 && bytes > 0) else {
            return false;
        };
        let (root, size) = (self.root as u32, bytes / count);
        is_alias(self.buffer, self.all, &self.counts, root, size)
            && self.datatype.datatype() == self.all_datatype.datatype()
            && host.refuses_aliases(self.function())
    }
}

impl Call for Rooted {
    fn comm(&self, host: &Usable) -> Option<Comm> {
        self.comm.as_comm(host)
    }

    fn pass(&self, host: &Host) -> c_int {
        let &Rooted {
            buffer,
            count,
            datatype,
            all,
            counts,
            all_datatype,
            root,
            comm,
            ..
        } = self;
        let own = &host.own;
        // A large count without a large function: only with a library built for another MPI, which has
        // said so.
        let none = MPI_ERR_COUNT as c_int;
        // SAFETY: these are the caller's own arguments, and whoever made the call vouched for them.
        unsafe {
            match (self.way, count, counts) {
                (Way::Gather, Count::Int(n), Counts::Int(counts, displs)) => (own.gatherv)(
                    buffer,
                    n,
                    datatype,
                    all,
                    counts,
                    displs,
                    all_datatype,
                    root,
                    comm,
                ),
                (Way::Gather, Count::Large(n), Counts::Large(counts, displs)) => {
                    own.gatherv_large.map_or(none, |f| {
                        f(
                            buffer,
                            n,
                            datatype,
                            all,
                            counts,
                            displs,
                            all_datatype,
                            root,
                            comm,
                        )
                    })
                }
                (Way::Gather, Count::Int(n), Counts::Regular(Count::Int(all_n))) => {
                    (own.gather)(buffer, n, datatype, all, all_n, all_datatype, root, comm)
                }
                (Way::Gather, Count::Large(n), Counts::Regular(Count::Large(all_n))) => {
                    own.gather_large.map_or(none, |f| {
                        f(buffer, n, datatype, all, all_n, all_datatype, root, comm)
                    })
                }
                (Way::Scatter, Count::Int(n), Counts::Int(counts, displs)) => (own.scatterv)(
                    all,
                    counts,
                    displs,
                    all_datatype,
                    buffer,
                    n,
                    datatype,
                    root,
                    comm,
                ),
                (Way::Scatter, Count::Large(n), Counts::Large(counts, displs)) => {
                    own.scatterv_large.map_or(none, |f| {
                        f(
                            all,
                            counts,
                            displs,
                            all_datatype,
                            buffer,
                            n,
                            datatype,
                            root,
                            comm,
                        )
                    })
                }
                (Way::Scatter, Count::Int(n), Counts::Regular(Count::Int(all_n))) => {
                    (own.scatter)(all, all_n, all_datatype, buffer, n, datatype, root, comm)
                }
                (Way::Scatter, Count::Large(n), Counts::Regular(Count::Large(all_n))) => {
                    own.scatter_large.map_or(none, |f| {
                        f(all, all_n, all_datatype, buffer, n, datatype, root, comm)
                    })
                }
                _ => unreachable!("no function has both kinds of counts"),
            }
        }
    }
}
