//! Which MPI library it is.

#[cfg(feature = "direct")]
use super::abi::Handles;
use super::abi::{Abi, RawHandle};
#[cfg(not(feature = "direct"))]
use super::loader::as_function;
use super::symbols::Finder;
#[cfg(not(feature = "direct"))]
use std::ffi::{CStr, c_int, c_void};
#[cfg(not(feature = "direct"))]
use std::ptr;

/// The ABI of the host that `finder` found, and its `MPI_COMM_WORLD`.
#[cfg(not(feature = "direct"))]
pub fn running(finder: &Finder) -> (Abi, RawHandle) {
    const WORLD: &CStr = c"ompi_mpi_comm_world";
    // Open MPI 6 has its own library below that of the standard's ABI.
    if finder.has(WORLD) {
        return (Abi::OpenMpi, RawHandle(finder.data(WORLD)));
    }
    // SAFETY: MPI 5.0, section 20.3: int MPI_Abi_get_version(int *, int *).
    let query: Option<unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int> =
        unsafe { as_function(finder.function(c"MPI_Abi_get_version")) };
    if let Some(query) = query {
        let (mut major, mut minor): (c_int, c_int) = (-1, -1);
        // SAFETY: it may be called at any time, even before initialisation.
        unsafe { query(&mut major, &mut minor) };
        match major {
            1 => return (Abi::Standard, RawHandle(Abi::STANDARD_WORLD as *mut c_void)),
            // Nobody knows what its handles are.
            2.. => return (Abi::Later, RawHandle(ptr::null_mut())),
            _ => {}
        }
    }
    // MPI_COMM_DUP_FN is a macro for this function in the mpi.h of MPICH and its derivatives, so it is in their ABI.
    if !finder.function(c"MPIR_Dup_fn").is_null() {
        return (
            Abi::Mpich,
            RawHandle(Abi::MPICH_WORLD as usize as *mut c_void),
        );
    }
    (Abi::Unknown, RawHandle(ptr::null_mut()))
}

/// The ABI of the host, looked for anew; `None`: no MPI library is loaded in this process, or several of which none is
/// initialised yet.
#[cfg(feature = "one")]
pub fn abi_of_process() -> Option<Abi> {
    let finder = Finder::of_process();
    finder.is_certain().then(|| running(&finder).0)
}

/// What is said of a job that is to outlive failed processes. A process that fails must surface there as an error of
/// the call, and a communicator that is revoked must let go of all ranks. Rondo's messages are on another communicator,
/// and a collective that is half done is the end of the job.
pub const OUTLIVES: &str = "the job is to outlive failed processes (ULFM), which Rondo does not support; every call \
                            goes to the MPI library";

/// Was the job started to outlive failed processes (User Level Failure Mitigation, `mpirun --with-ft ulfm` of Open MPI
/// 5)?
#[cfg(not(feature = "direct"))]
pub fn is_fault_tolerant(finder: &Finder) -> bool {
    let enabled = finder.data(c"ompi_ftmpi_enabled");
    // SAFETY: Open MPI 5 declares a `bool` of this name, set in its initialisation, and nobody else has such a name.
    !enabled.is_null() && unsafe { *enabled.cast::<u8>() } != 0
}

/// Was the job started to outlive failed processes? Not where the program is one with its MPI library.
#[cfg(feature = "direct")]
pub fn is_fault_tolerant(_finder: &Finder) -> bool {
    false
}

/// The ABI of the host, and its `MPI_COMM_WORLD`.
#[cfg(feature = "direct")]
pub fn running(finder: &Finder) -> (Abi, RawHandle) {
    let handles = Handles::find(finder).expect("the linker found all");
    (Abi::BUILT, RawHandle::of(handles.world))
}
