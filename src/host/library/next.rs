//! Functions behind Rondo that it only forwards to, found when they are first called.

use super::abi::MPI_ERR_INTERN;
use super::loader::as_function;
use super::symbols::Finder;
use crate::report;
use once_cell::sync::OnceCell;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A function of what comes after this library, of type `F`.
pub struct Next<F> {
    name: &'static str,
    found: OnceCell<Option<F>>,
    /// Was it reported that there is none?
    is_reported: AtomicBool,
}

impl<F: Copy> Next<F> {
    /// The function with this name, which ends with a NUL.
    ///
    /// # Safety
    /// `F` is a type of function pointers.
    pub const unsafe fn new(name: &'static str) -> Next<F> {
        Next {
            name,
            found: OnceCell::new(),
            is_reported: AtomicBool::new(false),
        }
    }

    /// The function, unless there is none.
    pub fn get(&self) -> Option<F> {
        match self.found.get() {
            Some(found) => *found,
            None => self.find(),
        }
    }

    /// What `call` makes of the function, or an error code if there is none: then nothing that was linked could call
    /// it, but what was looked up in Rondo.
    pub fn call(&self, call: impl FnOnce(F) -> c_int) -> c_int {
        match self.get() {
            Some(next) => call(next),
            None => self.lack(),
        }
    }

    /// The same of the function that the caller at this address would have got.
    pub fn call_as(&self, caller: *const c_void, call: impl FnOnce(F) -> c_int) -> c_int {
        match self
            .found
            .get()
            .copied()
            .flatten()
            .or_else(|| self.find_as(caller))
        {
            Some(next) => call(next),
            None => self.lack(),
        }
    }

    #[cold]
    fn lack(&self) -> c_int {
        if !self.is_reported.swap(true, Relaxed) {
            let name = self.name.trim_end_matches('\0');
            report::line(-1, &format!("the MPI library has no {name}"));
        }
        MPI_ERR_INTERN as c_int
    }

    fn find(&self) -> Option<F> {
        self.find_by(&Finder::of_process())
    }

    fn find_as(&self, caller: *const c_void) -> Option<F> {
        self.find_by(&Finder::of_caller(caller))
    }

    fn find_by(&self, finder: &Finder) -> Option<F> {
        let name = CStr::from_bytes_with_nul(self.name.as_bytes()).ok()?;
        // SAFETY: `F` is a type of function pointers by the contract of `new`; whoever calls the function answers for
        // its signature.
        let next = unsafe { as_function(finder.function(name)) };
        if finder.is_certain() {
            let _ = self.found.set(next);
        }
        next
    }
}
