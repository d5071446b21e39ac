//! Memory that one all-broadcast over nodes leaves to the next.

#![forbid(unsafe_code)]

use super::{Messages, RingRows};
use crate::engine::{Part, Schedules, Scratch};

/// What it uses again.
#[derive(Default)]
pub struct Space {
    /// The schedules of broadcasts among the nodes.
    pub schedules: Schedules,
    /// The schedules of broadcasts among the ranks of this node.
    pub local_schedules: Schedules,
    /// For each lane, its parts of the nodes.
    pub cuts: Vec<Vec<Part>>,
    /// For each lane, the leader among the ranks of this node, and what it receives.
    pub lanes: Vec<(u32, Messages)>,
    /// What passes through the ring.
    pub rows: RingRows,
    /// The parts of an exchange inside the node by messages.
    pub cut: Vec<Part>,
    /// What its engine needs.
    pub scratch: Scratch,
}

impl Space {
    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let part = size_of::<Part>();
        let cuts = self.cuts.iter().map(|cut| cut.capacity() * part);
        let lanes = self.lanes.iter().map(|(_, messages)| messages.bytes());
        self.schedules.bytes()
            + self.local_schedules.bytes()
            + cuts.chain(lanes).sum::<usize>()
            + self.cuts.capacity() * size_of::<Vec<Part>>()
            + self.lanes.capacity() * size_of::<(u32, Messages)>()
            + self.rows.bytes()
            + self.cut.capacity() * part
            + self.scratch.bytes()
    }
}
