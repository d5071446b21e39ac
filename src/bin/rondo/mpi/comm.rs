//! Communicators of this tool's own, and messages between two ranks.

#![allow(unsafe_code)]

use super::{
    Mpi, address, checked,
    load::{Handle, NO_HANDLE, function},
};
use crate::Failure;
use std::ffi::{CString, c_char, c_int, c_void};

/// All ranks once more, for collectives by rules of their own.
pub struct Comm<'a> {
    handle: Handle,
    free: unsafe extern "C" fn(*mut Handle) -> c_int,
    /// Alive as long as this.
    _mpi: &'a Mpi,
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

/// `MPI_STATUS_IGNORE`.
const NO_STATUS: *mut c_void = if cfg!(abi = "mpich") { 1 } else { 0 } as *mut c_void;

const TAG: c_int = 1;

impl Mpi {
    /// A communicator on which Rondo's choices go by these rules, a text as `RONDO_RULES` has it.
    pub fn under_rules(&self, rules: &str) -> Result<Comm<'_>, Failure> {
        type Rules = unsafe extern "C" fn(*const c_char) -> c_int;
        type Dup = unsafe extern "C" fn(Handle, *mut Handle) -> c_int;
        type Free = unsafe extern "C" fn(*mut Handle) -> c_int;
        let give = function!(libc::RTLD_DEFAULT, c"rondo_rules", Rules);
        let duplicate = function!(self.library, c"PMPI_Comm_dup", Dup);
        let free = function!(self.library, c"PMPI_Comm_free", Free);
        let rules = CString::new(rules).expect("JSON has no NUL in it");
        let (mut handle, mut data) = (NO_HANDLE, [0_u8]);
        let memory = address(&mut data);
        // SAFETY: rondo.h: a C string. The communicator is MPI's own while `self` lives, and so is its duplicate; the memory
        // has the one byte.
        unsafe {
            checked(give(rules.as_ptr()), "rondo_rules")?;
            checked(duplicate(self.world, &mut handle), "MPI_Comm_dup")?;
            // Rondo looks at rules when it sees a communicator for the first time: now, before it is given others.
            checked(
                (self.rondo.bcast)(memory, 1, self.byte, 0, handle),
                "MPI_Bcast",
            )?;
        }
        Ok(Comm {
            handle,
            free,
            _mpi: self,
        })
    }

    /// Sends `message` to a rank, if this is rank 0, and waits until it has come back.
    pub fn ping(&self, partner: usize, message: &mut [u8]) -> Result<(), Failure> {
        type Send =
            unsafe extern "C" fn(*const c_void, c_int, Handle, c_int, c_int, Handle) -> c_int;
        type Receive = unsafe extern "C" fn(
            *mut c_void,
            c_int,
            Handle,
            c_int,
            c_int,
            Handle,
            *mut c_void,
        ) -> c_int;
        let send = function!(self.library, c"PMPI_Send", Send);
        let receive = function!(self.library, c"PMPI_Recv", Receive);
        assert!(partner > 0 && partner < self.ranks);
        let count = c_int::try_from(message.len()).expect("a short message");
        let (data, byte, world) = (address(message), self.byte, self.world);
        // SAFETY: the message has `count` bytes, the handles are MPI's own while `self` lives, and both ranks are in the
        // communicator. The messages are complete on return.
        unsafe {
            let send = |to: usize| send(data, count, byte, to as c_int, TAG, world);
            let receive =
                |from: usize| receive(data, count, byte, from as c_int, TAG, world, NO_STATUS);
            if self.rank == 0 {
                checked(send(partner), "MPI_Send")?;
                checked(receive(partner), "MPI_Recv")?;
            } else if self.rank == partner {
                checked(receive(0), "MPI_Recv")?;
                checked(send(0), "MPI_Send")?;
            }
        }
        Ok(())
    }
}

impl Comm<'_> {
    pub(super) fn handle(&self) -> Handle {
        self.handle
    }
}

impl Drop for Comm<'_> {
    fn drop(&mut self) {
        // SAFETY: made once and freed once, by all ranks in the same order; MPI is not finalised, as it outlives this.
        unsafe { (self.free)(&mut self.handle) };
    }
}
