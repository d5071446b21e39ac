//! Whether this process may have memory that the processor cannot touch: does it have the library of a GPU's driver?

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// How the file names of these libraries begin: CUDA's driver, AMD's HIP, Intel's Level Zero.
const DRIVERS: &[&str] = &["libcuda.so", "libamdhip64.so", "libze_loader.so"];

/// Is there one? Libraries stay, as far as Rondo is concerned.
static LOADED: AtomicBool = AtomicBool::new(false);

/// How many objects the loader had loaded when they were looked through.
static LOOKED_AT: AtomicU64 = AtomicU64::new(0);

/// The user says that buffers are the processor's all the same.
static IGNORED: AtomicBool = AtomicBool::new(false);

/// From now on, [`driver_is_loaded`] says no.
pub fn ignore_devices() {
    IGNORED.store(true, Relaxed);
}

/// Has this process the library of a GPU's driver? Programs often load one after their first collective.
pub fn driver_is_loaded() -> bool {
    if LOADED.load(Relaxed) || IGNORED.load(Relaxed) {
        return !IGNORED.load(Relaxed);
    }
    let mut objects = 0u64;
    // SAFETY: the callback gets back the pointer to `objects`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(count), ptr::from_mut(&mut objects).cast()) };
    if LOOKED_AT.load(Relaxed) == objects {
        return false;
    }
    // SAFETY: the callback takes no data. It stops at a driver, and what it returned then is returned here.
    let found = unsafe { libc::dl_iterate_phdr(Some(is_driver), ptr::null_mut()) } != 0;
    if found {
        LOADED.store(true, Relaxed);
    }
    LOOKED_AT.store(objects, Relaxed);
    found
}

/// `dl_iterate_phdr` callback: takes the number of objects that were ever loaded from the first one, and stops.
unsafe extern "C" fn count(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    objects: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid record, and `objects` is the counter of `driver_is_loaded`.
    unsafe { *objects.cast::<u64>() = (*info).dlpi_adds };
    1
}

/// `dl_iterate_phdr` callback: stops at the first object that is a driver.
unsafe extern "C" fn is_driver(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    _data: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid record.
    let Some(path) = (unsafe { path_of(info) }) else {
        return 0;
    };
    let file = file_of(path);
    DRIVERS
        .iter()
        .any(|driver| file.starts_with(driver.as_bytes()))
        .into()
}

/// The path of a loaded object.
///
/// # Safety
/// `info` is a record that the loader passes to a callback, which lives as long as the object.
pub(in crate::host) unsafe fn path_of<'a>(info: *const libc::dl_phdr_info) -> Option<&'a CStr> {
    // SAFETY: the caller's contract; the name is null or a C string that lives as long as the object.
    unsafe {
        let name = (*info).dlpi_name;
        (!name.is_null()).then(|| CStr::from_ptr(name))
    }
}

/// The name of the file that a path leads to.
pub(in crate::host) fn file_of(path: &CStr) -> &[u8] {
    let mut parts = path.to_bytes().rsplit(|&b| b == b'/');
    parts.next().unwrap_or(&[])
}
