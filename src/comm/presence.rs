//! Which call this rank is in, as it tells the other ranks of its node. Every call of a collective that Rondo takes
//! over is counted, whoever carries it out, so that the ranks count alike.

#![forbid(unsafe_code)]

use super::State;
use crate::collective::Collective;
use crate::decide::Choice;
use crate::host::{Guard, Neighbors};
use crate::shm::{Entry, Whereabouts, Who};
use once_cell::sync::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Which call this rank is in, and whom it tells so.
#[derive(Default)]
pub struct Presence {
    /// The word of the [`Entry`]; 0 if there is none. A communicator's calls follow one after the other, so that nobody
    /// else writes it.
    word: AtomicU64,
    /// Has a call been invalid here, which the other ranks may have counted?
    lost_count: AtomicBool,
    /// The ranks of the node, once they share memory.
    neighbors: OnceCell<Arc<Neighbors>>,
}

impl Presence {
    #[inline]
    fn say(&self, entry: Entry) {
        self.word.store(entry.word(), Relaxed);
        if let Some(neighbors) = self.neighbors.get() {
            neighbors.say(entry);
        }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let bytes = |it: &Arc<Neighbors>| size_of::<Neighbors>() + it.bytes();
        self.neighbors.get().map_or(0, bytes)
    }
}

/// A short form of the bytes that all ranks know of a call.
#[inline]
pub fn short(known: Option<u64>) -> u32 {
    known.map_or(0, |bytes| (bytes ^ bytes >> 32) as u32)
}

fn name(collective: u8) -> &'static str {
    let collective = Collective::ALL.get(usize::from(collective));
    collective.map_or("another collective", |it| it.mpi_name())
}

impl State {
    /// This rank is in a call of `collective`, of which all ranks know so many bytes, if any.
    /// The number of the call, unless the count is lost.
    #[inline]
    pub fn enter(&self, collective: Collective, known: Option<u64>) -> Option<u32> {
        self.count(collective, short(known), Who::Open)
    }

    /// This rank is in a call that the host has, with bytes of this [short form](short).
    #[inline]
    pub fn enter_hosts(&self, collective: Collective, bytes: u32) {
        self.count(collective, bytes, Who::Host);
    }

    #[inline]
    fn count(&self, collective: Collective, bytes: u32, who: Who) -> Option<u32> {
        let presence = &self.presence;
        if presence.lost_count.load(Relaxed) {
            return None;
        }
        let before = Entry::of(presence.word.load(Relaxed)).map_or(0, |entry| entry.number);
        let entry = Entry {
            number: Entry::next(before),
            collective: collective as u8,
            who,
            bytes,
        };
        presence.say(entry);
        Some(entry.number)
    }

    /// It is decided who carries the call with this number out, if that is the last one: an error handler of the
    /// program's may have called others meanwhile.
    #[inline]
    pub fn give(&self, choice: Choice, number: Option<u32>) {
        let who = match choice {
            Choice::Host(_) => Who::Host,
            Choice::Rondo(_) => Who::Rondo,
        };
        if let Some(entry) = Entry::of(self.presence.word.load(Relaxed))
            && number == Some(entry.number)
        {
            self.presence.say(Entry { who, ..entry });
        }
    }

    /// A call is invalid here, or has failed. On other ranks it may be none, or have gone well, and they may not make
    /// it again. So this rank, whose numbers may mean other calls than theirs from now on, says nothing any more.
    #[cold]
    pub fn lose_count(&self) {
        self.presence.lost_count.store(true, Relaxed);
        self.presence.word.store(0, Relaxed);
        if let Some(neighbors) = self.neighbors() {
            neighbors.fall_silent();
        }
    }

    /// From now on the ranks of the node see where this one is.
    pub(super) fn show(&self, whereabouts: Whereabouts) {
        let neighbors = Neighbors::new(whereabouts, self.locals(), name);
        // It is made once, with the segment.
        let _ = self.presence.neighbors.set(Arc::new(neighbors));
        if let Some(entry) = Entry::of(self.presence.word.load(Relaxed)) {
            self.presence.say(entry);
        }
    }

    /// The ranks of the node, if they share memory.
    pub(super) fn neighbors(&self) -> Option<&Arc<Neighbors>> {
        self.presence.neighbors.get()
    }

    /// What ends a wait in a call.
    pub fn guard(&self) -> Guard<'_> {
        Guard {
            timeout_s: self.config.timeout_s,
            neighbors: self.neighbors().map(|it| &**it),
        }
    }
}
