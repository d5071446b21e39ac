//! Messages whose pieces do not lie side by side go through staging memory: copied together before they
//! are sent, and apart when they have arrived.
//!
//! Only short pieces share a message (docs/tuning.md has the measurement), so a staged message is short
//! too, and few are in flight.

use super::data::Data;
use super::handles::Code;
use crate::engine::Piece;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ptr;

/// Bytes in a row.
#[derive(Clone, Copy)]
pub struct Run {
    pub address: *mut u8,
    pub len: u64,
}

/// Puts the places of `pieces` into `runs`, joining those that lie side by side; bytes in all.
pub fn runs(data: &mut Data, pieces: &[Piece], runs: &mut Vec<Run>) -> u64 {
    runs.clear();
    for piece in pieces {
        let (address, len) = (data.address(piece), piece.span.len);
        match runs.last_mut() {
            Some(run) if run.address.wrapping_add(run.len as usize) == address => run.len += len,
            _ => runs.push(Run { address, len }),
        }
    }
    pieces.iter().map(|piece| piece.span.len).sum()
}

/// A message in staging memory, and the places of its pieces.
#[derive(Default)]
struct Message {
    memory: Vec<MaybeUninit<u8>>,
    runs: Vec<Run>,
}

/// The staged messages of one direction, in flight or idle.
#[derive(Default)]
pub struct Staging {
    /// At most this many messages at a time.
    most: u32,
    /// Those in flight, oldest first.
    busy: VecDeque<Message>,
    idle: Vec<Message>,
}

// SAFETY: the addresses are used by the call that put them there only, which owns the requests.
unsafe impl Send for Staging {}

impl Staging {
    /// Begins a call in which at most `most` messages are staged at a time, at least one.
    pub fn begin(&mut self, most: u32) {
        self.most = most.max(1);
        self.idle.extend(self.busy.drain(..));
        self.idle.truncate(self.most as usize);
    }

    /// Memory for a message of `len` bytes that lie in `runs`; `None` if there is none before a release.
    pub fn reserve(&mut self, runs: &[Run], len: u64) -> Result<Option<*mut u8>, Code> {
        if self.busy.len() >= self.most as usize {
            return Ok(None);
        }
        let mut message = self.idle.pop().unwrap_or_default();
        message.memory.clear();
        message.runs.clear();
        let memory = message.memory.try_reserve_exact(len as usize);
        memory
            .and_then(|()| message.runs.try_reserve(runs.len()))
            .map_err(|_| Code::no_mem())?;
        message.runs.extend_from_slice(runs);
        let address = message.memory.as_mut_ptr().cast();
        self.busy.push_back(message);
        Ok(Some(address))
    }

    /// Copies the pieces of the newest message together.
    pub fn gather(&mut self) {
        if let Some(message) = self.busy.back_mut() {
            message.each(|user, staged, len| {
                // SAFETY: the run lies in the parts of the collective, whose bytes are there; the
                // staging memory was reserved for the sum of all runs and is nobody else's.
                unsafe { ptr::copy_nonoverlapping(user.cast_const(), staged, len) }
            });
        }
    }

    /// Copies the oldest message apart.
    pub fn scatter(&mut self) {
        if let Some(message) = self.busy.front_mut() {
            message.each(|user, staged, len| {
                // SAFETY: as in `gather`; the message has arrived in full.
                unsafe { ptr::copy_nonoverlapping(staged.cast_const(), user, len) }
            });
        }
    }

    /// Gives the memory of the oldest message back.
    pub fn release(&mut self) {
        self.idle.extend(self.busy.pop_front());
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let messages = self.busy.iter().chain(&self.idle);
        let held = messages.map(|m| m.memory.capacity() + m.runs.capacity() * size_of::<Run>());
        (self.busy.capacity() + self.idle.capacity()) * size_of::<Message>() + held.sum::<usize>()
    }
}

impl Message {
    /// Calls `copy(place in the user's memory, place in the message, bytes)` for every run.
    fn each(&mut self, copy: impl Fn(*mut u8, *mut u8, usize)) {
        let mut staged: *mut u8 = self.memory.as_mut_ptr().cast();
        for run in &self.runs {
            copy(run.address, staged, run.len as usize);
            staged = staged.wrapping_add(run.len as usize);
        }
    }
}
