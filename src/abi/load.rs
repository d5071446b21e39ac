//! What is done when the library is loaded, and when the process exits.

use crate::coll;

/// The loader calls what this points to. The process may be a shell or a launcher, and MPI is not up: only
/// `rondo check` wants to know, and says so in the environment.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

/// The same at the exit, if the process comes to it.
#[used]
#[unsafe(link_section = ".fini_array")]
static EXITS: extern "C" fn() = exits;

extern "C" fn loaded() {
    coll::loaded();
}

extern "C" fn exits() {
    coll::exits();
}
