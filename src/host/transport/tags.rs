//! Tags of messages.

use crate::host::call::RootedOp;
use std::ffi::c_int;

/// The tags of one communicator: its number, and below it as many bits as `mask` has.
#[derive(Clone, Copy, Debug, Default)]
pub struct TagSpace {
    base: u32,
    mask: u32,
}

/// Bits of a communicator's number.
pub const NUMBER_BITS: u32 = 11;

/// Bits that the tags of a host must have for Rondo to be at work: a number, a bit and two for packets and blocks, and
/// a few for what the ranks agree on.
pub const TAG_BITS_MIN: u32 = 18;

impl TagSpace {
    /// Those of the communicator of this number, where tags have so many bits on every rank.
    pub fn new(number: u32, bits: u32) -> TagSpace {
        let rest = bits - NUMBER_BITS;
        TagSpace {
            base: number << rest,
            mask: (1 << rest) - 1,
        }
    }

    /// The least tag.
    pub(super) fn base(self) -> c_int {
        self.base as c_int
    }

    /// Is a message with the tag of a gather or scatter one of that call? With few bits it may be one of a later call,
    /// of a rank that is ahead: by 2^12 calls at the least where it is one.
    pub(super) fn tells_calls_apart(self) -> bool {
        self.mask.count_ones() >= 17
    }

    /// Is it one of these?
    pub(super) fn has(self, tag: c_int) -> bool {
        tag as u32 & !self.mask == self.base
    }
}

/// The tag of a call: a hash of everything that the ranks must agree on. Ranks that disagree never take each other's
/// blocks; `Requests::look_around` sees to it that they do not wait for ever. Of a communicator's tags these are the
/// lowest quarter; [`Tags`] has the others.
pub fn call_tag(facts: [u64; 4], TagSpace { base, mask }: TagSpace) -> i32 {
    let h = facts.into_iter().fold(0u64, |h, fact| {
        // The finaliser of splitmix64: every input bit reaches every output bit.
        let h = (h ^ fact).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        h ^ (h >> 31)
    });
    (base | (h as u32 & (mask >> 2))) as i32
}

/// The tags of a gather or scatter.
///
/// No tag may be that of another call that may be under way, for a rank that waits for long concludes from a tag that
/// others see the call otherwise. Packets are received from anybody, and have the upper half of the tags: the number of
/// the call twice, even for a gather and odd for a scatter. Blocks have the quarter below, the lowest one being that of
/// other collectives. The first bits of a block's tag are the number of the call, the last ones a hash of its size and
/// of all that the ranks must agree on, so that a rank can tell a block of another size, or of another root, from its
/// own.
#[derive(Clone, Copy)]
pub struct Tags {
    pub(in crate::host) op: RootedOp,
    packet: u32,
    block: c_int,
    facts: [u64; 3],
    space: TagSpace,
}

impl Tags {
    /// The tags of the call of this number; the ranks must agree on all `facts`, of which the second is the root.
    pub fn new(op: RootedOp, sequence: u64, facts: [u64; 3], space: TagSpace) -> Tags {
        let TagSpace { base, mask } = space;
        let (half, quarter) = (mask >> 1, mask >> 2);
        let number = (sequence as u32) << 1 | u32::from(op == RootedOp::Scatter);
        Tags {
            op,
            packet: base | (number & half) | (mask ^ half),
            block: (base
                | (((sequence as u32) << Tags::hash_bits(mask)) & quarter)
                | (half ^ quarter)) as c_int,
            facts,
            space,
        }
    }

    /// Bits of a block's tag that are a hash. Few: it is there to find what an erroneous program does. The number of
    /// the call has the rest, lest a legal program is taken for one.
    fn hash_bits(mask: u32) -> u32 {
        ((mask >> 2).count_ones() / 2).min(3)
    }

    pub(in crate::host) fn packet(&self) -> c_int {
        self.packet as c_int
    }

    pub(in crate::host) fn block(&self, bytes: u64) -> c_int {
        let [_, root, _] = self.facts;
        self.block_of(root as u32, bytes)
    }

    /// The tag of a block as ranks see it that have another root in this call.
    pub(in crate::host) fn block_of(&self, root: u32, bytes: u64) -> c_int {
        let [a, _, c] = self.facts;
        let hash = call_tag([a, root.into(), c, bytes], self.space);
        self.block | (hash & ((1 << Tags::hash_bits(self.space.mask)) - 1))
    }

    /// Is this the tag of a packet that this rank did not expect from an earlier scatter?
    ///
    /// Packets of an earlier gather are what others sent to a root that only reported an error.
    pub(in crate::host) fn is_late(&self, tag: c_int) -> bool {
        let TagSpace { mask, .. } = self.space;
        let (half, low) = (mask >> 1, tag as u32 & mask);
        let behind = self.packet.wrapping_sub(tag as u32) & half;
        self.space.has(tag) && low > half && tag & 1 == 1 && (1..=half / 2).contains(&behind)
    }
}
