//! The bytes that calls move, and those of calls in which every rank has a block for every rank.

#![forbid(unsafe_code)]

use super::batch::Bench;

/// What is in the gaps of a datatype, before and after.
pub(super) const GAP: u8 = 0xee;

/// The byte at a place of the message of all blocks. Blocks at wrong places show, because no distance repeats the
/// bytes.
pub(super) fn expected(place: usize, seed: u64) -> u8 {
    let mixed = (place as u64 + 977 * seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as u8
}

/// The bytes of data in memory, with their places in the message. Elements of 8 bytes are those of `Mpi::vector`.
pub(super) fn data(memory: &mut [u8], size: usize) -> impl Iterator<Item = (usize, &mut u8)> {
    let is_data = move |at: usize| size == 1 || at & 4 == 0;
    let bytes = memory.iter_mut().enumerate();
    bytes
        .filter(move |(at, _)| is_data(*at))
        .map(|(_, byte)| byte)
        .enumerate()
}

pub(super) fn gaps_are_left(memory: &[u8]) -> bool {
    let mut gaps = memory.iter().enumerate().filter(|(at, _)| at & 4 != 0);
    gaps.all(|(_, &byte)| byte == GAP)
}

impl Bench<'_> {
    /// The bytes of the blocks for all ranks, or of all ranks, where every rank has a block for every rank.
    fn blocks(&self, sent: bool) -> impl Iterator<Item = u8> + use<> {
        let (me, ranks, seed) = (self.mpi.rank, self.mpi.ranks, self.seed);
        let size = self.call.datatype.size;
        let counts = self.call.blocks.turned_counts(me);
        (0..ranks).zip(counts).flat_map(move |(other, count)| {
            let (from, to) = if sent { (me, other) } else { (other, me) };
            let first = (from * ranks + to) << 24;
            (0..count as usize * size).map(move |i| expected(first + i, seed))
        })
    }

    /// Puts new data where the call takes them from, and what is wrong in every byte where it puts them.
    pub(super) fn fill_blocks(&mut self) {
        let (size, in_place) = (self.call.datatype.size, self.is_in_place());
        let (sent, received) = (self.blocks(true), self.blocks(false));
        for ((_, byte), is) in data(&mut self.own, size).zip(sent) {
            *byte = is;
        }
        let sent = self.blocks(true);
        for ((_, byte), (is, wanted)) in data(&mut self.all, size).zip(sent.zip(received)) {
            *byte = if in_place { is } else { !wanted };
        }
    }

    /// Is the answer of the call right, and everything else as it was?
    pub(super) fn is_exchanged(&mut self) -> bool {
        let size = self.call.datatype.size;
        let (sent, received) = (self.blocks(true), self.blocks(false));
        let own = data(&mut self.own, size).map(|(_, byte)| *byte).eq(sent);
        let all = data(&mut self.all, size).map(|(_, byte)| *byte);
        let all = all.eq(received);
        own && all && (size == 1 || (gaps_are_left(&self.all) && gaps_are_left(&self.own)))
    }
}
