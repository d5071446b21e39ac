//! Looking after a call of the host's that may never come back.

use super::patience::Lapse;
use crate::host::library::abi::Abi;
use crate::host::library::termination::with_signals_blocked;
use std::cell::Cell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The stack of the thread that looks. It writes a message at most.
const STACK: usize = 256 << 10;

/// How often the thread looks at the clock at the least.
const OFTEN: Duration = Duration::from_millis(500);

/// Calls `call`. While it has not come back, another thread calls `look` every `interval`, with the time so far. There
/// is no such thread if the interval is [`Duration::MAX`].
pub fn watched<T>(
    interval: Duration,
    look: impl FnMut(Duration) + Send + 'static,
    call: impl FnOnce() -> T,
) -> T {
    if interval == Duration::MAX || Abi::BUILT.is_simulated() {
        return call();
    }
    let over = Arc::new(Over::default());
    let watch = Box::new(Watch {
        look,
        interval,
        over: over.clone(),
    });
    let watch = Box::into_raw(watch);
    // Without it, only a message is lost.
    let Some(thread) = with_signals_blocked(|| start(watch)) else {
        // SAFETY: it is from `Box::into_raw`, and no thread has it.
        drop(unsafe { Box::from_raw(watch) });
        return call();
    };
    *over.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
    abandon();
    CURRENT.set(Arc::into_raw(over.clone()));
    WATCHED.fetch_add(1, Relaxed);
    // It ends also where an error handler of the program's throws an exception.
    let _watching = Watching { over, watch };
    call()
}

/// Ends what looks after a call of this thread's that an error handler of the program's jumped out of.
#[inline]
pub fn abandon() {
    if WATCHED.load(Relaxed) > 0 {
        end_current();
    }
}

#[cold]
fn end_current() {
    let current = CURRENT.replace(ptr::null());
    if !current.is_null() {
        WATCHED.fetch_sub(1, Relaxed);
        // SAFETY: it is from `Arc::into_raw`, and was taken out of its place.
        let over = unsafe { Arc::from_raw(current) };
        over.set();
        over.release();
    }
}

/// Watched calls of all threads. Every call looks, and what is a thread's own is not found at once.
static WATCHED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What tells that the watched call of this thread is over; null if there is none.
    static CURRENT: Cell<*const Over> = const { Cell::new(ptr::null()) };
}

/// Is a call over?
#[derive(Default)]
struct Over {
    is: Mutex<bool>,
    changed: Condvar,
    /// The thread that looks, until somebody waits for its end or lets it go.
    thread: Mutex<Option<libc::pthread_t>>,
}

impl Over {
    fn set(&self) {
        *self.is.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }

    /// The thread is this caller's.
    fn take_thread(&self) -> Option<libc::pthread_t> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.take()
    }

    /// Nobody waits for the end of the thread.
    fn release(&self) {
        if let Some(thread) = self.take_thread() {
            // SAFETY: the thread was started for this, and is joined by nobody.
            unsafe { libc::pthread_detach(thread) };
        }
    }
}

/// A call that is looked after. If an error handler of the program's jumps out of it, the thread keeps what it has.
struct Watching<F> {
    over: Arc<Over>,
    /// What the thread has. It does not free it: for that it would get an arena as well (see [`start`]).
    watch: *mut Watch<F>,
}

impl<F> Drop for Watching<F> {
    fn drop(&mut self) {
        self.over.set();
        // A handler of the program's may have called Rondo, which then let the thread go with what it has.
        let Some(thread) = self.over.take_thread() else {
            return;
        };
        if CURRENT.get() == Arc::as_ptr(&self.over) {
            abandon();
        }
        // SAFETY: the thread was started for this, is joined here only, and ends since the call is over. The watch is
        // from `Box::into_raw`, and no thread has it any more.
        unsafe {
            libc::pthread_join(thread, ptr::null_mut());
            drop(Box::from_raw(self.watch));
        }
    }
}

/// What a thread that looks has.
struct Watch<F> {
    look: F,
    interval: Duration,
    over: Arc<Over>,
}

/// Starts the thread, to which the watch is lent until it ends. It is none of the standard library's, which allocates
/// in it: for its first allocation a thread gets an arena of 64 MiB of addresses, and the host may be where it cannot
/// do without them (Open MPI 5.0 crashes when it finds no memory).
fn start<F: FnMut(Duration) + Send>(watch: *mut Watch<F>) -> Option<libc::pthread_t> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: the attributes are set up before they are used and destroyed after it. The watch outlives the thread: it
    // is freed when that has been joined, or never.
    unsafe {
        if libc::pthread_attr_init(attributes.as_mut_ptr()) != 0 {
            return None;
        }
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK);
        let (at, of) = (thread.as_mut_ptr(), attributes.as_ptr());
        let failed = libc::pthread_create(at, of, run::<F>, watch.cast());
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        (failed == 0).then(|| thread.assume_init())
    }
}

/// What the thread does: it waits, and allocates nothing before its first look.
extern "C" fn run<F: FnMut(Duration) + Send>(watch: *mut c_void) -> *mut c_void {
    // SAFETY: `start` lends a watch of this type, which nobody else looks at meanwhile.
    let Watch {
        look,
        interval,
        over: call,
    } = unsafe { &mut *watch.cast::<Watch<F>>() };
    let mut over = call.is.lock().unwrap_or_else(PoisonError::into_inner);
    let mut next = *interval;
    let mut lapse = Lapse::begin();
    while !*over {
        let time = lapse.look();
        if time >= next {
            next += *interval;
            drop(over);
            look(time);
            over = call.is.lock().unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let wait = (call.changed).wait_timeout(over, (next - time).min(OFTEN));
        over = wait.unwrap_or_else(PoisonError::into_inner).0;
    }
    ptr::null_mut()
}
