//! THE host MPI library: finding it, calling it, and everything that involves its handles.
//!
//! All `PMPI_` names and nearly all unsafe code of Rondo are in this folder.

// First, because of its macros.
#[cfg_attr(feature = "direct", path = "linked.rs")]
#[macro_use]
mod symbols;

mod abi;
mod attr;
mod blocks;
mod call;
mod collectives;
mod data;
mod elements;
mod failure;
mod handles;
mod layout;
mod patience;
mod post;
mod staging;
mod table;
mod wire;

pub use abi::{Abi, Word};
pub use attr::{Attribute, Datatype, at_finalize};
pub use blocks::Blocks;
pub use call::{Allgather, Bcast, Call, Count, Counts, Level, Rooted, Way};
pub use collectives::{
    AllgatherFn, AllgatherLargeFn, AllgathervFn, AllgathervLargeFn, BcastFn, BcastLargeFn,
    GatherFn, GatherLargeFn, GathervFn, GathervLargeFn, ScattervFn, ScattervLargeFn,
};
pub use data::Data;
pub use failure::Failure;
pub use handles::{Code, Comm};
pub use layout::Layout;
pub use post::{MpiCarrier, Post, Tags};
pub use staging::StagingRoom;
pub use table::{Host, Usable, host};
pub use wire::{MpiWire, Requests, call_tag};
