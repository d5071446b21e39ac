//! Finding the host, and calling it.

// First, because of its macros.
#[cfg_attr(feature = "direct", path = "linked.rs")]
#[macro_use]
pub mod symbols;

pub mod abi;
mod allocator;
pub mod collectives;
pub mod flavour;
pub mod floats;
pub mod gpu;
pub mod handle;
pub mod hardware;
pub mod identify;
pub mod loader;
pub mod narrow;
#[cfg(not(feature = "direct"))]
pub mod next;
pub mod rights;
pub mod sys;
pub mod table;
pub mod termination;
