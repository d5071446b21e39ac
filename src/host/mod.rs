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
mod boxes;
mod call;
mod collectives;
mod data;
mod devices;
mod elements;
mod failure;
mod groups;
mod handles;
mod layout;
#[cfg(not(feature = "direct"))]
mod next;
mod patience;
mod post;
mod refusal;
pub mod rights;
mod ring;
mod staging;
mod sys;
mod table;
mod view;
mod watch;
mod wire;

pub use abi::{Abi, Word};
pub use attr::{Attribute, Datatype, is_being_freed};
pub use blocks::Blocks;
pub use boxes::{LocalMail, News, Route, Shelf};
pub use call::{Allgather, Bcast, Call, Count, Counts, Rooted, Way};
pub use collectives::{
    AllgatherFn, AllgatherLargeFn, AllgathervFn, AllgathervLargeFn, BcastFn, BcastLargeFn,
    GatherFn, GatherLargeFn, GathervFn, GathervLargeFn, ScattervFn, ScattervLargeFn,
};
pub use data::Data;
pub use devices::{driver_is_loaded, ignore_devices};
pub use failure::Failure;
pub use handles::{Code, Comm, no_trouble};
pub use layout::Layout;
#[cfg(not(feature = "direct"))]
pub use next::Next;
pub use post::{MpiCarrier, Post, Tags};
pub use ring::RingLocal;
pub use staging::StagingRoom;
#[cfg(feature = "direct")]
pub use symbols::function_of_type;
pub use table::{Host, Usable, host};
pub use view::View;
pub use wire::{Job, MpiWire, Requests, SYNCHRONOUS_BYTES, call_tag};
