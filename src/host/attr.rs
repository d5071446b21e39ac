//! Values of Rondo's that hang on the host's objects, by MPI's attribute caching.
//!
//! An attribute dies with its object, is not carried over by `MPI_Comm_dup` or `MPI_Type_dup`, and
//! needs no map from handles, which hosts reuse at once after a free.

use super::abi::MPI_SUCCESS;
use super::handles::{Code, Comm, check};
use super::sys;
use super::table::Usable;
use once_cell::sync::OnceCell;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A kind of object that can carry attributes.
pub trait Carrier: Copy {
    /// Makes a keyval whose values are boxes of `T`.
    fn create_keyval<T>(host: &Usable) -> Result<c_int, Code>;
    /// The value under `key`, null if there is none.
    fn get_attr(self, host: &Usable, key: c_int) -> Result<*mut c_void, Code>;
    /// Sets the value under `key`.
    fn set_attr(self, host: &Usable, key: c_int, value: *mut c_void) -> Result<(), Code>;
}

/// A key under which objects of kind `C` carry a `T`.
pub struct Attribute<C, T> {
    key: OnceCell<c_int>,
    carries: PhantomData<fn(C) -> T>,
}

impl<C, T> Attribute<C, T> {
    /// A key; made known to the host at its first use.
    #[expect(
        clippy::new_without_default,
        reason = "keys are statics, and Default is not const"
    )]
    pub const fn new() -> Self {
        Attribute {
            key: OnceCell::new(),
            carries: PhantomData,
        }
    }
}

impl<C: Carrier, T: Send + Sync + 'static> Attribute<C, T> {
    fn key(&self, host: &Usable) -> Result<c_int, Code> {
        self.key
            .get_or_try_init(|| C::create_keyval::<T>(host))
            .copied()
    }

    /// The value that `object` carries. The reference is good until the object is freed, which a
    /// legal program does not do while it is in use.
    #[inline]
    pub fn get<'a>(&self, host: &'a Usable, object: C) -> Result<Option<&'a T>, Code> {
        let value = object.get_attr(host, self.key(host)?)?;
        // SAFETY: values under this key come from `set` only and are dropped by the delete callback.
        Ok(unsafe { value.cast::<T>().as_ref() })
    }

    /// Makes `object` carry `value`; it is dropped together with the object.
    pub fn set<'a>(&self, host: &'a Usable, object: C, value: T) -> Result<&'a T, Code> {
        let value = Box::into_raw(Box::new(value));
        let set = self
            .key(host)
            .and_then(|key| object.set_attr(host, key, value.cast()));
        if let Err(code) = set {
            // SAFETY: the host did not take the pointer, so it is still ours alone.
            drop(unsafe { Box::from_raw(value) });
            return Err(code);
        }
        // SAFETY: the box lives until the delete callback drops it, see `get`.
        Ok(unsafe { &*value })
    }
}

impl<T: Send + Sync + 'static> Attribute<Comm, T> {
    /// Drops the value that `comm` carries.
    pub fn delete(&self, host: &Usable, comm: Comm) {
        if let Some(&key) = self.key.get() {
            // SAFETY: the host checks handle and key. An error is not reported: the caller is the
            // teardown, after which nothing more happens.
            unsafe { (host.f.comm_delete_attr)(comm.0, key) };
        }
    }
}

impl Carrier for Comm {
    fn create_keyval<T>(host: &Usable) -> Result<c_int, Code> {
        let mut key: c_int = 0;
        // SAFETY: the callbacks have the signatures of the standard and live as long as the library,
        // which is never unloaded while MPI runs.
        check(unsafe {
            (host.f.comm_create_keyval)(
                not_copied::<sys::MPI_Comm>,
                drop_value::<sys::MPI_Comm, T>,
                &mut key,
                ptr::null_mut(),
            )
        })?;
        Ok(key)
    }

    #[inline]
    fn get_attr(self, host: &Usable, key: c_int) -> Result<*mut c_void, Code> {
        let (mut value, mut found): (*mut c_void, c_int) = (ptr::null_mut(), 0);
        // SAFETY: the host checks the handle; the value has the size of a pointer.
        check(unsafe { (host.f.comm_get_attr)(self.0, key, (&raw mut value).cast(), &mut found) })?;
        Ok(if found != 0 { value } else { ptr::null_mut() })
    }

    fn set_attr(self, host: &Usable, key: c_int, value: *mut c_void) -> Result<(), Code> {
        // SAFETY: the host checks handle and key and stores the pointer.
        check(unsafe { (host.f.comm_set_attr)(self.0, key, value) })
    }
}

/// A datatype of the host.
#[derive(Clone, Copy, PartialEq)]
pub struct Datatype(pub(super) sys::MPI_Datatype);

impl Carrier for Datatype {
    fn create_keyval<T>(host: &Usable) -> Result<c_int, Code> {
        let mut key: c_int = 0;
        // SAFETY: as for communicators.
        check(unsafe {
            (host.f.type_create_keyval)(
                not_copied::<sys::MPI_Datatype>,
                drop_value::<sys::MPI_Datatype, T>,
                &mut key,
                ptr::null_mut(),
            )
        })?;
        Ok(key)
    }

    fn get_attr(self, host: &Usable, key: c_int) -> Result<*mut c_void, Code> {
        let (mut value, mut found): (*mut c_void, c_int) = (ptr::null_mut(), 0);
        // SAFETY: as for communicators.
        check(unsafe { (host.f.type_get_attr)(self.0, key, (&raw mut value).cast(), &mut found) })?;
        Ok(if found != 0 { value } else { ptr::null_mut() })
    }

    fn set_attr(self, host: &Usable, key: c_int, value: *mut c_void) -> Result<(), Code> {
        // SAFETY: as for communicators.
        check(unsafe { (host.f.type_set_attr)(self.0, key, value) })
    }
}

/// Copy callback: the copy of an object does not carry the value.
unsafe extern "C" fn not_copied<H>(
    _object: H,
    _key: c_int,
    _extra: *mut c_void,
    _value: *mut c_void,
    _copy: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the host passes a valid place for the flag.
    unsafe { *flag = 0 };
    MPI_SUCCESS as c_int
}

/// Delete callback: the object is freed, or the attribute deleted.
unsafe extern "C" fn drop_value<H, T>(
    _object: H,
    _key: c_int,
    value: *mut c_void,
    _extra: *mut c_void,
) -> c_int {
    // SAFETY: the value came from `Attribute::set` and the host calls back once for it.
    drop(unsafe { Box::from_raw(value.cast::<T>()) });
    MPI_SUCCESS as c_int
}

/// A function to be run when its holder is dropped, if the host has taken it.
struct AtEnd {
    run: fn(),
    taken: AtomicBool,
}

impl Drop for AtEnd {
    fn drop(&mut self) {
        if *self.taken.get_mut() {
            (self.run)();
        }
    }
}

static AT_END: Attribute<Comm, AtEnd> = Attribute::new();

/// Runs `f` at the start of `MPI_Finalize`, while MPI still works, by an attribute on
/// `MPI_COMM_SELF` (MPI 4.1, section 11.2.4). Not for programs that only use Sessions.
pub fn at_finalize(host: &Usable, f: fn()) -> Result<(), Code> {
    let at_end = AtEnd {
        run: f,
        taken: AtomicBool::new(false),
    };
    let set = AT_END.set(host, Comm(host.h.self_), at_end)?;
    set.taken.store(true, Relaxed);
    Ok(())
}
