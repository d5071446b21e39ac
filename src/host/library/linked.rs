//! The host MPI library's symbols by the linker: the feature `direct`, for programs that link MPI statically and
//! for simulators. `symbols.rs` is the other way.

use super::loader::as_function;
use std::ffi::c_void;

/// Address of a function that every MPI library has.
macro_rules! function {
    ($finder:expr, $name:literal) => {{
        let _: &Finder = $finder;
        unsafe extern "C" {
            // Only its address is taken here; whoever calls it knows its signature.
            #[link_name = $name]
            fn linked();
        }
        (linked as *const ()).cast_mut().cast::<c_void>()
    }};
}

/// Address of a function that some MPI libraries have, or null. The linker cannot look, so it goes by the ABI.
#[cfg(large)]
macro_rules! large_function {
    ($finder:expr, $name:literal) => {
        function!($finder, $name)
    };
}
#[cfg(not(large))]
macro_rules! large_function {
    ($finder:expr, $name:literal) => {{
        let _: &Finder = $finder;
        std::ptr::null_mut::<c_void>()
    }};
}

/// Address of a data object of the host.
#[cfg(abi = "smpi")]
macro_rules! data {
    ($finder:expr, $name:literal) => {{
        let _: &Finder = $finder;
        unsafe extern "C" {
            #[link_name = $name]
            static linked: std::ffi::c_char;
        }
        (&raw const linked).cast_mut().cast::<c_void>()
    }};
}

/// Nothing to find: the linker did it.
pub struct Finder;

impl Finder {
    /// The host is there, or the program would not run.
    pub fn of_process() -> Finder {
        Finder
    }

    /// There is one.
    pub fn is_without_mpi(&self) -> bool {
        false
    }

    /// It is the only one.
    pub fn is_certain(&self) -> bool {
        true
    }
}

/// A function that was declared without its type.
///
/// # Safety
/// `F` is a type of function pointers, and that of the function.
pub unsafe fn function_of_type<F: Copy>(linked: unsafe extern "C" fn()) -> F {
    // SAFETY: the caller's contract.
    unsafe { as_function(linked as *mut c_void) }.expect("the linker found it")
}
