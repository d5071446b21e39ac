//! The data of a collective on this rank: in the user's memory where they lie in runs, else in a
//! packed copy that is made, or taken apart, piece by piece while blocks travel.

use super::counts::Slots;
use super::elements::{Elements, Stretch};
use super::lent::Lent;
use crate::host::library::handle::Comm;
use crate::host::library::table::Mpi;
use crate::host::object::code::Code;
use crate::host::object::failure::{Failure, at};
use crate::schedule::Parts;
use std::cell::Cell;
use std::mem::MaybeUninit;

/// The data of a collective on this rank.
pub enum Data<'a> {
    /// There is one part, and it is one run of bytes at this address.
    Run(*mut u8),
    /// The part of each rank is one run of bytes.
    Parts(Slots),
    /// All parts are packed, one behind the other.
    Packed(Packed<'a>),
}

impl Data<'_> {
    /// Where the part of a rank begins.
    pub(in crate::host) fn part(&self, root: u32) -> *mut u8 {
        match self {
            Data::Run(base) => *base,
            Data::Parts(slots) => slots.address(root),
            Data::Packed(packed) => packed.address(root),
        }
    }
}

/// Where elements are in the user's memory.
pub enum Areas<'a> {
    /// So many elements at this address.
    One(*mut u8, u64),
    /// Those of each rank in a slot of their own.
    Many(Slots, &'a Parts),
}

/// An area: address in the user's memory, first byte in the packed copy, number of elements.
type Area = (*mut u8, u64, u64);

impl Areas<'_> {
    fn get(&self, i: u32, size: u64) -> Option<Area> {
        match self {
            Areas::One(address, count) => (i == 0).then_some((*address, 0, *count)),
            Areas::Many(slots, parts) if i < parts.p() => {
                let span = parts.span(i);
                Some((slots.address(i), span.offset, span.len / size))
            }
            Areas::Many(..) => None,
        }
    }
}

/// Data that do not lie in runs, and their packed copy.
pub struct Packed<'a> {
    elements: Elements,
    areas: Areas<'a>,
    /// The copy, and its address: several wires may have blocks of it in flight.
    copy: *mut u8,
    _memory: Lent<Vec<MaybeUninit<u8>>>,
    /// Area and elements in it before which all are packed (at a root) or unpacked (elsewhere).
    done: Cell<(u32, u64)>,
}

impl<'a> Packed<'a> {
    /// Allocates the copy, of `bytes` bytes. The user's memory is not read yet.
    pub(in crate::host) fn new(
        elements: Elements,
        areas: Areas<'a>,
        bytes: u64,
    ) -> Result<Self, Code> {
        let bytes = usize::try_from(bytes).map_err(|_| Code::no_mem())?;
        let mut memory: Vec<MaybeUninit<u8>> = Vec::new();
        memory
            .try_reserve_exact(bytes)
            .map_err(|_| Code::no_mem())?;
        Ok(Packed {
            elements,
            areas,
            copy: memory.as_mut_ptr().cast(),
            _memory: Lent::new(memory),
            done: Cell::default(),
        })
    }

    /// Where the part of a rank begins in the copy.
    fn address(&self, root: u32) -> *mut u8 {
        let start = match &self.areas {
            Areas::One(..) => 0,
            Areas::Many(_, parts) => parts.span(root).offset,
        };
        self.copy.wrapping_add(start as usize)
    }

    /// Packs elements until the first `bytes` bytes of the copy are there.
    pub(in crate::host) fn pack(&self, mpi: &Mpi, comm: Comm, bytes: u64) -> Result<(), Failure> {
        self.advance(bytes.div_ceil(self.elements.size()), |elements, range| {
            // SAFETY: the elements lie there by the caller's MPI contract, the copy is as large.
            unsafe { elements.pack(mpi, comm, range) }
        })
        .map_err(at("packing"))
    }

    /// Packs the elements of one rank.
    pub(in crate::host) fn pack_part(
        &self,
        mpi: &Mpi,
        comm: Comm,
        rank: u32,
    ) -> Result<(), Failure> {
        let packed = self.address(rank);
        let Some((user, _, until)) = self.areas.get(rank, self.elements.size()) else {
            return Ok(());
        };
        let range = Stretch {
            user,
            packed,
            from: 0,
            until,
        };
        // SAFETY: as in `pack`.
        unsafe { self.elements.pack(mpi, comm, range) }.map_err(at("packing"))
    }

    /// Unpacks the elements that lie wholly in the first `bytes` bytes of the copy.
    pub(in crate::host) fn unpack(&self, mpi: &Mpi, comm: Comm, bytes: u64) -> Result<(), Failure> {
        self.advance(bytes / self.elements.size(), |elements, range| {
            // SAFETY: as in `pack`; these bytes have arrived.
            unsafe { elements.unpack(mpi, comm, range) }
        })
        .map_err(at("unpacking"))
    }

    /// Calls `copy` for the elements from where it stopped the last time to the first `until`.
    fn advance(
        &self,
        until: u64,
        copy: impl Fn(&Elements, Stretch) -> Result<(), Code>,
    ) -> Result<(), Code> {
        let size = self.elements.size();
        let (mut area, mut from) = self.done.get();
        while let Some((user, start, count)) = self.areas.get(area, size) {
            let until = until.saturating_sub(start / size).min(count);
            if until > from {
                let packed = self.copy.wrapping_add(start as usize);
                copy(
                    &self.elements,
                    Stretch {
                        user,
                        packed,
                        from,
                        until,
                    },
                )?;
                from = until;
            }
            if from < count {
                break;
            }
            (area, from) = (area + 1, 0);
        }
        self.done.set((area, from));
        Ok(())
    }
}
