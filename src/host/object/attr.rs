//! Values of Rondo's that hang on the host's objects, by MPI's attribute caching.
//!
//! An attribute dies with its object, is not carried over by `MPI_Comm_dup` or `MPI_Type_dup`, and
//! needs no map from handles, which hosts reuse at once after a free.

use super::code::{Code, check};
use crate::host::library::abi::{MPI_SUCCESS, RawHandle};
use crate::host::library::handle::Comm;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::ptr;
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

/// An object that may have attributes.
pub trait HasAttributes: Copy {
    /// Makes a keyval whose values are boxes of `T`.
    fn create_keyval<T>(mpi: &Mpi) -> Result<c_int, Code>;
    /// The value under `key`, null if there is none.
    fn get_attr(self, mpi: &Mpi, key: c_int) -> Result<*mut c_void, Code>;
    /// Sets the value under `key`.
    fn set_attr(self, mpi: &Mpi, key: c_int, value: *mut c_void) -> Result<(), Code>;
    /// The value that it had before this thread began to free it, null if none. Attributes of objects that are being
    /// freed may not be looked at.
    fn freed_with(self) -> Option<*mut c_void> {
        None
    }
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

impl<C: HasAttributes, T: Send + Sync + 'static> Attribute<C, T> {
    fn key(&self, mpi: &Mpi) -> Result<c_int, Code> {
        self.key
            .get_or_try_init(|| C::create_keyval::<T>(mpi))
            .copied()
    }

    /// The value that `object` carries. The reference is good until the object is freed, which a
    /// legal program does not do while it is in use.
    #[inline]
    pub fn get<'a>(&self, mpi: &'a Mpi, object: C) -> Result<Option<&'a T>, Code> {
        let value = match object.freed_with() {
            Some(value) => value,
            None => object.get_attr(mpi, self.key(mpi)?)?,
        };
        // SAFETY: values under this key come from `set` only and are dropped by the delete callback.
        Ok(unsafe { value.cast::<T>().as_ref() })
    }

    /// Makes `object` carry `value`; it is dropped together with the object.
    pub fn set<'a>(
        &self,
        mpi: &'a Mpi,
        object: C,
        value: impl Into<Box<T>>,
    ) -> Result<&'a T, Code> {
        let value = Box::into_raw(value.into());
        let set = self
            .key(mpi)
            .and_then(|key| object.set_attr(mpi, key, value.cast()));
        if let Err(code) = set {
            // SAFETY: the host did not take the pointer, so it is still ours alone.
            drop(unsafe { Box::from_raw(value) });
            return Err(code);
        }
        // SAFETY: the box lives until the delete callback drops it, see `get`.
        Ok(unsafe { &*value })
    }
}

/// A communicator that a thread is freeing, with the value that it carries: the program's own callbacks may call
/// collectives on it, before the delete callback of the value and after it, in an order that may differ between ranks.
struct Freed {
    /// Tells it from others of the thread's.
    number: usize,
    comm: Comm,
    value: *mut c_void,
    /// The delete callback has given the value back: how to drop it.
    given_back: Option<unsafe fn(*mut c_void)>,
}

thread_local! {
    /// What this thread is freeing, the latest last. Nothing is to be dropped when the thread ends: programs free
    /// communicators, and end MPI, in destructors and `atexit` functions that are called after that.
    static FREED: RefCell<ManuallyDrop<Vec<Freed>>> =
        const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// Communicators that any thread is freeing.
static FREEING: AtomicUsize = AtomicUsize::new(0);

/// Takes the first of those that this thread frees for which `is_it` says so.
fn take_freed(is_it: impl Fn(&Freed) -> bool) -> Option<Freed> {
    let freed = FREED.with_borrow_mut(|all| {
        let freed = all.iter().position(is_it).map(|place| all.remove(place));
        if all.is_empty() {
            drop(ManuallyDrop::into_inner(mem::take(all)));
        }
        freed
    });
    freed.inspect(|_| {
        FREEING.fetch_sub(1, Relaxed);
    })
}

/// A communicator is being freed, until this is dropped. If an error handler of the program's jumps out of that, it is
/// not; then what is noted of it serves until the communicator is freed again.
struct Freeing<'a> {
    mpi: &'a Mpi,
    key: Option<c_int>,
    number: usize,
    /// Is it gone?
    done: bool,
}

impl Drop for Freeing<'_> {
    fn drop(&mut self) {
        let freed = take_freed(|freed| freed.number == self.number);
        if let Some(Freed {
            comm,
            value,
            given_back: Some(drop_it),
            ..
        }) = freed
        {
            // It is still there, and so are those of the other ranks.
            if let (false, Some(key)) = (self.done, self.key)
                && comm.set_attr(self.mpi, key, value).is_ok()
            {
                return;
            }
            // SAFETY: the delete callback said how, and left it to this.
            unsafe { drop_it(value) };
        }
    }
}

impl<T: Send + Sync + 'static> Attribute<Comm, T> {
    /// Calls `free`, in which the host frees `comm`, and gives its code. The value that the communicator carries lives
    /// until that is over.
    ///
    /// It is taken off first, unless the host `ends`: the program's callbacks on the communicator may refuse that it is
    /// freed, or come later, when all messages on it are through (MPICH), and until then ranks would have the value or
    /// not as their callbacks have one order or another.
    pub fn while_freed(
        &self,
        mpi: &Mpi,
        comm: Comm,
        ends: bool,
        free: impl FnOnce() -> c_int,
    ) -> c_int {
        static NUMBERS: AtomicUsize = AtomicUsize::new(0);
        let (number, key) = (NUMBERS.fetch_add(1, Relaxed), self.key.get().copied());
        // It is freed again: a free that failed was left by a jump, or goes on and frees it no more.
        let before = take_freed(|freed| freed.comm == comm);
        // A communicator without a value is being freed as well: whether this process has made the key depends on what
        // it called on others, and the ranks of this one must know alike.
        let value = match (before, key) {
            (Some(freed), _) => Ok((freed.value, freed.given_back)),
            (None, Some(key)) => comm.get_attr(mpi, key).map(|value| (value, None)),
            (None, None) => Ok((ptr::null_mut(), None)),
        };
        let Ok((value, given_back)) = value else {
            return free();
        };
        let freed = Freed {
            number,
            comm,
            value,
            given_back,
        };
        FREED.with_borrow_mut(|all| all.push(freed));
        FREEING.fetch_add(1, Relaxed);
        let mut freeing = Freeing {
            mpi,
            key,
            number,
            done: false,
        };
        if let Some(key) = key
            && !ends
            && !value.is_null()
            && given_back.is_none()
        {
            // Should it fail, the host calls back when it frees the communicator.
            let _ = comm.delete_attr(mpi, key);
        }
        let code = free();
        freeing.done = code == MPI_SUCCESS as c_int;
        // MPICH keeps a communicator whose messages are under way until these are through.
        if freeing.done && !ends && cfg!(not(abi = "openmpi")) {
            note_freed(comm);
        }
        code
    }
}

/// So many times were values of Rondo's hung on communicators, or taken off, if only because they were freed.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// A number that is another one after a communicator was freed that carried a value of Rondo's, before the host gives
/// its handle to another one: the delete callback comes first.
#[inline]
pub fn changes() -> u64 {
    CHANGES.load(Acquire)
}

/// Handles of communicators that are gone, of which Rondo may not have seen the end: the program freed them when their
/// messages were under way, or by a call that did not come here. Delete callbacks of the program may call collectives
/// then. What these hang on the communicator is lost without a callback, and others get its handle.
static FREED_BEFORE: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

#[cold]
fn note_freed(comm: Comm) {
    FREED_BEFORE.lock().insert(comm.number());
}

/// May it be another one, or none any more, without a change of [`changes`]? The host always knows.
#[cold]
pub fn was_freed_before(comm: Comm) -> bool {
    FREED_BEFORE.lock().contains(&comm.number())
}

/// Is this thread freeing the communicator?
pub fn is_being_freed(comm: Comm) -> bool {
    comm.freed_with().is_some()
}

impl HasAttributes for Comm {
    #[inline]
    fn freed_with(self) -> Option<*mut c_void> {
        if FREEING.load(Relaxed) == 0 {
            return None;
        }
        FREED.with_borrow(|all| {
            let freed = all.iter().find(|freed| freed.comm == self);
            freed.map(|freed| freed.value)
        })
    }

    fn create_keyval<T>(mpi: &Mpi) -> Result<c_int, Code> {
        let mut key: c_int = 0;
        // SAFETY: the callbacks have the signatures of the standard and live as long as the library,
        // which is never unloaded while MPI runs.
        check(unsafe {
            (mpi.f.comm_create_keyval)(
                not_copied::<sys::MPI_Comm>,
                drop_from_comm::<T>,
                &mut key,
                ptr::null_mut(),
            )
        })?;
        Ok(key)
    }

    #[inline]
    fn get_attr(self, mpi: &Mpi, key: c_int) -> Result<*mut c_void, Code> {
        let (mut value, mut found): (*mut c_void, c_int) = (ptr::null_mut(), 0);
        // SAFETY: the handle is the caller's, valid by the MPI contract, or made by Rondo and not freed. Keys are
        // Rondo's and stay; value and flag are places of the right types.
        check(unsafe { (mpi.f.comm_get_attr)(self.0, key, (&raw mut value).cast(), &mut found) })?;
        Ok(if found != 0 { value } else { ptr::null_mut() })
    }

    fn set_attr(self, mpi: &Mpi, key: c_int, value: *mut c_void) -> Result<(), Code> {
        CHANGES.fetch_add(1, Release);
        // SAFETY: handle and key are as in `get_attr`. The host only stores the pointer.
        check(unsafe { (mpi.f.comm_set_attr)(self.0, key, value) })
    }
}

impl Comm {
    /// Its handle as a number.
    fn number(self) -> u64 {
        RawHandle::of(self.0).bits()
    }

    /// Takes the value under `key` off, which is given back.
    fn delete_attr(self, mpi: &Mpi, key: c_int) -> Result<(), Code> {
        CHANGES.fetch_add(1, Release);
        // SAFETY: the caller frees the communicator by this handle, and has not yet. The key is Rondo's and stays.
        check(unsafe { (mpi.f.comm_delete_attr)(self.0, key) })
    }
}

/// A datatype of the host.
#[derive(Clone, Copy, PartialEq)]
pub struct Datatype(pub(in crate::host) sys::MPI_Datatype);

impl HasAttributes for Datatype {
    fn create_keyval<T>(mpi: &Mpi) -> Result<c_int, Code> {
        let mut key: c_int = 0;
        // SAFETY: the callbacks have the signatures of the standard and live as long as the library,
        // which is never unloaded while MPI runs.
        check(unsafe {
            (mpi.f.type_create_keyval)(
                not_copied::<sys::MPI_Datatype>,
                drop_value::<sys::MPI_Datatype, T>,
                &mut key,
                ptr::null_mut(),
            )
        })?;
        Ok(key)
    }

    fn get_attr(self, mpi: &Mpi, key: c_int) -> Result<*mut c_void, Code> {
        let (mut value, mut found): (*mut c_void, c_int) = (ptr::null_mut(), 0);
        // SAFETY: the handle is the caller's, valid by the MPI contract. Keys are Rondo's and stay; value and flag are
        // places of the right types.
        check(unsafe { (mpi.f.type_get_attr)(self.0, key, (&raw mut value).cast(), &mut found) })?;
        Ok(if found != 0 { value } else { ptr::null_mut() })
    }

    fn set_attr(self, mpi: &Mpi, key: c_int, value: *mut c_void) -> Result<(), Code> {
        // SAFETY: handle and key are as in `get_attr`. The host only stores the pointer.
        check(unsafe { (mpi.f.type_set_attr)(self.0, key, value) })
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
    let kept = FREED.with_borrow_mut(|all| {
        let freed = all.iter_mut().find(|freed| freed.value == value);
        freed.map(|freed| freed.given_back = Some(drop_box::<T>))
    });
    if kept.is_none() {
        // SAFETY: the value came from `Attribute::set` and the host calls back once for it.
        unsafe { drop_box::<T>(value) };
    }
    MPI_SUCCESS as c_int
}

/// The same of a communicator.
unsafe extern "C" fn drop_from_comm<T>(
    comm: sys::MPI_Comm,
    key: c_int,
    value: *mut c_void,
    extra: *mut c_void,
) -> c_int {
    CHANGES.fetch_add(1, Release);
    if !is_being_freed(Comm(comm)) {
        note_freed(Comm(comm));
    }
    // SAFETY: the arguments are the host's.
    unsafe { drop_value::<sys::MPI_Comm, T>(comm, key, value, extra) }
}

/// Drops a value.
///
/// # Safety
/// It came from [`Attribute::set`], and nobody uses it any more.
unsafe fn drop_box<T>(value: *mut c_void) {
    // SAFETY: the caller's contract.
    drop(unsafe { Box::from_raw(value.cast::<T>()) });
}
