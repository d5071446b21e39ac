//! What communicators of the same ranks, in the same order, have in common: their nodes, and what was measured and
//! decided on any of them. Programs make dozens of duplicates, each of which would begin anew.
//!
//! A rank looks for the record of the new communicator's ranks, and offers its number in the reduction. It is used if
//! all ranks have the same one, and the same was asked of bits and rules there. Calls on these communicators come in
//! one order on all their ranks, or the program could wait for itself; so all count and decide alike. But not where
//! threads of a process call MPI at the same time: there only what never changes is shared.

#![forbid(unsafe_code)]

use crate::config::Reproducible;
use crate::learn::{Passing, Table};
use crate::network::{Network, Shared};
use crate::topology::Topology;
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Records that are kept when no communicator has them any more: those of communicators that come again and again.
const KEPT: usize = 16;

/// What they have in common.
pub struct Record {
    /// The same on all ranks, and of no other record.
    pub number: u64,
    /// The ranks in the world.
    pub ranks: Box<[u32]>,
    /// Which of them share a node.
    pub topology: Arc<Topology>,
    /// What is promised of bits, and a number for the rules.
    pub asked: (Reproducible, u64),
    /// What was measured of the network. All ranks know the same.
    pub network: Shared,
    /// Do calls contradict it, so that it is to be measured again?
    pub contradicted: AtomicBool,
    /// What is learnt of the calls.
    pub learnt: Mutex<Table>,
    /// Calls that are passed on.
    pub passing: Arc<Passing>,
}

static RECORDS: Mutex<Vec<Arc<Record>>> = Mutex::new(Vec::new());

/// The latest record of these ranks.
pub fn find(ranks: &[u32]) -> Option<Arc<Record>> {
    let records = RECORDS.lock();
    let found = records.iter().rev().find(|record| *record.ranks == *ranks);
    found.cloned()
}

impl Record {
    /// That of communicators whose calls are all the host's.
    pub fn none() -> Arc<Record> {
        static NONE: OnceCell<Arc<Record>> = OnceCell::new();
        let asked = (Reproducible::Off, 0);
        let none =
            NONE.get_or_init(|| Record::new(0, &[], Arc::default(), asked, &Network::NOTHING));
        none.clone()
    }

    /// One of these ranks, of which nothing is learnt.
    pub fn new(
        number: u64,
        ranks: &[u32],
        topology: Arc<Topology>,
        asked: (Reproducible, u64),
        network: &Network,
    ) -> Arc<Record> {
        let learnt = Table::default();
        Arc::new(Record {
            number,
            ranks: ranks.into(),
            topology,
            asked,
            network: Shared::new(network),
            contradicted: AtomicBool::new(false),
            passing: Arc::clone(learnt.passing()),
            learnt: Mutex::new(learnt),
        })
    }

    /// Later communicators of these ranks are to find it.
    pub fn keep(self: &Arc<Record>) {
        let mut records = RECORDS.lock();
        records.retain(|record| record.ranks != self.ranks);
        if records.len() == KEPT {
            records.remove(0);
        }
        records.push(self.clone());
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let learnt = self.learnt.try_lock().map_or(0, |learnt| learnt.bytes());
        let own = size_of::<Record>() + size_of::<Passing>();
        own + size_of_val(&*self.ranks) + self.topology.bytes() + learnt
    }
}
