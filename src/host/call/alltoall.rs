//! `MPI_Alltoall`, `MPI_Alltoallv`, `MPI_Alltoallw` and their large-count forms: one call with several ways to say
//! where the blocks lie and what they are.

use super::Call;
use super::refusal::Function;
use crate::host::data::counts::{Count, Counts};
use crate::host::data::sides::{Kind, Side, Sides};
use crate::host::library::abi::{IN_PLACE, MPI_ERR_COUNT, RawHandle};
use crate::host::library::handle::Comm;
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
    /// Elements of all of `p` blocks; `None` if a count is invalid.
    fn total(&self, p: u32) -> Option<u64> {
        (0..p).try_fold(0u64, |sum, rank| {
            sum.checked_add(self.counts.checked(rank)?)
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
            return given.total(p)?.checked_mul(size);
        }
        let side = side_of_each(given);
        (0..p).try_fold(0u64, |sum, rank| sum.checked_add(side.bytes(mpi, rank)?))
    }

    /// Both sides among `p` ranks; `None` if an argument is invalid, or one that the host refuses. `private` is a
    /// communicator that returns errors.
    pub fn sides(&self, mpi: &Mpi, private: Comm, p: u32) -> Option<Sides> {
        if ptr::eq(self.receive.buffer.cast_const(), IN_PLACE) {
            return None;
        }
        let sides = Sides {
            send: match self.in_place() {
                true => None,
                false => Some(self.side(&self.send, false, mpi, private, p)?),
            },
            receive: self.side(&self.receive, true, mpi, private, p)?,
        };
        let mut any = false;
        for rank in 0..p {
            for side in sides.send.iter().chain([&sides.receive]) {
                any |= side.block(mpi, private, rank).ok()?.is_some();
                side.bytes(mpi, rank)?;
            }
        }
        let is_refused = any && self.is_alias() && mpi.refuses_aliases(self.function());
        (!is_refused).then_some(sides)
    }

    /// Is what is sent and what is received the same by all arguments? As those hosts ask who mind.
    fn is_alias(&self) -> bool {
        let (send, receive) = (&self.send, &self.receive);
        ptr::eq(send.buffer, receive.buffer)
            && send.counts.same(&receive.counts)
            && send.types.same(receive.types)
    }

    /// One side; `None` if a count or the type is invalid.
    fn side(
        &self,
        given: &Given,
        receives: bool,
        mpi: &Mpi,
        private: Comm,
        p: u32,
    ) -> Option<Side> {
        let datatype = match given.types {
            Types::One(datatype) => datatype,
            Types::Each(types) if types.is_null() => return None,
            Types::Each(_) => return Some(side_of_each(given)),
        };
        let layout = (datatype.as_datatype(mpi))
            .and_then(|known| Some((known, mpi.layout(known, private).ok()?)));
        let kind = match layout {
            Some((known, layout)) => Kind::One(known, layout),
            None if given.total(p)? > 0 => return None,
            None => {
                let function = self.function();
                let is_refused = match receives {
                    true => mpi.refuses_all_type(function, datatype, self.in_place()),
                    false => mpi.refuses_own_type(function, datatype),
                };
                if is_refused {
                    return None;
                }
                Kind::Empty
            }
        };
        Some(Side {
            base: given.buffer.cast(),
            counts: given.counts,
            kind,
        })
    }
}

/// A side whose blocks have types of their own.
fn side_of_each(given: &Given) -> Side {
    Side {
        base: given.buffer.cast(),
        counts: given.counts,
        kind: match given.types {
            Types::Each(types) => Kind::Each(types.cast()),
            Types::One(_) => Kind::Empty,
        },
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
}
