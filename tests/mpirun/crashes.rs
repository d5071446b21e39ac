//! What a crash looks like.

/// How launchers, MPI libraries and Rust report a crash. MPICH's launcher makes the signal's bare number its exit
/// status, and both end an aborting job's other ranks by signals, so numbers say nothing.
pub const CRASHES: [&str; 5] = [
    "Segmentation fault",
    "Bus error",
    "(signal 6)",
    "signal 6 (Aborted)",
    // A panic of the library.
    "please report it with ",
];
