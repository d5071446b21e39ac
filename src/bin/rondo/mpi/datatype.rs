//! The datatypes of the tool's calls.

#![allow(unsafe_code, reason = "functions in C make and free them")]

use super::{Mpi, Op, checked, load::Loaded, load::function};
use crate::Failure;
use rondo::host::raw::{Handles, MPI_Datatype};
use std::ffi::c_int;

/// A datatype of bytes, or of numbers that reductions join.
pub struct Datatype<'a> {
    pub(super) handle: MPI_Datatype,
    mpi: &'a Mpi,
    /// Is it to be freed? Not if it is MPI's own.
    made: bool,
    /// Bytes of data in an element.
    pub size: usize,
    /// Bytes of memory from an element to the next.
    pub extent: usize,
}

impl Mpi {
    /// A byte.
    pub fn byte(&self) -> Datatype<'_> {
        Datatype {
            handle: self.loaded.handles.byte,
            mpi: self,
            made: false,
            size: 1,
            extent: 1,
        }
    }

    /// Eight bytes with gaps: twice four bytes of data and four of nothing.
    pub fn vector(&self) -> Result<Datatype<'_>, Failure> {
        type Vector = unsafe extern "C-unwind" fn(
            c_int,
            c_int,
            c_int,
            MPI_Datatype,
            *mut MPI_Datatype,
        ) -> c_int;
        type Resized =
            unsafe extern "C-unwind" fn(MPI_Datatype, isize, isize, *mut MPI_Datatype) -> c_int;
        let vector = function!(self.library, c"PMPI_Type_vector", Vector);
        let resized = function!(self.library, c"PMPI_Type_create_resized", Resized);
        let Loaded {
            functions, handles, ..
        } = &self.loaded;
        let (mut strided, mut handle) = (handles.datatype_null, handles.datatype_null);
        // SAFETY: the handles are a predefined type and what the calls before returned; MPI_Aint has the size of a
        // pointer.
        unsafe {
            checked(
                vector(2, 4, 8, handles.byte, &mut strided),
                "MPI_Type_vector",
            )?;
            checked(
                resized(strided, 0, 16, &mut handle),
                "MPI_Type_create_resized",
            )?;
            checked((functions.type_free)(&mut strided), "MPI_Type_free")?;
            checked((functions.type_commit)(&mut handle), "MPI_Type_commit")?;
        }
        Ok(Datatype {
            handle,
            mpi: self,
            made: true,
            size: 8,
            extent: 16,
        })
    }

    /// The elements that an operator joins.
    pub fn elements(&self, op: Op) -> Datatype<'_> {
        let Handles { byte, double, .. } = self.loaded.handles;
        Datatype {
            handle: match op {
                Op::Xor => byte,
                // Words as well: the host only moves them.
                Op::Sum | Op::Ordered => double,
            },
            mpi: self,
            made: false,
            size: op.bytes(),
            extent: op.bytes(),
        }
    }
}

impl Drop for Datatype<'_> {
    fn drop(&mut self) {
        if self.made {
            // SAFETY: the type is committed and freed once; MPI is not finalised, as `Mpi` outlives the type.
            unsafe { (self.mpi.loaded.functions.type_free)(&mut self.handle) };
        }
    }
}
