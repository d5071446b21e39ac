//! What the running host refuses. MPI forbids much that a library need not notice: whether it does differs between
//! libraries, versions, builds and settings. A call that Rondo leaves to a host which then carries it out would wait
//! there for ranks that are in Rondo's collective. So the host is asked: by a call of the same function, on a
//! communicator of this process alone.

use super::reduction::ReductionOp;
use crate::host::data::counts::{Counts, Slots};
use crate::host::data::elements::Made;
use crate::host::library::abi::{Handles, IN_PLACE, RawHandle};
use crate::host::library::handle::Comm;
use crate::host::library::table::{Mpi, host};
use crate::host::object::code::check;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// The functions in which one rank's block and the blocks of all, or what it sends to all and what it receives from
/// all, are two buffers.
#[derive(Clone, Copy)]
pub(in crate::host) enum Function {
    Allgather,
    Allgatherv,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    /// Those in which a rank's vector and its result are two buffers.
    Reducing(ReductionOp),
}

impl Function {
    /// Its place in [`ALIASES`].
    fn place(self) -> usize {
        match self {
            Function::Allgather => 0,
            Function::Allgatherv => 1,
            Function::Gather => 2,
            Function::Gatherv => 3,
            Function::Scatter => 4,
            Function::Scatterv => 5,
            Function::Alltoall => 6,
            Function::Alltoallv => 7,
            Function::Alltoallw => 8,
            Function::Reducing(op) => PLAIN + op as usize,
        }
    }
}

/// One of the two buffers: its address, elements, type.
type Buffer = (*mut c_void, c_int, RawHandle);

/// What each function does with one buffer under two names, once that was asked: 1 carries it out, 2 refuses it.
static ALIASES: [AtomicU8; FUNCTIONS] = [const { AtomicU8::new(0) }; FUNCTIONS];

/// How many functions do not reduce, and how many there are.
const PLAIN: usize = 9;
const FUNCTIONS: usize = PLAIN + ReductionOp::Exscan as usize + 1;

/// Does the host refuse `MPI_IN_PLACE` for so many elements where it means nothing?
pub(in crate::host) fn is_place_refused(elements: u64) -> bool {
    // Others than Open MPI do not look at buffers without data.
    elements > 0 || cfg!(abi = "openmpi")
}

impl Mpi {
    /// Does the host refuse a block that is sent from, or received at, the very place it has among the blocks of all?
    /// Asked with an element without a byte: hosts that do not compare addresses may still end in an assertion when
    /// they copy bytes to where they are.
    #[cold]
    pub(in crate::host) fn refuses_aliases(&self, function: Function) -> bool {
        let known = &ALIASES[function.place()];
        if known.load(Relaxed) == 0
            && let Function::Reducing(_) = function
        {
            // There are no operators for empty types of one's own; bytes copied to where they are do no harm here.
            // Open MPI minds from two elements on.
            let mut bytes = [0u8; 2];
            let both = ((&raw mut bytes).cast(), 2, RawHandle::of_type(self.h.byte));
            let Some(refuses) = self.refuses(function, both, both) else {
                return true;
            };
            known.store(1 + u8::from(refuses), Relaxed);
        }
        if known.load(Relaxed) == 0 {
            let Ok(empty) = Made::hindexed(self, self.h.byte, &[]) else {
                return false;
            };
            let mut place = 0u8;
            let both = (
                (&raw mut place).cast(),
                1,
                RawHandle::of_type(empty.datatype),
            );
            let Some(refuses) = self.refuses(function, both, both) else {
                return true;
            };
            known.store(1 + u8::from(refuses), Relaxed);
        }
        known.load(Relaxed) == 2
    }

    /// Does the host refuse this type for a rank's own block, though there are no data in it?
    #[cold]
    pub(in crate::host) fn refuses_own_type(
        &self,
        function: Function,
        datatype: RawHandle,
    ) -> bool {
        let (mut one, mut other) = (0u8, 0u8);
        let own = ((&raw mut one).cast(), 0, datatype);
        let all = ((&raw mut other).cast(), 0, RawHandle::of_type(self.h.byte));
        self.refuses(function, own, all).unwrap_or(true)
    }

    /// Does the host refuse this type for the blocks of all, though there are no data in them?
    #[cold]
    pub(in crate::host) fn refuses_all_type(
        &self,
        function: Function,
        datatype: RawHandle,
        in_place: bool,
    ) -> bool {
        let (mut one, mut other) = (0u8, 0u8);
        let own = match in_place {
            true => IN_PLACE.cast_mut(),
            false => (&raw mut one).cast(),
        };
        let own = (own, 0, RawHandle::of_type(self.h.byte));
        let all = ((&raw mut other).cast(), 0, datatype);
        self.refuses(function, own, all).unwrap_or(true)
    }

    /// Does the host refuse a call with these buffers? Without a communicator to ask on it is taken for one that does
    /// not. Both have the elements that they claim: none with bytes, but two bytes where operands are reduced. `None`
    /// if the host failed for another reason, which is as good as a refusal: [`Mpi::trouble`] tells them apart.
    fn refuses(&self, function: Function, own: Buffer, all: Buffer) -> Option<bool> {
        let ((own, n, own_type), (all, all_n, all_type)) = (own, all);
        let bor = RawHandle::of_op(self.h.ops[Handles::BITS + 1]);
        let (counts, displs) = ([all_n], [0]);
        let (counts, displs) = (counts.as_ptr(), displs.as_ptr());
        // Some hosts mind one buffer only if it is described by one array.
        let (types, own_types) = ([all_type.datatype()], [own_type.datatype()]);
        let (types, own_types): (*const c_void, *const c_void) =
            (types.as_ptr().cast(), own_types.as_ptr().cast());
        let (own_counts, own_types) = match ptr::eq(own, all) {
            true => (counts, types),
            false => (&raw const n, own_types),
        };
        // SAFETY: the communicator has one rank, for which the arrays have an entry. Each buffer has as many elements
        // as its count says.
        let ask = |comm: Comm| unsafe {
            let (host, comm) = (&host().own, RawHandle::of(comm.0));
            match function {
                Function::Allgather => {
                    (host.allgather)(own, n, own_type, all, all_n, all_type, comm)
                }
                Function::Allgatherv => {
                    (host.allgatherv)(own, n, own_type, all, counts, displs, all_type, comm)
                }
                Function::Gather => (host.gather)(own, n, own_type, all, all_n, all_type, 0, comm),
                Function::Gatherv => {
                    (host.gatherv)(own, n, own_type, all, counts, displs, all_type, 0, comm)
                }
                Function::Scatter => {
                    (host.scatter)(all, all_n, all_type, own, n, own_type, 0, comm)
                }
                Function::Scatterv => {
                    (host.scatterv)(all, counts, displs, all_type, own, n, own_type, 0, comm)
                }
                Function::Alltoall => (host.alltoall)(own, n, own_type, all, all_n, all_type, comm),
                Function::Alltoallv => (host.alltoallv)(
                    own, own_counts, displs, own_type, all, counts, displs, all_type, comm,
                ),
                Function::Alltoallw => (host.alltoallw)(
                    own, own_counts, displs, own_types, all, counts, displs, types, comm,
                ),
                Function::Reducing(ReductionOp::Allreduce) => {
                    (host.allreduce)(own, all, n, own_type, bor, comm)
                }
                Function::Reducing(ReductionOp::Reduce) => {
                    (host.reduce)(own, all, n, own_type, bor, 0, comm)
                }
                Function::Reducing(ReductionOp::ReduceScatter) => {
                    (host.reduce_scatter)(own, all, counts, own_type, bor, comm)
                }
                Function::Reducing(ReductionOp::ReduceScatterBlock) => {
                    (host.reduce_scatter_block)(own, all, n, own_type, bor, comm)
                }
                Function::Reducing(ReductionOp::Scan) => {
                    (host.scan)(own, all, n, own_type, bor, comm)
                }
                Function::Reducing(ReductionOp::Exscan) => {
                    (host.exscan)(own, all, n, own_type, bor, comm)
                }
            }
        };
        let Some(code) = self.by_itself(ask) else {
            return Some(false);
        };
        match check(code) {
            Ok(()) => Some(false),
            Err(code) => self.complains(code).then_some(true),
        }
    }

    /// Are so many elements at this address data that cannot be there, because they begin at a null pointer? A null
    /// address is `MPI_BOTTOM`: fine for types that carry addresses, an error for those whose data begin at once.
    #[inline]
    pub(in crate::host) fn is_nowhere<T>(
        &self,
        address: *const T,
        datatype: RawHandle,
        count: u64,
    ) -> bool {
        address.is_null() && count > 0 && self.begins_at_once(datatype)
    }

    /// The same of any block of `p` ranks behind a null address.
    #[cold]
    pub(in crate::host) fn is_any_nowhere(
        &self,
        counts: &Counts,
        datatype: RawHandle,
        p: u32,
    ) -> bool {
        let extent = (datatype.as_datatype(self)).and_then(|known| self.extent(known).ok());
        let slots = Slots {
            base: ptr::null_mut(),
            extent: extent.unwrap_or(0),
            counts: *counts,
        };
        let is_nowhere = |rank| slots.address(rank).is_null() && counts.count(rank) != Some(0);
        self.begins_at_once(datatype) && (0..p).any(is_nowhere)
    }

    /// Do the data of an element of this type, if there are any, begin at its very address?
    #[cold]
    fn begins_at_once(&self, datatype: RawHandle) -> bool {
        let known = datatype.as_datatype(self);
        known.is_some_and(|known| {
            let begins = self.true_extent(known).is_ok_and(|(lower, _)| lower == 0);
            begins && self.type_size(known).is_ok_and(|size| size > 0)
        })
    }
}
