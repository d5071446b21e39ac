//! Whose rights this process has.

/// Has this process more rights than the user who started it, as a set-user-id program has? Then its environment is
/// that user's, and its rights are not.
///
/// The kernel says so at the start (`AT_SECURE`). `/proc/self/auxv`, which says the same, is closed to such a process.
pub fn exceed_those_of_the_user() -> bool {
    // SAFETY: the call takes a number and gives one back.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}
