//! Finding the host MPI library's symbols in the running process. `linked.rs` is the other way,
//! of the feature `direct`.
//!
//! Nothing here runs before the first MPI call: shells and launchers load a preloaded library too,
//! and they have no MPI. The host is never linked; a `DT_NEEDED` on it would end such processes or
//! bind the wrong installation.

use super::devices::{file_of, path_of};
use crate::records::is_mpi;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;

/// A literal as C wants it.
macro_rules! c_name {
    ($name:literal) => {
        const {
            match std::ffi::CStr::from_bytes_with_nul(concat!($name, "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name has no NUL in it"),
            }
        }
    };
}

/// Address of a function that every MPI library has; null if this one lacks it.
macro_rules! function {
    ($finder:expr, $name:literal) => {
        $finder.function(c_name!($name))
    };
}

/// Address of a function that some MPI libraries have, or null.
macro_rules! large_function {
    ($finder:expr, $name:literal) => {
        $finder.function(c_name!($name))
    };
}

/// Address of a data object of the host, or null.
#[cfg(abi = "openmpi")]
macro_rules! data {
    ($finder:expr, $name:literal) => {
        $finder.data(c_name!($name))
    };
}

/// Looks symbols up in the objects after this library, or, where the program loaded MPI with
/// `RTLD_LOCAL` (plug-ins, mpi4py's wheels), in the MPI library itself.
pub struct Finder {
    /// Handle of the library to look in, if it is not to be the next one in the global scope.
    local: Option<*mut c_void>,
    /// Is `MPI_X` wanted in place of `PMPI_X`?
    as_called: bool,
}

impl Finder {
    /// Decides where to look by trying to find a function that every MPI library has.
    /// `None`: no MPI library is loaded in this process.
    pub fn new() -> Option<Finder> {
        let probe = c"PMPI_Bcast";
        if !lookup(libc::RTLD_NEXT, probe).is_null() {
            return Some(Finder {
                local: None,
                as_called: false,
            });
        }
        let handle = loaded_mpi_library()?;
        (!lookup(handle, probe).is_null()).then_some(Finder {
            local: Some(handle),
            as_called: false,
        })
    }

    /// Looks functions up in this library, whatever else is loaded: one of the sides that the tool calls.
    ///
    /// # Safety
    /// The library was loaded by dlopen and is never closed.
    pub unsafe fn of(library: *mut c_void) -> Finder {
        Finder {
            local: Some(library),
            as_called: false,
        }
    }

    /// Looks functions up as programs call them, by the names `MPI_X` in the global scope: the other side, where Rondo
    /// and whatever is in front of it come first.
    pub fn as_called() -> Finder {
        Finder {
            local: Some(libc::RTLD_DEFAULT),
            as_called: true,
        }
    }

    /// Address of a function of the host, or null.
    ///
    /// `RTLD_NEXT` skips this library's own definition of the same name and finds the host's.
    #[inline(never)] // it is called in a hundred places, once in each
    pub fn function(&self, name: &CStr) -> *mut c_void {
        let called =
            || CStr::from_bytes_with_nul(name.to_bytes_with_nul().strip_prefix(b"P")?).ok();
        let name = self.as_called.then(called).flatten().unwrap_or(name);
        lookup(self.local.unwrap_or(libc::RTLD_NEXT), name)
    }

    /// Address of a data object of the host, or null.
    ///
    /// Executables hold copies of the host's data objects (copy relocations), and the host itself
    /// uses the copy; only the default search order finds it. `RTLD_NEXT` would find a dead one.
    pub fn data(&self, name: &CStr) -> *mut c_void {
        let global = lookup(libc::RTLD_DEFAULT, name);
        match self.local {
            Some(handle) if global.is_null() => lookup(handle, name),
            _ => global,
        }
    }
}

fn lookup(handle: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: `handle` is RTLD_NEXT, RTLD_DEFAULT or a handle from dlopen that is never closed;
    // `name` is a C string. dlsym reads nothing else.
    unsafe { libc::dlsym(handle, name.as_ptr()) }
}

/// A handle on an MPI library that is loaded, but not in the global scope.
fn loaded_mpi_library() -> Option<*mut c_void> {
    let mut path: Option<CString> = None;
    // SAFETY: the callback gets back the pointer to `path`, which outlives the call, and no other
    // reference to `path` exists meanwhile.
    unsafe { libc::dl_iterate_phdr(Some(match_object), ptr::from_mut(&mut path).cast()) };
    let path = path?;
    // SAFETY: `path` is a C string. RTLD_NOLOAD only adds a reference to an object that is there,
    // so no constructor runs.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    (!handle.is_null()).then_some(handle)
}

/// `dl_iterate_phdr` callback: stops at the first object whose file name is an MPI library's.
unsafe extern "C" fn match_object(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    found: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid record.
    let Some(name) = (unsafe { path_of(info) }) else {
        return 0;
    };
    if !str::from_utf8(file_of(name)).is_ok_and(is_mpi) {
        return 0;
    }
    // SAFETY: `found` is the `path` of `loaded_mpi_library`, passed through unchanged.
    unsafe { *found.cast::<Option<CString>>() = Some(name.to_owned()) };
    1
}
