//! The calls that reduce operands: `MPI_Allreduce`, `MPI_Reduce`, `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`,
//! `MPI_Scan`, `MPI_Exscan`, and their large-count forms.

use super::Call;
use super::refusal::Function;
use crate::host::data::counts::Count;
use crate::host::data::operands::{Buffers, Operands};
use crate::host::library::abi::{IN_PLACE, MPI_ERR_COUNT, RawHandle};
use crate::host::library::handle::Comm;
use crate::host::library::table::{Host, Mpi};
use crate::host::object::attr::Datatype;
use crate::host::object::code::Code;
use crate::host::object::operator::Operator;
use crate::script::fullest_rounds;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Which reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionOp {
    /// `MPI_Allreduce`.
    Allreduce,
    /// `MPI_Reduce`.
    Reduce,
    /// `MPI_Reduce_scatter`.
    ReduceScatter,
    /// `MPI_Reduce_scatter_block`.
    ReduceScatterBlock,
    /// `MPI_Scan`.
    Scan,
    /// `MPI_Exscan`.
    Exscan,
}

/// How many elements there are.
#[derive(Clone, Copy)]
pub enum Amount {
    /// In a vector, or in each rank's part of one (`MPI_Reduce_scatter_block`).
    One(Count),
    /// In each rank's part.
    Int(*const c_int),
    /// The same for `MPI_Reduce_scatter_c`.
    Large(*const i64),
}

impl<C: Into<Count>> From<C> for Amount {
    fn from(count: C) -> Amount {
        Amount::One(count.into())
    }
}

impl From<*const c_int> for Amount {
    fn from(counts: *const c_int) -> Amount {
        Amount::Int(counts)
    }
}

impl From<*const i64> for Amount {
    fn from(counts: *const i64) -> Amount {
        Amount::Large(counts)
    }
}

/// A call that reduces operands.
pub struct Reduction {
    which: ReductionOp,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    amount: Amount,
    datatype: RawHandle,
    op: RawHandle,
    root: c_int,
    comm: RawHandle,
    /// What is known of the operator, once that was looked at.
    operator: Cell<Option<Operator>>,
    /// The parts of ranks, once these were looked at.
    parts: Cell<Option<Parts>>,
    /// The sum of all counts, once somebody has asked for it.
    sum: Cell<Option<u64>>,
}

/// What parts of ranks are like, in elements.
#[derive(Clone, Copy)]
struct Parts {
    all: u64,
    longest: u64,
    /// In the fullest messages of all rounds of halving, if that is not about the whole vector.
    fullest: Option<u64>,
}

impl Reduction {
    /// A call with the arguments as they came; `root` is that of `MPI_Reduce`, and 0 elsewhere.
    ///
    /// # Safety
    /// The caller keeps the contract of the MPI function (MPI 4.1, sections 6.9 to 6.11): if the arguments are valid,
    /// the buffers are good for the elements that they are to have, and an array of counts for one entry per rank,
    /// until the call returns.
    #[expect(
        clippy::too_many_arguments,
        reason = "they are those of the MPI function"
    )]
    pub unsafe fn new(
        which: ReductionOp,
        sendbuf: *const c_void,
        recvbuf: *mut c_void,
        amount: Amount,
        datatype: RawHandle,
        op: RawHandle,
        root: c_int,
        comm: RawHandle,
    ) -> Reduction {
        Reduction {
            which,
            sendbuf,
            recvbuf,
            amount,
            datatype,
            op,
            root,
            comm,
            operator: Cell::new(None),
            parts: Cell::new(None),
            sum: Cell::new(None),
        }
    }

    /// Which one it is.
    pub fn which(&self) -> ReductionOp {
        self.which
    }

    /// The datatype, unless it cannot be one.
    pub fn datatype(&self, mpi: &Mpi) -> Option<Datatype> {
        self.datatype.as_datatype(mpi)
    }

    /// The root, unless it is not one of `p` ranks.
    pub fn root(&self, p: u32) -> Option<u32> {
        u32::try_from(self.root).ok().filter(|&root| root < p)
    }

    /// Finds out what is to be known of the operator; `None` if there is none, or none for this datatype.
    pub fn look_at_operator(&self, mpi: &Mpi) -> Option<()> {
        if self.operator.get().is_none() {
            let datatype = self.datatype(mpi)?;
            (self.operator).set(Some(mpi.operator(self.op, self.datatype, datatype)?));
        }
        Some(())
    }

    /// What is known of the operator.
    pub fn known_operator(&self) -> Option<Operator> {
        self.operator.get()
    }

    /// Elements of a rank's part, or of the vector if there are no parts, unless the number is invalid.
    pub fn count(&self, rank: u32) -> Option<u64> {
        match self.amount {
            Amount::One(count) => count.get(),
            Amount::Int(counts) if counts.is_null() => None,
            Amount::Large(counts) if counts.is_null() => None,
            // SAFETY: the array has an entry for every rank, by the caller's contract.
            Amount::Int(counts) => u64::try_from(unsafe { *counts.add(rank as usize) }).ok(),
            // SAFETY: as above.
            Amount::Large(counts) => u64::try_from(unsafe { *counts.add(rank as usize) }).ok(),
        }
    }

    /// Elements of a rank's vector among `p` ranks, unless a number is invalid.
    pub fn total(&self, p: u32) -> Option<u64> {
        match self.which {
            ReductionOp::ReduceScatter => {
                let add = |sum: u64, rank| sum.checked_add(self.count(rank)?);
                let sum = match self.sum.get() {
                    Some(sum) => sum,
                    None => (0..p).try_fold(0, add)?,
                };
                self.sum.set(Some(sum));
                Some(sum)
            }
            ReductionOp::ReduceScatterBlock => self.count(0)?.checked_mul(p.into()),
            ReductionOp::Allreduce
            | ReductionOp::Reduce
            | ReductionOp::Scan
            | ReductionOp::Exscan => self.count(0),
        }
    }

    /// Bytes of a rank's vector among `p` ranks; `None` if an argument is invalid.
    pub fn all_bytes(&self, mpi: &Mpi, p: u32) -> Option<u64> {
        let size = mpi.type_size(self.datatype(mpi)?).ok()?;
        self.total(p)?.checked_mul(size)
    }

    /// Bytes of the longest part of a rank, of a vector of `bytes` bytes among `p` ranks, and of the fullest messages
    /// of all rounds of halving, or as good as those.
    pub fn parts(&self, p: u32, bytes: u64) -> (u64, u64) {
        if let Amount::One(_) = self.amount {
            return (bytes.div_ceil(p.into()), bytes);
        }
        let parts = self.parts.get().unwrap_or_else(|| self.look_at_parts(p));
        self.parts.set(Some(parts));
        let size = bytes.checked_div(parts.all).unwrap_or(0);
        let fullest = parts.fullest.map(|fullest| fullest.saturating_mul(size));
        (parts.longest * size, fullest.unwrap_or(bytes))
    }

    fn look_at_parts(&self, p: u32) -> Parts {
        let counts = || (0..p).map(|rank| self.count(rank).unwrap_or(0));
        let (all, longest) = (counts().sum(), counts().max().unwrap_or(0));
        // Parts that are about equally long need no closer look.
        let differ = longest / 2 > all / u64::from(p);
        Parts {
            all,
            longest,
            fullest: differ.then(|| fullest_rounds(&counts().collect::<Vec<_>>())),
        }
    }

    /// Is this rank's vector where its result will be?
    fn in_place(&self) -> bool {
        ptr::eq(self.sendbuf, IN_PLACE)
    }

    /// Does a rank get a result?
    pub fn gets(&self, rank: u32) -> bool {
        match self.which {
            ReductionOp::Reduce => c_int::try_from(rank) == Ok(self.root),
            ReductionOp::Exscan => rank > 0,
            // Without elements there need not be a buffer.
            ReductionOp::ReduceScatter | ReductionOp::ReduceScatterBlock => {
                self.count(rank) != Some(0)
            }
            ReductionOp::Allreduce | ReductionOp::Scan => true,
        }
    }

    /// The elements, with their operator.
    pub fn operands<'a>(&self, mpi: &'a Mpi, private: Comm) -> Result<Operands<'a>, Code> {
        let datatype = self.datatype(mpi).ok_or(Code::datatype())?;
        Operands::new(mpi, private, datatype, self.op)
    }

    /// Where this rank's vector is, and where its result goes, if it gets one.
    pub fn buffers(&self) -> Buffers {
        let result: *mut u8 = self.recvbuf.cast();
        let own = match self.in_place() {
            true => result,
            false => self.sendbuf.cast_mut().cast(),
        };
        Buffers { own, result }
    }

    /// Does the host refuse this rank's buffers?
    fn are_buffers_refused(&self, mpi: &Mpi, rank: u32) -> bool {
        let (own, result) = (self.sendbuf, self.recvbuf.cast_const());
        let is_none =
            |buffer| ptr::eq(buffer, IN_PLACE) || mpi.is_nowhere(buffer, self.datatype, 1);
        let gets = self.gets(rank);
        if self.in_place() {
            // Only the root may say so in a reduction to a root.
            return is_none(result) || (!gets && self.which == ReductionOp::Reduce);
        }
        // Hosts look at the buffers of rank 0 as well, though it gets nothing.
        let looks = gets || self.which == ReductionOp::Exscan;
        is_none(own)
            || (gets && is_none(result))
            || (looks && ptr::eq(result, IN_PLACE))
            || (looks
                && ptr::eq(own, result)
                && mpi.refuses_aliases(Function::Reducing(self.which)))
    }
}

impl Call for Reduction {
    #[inline]
    fn raw_comm(&self) -> RawHandle {
        self.comm
    }

    fn pass(&self, host: &Host) -> c_int {
        let &Reduction {
            which,
            sendbuf: from,
            recvbuf: to,
            amount,
            datatype: t,
            op,
            root,
            comm,
            ..
        } = self;
        let own = &host.own;
        let none = MPI_ERR_COUNT as c_int;
        // A call is of one form as a whole.
        // SAFETY: these are the caller's own arguments, and whoever made the call vouched for them.
        unsafe {
            match (which, amount) {
                (ReductionOp::Allreduce, Amount::One(Count::Int(n))) => {
                    (own.allreduce)(from, to, n, t, op, comm)
                }
                (ReductionOp::Allreduce, Amount::One(Count::Large(n))) => {
                    (own.allreduce_large)(from, to, n, t, op, comm)
                }
                (ReductionOp::Reduce, Amount::One(Count::Int(n))) => {
                    (own.reduce)(from, to, n, t, op, root, comm)
                }
                (ReductionOp::Reduce, Amount::One(Count::Large(n))) => {
                    (own.reduce_large)(from, to, n, t, op, root, comm)
                }
                (ReductionOp::ReduceScatterBlock, Amount::One(Count::Int(n))) => {
                    (own.reduce_scatter_block)(from, to, n, t, op, comm)
                }
                (ReductionOp::ReduceScatterBlock, Amount::One(Count::Large(n))) => {
                    (own.reduce_scatter_block_large)(from, to, n, t, op, comm)
                }
                (ReductionOp::Scan, Amount::One(Count::Int(n))) => {
                    (own.scan)(from, to, n, t, op, comm)
                }
                (ReductionOp::Scan, Amount::One(Count::Large(n))) => {
                    (own.scan_large)(from, to, n, t, op, comm)
                }
                (ReductionOp::Exscan, Amount::One(Count::Int(n))) => {
                    (own.exscan)(from, to, n, t, op, comm)
                }
                (ReductionOp::Exscan, Amount::One(Count::Large(n))) => {
                    (own.exscan_large)(from, to, n, t, op, comm)
                }
                (ReductionOp::ReduceScatter, Amount::Int(counts)) => {
                    (own.reduce_scatter)(from, to, counts, t, op, comm)
                }
                (ReductionOp::ReduceScatter, Amount::Large(counts)) => {
                    (own.reduce_scatter_large)(from, to, counts, t, op, comm)
                }
                (_, Amount::One(_) | Amount::Int(_) | Amount::Large(_)) => none,
            }
        }
    }

    #[inline]
    fn given_root(&self) -> c_int {
        self.root
    }

    #[inline]
    fn words(&self) -> Option<[u64; 3]> {
        match self.amount {
            Amount::One(count) => Some([count.bits(), self.datatype.bits(), self.op.bits()]),
            Amount::Int(_) | Amount::Large(_) => None,
        }
    }

    fn is_of_predefined(&self, mpi: &Mpi) -> bool {
        mpi.is_predefined_operator(self.op) && self.datatype.is_predefined_type(mpi)
    }

    fn is_refused(&self, mpi: &Mpi, rank: u32, p: u32) -> bool {
        (self.which == ReductionOp::Reduce && self.root(p).is_none())
            || self.all_bytes(mpi, p).is_none()
            || self.look_at_operator(mpi).is_none()
            || !self.datatype.is_committed(mpi)
            || self.is_refused_by_rest(mpi, rank, p)
    }

    fn is_refused_by_rest(&self, mpi: &Mpi, rank: u32, p: u32) -> bool {
        // Without elements there need not be buffers.
        self.total(p) != Some(0) && self.are_buffers_refused(mpi, rank)
    }
}
