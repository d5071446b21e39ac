//! Memory that the host reads or writes while messages are under way.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Has a call ended with messages under way?
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// A call ends with messages under way. The job ends as well, but `MPI_Abort` may still move them.
#[cold]
pub(in crate::host) fn give_up() {
    GIVEN_UP.store(true, Relaxed);
}

/// What messages read or write. It is freed in the end, unless a call ended with messages under way: from then on none
/// is, for the host may use it as long as the process lives.
#[derive(Default)]
pub(in crate::host) struct Lent<T>(ManuallyDrop<T>);

impl<T> Lent<T> {
    pub fn new(memory: T) -> Lent<T> {
        Lent(ManuallyDrop::new(memory))
    }
}

impl<T> Deref for Lent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Lent<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for Lent<T> {
    fn drop(&mut self) {
        if !GIVEN_UP.load(Relaxed) {
            // SAFETY: it is not used again.
            unsafe { ManuallyDrop::drop(&mut self.0) }
        }
    }
}
