//! The operators of the tool's reductions.

#![forbid(unsafe_code)]

use super::Mpi;
use clap::ValueEnum;
use rondo::host::raw::{Handles, MPI_Datatype, MPI_Op};

/// What a reduction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Op {
    /// Joins bytes by `MPI_BXOR`, which gives the same in every order.
    Xor,
    /// Adds doubles by `MPI_SUM`, whose last bits depend on the order.
    Sum,
}

impl Op {
    pub fn name(self) -> &'static str {
        match self {
            Op::Xor => "xor",
            Op::Sum => "sum",
        }
    }

    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            Op::Xor => 1,
            Op::Sum => size_of::<f64>(),
        }
    }
}

impl Mpi {
    /// What a call joins its elements by, and their datatype: bytes, where it joins nothing.
    pub(super) fn op_and_datatype(&self, op: Option<Op>) -> (MPI_Op, MPI_Datatype) {
        let handles = &self.loaded.handles;
        match op {
            Some(Op::Xor) => (handles.ops[Handles::BITS + 2], handles.byte),
            Some(Op::Sum) => (handles.sum, handles.double),
            None => (handles.op_null, handles.byte),
        }
    }
}
