//! Schedules: which block a rank sends and which it receives in each round of an n-block broadcast; trees
//! ([`trees`], and [`postal`] for a single block); and the messages of an all-broadcast of whole parts ([`steps`]).
//!
//! Integers in, integers out: no messages, no buffers, no environment. The schedules are those of
//! Jesper Larsson Träff: "(Poly)Logarithmic Time Construction of Round-optimal n-Block Broadcast
//! Schedules for Broadcast and irregular Allgather in MPI", arXiv 2205.10072, for the graph, the
//! conditions and the rounds; arXiv 2312.11236 and ACM TOPC, doi 10.1145/3735139, for schedules in
//! O(log p) time and space per rank.
//!
//! # Notation
//!
//! The letters of the papers are used in this directory and nowhere else.
//!
//! | letter | meaning |
//! |---|---|
//! | p, q | the number of ranks; q = ceil(log2 p) |
//! | v | a rank relative to the root: (rank - root) mod p, so that the root is 0 |
//! | skip | `skip[q] = p`, `skip[k] = ceil(skip[k+1] / 2)`, `skip[0] = 1` |
//! | k | a round's position in its phase of q rounds, 0 <= k < q |
//! | b | the baseblock of v: the first block it receives, in round home(v) of the first phase |
//! | m, n | the bytes of the message; the blocks it is cut into, numbered from 0 |
//! | x | empty rounds before the first one, to make whole phases of n-1+q rounds |
//! | `recv[v]`, `send[v]` | the schedules of v: q numbers from -q to q-1, called entries |
//!
//! In round k every rank v sends to v + `skip[k]` and receives from v - `skip[k]`, both mod p. An
//! entry is a block of the current phase, or, if negative, a block of the phase before, less q.
//! Nobody sends to the root, so the root's receive schedule serves only to complete the tables.
//!
//! # Example
//!
//! For p = 9, q = 4 and the skips are 1 2 3 5 9. One column for each v, one row for each k:
//!
//! ```text
//! recv  -2  0 -4 -3 -2 -4 -1 -4 -3      send   0 -4 -3 -2 -4 -1 -4 -3 -2
//!       -3 -2  1 -4 -3 -2 -2 -1 -4             1 -4 -3 -2 -2 -1 -4 -3 -2
//!       -1 -3 -2  2  0 -3 -3 -2 -1             2  0 -3 -3 -2 -1 -1 -3 -2
//!       -4 -1 -1 -1 -1  3  0  1  2             3  0  1  2 -4 -1 -1 -1 -1
//! ```
//!
//! # Correctness conditions
//!
//! For all v and k, indices mod p (arXiv 2205.10072, section 2):
//!
//! 1. `recv[v][k] = send[v - skip[k]][k]`: both ends of an edge name the same block;
//! 2. `send[v][k] = recv[v + skip[k]][k]`: the same, seen from the sender;
//! 3. `recv[v]` holds b and the numbers from -q to -1 without b-q: in every phase another q
//!    blocks (for the root all the numbers from -q to -1);
//! 4. `send[0][k] = k`, and for other v, `send[v][k]` is b-q or one of `recv[v][0..k]`: a rank
//!    sends what it has.
//!
//! Together they make the broadcast right for every n. Rounds are logical: nothing waits for the
//! end of a round, and a send depends only on the earlier receive of the same block.

#![forbid(unsafe_code)]

pub mod blocks;
pub mod circulant;
pub mod dual_root;
pub mod grid;
pub mod hypercube;
pub mod moves;
pub mod parts;
pub mod postal;
pub mod rounds;
pub mod steps;
pub mod trees;
mod two_trees;

pub use blocks::{Blocks, Span};
pub use circulant::Circulant;
pub use dual_root::DualRoot;
pub use grid::{Dimension, Grid};
pub use hypercube::{Hypercube, Transfer};
pub use moves::{Move, Moves};
pub use parts::Parts;
pub use rounds::{MAX_Q, Rounds, rounds_of};
pub use steps::{Step, Steps};
pub use trees::{Edge, Kin, Pace, Shape, TreeNeighbors};
