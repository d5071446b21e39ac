//! The message on this rank: in the user's buffer where it lies in one run, else in a packed copy that
//! is made, or taken apart, piece by piece while blocks travel.

use super::attr::Datatype;
use super::handles::{Code, Comm, check};
use super::layout::Layout;
use super::table::Usable;
use super::wire::{Failure, at};
use mpi_sys as sys;
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// The message on this rank: the user's own buffer, or a packed copy of it.
pub enum Data {
    /// The message is one run of bytes at this address.
    InPlace(*mut u8),
    /// The message is packed and unpacked piece by piece.
    Packed(Packed),
}

/// A user buffer whose bytes do not lie in one run, and the packed message.
pub struct Packed {
    buffer: *mut u8,
    count: u64,
    datatype: sys::MPI_Datatype,
    /// The datatype if it had to be made; freed at the end.
    _shifted: Option<Made>,
    layout: Layout,
    scratch: Vec<MaybeUninit<u8>>,
    byte: sys::MPI_Datatype,
    /// Elements that are packed (at the root) or unpacked (elsewhere).
    done: u64,
    /// For elements so large that MPI_Pack cannot count their bytes: a type of as many bytes.
    giant: Option<Made>,
}

/// A committed datatype of Rondo's own.
struct Made {
    datatype: sys::MPI_Datatype,
    free: unsafe extern "C" fn(*mut sys::MPI_Datatype) -> c_int,
}

impl Made {
    /// Blocks of `of`, as many elements and at the displacement in bytes that each pair says.
    fn hindexed(
        host: &Usable,
        of: sys::MPI_Datatype,
        blocks: &[(c_int, sys::MPI_Aint)],
    ) -> Result<Made, Code> {
        let (lengths, displacements): (Vec<c_int>, Vec<sys::MPI_Aint>) =
            blocks.iter().copied().unzip();
        let (mut datatype, count) = (host.h.datatype_null, blocks.len() as c_int);
        let (lengths, displacements) = (lengths.as_ptr(), displacements.as_ptr());
        // SAFETY: both arrays have `count` entries.
        check(unsafe {
            (host.f.type_create_hindexed)(count, lengths, displacements, of, &mut datatype)
        })?;
        let mut made = Made {
            datatype,
            free: host.f.type_free,
        };
        // SAFETY: the type was just made.
        check(unsafe { (host.f.type_commit)(&mut made.datatype) })?;
        Ok(made)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // SAFETY: the type is ours and no message uses it any more.
        unsafe { (self.free)(&mut self.datatype) };
    }
}

/// Stands for `MPI_BOTTOM` where the host takes no null pointer (MPICH's `MPI_Pack`): any address
/// will do, as long as the displacements are made smaller by as much.
const BOTTOM: usize = 4096;

/// At most this many bytes are packed by one call of the host, which counts in `int`.
const PACK_BYTES: u64 = 1 << 30;

impl Packed {
    /// Allocates the packed message. The buffer is not read yet.
    pub(super) fn new(
        host: &Usable,
        buffer: *mut u8,
        count: u64,
        datatype: Datatype,
        layout: Layout,
    ) -> Result<Packed, Code> {
        let bytes = usize::try_from(count * layout.size).map_err(|_| Code::no_mem())?;
        let mut scratch = Vec::new();
        scratch
            .try_reserve_exact(bytes)
            .map_err(|_| Code::no_mem())?;
        // SAFETY: uninitialised bytes are values of MaybeUninit, and the capacity was reserved.
        unsafe { scratch.set_len(bytes) };
        let giant = if layout.size > PACK_BYTES {
            Some(giant(host, layout.size)?)
        } else {
            None
        };
        let byte = host.h.byte;
        let (mut buffer, mut datatype, mut shifted) = (buffer, datatype.0, None);
        if buffer.is_null() {
            let made = Made::hindexed(host, datatype, &[(1, -(BOTTOM as sys::MPI_Aint))])?;
            buffer = BOTTOM as *mut u8;
            datatype = made.datatype;
            shifted = Some(made);
        }
        Ok(Packed {
            buffer,
            count,
            datatype,
            _shifted: shifted,
            layout,
            scratch,
            byte,
            done: 0,
            giant,
        })
    }

    /// Where the packed message is.
    pub(super) fn address(&mut self) -> *mut u8 {
        self.scratch.as_mut_ptr().cast()
    }

    /// Packs elements until the first `bytes` bytes of the message are there.
    pub(super) fn pack(&mut self, host: &Usable, comm: Comm, bytes: u64) -> Result<(), Failure> {
        let until = bytes.div_ceil(self.layout.size);
        let giant = self.giant.is_some();
        self.each_run(until, |user, packed| {
            if giant {
                return self_message(host, comm, user, packed);
            }
            let mut position = 0;
            // SAFETY: `count` elements lie at the user's address by the caller's MPI contract, and as
            // many bytes as they have inside the scratch buffer.
            check(unsafe {
                (host.f.pack)(
                    user.address.cast_const().cast(),
                    user.count,
                    user.datatype,
                    packed.address.cast(),
                    packed.count,
                    &mut position,
                    comm.0,
                )
            })
        })
        .map_err(at("packing"))
    }

    /// Unpacks the elements that lie wholly in the first `bytes` bytes of the message.
    pub(super) fn unpack(&mut self, host: &Usable, comm: Comm, bytes: u64) -> Result<(), Failure> {
        let until = bytes / self.layout.size;
        let giant = self.giant.is_some();
        self.each_run(until, |user, packed| {
            if giant {
                return self_message(host, comm, packed, user);
            }
            let mut position = 0;
            // SAFETY: as in `pack`; these bytes have arrived.
            check(unsafe {
                (host.f.unpack)(
                    packed.address.cast_const().cast(),
                    packed.count,
                    &mut position,
                    user.address.cast(),
                    user.count,
                    user.datatype,
                    comm.0,
                )
            })
        })
        .map_err(at("unpacking"))
    }

    /// Calls `copy(elements of the user, their packed bytes)` for the elements from `done` to `until`,
    /// in runs short enough for the host.
    fn each_run(
        &mut self,
        until: u64,
        copy: impl Fn(Piece, Piece) -> Result<(), Code>,
    ) -> Result<(), Code> {
        let Layout { size, extent, .. } = self.layout;
        let most = (PACK_BYTES / size).clamp(1, i32::MAX as u64);
        let until = until.min(self.count);
        while self.done < until {
            let count = most.min(until - self.done);
            let user = Piece {
                address: self
                    .buffer
                    .wrapping_offset(self.done as isize * extent as isize),
                count: count as c_int,
                datatype: self.datatype,
            };
            let start = self.address();
            let address = start.wrapping_add((self.done * size) as usize);
            let (count_packed, datatype) = match &self.giant {
                Some(giant) => (1, giant.datatype),
                None => ((count * size) as c_int, self.byte),
            };
            let packed = Piece {
                address,
                count: count_packed,
                datatype,
            };
            copy(user, packed)?;
            self.done += count;
        }
        Ok(())
    }
}

/// Some elements in memory, as a message would name them.
#[derive(Clone, Copy)]
struct Piece {
    address: *mut u8,
    count: c_int,
    datatype: sys::MPI_Datatype,
}

/// A type of `size` bytes in a row; the count of MPI_BYTE would not fit an `int`.
fn giant(host: &Usable, size: u64) -> Result<Made, Code> {
    let starts = (0..size).step_by(PACK_BYTES as usize);
    let blocks: Vec<_> = starts
        .map(|at| (PACK_BYTES.min(size - at) as c_int, at as sys::MPI_Aint))
        .collect();
    Made::hindexed(host, host.h.byte, &blocks)
}

/// Copies by a message to oneself, on the private communicator, where nothing else receives from
/// this rank itself.
fn self_message(host: &Usable, comm: Comm, from: Piece, to: Piece) -> Result<(), Code> {
    let rank = host.rank(comm)? as c_int;
    // SAFETY: MPI_Status is a struct of integers, for which zero is a value.
    let mut status: sys::MPI_Status = unsafe { std::mem::zeroed() };
    // SAFETY: the elements lie at their addresses; the two do not overlap, one of them being the
    // scratch buffer.
    check(unsafe {
        (host.f.sendrecv)(
            from.address.cast_const().cast(),
            from.count,
            from.datatype,
            rank,
            0,
            to.address.cast(),
            to.count,
            to.datatype,
            rank,
            0,
            comm.0,
            &mut status,
        )
    })
}
