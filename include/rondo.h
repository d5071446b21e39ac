/* rondo.h: what a program may ask of Rondo. The MPI functions need no header of ours.
 *
 * Made by cbindgen from src/abi/rondo.rs; change that file instead. */

#ifndef RONDO_H
#define RONDO_H

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/*
 Version of Rondo, such as "0.2.0". Never NULL; not to be freed.
 */
const char *rondo_version(void);

/*
 Calls of a collective ("bcast", "allgatherv", "allgather", "gatherv", "gather", "scatterv", "scatter", "allreduce",
 "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan", "barrier", "alltoall", "alltoallv" or
 "alltoallw", with or without "MPI_" in front) that were carried out on this rank so far by an algorithm
 ("circulant", "binomial", "postal", "relay", "bruck", "ring", "hybrid", "adaptive", "linear", "halving", "gather",
 "ordered", "split", "doubling", "pipelined", "dissemination", "census", "reduce-bcast", "chain", "binary", "kary",
 "knomial", "fibonacci", "in-order", "two-tree", "mesh", "hypercube", "scatter-allgather", "neighbor", "pairwise",
 "dual-root", "full-lane", or another name that the option of the collective takes for one of these; or "host" for
 those passed to the MPI library). With a NULL algorithm: by all of Rondo's own together. 0 for names that are not
 known.
 May be called at any time, from any thread.

 Both arguments are NULL or point to C strings.
 */
unsigned long long rondo_calls(const char *collective,
                               const char *algorithm);

/*
 A figure of the cost model: "alpha_us", "gap_us", "beta_ns_per_kb", "node_alpha_us" or "node_beta_ns_per_kb" of the
 network, as measured on the communicator with the most nodes, or as set by the user. -1 if it is not known, or
 not yet, and for any other name ("gamma.integers" and the like had a figure in 0.2). May be called at any time, from
 any thread.

 The argument is NULL or points to a C string.
 */
double rondo_figure(const char *name);

/*
 Gives this process rules as a file of RONDO_RULES has them, a text of JSON, in place of those it had. They hold on
 communicators of which it is rank 0 and that are first used by a collective after this. The name of the host in them
 is not compared. Returns 0, or -1 if the text is NULL or no rules: then it says why on the standard error output,
 and nothing changes. May be called at any time, from any thread.

 The argument is NULL or points to a C string.
 */
int rondo_rules(const char *json);

/*
 The schedule of one rank (counted from the root) of p in the broadcast on the circulant graph:
 skips gets q+1 numbers, recv and send get q numbers each, where q = ceil(log2 p), at most 31.
 Any of the three may be NULL. Returns q, or -1 if p < 1 or rank is not in 0..p-1.
 The rounds form phases of q. In round k (from 0) of a phase, the rank sends a block to rank +
 `skips[k]` and receives one from rank - `skips[k]`, both modulo p. `send[k]` and `recv[k]` say
 which block, counted from the first one of this phase; negative numbers are blocks of the
 phase before. Of n blocks, the number s in phase j (from 0) stands for block s - x + q j,
 where x is what n - 1 lacks to a multiple of q. If this is negative, nothing is sent; if it is
 more than n - 1, it is block n - 1. The first x rounds are left out. Nobody sends to the root,
 whose recv means nothing.

 Each pointer is NULL or has room for as many numbers as said.
 */
int rondo_schedule(int p, int rank, int *skips, int *recv, int *send);

#ifdef __cplusplus
}  // extern "C"
#endif  /* __cplusplus */

#endif  /* RONDO_H */
