//! Messages of the host, and memory that the ranks of a node share.

pub mod carrier;
pub mod hand_out;
pub mod mailbox;
pub mod patience;
pub mod pool;
pub mod reduce;
pub mod ring;
pub mod start;
pub mod tags;
pub mod view;
pub mod watch;
pub mod wire;
