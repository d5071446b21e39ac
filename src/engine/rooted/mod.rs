//! Gather and scatter of blocks of any size: short blocks through a tree, long ones straight from or to
//! the root.
//!
//! Only the root knows how long the blocks of others are. So the ranks never agree on messages in
//! advance, as the rounds of an all-broadcast do; what a rank needs to know travels in front of
//! the data. Everything but the long blocks goes in *packets*: messages of bytes that a rank did not ask
//! for, from a rank that it may not know.
//!
//! The tree is made over ranks, or over nodes and then the ranks of each. What is below a rank in the tree
//! is a range of *places*: the ranks in the order of their nodes, or simply the ranks. Packets list blocks by
//! place; everything else is said by rank.

#![forbid(unsafe_code)]

mod adaptive;
mod gather;
mod packet;
mod scatter;

pub use gather::Gather;
pub use scatter::Scatter;

use crate::topology::Topology;
use crate::tree::Hierarchy;
use gather::GatherPacket;
use std::ops::Range;

/// One rank's view of a gather or scatter in progress, and its way to the user's memory.
///
/// Blocks are known by their rank. A long block is sent and received where the user has it. Packets to a
/// rank arrive in any order, unless they are from the same rank. After an error nothing more may be
/// asked.
pub trait RootedWire {
    /// Why the collective cannot go on.
    type Error: From<Misfit>;

    /// Memory for a packet of `bytes` bytes.
    fn memory(&mut self, bytes: usize) -> Result<Vec<u8>, Self::Error>;

    /// Takes memory back.
    fn give_back(&mut self, memory: Vec<u8>);

    /// Starts sending `packet` to rank `to`; returns at once.
    fn send_packet(&mut self, to: u32, packet: Vec<u8>) -> Result<(), Self::Error>;

    /// Starts sending the block of rank `block` to rank `to`; returns at once.
    fn send(&mut self, block: u32, to: u32) -> Result<(), Self::Error>;

    /// Starts receiving the block of rank `block` from rank `from`; returns at once.
    fn recv(&mut self, block: u32, from: u32) -> Result<(), Self::Error>;

    /// Appends the block of rank `block` to `packet`, from the user's memory.
    fn read(&mut self, block: u32, packet: &mut Vec<u8>) -> Result<(), Self::Error>;

    /// Puts the block of rank `block` into the user's memory.
    fn write(&mut self, block: u32, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Expects one packet from rank `from`, or from anybody. No other packets are looked for.
    fn expect(&mut self, from: Option<u32>);

    /// One thing that happened, if there is any; does not wait.
    fn poll(&mut self) -> Result<Option<RootedEvent>, Self::Error>;

    /// Called when `poll` had nothing and nothing can be started.
    fn idle(&mut self) -> Result<(), Self::Error>;
}

/// What a [`RootedWire`] reports.
#[derive(Debug, PartialEq, Eq)]
pub enum RootedEvent {
    /// A packet for this rank.
    Packet {
        /// Its sender.
        from: u32,
        /// What was sent.
        packet: Vec<u8>,
    },
    /// A block is in its place.
    Received,
    /// A packet or a block of this rank has left.
    Sent,
}

/// What a rank got from another cannot be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// A rank's own count says that its block has so many bytes, the root's says another number.
    Block {
        /// The rank.
        rank: u32,
        /// Bytes by its own account.
        own: u64,
        /// Bytes by the root's account.
        root: u64,
    },
    /// This rank sent what nobody sends in this call: it is in another call, or has another root.
    Stranger(u32),
    /// This rank expects nothing, but there is a packet for it.
    Unexpected(u32),
}

/// What all ranks agree on.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// This rank.
    pub rank: u32,
    /// Number of ranks.
    pub p: u32,
    /// The root.
    pub root: u32,
    /// What tree the short blocks take.
    pub shape: RootedTree<'a>,
    /// Bytes from which on a block is long.
    pub long: u64,
    /// Long blocks in flight at the root, at least 1.
    pub window: u32,
}

/// The tree that the short blocks take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootedTree<'a> {
    /// None: all blocks are long.
    Star,
    /// A binomial tree that ignores sizes.
    Binomial,
    /// The adaptive binomial tree, which follows from the sizes.
    Adaptive,
    /// A binomial tree over nodes, with the ranks of a node around the one that speaks for it.
    Nodes(&'a Topology),
}

impl<'a> Terms<'a> {
    /// Does a block of so many bytes go through the tree?
    fn is_short(&self, bytes: u64) -> bool {
        bytes > 0 && bytes < self.long
    }

    /// Does it go straight from its rank to the root, or back?
    fn is_long(&self, bytes: u64) -> bool {
        bytes > 0 && bytes >= self.long
    }

    fn is_root(&self) -> bool {
        self.rank == self.root
    }

    /// The tree, unless it follows from sizes.
    pub fn tree(&self) -> Hierarchy<'a> {
        match self.shape {
            RootedTree::Nodes(nodes) => Hierarchy::of_nodes(nodes, self.root),
            RootedTree::Star | RootedTree::Binomial | RootedTree::Adaptive => {
                Hierarchy::of_ranks(self.p, self.root)
            }
        }
    }
}

/// A rank that sends its own and other short blocks to this one.
#[derive(Debug)]
struct Child {
    rank: u32,
    /// The places of these blocks.
    places: Range<u32>,
    /// Its packet, once it is here.
    blocks: Option<GatherPacket>,
}

impl Child {
    fn new(rank: u32, places: Range<u32>) -> Child {
        Child {
            rank,
            places,
            blocks: None,
        }
    }
}

/// A block in a packet.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The place of its rank.
    place: u32,
    bytes: u64,
    /// Where it begins in the packet.
    start: usize,
}

/// Memory that one collective leaves to the next.
#[derive(Default)]
pub struct Scratch {
    children: Vec<Child>,
    /// Packets that are not read yet: one, or two if the root wrote another before its time.
    packets: Vec<(u32, Vec<u8>)>,
    entries: Vec<Entry>,
}

impl Scratch {
    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let packets = self.packets.iter().map(|(_, packet)| packet.capacity());
        self.children.capacity() * size_of::<Child>()
            + self.packets.capacity() * size_of::<(u32, Vec<u8>)>()
            + packets.sum::<usize>()
            + self.entries.capacity() * size_of::<Entry>()
    }
}
