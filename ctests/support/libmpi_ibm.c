/* Spectrum MPI, a kind of Open MPI, as a second MPI library in a program that runs on another one: its world is there,
 * and is nobody's. */
char ompi_mpi_comm_world[1];
