//! Rondo: round-optimal MPI collectives, dropped in.
//!
//! A shared library with the C ABI that takes over collectives of the host MPI library by interposition and carries
//! them out over the host's point-to-point messages, and through shared memory inside a node. What a user may see of it
//! are MPI's own symbols and `include/rondo.h`; the Rust modules are public for the tests and the command line tool
//! only.
//!
//! A call from top to bottom (docs/design.md has a picture, and the reasons):
//!
//! ```text
//! MPI_Bcast(buf, count, datatype, root, comm)      C, or any Fortran binding
//!  abi       packs the arguments
//!  coll      takes the call through the steps below; not ours, or invalid: the host's function, its code untouched
//!  job       what is agreed once, when MPI_Init has come back: options, nodes, network, memory
//!  group     state of the communicator (an attribute); at the first call its ranks agree on a number
//!  decide    who and how, from facts that every rank shares
//!  model     how long each algorithm takes, and in how many blocks
//!  network   the figures that the model needs
//!  rules     what a file of rules says instead
//!  learn     if no rule fits: what was measured to be faster, or is to be tried
//!  engine    which blocks to whom and when; posts what may be posted, waits for what is needed
//!  flow      how much of that may be under way
//!  schedule  round -> block, pure arithmetic, and the tree of a postal broadcast
//!  script    what a rank does in a reduction, a scan, a barrier or an exchange, step by step
//!  tree      rank -> parent and children, for gather and scatter
//!  topology  which ranks share a node
//!  shm       memory that the ranks of a node share
//!  host      sends, receives, tests; nearly all that has to do with pointers, handles and datatypes
//!  kernels   reduces elements of built-in types by built-in operators
//!  stats     counts the call with its bytes, its time and the reason
//! ```
//!
//! Beside the way: `collective` and `algorithm` are the tables that names and options come from, `config` is the
//! environment, `report` writes messages, `records` is what `rondo check` reads, `files` are
//! written whole, `hash` makes numbers of words, `remembered` is what a thread need not work out again. `src/one` is no
//! module: it is the front of the file for every MPI, which passes each call to the build that fits.
//!
//! Rules on the way: a call goes to the host only before its first message, and only for a reason that every rank sees,
//! or because an argument is invalid. Every request is complete when a function returns. After the first message an
//! error ends the job and names rank and collective, because other ranks would wait for ever.

#![deny(
    clippy::wildcard_enum_match_arm,
    reason = "a new variant must not go unseen: a wildcard would carry it out as another one"
)]

pub mod abi;
pub mod algorithm;
pub mod coll;
pub mod collective;
pub mod config;
pub mod decide;
pub mod engine;
pub mod files;
pub mod flow;
pub mod group;
pub mod hash;
pub mod host;
pub mod job;
pub mod kernels;
pub mod learn;
pub mod model;
pub mod network;
pub mod records;
pub mod remembered;
pub mod report;
pub mod rules;
pub mod schedule;
pub mod script;
pub mod shm;
pub mod stats;
pub mod topology;
pub mod tree;
