//! Messages in flight in one direction.

#![forbid(unsafe_code)]

use std::collections::{TryReserveError, VecDeque};

/// Number, rank and status of a message that is complete, and what is known of it.
pub type Found<S, T> = (u32, u32, S, T);

/// A message in flight from or to a rank, or complete before one that was started earlier.
struct Entry<M, T> {
    peer: u32,
    /// The place of that rank among those of the call.
    place: u8,
    /// `None`: it is complete.
    message: Option<M>,
    what: T,
}

/// Messages in flight, oldest first, each with what is to be known of it.
///
/// Only the oldest one of all, and in turn the oldest one of another rank, are tested: messages of one rank are
/// complete about in the order in which they were started, and each test makes the host look for messages.
/// `MPI_Testsome` would report an error to the handler of `MPI_COMM_WORLD` on MPICH, where `MPI_Test` asks that of the
/// request's communicator, which is Rondo's own and returns it.
pub struct Line<M, T> {
    entries: VecDeque<Entry<M, T>>,
    /// The first ranks of the call, each with a place of its own. By their numbers, leaders of nodes with 64 ranks each
    /// would all have the same one.
    peers: Peers,
    /// The number of the oldest entry among all of the call.
    first: u32,
    /// How many entries in front are passed over in the next look at another rank.
    turn: usize,
}

/// Ranks and their places, less than 64.
#[derive(Default)]
struct Peers {
    ranks: [u32; Peers::MOST],
    count: u8,
}

impl Peers {
    /// In a pipeline among 2^16 ranks a rank has so many neighbours that it sends to.
    const MOST: usize = 16;

    /// The place of a rank. Those that come after the first ones share the others.
    fn place(&mut self, rank: u32) -> u8 {
        let count = usize::from(self.count);
        match self.ranks[..count].iter().position(|&it| it == rank) {
            Some(place) => place as u8,
            None if count < Peers::MOST => {
                self.ranks[count] = rank;
                self.count += 1;
                count as u8
            }
            None => (Peers::MOST + rank as usize % (64 - Peers::MOST)) as u8,
        }
    }
}

impl<M, T> Default for Line<M, T> {
    fn default() -> Line<M, T> {
        Line {
            entries: VecDeque::new(),
            peers: Peers::default(),
            first: 0,
            turn: 0,
        }
    }
}

impl<M, T: Copy> Line<M, T> {
    /// A call begins: messages are counted from 0.
    pub fn begin(&mut self) {
        (self.first, self.turn) = (0, 0);
        self.peers.count = 0;
    }

    /// Makes room for so many messages.
    pub fn reserve(&mut self, messages: u32) -> Result<(), TryReserveError> {
        let more = (messages as usize).saturating_sub(self.entries.len());
        self.entries.try_reserve_exact(more)
    }

    /// Adds a message from or to rank `peer`.
    pub fn push(&mut self, peer: u32, message: M, what: T) {
        self.entries.push_back(Entry {
            peer,
            place: self.peers.place(peer),
            message: Some(message),
            what,
        });
    }

    /// Has this rank a place of its own? Then its messages wait for no older ones to be found complete, but its own.
    pub fn is_by_itself(&mut self, peer: u32) -> bool {
        usize::from(self.peers.place(peer)) < Peers::MOST
    }

    /// The messages that are not complete, with their ranks, oldest first.
    pub fn pending(&mut self) -> impl Iterator<Item = (u32, &mut M, &mut T)> {
        self.entries.iter_mut().filter_map(|entry| {
            let message = entry.message.as_mut()?;
            Some((entry.peer, message, &mut entry.what))
        })
    }

    /// The place of the oldest message of another rank than those of the messages before it, beyond the place `turn`.
    fn next_head(&mut self) -> Option<usize> {
        let mut peers = 0u64;
        let mut first = None;
        for (i, entry) in self.entries.iter().enumerate() {
            if entry.message.is_none() {
                continue;
            }
            // Of two ranks with the same place, one waits until the other's messages are gone.
            let bit = 1 << entry.place;
            let is_head = peers & bit == 0;
            peers |= bit;
            if i == 0 || !is_head {
                continue;
            }
            first = first.or(Some(i));
            if i > self.turn {
                self.turn = i;
                return Some(i);
            }
        }
        self.turn = first.unwrap_or(0);
        first
    }

    /// A message that is complete: its number, rank and status, and what is known of it. `test` gives the status of a
    /// message, if it is complete.
    pub fn poll<S, E>(
        &mut self,
        mut test: impl FnMut(&mut M) -> Result<Option<S>, E>,
    ) -> Result<Option<Found<S, T>>, E> {
        if self.entries.is_empty() {
            return Ok(None);
        }
        if let Some(found) = self.test(0, &mut test)? {
            return Ok(Some(found));
        }
        match self.next_head() {
            Some(other) => self.test(other, test),
            None => Ok(None),
        }
    }

    fn test<S, E>(
        &mut self,
        i: usize,
        mut test: impl FnMut(&mut M) -> Result<Option<S>, E>,
    ) -> Result<Option<Found<S, T>>, E> {
        let number = self.first.wrapping_add(i as u32);
        let entry = &mut self.entries[i];
        let Some(message) = &mut entry.message else {
            return Ok(None);
        };
        let Some(status) = test(message)? else {
            return Ok(None);
        };
        entry.message = None;
        let found = (number, entry.peer, status, entry.what);
        let is_complete = |entry: &Entry<M, T>| entry.message.is_none();
        while self.entries.front().is_some_and(is_complete) {
            self.entries.pop_front();
            self.first = self.first.wrapping_add(1);
            self.turn = self.turn.saturating_sub(1);
        }
        Ok(Some(found))
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry<M, T>>()
    }
}

/// Sends in flight. Those in the standard mode have a line of their own. They are complete when the host has them, and
/// would wait for the answer to a synchronous one before them on their edge, a round trip, with their requests and the
/// memory that they were packed in.
pub struct Sends<M, T> {
    standard: Line<M, (u32, T)>,
    synchronous: Line<M, (u32, T)>,
    /// The number of the next one.
    next: u32,
}

impl<M, T> Default for Sends<M, T> {
    fn default() -> Sends<M, T> {
        Sends {
            standard: Line::default(),
            synchronous: Line::default(),
            next: 0,
        }
    }
}

impl<M, T: Copy> Sends<M, T> {
    /// A call begins: messages are counted from 0.
    pub fn begin(&mut self) {
        self.standard.begin();
        self.synchronous.begin();
        self.next = 0;
    }

    /// Makes room for so many messages.
    pub fn reserve(&mut self, messages: u32) -> Result<(), TryReserveError> {
        self.standard.reserve(messages)?;
        self.synchronous.reserve(messages)
    }

    /// Adds a message to rank `peer`.
    pub fn push(&mut self, peer: u32, synchronous: bool, message: M, what: T) {
        let line = match synchronous {
            true => &mut self.synchronous,
            false => &mut self.standard,
        };
        line.push(peer, message, (self.next, what));
        self.next = self.next.wrapping_add(1);
    }

    /// See [`Line::is_by_itself`].
    pub fn is_by_itself(&mut self, peer: u32) -> bool {
        self.standard.is_by_itself(peer) && self.synchronous.is_by_itself(peer)
    }

    /// The messages that are not complete, with their ranks: those of each mode oldest first.
    pub fn pending(&mut self) -> impl Iterator<Item = (u32, &mut M)> {
        let (standard, synchronous) = (self.standard.pending(), self.synchronous.pending());
        standard
            .chain(synchronous)
            .map(|(peer, message, _)| (peer, message))
    }

    /// As [`Line::poll`]; messages of both modes are numbered together.
    pub fn poll<S, E>(
        &mut self,
        mut test: impl FnMut(&mut M) -> Result<Option<S>, E>,
    ) -> Result<Option<Found<S, T>>, E> {
        let found = match self.synchronous.poll(&mut test)? {
            Some(found) => Some(found),
            None => self.standard.poll(test)?,
        };
        Ok(found.map(|(_, peer, status, (number, what))| (number, peer, status, what)))
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.standard.bytes() + self.synchronous.bytes()
    }
}
