//! Collectives with large counts over a host that has only those with `int`, as Open MPI 4 and 5 are: counts and
//! displacements are narrowed.
//!
//! A count that is no `int` becomes -1, which is an error to the host if it looks at the argument at all: what is in an
//! argument without a meaning, beside `MPI_IN_PLACE` or away from the root, is nobody's business. Open MPI does not
//! look for such counts in all of its arrays, so one there, or a displacement, is an error that Rondo raises. Arrays
//! without a meaning are taken for empty.
//!
//! Arrays are dropped when an exception passes through, and lost when a `longjmp` does.

use super::abi::{Handles, IN_PLACE, MPI_ERR_COUNT, RawHandle};
use super::collectives::signature;
use super::handle::Comm;
use super::loader::as_function;
use super::symbols::Finder;
use super::sys::MPI_ROOT;
use super::table::host;
use once_cell::sync::OnceCell;
use std::ffi::{c_int, c_void};
use std::ptr;

/// An argument that is no array.
trait Narrow {
    /// Its type in the function with `int`.
    type Int;
    /// What is handed to that.
    fn narrow(self) -> Self::Int;
}

/// What no `int` can hold becomes this, which is no count.
const TOO_LARGE: c_int = -1;

impl Narrow for i64 {
    type Int = c_int;
    fn narrow(self) -> c_int {
        self.try_into().unwrap_or(TOO_LARGE)
    }
}

/// What is the same in both functions.
macro_rules! unchanged {
    ($($type:ty)*) => { $(
        impl Narrow for $type {
            type Int = $type;
            fn narrow(self) -> $type {
                self
            }
        }
    )* };
}

unchanged! { *const c_void *mut c_void RawHandle c_int }

/// Why a call is not handed to the host.
enum Stop {
    /// Something in its arrays fits no `int`.
    TooLarge,
    /// The host has raised this error of the communicator's, and is not to raise it again.
    Raised(c_int),
}

/// Narrowed counts and displacements; `None` for a null pointer, which the host is to see.
struct Arrays {
    counts: Option<Vec<c_int>>,
    displs: Option<Vec<c_int>>,
}

impl Arrays {
    /// # Safety
    /// Arrays that are not null have `length` entries.
    unsafe fn new(length: usize, counts: *const i64, displs: *const isize) -> Result<Arrays, Stop> {
        let mut narrowed = Arrays {
            counts: (!counts.is_null()).then(Vec::new),
            displs: (!displs.is_null()).then(Vec::new),
        };
        for i in 0..length {
            let mut is_empty = false;
            if let Some(all) = &mut narrowed.counts {
                // SAFETY: the caller's contract.
                let count = c_int::try_from(unsafe { *counts.add(i) });
                let count = count.map_err(|_| Stop::TooLarge)?;
                is_empty = count == 0;
                all.push(count);
            }
            if let Some(all) = &mut narrowed.displs {
                // SAFETY: the caller's contract.
                let displ = c_int::try_from(unsafe { *displs.add(i) });
                // Where nothing lies, nobody looks.
                all.push(if is_empty {
                    displ.unwrap_or(0)
                } else {
                    displ.map_err(|_| Stop::TooLarge)?
                });
            }
        }
        Ok(narrowed)
    }

    fn counts(&self) -> *const c_int {
        self.counts.as_ref().map_or(ptr::null(), |c| c.as_ptr())
    }

    fn displs(&self) -> *const c_int {
        self.displs.as_ref().map_or(ptr::null(), |d| d.as_ptr())
    }
}

/// A function that asks about a communicator.
type AskFn = unsafe extern "C-unwind" fn(RawHandle, *mut c_int) -> c_int;
/// One that raises an error on it.
type RaiseFn = unsafe extern "C-unwind" fn(RawHandle, c_int) -> c_int;

/// What the host is asked about a communicator to know how long arrays are. A question about none is an error that it
/// raises, so nobody asks about `MPI_COMM_NULL`: arrays count as empty, and the host says so in the call itself.
struct Ask {
    /// `MPI_COMM_NULL`; `None` where this build does not know the host's.
    null: Option<Comm>,
    size: AskFn,
    remote_size: AskFn,
    rank: AskFn,
    is_inter: AskFn,
    raise: RaiseFn,
}

impl Ask {
    /// `None`: the host lacks one.
    fn find() -> Option<Ask> {
        let finder = &Finder::of_process();
        // SAFETY: the signatures are the MPI standard's, with handles as words.
        unsafe {
            Some(Ask {
                null: Handles::find(finder).map(|handles| Comm(handles.comm_null)),
                size: as_function(function!(finder, "PMPI_Comm_size"))?,
                remote_size: as_function(function!(finder, "PMPI_Comm_remote_size"))?,
                rank: as_function(function!(finder, "PMPI_Comm_rank"))?,
                is_inter: as_function(function!(finder, "PMPI_Comm_test_inter"))?,
                raise: as_function(function!(finder, "PMPI_Comm_call_errhandler"))?,
            })
        }
    }

    fn ask(function: AskFn, comm: RawHandle) -> Result<c_int, Stop> {
        let mut value = 0;
        // SAFETY: the communicator is the caller's, valid by the MPI contract, and the pointer is valid.
        match unsafe { function(comm, &mut value) } {
            0 => Ok(value),
            code => Err(Stop::Raised(code)),
        }
    }

    fn group(&self, comm: RawHandle) -> Result<c_int, Stop> {
        Ask::ask(self.size, comm)
    }

    fn peers(&self, comm: RawHandle) -> Result<c_int, Stop> {
        match Ask::ask(self.is_inter, comm)? {
            0 => self.group(comm),
            _ => Ask::ask(self.remote_size, comm),
        }
    }

    fn peers_at_root(&self, root: c_int, comm: RawHandle) -> Result<c_int, Stop> {
        let at_root = match Ask::ask(self.is_inter, comm)? {
            0 => root == Ask::ask(self.rank, comm)?,
            // Its type is that of the header.
            _ => i64::from(root) == i64::from(MPI_ROOT),
        };
        if at_root { self.peers(comm) } else { Ok(0) }
    }
}

/// The host's functions; `None` if it lacks one.
fn ask() -> Option<&'static Ask> {
    static ASK: OnceCell<Option<Ask>> = OnceCell::new();
    ASK.get_or_init(Ask::find).as_ref()
}

/// The answer to a question about a communicator.
fn length(
    comm: RawHandle,
    question: impl FnOnce(&Ask) -> Result<c_int, Stop>,
) -> Result<usize, Stop> {
    match ask() {
        Some(ask) if ask.null != Some(Comm(comm.comm())) => {
            Ok(question(ask)?.try_into().unwrap_or(0))
        }
        Some(_) | None => Ok(0),
    }
}

/// The call is an error of this communicator's.
fn refuse(comm: RawHandle) -> c_int {
    let code = MPI_ERR_COUNT as c_int;
    if let Some(ask) = ask() {
        // SAFETY: the host said how many ranks the communicator has, so it is one.
        unsafe { (ask.raise)(comm, code) };
    }
    code
}

/// Defines a function that has no arrays.
macro_rules! scalars {
    ($name:ident ($($arg:ident: $type:ty),*)) => {
        pub unsafe extern "C-unwind" fn $name($($arg: $type),*) -> c_int {
            // SAFETY: the caller's own arguments.
            unsafe { (host().own.$name)($($arg.narrow()),*) }
        }
    };
}

signature!(Bcast, i64, isize => scalars bcast);
signature!(Allgather, i64, isize => scalars allgather);
signature!(Gather, i64, isize => scalars gather);
signature!(Scatter, i64, isize => scalars scatter);
signature!(Allreduce, i64, isize => scalars allreduce);
signature!(Reduce, i64, isize => scalars reduce);
signature!(ReduceScatterBlock, i64, isize => scalars reduce_scatter_block);
signature!(Scan, i64, isize => scalars scan);
signature!(Exscan, i64, isize => scalars exscan);
signature!(Alltoall, i64, isize => scalars alltoall);

/// Defines a function with arrays: the signature has the types, the closure says what is called, or why nothing is.
macro_rules! arrays {
    (($name:ident { |$($named:ident),*; $comm:ident| $call:expr }) ($($arg:ident: $type:ty),*)) => {
        arrays! { @ $name, ($($named)* $comm), ($($type),*), $comm, $call }
    };
    (@ $name:ident, ($($named:ident)*), ($($type:ty),*), $comm:ident, $call:expr) => {
        pub unsafe extern "C-unwind" fn $name($($named: $type),*) -> c_int {
            // SAFETY: the caller's own arguments; arrays with a meaning are as long as the communicator says.
            let call = || unsafe { $call };
            call().unwrap_or_else(|stop| match stop {
                Stop::TooLarge => refuse($comm),
                Stop::Raised(code) => code,
            })
        }
    };
}

signature!(Allgatherv, i64, isize => arrays (allgatherv {
    |from, n, from_type, to, counts, displs, to_type; comm| {
        let to_each = Arrays::new(length(comm, |ask| ask.peers(comm))?, counts, displs)?;
        let (counts, displs) = (to_each.counts(), to_each.displs());
        Ok((host().own.allgatherv)(from, n.narrow(), from_type, to, counts, displs, to_type, comm))
    }
}));

signature!(Gatherv, i64, isize => arrays (gatherv {
    |from, n, from_type, to, counts, displs, to_type, root; comm| {
        let to_each = Arrays::new(length(comm, |ask| ask.peers_at_root(root, comm))?, counts, displs)?;
        let (counts, displs) = (to_each.counts(), to_each.displs());
        Ok((host().own.gatherv)(from, n.narrow(), from_type, to, counts, displs, to_type, root, comm))
    }
}));

signature!(Scatterv, i64, isize => arrays (scatterv {
    |from, counts, displs, from_type, to, n, to_type, root; comm| {
        let from_each = Arrays::new(length(comm, |ask| ask.peers_at_root(root, comm))?, counts, displs)?;
        let (counts, displs) = (from_each.counts(), from_each.displs());
        Ok((host().own.scatterv)(from, counts, displs, from_type, to, n.narrow(), to_type, root, comm))
    }
}));

signature!(ReduceScatter, i64, isize => arrays (reduce_scatter {
    |from, to, counts, datatype, op; comm| {
        let to_each = Arrays::new(length(comm, |ask| ask.group(comm))?, counts, ptr::null())?;
        Ok((host().own.reduce_scatter)(from, to, to_each.counts(), datatype, op, comm))
    }
}));

/// Defines a function of two pairs of arrays, the first of which has no meaning beside `MPI_IN_PLACE`.
macro_rules! exchange {
    ($collective:ident $name:ident) => {
        signature!($collective, i64, isize => arrays ($name {
            |from, sent, sdispls, from_types, to, received, rdispls, to_types; comm| {
                let peers = length(comm, |ask| ask.peers(comm))?;
                let senders = if ptr::eq(from, IN_PLACE) { 0 } else { peers };
                let sent = Arrays::new(senders, sent, sdispls)?;
                let received = Arrays::new(peers, received, rdispls)?;
                Ok((host().own.$name)(
                    from, sent.counts(), sent.displs(), from_types,
                    to, received.counts(), received.displs(), to_types, comm,
                ))
            }
        }));
    };
}

exchange! { Alltoallv alltoallv }
exchange! { Alltoallw alltoallw }
