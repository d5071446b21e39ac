! All blocking collectives through "use mpi_f08"; and what only this binding has: calls without the error argument and
! by keywords, and array sections that are not contiguous.
#define BINDING mpi_f08
#define HAS_TYPED_HANDLES
#include "fortran.h"

module optional
  use mpi_f08
  use frondo
  implicit none

  character(len=20), parameter :: names(17) = [character(len=20) :: 'barrier', 'bcast', 'allgather', 'allgatherv', &
       'gather', 'gatherv', 'scatter', 'scatterv', 'alltoall', 'alltoallv', 'alltoallw', 'allreduce', 'reduce', &
       'scan', 'exscan', 'reduce_scatter', 'reduce_scatter_block']

contains

  ! Each collective once, its arguments by keywords in another order, without an error argument.
  subroutine keywords(comm)
    type(MPI_Comm), intent(in) :: comm
    integer :: rank, ranks, root, r
    integer :: one(1), got(1)
    integer, allocatable :: counts(:), displs(:), all(:), mine(:), theirs(:)
    type(MPI_Datatype), allocatable :: types(:)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    root = ranks - 1
    counts = [(1, r = 1, ranks)]
    displs = [(r, r = 0, ranks - 1)]
    types = [(MPI_INTEGER, r = 1, ranks)]
    mine = [(100 * rank + r, r = 0, ranks - 1)]
    theirs = [(100 * r + rank, r = 0, ranks - 1)]
    one = rank + 1
    all = 0 * counts

    call MPI_Barrier(comm=comm)
    got = merge(77, 0, rank == root)
    call MPI_Bcast(comm=comm, root=root, datatype=MPI_INTEGER, count=1, buffer=got)
    call check(got(1) == 77, 'bcast by keyword')
    call MPI_Allgather(comm=comm, recvtype=MPI_INTEGER, recvcount=1, recvbuf=all, sendtype=MPI_INTEGER, sendcount=1, &
         sendbuf=one)
    call check(is(all, displs + 1), 'allgather by keyword')
    all = 0
    call MPI_Allgatherv(comm=comm, recvtype=MPI_INTEGER, displs=displs, recvcounts=counts, recvbuf=all, &
         sendtype=MPI_INTEGER, sendcount=1, sendbuf=one)
    call check(is(all, displs + 1), 'allgatherv by keyword')
    all = 0
    call MPI_Gather(comm=comm, root=root, recvtype=MPI_INTEGER, recvcount=1, recvbuf=all, sendtype=MPI_INTEGER, &
         sendcount=1, sendbuf=one)
    call check(is(all, merge(displs + 1, 0, rank == root)), 'gather by keyword')
    all = 0
    call MPI_Gatherv(comm=comm, root=root, recvtype=MPI_INTEGER, displs=displs, recvcounts=counts, recvbuf=all, &
         sendtype=MPI_INTEGER, sendcount=1, sendbuf=one)
    call check(is(all, merge(displs + 1, 0, rank == root)), 'gatherv by keyword')
    got = 0
    call MPI_Scatter(comm=comm, root=root, recvtype=MPI_INTEGER, recvcount=1, recvbuf=got, sendtype=MPI_INTEGER, &
         sendcount=1, sendbuf=mine)
    call check(got(1) == 100 * root + rank, 'scatter by keyword')
    got = 0
    call MPI_Scatterv(comm=comm, root=root, recvtype=MPI_INTEGER, recvcount=1, recvbuf=got, sendtype=MPI_INTEGER, &
         displs=displs, sendcounts=counts, sendbuf=mine)
    call check(got(1) == 100 * root + rank, 'scatterv by keyword')
    call MPI_Alltoall(comm=comm, recvtype=MPI_INTEGER, recvcount=1, recvbuf=all, sendtype=MPI_INTEGER, sendcount=1, &
         sendbuf=mine)
    call check(is(all, theirs), 'alltoall by keyword')
    all = 0
    call MPI_Alltoallv(comm=comm, recvtype=MPI_INTEGER, rdispls=displs, recvcounts=counts, recvbuf=all, &
         sendtype=MPI_INTEGER, sdispls=displs, sendcounts=counts, sendbuf=mine)
    call check(is(all, theirs), 'alltoallv by keyword')
    all = 0
    call MPI_Alltoallw(comm=comm, recvtypes=types, rdispls=4 * displs, recvcounts=counts, recvbuf=all, &
         sendtypes=types, sdispls=4 * displs, sendcounts=counts, sendbuf=mine)
    call check(is(all, theirs), 'alltoallw by keyword')

    call MPI_Allreduce(comm=comm, op=MPI_SUM, datatype=MPI_INTEGER, count=1, recvbuf=got, sendbuf=one)
    call check(got(1) == ranks * (ranks + 1) / 2, 'allreduce by keyword')
    got = 0
    call MPI_Reduce(comm=comm, root=root, op=MPI_SUM, datatype=MPI_INTEGER, count=1, recvbuf=got, sendbuf=one)
    call check(got(1) == merge(ranks * (ranks + 1) / 2, 0, rank == root), 'reduce by keyword')
    call MPI_Scan(comm=comm, op=MPI_SUM, datatype=MPI_INTEGER, count=1, recvbuf=got, sendbuf=one)
    call check(got(1) == (rank + 1) * (rank + 2) / 2, 'scan by keyword')
    got = 0
    call MPI_Exscan(comm=comm, op=MPI_SUM, datatype=MPI_INTEGER, count=1, recvbuf=got, sendbuf=one)
    call check(got(1) == rank * (rank + 1) / 2, 'exscan by keyword')
    call MPI_Reduce_scatter(comm=comm, op=MPI_SUM, datatype=MPI_INTEGER, recvcounts=counts, recvbuf=got, sendbuf=mine)
    call check(got(1) == 50 * ranks * (ranks - 1) + ranks * rank, 'reduce_scatter by keyword')
    got = 0
    call MPI_Reduce_scatter_block(comm=comm, op=MPI_SUM, datatype=MPI_INTEGER, recvcount=1, recvbuf=got, sendbuf=mine)
    call check(got(1) == 50 * ranks * (ranks - 1) + ranks * rank, 'reduce_scatter_block by keyword')
    do r = 1, size(names)
       call counted(trim(names(r)), ranks, 1, 1)
    end do
  end subroutine

  pure logical function is(got, want)
    integer, intent(in) :: got(:), want(:)
    is = all(got == want)
  end function

  ! A rank's own block is every second element of an array, and where the binding can do that, all blocks are every
  ! second element as well. Where the binding does not know sections, the compiler passes copies, which serves a
  ! blocking call as well. An empty block is no section: MPICH's binding makes one element of a type without data of it,
  ! and its MPI_Scatterv then waits for a message that the root, whose count is 0, does not send.
  subroutine sections(comm, shape)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: shape
    integer :: rank, ranks, root, m, n, step
    integer, allocatable :: counts(:), displs(:), want(:), theirs(:), mine(:), own(:), full(:)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    call blocks(shape, 211, ranks, counts, displs, want)
    m = counts(rank)
    n = size(want)
    step = merge(2, 1, m > 0)
    allocate(mine(2 * m), own(2 * m), full(2 * n))
    mine = -5
    mine(2::2) = block(rank, m)
    full = -1
    call MPI_Allgatherv(mine(step::step), m, MPI_INTEGER, full, counts, displs, MPI_INTEGER, comm)
    call check(all(full(:n) == want) .and. all(full(n+1:) == -1), 'section sent, allgatherv')
    call counted('allgatherv', ranks, 1, sum(counts))
    own = mine
    do root = 0, ranks - 1
       theirs = merge(want, -1, rank == root)
       full = -1
       call MPI_Gatherv(own(step::step), m, MPI_INTEGER, full, counts, displs, MPI_INTEGER, root, comm)
       call check(all(full(:n) == theirs) .and. all(full(n+1:) == -1), 'section sent, gatherv')
       own = -5
       call MPI_Scatterv(full, counts, displs, MPI_INTEGER, own(step::step), m, MPI_INTEGER, root, comm)
       call check(all(own == mine), 'section received, scatterv')
    end do
    call counted('gatherv', ranks, ranks, sum(counts))
    call counted('scatterv', ranks, ranks, sum(counts))
    if (shape == 1) then
       full = -1
       call MPI_Gather(own(step::step), m, MPI_INTEGER, full, m, MPI_INTEGER, 0, comm)
       call check(all(full(:n) == merge(want, -1, rank == 0)), 'section sent, gather')
       own = -5
       call MPI_Scatter(full, m, MPI_INTEGER, own(step::step), m, MPI_INTEGER, 0, comm)
       call check(all(own == mine), 'section received, scatter')
       call counted('gather', ranks, 1, m)
       call counted('scatter', ranks, 1, m)
       if (rank > 0) own = -5
       call MPI_Bcast(own(2::2), m, MPI_INTEGER, 0, comm)
       call check(all(own(2::2) == block(0, m)) .and. all(own(1::2) == -5), 'section, bcast')
       call counted('bcast', ranks, 1, m)
       own = mine
    end if

    if (.not. knows_sections()) return
    full = -1
    call MPI_Allgatherv(mine(step::step), m, MPI_INTEGER, full(1::2), counts, displs, MPI_INTEGER, comm)
    call check(all(full(1::2) == want) .and. all(full(2::2) == -1), 'section received, allgatherv')
    call counted('allgatherv', ranks, 1, sum(counts))
    do root = 0, ranks - 1
       theirs = merge(want, -1, rank == root)
       full = -1
       call MPI_Gatherv(own(step::step), m, MPI_INTEGER, full(2::2), counts, displs, MPI_INTEGER, root, comm)
       call check(all(full(2::2) == theirs) .and. all(full(1::2) == -1), 'section received, gatherv')
       own = -5
       call MPI_Scatterv(full(2::2), counts, displs, MPI_INTEGER, own(step::step), m, MPI_INTEGER, root, comm)
       call check(all(own == mine), 'section sent, scatterv')
    end do
    call counted('gatherv', ranks, ranks, sum(counts))
    call counted('scatterv', ranks, ranks, sum(counts))
  end subroutine

  ! Does the binding know that the root's blocks are a section? MPICH's claims that it knows sections, but takes this
  ! one as if it were contiguous. One rank shows it, and there every call is the MPI library's own.
  logical function knows_sections()
    integer :: got(6)
    got = -1
    call MPI_Gatherv([1, 2], 2, MPI_INTEGER, got(1::2), [2], [1], MPI_INTEGER, 0, MPI_COMM_SELF)
    call counted('gatherv', 1, 1, 2)
    knows_sections = all(got == [-1, -1, 1, -1, 2, -1])
    call check(knows_sections .or. all(got == [-1, 1, 2, -1, -1, -1]), 'section received by one rank')
  end function

end module

program fortran_f08
  use collectives
  use optional
  implicit none
  integer :: shape
  call start
  call everywhere
  call keywords(MPI_COMM_WORLD)
  do shape = 1, 7
     call sections(MPI_COMM_WORLD, shape)
  end do
  call finish('fortran_f08')
end program
