//! The engine on a network in one thread: every rank gets everything, whatever the order of delivery, in
//! the number of rounds and bytes that docs/algorithms.md states.

mod allgather;
mod allowed;
mod bcast;
mod case;
mod in_flight;
mod line;
mod messages;
mod mistakes;
mod nodes;
mod rooted;
mod slots;
mod trees;
mod window;
mod wire;
