! MPI_Bcast through "use mpi": named types of several kinds, every root, scalars, arrays of two dimensions, a derived
! type made from a Fortran type, MPI_BOTTOM, a sub-communicator and MPI_COMM_SELF. The last line is
! "PASS bcast_usempi", and the exit status 0, if all checks held on all ranks.
include 'frondof.h'

module calls
  use mpi
  use frondo
  implicit none

contains

  subroutine named(comm, root)
    integer, intent(in) :: comm, root
    integer, parameter :: n = 123, m = 91
    integer :: rank, ranks, ierr, i, j, one
    real :: single(n, m), single_want(n, m)
    double precision :: double(n, m), double_want(n, m)
    complex(kind(1d0)) :: wide(n * m), wide_want(n * m)
    character(len=50) :: text

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    single_want = reshape([((i + 0.5 * j, i = 1, n), j = 1, m)], [n, m])
    double_want = reshape([((i - 0.25d0 * j, i = 1, n), j = 1, m)], [n, m])
    wide_want = [(cmplx(i, -i, kind(1d0)), i = 1, n * m)]
    one = -1
    single = -1
    double = -1
    wide = 0
    text = ''
    if (rank == root) then
       one = 4711
       single = single_want
       double = double_want
       wide = wide_want
       text = 'from the root'
    end if

    call mpi_bcast(one, 1, MPI_INTEGER, root, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success of an integer')
    call mpi_bcast(single, n * m, MPI_REAL, root, comm, ierr)
    call mpi_bcast(double, n * m, MPI_DOUBLE_PRECISION, root, comm, ierr)
    call mpi_bcast(wide, n * m, MPI_DOUBLE_COMPLEX, root, comm, ierr)
    call mpi_bcast(text, len(text), MPI_CHARACTER, root, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success of a text')
    call counted('bcast', ranks, 5, n)

    call check(one == 4711, 'an integer')
    call check(all(single == single_want), 'reals')
    call check(all(double == double_want), 'numbers of double precision')
    call check(all(wide == wide_want), 'complex numbers')
    call check(text == 'from the root', 'a text')
  end subroutine

  ! A Fortran type with a gap between its parts, as a struct resized to the type's extent.
  subroutine derived(comm, root)
    integer, intent(in) :: comm, root
    type particle
       sequence
       double precision :: position(3)
       integer :: kind
       integer :: untouched
    end type
    integer, parameter :: n = 700
    type(particle) :: list(n)
    integer :: rank, ranks, ierr, i, s, t, lengths(2), types(2)
    integer(MPI_ADDRESS_KIND) :: at(2), base, next

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    do i = 1, n
       list(i)%position = merge(i * 1d0, -1d0, rank == root)
       list(i)%kind = merge(i, -1, rank == root)
       list(i)%untouched = 100 * rank + 3
    end do
    call mpi_get_address(list(1)%position, base, ierr)
    call mpi_get_address(list(1)%kind, at(2), ierr)
    call mpi_get_address(list(2)%position, next, ierr)
    at(1) = 0
    at(2) = at(2) - base
    lengths = [3, 1]
    types = [MPI_DOUBLE_PRECISION, MPI_INTEGER]
    call mpi_type_create_struct(2, lengths, at, types, s, ierr)
    call mpi_type_create_resized(s, 0_MPI_ADDRESS_KIND, next - base, t, ierr)
    call mpi_type_commit(t, ierr)
    call mpi_bcast(list(1)%position, n, t, root, comm, ierr)
    call counted('bcast', ranks, 1, n)
    call mpi_type_free(t, ierr)
    call mpi_type_free(s, ierr)
    call check(all([(all(list(i)%position == i), i = 1, n)]), 'positions of particles')
    call check(all(list%kind == [(i, i = 1, n)]), 'kinds of particles')
    call check(all(list%untouched == 100 * rank + 3), 'gaps between particles')
  end subroutine

  subroutine bottom(comm, root)
    integer, intent(in) :: comm, root
    integer, parameter :: n = 3000
    integer, asynchronous, save :: whole(n)
    integer :: rank, ranks, ierr, i, t, length(1)
    integer(MPI_ADDRESS_KIND) :: at(1)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    whole = [(merge(i, -1, rank == root), i = 1, n)]
    call mpi_get_address(whole, at(1), ierr)
    length = n
    call mpi_type_create_hindexed(1, length, at, MPI_INTEGER, t, ierr)
    call mpi_type_commit(t, ierr)
    call mpi_bcast(MPI_BOTTOM, 1, t, root, comm, ierr)
    call counted('bcast', ranks, 1, n)
    call mpi_type_free(t, ierr)
    call check(all(whole == [(i, i = 1, n)]), 'integers from MPI_BOTTOM')
  end subroutine

end module

program bcast_usempi
  use calls
  implicit none
  integer :: ierr, rank, ranks, root, comm, total

  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierr)
  call begin(rank, ranks)
  do root = 0, ranks - 1
     call named(MPI_COMM_WORLD, root)
     call derived(MPI_COMM_WORLD, root)
     call bottom(MPI_COMM_WORLD, root)
  end do
  call mpi_comm_split(MPI_COMM_WORLD, 0, -rank, comm, ierr)
  call named(comm, 0)
  call mpi_comm_free(comm, ierr)
  call mpi_comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm, ierr)
  call derived(comm, 0)
  call mpi_comm_free(comm, ierr)
  call named(MPI_COMM_SELF, 0)

  call mpi_allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call mpi_finalize(ierr)
  if (total /= 0) stop 1
  if (rank == 0) print '(a)', 'PASS bcast_usempi'
end program
