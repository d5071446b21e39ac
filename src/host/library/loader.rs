//! What the system's loader has: objects, and functions by their addresses.

use std::ffi::{CStr, c_void};
use std::mem;

/// The function at this address; `None` if it is null.
///
/// # Safety
/// `F` is a type of function pointers, and that of the function.
pub unsafe fn as_function<F: Copy>(address: *mut c_void) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the caller's contract; the sizes are the same.
    (!address.is_null()).then(|| unsafe { mem::transmute_copy(&address) })
}

/// Where the object that an address lies in is loaded, and its path; `None` if there is none.
#[cfg(not(feature = "direct"))]
pub fn object_of(address: *const c_void) -> Option<(*const c_void, &'static CStr)> {
    let mut info = mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: the loader looks the address up, and fills the place in unless it gives 0. The path is a C string of its
    // own, which stays as long as the object is loaded: MPI libraries and what comes with them are never unloaded.
    unsafe {
        if address.is_null() || libc::dladdr(address, info.as_mut_ptr()) == 0 {
            return None;
        }
        let libc::Dl_info {
            dli_fbase: base,
            dli_fname: path,
            ..
        } = info.assume_init();
        (!path.is_null()).then(|| (base.cast_const(), CStr::from_ptr(path)))
    }
}

/// A handle on an object that is loaded, by its path. It is never closed, so the object stays.
#[cfg(not(feature = "direct"))]
pub fn loaded(path: &CStr) -> Option<*mut c_void> {
    // SAFETY: `path` is a C string. RTLD_NOLOAD only adds a reference to an object that is there, so no constructor
    // runs.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    (!handle.is_null()).then_some(handle)
}

/// The path of a loaded object.
///
/// # Safety
/// `info` is a record that the loader passes to a callback, which lives as long as the object.
pub unsafe fn path_of<'a>(info: *const libc::dl_phdr_info) -> Option<&'a CStr> {
    // SAFETY: the caller's contract; the name is null or a C string that lives as long as the object.
    unsafe {
        let name = (*info).dlpi_name;
        (!name.is_null()).then(|| CStr::from_ptr(name))
    }
}

/// The name of the file that a path leads to.
pub fn file_of(path: &CStr) -> &[u8] {
    let mut parts = path.to_bytes().rsplit(|&b| b == b'/');
    parts.next().unwrap_or(&[])
}
