//! The functions of GPU drivers that tell whose memory an address is in, and copy. The library is the program's; Rondo
//! only looks its functions up.

use super::loader::{as_function, loaded};
use parking_lot::Mutex;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::ptr;

/// A function that the driver's library lacks.
pub struct Lacking;

/// A library that is loaded.
struct Library(*mut c_void);

impl Library {
    /// The library at a path.
    fn at(path: &CStr) -> Result<Library, Lacking> {
        loaded(path).map(Library).ok_or(Lacking)
    }

    /// A function.
    ///
    /// # Safety
    /// `F` is the type of the function of this name, as a pointer.
    unsafe fn function<F: Copy>(&self, name: &CStr) -> Result<F, Lacking> {
        // SAFETY: the handle is never closed, and `name` is a C string; the caller's contract.
        unsafe { as_function(libc::dlsym(self.0, name.as_ptr())) }.ok_or(Lacking)
    }
}

/// `CUresult` or `hipError_t`; 0 is success.
type Status = c_int;
/// `CUdeviceptr`. In the unified address space it may as well be the processor's.
type Address = u64;

/// What CUDA's driver may say of an address (`CUpointer_attribute`).
const CONTEXT: c_uint = 1;
const MEMORY_TYPE: c_uint = 2;
const IS_MANAGED: c_uint = 8;
static MEMPOOL: c_uint = 17;
/// `CU_MEMORYTYPE_HOST`; 0 is memory that the driver does not know.
const HOST: u32 = 1;

/// CUDA's driver.
pub struct Cuda {
    attributes: unsafe extern "C" fn(c_uint, *const c_uint, *const *mut c_void, Address) -> Status,
    push: unsafe extern "C" fn(*mut c_void) -> Status,
    pop: unsafe extern "C" fn(*mut *mut c_void) -> Status,
    copy: unsafe extern "C" fn(Address, Address, usize) -> Status,
    synchronize: unsafe extern "C" fn(*mut c_void) -> Status,
    /// Finds out about memory that was mapped by hand; only later drivers have such memory.
    retain: Option<unsafe extern "C" fn(*mut u64, *mut c_void) -> Status>,
    release: Option<unsafe extern "C" fn(u64) -> Status>,
}

/// The context that memory of CUDA's belongs to; null if it does not say.
#[derive(Clone, Copy)]
pub struct Context(*mut c_void);

impl Cuda {
    /// The functions of the library at this path.
    pub fn find(path: &CStr) -> Result<Cuda, Lacking> {
        let library = Library::at(path)?;
        // SAFETY: the driver's functions of these names have these signatures.
        unsafe {
            Ok(Cuda {
                attributes: library.function(c"cuPointerGetAttributes")?,
                push: library.function(c"cuCtxPushCurrent_v2")?,
                pop: library.function(c"cuCtxPopCurrent_v2")?,
                copy: library.function(c"cuMemcpy")?,
                synchronize: library.function(c"cuStreamSynchronize")?,
                retain: library.function(c"cuMemRetainAllocationHandle").ok(),
                release: library.function(c"cuMemRelease").ok(),
            })
        }
    }

    /// The context of an address in the memory of a GPU, or in memory that moves between GPU and processor; `None` if
    /// the processor may touch it.
    pub fn owns(&self, address: *const u8) -> Option<Context> {
        let (mut context, mut kind, mut managed) = (ptr::null_mut::<c_void>(), 0u32, 0u32);
        let names = [CONTEXT, MEMORY_TYPE, IS_MANAGED];
        let values: [*mut c_void; 3] = [
            (&raw mut context).cast(),
            (&raw mut kind).cast(),
            (&raw mut managed).cast(),
        ];
        // SAFETY: there are as many places as names, each of the size that the driver writes to it. The address is only
        // looked at.
        let status =
            unsafe { (self.attributes)(3, names.as_ptr(), values.as_ptr(), address as Address) };
        if status != 0 || kind == 0 {
            return None; // not initialised, or memory that the driver does not know
        }
        let is_device = kind != HOST || managed != 0 || self.is_pooled(address);
        (is_device || self.is_mapped(address)).then_some(Context(context))
    }

    /// Is it in a pool? Such memory may say that it is the processor's.
    fn is_pooled(&self, address: *const u8) -> bool {
        let mut pool = ptr::null_mut::<c_void>();
        let value: *mut c_void = (&raw mut pool).cast();
        // SAFETY: as in `owns`.
        let status = unsafe {
            (self.attributes)(1, &raw const MEMPOOL, &raw const value, address as Address)
        };
        status == 0 && !pool.is_null()
    }

    /// Was it mapped by hand? As above.
    fn is_mapped(&self, address: *const u8) -> bool {
        let (Some(retain), Some(release)) = (self.retain, self.release) else {
            return false;
        };
        let mut handle = 0u64;
        // SAFETY: the driver writes a handle, or refuses; it takes any address. What it gave is given back.
        unsafe {
            let found = retain(&raw mut handle, address.cast_mut().cast()) == 0;
            if found {
                release(handle);
            }
            found
        }
    }

    /// Copies bytes, of which at least one side is in memory of this context. They have arrived afterwards.
    ///
    /// # Safety
    /// As many bytes can be read at `from` and written at `to`, by the processor or the GPU, and do not overlap.
    pub unsafe fn copy(
        &self,
        Context(context): Context,
        from: *const u8,
        to: *mut u8,
        bytes: usize,
    ) -> Result<(), Status> {
        let done = |status: Status| match status {
            0 => Ok(()),
            status => Err(status),
        };
        // SAFETY: the caller's contract. Null is the stream that waits for all that do not say otherwise. A context
        // that was pushed is taken away again.
        unsafe {
            if !context.is_null() {
                done((self.push)(context))?;
            }
            let copied = done((self.copy)(to as Address, from as Address, bytes))
                .and_then(|()| done((self.synchronize)(ptr::null_mut())));
            if !context.is_null() {
                let mut popped = ptr::null_mut();
                done((self.pop)(&raw mut popped))?;
            }
            copied
        }
    }
}

/// `hipMemcpyDefault`: the addresses tell the direction.
const BY_ADDRESS: c_int = 4;

/// What HIP says of an address: the beginning of `hipPointerAttribute_t`. What the kinds mean depends on the version,
/// so they are not looked at.
#[repr(C)]
struct HipAttributes {
    kind: c_int,
    device: c_int,
    on_device: *mut c_void,
    on_processor: *mut c_void,
    is_managed: c_int,
    flags: c_uint,
    /// Room for what later versions may add.
    rest: [u64; 16],
}

/// AMD's HIP.
pub struct Hip {
    attributes: unsafe extern "C" fn(*mut HipAttributes, *const c_void) -> Status,
    copy: unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_int) -> Status,
    synchronize: unsafe extern "C" fn(*mut c_void) -> Status,
    last_error: unsafe extern "C" fn() -> Status,
}

impl Hip {
    /// The functions of the library at this path.
    pub fn find(path: &CStr) -> Result<Hip, Lacking> {
        let library = Library::at(path)?;
        // SAFETY: HIP's functions of these names have these signatures.
        unsafe {
            Ok(Hip {
                attributes: library.function(c"hipPointerGetAttributes")?,
                copy: library.function(c"hipMemcpy")?,
                synchronize: library.function(c"hipStreamSynchronize")?,
                last_error: library.function(c"hipGetLastError")?,
            })
        }
    }

    /// Is this address in the memory of a GPU, or in memory that moves between GPU and processor?
    pub fn owns(&self, address: *const u8) -> bool {
        let mut found = HipAttributes {
            kind: 0,
            device: 0,
            on_device: ptr::null_mut(),
            on_processor: ptr::null_mut(),
            is_managed: 0,
            flags: 0,
            rest: [0; 16],
        };
        // SAFETY: the driver writes a record for which there is room. The address is only looked at. An error that says
        // that HIP does not know the address is not to be seen by the program.
        unsafe {
            if (self.attributes)(&raw mut found, address.cast()) != 0 {
                (self.last_error)();
                return false;
            }
        }
        let is_device = !found.on_device.is_null() && found.on_processor.is_null();
        is_device || found.is_managed != 0
    }

    /// Copies bytes, of which at least one side is HIP's. They have arrived afterwards.
    ///
    /// # Safety
    /// As for [`Cuda::copy`].
    pub unsafe fn copy(&self, from: *const u8, to: *mut u8, bytes: usize) -> Result<(), Status> {
        // SAFETY: the caller's contract.
        let status = unsafe {
            match (self.copy)(to.cast(), from.cast(), bytes, BY_ADDRESS) {
                0 => (self.synchronize)(ptr::null_mut()),
                status => status,
            }
        };
        match status {
            0 => Ok(()),
            status => Err(status),
        }
    }
}

/// What Level Zero's records are (`ze_structure_type_t`): a description of a context, and what is said of memory.
const CONTEXT_DESCRIPTION: c_int = 0xd;
const MEMORY_PROPERTIES: c_int = 0x17;
/// `ze_memory_type_t`: memory that the driver does not know, or the processor's.
const NOT_KNOWN: c_int = 0;
const OF_PROCESSOR: c_int = 1;

/// `ZE_RESULT_ERROR_INVALID_ARGUMENT`: some drivers say that of memory that they do not know.
const INVALID: Status = 0x7800_0004;

/// A process has a driver for each maker of devices, of which there are few.
const DRIVERS_MAX: usize = 16;

/// `ze_context_desc_t`.
#[repr(C)]
struct Description {
    record: c_int,
    next: *const c_void,
    flags: u32,
}

/// `ze_memory_allocation_properties_t`.
#[repr(C)]
struct Properties {
    record: c_int,
    next: *mut c_void,
    kind: c_int,
    id: u64,
    page_bytes: u64,
}

/// A driver, and the context that Rondo made of it, which lasts as long as the process: any thread may ask at any time.
/// A driver knows memory of its other contexts by it too.
struct Asked {
    driver: *mut c_void,
    context: *mut c_void,
}

// SAFETY: handles of Level Zero's are for any thread; Rondo only asks by them.
unsafe impl Send for Asked {}

/// Intel's Level Zero, as far as it tells whose memory an address is in. Its copying wants queues of the program's
/// device, so the host copies.
pub struct LevelZero {
    drivers: unsafe extern "C" fn(*mut u32, *mut *mut c_void) -> Status,
    make_context: unsafe extern "C" fn(*mut c_void, *const Description, *mut *mut c_void) -> Status,
    properties: unsafe extern "C" fn(
        *mut c_void,
        *const c_void,
        *mut Properties,
        *mut *mut c_void,
    ) -> Status,
    /// The drivers so far. The program may initialise more of them at any time.
    asked: Mutex<Vec<Asked>>,
}

impl LevelZero {
    /// The functions of the library at this path.
    pub fn find(path: &CStr) -> Result<LevelZero, Lacking> {
        let library = Library::at(path)?;
        // SAFETY: Level Zero's functions of these names have these signatures.
        unsafe {
            Ok(LevelZero {
                drivers: library.function(c"zeDriverGet")?,
                make_context: library.function(c"zeContextCreate")?,
                properties: library.function(c"zeMemGetAllocProperties")?,
                asked: Mutex::new(Vec::new()),
            })
        }
    }

    /// Is this address in the memory of a GPU, or in memory that moves between GPU and processor? `None` if nobody can
    /// tell, because the program has initialised no driver yet, perhaps.
    pub fn owns(&self, address: *const u8) -> Option<bool> {
        let (mut count, mut drivers) = (DRIVERS_MAX as u32, [ptr::null_mut(); DRIVERS_MAX]);
        // SAFETY: there is room for as many handles as `count` says.
        let status = unsafe { (self.drivers)(&raw mut count, drivers.as_mut_ptr()) };
        if status != 0 || count == 0 {
            return None;
        }
        let mut owns = false;
        for &driver in drivers.iter().take(count as usize) {
            let context = self.context(driver)?;
            let mut found = Properties {
                record: MEMORY_PROPERTIES,
                next: ptr::null_mut(),
                kind: NOT_KNOWN,
                id: 0,
                page_bytes: 0,
            };
            let mut device = ptr::null_mut();
            // SAFETY: the driver writes a record and a handle, for which there is room. The address is only looked at.
            let status = unsafe {
                let (found, device) = (&raw mut found, &raw mut device);
                (self.properties)(context, address.cast(), found, device)
            };
            match status {
                0 => owns |= found.kind != NOT_KNOWN && found.kind != OF_PROCESSOR,
                INVALID => {}
                _ => return None,
            }
        }
        Some(owns)
    }

    /// The context of a driver, made at the first question to it; `None` if the driver makes none.
    fn context(&self, driver: *mut c_void) -> Option<*mut c_void> {
        let mut asked = self.asked.lock();
        if let Some(before) = asked.iter().find(|before| before.driver == driver) {
            return Some(before.context);
        }
        let description = Description {
            record: CONTEXT_DESCRIPTION,
            next: ptr::null(),
            flags: 0,
        };
        let mut context = ptr::null_mut();
        // SAFETY: the handle is the driver's, and the other two are read and written in the call.
        let status =
            unsafe { (self.make_context)(driver, &raw const description, &raw mut context) };
        if status != 0 {
            return None;
        }
        asked.push(Asked { driver, context });
        Some(context)
    }
}
