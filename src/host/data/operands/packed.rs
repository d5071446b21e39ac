//! Elements in the slots of a node. They are packed there, byte after byte in the order of their type map: ranks may
//! have the same elements in different layouts.

use super::{Area, Operands, Room, Vectors, no_room};
use crate::host::data::elements::{Elements, Stretch};
use crate::host::library::gpu::may_be_foreign;
use crate::host::object::code::Code;
use crate::host::object::failure::{Failure, at};
use std::ptr;

/// Bytes that the elements span which are laid out at a time, at the most, unless a single one spans more.
const APART_BYTES: u64 = 16 << 10;

/// Memory for laying out two vectors of packed elements, one behind the other, so that the operator finds them as it
/// knows them.
pub(super) struct Apart {
    /// What the area lies in.
    _room: Room,
    area: Area,
    /// Elements of each vector.
    elements: u64,
}

impl Operands<'_> {
    /// Bytes of a packed element.
    pub fn unit(&self) -> u64 {
        self.layout.size
    }

    /// Do elements lie in memory as they do when they are packed?
    pub(super) fn lie_packed(&self) -> bool {
        self.layout.contiguous(2) == Some(0)
    }

    /// Makes room for joining packed elements.
    pub fn reserve_apart(&mut self) -> Result<(), Code> {
        if self.lie_packed() {
            return Ok(());
        }
        let element = self.span(1).max(self.layout.size);
        let elements = (APART_BYTES / element.max(1)).max(1);
        let vectors = Vectors {
            first: elements,
            other: elements,
        };
        let mut room = Room::default();
        room.reserve(self.room(vectors, 2 * elements))
            .map_err(no_room)?;
        let area = self.area_in(room.address(), vectors);
        self.apart = Some(Apart {
            _room: room,
            area,
            elements,
        });
        Ok(())
    }

    /// Packs elements.
    ///
    /// # Safety
    /// `from` can be read for so many elements, and `to` be written to for so many packed ones.
    pub(in crate::host) unsafe fn pack_elements(
        &self,
        from: *mut u8,
        to: *mut u8,
        count: u64,
    ) -> Result<(), Failure> {
        if self.lie_packed() {
            // SAFETY: the caller's contract.
            return unsafe { self.copy(from, to, count) };
        }
        if let Some(offset) = self.layout.run
            && !may_be_foreign()
        {
            let from = self.runs(from, offset);
            // SAFETY: the caller's contract; the slots are the processor's, and so are the elements.
            unsafe { self.copy_runs(from, (to, self.layout.size as i64), count) };
            return Ok(());
        }
        let made = Elements::new(self.mpi, from, self.datatype, self.layout);
        let (elements, from) = made.map_err(at("packing operands"))?;
        let all = stretch(from, to, count);
        // SAFETY: the caller's contract.
        unsafe { elements.pack(self.mpi, self.comm, all) }.map_err(at("packing operands"))
    }

    /// Unpacks elements. What is in their gaps stays.
    ///
    /// # Safety
    /// `from` can be read for so many packed elements, and `to` be written to for so many.
    pub(in crate::host) unsafe fn unpack_elements(
        &self,
        from: *mut u8,
        to: *mut u8,
        count: u64,
    ) -> Result<(), Failure> {
        if self.lie_packed() {
            // SAFETY: the caller's contract.
            return unsafe { self.copy(from, to, count) };
        }
        if let Some(offset) = self.layout.run
            && !may_be_foreign()
        {
            let to = self.runs(to, offset);
            // SAFETY: as in `pack_elements`.
            unsafe { self.copy_runs((from, self.layout.size as i64), to, count) };
            return Ok(());
        }
        let made = Elements::new(self.mpi, to, self.datatype, self.layout);
        let (elements, to) = made.map_err(at("unpacking operands"))?;
        let all = stretch(to, from, count);
        // SAFETY: the caller's contract.
        unsafe { elements.unpack(self.mpi, self.comm, all) }.map_err(at("unpacking operands"))
    }

    /// Where the data of the first of some elements begin, each of which is a run that begins so far behind the address
    /// of its element, and how far these are from each other.
    pub(super) fn runs(&self, first: *mut u8, offset: i64) -> (*mut u8, i64) {
        (first.wrapping_offset(offset as isize), self.layout.extent)
    }

    /// Copies the runs of so many elements from one place to another one, given where the first one begins and how far
    /// they are from each other.
    ///
    /// # Safety
    /// The processor can read the runs at `from` and write to those at `to`, and they do not overlap.
    pub(super) unsafe fn copy_runs(&self, from: (*mut u8, i64), to: (*mut u8, i64), count: u64) {
        let size = self.layout.size as usize;
        let run = |(first, step): (*mut u8, i64), i: u64| {
            first.wrapping_offset((i as i64).wrapping_mul(step) as isize)
        };
        for i in 0..count {
            let (from, to) = (run(from, i).cast_const(), run(to, i));
            // SAFETY: the caller's contract.
            unsafe { ptr::copy(from, to, size) };
        }
    }

    /// to = left . to, of packed elements.
    ///
    /// # Safety
    /// Both are so many packed elements that are there, and do not overlap.
    pub(in crate::host) unsafe fn join_packed(
        &self,
        left: *mut u8,
        to: *mut u8,
        count: u64,
    ) -> Result<(), Failure> {
        let Some(Apart { area, elements, .. }) = &self.apart else {
            // SAFETY: the caller's contract; packed, they lie as in memory.
            return unsafe { self.join_left(left, to, count) };
        };
        let [left_apart, to_apart] = [0, *elements].map(|first| self.place(*area, first));
        let mut done = 0;
        while done < count {
            let some = (count - done).min(*elements);
            let [left, to] = [left, to].map(|at| at.wrapping_add(self.bytes(done) as usize));
            // SAFETY: the caller's contract; the room has two vectors of as many elements, apart from each other.
            unsafe {
                self.unpack_elements(left, left_apart, some)?;
                self.unpack_elements(to, to_apart, some)?;
                self.join_left(left_apart, to_apart, some)?;
                self.pack_elements(to_apart, to, some)?;
            }
            done += some;
        }
        Ok(())
    }
}

/// So many elements, laid out at one place and packed at another.
fn stretch(user: *mut u8, packed: *mut u8, count: u64) -> Stretch {
    Stretch {
        user,
        packed,
        from: 0,
        until: count,
    }
}
