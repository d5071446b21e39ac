//! The blocks of a gather or scatter in the user's memory: to be copied, or to be sent and received
//! where they are.

use super::counts::{Counts, Slots};
use super::elements::{Elements, Message, Stretch, self_message};
use super::layout::Layout;
use super::memory;
use crate::host::library::handle::Comm;
use crate::host::library::table::Mpi;
use crate::host::object::attr::Datatype;
use crate::host::object::code::Code;
use crate::schedule::Parts;

/// Where blocks are.
#[derive(Clone, Copy)]
pub enum BlockPlaces<'a> {
    /// There is one, of so many elements, whatever its rank.
    One(u64),
    /// One of each rank.
    Many(Counts, &'a Parts),
}

/// Blocks of elements of one datatype, of which at least one has bytes.
pub struct UserBlocks<'a> {
    datatype: Datatype,
    layout: Layout,
    base: *mut u8,
    places: BlockPlaces<'a>,
    copying: Copying,
}

/// How blocks are copied.
enum Copying {
    /// The bytes of every block are in a row, which begins so far behind its address.
    Run(i64),
    /// By the host, with addresses relative to this base.
    Elements(Elements, *mut u8),
}

impl<'a> UserBlocks<'a> {
    /// Blocks relative to `base`. A null base is `MPI_BOTTOM`.
    pub(in crate::host) fn new(
        mpi: &Mpi,
        base: *mut u8,
        datatype: Datatype,
        layout: Layout,
        places: BlockPlaces<'a>,
    ) -> Result<UserBlocks<'a>, Code> {
        let most = match places {
            BlockPlaces::One(count) => count,
            BlockPlaces::Many(_, parts) => parts.largest() / layout.size,
        };
        let copying = match layout.contiguous(most) {
            Some(offset) => Copying::Run(offset),
            None => {
                let (elements, base) = Elements::new(mpi, base, datatype, layout)?;
                Copying::Elements(elements, base)
            }
        };
        Ok(UserBlocks {
            datatype,
            layout,
            base,
            places,
            copying,
        })
    }

    /// Where the bytes of the block of `rank` begin, if they are in a row.
    fn run(&self, offset: i64, rank: u32) -> *mut u8 {
        self.address(self.base, rank)
            .wrapping_offset(offset as isize)
    }

    /// Bytes of the block of `rank`.
    pub(in crate::host) fn bytes(&self, rank: u32) -> u64 {
        match self.places {
            BlockPlaces::One(count) => count * self.layout.size,
            BlockPlaces::Many(_, parts) => parts.span(rank).len,
        }
    }

    fn count(&self, rank: u32) -> u64 {
        self.bytes(rank) / self.layout.size
    }

    /// Address of the block of `rank`, relative to `base`.
    fn address(&self, base: *mut u8, rank: u32) -> *mut u8 {
        match self.places {
            BlockPlaces::One(_) => base,
            BlockPlaces::Many(counts, _) => {
                let extent = self.layout.extent;
                Slots {
                    base,
                    extent,
                    counts,
                }
                .address(rank)
            }
        }
    }

    /// The block of `rank` as a message of the user's datatype.
    pub(in crate::host) fn message(&self, mpi: &Mpi, rank: u32) -> Result<Message, Code> {
        let (address, count) = (self.address(self.base, rank), self.count(rank));
        Message::new(mpi, address, count, self.datatype, self.layout.extent)
    }

    /// Appends the bytes of the block of `rank`.
    pub(in crate::host) fn read(
        &self,
        mpi: &Mpi,
        comm: Comm,
        rank: u32,
        into: &mut Vec<u8>,
    ) -> Result<(), Code> {
        let bytes = self.bytes(rank) as usize;
        into.try_reserve(bytes).map_err(|_| Code::no_mem())?;
        let packed: *mut u8 = into.spare_capacity_mut().as_mut_ptr().cast();
        // SAFETY: the block lies there by the contract of whoever made the call, the room was reserved.
        unsafe { self.copy_out(mpi, comm, rank, packed)? };
        // SAFETY: as many bytes were written behind the end.
        unsafe { into.set_len(into.len() + bytes) };
        Ok(())
    }

    /// Puts `bytes`, as many as it has, into the block of `rank`.
    pub(in crate::host) fn write(
        &self,
        mpi: &Mpi,
        comm: Comm,
        rank: u32,
        bytes: &[u8],
    ) -> Result<(), Code> {
        debug_assert_eq!(bytes.len() as u64, self.bytes(rank));
        // SAFETY: the block lies there by the contract of whoever made the call, and has as many bytes, which are only
        // read.
        unsafe { self.copy_in(mpi, comm, rank, bytes.as_ptr().cast_mut()) }
    }

    /// Packs the block of `rank`.
    ///
    /// # Safety
    /// There is room for it at `packed`, which does not overlap it.
    pub(in crate::host) unsafe fn copy_out(
        &self,
        mpi: &Mpi,
        comm: Comm,
        rank: u32,
        packed: *mut u8,
    ) -> Result<(), Code> {
        match &self.copying {
            Copying::Run(offset) => {
                let (from, bytes) = (self.run(*offset, rank), self.bytes(rank) as usize);
                // SAFETY: the block lies there by the contract of whoever made the call; the caller's contract.
                unsafe { memory::copy(mpi, comm, from.cast_const(), packed, bytes) }
            }
            Copying::Elements(elements, base) => {
                let stretch = self.stretch(*base, rank, packed);
                // SAFETY: as above.
                unsafe { elements.pack(mpi, comm, stretch) }
            }
        }
    }

    /// Unpacks the block of `rank`.
    ///
    /// # Safety
    /// It is at `packed`, which is only read and does not overlap it.
    pub(in crate::host) unsafe fn copy_in(
        &self,
        mpi: &Mpi,
        comm: Comm,
        rank: u32,
        packed: *mut u8,
    ) -> Result<(), Code> {
        match &self.copying {
            Copying::Run(offset) => {
                let (to, bytes) = (self.run(*offset, rank), self.bytes(rank) as usize);
                // SAFETY: the block lies there by the contract of whoever made the call; the caller's contract.
                unsafe { memory::copy(mpi, comm, packed.cast_const(), to, bytes) }
            }
            Copying::Elements(elements, base) => {
                let stretch = self.stretch(*base, rank, packed);
                // SAFETY: as above.
                unsafe { elements.unpack(mpi, comm, stretch) }
            }
        }
    }

    fn stretch(&self, base: *mut u8, rank: u32, packed: *mut u8) -> Stretch {
        Stretch {
            user: self.address(base, rank),
            packed,
            from: 0,
            until: self.count(rank),
        }
    }

    /// Copies the block of `rank` to where `to` has it; both have as many bytes.
    pub fn copy(&self, mpi: &Mpi, comm: Comm, rank: u32, to: &UserBlocks) -> Result<(), Code> {
        if let (Copying::Run(from), Copying::Run(into)) = (&self.copying, &to.copying) {
            let (from, into) = (self.run(*from, rank), to.run(*into, rank));
            let bytes = self.bytes(rank) as usize;
            // SAFETY: both lie there by the contract of whoever made the call.
            return unsafe { memory::copy(mpi, comm, from.cast_const(), into, bytes) };
        }
        let (from, to) = (self.message(mpi, rank)?, to.message(mpi, rank)?);
        // SAFETY: as above, and the blocks of two buffers do not overlap.
        unsafe { self_message(mpi, comm, from.chunk(), to.chunk()) }
    }
}
