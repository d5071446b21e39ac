//! Looking after a call of the host's that may never come back.

use super::abi::Abi;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Calls `call`. While it has not come back, another thread calls `look` every `interval`, with the time so far. There is no such
/// thread if the interval is [`Duration::MAX`].
pub fn watched<T>(
    interval: Duration,
    mut look: impl FnMut(Duration) + Send + 'static,
    call: impl FnOnce() -> T,
) -> T {
    if interval == Duration::MAX || Abi::BUILT.is_simulated() {
        return call();
    }
    let (over, is_over) = channel::<()>();
    let start = Instant::now();
    let watch = move || {
        while is_over.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            look(start.elapsed());
        }
    };
    // Without it, only a message is lost.
    let watcher = without_signals(|| thread::Builder::new().name("rondo".into()).spawn(watch));
    let done = call();
    drop(over);
    if let Ok(watcher) = watcher {
        let _ = watcher.join();
    }
    done
}

/// Calls `start`, in which a thread is started that gets no signals: their handlers are the program's, and its threads know of them.
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
