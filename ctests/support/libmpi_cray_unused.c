/* A second MPI library behind the program's own, to which the program was linked by accident: it has functions that the
 * first one may lack. Nobody may call them, for nobody initialised it. */
#include <stdio.h>
#include <stdlib.h>

static int unwanted(const char *name) {
    fprintf(stderr, "libmpi_cray_unused: %s was called\n", name);
    abort();
}

int PMPI_Type_get_envelope_c(void) { return unwanted("PMPI_Type_get_envelope_c"); }
int PMPI_Bcast_c(void) { return unwanted("PMPI_Bcast_c"); }
int PMPI_Allreduce_c(void) { return unwanted("PMPI_Allreduce_c"); }
