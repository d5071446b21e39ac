//! Trees for irregular gather and scatter.

#![forbid(unsafe_code)]

pub mod distribution;
pub mod groups;

pub use distribution::Distribution;
pub use groups::{Content, Groups};
