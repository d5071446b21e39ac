//! `MPI_Alltoall`, `MPI_Alltoallv`, `MPI_Alltoallw` and their large-count forms: one call with several ways to say
//! where the blocks lie and what they are.

use super::Call;
use super::refusal::{Function, is_place_refused};
use crate::host::data::counts::{Count, Counts, Slots};
use crate::host::data::sides::{Kind, Side, Sides};
use crate::host::library::abi::{IN_PLACE, MPI_ERR_COUNT, RawHandle};
use crate::host::library::sys;
use crate::host::library::table::{Host, Mpi};
use std::ffi::{c_int, c_void};
use std::ptr;

/// Which exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlltoallOp {
    /// `MPI_Alltoall`.
    Alltoall,
    /// `MPI_Alltoallv`.
    Alltoallv,
    /// `MPI_Alltoallw`.
    Alltoallw,
}

/// The types of the blocks of a side.
#[derive(Clone, Copy)]
pub enum Types {
    /// All have this one.
    One(RawHandle),
    /// An array with that of each rank.
    Each(*const c_void),
}

impl From<RawHandle> for Types {
    fn from(datatype: RawHandle) -> Types {
        Types::One(datatype)
    }
}

impl From<*const c_void> for Types {
    fn from(types: *const c_void) -> Types {
        Types::Each(types)
    }
}

impl Types {
    /// Are these the same arguments?
    fn same(self, other: Types) -> bool {
        match (self, other) {
            (Types::One(one), Types::One(other)) => one.same(other),
            (Types::Each(one), Types::Each(other)) => ptr::eq(one, other),
            (Types::One(_) | Types::Each(_), _) => false,
        }
    }
}

/// The arguments for one side.
#[derive(Clone, Copy)]
struct Given {
    buffer: *mut c_void,
    counts: Counts,
    types: Types,
}

impl Given {
    fn side(&self, mpi: &Mpi) -> Side {
        let kind = match self.types {
            Types::Each(types) => Kind::Each(types.cast()),
            Types::One(datatype) => {
                let known = datatype.as_datatype(mpi);
                let layout = known.and_then(|known| Some((known, mpi.layout(known).ok()?)));
                layout.map_or(Kind::Empty, |(known, layout)| Kind::One(known, layout))
            }
        };
        Side {
            base: self.buffer.cast(),
            counts: self.counts,
            kind,
        }
    }

    /// Has any of the `p` blocks elements? `None` if the host refuses them; `refuses` says whether it refuses a type
    /// for blocks without data.
    fn has_elements(
        &self,
        mpi: &Mpi,
        p: u32,
        refuses: impl FnOnce(RawHandle) -> bool,
    ) -> Option<bool> {
        let has_elements = self.counts.total(p)? > 0;
        let is_refused = match self.types {
            Types::One(datatype) if !datatype.is_committed(mpi) => {
                has_elements || refuses(datatype)
            }
            Types::One(datatype) => {
                self.buffer.is_null() && mpi.is_any_nowhere(&self.counts, datatype, p)
            }
            Types::Each(types) => types.is_null() || self.is_any_refused(mpi, p, types.cast()),
        };
        (!is_refused).then_some(has_elements)
    }

    /// Does the host refuse any of `p` blocks, each of which has a type of its own? Types of empty blocks are not
    /// looked at.
    fn is_any_refused(&self, mpi: &Mpi, p: u32, types: *const sys::MPI_Datatype) -> bool {
        let slots = Slots {
            base: self.buffer.cast(),
            extent: 1,
            counts: self.counts,
        };
        (0..p).any(|rank| {
            let count = self.counts.count(rank).unwrap_or(0);
            // SAFETY: by the contract of the call the array has an entry for every rank.
            let datatype = || RawHandle::of_type(unsafe { *types.add(rank as usize) });
            count > 0
                && (!datatype().is_committed(mpi)
                    || mpi.is_nowhere(slots.address(rank), datatype(), count))
        })
    }
}

/// A call in which every rank has a block for every rank.
pub struct Alltoall {
    send: Given,
    receive: Given,
    comm: RawHandle,
}

impl Alltoall {
    /// A call with the arguments as they came: buffer, counts and types of what is sent, and of what is received.
    ///
    /// # Safety
    /// The caller keeps the contract of the MPI function (MPI 4.1, section 6.8): if the arguments are valid, the
    /// buffers are good for the elements they name, and the arrays for one entry per rank, until the call returns.
    pub unsafe fn new(
        send: (*const c_void, Counts, Types),
        receive: (*mut c_void, Counts, Types),
        comm: RawHandle,
    ) -> Alltoall {
        let given = |(buffer, counts, types)| Given {
            buffer,
            counts,
            types,
        };
        Alltoall {
            send: given((send.0.cast_mut(), send.1, send.2)),
            receive: given(receive),
            comm,
        }
    }

    /// Which one it is.
    pub fn op(&self) -> AlltoallOp {
        match (self.receive.counts, self.receive.types) {
            (Counts::Regular(_), _) => AlltoallOp::Alltoall,
            (Counts::Int(..) | Counts::Large(..), Types::One(_)) => AlltoallOp::Alltoallv,
            (Counts::Int(..) | Counts::Large(..), Types::Each(_)) => AlltoallOp::Alltoallw,
        }
    }

    fn function(&self) -> Function {
        match self.op() {
            AlltoallOp::Alltoall => Function::Alltoall,
            AlltoallOp::Alltoallv => Function::Alltoallv,
            AlltoallOp::Alltoallw => Function::Alltoallw,
        }
    }

    /// Is what is sent where that goes which is received?
    pub fn in_place(&self) -> bool {
        ptr::eq(self.send.buffer.cast_const(), IN_PLACE)
    }

    /// Bytes of each block by what is received, among ranks with blocks of one size; `None` if an argument is invalid.
    pub fn block_bytes(&self, mpi: &Mpi) -> Option<u64> {
        let Types::One(datatype) = self.receive.types else {
            return None;
        };
        let size = mpi.type_size(datatype.as_datatype(mpi)?).ok()?;
        self.receive.counts.checked(0)?.checked_mul(size)
    }

    /// Bytes that this rank sends to `p` ranks; `None` if an argument is invalid.
    pub fn sent_bytes(&self, mpi: &Mpi, p: u32) -> Option<u64> {
        let given = match self.in_place() {
            true => &self.receive,
            false => &self.send,
        };
        if let Types::One(datatype) = given.types {
            let size = mpi.type_size(datatype.as_datatype(mpi)?).ok()?;
            return given.counts.total(p)?.checked_mul(size);
        }
        let side = given.side(mpi);
        (0..p).try_fold(0u64, |sum, rank| sum.checked_add(side.bytes(mpi, rank)?))
    }

    /// Both sides.
    pub fn sides(&self, mpi: &Mpi) -> Sides {
        Sides {
            send: (!self.in_place()).then(|| self.send.side(mpi)),
            receive: self.receive.side(mpi),
        }
    }

    /// Is what is sent and what is received the same by all arguments? As those hosts ask who mind.
    fn is_alias(&self) -> bool {
        let (send, receive) = (&self.send, &self.receive);
        ptr::eq(send.buffer, receive.buffer)
            && send.counts.same(&receive.counts)
            && send.types.same(receive.types)
    }
}

impl Call for Alltoall {
    #[inline]
    fn raw_comm(&self) -> RawHandle {
        self.comm
    }

    fn pass(&self, host: &Host) -> c_int {
        let &Alltoall {
            send:
                Given {
                    buffer: from,
                    counts: sent,
                    types: send_types,
                },
            receive:
                Given {
                    buffer: to,
                    counts: received,
                    types,
                },
            comm,
        } = self;
        let (own, from, none) = (&host.own, from.cast_const(), MPI_ERR_COUNT as c_int);
        // SAFETY: these are the caller's own arguments, and whoever made the call vouched for them. A call is of one
        // form as a whole.
        unsafe {
            match (sent, send_types, received, types) {
                (
                    Counts::Regular(Count::Int(n)),
                    Types::One(s),
                    Counts::Regular(Count::Int(m)),
                    Types::One(t),
                ) => (own.alltoall)(from, n, s, to, m, t, comm),
                (
                    Counts::Regular(Count::Large(n)),
                    Types::One(s),
                    Counts::Regular(Count::Large(m)),
                    Types::One(t),
                ) => (own.alltoall_large)(from, n, s, to, m, t, comm),
                (Counts::Int(n, d), Types::One(s), Counts::Int(m, e), Types::One(t)) => {
                    (own.alltoallv)(from, n, d, s, to, m, e, t, comm)
                }
                (Counts::Large(n, d), Types::One(s), Counts::Large(m, e), Types::One(t)) => {
                    (own.alltoallv_large)(from, n, d, s, to, m, e, t, comm)
                }
                (Counts::Int(n, d), Types::Each(s), Counts::Int(m, e), Types::Each(t)) => {
                    (own.alltoallw)(from, n, d, s, to, m, e, t, comm)
                }
                (Counts::Large(n, d), Types::Each(s), Counts::Large(m, e), Types::Each(t)) => {
                    (own.alltoallw_large)(from, n, d, s, to, m, e, t, comm)
                }
                (
                    Counts::Regular(_) | Counts::Int(..) | Counts::Large(..),
                    Types::One(_) | Types::Each(_),
                    _,
                    _,
                ) => none,
            }
        }
    }

    #[inline]
    fn given_root(&self) -> c_int {
        0
    }

    #[inline]
    fn words(&self) -> Option<[u64; 3]> {
        match (&self.receive.counts, &self.receive.types) {
            (Counts::Regular(count), Types::One(datatype)) => {
                Some([count.bits(), datatype.bits(), 0])
            }
            (Counts::Int(..) | Counts::Large(..), _) | (_, Types::Each(_)) => None,
        }
    }

    fn is_of_predefined(&self, mpi: &Mpi) -> bool {
        match self.receive.types {
            Types::One(datatype) => datatype.is_predefined_type(mpi),
            Types::Each(_) => false,
        }
    }

    fn is_refused(&self, mpi: &Mpi, _rank: u32, p: u32) -> bool {
        let (function, in_place) = (self.function(), self.in_place());
        let received = (self.receive).has_elements(mpi, p, |datatype| {
            mpi.refuses_all_type(function, datatype, in_place)
        });
        let sent = match in_place {
            true => received,
            false => (self.send)
                .has_elements(mpi, p, |datatype| mpi.refuses_own_type(function, datatype)),
        };
        let (Some(received), Some(sent)) = (received, sent) else {
            return true;
        };
        (ptr::eq(self.receive.buffer.cast_const(), IN_PLACE) && is_place_refused(received.into()))
            || ((received || sent) && self.is_alias() && mpi.refuses_aliases(function))
    }
}
