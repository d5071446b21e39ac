//! Functions behind Rondo that it only forwards to, found when they are first called.

use super::abi::MPI_ERR_INTERN;
use super::symbols::Finder;
use crate::report;
use once_cell::sync::OnceCell;
use std::ffi::{CStr, c_int, c_void};
use std::mem::{size_of, transmute_copy};

/// A function of what comes after this library, of type `F`.
pub struct Next<F> {
    name: &'static str,
    found: OnceCell<Option<F>>,
}

impl<F: Copy> Next<F> {
    /// The function with this name, which ends with a NUL.
    ///
    /// # Safety
    /// `F` is a type of function pointers.
    pub const unsafe fn new(name: &'static str) -> Next<F> {
        assert!(size_of::<F>() == size_of::<*mut c_void>());
        let found = OnceCell::new();
        Next { name, found }
    }

    /// What `call` makes of the function, or an error code if there is none: then nothing that was linked could call
    /// it, but what was looked up in Rondo.
    pub fn call(&self, call: impl FnOnce(F) -> c_int) -> c_int {
        let found = self.found.get().copied();
        let next = found.unwrap_or_else(|| {
            let next = self.find();
            if next.is_none() {
                let name = self.name.trim_end_matches('\0');
                report::line(-1, &format!("the MPI library has no {name}"));
            }
            next
        });
        next.map_or(MPI_ERR_INTERN as c_int, call)
    }

    /// What `call` makes of the function, or `without` it.
    #[cfg(any(feature = "one", all(abi = "openmpi", persistent)))]
    pub fn call_or(&self, call: impl FnOnce(F) -> c_int, without: impl FnOnce() -> c_int) -> c_int {
        let found = self.found.get().copied();
        found
            .unwrap_or_else(|| self.find())
            .map_or_else(without, call)
    }

    fn find(&self) -> Option<F> {
        let name = CStr::from_bytes_with_nul(self.name.as_bytes()).ok()?;
        let finder = Finder::new()?;
        let address = finder.function(name);
        // SAFETY: `F` is a type of function pointers by the contract of `new`; whoever calls the function answers for
        // its signature.
        let next = (!address.is_null()).then(|| unsafe { transmute_copy(&address) });
        if finder.is_certain() {
            let _ = self.found.set(next);
        }
        next
    }
}
