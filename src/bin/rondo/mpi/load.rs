//! The MPI library and its symbols, found when they are needed.

#![allow(unsafe_code)]

use crate::Failure;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_ulonglong, c_void};
use std::os::unix::ffi::OsStrExt;

/// A handle of MPI: an `int` for the MPICH ABI, a pointer for the others.
#[cfg(abi = "mpich")]
pub(super) type Handle = c_int;
#[cfg(not(abi = "mpich"))]
pub(super) type Handle = *mut c_void;

#[cfg(abi = "mpich")]
pub(super) const NO_HANDLE: Handle = 0;
#[cfg(not(abi = "mpich"))]
pub(super) const NO_HANDLE: Handle = std::ptr::null_mut();

/// `MPI_IN_PLACE`.
pub(super) const IN_PLACE: *mut c_void =
    if cfg!(abi = "mpich") { usize::MAX } else { 1 } as *mut c_void;

/// Where the loader finds the MPI library of this build's ABI.
pub(super) const LIBRARIES: &[&CStr] = if cfg!(abi = "openmpi") {
    &[c"libmpi.so.40", c"libmpi.so"]
} else if cfg!(abi = "standard") {
    &[c"libmpi_abi.so.1", c"libmpi_abi.so.0", c"libmpi_abi.so"]
} else {
    &[c"libmpich.so.12", c"libmpi.so.12"]
};

pub(super) type Bcast = unsafe extern "C" fn(*mut c_void, c_int, Handle, c_int, Handle) -> c_int;
pub(super) type Allgather =
    unsafe extern "C" fn(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle) -> c_int;
pub(super) type Allgatherv = unsafe extern "C" fn(
    *const c_void,
    c_int,
    Handle,
    *mut c_void,
    *const c_int,
    *const c_int,
    Handle,
    Handle,
) -> c_int;
/// Of `MPI_Gather` and `MPI_Scatter`.
pub(super) type Gather = unsafe extern "C" fn(
    *const c_void,
    c_int,
    Handle,
    *mut c_void,
    c_int,
    Handle,
    c_int,
    Handle,
) -> c_int;
pub(super) type Gatherv = unsafe extern "C" fn(
    *const c_void,
    c_int,
    Handle,
    *mut c_void,
    *const c_int,
    *const c_int,
    Handle,
    c_int,
    Handle,
) -> c_int;
pub(super) type Scatterv = unsafe extern "C" fn(
    *const c_void,
    *const c_int,
    *const c_int,
    Handle,
    *mut c_void,
    c_int,
    Handle,
    c_int,
    Handle,
) -> c_int;
pub(super) type Allreduce =
    unsafe extern "C" fn(*const c_void, *mut c_void, c_int, Handle, Handle, Handle) -> c_int;
/// Of `MPI_Type_commit` and `MPI_Type_free`.
pub(super) type OnType = unsafe extern "C" fn(*mut Handle) -> c_int;
pub(super) type Barrier = unsafe extern "C" fn(Handle) -> c_int;
pub(super) type Calls = unsafe extern "C" fn(*const c_char, *const c_char) -> c_ulonglong;

/// The collectives of one side.
pub(super) struct Functions {
    pub(super) bcast: Bcast,
    pub(super) allgather: Allgather,
    pub(super) allgatherv: Allgatherv,
    pub(super) gather: Gather,
    pub(super) gatherv: Gatherv,
    pub(super) scatter: Gather,
    pub(super) scatterv: Scatterv,
}

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
        let (name, host) = (name.to_string_lossy(), env!("RONDO_HOST"));
        return Err(Failure::Failed(format!(
            "the MPI library has no {name}: it does not fit {host}, for which this tool is built"
        )));
    }
    Ok(address)
}

/// A function of a library by its name.
macro_rules! function {
    ($library:expr, $name:expr, $type:ty) => {{
        let address = $crate::mpi::load::symbol($library, $name)?;
        // SAFETY: MPI (or rondo.h) declares the function of this name with this type, with handles as `Handle` for
        // the ABI of this build; `load` made sure of the ABI.
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

impl Functions {
    pub(super) fn find(library: *mut c_void, prefix: &str) -> Result<Functions, Failure> {
        let name =
            |name: &str| CString::new(format!("{prefix}MPI_{name}")).expect("no NUL is in it");
        Ok(Functions {
            bcast: function!(library, &name("Bcast"), Bcast),
            allgather: function!(library, &name("Allgather"), Allgather),
            allgatherv: function!(library, &name("Allgatherv"), Allgatherv),
            gather: function!(library, &name("Gather"), Gather),
            gatherv: function!(library, &name("Gatherv"), Gatherv),
            scatter: function!(library, &name("Scatter"), Gather),
            scatterv: function!(library, &name("Scatterv"), Scatterv),
        })
    }
}

/// `MPI_COMM_WORLD`, `MPI_BYTE`, `MPI_DOUBLE` and `MPI_MAX`: objects of the library in Open MPI, constants of the ABI in the others.
#[cfg(abi = "openmpi")]
pub(super) fn handles(library: *mut c_void) -> Result<[Handle; 4], Failure> {
    Ok([
        symbol(library, c"ompi_mpi_comm_world")?,
        symbol(library, c"ompi_mpi_byte")?,
        symbol(library, c"ompi_mpi_double")?,
        symbol(library, c"ompi_mpi_op_max")?,
    ])
}
#[cfg(abi = "mpich")]
pub(super) fn handles(_library: *mut c_void) -> Result<[Handle; 4], Failure> {
    Ok([0x4400_0000, 0x4c00_010d, 0x4c00_080b, 0x5800_0001])
}
#[cfg(abi = "standard")]
pub(super) fn handles(_library: *mut c_void) -> Result<[Handle; 4], Failure> {
    Ok([0x101, 0x247, 0x214, 0x23].map(std::ptr::without_provenance_mut))
}
