//! Whether this process may have memory that the processor cannot touch: does it have the library of a GPU's driver?

use super::driver::{Cuda, Hip, LevelZero};
use super::loader::{file_of, path_of};
use once_cell::sync::OnceCell;
use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64};

/// What a process may have in the memory of a GPU, in ascending order: whoever can do less decides for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Devices {
    /// Nothing: it has no driver's library.
    None,
    /// Memory that Rondo can tell from the processor's, and copy or have copied.
    Known,
    /// Memory of which only the host can tell: its driver lacks functions.
    Unknown,
}

impl Devices {
    /// The one of this number, as `as` makes it.
    #[inline]
    pub fn of(number: i64) -> Devices {
        match number {
            ..=0 => Devices::None,
            1 => Devices::Known,
            2.. => Devices::Unknown,
        }
    }
}

/// How the file names of these libraries begin: CUDA's driver, AMD's HIP, Intel's Level Zero.
const DRIVERS: [&str; 3] = ["libcuda.so", "libamdhip64.so", "libze_loader.so"];

/// What was found. Libraries stay, as far as Rondo is concerned.
static FOUND: AtomicU8 = AtomicU8::new(Devices::None as u8);

/// CUDA's functions, if it is here with all of them.
static CUDA: OnceCell<Cuda> = OnceCell::new();

/// HIP's.
static HIP: OnceCell<Hip> = OnceCell::new();

/// Level Zero's.
static LEVEL_ZERO: OnceCell<LevelZero> = OnceCell::new();

/// How many objects the loader had loaded when they were looked through.
static LOOKED_AT: AtomicU64 = AtomicU64::new(0);

/// The user says that buffers are the processor's all the same.
static IGNORED: AtomicBool = AtomicBool::new(false);

/// From now on, [`look_for_devices`] finds none.
pub fn ignore_devices() {
    IGNORED.store(true, Relaxed);
    FOUND.store(Devices::None as u8, Relaxed);
}

/// What was found when it was looked for the last time. A word is read, no more.
#[inline]
pub fn devices() -> Devices {
    Devices::of(FOUND.load(Relaxed).into())
}

/// CUDA's functions, if they were found.
pub(in crate::host) fn cuda() -> Option<&'static Cuda> {
    CUDA.get()
}

/// HIP's functions, if they were found.
pub(in crate::host) fn hip() -> Option<&'static Hip> {
    HIP.get()
}

/// Level Zero's functions, if they were found.
pub(in crate::host) fn level_zero() -> Option<&'static LevelZero> {
    LEVEL_ZERO.get()
}

/// Looks whether this process has got the library of a GPU's driver: programs often load one after their first
/// collective. As long as the loader has loaded nothing, that is a question for a number.
pub fn look_for_devices() -> Devices {
    if IGNORED.load(Relaxed) {
        return Devices::None;
    }
    let mut objects = 0u64;
    // SAFETY: the callback gets back the pointer to `objects`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(count), ptr::from_mut(&mut objects).cast()) };
    if LOOKED_AT.load(Acquire) == objects {
        return devices();
    }
    let mut paths: [Option<CString>; DRIVERS.len()] = Default::default();
    // SAFETY: the callback gets back the pointer to `paths`, which outlives the call, and no other reference to it
    // exists meanwhile.
    unsafe { libc::dl_iterate_phdr(Some(list), ptr::from_mut(&mut paths).cast()) };
    let [cuda, hip, level_zero] = paths;
    let mut known = [
        cuda.map(|path| CUDA.get_or_try_init(|| Cuda::find(&path)).is_ok()),
        hip.map(|path| HIP.get_or_try_init(|| Hip::find(&path)).is_ok()),
        level_zero.map(|path| {
            let found = LEVEL_ZERO.get_or_try_init(|| LevelZero::find(&path));
            found.is_ok()
        }),
    ]
    .into_iter()
    .flatten();
    let found = known.try_fold(Devices::None, |_, known| known.then_some(Devices::Known));
    let found = found.unwrap_or(Devices::Unknown) as u8;
    FOUND.fetch_max(found, Relaxed);
    // Whoever reads the number sees what was found.
    LOOKED_AT.store(objects, Release);
    devices()
}

/// `dl_iterate_phdr` callback: takes the number of objects that were ever loaded from the first one, and stops.
unsafe extern "C" fn count(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    objects: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid record, and `objects` is the counter of `look_for_devices`.
    unsafe { *objects.cast::<u64>() = (*info).dlpi_adds };
    1
}

/// `dl_iterate_phdr` callback: notes the paths of drivers' libraries.
unsafe extern "C" fn list(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    paths: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid record.
    let Some(path) = (unsafe { path_of(info) }) else {
        return 0;
    };
    let file = file_of(path);
    if let Some(driver) = DRIVERS
        .iter()
        .position(|driver| file.starts_with(driver.as_bytes()))
    {
        // SAFETY: `paths` is the array of `look_for_devices`, passed through unchanged.
        let paths = unsafe { &mut *paths.cast::<[Option<CString>; DRIVERS.len()]>() };
        paths[driver] = Some(path.to_owned());
    }
    0
}
