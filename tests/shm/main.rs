//! Shared segments of a node: ranks are threads that map a segment each on their own, or processes.

mod group;
mod mailboxes;
mod maps;
mod node;
mod process;
mod ring;
mod segment;
#[path = "../mpirun/untested.rs"]
mod untested;
