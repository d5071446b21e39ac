! MPI_Bcast through "use mpi_f08": typed handles, the error argument present and absent, keyword arguments, named types,
! every root, a resized type, MPI_BOTTOM, a sub-communicator. The last line is "PASS bcast_f08", and the exit
! status 0, if all checks held on all ranks.
include 'frondof.h'

module calls
  use mpi_f08
  use frondo
  implicit none

contains

  subroutine named(comm, root)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: root
    integer, parameter :: n = 9001
    integer :: rank, ranks, ierr, i
    integer :: whole(n)
    integer(MPI_COUNT_KIND) :: long
    real :: single(n)
    double precision :: double(n)
    logical :: truth(n)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    whole = [(merge(i, -1, rank == root), i = 1, n)]
    single = [(merge(i * 0.5, -1.0, rank == root), i = 1, n)]
    double = [(merge(i * 0.25d0, -1d0, rank == root), i = 1, n)]
    truth = [(rank == root .and. mod(i, 3) == 0, i = 1, n)]
    long = merge(1, 0, rank == root)

    call MPI_Bcast(whole, n, MPI_INTEGER, root, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success')
    call MPI_Bcast(single, n, MPI_REAL, root, comm)
    call MPI_Bcast(buffer=double, count=n, datatype=MPI_DOUBLE_PRECISION, root=root, comm=comm, ierror=ierr)
    call check(ierr == MPI_SUCCESS, 'success by keyword')
    call MPI_Bcast(truth, n, MPI_LOGICAL, root, comm)
    call MPI_Bcast(long, 1, MPI_COUNT, root, comm)
    call counted('bcast', ranks, 5, n)

    call check(all(whole == [(i, i = 1, n)]), 'integers')
    call check(all(single == [(i * 0.5, i = 1, n)]), 'reals')
    call check(all(double == [(i * 0.25d0, i = 1, n)]), 'numbers of double precision')
    call check(all(truth .eqv. [(mod(i, 3) == 0, i = 1, n)]), 'logicals')
    call check(long == 1, 'a count')
  end subroutine

  ! Every second row of a matrix, by a vector that is resized so that the next element starts one row further.
  subroutine derived(comm, root)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: root
    integer, parameter :: rows = 10, columns = 300
    integer :: matrix(rows, columns), want(rows, columns), i, j, rank, ranks
    type(MPI_Datatype) :: row, t
    integer(MPI_ADDRESS_KIND) :: four

    four = storage_size(1) / 8
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    matrix = reshape([((merge(100 * j + i, -i, rank == root), i = 1, rows), j = 1, columns)], [rows, columns])
    want = reshape([((merge(100 * j + i, -i, rank == root .or. mod(i, 2) == 1), i = 1, rows), j = 1, columns)], &
         [rows, columns])
    call MPI_Type_vector(columns, 1, rows, MPI_INTEGER, row)
    call MPI_Type_create_resized(row, 0_MPI_ADDRESS_KIND, 2 * four, t)
    call MPI_Type_commit(t)
    call MPI_Bcast(matrix, rows / 2, t, root, comm)
    call counted('bcast', ranks, 1, rows / 2 * columns)
    call MPI_Type_free(t)
    call MPI_Type_free(row)
    call check(all(matrix == want), 'every second row of a matrix')
  end subroutine

  subroutine bottom(comm, root)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: root
    integer, parameter :: n = 3000
    double precision, asynchronous, save :: double(n)
    integer :: rank, ranks, i, length(1)
    type(MPI_Datatype) :: t
    integer(MPI_ADDRESS_KIND) :: at(1)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    double = [(merge(i * 0.25d0, -1d0, rank == root), i = 1, n)]
    call MPI_Get_address(double, at(1))
    length = n
    call MPI_Type_create_hindexed(1, length, at, MPI_DOUBLE_PRECISION, t)
    call MPI_Type_commit(t)
    call MPI_Bcast(MPI_BOTTOM, 1, t, root, comm)
    call counted('bcast', ranks, 1, n)
    call MPI_Type_free(t)
    call check(all(double == [(i * 0.25d0, i = 1, n)]), 'numbers from MPI_BOTTOM')
  end subroutine

end module

program bcast_f08
  use calls
  implicit none
  integer :: rank, ranks, root, total
  type(MPI_Comm) :: comm

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call begin(rank, ranks)
  do root = 0, ranks - 1
     call named(MPI_COMM_WORLD, root)
     call derived(MPI_COMM_WORLD, root)
     call bottom(MPI_COMM_WORLD, root)
  end do
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm)
  call named(comm, 0)
  call MPI_Comm_free(comm)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm)
  call derived(comm, 0)
  call MPI_Comm_free(comm)
  call named(MPI_COMM_SELF, 0)

  call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (total /= 0) stop 1
  if (rank == 0) print '(a)', 'PASS bcast_f08'
end program
