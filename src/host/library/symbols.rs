//! Finding the host MPI library's symbols in the running process. `linked.rs` is the other way,
//! of the feature `direct`.
//!
//! Nothing here runs before the first MPI call: shells and launchers load a preloaded library too,
//! and they have no MPI. The host is never linked; a `DT_NEEDED` on it would end such processes or
//! bind the wrong installation.

use super::loader::{as_function, file_of, loaded, object_of, path_of};
use crate::records::is_mpi;
use std::cell::OnceCell;
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
        $finder.own_function(c_name!($name))
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
    /// Is it the process's MPI library, or one of several of which none is initialised yet?
    is_certain: bool,
    /// Where the object with the library's functions is loaded, once that was asked for.
    home: OnceCell<Option<*const c_void>>,
}

impl Finder {
    fn new(local: Option<*mut c_void>, as_called: bool, is_certain: bool) -> Finder {
        Finder {
            local,
            as_called,
            is_certain,
            home: OnceCell::new(),
        }
    }

    /// Decides where to look by trying to find a function that every MPI library has. Of several libraries it is the
    /// one that the program initialised, or else the first. Where none is loaded, what programs without parallelism
    /// have in its place may still come next: functions by the names `MPI_X` alone.
    pub fn of_process() -> Finder {
        let finder = |local, is_certain| Finder::new(local, false, is_certain);
        let next = libc::RTLD_NEXT;
        let is_global = !lookup(next, PROBE).is_null();
        if is_global && is_initialized(next) {
            return finder(None, true);
        }
        let mut found = is_global.then_some(next).into_iter().collect::<Vec<_>>();
        for library in loaded_mpi_libraries() {
            let address = lookup(library, PROBE);
            // An object may only lead to a library that was found already.
            if !address.is_null() && found.iter().all(|&other| lookup(other, PROBE) != address) {
                found.push(library);
            }
        }
        let local = |library| (library != next).then_some(library);
        let initialized = found.iter().find(|library| is_initialized(**library));
        match (initialized, found.first()) {
            (Some(&library), _) => finder(local(library), true),
            (None, Some(&first)) => finder(local(first), found.len() == 1),
            (None, None) => Finder::new(None, true, false),
        }
    }

    /// The same for a function that initialises MPI, as the caller at this address would have got it: from the global
    /// scope, or else from the library that the caller's object depends on.
    pub fn of_caller(caller: *const c_void) -> Finder {
        let is_global = !lookup(libc::RTLD_NEXT, PROBE).is_null();
        let own = object_of(caller).and_then(|(_, path)| loaded(path));
        let own = own.map(|own| lookup(own, INITIALIZED));
        let library = own
            .and_then(|found| object_of(found))
            .and_then(|(_, path)| loaded(path));
        match library.filter(|_| !is_global) {
            Some(library) => Finder::new(Some(library), false, false),
            None => Finder::of_process(),
        }
    }

    /// Is no MPI library loaded in this process?
    pub fn is_without_mpi(&self) -> bool {
        self.as_called && self.local.is_none()
    }

    /// May what is found be kept? Not where there are several MPI libraries and none is initialised.
    pub fn is_certain(&self) -> bool {
        self.is_certain
    }

    /// Looks functions up in this library, whatever else is loaded: one of the sides that the tool calls.
    ///
    /// # Safety
    /// The library was loaded by dlopen and is never closed.
    pub unsafe fn of(library: *mut c_void) -> Finder {
        Finder::new(Some(library), false, true)
    }

    /// Looks functions up as programs call them, by the names `MPI_X` in the global scope: the other side, where Rondo
    /// and whatever is in front of it come first.
    pub fn as_called() -> Finder {
        Finder::new(Some(libc::RTLD_DEFAULT), true, true)
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

    /// Address of a function that some MPI libraries have; null if this one lacks it.
    #[inline(never)]
    pub fn own_function(&self, name: &CStr) -> *mut c_void {
        let function = self.function(name);
        match self.is_of_another(function) {
            true => ptr::null_mut(),
            false => function,
        }
    }

    /// Is this address in another MPI library? A program may be linked to a second one by accident, of which it uses
    /// nothing. What the first one lacks is found there.
    fn is_of_another(&self, address: *const c_void) -> bool {
        let home = || object_of(self.function(INITIALIZED)).map(|(home, _)| home);
        let is_mpi = |name: &CStr| str::from_utf8(file_of(name)).is_ok_and(is_mpi);
        (self.home.get_or_init(home).zip(object_of(address)))
            .is_some_and(|(home, (its, name))| home != its && is_mpi(name))
    }

    /// Does this MPI library define a data object of this name?
    pub fn has(&self, name: &CStr) -> bool {
        let object = lookup(self.local.unwrap_or(libc::RTLD_NEXT), name);
        !object.is_null() && !self.is_of_another(object)
    }

    /// Address of a data object of the host, or null.
    ///
    /// Executables hold copies of the host's data objects (copy relocations), and the host itself
    /// uses the copy; only the default search order finds it. `RTLD_NEXT` would find a dead one.
    pub fn data(&self, name: &CStr) -> *mut c_void {
        let global = lookup(libc::RTLD_DEFAULT, name);
        match self.local.map(|handle| lookup(handle, name)) {
            // What another library has in the global scope is not this one's.
            Some(own) if own.is_null() || global.is_null() => own,
            _ => global,
        }
    }
}

fn lookup(handle: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: `handle` is RTLD_NEXT, RTLD_DEFAULT or a handle from dlopen that is never closed;
    // `name` is a C string. dlsym reads nothing else.
    unsafe { libc::dlsym(handle, name.as_ptr()) }
}

/// A function that every MPI library has.
const PROBE: &CStr = c"PMPI_Bcast";
/// Another one, which nobody else has.
const INITIALIZED: &CStr = c"PMPI_Initialized";

/// Does an MPI library say that it is initialised?
fn is_initialized(library: *mut c_void) -> bool {
    let mut yes: c_int = 0;
    // SAFETY: MPI 4.1, section 11.4.1: int MPI_Initialized(int *), callable at any time. No ABI has handles in it.
    unsafe {
        let ask: Option<unsafe extern "C" fn(*mut c_int) -> c_int> =
            as_function(lookup(library, INITIALIZED));
        ask.is_some_and(|ask| ask(&mut yes) == 0 && yes != 0)
    }
}

/// Handles on all MPI libraries that are loaded, be they in the global scope or not, in the loader's order.
fn loaded_mpi_libraries() -> impl Iterator<Item = *mut c_void> {
    let mut paths: Vec<CString> = vec![];
    // SAFETY: the callback gets back the pointer to `paths`, which outlives the call, and no other
    // reference to `paths` exists meanwhile.
    unsafe { libc::dl_iterate_phdr(Some(match_object), ptr::from_mut(&mut paths).cast()) };
    paths.into_iter().filter_map(|path| loaded(&path))
}

/// `dl_iterate_phdr` callback: notes objects whose file names are MPI libraries'.
unsafe extern "C" fn match_object(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    found: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid record.
    let Some(name) = (unsafe { path_of(info) }) else {
        return 0;
    };
    if str::from_utf8(file_of(name)).is_ok_and(is_mpi) {
        // SAFETY: `found` is the `paths` of `loaded_mpi_libraries`, passed through unchanged.
        unsafe { (*found.cast::<Vec<CString>>()).push(name.to_owned()) };
    }
    0
}
