//! Messages whose pieces do not lie side by side go through staging memory: copied together before they
//! are sent, and apart when they have arrived.
//!
//! Only short pieces share a message (docs/results/long-messages.md has the measurement), so a staged message is short
//! too, and few are in flight.

use super::memory;
use crate::host::library::handle::Comm;
use crate::host::library::table::Mpi;
use crate::host::object::code::Code;
use std::cmp::Reverse;
use std::collections::{TryReserveError, VecDeque};
use std::mem::MaybeUninit;

/// Bytes in a row.
#[derive(Clone, Copy)]
pub struct Run {
    pub address: *mut u8,
    pub len: u64,
}

/// Adds the next bytes of a message to `runs`, joined with the last if they lie side by side.
pub fn push(runs: &mut Vec<Run>, address: *mut u8, len: u64) {
    match runs.last_mut() {
        Some(run) if run.address.wrapping_add(run.len as usize) == address => run.len += len,
        _ => runs.push(Run { address, len }),
    }
}

/// A message in staging memory, and the places of its pieces.
#[derive(Default)]
struct Message {
    /// Its number among all.
    number: u32,
    memory: Vec<MaybeUninit<u8>>,
    runs: Vec<Run>,
}

/// How much a call may stage each way.
#[derive(Clone, Copy, Debug)]
pub struct StagingRoom {
    /// Messages at a time.
    pub messages: u32,
    /// Bytes of a message.
    pub bytes: u64,
    /// Pieces of a message.
    pub pieces: usize,
}

impl StagingRoom {
    /// Memory that a piece takes besides its bytes.
    pub const PIECE_BYTES: usize = size_of::<Run>();

    /// For messages that always lie in a row.
    pub fn none() -> StagingRoom {
        StagingRoom {
            messages: 0,
            bytes: 0,
            pieces: 1,
        }
    }
}

/// The staged messages of one direction, in flight or idle.
#[derive(Default)]
pub struct Staging {
    /// Those in flight, oldest first.
    busy: VecDeque<Message>,
    idle: Vec<Message>,
    /// The number of the next one.
    next: u32,
}

// SAFETY: the addresses are used by the call that put them there only, which owns the requests.
unsafe impl Send for Staging {}

impl Staging {
    /// Makes room for a call. Memory is kept from call to call, so only as many messages grow as it needs: a call of
    /// many short ones and one of a few long ones must not leave many long ones.
    pub fn begin(&mut self, room: &StagingRoom) -> Result<(), TryReserveError> {
        self.idle.extend(self.busy.drain(..));
        let most = room.messages as usize;
        self.busy.try_reserve(most)?;
        let holds = |message: &&Message| message.holds(room.bytes, room.pieces);
        if self.idle.iter().filter(holds).count() >= most {
            return Ok(());
        }
        let more = most.saturating_sub(self.idle.len());
        self.idle.try_reserve(more)?;
        self.idle.extend((0..more).map(|_| Message::default()));
        self.idle
            .sort_unstable_by_key(|message| Reverse(message.memory.capacity()));
        self.idle[..most].iter_mut().try_for_each(|message| {
            message.runs.clear();
            message.runs.try_reserve(room.pieces)?;
            message.memory.try_reserve_exact(room.bytes as usize)
        })
    }

    /// Memory for a message of `len` bytes that lie in `runs`, and its number; `None` if there is none before a
    /// release.
    pub fn reserve(&mut self, runs: &[Run], len: u64) -> Option<(*mut u8, u32)> {
        // The smallest one, so that the large ones are there for long messages. A piece may be in more than one run, so
        // the list of these may have to grow.
        let smallest = |pieces: usize| {
            (self.idle.iter().enumerate())
                .filter(|(_, message)| message.holds(len, pieces))
                .min_by_key(|(_, message)| message.memory.capacity())
        };
        let (i, _) = smallest(runs.len()).or_else(|| smallest(0))?;
        let mut message = self.idle.swap_remove(i);
        message.runs.clear();
        message.runs.extend_from_slice(runs);
        message.number = self.next;
        self.next = self.next.wrapping_add(1);
        let place = (message.memory.as_mut_ptr().cast(), message.number);
        self.busy.push_back(message);
        Some(place)
    }

    /// Copies the pieces of the newest message together.
    pub fn gather(&mut self, mpi: &Mpi, comm: Comm) -> Result<(), Code> {
        let Some(message) = self.busy.back_mut() else {
            return Ok(());
        };
        message.each(|user, staged, len| {
            // SAFETY: the run lies in the parts of the collective, whose bytes are there; the
            // staging memory was reserved for the sum of all runs and is nobody else's.
            unsafe { memory::copy(mpi, comm, user.cast_const(), staged, len) }
        })
    }

    /// Copies the message of this number apart.
    pub fn scatter(&mut self, mpi: &Mpi, comm: Comm, number: u32) -> Result<(), Code> {
        let mut messages = self.busy.iter_mut();
        let Some(message) = messages.find(|message| message.number == number) else {
            return Ok(());
        };
        message.each(|user, staged, len| {
            // SAFETY: as in `gather`; the message has arrived in full.
            unsafe { memory::copy(mpi, comm, staged.cast_const(), user, len) }
        })
    }

    /// Gives the memory of the message of this number back.
    pub fn release(&mut self, number: u32) {
        let which = self
            .busy
            .iter()
            .position(|message| message.number == number);
        self.idle
            .extend(which.and_then(|which| self.busy.remove(which)));
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let messages = self.busy.iter().chain(&self.idle);
        let held = messages.map(|m| m.memory.capacity() + m.runs.capacity() * size_of::<Run>());
        (self.busy.capacity() + self.idle.capacity()) * size_of::<Message>() + held.sum::<usize>()
    }
}

impl Message {
    /// Is there memory for so many bytes in so many pieces?
    fn holds(&self, bytes: u64, pieces: usize) -> bool {
        self.memory.capacity() as u64 >= bytes && self.runs.capacity() >= pieces
    }

    /// Calls `copy(place in the user's memory, place in the message, bytes)` for every run.
    fn each(
        &mut self,
        copy: impl Fn(*mut u8, *mut u8, usize) -> Result<(), Code>,
    ) -> Result<(), Code> {
        let mut staged: *mut u8 = self.memory.as_mut_ptr().cast();
        for run in &self.runs {
            copy(run.address, staged, run.len as usize)?;
            staged = staged.wrapping_add(run.len as usize);
        }
        Ok(())
    }
}
