//! Objects of the host: communicators, groups, operators, attributes, error codes.

pub mod attr;
pub mod code;
pub mod comm;
pub mod failure;
pub mod groups;
pub mod info;
pub mod kernel;
pub mod operator;
