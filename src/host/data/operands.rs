//! The operands of a reduction: elements in the user's memory and in Rondo's, and joining them.

mod packed;

use super::blocks::UserBlocks;
use super::elements::{Chunk, Made, self_message};
use super::layout::Layout;
use super::lent::Lent;
use super::memory;
use crate::host::library::abi::RawHandle;
use crate::host::library::gpu::may_be_foreign;
use crate::host::library::handle::Comm;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::host::object::attr::Datatype;
use crate::host::object::code::Code;
use crate::host::object::failure::{Failure, at};
use crate::kernels::Kernel;
use packed::Apart;
use std::collections::TryReserveError;
use std::ffi::c_int;
use std::ops::Range;
use std::{ptr, slice};

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
    /// How Rondo itself joins them, if it does.
    kernel: Option<Kernel>,
    /// Where packed elements are laid out to be joined, if they must be.
    apart: Option<Apart>,
}

/// Memory for elements that is aligned for every predefined type.
#[derive(Default)]
pub struct Room {
    memory: Lent<Vec<u128>>,
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
            self.memory = Lent::default();
        }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.memory.capacity() * 16
    }
}

/// The vectors of an area, one behind the other: the first one has so many elements, and each of the others so many.
///
/// Elements of a type whose extent is less than what it spans (the columns of a matrix) lie between each other. So each
/// vector has memory of its own, and no block of a script is in two of them.
#[derive(Clone, Copy, Debug)]
pub struct Vectors {
    /// Elements of the first one.
    pub first: u64,
    /// Elements of each other one.
    pub other: u64,
}

/// Where the elements are that a script works on.
#[derive(Clone, Copy)]
pub struct Area {
    /// The address of element 0.
    base: *mut u8,
    vectors: Vectors,
    /// Bytes from the first vector to the second one, and from each further one to the next.
    spans: (u64, u64),
    /// Where element 0 is in the first vector and in the others: with a negative extent, behind all others.
    leads: (u64, u64),
}

/// Where the elements of a call are in the user's memory.
#[derive(Clone, Copy)]
pub struct Buffers {
    /// This rank's vector.
    pub(in crate::host) own: *mut u8,
    /// Its result.
    pub(in crate::host) result: *mut u8,
}

impl Buffers {
    /// Is the result to be where the vector is?
    pub fn is_one(&self) -> bool {
        ptr::eq(self.own, self.result)
    }
}

impl Area {
    /// In which vector an element is.
    fn vector(&self, element: u64) -> u64 {
        let Vectors { first, other } = self.vectors;
        match element < first || other == 0 {
            true => 0,
            false => 1 + (element - first) / other,
        }
    }

    /// The first element behind the vector of this one.
    fn end(&self, element: u64) -> u64 {
        let Vectors { first, other } = self.vectors;
        match self.vector(element) {
            0 if other == 0 => u64::MAX,
            which => first + which * other,
        }
    }

    /// A single vector of so many elements, element 0 being at `base`.
    fn one(base: *mut u8, elements: u64) -> Area {
        Area {
            base,
            vectors: Vectors {
                first: elements,
                other: 0,
            },
            spans: (0, 0),
            leads: (0, 0),
        }
    }
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
            kernel: None,
            apart: None,
        }
    }
}

impl<'a> Operands<'a> {
    /// Elements of this type and the operator that joins them.
    pub(in crate::host) fn new(
        mpi: &'a Mpi,
        comm: Comm,
        datatype: Datatype,
        op: RawHandle,
    ) -> Result<Operands<'a>, Code> {
        let (layout, op) = (mpi.layout(datatype)?, op.op());
        let mut operands = Operands {
            mpi,
            comm,
            datatype,
            layout,
            spans: mpi.true_extent(datatype)?,
            op,
            kernel: None,
            apart: None,
        };
        if operands.lie_packed() {
            operands.kernel = mpi.kernel(op, datatype, layout.size);
        }
        Ok(operands)
    }

    /// Do elements lie between each other, so that each vector needs memory of its own?
    fn interleaves(&self) -> bool {
        self.layout.extent < self.spans.1
    }

    /// Bytes from the beginning of a vector of so many elements to what comes behind it, which is as well aligned: a
    /// type whose extent is less than what it spans may span any number of bytes.
    fn span(&self, elements: u64) -> u64 {
        let extents = elements.saturating_mul(self.layout.extent.unsigned_abs());
        match self.interleaves() {
            true => {
                let end = extents.saturating_add(self.spans.1.unsigned_abs());
                end.checked_next_multiple_of(ALIGNMENT as u64)
                    .unwrap_or(u64::MAX)
            }
            false => extents,
        }
    }

    /// Bytes of memory for these vectors, which have so many elements together.
    pub(in crate::host) fn room(&self, vectors: Vectors, elements: u64) -> u64 {
        let others = match vectors.other {
            0 => 0,
            other => elements.saturating_sub(vectors.first).div_ceil(other),
        };
        self.span(vectors.first)
            .saturating_add(self.span(vectors.other).saturating_mul(others))
            .saturating_add(self.spans.1.unsigned_abs() + ALIGNMENT as u64)
    }

    /// How far in the memory of a vector of so many elements element 0 is.
    fn lead(&self, elements: u64) -> u64 {
        let before = elements.max(1) - 1;
        before * self.layout.extent.min(0).unsigned_abs()
    }

    /// Bytes of data in so many elements.
    pub fn bytes(&self, elements: u64) -> u64 {
        elements * self.layout.size
    }

    /// The elements of these vectors, in memory that has room for them.
    pub(in crate::host) fn area_in(&self, memory: *mut u8, vectors: Vectors) -> Area {
        // Elements are as well aligned as the memory is, wherever their bytes begin.
        let lower = self.spans.0.div_euclid(ALIGNMENT) * ALIGNMENT;
        Area {
            base: memory.wrapping_offset(lower.wrapping_neg() as isize),
            vectors,
            spans: (self.span(vectors.first), self.span(vectors.other)),
            leads: (self.lead(vectors.first), self.lead(vectors.other)),
        }
    }

    /// This rank's own vector as an area of so many elements.
    pub fn area_of_own(&self, buffers: &Buffers, elements: u64) -> Area {
        Area::one(buffers.own, elements)
    }

    /// The result's own memory as an area of so many elements.
    pub fn area_of_result(&self, buffers: &Buffers, elements: u64) -> Area {
        Area::one(buffers.result, elements)
    }

    /// Calls `run` with some elements of an area as a message.
    pub(in crate::host) fn message<R>(
        &self,
        area: Area,
        elements: &Range<u64>,
        run: impl FnOnce(Chunk) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let last = elements.end.max(1) - 1;
        let lies_together = area.vector(elements.start) == area.vector(last);
        if !self.interleaves() || elements.is_empty() || lies_together {
            return run(self.chunk(area, elements));
        }
        // Those of each vector apart.
        let base = self.place(area, elements.start);
        let mut pieces: Vec<(c_int, sys::MPI_Aint)> = Vec::new();
        let mut from = elements.start;
        while from < elements.end {
            let until = area.end(from).min(elements.end);
            let offset = self.place(area, from) as isize - base as isize;
            pieces.push(((until - from) as c_int, offset as sys::MPI_Aint));
            from = until;
        }
        let made = Made::hindexed(self.mpi, self.datatype.0, &pieces);
        let made = made.map_err(at("describing operands"))?;
        // The host keeps what it needs of a type that is freed while a message is under way.
        run(Chunk {
            address: base,
            count: 1,
            datatype: made.datatype,
        })
    }

    /// Some elements of a vector as a message, of which there are as many as an `int` can count.
    pub(in crate::host) fn chunk(&self, area: Area, elements: &Range<u64>) -> Chunk {
        Chunk {
            address: self.place(area, elements.start),
            count: (elements.end - elements.start) as i32,
            datatype: self.datatype.0,
        }
    }

    /// The address of an element of an area.
    pub(in crate::host) fn place(&self, area: Area, element: u64) -> *mut u8 {
        let Vectors { first, other } = area.vectors;
        let (offset, element) = match area.vector(element) {
            0 => (area.leads.0, element),
            which => {
                let offset = area.spans.0 + (which - 1) * area.spans.1 + area.leads.1;
                (offset, (element - first) % other)
            }
        };
        self.at(area.base.wrapping_add(offset as usize), element)
    }

    fn at(&self, base: *mut u8, element: u64) -> *mut u8 {
        base.wrapping_offset((element as i64).wrapping_mul(self.layout.extent) as isize)
    }

    /// Copies elements of this rank's vector to the place `to` of the area, which has room for them.
    pub fn fill_part(
        &self,
        buffers: &Buffers,
        elements: &Range<u64>,
        area: Area,
        to: u64,
    ) -> Result<(), Failure> {
        let (from, to) = (self.at(buffers.own, elements.start), self.place(area, to));
        // SAFETY: `elements` lie in this rank's vector and `to..` in the area, because the caller cuts both from the
        // same total (`coll::reduction`); by the contract of the call the vector can be read.
        unsafe { self.copy(from, to, elements.end - elements.start) }
    }

    /// Copies this rank's vector of `count` elements to the beginning of the area, which has room for it.
    pub fn fill(&self, buffers: &Buffers, area: Area, count: u64) -> Result<(), Failure> {
        // SAFETY: by the contract of the call, for which whoever made it vouched, the vector can be read. Areas are
        // made for the elements of a script, of which the vector is the beginning.
        unsafe { self.copy(buffers.own, self.place(area, 0), count) }
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
            self.place(area, elements.start),
            self.at(buffers.result, to),
        );
        // SAFETY: by the contract of the call the result has room for what the script says it is.
        unsafe { self.copy(from, to, elements.end - elements.start) }
    }

    /// Packs a block into an area of bytes, from this place on, where there is room for it.
    pub fn pack(&self, block: &UserBlocks, area: Area, place: u64) -> Result<(), Failure> {
        let to = self.place(area, place);
        // SAFETY: the block lies in the user's memory by the contract of the call; areas of bytes have a byte for each
        // element of their script, which has room for the block.
        unsafe { block.copy_out(self.mpi, self.comm, 0, to) }.map_err(at("packing"))
    }

    /// Puts numbers, side by side, into an area of bytes of Rondo's own, which begins with them.
    pub fn put_numbers(&self, area: Area, numbers: &[u64]) {
        let (from, to) = (numbers.as_ptr().cast::<u8>(), self.place(area, 0));
        // SAFETY: areas of bytes have a byte for each element of their script, which has room for the numbers.
        unsafe { ptr::copy_nonoverlapping(from, to, size_of_val(numbers)) };
    }

    /// Gets them from such an area.
    pub fn get_numbers(&self, area: Area, numbers: &mut [u64]) {
        let (from, to) = (
            self.place(area, 0).cast_const(),
            numbers.as_mut_ptr().cast::<u8>(),
        );
        // SAFETY: as in `put_numbers`; the script is over, so that the bytes are there.
        unsafe { ptr::copy_nonoverlapping(from, to, size_of_val(numbers)) };
    }

    /// Unpacks a block from an area of bytes, in which it begins at this place.
    pub fn unpack(&self, block: &UserBlocks, area: Area, place: u64) -> Result<(), Failure> {
        let from = self.place(area, place);
        // SAFETY: as in `pack`; the script is over, so that the bytes are there.
        unsafe { block.copy_in(self.mpi, self.comm, 0, from) }.map_err(at("unpacking"))
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
            let bytes = (count * self.layout.size) as usize;
            // SAFETY: the caller's contract: the data of the elements are a single run.
            return unsafe { memory::copy(self.mpi, self.comm, from.cast_const(), to, bytes) }
                .map_err(at("copying operands"));
        }
        if let Some(offset) = self.layout.run
            && !may_be_foreign()
        {
            let (from, to) = (self.runs(from, offset), self.runs(to, offset));
            // SAFETY: the caller's contract; both are the processor's. Elements that overlap would be this rank's
            // vector and its result, which are one buffer or two.
            unsafe { self.copy_runs(from, to, count) };
            return Ok(());
        }
        let most = (SELF_MESSAGE_BYTES / self.layout.size.max(1)).max(1);
        let mut done = 0;
        while done < count {
            let some = done..count.min(done + most);
            let (from, to) = (Area::one(from, count), Area::one(to, count));
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

    /// Copies elements between areas.
    ///
    /// # Safety
    /// `from` can be read and `to` written to for so many elements, and they do not overlap.
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
        if count == 0 {
            return Ok(()); // the addresses may mean nothing
        }
        if let Some(kernel) = self.kernel {
            let bytes = self.bytes(count) as usize;
            // SAFETY: the caller's contract: there is a kernel only for elements that lie together, so these are their
            // bytes, and they do not overlap.
            let (left, to) = unsafe {
                (
                    slice::from_raw_parts(left, bytes),
                    slice::from_raw_parts_mut(to, bytes),
                )
            };
            kernel.join(left, to);
            return Ok(());
        }
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
        if let (Some(kernel), 1..) = (self.kernel, count) {
            let bytes = self.bytes(count) as usize;
            // SAFETY: as in `join_left`; `right` is used up, so nobody else looks at it.
            let (to, right) = unsafe {
                (
                    slice::from_raw_parts_mut(to, bytes),
                    slice::from_raw_parts_mut(right, bytes),
                )
            };
            kernel.join_right(to, right);
            return Ok(());
        }
        // SAFETY: the caller's contract.
        unsafe {
            // The left operand is the other one here.
            self.join_left(to, right, count)?;
            self.copy(right, to, count)
        }
    }

    /// Does the program's own function join them?
    pub fn calls_program(&self) -> bool {
        self.kernel.is_none() && !self.mpi.h.ops.contains(&self.op)
    }
}

/// Every predefined type may lie at a multiple of this.
const ALIGNMENT: i64 = 16;

/// Bytes of a message to oneself at the most.
const SELF_MESSAGE_BYTES: u64 = 1 << 28;

/// There is no memory for operands.
pub fn no_room(_: TryReserveError) -> Code {
    Code::no_mem()
}
