//! Error codes of the host.

use crate::host::library::abi::{
    MPI_ERR_ARG, MPI_ERR_BUFFER, MPI_ERR_COMM, MPI_ERR_COUNT, MPI_ERR_INTERN, MPI_ERR_NO_MEM,
    MPI_ERR_OP, MPI_ERR_TRUNCATE, MPI_ERR_TYPE,
};
use crate::host::library::table::Mpi;
use std::cell::Cell;
use std::ffi::c_int;
use std::num::NonZero;

/// An MPI error code of the host; never `MPI_SUCCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(NonZero<c_int>);

impl Code {
    /// The host's code for "out of memory".
    pub fn no_mem() -> Code {
        Code(NonZero::new(MPI_ERR_NO_MEM as c_int).expect("an error class is not 0"))
    }

    /// The host's code for a buffer that cannot be one.
    pub fn buffer() -> Code {
        Code(NonZero::new(MPI_ERR_BUFFER as c_int).expect("an error class is not 0"))
    }

    /// The host's code for a message of the wrong length.
    pub fn truncate() -> Code {
        Code(NonZero::new(MPI_ERR_TRUNCATE as c_int).expect("an error class is not 0"))
    }

    /// The host's code for a datatype that cannot be one.
    pub fn datatype() -> Code {
        Code(NonZero::new(MPI_ERR_TYPE as c_int).expect("an error class is not 0"))
    }

    /// The host's code for an error of Rondo's own.
    pub fn intern() -> Code {
        Code(NonZero::new(MPI_ERR_INTERN as c_int).expect("an error class is not 0"))
    }

    /// The code as C sees it.
    pub fn get(self) -> c_int {
        self.0.get()
    }
}

thread_local! {
    /// The last error of a host function in this call; 0 if there was none.
    static LAST: Cell<c_int> = const { Cell::new(0) };
}

/// Turns a host function's return value into a `Result`.
pub fn check(rc: c_int) -> Result<(), Code> {
    match NonZero::new(rc) {
        None => Ok(()),
        Some(code) => {
            LAST.set(rc);
            Err(Code(code))
        }
    }
}

/// A call begins: no host function has failed in it.
pub fn no_trouble() {
    LAST.set(0);
}

impl Mpi {
    fn class(&self, code: c_int) -> c_int {
        let mut class: c_int = 0;
        // SAFETY: the code is one that the host gave, or an error class. The result is a valid place to write to.
        unsafe { (self.f.error_class)(code, &mut class) };
        class
    }

    /// Does this code say that there is no such communicator?
    pub fn denies_comm(&self, code: Code) -> bool {
        self.class(code.get()) == MPI_ERR_COMM as c_int
    }

    /// Why an argument seems to be invalid, if the reason is that a host function failed which has nothing against it:
    /// the host's collective would not complain, and wait for ranks that are in one of Rondo's.
    pub fn trouble(&self) -> Option<Code> {
        let code = Code(NonZero::new(LAST.replace(0))?);
        (!self.complains(code)).then_some(code)
    }

    /// Does this code say that an argument is invalid, and not that the host failed?
    pub(in crate::host) fn complains(&self, code: Code) -> bool {
        let complaints = [
            MPI_ERR_TYPE,
            MPI_ERR_ARG,
            MPI_ERR_COMM,
            MPI_ERR_OP,
            MPI_ERR_BUFFER,
            MPI_ERR_COUNT,
        ];
        complaints.contains(&(self.class(code.get()) as u32))
    }
}
