/* What a program without parallelism has in place of an MPI library, as solvers bring it: a few functions for a single
 * process, by the names MPI_X alone. */
static int calls;

int MPI_Init(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return 0;
}

int MPI_Bcast(void *buffer, int count, int datatype, int root, int comm) {
    (void)buffer, (void)count, (void)datatype, (void)root, (void)comm;
    calls++;
    return 0;
}

int MPI_Comm_free(int *comm) {
    *comm = -1;
    calls++;
    return 0;
}

int MPI_Finalize(void) {
    calls++;
    return 0;
}

/* How many calls came here. */
int serial_calls(void) { return calls; }
