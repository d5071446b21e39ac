//! THE host MPI library: finding it, calling it, and everything that involves its handles.
//!
//! All `PMPI_` names and nearly all unsafe code of Rondo are in this folder.

// First, because of its macros.
#[macro_use]
mod library;

mod call;
mod data;
mod object;
mod transport;

pub use call::*;
pub use data::blocks::UserBlocks;
pub use data::counts::{Count, Counts};
pub use data::data::Data;
pub use data::layout::Layout;
pub use data::operands::{Area, Buffers, Operands, Vectors};
pub use data::sides::{Side, Sides};
pub use data::staging::StagingRoom;
pub use library::abi::{Abi, RawHandle};
pub(crate) use library::collectives::signature;
pub use library::floats::with_plain_floats;
pub use library::gpu::{Asserted, ignore_drivers, look_for_driver};
pub use library::handle::Comm;
pub use library::hardware::{gpu_may_be_below, gpu_may_be_here};
pub use library::identify::OUTLIVES;
#[cfg(feature = "one")]
pub use library::identify::abi_of_process;
#[cfg(not(feature = "direct"))]
pub use library::next::Next;
pub use library::rights;
#[cfg(feature = "direct")]
pub use library::symbols::function_of_type;
pub use library::table::{Host, Mpi, host};
pub use library::termination::before_termination;
pub use object::attr::{Attribute, Datatype, changes, is_being_freed, was_freed_before};
pub use object::code::{Code, no_trouble};
pub use object::failure::Failure;
pub use object::groups::Group;
pub use object::operator::Operator;
pub use transport::channel::Channel;
pub use transport::in_flight::InFlight;
pub use transport::local_packets::{LocalPackets, MailboxEvent, MailboxState, Route};
pub use transport::pairs_wire::{MpiPairsWire, PairsJob};
pub use transport::probes::{Peer, Probe};
pub use transport::requests::{Requests, SYNCHRONOUS_BYTES};
pub use transport::ring::{NodeCall, RingLocal, RingSlots, SlotVectors};
pub use transport::rooted_wire::MpiRootedWire;
pub use transport::script_wire::{MpiScriptWire, ScriptJob};
pub use transport::tags::{NUMBER_BITS, TAG_BITS_MIN, TagSpace, Tags, call_tag};
pub use transport::view::View;
pub use transport::watch::abandon as abandon_watch;
pub use transport::wire::{Job, MpiWire};

/// Functions and handles of an MPI library as they are: for the tool, which calls the library and Rondo side by side.
pub mod raw {
    pub use super::library::abi::{Handles, IN_PLACE};
    pub use super::library::collectives::Collectives;
    pub use super::library::symbols::Finder;
    pub use super::library::sys::{MPI_Comm, MPI_Datatype, MPI_Op, MPI_Status};
    pub use super::library::table::Functions;
}
