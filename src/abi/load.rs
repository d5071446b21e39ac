//! What is done when the library is loaded.

use crate::coll;

/// The loader calls what this points to. The process may be a shell or a launcher, and MPI is not up: only
/// `rondo check` wants to know, and says so in the environment.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

extern "C" fn loaded() {
    coll::loaded();
}
