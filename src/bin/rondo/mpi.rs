//! MPI for this tool: collectives by the MPI library and by Rondo side by side, behind safe functions.
//!
//! The tool is not linked with MPI, and Rondo is preloaded into it. The MPI library is loaded when it is needed; what
//! its handle gives is the library's own, and what the global scope gives is Rondo's, because Rondo comes first there.
//! Signatures and predefined handles are those that Rondo itself uses.

#![allow(unsafe_code, reason = "collectives are functions in C")]

mod about;
mod blocks;
mod comm;
mod load;
mod op;

pub use blocks::Blocks;
pub use comm::{Comm, Side};
pub use load::has_rondo;
pub use op::Op;

use crate::Failure;
use load::{Loaded, find, function, load};
use rondo::{
    collective::{
        Collective::{self, *},
        Family,
    },
    host::{
        RawHandle,
        raw::{IN_PLACE, MPI_Comm},
    },
};
use std::{
    ffi::{CString, OsStr, c_char, c_int, c_ulonglong, c_void},
    marker::PhantomData,
    mem::transmute,
    ptr,
};

/// A call of a collective of all ranks; rank 0 is the root. A broadcast is of all blocks as one message.
pub struct Call<'a> {
    pub collective: Collective,
    pub blocks: &'a Blocks,
    /// Of one that reduces. Elements are what it joins, or bytes.
    pub op: Option<Op>,
}

impl Call<'_> {
    pub fn element_bytes(&self) -> usize {
        self.op.map_or(1, Op::bytes)
    }

    /// Elements in the two buffers of a rank, where each is significant: its own block, or its vector, and all blocks,
    /// or its part of the result.
    pub fn elements(&self, rank: usize) -> (usize, usize) {
        let (own, total) = (self.blocks.count(rank), self.blocks.total());
        let is_root = rank == 0;
        match self.collective.family() {
            Family::Broadcast => (0, total),
            Family::AllBroadcast => (own, total),
            Family::Rooted if is_root => (own, total),
            Family::Rooted => (own, 0),
            Family::Reduction if !is_root => (total, 0),
            Family::AllReduction | Family::Reduction | Family::Scan => (total, total),
            Family::ScatteredReduction => (total, own),
            Family::Barrier => (0, 0),
            Family::TotalExchange | Family::IrregularExchange => (total, total),
        }
    }
}

/// MPI between `MPI_Init` and `MPI_Finalize`, which is when this is dropped.
pub struct Mpi {
    library: *mut c_void,
    loaded: Loaded,
    barrier: BarrierFn,
    calls: Calls,
    pub rank: usize,
    pub ranks: usize,
    /// `MPI_Init` promises no thread but this one anything.
    thread: PhantomData<*const ()>,
}

type BarrierFn = unsafe extern "C-unwind" fn(MPI_Comm) -> c_int;
/// Of `rondo_calls`.
type Calls = unsafe extern "C" fn(*const c_char, *const c_char) -> c_ulonglong;

/// Where memory is. That of no bytes has an address that may be the one by which Open MPI knows MPI_IN_PLACE.
fn address(memory: &mut [u8]) -> *mut c_void {
    match memory.is_empty() {
        true => ptr::null_mut(),
        false => memory.as_mut_ptr().cast(),
    }
}

/// What a call returned, unless it succeeded. The default handler of MPI ends the job before.
fn checked(code: c_int, what: &str) -> Result<(), Failure> {
    match code {
        0 => Ok(()),
        code => Err(Failure::Failed(format!("{what} returned the error {code}"))),
    }
}

impl Mpi {
    /// Loads the MPI library, the one at `path` or that of this build's ABI, and initialises it. Rondo must be
    /// preloaded.
    pub fn start(path: Option<&OsStr>) -> Result<Mpi, Failure> {
        let library = load(path)?;
        let loaded = Loaded::find(library)?;
        let mut mpi = Mpi {
            library,
            loaded,
            barrier: function!(library, c"PMPI_Barrier", BarrierFn),
            calls: function!(libc::RTLD_DEFAULT, c"rondo_calls", Calls),
            rank: 0,
            ranks: 0,
            thread: PhantomData,
        };
        type Init = unsafe extern "C-unwind" fn(*mut c_int, *mut *mut *mut c_char) -> c_int;
        // As a program calls it: the job begins for Rondo there.
        let init = function!(libc::RTLD_DEFAULT, c"MPI_Init", Init);
        let (functions, world) = (&mpi.loaded.functions, mpi.world());
        let (mut me, mut all) = (0, 0);
        // SAFETY: MPI_Init takes null pointers; it has not been called, because only this function does and the tool
        // calls it once. Then the communicator is valid, and both results are `int`.
        unsafe {
            checked(init(ptr::null_mut(), ptr::null_mut()), "MPI_Init")?;
            checked((functions.comm_rank)(world, &mut me), "MPI_Comm_rank")?;
            checked((functions.comm_size)(world, &mut all), "MPI_Comm_size")?;
        }
        (mpi.rank, mpi.ranks) = (me as usize, all as usize);
        Ok(mpi)
    }

    fn world(&self) -> MPI_Comm {
        self.loaded.handles.world
    }

    /// Carries out one call. `own` is the memory of this rank's block, and `all` that of all blocks, where they are
    /// significant; a broadcast has `all` only.
    pub fn call(
        &self,
        side: Side,
        call: &Call,
        own: &mut [u8],
        all: &mut [u8],
    ) -> Result<(), Failure> {
        let (collective, blocks, root) = (call.collective, call.blocks, 0);
        let counts = &blocks.counts;
        assert!(counts.len() == self.ranks);
        let (needs_own, needs_all) = call.elements(self.rank);
        let element_bytes = call.element_bytes();
        assert!(all.len() >= needs_all * element_bytes && own.len() >= needs_own * element_bytes);
        assert!(
            (collective.family().reduces() && collective != ReduceScatterBlock)
                || matches!(collective, Bcast | Barrier)
                || collective.is_irregular()
                || counts.iter().all(|&count| count == counts[0])
        );
        let Loaded { host, rondo, .. } = &self.loaded;
        let (functions, comm) = match side {
            Side::Host => (host, self.world()),
            Side::Rondo => (rondo, self.world()),
            Side::Under(comm) => (rondo, comm.handle()),
        };
        let (op, datatype) = self.op_and_datatype(call.op);
        let (op, t, w) = (
            RawHandle::of_op(op),
            RawHandle::of_type(datatype),
            RawHandle::of(comm),
        );
        let (own, all) = (address(own), address(all));
        let mine = counts[self.rank];
        let (total, counts, displs) = (blocks.total, counts.as_ptr(), blocks.displs.as_ptr());
        // Where every rank has a block for every rank.
        let turned = if collective.family().is_exchange() {
            blocks.turned(self.rank)
        } else {
            Blocks::default()
        };
        let offsets = turned.offsets(element_bytes)?;
        let types = vec![datatype; turned.counts.len()];
        let (n, d) = (turned.counts.as_ptr(), turned.displs.as_ptr());
        let (e, list) = (offsets.as_ptr(), types.as_ptr().cast());
        // SAFETY: MPI is initialised and not finalised while `self` lives, and the handles are its own. By the
        // assertions above the buffers have room for all that the counts and displacements of `Blocks` name, which are
        // of all ranks, in elements of the datatype. The call is complete on return.
        let code = unsafe {
            match collective {
                Bcast => (functions.bcast)(all, total, t, root, w),
                Allgather => (functions.allgather)(own, mine, t, all, mine, t, w),
                Allgatherv => (functions.allgatherv)(own, mine, t, all, counts, displs, t, w),
                Gather => (functions.gather)(own, mine, t, all, mine, t, root, w),
                Gatherv => (functions.gatherv)(own, mine, t, all, counts, displs, t, root, w),
                Scatter => (functions.scatter)(all, mine, t, own, mine, t, root, w),
                Scatterv => (functions.scatterv)(all, counts, displs, t, own, mine, t, root, w),
                Allreduce => (functions.allreduce)(own, all, total, t, op, w),
                Reduce => (functions.reduce)(own, all, total, t, op, root, w),
                ReduceScatter => (functions.reduce_scatter)(own, all, counts, t, op, w),
                ReduceScatterBlock => (functions.reduce_scatter_block)(own, all, mine, t, op, w),
                Scan => (functions.scan)(own, all, total, t, op, w),
                Exscan => (functions.exscan)(own, all, total, t, op, w),
                Barrier => (functions.barrier)(w),
                Alltoall => (functions.alltoall)(own, mine, t, all, mine, t, w),
                Alltoallv => (functions.alltoallv)(own, n, d, t, all, n, d, t, w),
                Alltoallw => (functions.alltoallw)(own, n, e, list, all, n, e, list, w),
            }
        };
        checked(code, collective.name())
    }

    /// Waits for all ranks, by the MPI library.
    pub fn barrier(&self) -> Result<(), Failure> {
        // SAFETY: MPI is initialised while `self` lives, and the communicator is its own.
        checked(unsafe { (self.barrier)(self.world()) }, "MPI_Barrier")
    }

    /// Replaces each number by the largest of all ranks.
    pub fn largest(&self, numbers: &mut [f64]) -> Result<(), Failure> {
        let (data, count) = (numbers.as_mut_ptr().cast(), numbers.len() as c_int);
        let Loaded {
            functions, handles, ..
        } = &self.loaded;
        // SAFETY: as above; `numbers` are as many doubles, and MPI_IN_PLACE makes them input and output.
        let code = unsafe {
            (functions.allreduce)(
                IN_PLACE,
                data,
                count,
                handles.double,
                handles.max,
                handles.world,
            )
        };
        checked(code, "MPI_Allreduce")
    }

    /// Calls of Rondo's side that were carried out on this rank by an algorithm, or by the "host".
    pub fn calls(&self, collective: Collective, algorithm: &str) -> u64 {
        let text = |text: &str| CString::new(text).expect("a name has no NUL in it");
        let (collective, algorithm) = (text(collective.name()), text(algorithm));
        // SAFETY: rondo.h: both are C strings.
        unsafe { (self.calls)(collective.as_ptr(), algorithm.as_ptr()) }
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        // From the global scope, where Rondo's comes first: it writes the statistics.
        let address = find(libc::RTLD_DEFAULT, c"MPI_Finalize");
        if !address.is_null() && self.ranks > 0 {
            // SAFETY: MPI declares int MPI_Finalize(void). MPI was initialised, as there are ranks, and nobody else
            // ends it.
            unsafe {
                let finalize: unsafe extern "C-unwind" fn() -> c_int = transmute(address);
                finalize();
            }
        }
    }
}
