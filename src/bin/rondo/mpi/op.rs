//! The operators of the tool's reductions.

#![allow(unsafe_code, reason = "MPI calls an operator by a function in C")]

use super::{Mpi, checked, load::function};
use crate::Failure;
use clap::ValueEnum;
use rondo::host::raw::{Handles, MPI_Datatype, MPI_Op};
use std::ffi::{c_int, c_void};

/// What a reduction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Op {
    /// Joins bytes by `MPI_BXOR`, which gives the same in every order.
    Xor,
    /// Adds doubles by `MPI_SUM`, whose last bits depend on the order.
    Sum,
    /// Joins words by an operator of the tool's own, which does not commute.
    Ordered,
}

impl Op {
    pub fn name(self) -> &'static str {
        match self {
            Op::Xor => "xor",
            Op::Sum => "sum",
            Op::Ordered => "ordered",
        }
    }

    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            Op::Xor => 1,
            Op::Sum | Op::Ordered => size_of::<u64>(),
        }
    }
}

/// The operator that does not commute. A word is a map x -> a x + b of 32 bits, with a in its upper half and b in the
/// lower one, and this is the map that is `right` first and then `left`.
pub fn join(left: u64, right: u64) -> u64 {
    let [(a, b), (c, d)] = [left, right].map(|map| ((map >> 32) as u32, map as u32));
    let (factor, rest) = (a.wrapping_mul(c), a.wrapping_mul(d).wrapping_add(b));
    u64::from(factor) << 32 | u64::from(rest)
}

/// The same as MPI calls it: the right operands become the results.
unsafe extern "C" fn join_all(
    left: *mut c_void,
    right: *mut c_void,
    count: *mut c_int,
    _: *mut MPI_Datatype,
) {
    let (left, right) = (left.cast::<u64>(), right.cast::<u64>());
    // SAFETY: MPI hands over so many elements of the type that the call was made with, for which this tool takes
    // doubles (`Mpi::elements`), as large as words.
    unsafe {
        for i in 0..*count as usize {
            let joined = join(left.add(i).read_unaligned(), right.add(i).read_unaligned());
            right.add(i).write_unaligned(joined);
        }
    }
}

impl Mpi {
    pub(super) fn op(&self, op: Op) -> MPI_Op {
        match op {
            Op::Xor => self.loaded.handles.ops[Handles::BITS + 2],
            Op::Sum => self.loaded.handles.sum,
            Op::Ordered => self.ordered,
        }
    }

    /// Makes the operator that does not commute, once.
    pub(super) fn make_ordered(&mut self) -> Result<(), Failure> {
        type Function =
            unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut MPI_Datatype);
        type Create = unsafe extern "C-unwind" fn(Function, c_int, *mut MPI_Op) -> c_int;
        let create = function!(self.library, c"PMPI_Op_create", Create);
        // SAFETY: MPI is initialised; the function has the type that MPI_Op_create wants, and is there to the end.
        checked(
            unsafe { create(join_all, 0, &mut self.ordered) },
            "MPI_Op_create",
        )
    }

    /// Reduces elements into others, on this rank, by the MPI library.
    pub fn reduce_local(&self, op: Op, operand: &[u8], result: &mut [u8]) -> Result<(), Failure> {
        assert_eq!(operand.len(), result.len());
        let elements = self.elements(op);
        let count = c_int::try_from(result.len() / elements.size).expect("as many as a call has");
        let reduce = self.loaded.functions.reduce_local;
        // SAFETY: both have as many elements, and do not overlap, as one of them is borrowed alone; the handles are
        // MPI's own while `self` lives.
        let code = unsafe {
            let (from, to) = (operand.as_ptr().cast(), result.as_mut_ptr().cast());
            reduce(from, to, count, elements.handle, self.op(op))
        };
        checked(code, "MPI_Reduce_local")
    }
}
