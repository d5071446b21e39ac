! MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw through "use mpi_f08": typed handles, the error argument present and
! absent, keyword arguments, empty blocks, gaps, MPI_IN_PLACE, a derived type, sub-communicators. The last line is
! "PASS a2a_f08", and the exit status 0, if all checks held on all ranks.
include 'frondof.h'

module calls
  use mpi_f08
  use frondo
  implicit none

contains

  ! What one rank has for another.
  pure function word(from, to, i)
    integer, intent(in) :: from, to, i
    integer :: word
    word = from * 10000 + to * 100 + i
  end function

  subroutine regular(comm, n)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: n
    integer :: rank, ranks, r, i, ierr
    integer, allocatable :: own(:, :), got(:, :), want(:, :)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(own(n, 0:ranks-1), got(n, 0:ranks-1), want(n, 0:ranks-1))
    do r = 0, ranks - 1
       own(:, r) = [(word(rank, r, i), i = 1, n)]
       want(:, r) = [(word(r, rank, i), i = 1, n)]
    end do
    got = -1
    call MPI_Alltoall(own, n, MPI_INTEGER, got, n, MPI_INTEGER, comm)
    call check(all(got == want), 'alltoall')
    got = -1
    call MPI_Alltoall(comm=comm, recvtype=MPI_INTEGER, recvcount=n, recvbuf=got, sendtype=MPI_INTEGER, sendcount=n, &
         sendbuf=own, ierror=ierr)
    call check(ierr == MPI_SUCCESS .and. all(got == want), 'alltoall by keyword')
    got = own
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, got, n, MPI_INTEGER, comm, ierr)
    call check(ierr == MPI_SUCCESS .and. all(got == want), 'alltoall in place')
    call counted('alltoall', ranks, 3, n)
  end subroutine

  ! Blocks of which every third is empty, with a gap behind each; and every second integer of a derived type.
  subroutine irregular(comm, n)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: n
    integer :: rank, ranks, r, i, bytes
    integer, allocatable :: counts(:), displs(:), own(:, :), got(:, :), want(:, :)
    type(MPI_Datatype), allocatable :: types(:), others(:)
    type(MPI_Datatype) :: vector

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    bytes = storage_size(rank) / 8
    allocate(counts(0:ranks-1), displs(0:ranks-1), types(0:ranks-1), others(0:ranks-1))
    allocate(own(2*n, 0:ranks-1), got(2*n, 0:ranks-1), want(2*n, 0:ranks-1))
    own = -1
    want = -2
    do r = 0, ranks - 1
       counts(r) = merge(0, n, mod(rank + r, 3) == 0)
       displs(r) = 2 * n * r
       own(:n, r) = [(word(rank, r, i), i = 1, n)]
       want(:counts(r), r) = [(word(r, rank, i), i = 1, counts(r))]
    end do
    got = -2
    call MPI_Alltoallv(own, counts, displs, MPI_INTEGER, got, counts, displs, MPI_INTEGER, comm)
    call check(all(got == want), 'alltoallv')
    got = -2
    types = MPI_INTEGER
    call MPI_Alltoallw(own, counts, displs * bytes, types, got, counts, displs * bytes, types, comm)
    call check(all(got == want), 'alltoallw')
    do r = 0, ranks - 1
       if (counts(r) > 0) got(:n, r) = own(:n, r)
    end do
    call MPI_Alltoallv(MPI_IN_PLACE, counts, displs, MPI_INTEGER, got, counts, displs, MPI_INTEGER, comm)
    call check(all(got == want), 'alltoallv in place')

    ! As one element of another type at who receives.
    call MPI_Type_vector(n, 1, 2, MPI_INTEGER, vector)
    call MPI_Type_commit(vector)
    others = vector
    got = -2
    call MPI_Alltoallw(own, counts, displs * bytes, types, got, min(counts, 1), displs * bytes, others, comm)
    do r = 0, ranks - 1
       call check(all(got(1::2, r) == merge(want(:n, r), -2, counts(r) > 0)), 'alltoallw of vectors')
       call check(all(got(2::2, r) == -2), 'gaps, alltoallw of vectors')
    end do
    call MPI_Type_free(vector)
    call counted('alltoallv', ranks, 2, n)
    call counted('alltoallw', ranks, 2, n)
  end subroutine

  subroutine everything(comm)
    type(MPI_Comm), intent(in) :: comm
    call regular(comm, 0)
    call regular(comm, 7)
    call regular(comm, 3001)
    call irregular(comm, 5)
    call irregular(comm, 2003)
  end subroutine

end module

program a2a_f08
  use calls
  implicit none
  integer :: rank, ranks, total
  type(MPI_Comm) :: comm

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call begin(rank, ranks)
  call everything(MPI_COMM_WORLD)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm)
  call everything(comm)
  call MPI_Comm_free(comm)

  call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (total /= 0) stop 1
  if (rank == 0) print '(a)', 'PASS a2a_f08'
end program
