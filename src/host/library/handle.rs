//! Typed handles.

use super::sys;

/// A communicator of the host.
#[derive(Clone, Copy, PartialEq)]
pub struct Comm(pub(in crate::host) sys::MPI_Comm);

// SAFETY: a communicator handle is an index or an address that any thread may pass to MPI; Rondo
// never looks behind it.
unsafe impl Send for Comm {}
// SAFETY: as above.
unsafe impl Sync for Comm {}
