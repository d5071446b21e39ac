! MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw through "use mpi": types of several kinds, arrays of two dimensions,
! empty blocks, MPI_IN_PLACE, a matrix that goes from columns to rows by subarrays, sub-communicators and MPI_COMM_SELF.
! The last line is "PASS a2a_usempi", and the exit status 0, if all checks held on all ranks.
include 'frondof.h'

module calls
  use mpi
  use frondo
  implicit none

contains

  ! What one rank has for another.
  pure function word(from, to, i)
    integer, intent(in) :: from, to, i
    integer :: word
    word = from * 10000 + to * 100 + i
  end function

  subroutine kinds(comm, n)
    integer, intent(in) :: comm, n
    integer :: rank, ranks, r, i, ierr
    integer, allocatable :: whole(:, :), want(:, :)
    double precision, allocatable :: double(:, :)
    complex, allocatable :: pairs(:, :), got(:, :)
    character(len=n), allocatable :: texts(:), read(:)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    allocate(whole(n, 0:ranks-1), want(n, 0:ranks-1), double(n, 0:ranks-1))
    allocate(texts(0:ranks-1), read(0:ranks-1), got(n, 0:ranks-1))
    do r = 0, ranks - 1
       whole(:, r) = [(word(rank, r, i), i = 1, n)]
       want(:, r) = [(word(r, rank, i), i = 1, n)]
       texts(r) = repeat(char(65 + mod(3 * rank + r, 26)), n)
    end do

    double = whole * 0.25d0
    call mpi_alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, double, n, MPI_DOUBLE_PRECISION, comm, ierr)
    call check(ierr == MPI_SUCCESS .and. all(double == want * 0.25d0), 'doubles in place')
    pairs = cmplx(whole, -whole)
    got = 0
    call mpi_alltoall(pairs, n, MPI_COMPLEX, got, n, MPI_COMPLEX, comm, ierr)
    call check(ierr == MPI_SUCCESS .and. all(got == cmplx(want, -want)), 'complex')
    read = ''
    call mpi_alltoall(texts, n, MPI_CHARACTER, read, n, MPI_CHARACTER, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, characters')
    do r = 0, ranks - 1
       call check(read(r) == repeat(char(65 + mod(3 * r + rank, 26)), n), 'characters')
    end do
    call counted('alltoall', ranks, 3, n)
  end subroutine

  ! Blocks of which every third is empty, with a gap behind each.
  subroutine irregular(comm, n)
    integer, intent(in) :: comm, n
    integer :: rank, ranks, r, i, ierr
    integer, allocatable :: counts(:), displs(:)
    double precision, allocatable :: own(:, :), got(:, :), want(:, :)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    allocate(own(n+3, 0:ranks-1), got(n+3, 0:ranks-1), want(n+3, 0:ranks-1))
    own = -1
    want = -2
    do r = 0, ranks - 1
       counts(r) = merge(0, n, mod(rank + r, 3) == 0)
       displs(r) = (n + 3) * r
       own(:n, r) = [(word(rank, r, i) * 0.5d0, i = 1, n)]
       want(:counts(r), r) = [(word(r, rank, i) * 0.5d0, i = 1, counts(r))]
    end do
    got = -2
    call mpi_alltoallv(own, counts, displs, MPI_DOUBLE_PRECISION, got, counts, displs, MPI_DOUBLE_PRECISION, comm, ierr)
    call check(ierr == MPI_SUCCESS .and. all(got == want), 'alltoallv')
    do r = 0, ranks - 1
       if (counts(r) > 0) got(:n, r) = own(:n, r)
    end do
    call mpi_alltoallv(MPI_IN_PLACE, counts, displs, MPI_DOUBLE_PRECISION, got, counts, displs, MPI_DOUBLE_PRECISION, &
         comm, ierr)
    call check(ierr == MPI_SUCCESS .and. all(got == want), 'alltoallv in place')
    call counted('alltoallv', ranks, 2, n)
  end subroutine

  ! How many of `all` columns or rows a rank has.
  pure function share(all, ranks, rank)
    integer, intent(in) :: all, ranks, rank
    integer :: share
    share = all / ranks + merge(1, 0, rank < mod(all, ranks))
  end function

  ! Every rank has some columns of a matrix, and gets some rows.
  subroutine transposed(comm, scale)
    integer, intent(in) :: comm, scale
    integer :: rank, ranks, rows, columns, r, i, j, ierr, row, column
    integer, allocatable :: own(:, :), got(:, :), ones(:), zeros(:), from(:), into(:), first_row(:), first_column(:)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    rows = 5 * ranks * scale + 2
    columns = 3 * ranks * scale + 1
    first_row = [(sum([(share(rows, ranks, i), i = 0, r - 1)]), r = 0, ranks - 1)]
    first_column = [(sum([(share(columns, ranks, i), i = 0, r - 1)]), r = 0, ranks - 1)]
    row = share(rows, ranks, rank)
    column = share(columns, ranks, rank)
    allocate(own(rows, column), got(row, columns), from(ranks), into(ranks))
    do j = 1, column
       own(:, j) = [(1000 * i + first_column(rank + 1) + j, i = 1, rows)]
    end do
    do r = 1, ranks
       call mpi_type_create_subarray(2, [rows, column], [share(rows, ranks, r - 1), column], [first_row(r), 0], &
            MPI_ORDER_FORTRAN, MPI_INTEGER, from(r), ierr)
       call mpi_type_commit(from(r), ierr)
       call mpi_type_create_subarray(2, [row, columns], [row, share(columns, ranks, r - 1)], [0, first_column(r)], &
            MPI_ORDER_FORTRAN, MPI_INTEGER, into(r), ierr)
       call mpi_type_commit(into(r), ierr)
    end do
    ones = [(1, r = 1, ranks)]
    zeros = 0 * ones
    got = -1
    call mpi_alltoallw(own, ones, zeros, from, got, ones, zeros, into, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, alltoallw')
    do j = 1, columns
       call check(all(got(:, j) == [(1000 * (first_row(rank + 1) + i) + j, i = 1, row)]), 'alltoallw of subarrays')
    end do
    call counted('alltoallw', ranks, 1, rows)
    do r = 1, ranks
       call mpi_type_free(from(r), ierr)
       call mpi_type_free(into(r), ierr)
    end do
  end subroutine

  subroutine everything(comm)
    integer, intent(in) :: comm
    call kinds(comm, 1)
    call kinds(comm, 2011)
    call irregular(comm, 5)
    call irregular(comm, 2003)
    call transposed(comm, 1)
    call transposed(comm, 17)
  end subroutine

end module

program a2a_usempi
  use calls
  implicit none
  integer :: ierr, rank, ranks, comm, total

  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierr)
  call begin(rank, ranks)
  call everything(MPI_COMM_WORLD)
  call mpi_comm_split(MPI_COMM_WORLD, 0, -rank, comm, ierr)
  call everything(comm)
  call mpi_comm_free(comm, ierr)
  call everything(MPI_COMM_SELF)

  call mpi_allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call mpi_finalize(ierr)
  if (total /= 0) stop 1
  if (rank == 0) print '(a)', 'PASS a2a_usempi'
end program
