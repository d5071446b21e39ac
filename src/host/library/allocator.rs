//! Rondo's memory: the system's, and where it gives none, that is said. Much of it can be had in no other way, and then
//! Rust ends the process without a word about rank and collective.

use crate::report;
use std::alloc::{GlobalAlloc, Layout, System};

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

/// What the system gave when it was asked for so many bytes.
#[inline]
fn told(bytes: usize, memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        report::refused(bytes);
    }
    memory
}

// Not in the place of every call: that takes room.
// SAFETY: all calls go to the system's allocator as they come, and so do its answers. To say that it refuses allocates
// nothing.
unsafe impl GlobalAlloc for Told {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is the same.
        told(layout.size(), unsafe { System.alloc(layout) })
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        told(layout.size(), unsafe { System.alloc_zeroed(layout) })
    }

    #[inline(never)]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        told(bytes, unsafe { System.realloc(memory, layout, bytes) })
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}
