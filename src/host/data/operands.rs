//! The operands of a reduction: elements in the user's memory and in Rondo's, and joining them.

use super::elements::{Chunk, self_message};
use super::layout::Layout;
use crate::host::library::abi::RawHandle;
use crate::host::library::handle::Comm;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::host::object::attr::Datatype;
use crate::host::object::code::Code;
use crate::host::object::failure::{Failure, at};
use std::collections::TryReserveError;
use std::ops::Range;
use std::ptr;

/// The elements of a call, and the operator that joins them.
pub struct Operands<'a> {
    mpi: &'a Mpi,
    /// The private communicator.
    comm: Comm,
    datatype: Datatype,
    layout: Layout,
    /// Where the bytes of an element begin, relative to its address, and how many they span.
    spans: (i64, i64),
    op: sys::MPI_Op,
}

/// Memory for elements that is aligned for every predefined type.
#[derive(Default)]
pub struct Room {
    memory: Vec<u128>,
}

impl Room {
    /// Sees to it that there are so many bytes.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), TryReserveError> {
        let words = usize::try_from(bytes.div_ceil(16)).unwrap_or(usize::MAX);
        self.memory.clear();
        self.memory.try_reserve_exact(words)
    }

    /// Where the memory is.
    pub fn address(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().cast()
    }

    /// Gives back more than `bytes` bytes.
    pub fn trim(&mut self, bytes: usize) {
        if self.bytes() > bytes {
            self.memory = Vec::new();
        }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.memory.capacity() * 16
    }
}

/// Where the elements are that a script works on.
#[derive(Clone, Copy)]
pub struct Area {
    /// The address of element 0.
    base: *mut u8,
}

/// Where the elements of a call are in the user's memory.
#[derive(Clone, Copy)]
pub struct Buffers {
    /// This rank's vector.
    pub(in crate::host) own: *mut u8,
    /// Its result.
    pub(in crate::host) result: *mut u8,
}

impl Mpi {
    /// Operands that mean nothing: a byte each.
    pub fn signals(&self, comm: Comm) -> Operands<'_> {
        Operands {
            mpi: self,
            comm,
            datatype: Datatype(self.h.byte),
            layout: Layout {
                size: 1,
                extent: 1,
                run: Some(0),
            },
            spans: (0, 1),
            op: self.h.op_null,
        }
    }
}

impl<'a> Operands<'a> {
    /// Elements of this type and the operator that joins them; `None` if the type cannot be one.
    pub(in crate::host) fn new(
        mpi: &'a Mpi,
        comm: Comm,
        datatype: Datatype,
        op: RawHandle,
    ) -> Option<Operands<'a>> {
        Some(Operands {
            mpi,
            comm,
            datatype,
            layout: mpi.layout(datatype, comm).ok()?,
            spans: mpi.true_extent(datatype).ok()?,
            op: op.op(),
        })
    }

    /// Bytes that so many elements span.
    pub fn room(&self, elements: u64) -> u64 {
        match elements {
            0 => 0,
            n => (n - 1)
                .saturating_mul(self.layout.extent.unsigned_abs())
                .saturating_add(self.spans.1.unsigned_abs()),
        }
    }

    /// Bytes of data in so many elements.
    pub fn bytes(&self, elements: u64) -> u64 {
        elements * self.layout.size
    }

    /// Elements at the beginning of memory that has room for so many.
    pub fn area_in(&self, memory: *mut u8, elements: u64) -> Area {
        let last = (elements.max(1) - 1) as i64;
        // With a negative extent the last element is the first one in memory.
        let first = self.layout.extent.wrapping_mul(last).min(0);
        let offset = self.spans.0.wrapping_add(first).wrapping_neg();
        Area {
            base: memory.wrapping_offset(offset as isize),
        }
    }

    /// The result's own memory as the area.
    pub fn area_of_result(&self, buffers: &Buffers) -> Area {
        Area {
            base: buffers.result,
        }
    }

    /// Some elements of an area as a message, of which there are as many as an `int` can count.
    pub(in crate::host) fn chunk(&self, area: Area, elements: &Range<u64>) -> Chunk {
        Chunk {
            address: self.at(area.base, elements.start),
            count: (elements.end - elements.start) as i32,
            datatype: self.datatype.0,
        }
    }

    fn at(&self, base: *mut u8, element: u64) -> *mut u8 {
        base.wrapping_offset((element as i64).wrapping_mul(self.layout.extent) as isize)
    }

    /// Copies this rank's vector of `count` elements to the beginning of the area, which has room for it.
    pub fn fill(&self, buffers: &Buffers, area: Area, count: u64) -> Result<(), Failure> {
        // SAFETY: by the contract of the call, for which whoever made it vouched, the vector can be read. Areas are made
        // for the elements of a script, of which the vector is the beginning.
        unsafe { self.copy(buffers.own, area.base, count) }
    }

    /// Copies elements of the area to the place `to` of the result.
    pub fn hand_out(
        &self,
        buffers: &Buffers,
        area: Area,
        elements: &Range<u64>,
        to: u64,
    ) -> Result<(), Failure> {
        let (from, to) = (
            self.at(area.base, elements.start),
            self.at(buffers.result, to),
        );
        // SAFETY: by the contract of the call the result has room for what the script says it is.
        unsafe { self.copy(from, to, elements.end - elements.start) }
    }

    /// Copies elements, unless they are there already. What is in their gaps stays.
    ///
    /// # Safety
    /// `from` can be read and `to` written to for so many elements.
    unsafe fn copy(&self, from: *mut u8, to: *mut u8, count: u64) -> Result<(), Failure> {
        if count == 0 || ptr::eq(from, to) {
            return Ok(());
        }
        if let Some(offset) = self.layout.contiguous(count) {
            let (from, to) = (
                from.wrapping_offset(offset as isize),
                to.wrapping_offset(offset as isize),
            );
            // SAFETY: the caller's contract: the data of the elements are a single run.
            unsafe { ptr::copy(from.cast_const(), to, (count * self.layout.size) as usize) };
            return Ok(());
        }
        let most = (MESSAGE_BYTES / self.layout.size.max(1)).max(1);
        let mut done = 0;
        while done < count {
            let some = done..count.min(done + most);
            let (from, to) = (Area { base: from }, Area { base: to });
            // SAFETY: the caller's contract. Elements that overlap would be this rank's vector and its result, which
            // are one buffer or two.
            unsafe {
                self_message(
                    self.mpi,
                    self.comm,
                    self.chunk(from, &some),
                    self.chunk(to, &some),
                )
            }
            .map_err(at("copying operands"))?;
            done = some.end;
        }
        Ok(())
    }

    /// Copies elements of the area to others of it.
    ///
    /// # Safety
    /// Both lie in the area and do not overlap.
    pub(in crate::host) unsafe fn store(
        &self,
        from: *mut u8,
        to: *mut u8,
        count: u64,
    ) -> Result<(), Failure> {
        // SAFETY: the caller's contract.
        unsafe { self.copy(from, to, count) }
    }

    /// to = left . to
    ///
    /// # Safety
    /// Both are so many elements that are there, and do not overlap.
    pub(in crate::host) unsafe fn join_left(
        &self,
        left: *mut u8,
        to: *mut u8,
        count: u64,
    ) -> Result<(), Failure> {
        let elements = (self.datatype, self.layout.extent);
        // SAFETY: the caller's contract; the operator was found to fit when the call was planned.
        unsafe { self.mpi.reduce_local(left, to, count, elements, self.op) }.map_err(at("reducing"))
    }

    /// to = to . right, by way of `right`, which is used up.
    ///
    /// # Safety
    /// As for `join_left`.
    pub(in crate::host) unsafe fn join_right(
        &self,
        right: *mut u8,
        to: *mut u8,
        count: u64,
    ) -> Result<(), Failure> {
        // SAFETY: the caller's contract.
        unsafe {
            // The left operand is the other one here.
            self.join_left(to, right, count)?;
            self.copy(right, to, count)
        }
    }
}

/// Bytes of a message to oneself.
const MESSAGE_BYTES: u64 = 1 << 28;

/// There is no memory for operands.
pub fn no_room(_: TryReserveError) -> Code {
    Code::no_mem()
}
