//! What `rondo bench --help` says below its options.

#![forbid(unsafe_code)]

pub const AFTER_HELP: &str = "\
EXAMPLES:
  mpirun -np 8 rondo bench
  mpirun -np 8 rondo bench -m 1K:1M --json=results.json bcast allgather allgatherv
  mpirun -np 8 rondo bench bcast --algorithm all --predict --plot bcast.svg
  mpirun -np 8 rondo bench gatherv --dist same,one,skewed --root 3 -i 100
  mpirun -np 8 rondo bench allreduce reduce bcast --op sum,ordered

SIZES:
  bcast                   the message
  allgather, allgatherv   all ranks together
  gather(v), scatter(v)   a block, on the average
  reductions, scans       a rank's vector
  alltoall(v, w)          a rank's blocks together
  barrier                 none: it has one row
  Sizes that do not fill an element of the type for each block (of the regular collectives) are left out.

DISTRIBUTIONS:
  one (all at rank p/2), same, and the others that 'rondo tree --help' explains: random, random-decreasing,
  random-increasing, random-bucket, spikes, decreasing, increasing, alternating, skewed, two-blocks. They are scaled to
  the same total.

OPERATORS:
  sum       doubles by MPI_SUM; their last bits depend on the order, as those of most programs' reductions do
  xor       bytes by MPI_BXOR, which gives the same in every order: more algorithms fit, and Rondo may choose by times
  ordered   words of 8 bytes by an operator of this tool's own that does not commute
  Each has rows of its own. Guidelines compare reductions by the same one.

LEARNING:
  Rondo chooses by its rules and its model, as with RONDO_LEARN=off, unless RONDO_LEARN is set or Rondo is preloaded
  already.

COLUMNS:
  Microseconds. With fewer than 100 batches, P99 is the maximum. For collectives with a root, the time that the root
  itself spends in a call (median) follows. The last column says which algorithm of Rondo's carried the calls out, by
  its counters on rank 0; host if Rondo passed them on. A guideline says how many times as long a collective takes as
  others that could stand in its place, at the same total; where that was not measured, between its neighbours.
  With --predict, predicted is what the model says of that algorithm, as 'rondo model' does; all rows come at the end.
  Where ranks share cores, times are mostly the scheduler's, and change while a run lasts: host and Rondo in a row,
  which take turns, can still be compared, but rows and guidelines cannot.";
