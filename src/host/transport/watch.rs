//! Looking after a call of the host's that may never come back.

use super::patience::Lapse;
use crate::host::library::abi::Abi;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Condvar, Mutex, PoisonError};
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
    // Of the heap: should an error handler of the user's jump out of `call`, the thread goes on with it.
    let watch = Box::new(Watch {
        look: Mutex::new(look),
        interval,
        over: Mutex::new(false),
        changed: Condvar::new(),
    });
    // Without it, only a message is lost.
    let watcher = without_signals(|| start(&watch));
    let done = call();
    *watch.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
    watch.changed.notify_one();
    if let Some(watcher) = watcher {
        // SAFETY: the thread was started above, is joined here only, and ends since the watch is over.
        unsafe { libc::pthread_join(watcher, ptr::null_mut()) };
    }
    done
}

struct Watch<F> {
    look: Mutex<F>,
    interval: Duration,
    over: Mutex<bool>,
    changed: Condvar,
}

/// Starts the thread. It is none of the standard library's, which allocates in it: for its first allocation a thread
/// gets an arena of 64 MiB of addresses, and the host may be where it cannot do without them (Open MPI 5.0 crashes when
/// it finds no memory).
fn start<F: FnMut(Duration) + Send>(watch: &Watch<F>) -> Option<libc::pthread_t> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: the attributes are set up before they are used and destroyed after it. The watch outlives the thread: its
    // owner joins the thread before he frees it, or never frees it.
    unsafe {
        if libc::pthread_attr_init(attributes.as_mut_ptr()) != 0 {
            return None;
        }
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK);
        let failed = libc::pthread_create(
            thread.as_mut_ptr(),
            attributes.as_ptr(),
            run::<F>,
            ptr::from_ref(watch).cast_mut().cast(),
        );
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        (failed == 0).then(|| thread.assume_init())
    }
}

/// What the thread does: it waits, and allocates nothing before its first look.
extern "C" fn run<F: FnMut(Duration) + Send>(watch: *mut c_void) -> *mut c_void {
    // SAFETY: `start` hands over a watch of this type, which stays until the thread has ended.
    let watch = unsafe { &*watch.cast::<Watch<F>>() };
    let mut over = watch.over.lock().unwrap_or_else(PoisonError::into_inner);
    let mut next = watch.interval;
    let mut lapse = Lapse::begin();
    while !*over {
        let time = lapse.look();
        if time >= next {
            next += watch.interval;
            drop(over);
            (watch.look.lock().unwrap_or_else(PoisonError::into_inner))(time);
            over = watch.over.lock().unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let wait = (watch.changed).wait_timeout(over, (next - time).min(OFTEN));
        over = wait.unwrap_or_else(PoisonError::into_inner).0;
    }
    ptr::null_mut()
}

/// Calls `start`, in which a thread is started that gets no signals: their handlers are the program's, and its threads
/// know of them.
fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first call fills the set that the second one reads, and the second one the other.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
    }
    let started = start();
    // SAFETY: the set was filled above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    started
}
