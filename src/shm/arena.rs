//! The memory that the ranks of a node share in a job: one segment, of which a communicator takes a piece.
//!
//! Before the ranks of a communicator agree on a number, the lowest of them on each node reserves a piece there. When
//! they have agreed, it writes its own rank and the number beside it, by which the others find it: a rank has one
//! communicator of a number at a time. No message is needed. Each of them counts itself out when it frees the
//! communicator; with the last one the piece is free. Only then may the lowest one offer the number
//! again, or the ranks of another communicator would find the old piece.
//!
//! What is mapped is addresses; the system provides the memory of a page when it is first used.

use super::available::available;
use super::division::Division;
use super::segment::{Offer, Segment, limit};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// Bytes of a page: no two pieces have one in common.
const PAGE: u64 = 4096;

/// Pieces at the most: as many as communicators have numbers.
const PIECES: u64 = 2048;

/// All pieces together take no more than this part of the memory that is left when the job begins: who is the last to
/// use a page is killed if there is none, so that has to be far away.
const PART: u64 = 4;

/// How long a piece is, behind the segment's token; then, in lines of their own, the entries of the directory. Of each
/// piece: whose it is, and how many ranks have counted themselves out.
const PIECE_BYTES: u64 = 16;
const DIRECTORY: u64 = 64;
const ENTRY: u64 = 16;

/// Where pieces begin.
const PIECES_FROM: u64 = (DIRECTORY + PIECES * ENTRY).next_multiple_of(PAGE);

/// A piece that was reserved, and is of no number yet.
const RESERVED: u64 = u64::MAX;

/// Of how many ranks are gone: there is something in the piece.
const USED: u64 = 1 << 63;

/// Memory of a node.
pub struct Arena {
    segment: Segment,
    pieces: u64,
    piece_bytes: u64,
}

/// Part of it, which is one communicator's.
pub struct Piece {
    arena: Arc<Arena>,
    index: u64,
}

/// How many pieces of so many bytes there may be where so much memory is left.
pub fn pieces(piece_bytes: u64, left: u64) -> u64 {
    (left / PART / piece_bytes).min(PIECES)
}

/// The word for a communicator: its lowest rank on the node, and its number.
fn key(lowest: u32, number: u32) -> u64 {
    u64::from(lowest) << 32 | u64::from(number) << 1 | 1
}

impl Arena {
    /// Makes it, with pieces of so many bytes: as many as memory allows, or an error if that is not one.
    pub fn create(piece_bytes: u64) -> io::Result<(Arena, Offer)> {
        if piece_bytes == 0 {
            return Err(ErrorKind::InvalidInput.into());
        }
        let piece_bytes = piece_bytes.next_multiple_of(PAGE);
        // Files and addresses may be fewer than memory. Other ranks of the node mostly have the same limits. Of
        // addresses, which a limit counts whether they are used or not, the program needs nearly all.
        let may_have = limit(libc::RLIMIT_FSIZE)?.min(limit(libc::RLIMIT_AS)? / 16);
        let pieces = pieces(piece_bytes, available(Path::new("/"))?.min(may_have));
        if pieces == 0 {
            return Err(ErrorKind::OutOfMemory.into());
        }
        let bytes = PIECES_FROM + pieces * piece_bytes;
        let (segment, offer) = Segment::create(bytes as usize)?;
        // Others map it when they have the offer, which is a message.
        segment.word(PIECE_BYTES).store(piece_bytes, Release);
        Ok((Arena::of(segment), offer))
    }

    /// Maps that of an offer.
    pub fn open(offer: &Offer) -> io::Result<Arena> {
        Segment::open(offer).map(Arena::of)
    }

    fn of(segment: Segment) -> Arena {
        let piece_bytes = segment.word(PIECE_BYTES).load(Acquire);
        Arena {
            pieces: (segment.bytes() as u64 - PIECES_FROM) / piece_bytes,
            piece_bytes,
            segment,
        }
    }

    /// The same mapping once more, for ThreadSanitizer, which does not see that two mappings are the same memory.
    #[cfg(tsan)]
    pub fn alias(&self) -> Arena {
        Arena::of(self.segment.alias())
    }

    /// All ranks of the node have mapped it: from here on nobody else can.
    pub fn seal(&mut self) {
        self.segment.seal();
    }

    /// How many communicators may have a piece at a time.
    pub fn pieces(&self) -> u64 {
        self.pieces
    }

    /// Are its pieces long enough for so many ranks?
    pub fn fits(&self, n: u32) -> bool {
        Division::new(self.piece_bytes, n).is_some()
    }

    fn owner(&self, index: u64) -> &AtomicU64 {
        self.segment.word(DIRECTORY + index * ENTRY)
    }

    fn gone(&self, index: u64) -> &AtomicU64 {
        self.segment.word(DIRECTORY + index * ENTRY + 8)
    }

    fn piece(self: &Arc<Arena>, index: u64) -> Piece {
        Piece {
            arena: self.clone(),
            index,
        }
    }

    /// Reserves a piece, unless all are taken. Called by the lowest rank of a communicator on the node.
    pub fn reserve(self: &Arc<Arena>) -> Option<Piece> {
        let take = |index: &u64| {
            let owner = self.owner(*index);
            // Acquire, with Release where it is cleared.
            owner.load(Relaxed) == 0
                && owner
                    .compare_exchange(0, RESERVED, Acquire, Relaxed)
                    .is_ok()
        };
        (0..self.pieces).find(take).map(|index| self.piece(index))
    }

    /// The piece of a communicator, if its lowest rank on the node has said which it is.
    pub fn find(self: &Arc<Arena>, lowest: u32, number: u32) -> Option<Piece> {
        let key = key(lowest, number);
        let found = (0..self.pieces).find(|&index| self.owner(index).load(Acquire) == key);
        found.map(|index| self.piece(index))
    }
}

impl Piece {
    /// It is the piece of the communicator of this number, of which this is the lowest of `n` ranks on the node. What
    /// others left where this one has its words is cleared: with another number of ranks they had them elsewhere.
    pub fn name(&self, lowest: u32, number: u32, n: u32) {
        if self.arena.gone(self.index).load(Relaxed) == USED
            && let Some(division) = Division::new(self.arena.piece_bytes, n)
        {
            (division.words()).for_each(|at| self.word(at).store(0, Relaxed));
        }
        self.arena
            .owner(self.index)
            .store(key(lowest, number), Release);
    }

    /// Nobody found it: it is free again.
    pub fn give_back(&self) {
        self.arena.owner(self.index).store(0, Release);
    }

    /// Is it still that of the communicator of this number?
    pub fn is_of(&self, lowest: u32, number: u32) -> bool {
        self.arena.owner(self.index).load(Acquire) == key(lowest, number)
    }

    /// This rank of `n` frees the communicator. With the last one the piece is free.
    pub fn leave(&self, n: u32, was_used: bool) {
        let gone = self.arena.gone(self.index);
        // Ranks may differ: one of them may have been refused the calls that the others made.
        if was_used {
            gone.fetch_or(USED, Relaxed);
        }
        // Both, so that whatever the others wrote is there before the piece is somebody else's.
        let before = gone.fetch_add(1, AcqRel);
        if (before & !USED) + 1 == u64::from(n) {
            gone.store(before & USED, Relaxed);
            self.give_back();
        }
    }

    /// Bytes of it.
    pub fn bytes(&self) -> usize {
        self.arena.piece_bytes as usize
    }

    fn at(&self, at: u64, len: usize) -> u64 {
        let end = at.checked_add(len as u64);
        assert!(
            end.is_some_and(|end| end <= self.arena.piece_bytes),
            "{len} bytes at {at} of a piece of {}",
            self.arena.piece_bytes
        );
        PIECES_FROM + self.index * self.arena.piece_bytes + at
    }

    /// The word of control at this byte.
    pub(super) fn word(&self, at: u64) -> &AtomicU64 {
        self.arena.segment.word(self.at(at, 8))
    }

    /// Copies bytes into the piece.
    ///
    /// # Safety
    /// `from` has `len` bytes, outside of the arena. In the piece, no thread of any process reads or writes these bytes
    /// at the same time, and no words of control lie there.
    pub(super) unsafe fn write(&self, at: u64, from: *const u8, len: usize) {
        let at = self.at(at, len);
        // SAFETY: the caller's contract; the bytes are in the piece.
        unsafe { self.arena.segment.write(at, from, len) }
    }

    /// Copies bytes out of the piece.
    ///
    /// # Safety
    /// `to` has room for `len` bytes, outside of the arena. In the piece, no thread of any process writes these bytes
    /// at the same time, and no words of control lie there.
    pub(super) unsafe fn read(&self, at: u64, to: *mut u8, len: usize) {
        let at = self.at(at, len);
        // SAFETY: the caller's contract; the bytes are in the piece.
        unsafe { self.arena.segment.read(at, to, len) }
    }

    /// The address of byte `at`, from which `len` bytes lie within the piece.
    pub(super) fn place(&self, at: u64, len: usize) -> *mut u8 {
        self.arena.segment.place(self.at(at, len), len)
    }
}
