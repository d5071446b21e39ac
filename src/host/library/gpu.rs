//! Whether this process may have memory that the processor cannot touch: does it have the library of a GPU's driver?

use super::loader::{file_of, path_of};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};

/// How the file names of these libraries begin: CUDA's driver, AMD's HIP, Intel's Level Zero.
const DRIVERS: [&str; 3] = ["libcuda.so", "libamdhip64.so", "libze_loader.so"];

/// Was one found? Libraries stay, as far as Rondo is concerned.
static FOUND: AtomicBool = AtomicBool::new(false);

/// How many objects the loader had loaded when they were looked through.
static LOOKED_AT: AtomicU64 = AtomicU64::new(0);

/// The user says that buffers are the processor's all the same.
static IGNORED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Did the program assert that buffers of the call under way are the processor's?
    static ASSERTED: Cell<bool> = const { Cell::new(false) };
}

/// What the program asserted of the memory of a call, for as long as this lives.
pub struct Asserted {
    before: bool,
}

impl Asserted {
    /// A call of this thread begins. Were its buffers asserted to be the processor's?
    pub fn in_call(asserted: bool) -> Asserted {
        Asserted {
            before: ASSERTED.replace(asserted),
        }
    }
}

impl Drop for Asserted {
    fn drop(&mut self) {
        ASSERTED.set(self.before);
    }
}

/// From now on, [`look_for_driver`] finds none.
pub fn ignore_drivers() {
    IGNORED.store(true, Relaxed);
    FOUND.store(false, Relaxed);
}

/// May a buffer of the call under way be in memory that the processor cannot touch? Without a driver a word is read, no
/// more.
#[inline]
pub(in crate::host) fn may_be_foreign() -> bool {
    FOUND.load(Relaxed) && !ASSERTED.get()
}

/// Looks whether this process has got the library of a GPU's driver: programs often load one after their first
/// collective. As long as the loader has loaded nothing, that is a question for a number.
pub fn look_for_driver() -> bool {
    if IGNORED.load(Relaxed) {
        return false;
    }
    let mut objects = 0u64;
    // SAFETY: the callback gets back the pointer to `objects`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(count), ptr::from_mut(&mut objects).cast()) };
    if LOOKED_AT.load(Acquire) != objects {
        let mut found = false;
        // SAFETY: the callback gets back the pointer to `found`, which outlives the call, and no other reference to it
        // exists meanwhile.
        unsafe { libc::dl_iterate_phdr(Some(find), ptr::from_mut(&mut found).cast()) };
        FOUND.fetch_or(found, Relaxed);
        // Whoever reads the number sees what was found.
        LOOKED_AT.store(objects, Release);
    }
    FOUND.load(Relaxed)
}

/// `dl_iterate_phdr` callback: takes the number of objects that were ever loaded from the first one, and stops.
unsafe extern "C" fn count(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    objects: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid record, and `objects` is the counter of `look_for_driver`.
    unsafe { *objects.cast::<u64>() = (*info).dlpi_adds };
    1
}

/// `dl_iterate_phdr` callback: is this object the library of a driver? Stops at the first one.
unsafe extern "C" fn find(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    found: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid record.
    let Some(path) = (unsafe { path_of(info) }) else {
        return 0;
    };
    let file = file_of(path);
    let is_driver = (DRIVERS.iter()).any(|driver| file.starts_with(driver.as_bytes()));
    if is_driver {
        // SAFETY: `found` is the flag of `look_for_driver`.
        unsafe { *found.cast::<bool>() = true };
    }
    c_int::from(is_driver)
}
