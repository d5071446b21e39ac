//! Elements of a datatype that do not lie in one run, or not in the processor's memory: packing and unpacking them.

use super::layout::Layout;
use super::memory;
use crate::host::library::handle::Comm;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::host::object::attr::Datatype;
use crate::host::object::code::{Code, check};
use std::ffi::c_int;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// Stands for `MPI_BOTTOM` where the host takes no null pointer (MPICH's `MPI_Pack`): any address
/// will do, as long as the displacements are made smaller by as much.
const BOTTOM: usize = 4096;

/// At most this many bytes are packed by one call of the host, which counts in `int`.
pub(in crate::host) const PACK_BYTES: u64 = 1 << 30;

/// A datatype of a user's buffer as the host's pack functions need it.
pub struct Elements {
    datatype: sys::MPI_Datatype,
    /// The datatype if it had to be made; freed at the end.
    shifted: Option<Made>,
    layout: Layout,
    byte: sys::MPI_Datatype,
    /// For elements so large that MPI_Pack cannot count their bytes: a type of as many bytes.
    giant: Option<Made>,
}

/// A committed datatype of Rondo's own.
pub(in crate::host) struct Made {
    pub(in crate::host) datatype: sys::MPI_Datatype,
    free: unsafe extern "C-unwind" fn(*mut sys::MPI_Datatype) -> c_int,
}

impl Made {
    /// Blocks of `of`, as many elements and at the displacement in bytes that each pair says.
    pub(in crate::host) fn hindexed(
        mpi: &Mpi,
        of: sys::MPI_Datatype,
        blocks: &[(c_int, sys::MPI_Aint)],
    ) -> Result<Made, Code> {
        let (lengths, displacements): (Vec<c_int>, Vec<sys::MPI_Aint>) =
            blocks.iter().copied().unzip();
        let (mut datatype, count) = (mpi.h.datatype_null, blocks.len() as c_int);
        let (lengths, displacements) = (lengths.as_ptr(), displacements.as_ptr());
        // SAFETY: both arrays have `count` entries.
        check(unsafe {
            (mpi.f.type_create_hindexed)(count, lengths, displacements, of, &mut datatype)
        })?;
        let mut made = Made {
            datatype,
            free: mpi.f.type_free,
        };
        // SAFETY: the type was just made.
        check(unsafe { (mpi.f.type_commit)(&mut made.datatype) })?;
        Ok(made)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // SAFETY: the type is ours and no message uses it any more.
        unsafe { (self.free)(&mut self.datatype) };
    }
}

impl Elements {
    /// Elements of `datatype` relative to `base`, which comes back as it is to be used.
    pub(in crate::host) fn new(
        mpi: &Mpi,
        base: *mut u8,
        datatype: Datatype,
        layout: Layout,
    ) -> Result<(Elements, *mut u8), Code> {
        let giant = if layout.size > PACK_BYTES {
            Some(giant(mpi, layout.size)?)
        } else {
            None
        };
        let (mut base, mut datatype, mut shifted) = (base, datatype.0, None);
        if base.is_null() {
            let made = Made::hindexed(mpi, datatype, &[(1, -(BOTTOM as sys::MPI_Aint))])?;
            base = BOTTOM as *mut u8;
            datatype = made.datatype;
            shifted = Some(made);
        }
        let elements = Elements {
            datatype,
            shifted,
            layout,
            byte: mpi.h.byte,
            giant,
        };
        Ok((elements, base))
    }

    /// Bytes of data in an element.
    pub(in crate::host) fn size(&self) -> u64 {
        self.layout.size
    }

    /// Packs some elements.
    ///
    /// # Safety
    /// The elements lie in the user's memory, and the packed ones have room.
    pub(in crate::host) unsafe fn pack(
        &self,
        mpi: &Mpi,
        comm: Comm,
        some: Stretch,
    ) -> Result<(), Code> {
        // SAFETY: the caller's contract.
        unsafe { self.copy(mpi, comm, some, Direction::Pack) }
    }

    /// Unpacks some elements.
    ///
    /// # Safety
    /// The packed elements are there, and the others have room in the user's memory.
    pub(in crate::host) unsafe fn unpack(
        &self,
        mpi: &Mpi,
        comm: Comm,
        some: Stretch,
    ) -> Result<(), Code> {
        // SAFETY: the caller's contract.
        unsafe { self.copy(mpi, comm, some, Direction::Unpack) }
    }

    /// Packs or unpacks some elements.
    ///
    /// # Safety
    /// What is to be read is there, and there is room for what is to be written.
    unsafe fn copy(
        &self,
        mpi: &Mpi,
        comm: Comm,
        some: Stretch,
        direction: Direction,
    ) -> Result<(), Code> {
        if let Some((user, packed, bytes)) = self.run(&some) {
            let (from, to) = match direction {
                Direction::Pack => (user, packed),
                Direction::Unpack => (packed, user),
            };
            // SAFETY: by the caller's contract.
            return unsafe { memory::copy(mpi, comm, from.cast_const(), to, bytes) };
        }
        self.each_run(some, |user, packed| {
            if self.giant.is_some() {
                let (from, to) = match direction {
                    Direction::Pack => (user, packed),
                    Direction::Unpack => (packed, user),
                };
                // SAFETY: by the caller's contract.
                return unsafe { self_message(mpi, comm, from, to) };
            }
            let mut position = 0;
            // SAFETY: by the caller's contract.
            check(unsafe {
                match direction {
                    Direction::Pack => (mpi.f.pack)(
                        user.address.cast_const().cast(),
                        user.count,
                        user.datatype,
                        packed.address.cast(),
                        packed.count,
                        &mut position,
                        comm.0,
                    ),
                    Direction::Unpack => (mpi.f.unpack)(
                        packed.address.cast_const().cast(),
                        packed.count,
                        &mut position,
                        user.address.cast(),
                        user.count,
                        user.datatype,
                        comm.0,
                    ),
                }
            })
        })
    }

    /// Where some elements are for the user, where they are packed, and their bytes, if they are a single run.
    fn run(&self, some: &Stretch) -> Option<(*mut u8, *mut u8, usize)> {
        if self.shifted.is_some() {
            return None; // the address stands for another one
        }
        let Layout { size, extent, .. } = self.layout;
        let count = some.until.saturating_sub(some.from);
        let offset = self.layout.contiguous(count)? + some.from as i64 * extent;
        let user = some.user.wrapping_offset(offset as isize);
        let packed = some.packed.wrapping_add((some.from * size) as usize);
        Some((user, packed, (count * size) as usize))
    }

    /// Calls `copy(elements of the user, their packed bytes)` in runs short enough for the host.
    fn each_run(
        &self,
        some: Stretch,
        copy: impl Fn(Chunk, Chunk) -> Result<(), Code>,
    ) -> Result<(), Code> {
        let Layout { size, extent, .. } = self.layout;
        let most = (PACK_BYTES / size).clamp(1, i32::MAX as u64);
        let mut done = some.from;
        while done < some.until {
            let count = most.min(some.until - done);
            let user = Chunk {
                address: some.user.wrapping_offset(done as isize * extent as isize),
                count: count as c_int,
                datatype: self.datatype,
            };
            let (packed_count, datatype) = match &self.giant {
                Some(giant) => (1, giant.datatype),
                None => ((count * size) as c_int, self.byte),
            };
            let packed = Chunk {
                address: some.packed.wrapping_add((done * size) as usize),
                count: packed_count,
                datatype,
            };
            copy(user, packed)?;
            done += count;
        }
        Ok(())
    }
}

/// Which way elements are copied.
#[derive(Clone, Copy)]
enum Direction {
    Pack,
    Unpack,
}

/// Some elements in the user's memory and, packed, in Rondo's.
#[derive(Clone, Copy)]
pub struct Stretch {
    /// Where element 0 is for the user.
    pub user: *mut u8,
    /// Where element 0 is packed.
    pub packed: *mut u8,
    /// The first element.
    pub from: u64,
    /// The element behind the last one.
    pub until: u64,
}

/// Some elements in memory, as a message would name them.
#[derive(Clone, Copy)]
pub struct Chunk {
    pub address: *mut u8,
    pub count: c_int,
    pub datatype: sys::MPI_Datatype,
}

/// Elements of a user's buffer, however many, that travel as one message.
pub struct Message {
    chunk: Chunk,
    /// The datatype if it had to be made, because the elements are too many for an `int`.
    _made: Option<Made>,
}

impl Message {
    /// `count` elements at `address`, `extent` bytes apart.
    pub(in crate::host) fn new(
        mpi: &Mpi,
        address: *mut u8,
        count: u64,
        datatype: Datatype,
        extent: i64,
    ) -> Result<Message, Code> {
        let chunk = |count, datatype| Chunk {
            address,
            count,
            datatype,
        };
        if let Ok(count) = c_int::try_from(count) {
            return Ok(Message {
                chunk: chunk(count, datatype.0),
                _made: None,
            });
        }
        let starts = (0..count).step_by(PACK_BYTES as usize);
        let blocks: Vec<_> = starts
            .map(|at| {
                let most = PACK_BYTES.min(count - at) as c_int;
                (most, at as sys::MPI_Aint * extent as sys::MPI_Aint)
            })
            .collect();
        let made = Made::hindexed(mpi, datatype.0, &blocks)?;
        Ok(Message {
            chunk: chunk(1, made.datatype),
            _made: Some(made),
        })
    }

    /// What to send or receive.
    pub(in crate::host) fn chunk(&self) -> Chunk {
        self.chunk
    }
}

/// A type of `size` bytes in a row; the count of MPI_BYTE would not fit an `int`.
fn giant(mpi: &Mpi, size: u64) -> Result<Made, Code> {
    let starts = (0..size).step_by(PACK_BYTES as usize);
    let blocks: Vec<_> = starts
        .map(|at| (PACK_BYTES.min(size - at) as c_int, at as sys::MPI_Aint))
        .collect();
    Made::hindexed(mpi, mpi.h.byte, &blocks)
}

/// Tags up to this one are valid on every communicator.
const TAG_MAX: u16 = 32767;

thread_local! {
    /// The tag of this thread's messages to itself: other threads may copy on the same communicator at the same time.
    static OWN_TAG: c_int = {
        static NEXT: AtomicU16 = AtomicU16::new(0);
        c_int::from(NEXT.fetch_add(1, Relaxed) & TAG_MAX)
    };
}

/// Copies by a message to oneself, on a communicator of Rondo's, where nothing else receives from this rank itself.
///
/// # Safety
/// The elements lie at their addresses, and the two do not overlap.
pub(in crate::host) unsafe fn self_message(
    mpi: &Mpi,
    comm: Comm,
    from: Chunk,
    to: Chunk,
) -> Result<(), Code> {
    let rank = mpi.rank(comm)? as c_int;
    let tag = OWN_TAG.with(|tag| *tag);
    // SAFETY: MPI_Status is a struct of integers, for which zero is a value.
    let mut status: sys::MPI_Status = unsafe { std::mem::zeroed() };
    // SAFETY: by the caller's contract.
    check(unsafe {
        (mpi.f.sendrecv)(
            from.address.cast_const().cast(),
            from.count,
            from.datatype,
            rank,
            tag,
            to.address.cast(),
            to.count,
            to.datatype,
            rank,
            tag,
            comm.0,
            &mut status,
        )
    })
}
