//! What is written in packets: their type, the root, numbers, and the bytes of blocks behind them.
//!
//! Numbers are little-endian in base 128, the highest bit of a byte saying that more follow: sizes of
//! short blocks take a byte or two.

#![forbid(unsafe_code)]

/// What a packet is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketType {
    /// Blocks on their way to the root: the sizes of the blocks of all ranks below the sender, in the
    /// order of places, then those blocks that are short.
    Gather = 1,
    /// Blocks on their way from the root: how many, for each the place less the one before it and the
    /// size, then the blocks.
    Scatter,
    /// The root is ready for the receiver's long block.
    Go,
    /// The state of a group, to the fixed root of its sibling: see [`super::adaptive`].
    State,
    /// What became of a group, to its root.
    Join,
}

/// Bytes that the heading of a packet and one number take at the most.
pub const HEADING: usize = 1 + NUMBER;

/// Bytes that a number takes at the most.
pub const NUMBER: usize = 10;

/// Begins a packet.
pub fn begin(packet: &mut Vec<u8>, packet_type: PacketType, root: u32) {
    packet.push(packet_type as u8);
    put(packet, root.into());
}

/// Appends a number.
pub fn put(packet: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        packet.push(number as u8 | 128);
        number >>= 7;
    }
    packet.push(number as u8);
}

/// Reads a packet from its beginning on.
pub struct Reader<'a> {
    packet: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// A reader behind the heading, if the packet is of this type and about this root.
    pub fn new(packet: &'a [u8], packet_type: PacketType, root: u32) -> Option<Reader<'a>> {
        let mut reader = Reader { packet, at: 1 };
        let fits = packet.first() == Some(&(packet_type as u8)) && reader.rank()? == root;
        fits.then_some(reader)
    }

    /// A reader from byte `at` on.
    pub fn behind(packet: &'a [u8], at: usize) -> Reader<'a> {
        Reader { packet, at }
    }

    /// The next number; `None` if there is none.
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.packet.get(self.at)?;
            self.at += 1;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    /// The next number, if it is one of 32 bits.
    pub fn rank(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// How far it has been read.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Bytes that are left.
    pub fn left(&self) -> u64 {
        (self.packet.len() - self.at) as u64
    }
}
