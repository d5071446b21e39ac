//! Memory that a process has in reserve, for calls in which the system refuses it some.
//!
//! Before long calls the ranks tell each other whether all have the memory that the call takes. Before short ones that
//! would take too long. So each process has addresses in reserve, and all ranks know it of each other. Where the system
//! refuses memory, they are given back, and it is asked again. After the call they are taken anew. Nobody touches them,
//! so they take no memory of the machine, but count where a limit of addresses is set (`ulimit -v`), or where the
//! system promises no more than it has.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicPtr};

/// Bytes of a piece. What cannot be taken anew after a call is pieces, and not all.
const PIECE_BYTES: usize = 4 << 20;

const PIECES: usize = 10;

/// Bytes of all pieces.
pub const RESERVE_BYTES: u64 = (PIECE_BYTES * PIECES) as u64;

/// The pieces; null where one is not there.
static RESERVE: [AtomicPtr<c_void>; PIECES] = [const { AtomicPtr::new(ptr::null_mut()) }; PIECES];

/// Were pieces given back that are to be taken anew?
static LACKS: AtomicBool = AtomicBool::new(false);

/// Takes what is not there. Is all of it there now?
#[inline(never)]
pub fn have_reserve() -> bool {
    let has = |piece: &AtomicPtr<c_void>| !piece.load(Relaxed).is_null() || take(piece);
    RESERVE.iter().all(has)
}

/// The same after a call, if any was given back.
#[inline]
pub fn renew_reserve() {
    if LACKS.load(Relaxed) {
        renew();
    }
}

#[cold]
#[inline(never)]
fn renew() {
    let has = have_reserve();
    LACKS.store(!has, Relaxed);
}

/// Asks for memory, and once more with the reserve if that is in vain. Where Rondo's allocator is the program's own, it
/// does so only here.
pub fn with_reserve<E>(mut ask: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    match ask() {
        Err(_) if give_back() => ask(),
        done => done,
    }
}

/// The system refused memory: gives the reserve back to it. True if there was any. Even where that is too little, to
/// tell the other ranks so takes some.
#[cold]
#[inline(never)]
pub(super) fn give_back() -> bool {
    let mut any = false;
    for piece in &RESERVE {
        let start = piece.swap(ptr::null_mut(), AcqRel);
        if !start.is_null() {
            unmap(start);
            any = true;
        }
    }
    LACKS.fetch_or(any, Relaxed);
    any
}

/// Takes a piece that is not there.
#[cold]
fn take(piece: &AtomicPtr<c_void>) -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the system chooses free addresses for a new mapping, which nobody else knows.
    let start = unsafe { libc::mmap(ptr::null_mut(), PIECE_BYTES, access, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return false;
    }
    let taken = piece.compare_exchange(ptr::null_mut(), start, AcqRel, Relaxed);
    if taken.is_err() {
        unmap(start); // another thread was faster
    }
    true
}

fn unmap(start: *mut c_void) {
    // SAFETY: a piece that `take` mapped, whose address no other thread has: it was exchanged, or never published.
    // Nothing points into it.
    unsafe { libc::munmap(start, PIECE_BYTES) };
}
