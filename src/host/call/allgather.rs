//! `MPI_Allgatherv`, `MPI_Allgather` and their large-count forms: one call with two ways to say where the
//! blocks go.

use super::Call;
use super::refusal::{Function, is_place_refused};
use crate::host::data::counts::Count;
use crate::host::data::counts::{Counts, Slots, is_alias};
use crate::host::data::data::{Areas, Data, Packed};
use crate::host::data::elements::{Elements, Stretch};
use crate::host::data::layout::Layout;
use crate::host::data::memory;
use crate::host::library::abi::{IN_PLACE, MPI_ERR_COUNT, RawHandle};
use crate::host::library::gpu::may_be_foreign;
use crate::host::library::handle::Comm;
use crate::host::library::table::{Host, Mpi};
use crate::host::object::attr::Datatype;
use crate::host::object::code::{Code, check};
use crate::host::object::failure::{Failure, at};
use crate::schedule::Parts;
use std::ffi::{c_int, c_void};
use std::ptr;

/// A call of `MPI_Allgatherv` or `MPI_Allgather`.
pub struct Allgather {
    sendbuf: *const c_void,
    sendcount: Count,
    sendtype: RawHandle,
    recvbuf: *mut c_void,
    counts: Counts,
    recvtype: RawHandle,
    comm: RawHandle,
}

impl Allgather {
    /// A call with the arguments as they came.
    ///
    /// # Safety
    /// The caller keeps the contract of `MPI_Allgatherv` or `MPI_Allgather` (MPI 4.1, section 6.7): if
    /// the arguments are valid, both buffers are good for the elements they name, and the arrays for
    /// one entry per rank, until the call returns.
    pub unsafe fn new(
        sendbuf: *const c_void,
        sendcount: Count,
        sendtype: RawHandle,
        recvbuf: *mut c_void,
        counts: Counts,
        recvtype: RawHandle,
        comm: RawHandle,
    ) -> Allgather {
        Allgather {
            sendbuf,
            sendcount,
            sendtype,
            recvbuf,
            counts,
            recvtype,
            comm,
        }
    }

    /// Is this `MPI_Allgather`?
    pub fn is_regular(&self) -> bool {
        matches!(self.counts, Counts::Regular(_))
    }

    /// Is this rank's contribution in the receive buffer already?
    fn in_place(&self) -> bool {
        ptr::eq(self.sendbuf, IN_PLACE)
    }

    fn function(&self) -> Function {
        match self.is_regular() {
            true => Function::Allgather,
            false => Function::Allgatherv,
        }
    }

    /// The type of what is received, unless it cannot be one.
    pub fn recvtype(&self, mpi: &Mpi) -> Option<Datatype> {
        self.recvtype.as_datatype(mpi)
    }

    /// Bytes that each rank contributes, where all have as many; `None` if they need not, or the count or the datatype
    /// is invalid.
    pub fn block(&self, mpi: &Mpi) -> Option<u64> {
        let Counts::Regular(count) = self.counts else {
            return None;
        };
        let size = mpi.type_size(self.recvtype(mpi)?).ok()?;
        count.get()?.checked_mul(size)
    }

    /// States what each of `p` ranks contributes, in bytes; `None` if a count or the datatype is
    /// invalid.
    pub fn parts(&self, mpi: &Mpi, p: u32, parts: &mut Parts) -> Option<()> {
        let size = mpi.type_size(self.recvtype(mpi)?).ok()?;
        self.counts.parts(p, size, parts)
    }

    /// Bytes that this rank sends by its own account; `None` if the arguments are invalid. They may be
    /// anything at all in place, so then nobody may ask.
    fn sends(&self, mpi: &Mpi) -> Option<u64> {
        let datatype = self.sendtype.as_datatype(mpi)?;
        mpi.type_size(datatype)
            .ok()?
            .checked_mul(self.sendcount.get()?)
    }

    /// Does this rank send what the parts say it contributes?
    pub fn check_own(&self, mpi: &Mpi, parts: &Parts, rank: u32) -> Result<(), Failure> {
        if self.in_place() {
            return Ok(());
        }
        let expected = parts.span(rank).len;
        match self.sends(mpi) {
            Some(sends) if sends != expected => Err(Failure::Contribution { sends, expected }),
            _ => Ok(()),
        }
    }

    /// The parts in the user's memory. If the processor `touches` them, they are not used in place where it cannot.
    pub fn data<'a>(
        &'a self,
        mpi: &Mpi,
        datatype: Datatype,
        layout: Layout,
        parts: &'a Parts,
        touches: bool,
    ) -> Result<Data<'a>, Code> {
        let most = parts.largest() / layout.size;
        if let Some(offset) = layout.contiguous(most) {
            let base = self.recvbuf.cast::<u8>().wrapping_offset(offset as isize);
            let slots = self.slots(base, layout.extent);
            if !touches || !may_be_foreign() {
                return Ok(Data::Parts(slots));
            }
        }
        self.packed(mpi, datatype, layout, parts).map(Data::Packed)
    }

    fn packed<'a>(
        &'a self,
        mpi: &Mpi,
        datatype: Datatype,
        layout: Layout,
        parts: &'a Parts,
    ) -> Result<Packed<'a>, Code> {
        let (elements, base) = Elements::new(mpi, self.recvbuf.cast(), datatype, layout)?;
        let areas = Areas::Many(self.slots(base, layout.extent), parts);
        Packed::new(elements, areas, parts.total())
    }

    /// The places of the parts, element 0 of a displacement 0 being at `base`.
    fn slots(&self, base: *mut u8, extent: i64) -> Slots {
        Slots {
            base,
            extent,
            counts: self.counts,
        }
    }

    /// Puts this rank's own contribution where the others' will be.
    pub fn place_own(
        &self,
        mpi: &Mpi,
        private: Comm,
        data: &Data,
        parts: &Parts,
        rank: u32,
    ) -> Result<(), Failure> {
        if self.in_place() {
            return match data {
                Data::Packed(packed) => packed.pack_part(mpi, private, rank),
                Data::Run(_) | Data::Parts(_) => Ok(()),
            };
        }
        let (bytes, count) = (parts.span(rank).len, self.sendcount.get());
        let sent = count.zip(self.sendtype.as_datatype(mpi));
        let Some((count, datatype)) = sent.filter(|_| bytes > 0) else {
            return Ok(());
        };
        let pack = || {
            let layout = mpi.layout(datatype)?;
            let (from, to) = (self.sendbuf.cast::<u8>().cast_mut(), data.part(rank));
            if let Some(offset) = layout.contiguous(count) {
                let from = from.wrapping_offset(offset as isize).cast_const();
                // SAFETY: as many bytes are sent as the part has, which was checked; by the caller's
                // contract they can be read there, and the part is good for them.
                return unsafe { memory::copy(mpi, private, from, to, bytes as usize) };
            }
            let (elements, user) = Elements::new(mpi, from, datatype, layout)?;
            let range = Stretch {
                user,
                packed: to,
                from: 0,
                until: count,
            };
            // SAFETY: as above.
            unsafe { elements.pack(mpi, private, range) }
        };
        pack().map_err(at("packing"))
    }

    /// Does the host refuse what this rank sends?
    fn is_own_refused(&self, mpi: &Mpi, rank: u32) -> bool {
        let Some(count) = self.sendcount.get() else {
            return true;
        };
        // A rank without a contribution has a type as well, at which the host may look.
        let size = (self.recvtype(mpi)).and_then(|datatype| mpi.type_size(datatype).ok());
        let contributes = self.counts.count(rank) != Some(0) && size != Some(0);
        if !self.sendtype.is_committed(mpi) {
            return contributes || mpi.refuses_own_type(self.function(), self.sendtype);
        }
        let is_alias = || {
            is_alias(
                self.sendbuf,
                self.recvbuf,
                &self.counts,
                rank,
                size.unwrap_or(0),
            ) && self.sendtype.datatype() == self.recvtype.datatype()
                && mpi.refuses_aliases(self.function())
        };
        contributes && (mpi.is_nowhere(self.sendbuf, self.sendtype, count) || is_alias())
    }

    /// Hands the call to the host in a form in which all ranks get the same algorithm from it.
    ///
    /// Open MPI chooses one for MPI_Allgatherv by the sum of the receive counts times the size of the
    /// *send* type (4.1: `ompi_coll_tuned_allgatherv_intra_dec_fixed`), so ranks that write the same
    /// data as different types may choose different ones and wait for each other for ever. In place
    /// it takes the size of the receive type. So a rank where the two sizes differ copies its own
    /// contribution and passes the call on as one in place.
    pub fn pass_repaired(&self, host: &Host, mpi: &Mpi, rank: u32) -> c_int {
        if !self.is_miscounted(mpi, rank) || self.copy_own(host, mpi, rank).is_err() {
            return self.pass(host); // which complains, if there is reason to
        }
        let in_place = Allgather {
            sendbuf: IN_PLACE,
            ..*self
        };
        in_place.pass(host)
    }

    /// Does the host take the total for something that it is not, though the arguments are valid?
    fn is_miscounted(&self, mpi: &Mpi, rank: u32) -> bool {
        if !cfg!(abi = "openmpi")
            || self.in_place()
            || self.is_regular()
            || self.sendtype.same(self.recvtype)
        {
            return false;
        }
        let size = |datatype: RawHandle| mpi.type_size(datatype.as_datatype(mpi)?).ok();
        let (Some(sent), Some(received)) = (size(self.sendtype), size(self.recvtype)) else {
            return false;
        };
        let contributes = self
            .counts
            .count(rank)
            .and_then(|n| n.checked_mul(received));
        sent != received && self.sends(mpi) == contributes
    }

    /// Copies this rank's contribution to its place: an allgather of this rank with itself.
    fn copy_own(&self, host: &Host, mpi: &Mpi, rank: u32) -> Result<(), Code> {
        // A large count is an `int`'s here, or the host's own form of the call is left as it is.
        let int = |count: Option<u64>| c_int::try_from(count?).ok();
        let counts = (int(self.sendcount.get()), int(self.counts.count(rank)));
        let (Some(sent), Some(count)) = counts else {
            return Err(Code::intern());
        };
        let datatype = self.recvtype(mpi).ok_or(Code::intern())?;
        let slots = self.slots(self.recvbuf.cast(), mpi.extent(datatype)?);
        let to = slots.address(rank).cast();
        // SAFETY: these are the caller's own arguments, for which whoever made the call vouched; the
        // slot is where the host would put the same elements.
        let copy = |own_self: Comm| unsafe {
            (host.own.allgather)(
                self.sendbuf,
                sent,
                self.sendtype,
                to,
                count,
                self.recvtype,
                RawHandle::of(own_self.0),
            )
        };
        check(mpi.by_itself(copy).ok_or(Code::no_mem())?)
    }
}

impl Call for Allgather {
    #[inline]
    fn raw_comm(&self) -> RawHandle {
        self.comm
    }

    fn pass(&self, host: &Host) -> c_int {
        let &Allgather {
            sendbuf: send,
            sendcount,
            sendtype,
            recvbuf: recv,
            counts,
            recvtype,
            comm,
            ..
        } = self;
        let own = &host.own;
        // SAFETY: these are the caller's own arguments, and whoever made the call vouched for them.
        unsafe {
            match (sendcount, counts) {
                (Count::Int(count), Counts::Int(counts, displs)) => {
                    (own.allgatherv)(send, count, sendtype, recv, counts, displs, recvtype, comm)
                }
                (Count::Int(count), Counts::Regular(Count::Int(each))) => {
                    (own.allgather)(send, count, sendtype, recv, each, recvtype, comm)
                }
                (Count::Large(count), Counts::Large(counts, displs)) => (own.allgatherv_large)(
                    send, count, sendtype, recv, counts, displs, recvtype, comm,
                ),
                (Count::Large(count), Counts::Regular(Count::Large(each))) => {
                    (own.allgather_large)(send, count, sendtype, recv, each, recvtype, comm)
                }
                // A call is of one form as a whole.
                _ => MPI_ERR_COUNT as c_int,
            }
        }
    }

    #[inline]
    fn given_root(&self) -> c_int {
        0
    }

    #[inline]
    fn words(&self) -> Option<[u64; 3]> {
        match self.counts {
            Counts::Regular(count) => Some([count.bits(), self.recvtype.bits(), 0]),
            Counts::Int(..) | Counts::Large(..) => None,
        }
    }

    fn is_of_predefined(&self, mpi: &Mpi) -> bool {
        self.recvtype.is_predefined_type(mpi)
    }

    fn is_refused(&self, mpi: &Mpi, rank: u32, p: u32) -> bool {
        let Some(total) = self.counts.total(p) else {
            return true;
        };
        let in_place = self.in_place();
        (ptr::eq(self.recvbuf, IN_PLACE) && is_place_refused(total))
            || self.recvtype(mpi).is_none()
            || (!self.recvtype.is_committed(mpi)
                && (total > 0 || mpi.refuses_all_type(self.function(), self.recvtype, in_place)))
            || (self.recvbuf.is_null() && mpi.is_any_nowhere(&self.counts, self.recvtype, p))
            || (!in_place && self.is_own_refused(mpi, rank))
    }
}
