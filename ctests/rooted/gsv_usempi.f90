! MPI_Gatherv, MPI_Scatterv, MPI_Gather and MPI_Scatter through "use mpi", from and to every root: equal, unequal and
! empty blocks, gaps between blocks, blocks in other orders than that of the ranks, MPI_IN_PLACE, types of several
! kinds, named and by precision, scalars, arrays of two dimensions and their sections, a derived type made from a
! Fortran type for a rank's own block, MPI_BOTTOM, sub-communicators. Arguments that a rank must ignore are such that
! nobody can use them; memory that nothing is received into stays as it was. The last line is "PASS gsv_usempi", and
! the exit status 0, if all checks held on all ranks.
include 'frondof.h'

module calls
  use mpi
  use frondo
  implicit none

contains

  ! Integers, with a buffer of its own for the root's block and in place. Each rank has an element before and one behind
  ! its block. Other ranks than the root have memory for all blocks as well, and pass it with counts below none and
  ! without a type.
  subroutine whole(comm, shape)
    integer, intent(in) :: comm, shape
    integer :: rank, ranks, root, m, at, t, ierr
    integer, allocatable :: counts(:), displs(:), want(:), c(:), d(:), mine(:), theirs(:), own(:), full(:)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(shape, 401, ranks, counts, displs, want)
    m = counts(rank)
    at = displs(rank)
    allocate(full(size(want)))
    do root = 0, ranks - 1
       mine = [-5, marked(block(rank, m), root), -5]
       if (rank == root) then
          theirs = marked(want, root)
          c = counts
          d = displs
          t = MPI_INTEGER
       else
          theirs = 0 * want - 1
          c = [-1]
          d = [-1]
          t = MPI_DATATYPE_NULL
       end if

       own = mine
       full = -1
       call mpi_gatherv(own(2), m, MPI_INTEGER, full, c, d, t, root, comm, ierr)
       call check(ierr == MPI_SUCCESS, 'success, gatherv')
       call check(all(full == theirs), 'blocks and gaps, gatherv')
       call check(all(own == mine), 'buffer sent from, gatherv')
       full = -1
       if (rank == root) then
          full(at+1:at+m) = mine(2:m+1)
          call mpi_gatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, full, c, d, t, root, comm, ierr)
       else
          call mpi_gatherv(own(2), m, MPI_INTEGER, full, c, d, t, root, comm, ierr)
       end if
       call check(ierr == MPI_SUCCESS, 'success, gatherv in place')
       call check(all(full == theirs), 'blocks and gaps, gatherv in place')

       own = -5
       full = theirs
       call mpi_scatterv(full, c, d, t, own(2), m, MPI_INTEGER, root, comm, ierr)
       call check(ierr == MPI_SUCCESS, 'success, scatterv')
       call check(all(own == mine), 'own block, scatterv')
       call check(all(full == theirs), 'buffer sent from, scatterv')
       own = -5
       if (rank == root) then
          mine = -5
          call mpi_scatterv(full, c, d, t, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, comm, ierr)
       else
          call mpi_scatterv(full, c, d, t, own(2), m, MPI_INTEGER, root, comm, ierr)
       end if
       call check(ierr == MPI_SUCCESS, 'success, scatterv in place')
       call check(all(own == mine), 'own block, scatterv in place')
       call check(all(full == theirs), 'buffer sent from, scatterv in place')
    end do
    call counted('gatherv', ranks, 2 * ranks, sum(counts))
    call counted('scatterv', ranks, 2 * ranks, sum(counts))
  end subroutine

  ! Other kinds than those of default integers, each gathered and scattered again: equal blocks by the regular
  ! functions, unequal ones by the others.
  subroutine kinds(comm, root)
    integer, intent(in) :: comm, root
    integer, parameter :: short = selected_int_kind(2), long = selected_int_kind(18), fine = selected_real_kind(15, 307)
    integer :: rank, ranks, ierr, m, shape, long_type, fine_type, complex_type
    integer, allocatable :: counts(:), displs(:), want(:), mine(:), theirs(:)
    integer(short), allocatable :: shorts(:), my_shorts(:)
    integer(long), allocatable :: longs(:), my_longs(:)
    real(fine), allocatable :: reals(:), my_reals(:)
    complex(fine), allocatable :: pairs(:), my_pairs(:)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    call mpi_type_create_f90_integer(18, long_type, ierr)
    call mpi_type_create_f90_real(15, 307, fine_type, ierr)
    call mpi_type_create_f90_complex(15, 307, complex_type, ierr)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    do shape = 1, 7, 6
       call blocks(shape, 211, ranks, counts, displs, want)
       m = counts(rank)
       mine = block(rank, m)
       theirs = want
       if (rank /= root) theirs = -1
       allocate(shorts(size(want)), longs(size(want)), reals(size(want)), pairs(size(want)))
       allocate(my_shorts(m), my_longs(m), my_reals(m), my_pairs(m))
       shorts = -1
       longs = -2_long**40
       reals = -0.25_fine
       pairs = cmplx(-1, 1, fine)
       if (shape == 1) then
          call mpi_gather(small(mine), m, MPI_INTEGER1, shorts, m, MPI_INTEGER1, root, comm, ierr)
          call mpi_gather(mine * 2_long**40, m, long_type, longs, m, long_type, root, comm, ierr)
          call mpi_gather(mine * 0.25_fine, m, fine_type, reals, m, fine_type, root, comm, ierr)
          call mpi_gather(cmplx(mine, -mine, fine), m, complex_type, pairs, m, complex_type, root, comm, ierr)
          call counted('gather', ranks, 4, m)
       else
          call mpi_gatherv(small(mine), m, MPI_INTEGER1, shorts, counts, displs, MPI_INTEGER1, root, comm, ierr)
          call mpi_gatherv(mine * 2_long**40, m, long_type, longs, counts, displs, long_type, root, comm, ierr)
          call mpi_gatherv(mine * 0.25_fine, m, fine_type, reals, counts, displs, fine_type, root, comm, ierr)
          call mpi_gatherv(cmplx(mine, -mine, fine), m, complex_type, pairs, counts, displs, complex_type, root, comm, &
               ierr)
          call counted('gatherv', ranks, 4, sum(counts))
       end if
       ! -1, in the gaps, gives what was there before in each kind.
       call check(all(shorts == small(theirs)), 'short integers')
       call check(all(longs == theirs * 2_long**40), 'long integers')
       call check(all(reals == theirs * 0.25_fine), 'reals')
       call check(all(pairs == cmplx(theirs, -theirs, fine)), 'complex numbers')

       my_shorts = -7
       my_longs = -7
       my_reals = -7
       my_pairs = -7
       if (shape == 1) then
          call mpi_scatter(shorts, m, MPI_INTEGER1, my_shorts, m, MPI_INTEGER1, root, comm, ierr)
          call mpi_scatter(longs, m, long_type, my_longs, m, long_type, root, comm, ierr)
          call mpi_scatter(reals, m, fine_type, my_reals, m, fine_type, root, comm, ierr)
          call mpi_scatter(pairs, m, complex_type, my_pairs, m, complex_type, root, comm, ierr)
          call counted('scatter', ranks, 4, m)
       else
          call mpi_scatterv(shorts, counts, displs, MPI_INTEGER1, my_shorts, m, MPI_INTEGER1, root, comm, ierr)
          call mpi_scatterv(longs, counts, displs, long_type, my_longs, m, long_type, root, comm, ierr)
          call mpi_scatterv(reals, counts, displs, fine_type, my_reals, m, fine_type, root, comm, ierr)
          call mpi_scatterv(pairs, counts, displs, complex_type, my_pairs, m, complex_type, root, comm, ierr)
          call counted('scatterv', ranks, 4, sum(counts))
       end if
       call check(all(my_shorts == small(mine)), 'own short integers')
       call check(all(my_longs == mine * 2_long**40), 'own long integers')
       call check(all(my_reals == mine * 0.25_fine), 'own reals')
       call check(all(my_pairs == cmplx(mine, -mine, fine)), 'own complex numbers')
       deallocate(shorts, longs, reals, pairs, my_shorts, my_longs, my_reals, my_pairs)
    end do

  contains

    pure function small(numbers)
      integer, intent(in) :: numbers(:)
      integer(short) :: small(size(numbers))
      small = int(mod(numbers, 127), short)
    end function

  end subroutine

  ! One number for each rank, and nothing for each rank.
  subroutine scalars(comm)
    integer, intent(in) :: comm
    integer :: rank, ranks, root, ierr, mine, r
    integer, allocatable :: theirs(:), full(:)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    allocate(full(0:ranks-1), theirs(0:ranks-1))
    do root = 0, ranks - 1
       theirs = -1
       if (rank == root) theirs = [(1000 * (root + 1) + r, r = 0, ranks - 1)]
       full = -1
       mine = -5
       call mpi_gather(rank, 0, MPI_INTEGER, full, 0, MPI_INTEGER, root, comm, ierr)
       call mpi_scatter(full, 0, MPI_INTEGER, mine, 0, MPI_INTEGER, root, comm, ierr)
       call check(all(full == -1) .and. mine == -5, 'nothing')
       call counted('gather', ranks, 1, 0)
       call counted('scatter', ranks, 1, 0)

       call mpi_gather(1000 * (root + 1) + rank, 1, MPI_INTEGER, full, 1, MPI_INTEGER, root, comm, ierr)
       call check(all(full == theirs), 'scalars, gather')
       call mpi_scatter(theirs, 1, MPI_INTEGER, mine, 1, MPI_INTEGER, root, comm, ierr)
       call check(mine == 1000 * (root + 1) + rank, 'scalar, scatter')
       full = -1
       if (rank == root) then
          full(rank) = mine
          call mpi_gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, full, 1, MPI_INTEGER, root, comm, ierr)
          call mpi_scatter(theirs, 1, MPI_INTEGER, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, comm, ierr)
       else
          mine = -5
          call mpi_gather(1000 * (root + 1) + rank, 1, MPI_INTEGER, full, -1, MPI_DATATYPE_NULL, root, comm, ierr)
          call mpi_scatter(full, -1, MPI_DATATYPE_NULL, mine, 1, MPI_INTEGER, root, comm, ierr)
       end if
       call check(all(full == theirs), 'scalars, gather in place')
       call check(mine == 1000 * (root + 1) + rank, 'scalar, scatter in place')
       call counted('gather', ranks, 2, 1)
       call counted('scatter', ranks, 2, 1)
    end do
  end subroutine

  ! A matrix of which each rank owns some columns. The root's unit is a column, a type of contiguous elements; the other
  ! side has them as every second column, and without their first and last element, of a wider matrix: a section.
  subroutine columns(comm)
    integer, intent(in) :: comm
    integer, parameter :: rows = 61
    integer :: rank, ranks, root, ierr, m, i, column
    integer, allocatable :: counts(:), displs(:), want(:), theirs(:)
    real, allocatable :: mine(:, :), own(:, :), matrix(:, :)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    call mpi_type_contiguous(rows, MPI_REAL, column, ierr)
    call mpi_type_commit(column, ierr)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(7, 5, ranks, counts, displs, want)
    m = counts(rank)
    allocate(mine(0:rows+1, 2*m), own(0:rows+1, 2*m), matrix(rows, size(want)))
    mine = -9
    do i = 1, rows
       mine(i, 2::2) = block(rank, m) + 0.5 * mod(i, 8)
    end do
    do root = 0, ranks - 1
       theirs = want
       if (rank /= root) theirs = -1
       own = mine
       matrix = -9
       call mpi_gatherv(own(1:rows, 2::2), rows * m, MPI_REAL, matrix, counts, displs, column, root, comm, ierr)
       call compare
       call check(all(own == mine), 'matrix sent from')
       own = -9
       call mpi_scatterv(matrix, counts, displs, column, own(1:rows, 2::2), rows * m, MPI_REAL, root, comm, ierr)
       call check(all(own == mine), 'own columns')
       call compare
    end do
    call counted('gatherv', ranks, ranks, sum(counts))
    call counted('scatterv', ranks, ranks, sum(counts))
    call mpi_type_free(column, ierr)

  contains

    subroutine compare
      do i = 1, rows
         call check(all(matrix(i, :) == merge(theirs + 0.5 * mod(i, 8), -9.0, theirs >= 0)), 'columns')
      end do
    end subroutine

  end subroutine

  ! Each rank's own block is of a Fortran type, whose elements are not everything that there is; the root has the same
  ! numbers one behind the other, in a type without gaps.
  subroutine derived(comm, shape)
    integer, intent(in) :: comm, shape
    type particle
       sequence
       double precision :: position(3)
       double precision :: untouched
       double precision :: charge
    end type
    integer, parameter :: numbers = 4
    type(particle), allocatable :: own(:)
    double precision, allocatable :: full(:, :)
    integer, allocatable :: counts(:), displs(:), want(:), mine(:), theirs(:)
    integer :: rank, ranks, root, ierr, m, n, i, s, t, dense
    integer(MPI_ADDRESS_KIND) :: at(2), base, next

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(shape, 71, ranks, counts, displs, want)
    m = counts(rank)
    n = size(want)
    mine = block(rank, m)
    ! Two elements more than needed, to measure their distance and to have an address where there is no data.
    allocate(own(m+2), full(numbers, n))
    call mpi_get_address(own(1)%position, base, ierr)
    call mpi_get_address(own(1)%charge, at(2), ierr)
    call mpi_get_address(own(2)%position, next, ierr)
    at(1) = 0
    at(2) = at(2) - base
    call mpi_type_create_hindexed(2, [3, 1], at, MPI_DOUBLE_PRECISION, s, ierr)
    call mpi_type_create_resized(s, 0_MPI_ADDRESS_KIND, next - base, t, ierr)
    call mpi_type_commit(t, ierr)
    call mpi_type_contiguous(numbers, MPI_DOUBLE_PRECISION, dense, ierr)
    call mpi_type_commit(dense, ierr)

    do root = 0, ranks - 1
       theirs = want
       if (rank /= root) theirs = -1
       call set(.true.)
       full = -1
       call mpi_gatherv(own(1)%position, m, t, full, counts, displs, dense, root, comm, ierr)
       call compare
       call set(.false.)
       call mpi_scatterv(full, counts, displs, dense, own(1)%position, m, t, root, comm, ierr)
       call compare
       if (shape /= 1) cycle
       full = -1
       call mpi_gather(own(1)%position, m, t, full, m, dense, root, comm, ierr)
       call compare
       call set(.false.)
       call mpi_scatter(full, m, dense, own(1)%position, m, t, root, comm, ierr)
       call compare
    end do
    call counted('gatherv', ranks, ranks, sum(counts))
    call counted('scatterv', ranks, ranks, sum(counts))
    if (shape == 1) call counted('gather', ranks, ranks, m)
    if (shape == 1) call counted('scatter', ranks, ranks, m)
    call mpi_type_free(t, ierr)
    call mpi_type_free(s, ierr)
    call mpi_type_free(dense, ierr)

  contains

    ! The own block as it is to be, or without its data.
    subroutine set(data)
      logical, intent(in) :: data
      own(:)%untouched = 100 * rank + 4
      own(:)%charge = -5
      do i = 1, 3
         own(:)%position(i) = -5
         if (data) own(:m)%position(i) = mine * 0.25d0 * i
      end do
      if (data) own(:m)%charge = mine
    end subroutine

    subroutine compare
      do i = 1, 3
         call check(all(own(:m)%position(i) == mine * 0.25d0 * i), 'own positions')
         call check(all(own(m+1:)%position(i) == -5), 'positions behind')
         call check(all(full(i, :) == merge(theirs * 0.25d0 * i, -1d0, theirs >= 0)), 'positions')
      end do
      call check(all(own(:m)%charge == mine) .and. all(own(m+1:)%charge == -5), 'own charges')
      call check(all(full(numbers, :) == theirs), 'charges')
      call check(all(own(:)%untouched == 100 * rank + 4), 'untouched')
    end subroutine

  end subroutine

  ! All blocks and the rank's own one are at MPI_BOTTOM, by types with the address of the first element.
  subroutine bottom(comm, shape)
    integer, intent(in) :: comm, shape
    real, asynchronous, allocatable :: own(:), full(:)
    integer, allocatable :: counts(:), displs(:), want(:), theirs(:), mine(:)
    integer :: rank, ranks, root, ierr, m, n, from, to

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(shape, 101, ranks, counts, displs, want)
    m = counts(rank)
    n = size(want)
    mine = block(rank, m)
    ! An element more than needed, to have an address where there is no data.
    allocate(own(m+1), full(n+1))
    call absolute(own, from)
    call absolute(full, to)
    do root = 0, ranks - 1
       theirs = want
       if (rank /= root) theirs = -1
       own = -7
       own(:m) = mine * 0.5
       full = -0.5
       call mpi_gatherv(MPI_BOTTOM, m, from, MPI_BOTTOM, counts, displs, to, root, comm, ierr)
       call check(all(full == [theirs, -1] * 0.5), 'into bottom')
       own = -7
       call mpi_scatterv(MPI_BOTTOM, counts, displs, to, MPI_BOTTOM, m, from, root, comm, ierr)
       call check(all(own(:m) == mine * 0.5) .and. own(m+1) == -7, 'from bottom')
       call check(all(full == [theirs, -1] * 0.5), 'bottom sent from')
       if (rank == root) then
          full = -0.5
          full(displs(rank)+1:displs(rank)+m) = own(:m)
          call mpi_gatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, MPI_BOTTOM, counts, displs, to, root, comm, ierr)
       else
          call mpi_gatherv(own, m, MPI_REAL, MPI_BOTTOM, counts, displs, to, root, comm, ierr)
       end if
       call check(all(full == [theirs, -1] * 0.5), 'in place in bottom')
    end do
    call counted('gatherv', ranks, 2 * ranks, sum(counts))
    call counted('scatterv', ranks, ranks, sum(counts))
    call mpi_type_free(from, ierr)
    call mpi_type_free(to, ierr)
  end subroutine

  subroutine absolute(buffer, t)
    real, asynchronous, intent(in) :: buffer(*)
    integer, intent(out) :: t
    integer :: ierr
    integer(MPI_ADDRESS_KIND) :: at(1)
    call mpi_get_address(buffer, at(1), ierr)
    call mpi_type_create_hindexed(1, [1], at, MPI_REAL, t, ierr)
    call mpi_type_commit(t, ierr)
  end subroutine

end module

program gsv_usempi
  use calls
  implicit none
  integer :: ierr, rank, ranks, shape, root, comm, total

  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierr)
  call begin(rank, ranks)
  do shape = 1, 7
     call whole(MPI_COMM_WORLD, shape)
     call derived(MPI_COMM_WORLD, shape)
     call bottom(MPI_COMM_WORLD, shape)
  end do
  do root = 0, ranks - 1
     call kinds(MPI_COMM_WORLD, root)
  end do
  call scalars(MPI_COMM_WORLD)
  call columns(MPI_COMM_WORLD)
  call mpi_comm_split(MPI_COMM_WORLD, 0, -rank, comm, ierr)
  call whole(comm, 7)
  call scalars(comm)
  call columns(comm)
  call mpi_comm_free(comm, ierr)
  call mpi_comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm, ierr)
  call derived(comm, 4)
  call kinds(comm, 0)
  call mpi_comm_free(comm, ierr)
  call whole(MPI_COMM_SELF, 1)
  call scalars(MPI_COMM_SELF)

  call mpi_allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call mpi_finalize(ierr)
  if (total /= 0) stop 1
  if (rank == 0) print '(a)', 'PASS gsv_usempi'
end program
