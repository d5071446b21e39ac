//! Packets from one rank of a node to another.
//!
//! Each rank has a mailbox for what it sends up and one for what comes down to it. A mailbox is empty, full, or in
//! the hands of one rank that fills or empties it, and knows the call in which that happened:
//!
//! ```text
//! empty since `previous` -- put in `call` --> full in `call` -- take in `call` --> empty since `call`
//! empty since any call   -- pass `call` ------------------------------------------> empty since `call`
//! ```

use super::arena::Piece;
use super::division::{Division, MAILBOX_HEAD_BYTES};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Which mailbox of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// For what the rank sends up.
    Up,
    /// For what comes down to it.
    Down,
}

/// What was in a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A packet of so many bytes.
    Packet(usize),
    /// Word that the packet is too long for a mailbox and comes as a message.
    Elsewhere,
}

/// Offset in a mailbox of the word for its state.
const STATE: u64 = 0;
/// Offset of the word for the number of its newest packet.
const NEWEST: u64 = 8;
/// Offset of the word for the length of that packet.
const LENGTH: u64 = 16;

/// The length that says [`Found::Elsewhere`].
const ELSEWHERE: u64 = u64::MAX;

/// What may be done with a mailbox.
#[derive(Clone, Copy)]
enum Phase {
    Empty,
    Filling,
    Full,
    Emptying,
}

/// The word for a state. A mailbox that was never used has the word 0: empty since call 0.
fn word(call: u64, phase: Phase) -> u64 {
    debug_assert!(call < 1 << 62, "call {call}");
    call << 2 | phase as u64
}

/// The mailboxes of a node's ranks.
pub struct Mailboxes {
    piece: Arc<Piece>,
    division: Division,
}

impl Mailboxes {
    pub(super) fn new(piece: Arc<Piece>, division: &Division) -> Mailboxes {
        Mailboxes {
            piece,
            division: *division,
        }
    }

    /// The longest packet that a mailbox holds.
    pub fn room(&self) -> usize {
        self.division.mailbox_bytes()
    }

    /// Puts the packet of call `call`, or word that it comes elsewhere, into a mailbox that was emptied in call
    /// `previous` (0: never used). `false`: it is not empty yet.
    pub fn put(
        &self,
        side: Side,
        rank: u32,
        previous: u64,
        call: u64,
        packet: Option<&[u8]>,
    ) -> bool {
        let bytes = packet.map_or(0, <[u8]>::len);
        assert!(
            bytes <= self.room(),
            "a packet of {bytes} bytes in a mailbox"
        );
        let place = self.place(side, rank);
        let (before, mine) = (word(previous, Phase::Empty), word(call, Phase::Filling));
        if !self.grasp(place, before, mine) {
            return false;
        }
        if let Some(packet) = packet {
            // SAFETY: the state is this rank's to change: it turned the mailbox from empty to filling, which
            // only one rank can, and so nobody else touches the packet before it turns it on. The packet
            // fits, and lies behind the words of the mailbox.
            unsafe {
                self.piece
                    .write(place + MAILBOX_HEAD_BYTES, packet.as_ptr(), bytes);
            }
        }
        let length = packet.map_or(ELSEWHERE, |_| bytes as u64);
        // Whoever finds the mailbox full finds these, too. Who looks at the newest for diagnosis may be early.
        self.piece
            .word(place + LENGTH)
            .store(length, Ordering::Relaxed);
        self.piece
            .word(place + NEWEST)
            .store(call, Ordering::Relaxed);
        // Release, with Acquire in `grasp`: the packet and its length are there before the mailbox is full.
        let state = self.piece.word(place + STATE);
        state.store(word(call, Phase::Full), Ordering::Release);
        true
    }

    /// Takes the packet of call `call` and appends it to `into`. The mailbox is then empty since `call`. `None`
    /// if the packet is not there.
    pub fn take(&self, side: Side, rank: u32, call: u64, into: &mut Vec<u8>) -> Option<Found> {
        let place = self.place(side, rank);
        let (before, mine) = (word(call, Phase::Full), word(call, Phase::Emptying));
        if !self.grasp(place, before, mine) {
            return None;
        }
        let length = self.piece.word(place + LENGTH).load(Ordering::Relaxed);
        let found = if length == ELSEWHERE {
            Found::Elsewhere
        } else {
            // No more than a mailbox holds, whatever the word says.
            let length = length.min(self.room() as u64) as usize;
            into.reserve(length);
            // SAFETY: this rank turned the mailbox from full to emptying, which only one rank can: nobody writes
            // there before it is empty. The packet lies behind the words of the mailbox. `into` has room for
            // it beyond its end, and that much more is filled after the copy.
            unsafe {
                let end = into.as_mut_ptr().add(into.len());
                self.piece.read(place + MAILBOX_HEAD_BYTES, end, length);
                into.set_len(into.len() + length);
            }
            Found::Packet(length)
        };
        // Release, with Acquire in `grasp`: the packet is read before the next one is written over it.
        let state = self.piece.word(place + STATE);
        state.store(word(call, Phase::Empty), Ordering::Release);
        Some(found)
    }

    /// Nobody takes a packet from this mailbox in `call`: it is empty since then, for the next writer to see.
    /// If there is a packet all the same, the ranks disagree: it stays, and the next writer waits.
    pub fn pass(&self, side: Side, rank: u32, call: u64) {
        let state = self.piece.word(self.place(side, rank) + STATE);
        let before = state.load(Ordering::Relaxed);
        if before & 3 == Phase::Empty as u64 {
            // Acquire and Release hand on that the packet before was read, by whichever rank that was.
            // An exchange that fails means that somebody puts a packet there: see above.
            let _ = state.compare_exchange(
                before,
                word(call, Phase::Empty),
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
        }
    }

    /// The number of the newest packet that was put there; 0 if none was.
    pub fn latest(&self, side: Side, rank: u32) -> u64 {
        let at = self.place(side, rank) + NEWEST;
        self.piece.word(at).load(Ordering::Acquire)
    }

    /// The call since which the mailbox is empty; `None` if it is not.
    pub fn empty_since(&self, side: Side, rank: u32) -> Option<u64> {
        let state = self.piece.word(self.place(side, rank) + STATE);
        let state = state.load(Ordering::Acquire);
        (state & 3 == Phase::Empty as u64).then_some(state >> 2)
    }

    /// Changes the state of a mailbox from `before` to `mine`, with all that was done to it before. `false`: it is
    /// in another state.
    fn grasp(&self, place: u64, before: u64, mine: u64) -> bool {
        let state = self.piece.word(place + STATE);
        // Looks first: trying to change it would take the line from the rank that is waited for.
        state.load(Ordering::Relaxed) == before
            && state
                .compare_exchange(before, mine, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    fn place(&self, side: Side, rank: u32) -> u64 {
        let ranks = self.division.ranks();
        assert!(rank < ranks, "rank {rank} of {ranks}");
        self.division.mailbox(2 * u64::from(rank) + side as u64)
    }
}
