//! What is done when the process is asked to end by a signal, where the program does nothing about that itself.
//!
//! The handler raises a semaphore. All else is done by a thread that waits for it, while the program goes on: so it may
//! allocate, and take locks. Then the process ends by the signal, as it would have without this.
//!
//! There is no descriptor in it: a program may close all that it knows nothing of, and open files of its own in their
//! places.

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::io::{Error, Result};
use std::mem::{MaybeUninit, zeroed};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

/// A semaphore of the C library.
struct Semaphore(UnsafeCell<MaybeUninit<libc::sem_t>>);

// SAFETY: all that is done with it is done by functions of the C library that several threads may call at a time, but
// for the initialisation, which comes before the thread and the handler that call these.
unsafe impl Sync for Semaphore {}

impl Semaphore {
    fn place(&self) -> *mut libc::sem_t {
        self.0.get().cast()
    }
}

/// What the handler raises.
static RAISED: Semaphore = Semaphore(UnsafeCell::new(MaybeUninit::uninit()));

/// The last signal that it was raised for.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

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
    // SAFETY: the place is one for a semaphore, and nobody uses it yet.
    check(unsafe { libc::sem_init(RAISED.place(), 0, 0) })?;
    with_signals_blocked(|| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.name("rondo-end".to_owned());
        thread.spawn(move || wait(last)).map(drop)
    })?;
    PROCESS.store(std::process::id() as i32, Relaxed);
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
    // SAFETY: all of these may be called in a handler; errno is the interrupted code's, and is left as it was. The
    // semaphore was initialised before the handler was installed.
    unsafe {
        let errno = *libc::__errno_location();
        SIGNAL.store(signal, Relaxed);
        let is_own = libc::getpid() == PROCESS.load(Relaxed);
        if !is_own || libc::sem_post(RAISED.place()) != 0 {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        *libc::__errno_location() = errno;
    }
}

/// What the thread does.
fn wait(last: fn()) {
    loop {
        // SAFETY: the semaphore was initialised before the thread was started. It may wake up for nothing.
        while unsafe { libc::sem_wait(RAISED.place()) } != 0 {}
        let signal = SIGNAL.load(Relaxed);
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
