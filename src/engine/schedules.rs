//! Schedules of broadcasts, kept from call to call.

#![forbid(unsafe_code)]

use super::{Entries, RootSchedules};
use crate::schedule::{Circulant, Shape, TreeNeighbors};

/// Up to one contributor in so many ranks, schedules are made for the contributors only.
const FEW: usize = 16;

/// One rank's schedules in the broadcasts of some roots, or the receive schedules of all ranks.
#[derive(Default)]
pub struct Schedules {
    /// The root whose broadcast `rows` has the schedules of, if it is one.
    root: Option<u32>,
    rows: RootSchedules,
    table: Vec<i8>,
    /// Of the tree of this shape from this root, if it is one.
    tree: Option<(Shape, u32)>,
    family: TreeNeighbors,
}

impl Schedules {
    /// This rank's schedules in a broadcast from `root`. They are kept as long as the root stays the same.
    pub fn of_root(&mut self, graph: &Circulant, rank: u32, root: u32) -> Entries<'_> {
        if self.root != Some(root) {
            self.rows.set(graph, rank, &[root]);
            self.root = Some(root);
        }
        Entries::PerRoot(&self.rows)
    }

    /// This rank's neighbours in a tree from `root`. Kept as long as root and shape stay the same.
    pub fn of_tree(&mut self, shape: Shape, p: u32, rank: u32, root: u32) -> &TreeNeighbors {
        if self.tree != Some((shape, root)) {
            self.family.set(shape, p, rank, root);
            self.tree = Some((shape, root));
        }
        &self.family
    }

    /// The schedules for all contributors of an all-broadcast.
    ///
    /// The table costs O(p log p) once in the life of the communicator, the rows O(log p) for each
    /// contributor and call.
    pub fn of_roots(&mut self, graph: &Circulant, rank: u32, roots: &[u32]) -> Entries<'_> {
        let few = roots.len() * FEW <= graph.p() as usize;
        if self.table.is_empty() && few {
            self.root = None;
            self.rows.set(graph, rank, roots);
            return Entries::PerRoot(&self.rows);
        }
        if self.table.is_empty() {
            self.table = graph.recv_table();
        }
        Entries::Table(&self.table)
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.table.capacity() + self.family.bytes()
    }
}
