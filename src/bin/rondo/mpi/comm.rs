//! Communicators of this tool's own.

#![allow(unsafe_code, reason = "functions in C make them")]

use super::{Mpi, address, checked, load::function};
use crate::Failure;
use rondo::{
    collective::Collective,
    host::{RawHandle, raw::MPI_Comm},
    rules::{File, Rule},
};
use std::ffi::{CString, c_char, c_int};

/// All ranks once more, for collectives by rules of their own.
pub struct Comm<'a> {
    handle: MPI_Comm,
    mpi: &'a Mpi,
}

/// Who carries a call out, or may do so.
#[derive(Clone, Copy)]
pub enum Side<'a> {
    /// The MPI library.
    Host,
    /// Rondo, which may pass the call on.
    Rondo,
    /// Rondo by the rules that were given it for a communicator.
    Under(&'a Comm<'a>),
}

impl Mpi {
    /// A communicator on which this algorithm of Rondo's has all calls of a collective, in blocks of so many bytes if
    /// that is not 0.
    pub fn by_algorithm(
        &self,
        collective: Collective,
        algorithm: &str,
        block_bytes: u64,
    ) -> Result<Comm<'_>, Failure> {
        type Rules = unsafe extern "C" fn(*const c_char) -> c_int;
        type Dup = unsafe extern "C-unwind" fn(MPI_Comm, *mut MPI_Comm) -> c_int;
        let give = function!(libc::RTLD_DEFAULT, c"rondo_rules", Rules);
        let duplicate = function!(self.library, c"PMPI_Comm_dup", Dup);
        let file = File {
            rules: vec![Rule::all(collective.name(), algorithm, block_bytes)],
            ..File::default()
        };
        let rules = serde_json::to_string(&file).expect("names and numbers are always JSON");
        let rules = CString::new(rules).expect("JSON has no NUL in it");
        let (mut handle, mut data) = (self.loaded.handles.comm_null, [0_u8]);
        let (memory, byte) = (
            address(&mut data),
            RawHandle::of_type(self.loaded.handles.byte),
        );
        // SAFETY: rondo.h: a C string. The communicator is MPI's own while `self` lives, and so is its duplicate; the
        // memory has the one byte.
        unsafe {
            checked(give(rules.as_ptr()), "rondo_rules")?;
            checked(duplicate(self.world(), &mut handle), "MPI_Comm_dup")?;
            // Rondo looks at rules when it sees a communicator for the first time: now, before it is given others.
            checked(
                (self.loaded.rondo.bcast)(memory, 1, byte, 0, RawHandle::of(handle)),
                "MPI_Bcast",
            )?;
        }
        Ok(Comm { handle, mpi: self })
    }
}

impl Comm<'_> {
    pub(super) fn handle(&self) -> MPI_Comm {
        self.handle
    }
}

impl Drop for Comm<'_> {
    fn drop(&mut self) {
        // SAFETY: made once and freed once, by all ranks in the same order; MPI is not finalised, as it outlives this.
        unsafe { (self.mpi.loaded.functions.comm_free)(&mut self.handle) };
    }
}
