//! Shared memory of a node: ranks are threads that map it each on their own, or processes.

mod arena;
mod group;
mod mailboxes;
mod maps;
mod node;
mod process;
mod ring;
mod segment;
#[path = "../mpirun/untested.rs"]
mod untested;
