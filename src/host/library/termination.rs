//! What is done when the process is asked to end by a signal, where the program does nothing about that itself.
//!
//! The handler writes the signal into a pipe. All else is done by a thread that waits at the other end, while the
//! program goes on: so it may allocate, and take locks. Then the process ends by the signal, as it would have without
//! this.

use std::ffi::c_int;
use std::fs::File;
use std::io::{Error, Read, Result};
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

/// The end of the pipe that the handler writes to.
static PIPE: AtomicI32 = AtomicI32::new(-1);

/// The process that has the thread: one that was copied from it has only the handler.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// The thread needs no more: it makes a text and writes it.
const STACK_BYTES: usize = 512 << 10;

/// Has `last` be called, on a thread of its own, when one of these signals comes. Not if the program has a handler for
/// it, or ignores it; a handler that it installs later takes the place of this one. To be called once.
pub fn before_termination(signals: &[c_int], last: fn()) -> Result<()> {
    let is_free = |signal: &&c_int| handler(**signal).is_ok_and(|it| it == libc::SIG_DFL);
    let signals: Vec<c_int> = signals.iter().filter(is_free).copied().collect();
    if signals.is_empty() {
        return Ok(());
    }
    let mut ends = [-1; 2];
    // SAFETY: the call fills both places.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    // SAFETY: the descriptors are new, and nobody else's.
    let [from, to] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    with_signals_blocked(|| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.name("rondo-end".to_owned());
        thread.spawn(move || wait(File::from(from), last)).map(drop)
    })?;
    PIPE.store(to.as_raw_fd(), Relaxed);
    PROCESS.store(std::process::id() as i32, Relaxed);
    // It is open for as long as the process lives.
    std::mem::forget(to);
    // SAFETY: zero is a value of all fields; the handler has the type that one without SA_SIGINFO has.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        let mut install = signals.iter();
        install.try_for_each(|&it| check(libc::sigaction(it, &action, null_mut())))
    }
}

fn check(code: c_int) -> Result<()> {
    match code {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// The handler that a signal has.
fn handler(signal: c_int) -> Result<usize> {
    // SAFETY: zero is a value of all fields, and the call only fills them.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        check(libc::sigaction(signal, null(), &mut action))?;
        Ok(action.sa_sigaction)
    }
}

/// Calls `start`; threads that it starts see no signals: their handlers are the program's, and its threads know of
/// them.
pub(in crate::host) fn with_signals_blocked<R>(start: impl FnOnce() -> R) -> R {
    // SAFETY: both sets are filled before they are read, and the calls cannot fail on them.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (zeroed(), zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let result = start();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut());
        result
    }
}

extern "C" fn on_signal(signal: c_int) {
    // SAFETY: all of these may be called in a handler; errno is the interrupted code's, and is left as it was.
    unsafe {
        let errno = *libc::__errno_location();
        let is_own = libc::getpid() == PROCESS.load(Relaxed);
        // The program may have closed the pipe.
        if !is_own || libc::write(PIPE.load(Relaxed), [signal as u8].as_ptr().cast(), 1) != 1 {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        *libc::__errno_location() = errno;
    }
}

/// What the thread does.
fn wait(mut pipe: File, last: fn()) {
    let mut byte = [0];
    while pipe.read_exact(&mut byte).is_ok() {
        let signal = c_int::from(byte[0]);
        last();
        // A handler of the program's, which called this one, may have more to do.
        if handler(signal).is_ok_and(|handler| handler == on_signal as *const () as usize) {
            // SAFETY: the calls take numbers. The signal is for the process: this thread does not take it.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::kill(libc::getpid(), signal);
            }
        }
    }
}
