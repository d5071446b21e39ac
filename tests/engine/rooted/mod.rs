//! Gather and scatter on a network in one thread: every block gets to its place, whatever the order of
//! delivery, with no more messages, rounds and memory than the engines promise, and what cannot be
//! right is noticed.

mod case;
mod counts;
mod everywhere;
mod groups;
mod mailboxes;
mod misfits;
mod net;
mod nodes;
mod packets;
mod trees;
