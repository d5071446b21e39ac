//! Data in the user's memory.

pub mod blocks;
pub mod counts;
#[expect(
    clippy::module_inception,
    reason = "the data of a call are what this room is about"
)]
pub mod data;
pub mod elements;
pub mod layout;
pub(in crate::host) mod lent;
pub mod memory;
pub mod operands;
pub mod shadow;
pub mod sides;
pub mod staging;
