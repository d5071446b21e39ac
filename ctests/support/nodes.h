/* Nodes, as RONDO_NODE names them ("n0", "n1", ...); without it, all ranks share node 0.
 */
#ifndef NODES_H
#define NODES_H

#include "rondo_test.h"

/* The node of this rank. */
static MAYBE_UNUSED int my_node(void) {
    const char *name = getenv("RONDO_NODE");
    return name && *name ? atoi(name + 1) : 0;
}

/* The ranks of this rank's node. */
static MAYBE_UNUSED MPI_Comm node_comm(void) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, my_node(), test.rank, &comm);
    return comm;
}

/* One rank of each node: the first ones, the second ones, and so on, as far as nodes have so many. */
static MAYBE_UNUSED MPI_Comm across_comm(void) {
    MPI_Comm node = node_comm(), comm;
    int local;
    MPI_Comm_rank(node, &local);
    MPI_Comm_free(&node);
    MPI_Comm_split(MPI_COMM_WORLD, local, test.rank, &comm);
    return comm;
}

#endif
