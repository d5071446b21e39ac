//! Bytes from one rank to all of a node.
//!
//! Bytes have positions that count up and never wrap; in memory, a position lies at its remainder by the
//! capacity. All ranks take part in all calls in the same order, and all know how many bytes each call
//! puts through: so all know who writes which positions. A byte is written once its place is free, that
//! is when no rank needs the byte one capacity below it any more.

use super::arena::Piece;
use super::division::Division;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A rank's view of the ring.
pub struct Ring {
    piece: Arc<Piece>,
    division: Division,
    me: u32,
    /// No rank needs bytes below: as seen at the last look, and it only grows.
    free_below: u64,
}

impl Ring {
    pub(super) fn new(piece: Arc<Piece>, division: &Division, me: u32) -> Ring {
        Ring {
            piece,
            division: *division,
            me,
            free_below: 0,
        }
    }

    /// How many bytes can be under way.
    pub fn capacity(&self) -> u64 {
        self.division.ring_bytes()
    }

    /// Ranks of the node.
    pub fn ranks(&self) -> u32 {
        self.division.ranks()
    }

    /// This rank's number among them.
    pub fn me(&self) -> u32 {
        self.me
    }

    /// Says which call this rank is in.
    pub fn enter(&self, call: u64) {
        self.store(self.division.call(self.me), call);
    }

    /// The call that `rank` is in; 0 if none was yet.
    pub fn call_of(&self, rank: u32) -> u64 {
        self.load(self.division.call(self.of(rank)))
    }

    /// May positions below `end` be written? Every rank must have released those one capacity below.
    pub fn has_room(&mut self, end: u64) -> bool {
        let needed = end.saturating_sub(self.capacity());
        if self.free_below < needed {
            // Acquire, with Release in `release`: what the ranks have read, they have read before this
            // rank writes over it. That holds for all smaller positions and for ever: hence the memory.
            let released = |rank| self.load(self.division.read(rank));
            self.free_below = (0..self.ranks()).map(released).min().unwrap_or(0);
        }
        self.free_below >= needed
    }

    /// What this rank writes below this position is there.
    pub fn publish(&self, until: u64) {
        // Release, with Acquire in `written`: the bytes are there before the word is.
        self.store(self.division.wrote(self.me), until);
    }

    /// The position below which all is there that `rank` writes.
    pub fn written(&self, rank: u32) -> u64 {
        self.load(self.division.wrote(self.of(rank)))
    }

    /// This rank has joined what it is to join below this position: a number that its readers agree on with it, as for
    /// [`publish`](Ring::publish).
    pub fn publish_joined(&self, until: u64) {
        // Release, with Acquire in `joined`: the results are there before the word is.
        self.store(self.division.joined(self.me), until);
    }

    /// The position below which `rank` has joined what it is to join.
    pub fn joined(&self, rank: u32) -> u64 {
        self.load(self.division.joined(self.of(rank)))
    }

    /// The address of the bytes from position `at` on, which do not wrap. Who uses it must have the right to: see
    /// [`write`](Ring::write) and [`read`](Ring::read).
    pub fn address(&self, at: u64, len: usize) -> *mut u8 {
        let (place, first) = self.first_piece(at, len);
        assert!(first == len, "{len} bytes at {at} wrap");
        self.piece.place(place, len)
    }

    /// This rank needs no bytes below this position any more, and has written those that are its own. It
    /// may release what others have not written yet.
    pub fn release(&self, until: u64) {
        self.store(self.division.read(self.me), until);
    }

    /// Copies bytes into the ring.
    ///
    /// # Safety
    /// `from` has `len` bytes, outside of the piece. Of all ranks, only this one writes the positions from
    /// `at` on, once, it has neither published nor released them yet, and [`has_room`](Ring::has_room) was
    /// true for their end.
    pub unsafe fn write(&self, at: u64, from: *const u8, len: usize) {
        // Others might be writing there already, at positions one capacity above.
        let released = self.load(self.division.read(self.me));
        assert!(
            at >= released || len == 0,
            "{at} was released before it was written"
        );
        let (place, first) = self.first_piece(at, len);
        // SAFETY: by the caller's word `from` has the bytes of both pieces. In the ring, these places held
        // positions one capacity below before: all ranks have released them, so nobody reads or writes
        // them. They will hold positions one capacity above: those have no room before this rank releases
        // the ones it writes now. Readers of the new bytes wait for `publish`. The pieces lie within the
        // ring, where there are no words.
        unsafe {
            self.piece.write(place, from, first);
            self.piece
                .write(self.division.ring(), from.add(first), len - first);
        }
    }

    /// Copies bytes out of the ring.
    ///
    /// # Safety
    /// `to` has room for `len` bytes, outside of the piece. The ranks that write the positions from `at`
    /// on have [`written`](Ring::written) them, and this rank has not released them.
    pub unsafe fn read(&self, at: u64, to: *mut u8, len: usize) {
        let (place, first) = self.first_piece(at, len);
        // SAFETY: by the caller's word `to` has room for both pieces. In the ring, these positions are
        // complete, and nobody writes over them before this rank releases them.
        unsafe {
            self.piece.read(place, to, first);
            self.piece
                .read(self.division.ring(), to.add(first), len - first);
        }
    }

    /// Where position `at` lies in the piece, and how many of `len` bytes lie there; the rest lies at the
    /// beginning of the ring.
    fn first_piece(&self, at: u64, len: usize) -> (u64, usize) {
        let capacity = self.capacity();
        assert!(
            len as u64 <= capacity,
            "{len} bytes in a ring of {capacity}"
        );
        let offset = at % capacity;
        let first = (len as u64).min(capacity - offset);
        (self.division.ring() + offset, first as usize)
    }

    /// A rank of the node.
    fn of(&self, rank: u32) -> u32 {
        assert!(rank < self.ranks(), "rank {rank} of {}", self.ranks());
        rank
    }

    fn store(&self, at: u64, value: u64) {
        self.piece.word(at).store(value, Ordering::Release);
    }

    fn load(&self, at: u64) -> u64 {
        self.piece.word(at).load(Ordering::Acquire)
    }
}
