//! The blocks that a rank has for all ranks, and those that it gets from all: in the user's memory, each of any type.

use super::blocks::{BlockPlaces, UserBlocks};
use super::counts::{Counts, Slots};
use super::layout::Layout;
use crate::host::library::handle::Comm;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::host::object::attr::Datatype;
use crate::host::object::code::Code;

/// The types of the blocks.
#[derive(Clone, Copy)]
pub(in crate::host) enum Kind {
    /// All are empty, and nobody looks at their type.
    Empty,
    /// They have this one.
    One(Datatype, Layout),
    /// Each has its own; displacements are in bytes. Those of empty blocks are not looked at.
    Each(*const sys::MPI_Datatype),
}

/// The blocks for all ranks, or from all.
#[derive(Clone, Copy)]
pub struct Side {
    pub(in crate::host) base: *mut u8,
    /// Of as many ranks as there are.
    pub(in crate::host) counts: Counts,
    pub(in crate::host) kind: Kind,
}

impl Side {
    /// The type of the block of `rank`, unless it cannot be one.
    fn datatype(&self, mpi: &Mpi, rank: u32) -> Option<Datatype> {
        match self.kind {
            Kind::Empty => None,
            Kind::One(datatype, _) => Some(datatype),
            Kind::Each(types) if types.is_null() => None,
            Kind::Each(types) => {
                // SAFETY: by the contract of the call the array has an entry for every rank.
                let datatype = unsafe { *types.add(rank as usize) };
                mpi.h.is_datatype(datatype).then_some(Datatype(datatype))
            }
        }
    }

    /// Bytes of the block of `rank`; `None` if its count or its type is invalid.
    pub fn bytes(&self, mpi: &Mpi, rank: u32) -> Option<u64> {
        let count = self.counts.checked(rank)?;
        let size = match self.kind {
            Kind::Empty => return Some(0),
            _ if count == 0 => return Some(0),
            Kind::One(_, layout) => layout.size,
            Kind::Each(_) => mpi.type_size(self.datatype(mpi, rank)?).ok()?,
        };
        count.checked_mul(size)
    }

    /// The block of `rank`; `None` if there are no bytes in it.
    ///
    /// # Errors
    /// If the count or the type is invalid.
    pub fn block(&self, mpi: &Mpi, rank: u32) -> Result<Option<UserBlocks<'static>>, Code> {
        let count = self.counts.checked(rank).ok_or(Code::intern())?;
        if count == 0 || matches!(self.kind, Kind::Empty) {
            return Ok(None);
        }
        let datatype = self.datatype(mpi, rank).ok_or(Code::datatype())?;
        let (layout, unit) = match self.kind {
            Kind::One(_, layout) => (layout, layout.extent),
            Kind::Empty | Kind::Each(_) => (mpi.layout(datatype)?, 1),
        };
        if layout.size == 0 {
            return Ok(None);
        }
        let slots = Slots {
            base: self.base,
            extent: unit,
            counts: self.counts,
        };
        let address = slots.address(rank);
        UserBlocks::new(mpi, address, datatype, layout, BlockPlaces::One(count)).map(Some)
    }
}

/// Both sides of an exchange on this rank.
pub struct Sides {
    /// What it sends; `None`: what is where that goes which it receives.
    pub send: Option<Side>,
    /// What it receives.
    pub receive: Side,
}

impl Sides {
    /// What it sends.
    pub fn sent(&self) -> &Side {
        self.send.as_ref().unwrap_or(&self.receive)
    }

    /// Puts the block of this rank for itself where it belongs; both have as many bytes.
    ///
    /// # Errors
    /// If the host reports one.
    pub fn copy_own(&self, mpi: &Mpi, private: Comm, rank: u32) -> Result<(), Code> {
        let Some(send) = &self.send else {
            return Ok(());
        };
        let from = send.block(mpi, rank)?;
        let to = self.receive.block(mpi, rank)?;
        match (from, to) {
            (Some(from), Some(to)) => from.copy(mpi, private, 0, &to),
            (None, _) | (_, None) => Ok(()),
        }
    }
}
