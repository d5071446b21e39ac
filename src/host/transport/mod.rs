//! Messages of the host, and memory that the ranks of a node share.

pub mod channel;
pub mod hand_out;
pub mod in_flight;
pub mod local_packets;
pub mod pairs_wire;
pub mod patience;
pub mod pending;
pub mod probes;
pub mod reduce;
pub mod requests;
pub mod ring;
pub mod rooted_wire;
pub mod script_wire;
pub mod start;
pub mod tags;
pub mod view;
pub mod watch;
pub mod wire;
