//! Rondo's memory: the system's, and where it gives none, that is said. Much of it can be had in no other way, and then
//! Rust ends the process without a word about rank and collective.

use super::reserve;
use crate::report;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

/// The system's memory.
struct Told;

// A test may have an allocator of its own. Those of `tests` are built with debug assertions, and the library without. A
// program that Rondo is linked into may be one with an allocator of its own as well.
#[cfg_attr(not(any(debug_assertions, feature = "direct")), global_allocator)]
#[cfg_attr(
    any(debug_assertions, feature = "direct"),
    allow(dead_code, reason = "see above")
)]
static TOLD: Told = Told;

/// What the system gives when it is asked for so many bytes. If it gives none, it is asked once more without what the
/// process has in reserve, and says that there is no memory if that does not help.
#[inline]
fn asked(bytes: usize, ask: impl Fn() -> *mut u8) -> *mut u8 {
    let memory = ask();
    match memory.is_null() {
        true => asked_again(bytes, ask),
        false => memory,
    }
}

#[cold]
#[inline(never)]
fn asked_again(bytes: usize, ask: impl Fn() -> *mut u8) -> *mut u8 {
    let memory = match reserve::give_back() {
        true => ask(),
        false => ptr::null_mut(),
    };
    if memory.is_null() {
        report::refused(bytes);
    }
    memory
}

// Not in the place of every call: that takes room.
// SAFETY: all calls go to the system's allocator as they come, and so do its answers. Where it refuses, nothing has
// changed, so it may be asked again. Neither the reserve nor saying so allocates anything.
unsafe impl GlobalAlloc for Told {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is the same.
        asked(layout.size(), || unsafe { System.alloc(layout) })
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        asked(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    #[inline(never)]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        asked(bytes, || unsafe { System.realloc(memory, layout, bytes) })
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}
