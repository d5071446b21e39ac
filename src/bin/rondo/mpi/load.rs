//! The MPI library and its symbols, found when they are needed.

#![allow(unsafe_code, reason = "what it finds are functions in C")]

use crate::Failure;
use rondo::host::raw::{Collectives, Finder, Functions, Handles};
use std::ffi::{CStr, CString, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;

/// Where the loader finds the MPI library of this build's ABI.
pub(super) const LIBRARIES: &[&CStr] = if cfg!(abi = "openmpi") {
    &[c"libmpi.so.40", c"libmpi.so"]
} else if cfg!(abi = "standard") {
    &[c"libmpi_abi.so.1", c"libmpi_abi.so.0", c"libmpi_abi.so"]
} else {
    &[c"libmpich.so.12", c"libmpi.so.12"]
};

/// Is Rondo preloaded into this process?
pub fn has_rondo() -> bool {
    !find(libc::RTLD_DEFAULT, c"rondo_calls").is_null()
}

pub(super) fn find(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: `library` is RTLD_DEFAULT or a handle from dlopen that is never closed, `name` a C string.
    unsafe { libc::dlsym(library, name.as_ptr()) }
}

/// The address of what must be there.
pub(super) fn symbol(library: *mut c_void, name: &CStr) -> Result<*mut c_void, Failure> {
    let address = find(library, name);
    if address.is_null() {
        return Err(lacking(&name.to_string_lossy()));
    }
    Ok(address)
}

/// A function of a library by its name.
macro_rules! function {
    ($library:expr, $name:expr, $type:ty) => {{
        let address = $crate::mpi::load::symbol($library, $name)?;
        // SAFETY: MPI (or rondo.h) declares the function of this name with this type, in the ABI of this build; `load`
        // made sure of the ABI.
        unsafe { std::mem::transmute::<*mut std::ffi::c_void, $type>(address) }
    }};
}

pub(super) use function;

/// Loads the MPI library for all, plugins of its own included.
pub(super) fn load(path: Option<&OsStr>) -> Result<*mut c_void, Failure> {
    let given = path.map(|path| CString::new(path.as_bytes()).unwrap_or_default());
    let names: Vec<&CStr> = match &given {
        Some(path) => vec![path],
        None => LIBRARIES.to_vec(),
    };
    for name in &names {
        // SAFETY: `name` is a C string. The library's constructors run, as they do in every MPI program.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if library.is_null() {
            continue;
        }
        let is_openmpi = !find(library, c"ompi_mpi_comm_world").is_null();
        if is_openmpi == cfg!(abi = "openmpi") {
            rondo_is_first(library)?;
            return Ok(library);
        }
    }
    let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
    Err(Failure::Failed(format!(
        "cannot load {} as the MPI library (this tool is built for {}); name it with --mpi PATH",
        names.join(" or "),
        env!("RONDO_HOST")
    )))
}

/// Fails if what a program calls is the MPI library's, which would be timed as Rondo's then. A profiler in front
/// of Rondo is the user's wish.
fn rondo_is_first(library: *mut c_void) -> Result<(), Failure> {
    if symbol(libc::RTLD_DEFAULT, c"MPI_Bcast")? != find(library, c"MPI_Bcast") {
        return Ok(());
    }
    Err(Failure::Failed(
        "the MPI library comes before Rondo: let librondo.so be the first in LD_PRELOAD".into(),
    ))
}

/// What a library has none of, as a failure.
fn lacking(what: &str) -> Failure {
    Failure::Failed(format!(
        "the MPI library has no {what}: it does not fit {}, for which this tool is built",
        env!("RONDO_HOST")
    ))
}

/// The MPI library, and Rondo in front of it.
pub(super) struct Loaded {
    /// The MPI library's own collectives.
    pub(super) host: Collectives,
    /// Those that a program would call, where Rondo's come first.
    pub(super) rondo: Collectives,
    /// Other functions of the MPI library.
    pub(super) functions: Functions,
    pub(super) handles: Handles,
}

impl Loaded {
    pub(super) fn find(library: *mut c_void) -> Result<Loaded, Failure> {
        // SAFETY: the handle is from dlopen and never closed.
        let host = unsafe { Finder::of(library) };
        Ok(Loaded {
            host: Collectives::find(&host).map_err(lacking)?,
            rondo: Collectives::find(&Finder::as_called()).map_err(lacking)?,
            functions: Functions::find(&host).map_err(lacking)?,
            handles: Handles::find(&host).ok_or_else(|| lacking("predefined handle"))?,
        })
    }
}
