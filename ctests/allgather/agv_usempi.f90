! MPI_Allgatherv and MPI_Allgather through "use mpi": equal, unequal and empty blocks, gaps between blocks, blocks in
! reverse order, MPI_IN_PLACE, types of several kinds, named and by precision, scalars, arrays of two dimensions, a
! derived type made from a Fortran type, MPI_BOTTOM, sub-communicators and MPI_COMM_SELF. The last line is
! "PASS agv_usempi", and the exit status 0, if all checks held on all ranks.
include 'frondof.h'

module calls
  use mpi
  use frondo
  implicit none

contains

  ! Integers, by both ways to send.
  subroutine whole(comm, shape)
    integer, intent(in) :: comm, shape
    integer :: rank, ranks, ierr, m, at
    integer, allocatable :: counts(:), displs(:), want(:), mine(:), got(:)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(shape, 1301, ranks, counts, displs, want)
    m = counts(rank)
    at = displs(rank)
    mine = block(rank, m)
    allocate(got(size(want)))

    got = -1
    call mpi_allgatherv(mine, m, MPI_INTEGER, got, counts, displs, MPI_INTEGER, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, whole')
    call check(all(got == want), 'blocks and gaps, whole')
    call check(all(mine == block(rank, m)), 'buffer sent from')

    got = -1
    got(at+1:at+m) = mine
    call mpi_allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, counts, displs, MPI_INTEGER, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, in place')
    call check(all(got == want), 'blocks and gaps, in place')
    call counted('allgatherv', ranks, 2, sum(counts))
  end subroutine

  ! Other kinds than those of default integers, with unequal blocks by MPI_Allgatherv and equal ones by MPI_Allgather.
  subroutine kinds(comm)
    integer, intent(in) :: comm
    integer, parameter :: short = selected_int_kind(2), long = selected_int_kind(18), fine = selected_real_kind(15, 307)
    integer, parameter :: n = 701
    integer :: rank, ranks, ierr, m, shape, long_type, fine_type, complex_type
    integer, allocatable :: counts(:), displs(:), want(:), mine(:)
    integer(short), allocatable :: shorts(:)
    integer(long), allocatable :: longs(:)
    real(fine), allocatable :: reals(:)
    complex(fine), allocatable :: pairs(:)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    call mpi_type_create_f90_integer(18, long_type, ierr)
    call mpi_type_create_f90_real(15, 307, fine_type, ierr)
    call mpi_type_create_f90_complex(15, 307, complex_type, ierr)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    do shape = 1, 2
       call blocks(shape, n, ranks, counts, displs, want)
       m = counts(rank)
       mine = block(rank, m)
       allocate(shorts(size(want)), longs(size(want)), reals(size(want)), pairs(size(want)))
       shorts = -1
       longs = -2_long**40
       reals = -0.25_fine
       pairs = cmplx(-1, 1, fine)
       if (shape == 1) then
          call mpi_allgather(small(mine), m, MPI_INTEGER1, shorts, m, MPI_INTEGER1, comm, ierr)
          call check(ierr == MPI_SUCCESS, 'success, short integers')
          call mpi_allgather(mine * 2_long**40, m, long_type, longs, m, long_type, comm, ierr)
          call mpi_allgather(mine * 0.25_fine, m, fine_type, reals, m, fine_type, comm, ierr)
          call mpi_allgather(cmplx(mine, -mine, fine), m, complex_type, pairs, m, complex_type, comm, ierr)
          call check(ierr == MPI_SUCCESS, 'success, complex numbers')
          call counted('allgather', ranks, 4, sum(counts))
       else
          call mpi_allgatherv(small(mine), m, MPI_INTEGER1, shorts, counts, displs, MPI_INTEGER1, comm, ierr)
          call check(ierr == MPI_SUCCESS, 'success, short integers')
          call mpi_allgatherv(mine * 2_long**40, m, long_type, longs, counts, displs, long_type, comm, ierr)
          call mpi_allgatherv(mine * 0.25_fine, m, fine_type, reals, counts, displs, fine_type, comm, ierr)
          call mpi_allgatherv(cmplx(mine, -mine, fine), m, complex_type, pairs, counts, displs, complex_type, comm, &
               ierr)
          call check(ierr == MPI_SUCCESS, 'success, complex numbers')
          call counted('allgatherv', ranks, 4, sum(counts))
       end if
       ! -1, in the gaps, gives what was there before in each kind.
       call check(all(shorts == small(want)), 'short integers')
       call check(all(longs == want * 2_long**40), 'long integers')
       call check(all(reals == want * 0.25_fine), 'reals')
       call check(all(pairs == cmplx(want, -want, fine)), 'complex numbers')
       deallocate(shorts, longs, reals, pairs)
    end do

  contains

    pure function small(numbers)
      integer, intent(in) :: numbers(:)
      integer(short) :: small(size(numbers))
      small = int(mod(numbers, 127), short)
    end function

  end subroutine

  ! One number of each rank, and nothing of each rank.
  subroutine scalars(comm)
    integer, intent(in) :: comm
    integer :: rank, ranks, ierr, r
    integer, allocatable :: got(:)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    allocate(got(0:ranks-1))
    got = -1
    call mpi_allgather(rank, 0, MPI_INTEGER, got, 0, MPI_INTEGER, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, nothing')
    call check(all(got == -1), 'nothing')
    call counted('allgather', ranks, 1, 0)
    call mpi_allgather(1000 + rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, scalars')
    call check(all(got == [(1000 + r, r = 0, ranks - 1)]), 'scalars')
    got = -1
    got(rank) = 2000 + rank
    call mpi_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, 1, MPI_INTEGER, comm, ierr)
    call check(all(got == [(2000 + r, r = 0, ranks - 1)]), 'scalars in place')
    call counted('allgather', ranks, 2, ranks)
  end subroutine

  ! A matrix of which each rank owns some columns. The unit is a column: a type of contiguous elements.
  subroutine columns(comm)
    integer, intent(in) :: comm
    integer, parameter :: rows = 211
    integer :: rank, ranks, ierr, m, i, column
    integer, allocatable :: counts(:), displs(:), want(:)
    real, allocatable :: mine(:, :), matrix(:, :)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    call mpi_type_contiguous(rows, MPI_REAL, column, ierr)
    call mpi_type_commit(column, ierr)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(2, 5, ranks, counts, displs, want)
    m = counts(rank)
    allocate(mine(rows, m), matrix(rows, size(want)))
    do i = 1, rows
       mine(i, :) = block(rank, m) + 0.5 * mod(i, 8)
    end do
    matrix = -9
    call mpi_allgatherv(mine, rows * m, MPI_REAL, matrix, counts, displs, column, comm, ierr)
    call counted('allgatherv', ranks, 1, sum(counts))
    do i = 1, rows
       call check(all(matrix(i, :) == merge(want + 0.5 * mod(i, 8), -9.0, want >= 0)), 'columns')
    end do
    call mpi_type_free(column, ierr)
  end subroutine

  ! A Fortran type with a gap at its end, as a struct resized to the type's extent.
  subroutine derived(comm, shape)
    integer, intent(in) :: comm, shape
    type particle
       sequence
       double precision :: position(3)
       integer :: kind
       integer :: untouched
    end type
    type(particle), allocatable :: mine(:), list(:)
    integer, allocatable :: counts(:), displs(:), want(:)
    integer :: rank, ranks, ierr, m, i, s, t, lengths(2), types(2)
    integer(MPI_ADDRESS_KIND) :: at(2), base, next

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(shape, 201, ranks, counts, displs, want)
    m = counts(rank)
    ! Two elements more than needed, to measure their distance and to have an address where there is no data.
    allocate(mine(m+2), list(size(want)+2))
    mine(:)%kind = block(rank, m + 2)
    mine(:)%untouched = 100 * rank + 4
    list(:)%kind = -1
    list(:)%untouched = 100 * rank + 3
    do i = 1, 3
       mine(:)%position(i) = block(rank, m + 2) * 0.25d0 * i
       list(:)%position(i) = -0.25d0 * i
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
    call mpi_allgatherv(mine(1)%position, m, t, list(1)%position, counts, displs, t, comm, ierr)
    call counted('allgatherv', ranks, 1, sum(counts))
    call compare
    if (shape == 1) then
       list(:)%kind = -1
       call mpi_allgather(mine(1)%position, m, t, list(1)%position, m, t, comm, ierr)
       call counted('allgather', ranks, 1, sum(counts))
       call compare
    end if
    call mpi_type_free(t, ierr)
    call mpi_type_free(s, ierr)

  contains

    subroutine compare
      do i = 1, 3
         call check(all(list(:size(want))%position(i) == want * 0.25d0 * i), 'positions')
      end do
      call check(all(list(:size(want))%kind == want), 'kinds')
      call check(all(list(:)%untouched == 100 * rank + 3), 'untouched')
    end subroutine

  end subroutine

  ! From MPI_BOTTOM, with the absolute address of the first element of an array in a type that is one element wide.
  subroutine bottom(comm, shape)
    integer, intent(in) :: comm, shape
    double precision, asynchronous, allocatable :: double(:), mine(:)
    integer, allocatable :: counts(:), displs(:), want(:)
    integer :: rank, ranks, ierr, m, from, into
    integer(MPI_ADDRESS_KIND) :: at(1)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(shape, 901, ranks, counts, displs, want)
    m = counts(rank)
    ! An element more than needed, to have an address where there is no data.
    allocate(mine(m+1), double(size(want)+1))
    mine = block(rank, m + 1) * 0.25d0
    call mpi_get_address(mine, at(1), ierr)
    call absolute(at, from)
    call mpi_get_address(double, at(1), ierr)
    call absolute(at, into)

    double(:size(want)) = -0.25d0
    call mpi_allgatherv(MPI_BOTTOM, m, from, MPI_BOTTOM, counts, displs, into, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, bottom')
    call check(all(double(:size(want)) == want * 0.25d0), 'bottom')
    double(:size(want)) = -0.25d0
    double(displs(rank)+1:displs(rank)+m) = mine(:m)
    call mpi_allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, MPI_BOTTOM, counts, displs, into, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, bottom in place')
    call check(all(double(:size(want)) == want * 0.25d0), 'bottom in place')
    call counted('allgatherv', ranks, 2, sum(counts))
    call mpi_type_free(from, ierr)
    call mpi_type_free(into, ierr)
  end subroutine

  subroutine absolute(at, t)
    integer(MPI_ADDRESS_KIND), intent(in) :: at(1)
    integer, intent(out) :: t
    integer :: ierr, h
    call mpi_type_create_hindexed(1, [1], at, MPI_DOUBLE_PRECISION, h, ierr)
    call mpi_type_create_resized(h, 0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND, t, ierr)
    call mpi_type_commit(t, ierr)
    call mpi_type_free(h, ierr)
  end subroutine

end module

program agv_usempi
  use calls
  implicit none
  integer :: ierr, rank, ranks, shape, comm, total

  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierr)
  call begin(rank, ranks)
  do shape = 1, 7
     call whole(MPI_COMM_WORLD, shape)
     call derived(MPI_COMM_WORLD, shape)
     call bottom(MPI_COMM_WORLD, shape)
  end do
  call kinds(MPI_COMM_WORLD)
  call scalars(MPI_COMM_WORLD)
  call columns(MPI_COMM_WORLD)
  call mpi_comm_split(MPI_COMM_WORLD, 0, -rank, comm, ierr)
  call whole(comm, 2)
  call scalars(comm)
  call columns(comm)
  call mpi_comm_free(comm, ierr)
  call mpi_comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm, ierr)
  call derived(comm, 4)
  call kinds(comm)
  call mpi_comm_free(comm, ierr)
  call whole(MPI_COMM_SELF, 1)
  call scalars(MPI_COMM_SELF)

  call mpi_allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call mpi_finalize(ierr)
  if (total /= 0) stop 1
  if (rank == 0) print '(a)', 'PASS agv_usempi'
end program
