/* Preloaded behind Rondo: a message to oneself takes its time between the receive and the send, so that messages that
 * threads send to themselves at the same time are under way together. */
#include <mpi.h>
#include <unistd.h>

enum { PAUSE_US = 500 };

int PMPI_Sendrecv(const void *from, int sends, MPI_Datatype sent, int to_rank, int send_tag, void *to, int receives,
                  MPI_Datatype received, int from_rank, int receive_tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Request request;
    int code = PMPI_Irecv(to, receives, received, from_rank, receive_tag, comm, &request);
    if (code != MPI_SUCCESS) return code;
    usleep(PAUSE_US);
    int sent_code = PMPI_Send(from, sends, sent, to_rank, send_tag, comm);
    code = PMPI_Wait(&request, status);
    return sent_code != MPI_SUCCESS ? sent_code : code;
}
