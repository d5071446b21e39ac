//! The API of Rondo's own, declared in `include/rondo.h`, which is made from this file.

use crate::coll;
use crate::report;
use crate::schedule::Circulant;
use crate::stats;
use std::ffi::{CStr, c_char, c_double, c_int, c_ulonglong};
use std::slice;

/// Version of Rondo, such as "0.2.0". Never NULL; not to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn rondo_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Calls of a collective ("bcast", "allgatherv", "allgather", "gatherv", "gather", "scatterv", "scatter", "allreduce",
/// "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan", "barrier", "alltoall", "alltoallv" or
/// "alltoallw", with or without "MPI_" in front) that were carried out on this rank so far by an algorithm
/// ("circulant", "binomial", "postal", "relay", "bruck", "ring", "hybrid", "adaptive", "linear", "halving", "gather",
/// "ordered", "split", "doubling", "pipelined", "dissemination", "census", "reduce-bcast", "chain", "binary", "kary",
/// "knomial", "fibonacci", "in-order", "two-tree", "mesh", "hypercube", "scatter-allgather", "neighbor", "pairwise",
/// "dual-root", "full-lane", or another name that the option of the collective takes for one of these; or "host" for
/// those passed to the MPI library). With a NULL algorithm: by all of Rondo's own together. 0 for names that are not
/// known.
/// May be called at any time, from any thread.
///
/// # Safety
/// Both arguments are NULL or point to C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rondo_calls(
    collective: *const c_char,
    algorithm: *const c_char,
) -> c_ulonglong {
    if collective.is_null() {
        return 0;
    }
    // SAFETY: the caller's contract.
    let text = |name: *const c_char| unsafe { CStr::from_ptr(name) }.to_str();
    let algorithm = if algorithm.is_null() {
        Ok(None)
    } else {
        text(algorithm).map(Some)
    };
    match (text(collective), algorithm) {
        (Ok(collective), Ok(algorithm)) => stats::calls(collective, algorithm).unwrap_or(0),
        _ => 0,
    }
}

/// A figure of the cost model: "alpha_us", "gap_us", "beta_ns_per_kb", "node_alpha_us" or "node_beta_ns_per_kb" of the
/// network, as measured on the communicator with the most nodes, or as set by the user. -1 if it is not known, or
/// not yet, and for any other name ("gamma.integers" and the like had a figure in 0.2). May be called at any time, from
/// any thread.
///
/// # Safety
/// The argument is NULL or points to a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rondo_figure(name: *const c_char) -> c_double {
    if name.is_null() {
        return -1.0;
    }
    // SAFETY: the caller's contract.
    let name = unsafe { CStr::from_ptr(name) }.to_str();
    name.ok().and_then(coll::figure).unwrap_or(-1.0)
}

/// Gives this process rules as a file of RONDO_RULES has them, a text of JSON, in place of those it had. They hold on
/// communicators of which it is rank 0 and that are first used by a collective after this. The name of the host in them
/// is not compared. Returns 0, or -1 if the text is NULL or no rules: then it says why on the standard error output,
/// and nothing changes. May be called at any time, from any thread.
///
/// # Safety
/// The argument is NULL or points to a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rondo_rules(json: *const c_char) -> c_int {
    let given = if json.is_null() {
        Err("there is no text".to_owned())
    } else {
        // SAFETY: the caller's contract.
        let text = unsafe { CStr::from_ptr(json) }.to_str();
        let text = text.map_err(|error| error.to_string());
        text.and_then(coll::give_rules)
    };
    match given {
        Ok(()) => 0,
        Err(why) => {
            report::line(-1, &format!("rondo_rules: {why}; all of it is ignored"));
            -1
        }
    }
}

/// The schedule of one rank (counted from the root) of p in the broadcast on the circulant graph:
/// skips gets q+1 numbers, recv and send get q numbers each, where q = ceil(log2 p), at most 31.
/// Any of the three may be NULL. Returns q, or -1 if p < 1 or rank is not in 0..p-1.
/// The rounds form phases of q. In round k (from 0) of a phase, the rank sends a block to rank +
/// `skips[k]` and receives one from rank - `skips[k]`, both modulo p. `send[k]` and `recv[k]` say
/// which block, counted from the first one of this phase; negative numbers are blocks of the
/// phase before. Of n blocks, the number s in phase j (from 0) stands for block s - x + q j,
/// where x is what n - 1 lacks to a multiple of q. If this is negative, nothing is sent; if it is
/// more than n - 1, it is block n - 1. The first x rounds are left out. Nobody sends to the root,
/// whose recv means nothing.
///
/// # Safety
/// Each pointer is NULL or has room for as many numbers as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rondo_schedule(
    p: c_int,
    rank: c_int,
    skips: *mut c_int,
    recv: *mut c_int,
    send: *mut c_int,
) -> c_int {
    let (Ok(p), Ok(rank)) = (u32::try_from(p), u32::try_from(rank)) else {
        return -1;
    };
    if rank >= p {
        return -1;
    }
    let graph = Circulant::new(p);
    let q = graph.q();
    let mut row = [0i8; crate::schedule::MAX_Q];
    // SAFETY: the caller's contract.
    unsafe {
        fill(skips, graph.skips().iter().map(|&s| s as c_int), q + 1);
        graph.recv(rank, &mut row);
        fill(recv, row.iter().map(|&b| b.into()), q);
        graph.send(rank, &mut row);
        fill(send, row.iter().map(|&b| b.into()), q);
    }
    q as c_int
}

/// Writes `count` numbers to `to`, unless it is null.
///
/// # Safety
/// `to` is null or has room for `count` numbers.
unsafe fn fill(to: *mut c_int, from: impl Iterator<Item = c_int>, count: usize) {
    if !to.is_null() {
        // SAFETY: the caller's contract.
        let to = unsafe { slice::from_raw_parts_mut(to, count) };
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
    }
}
