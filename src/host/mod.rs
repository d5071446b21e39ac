//! THE host MPI library: finding it, calling it, and everything that involves its handles.
//!
//! All `PMPI_` names and nearly all unsafe code of Rondo are in this folder.

mod abi;
mod attr;
mod call;
mod collectives;
mod data;
mod elements;
mod handles;
mod layout;
mod staging;
mod symbols;
mod table;
mod wire;

pub use abi::{Abi, Word};
pub use attr::{Attribute, Datatype, at_finalize};
pub use call::{Allgather, Bcast, Call, Count, Counts, Level};
pub use collectives::{
    AllgatherFn, AllgatherLargeFn, AllgathervFn, AllgathervLargeFn, BcastFn, BcastLargeFn,
};
pub use data::Data;
pub use handles::{Code, Comm};
pub use layout::Layout;
pub use staging::StagingRoom;
pub use table::{Host, Usable, host};
pub use wire::{Failure, MpiWire, Requests, call_tag};
