! Reductions, scans and barriers through "use mpi": named types, MPI_IN_PLACE, an operator of the user's own that does
! not commute, sub-communicators.
! The last line is "PASS red_usempi", and the exit status 0, if all checks held on all ranks.
include 'frondof.h'

module calls
  use mpi
  use frondo
  implicit none

contains

  ! Operands, which all ranks know.
  pure function operand(rank, n)
    integer, intent(in) :: rank, n
    integer operand(n), i
    do i = 1, n
       operand(i) = mod(rank * 31 + i * 7, 1009) - 300
    end do
  end function

  ! The sum of ranks 0 to upto, which is not among them.
  pure function summed(upto, n)
    integer, intent(in) :: upto, n
    integer summed(n), r
    summed = 0
    do r = 0, upto - 1
       summed = summed + operand(r, n)
    end do
  end function

  ! Maps x -> a x + b modulo a prime, one after the other.
  pure function after(first, then)
    integer, intent(in) :: first(2), then(2)
    integer after(2)
    after(1) = mod(first(1) * then(1), 10007)
    after(2) = mod(first(2) * then(1) + then(2), 10007)
  end function

  pure function map(rank, i)
    integer, intent(in) :: rank, i
    integer map(2)
    map(1) = 2 + mod(rank * 17 + i, 5000)
    map(2) = mod(rank * 29 + 3 * i, 5000)
  end function

  ! Those of ranks 0 to upto, which is not among them, for the elements behind element `from`.
  pure function composed(upto, from, n)
    integer, intent(in) :: upto, from, n
    integer composed(2, n), r, i
    do i = 1, n
       composed(:, i) = map(0, from + i)
       do r = 1, upto - 1
          composed(:, i) = after(composed(:, i), map(r, from + i))
       end do
    end do
  end function

  subroutine everything(comm)
    integer comm, ranks, ierr, i, root, lengths(4)
    data lengths / 0, 1, 13, 5003 /
    call mpi_comm_size(comm, ranks, ierr)
    ! The long vectors have root 0: MPICH by itself crashes in place at others.
    do i = 1, 4
       root = mod(i, ranks)
       if (i == 4) root = 0
       call sums(comm, lengths(i), root)
       call parts(comm, lengths(i))
    end do
    call named(comm, 1)
    call named(comm, 107)
    call own(comm, 1)
    call own(comm, 207)
    call mpi_barrier(comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, barrier')
    call counted('barrier', ranks, 1, 1)
  end subroutine

  ! Sums of n integers, in place and not.
  subroutine sums(comm, n, root)
    integer comm, n, root, rank, ranks, ierr
    integer, allocatable :: mine(:), got(:), want(:)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    mine = operand(rank, n)
    want = summed(ranks, n)
    allocate(got(n))

    got = -1
    call mpi_allreduce(mine, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, allreduce')
    call check(all(got == want), 'allreduce')
    got = mine
    call mpi_allreduce(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success in place')
    call check(all(got == want), 'allreduce in place')
    call counted('allreduce', ranks, 2, n)

    got = -1
    call mpi_reduce(mine, got, n, MPI_INTEGER, MPI_SUM, root, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, reduce')
    if (rank == root) call check(all(got == want), 'reduce')
    if (rank /= root) call check(all(got == -1), 'off the root')
    got = mine
    if (rank == root) then
       call mpi_reduce(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, root, comm, ierr)
       call check(all(got == want), 'reduce in place')
    else
       call mpi_reduce(mine, got, n, MPI_INTEGER, MPI_SUM, root, comm, ierr)
       call check(all(got == mine), 'off the root in place')
    end if
    call counted('reduce', ranks, 2, n)

    want = summed(rank + 1, n)
    got = -1
    call mpi_scan(mine, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, scan')
    call check(all(got == want), 'scan')
    got = mine
    call mpi_scan(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(all(got == want), 'scan in place')
    call counted('scan', ranks, 2, n)

    ! Rank 0 gets nothing.
    want = summed(rank, n)
    if (rank == 0) want = -1
    got = -1
    call mpi_exscan(mine, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, exscan')
    call check(all(got == want), 'exscan')
    got = mine
    call mpi_exscan(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    if (rank > 0) call check(all(got == want), 'exscan in place')
    call counted('exscan', ranks, 2, n)
    call check(all(mine == operand(rank, n)), 'buffer sent from')
  end subroutine

  ! Each rank gets a part of the sum: n elements, and by turns n, none
  ! and twice n.
  subroutine parts(comm, n)
    integer comm, n, rank, ranks, ierr, r, at, m
    integer, allocatable :: mine(:), got(:), want(:), counts(:)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    m = n * ranks
    at = n * rank
    mine = operand(rank, m)
    want = summed(ranks, m)
    allocate(got(m))
    got = -1
    call mpi_reduce_scatter_block(mine, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, block')
    call check(all(got(:n) == want(at+1:at+n)), 'block')
    call check(all(got(n+1:) == -1), 'beyond the block')
    got = mine
    call mpi_reduce_scatter_block(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(all(got(:n) == want(at+1:at+n)), 'block in place')
    call counted('reduce_scatter_block', ranks, 2, n)

    allocate(counts(0:ranks-1))
    do r = 0, ranks - 1
       counts(r) = mod(r + 1, 3) * n
    end do
    at = sum(counts(:rank-1))
    m = counts(rank)
    mine = operand(rank, sum(counts))
    want = summed(ranks, sum(counts))
    deallocate(got)
    allocate(got(sum(counts)))
    got = -1
    call mpi_reduce_scatter(mine, got, counts, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, reduce_scatter')
    call check(all(got(:m) == want(at+1:at+m)), 'reduce_scatter')
    call check(all(got(m+1:) == -1), 'beyond the part')
    got = mine
    call mpi_reduce_scatter(MPI_IN_PLACE, got, counts, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(all(got(:m) == want(at+1:at+m)), 'part in place')
    call counted('reduce_scatter', ranks, 2, sum(counts))
  end subroutine

  ! Types that only Fortran has. All results are exact.
  subroutine named(comm, n)
    integer comm, n, rank, ranks, r, i, ierr, at
    integer every(n, 0:63), pair(2, n), gpair(2, n)
    double precision double(n), gdouble(n), place(2, n), gplace(2, n)
    complex number(n), gnumber(n)
    logical truth(n), gtruth(n)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    do r = 0, ranks - 1
       every(:, r) = operand(r, n)
    end do

    double = every(:, rank) * 0.25d0
    call mpi_allreduce(double, gdouble, n, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, named')
    call check(all(gdouble == summed(ranks, n) * 0.25d0), 'double')
    truth = mod(every(:, rank), 8) /= 0
    call mpi_allreduce(truth, gtruth, n, MPI_LOGICAL, MPI_LAND, comm, ierr)
    do i = 1, n
       call check(gtruth(i) .eqv. all(mod(every(i, :ranks-1), 8) /= 0), 'logical')
    end do
    number = cmplx(every(:, rank), -2 * every(:, rank))
    call mpi_allreduce(number, gnumber, n, MPI_COMPLEX, MPI_SUM, comm, ierr)
    call check(all(gnumber == cmplx(summed(ranks, n), -2 * summed(ranks, n))), 'complex')

    ! The largest with its rank: of several equal ones the first.
    place(1, :) = every(:, rank) / 10 * 0.5d0
    place(2, :) = rank
    call mpi_allreduce(place, gplace, n, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, comm, ierr)
    pair(1, :) = every(:, rank) / 10
    pair(2, :) = rank
    call mpi_allreduce(pair, gpair, n, MPI_2INTEGER, MPI_MINLOC, comm, ierr)
    do i = 1, n
       at = maxloc(every(i, :ranks-1) / 10, 1) - 1
       call check(gplace(1, i) == every(i, at) / 10 * 0.5d0, 'max')
       call check(nint(gplace(2, i)) == at, 'place of the largest')
       at = minloc(every(i, :ranks-1) / 10, 1) - 1
       call check(gpair(1, i) == every(i, at) / 10, 'min')
       call check(gpair(2, i) == at, 'place of the smallest')
    end do
    call counted('allreduce', ranks, 5, n)

    call mpi_reduce(double, gdouble, n, MPI_DOUBLE_PRECISION, MPI_MAX, ranks - 1, comm, ierr)
    if (rank == ranks - 1) call check(all(gdouble == maxval(every(:, :ranks-1), 2) * 0.25d0), 'reduce, double')
    call counted('reduce', ranks, 1, n)
    call mpi_scan(number, gnumber, n, MPI_COMPLEX, MPI_SUM, comm, ierr)
    call check(all(gnumber == cmplx(summed(rank + 1, n), -2 * summed(rank + 1, n))), 'scan, complex')
    call counted('scan', ranks, 1, n)
    call mpi_exscan(double, gdouble, n, MPI_DOUBLE_PRECISION, MPI_MIN, comm, ierr)
    if (rank > 0) call check(all(gdouble == minval(every(:, :rank-1), 2) * 0.25d0), 'exscan, double')
    call counted('exscan', ranks, 1, n)
  end subroutine

  ! The operator: right = left, then right.
  subroutine compose(left, right, length, datatype)
    integer length, datatype, left(2, length), right(2, length)
    integer i, bytes, ierr
    call mpi_type_size(datatype, bytes, ierr)
    call check(bytes == 8, 'size in the operator')
    do i = 1, length
       right(:, i) = after(left(:, i), right(:, i))
    end do
  end subroutine

  subroutine own(comm, n)
    integer comm, n, rank, ranks, ierr, i, r, op, t
    integer, allocatable :: mine(:,:), got(:,:), counts(:), want(:,:)

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    call mpi_type_contiguous(2, MPI_INTEGER, t, ierr)
    call mpi_type_commit(t, ierr)
    call mpi_op_create(compose, .false., op, ierr)
    allocate(mine(2, n * ranks), got(2, n * ranks))
    allocate(counts(0:ranks-1))
    do i = 1, n * ranks
       mine(:, i) = map(rank, i)
    end do

    want = composed(ranks, 0, n)
    call mpi_allreduce(mine, got, n, t, op, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, maps')
    call check(all(got(:, :n) == want), 'maps, allreduce')
    call ordered('allreduce', ranks, 1, n)
    call mpi_reduce(mine, got, n, t, op, ranks / 2, comm, ierr)
    if (rank == ranks / 2) call check(all(got(:, :n) == want), 'maps, reduce')
    ! In place at rank 0: with long vectors MPICH crashes at others.
    got(:, :n) = mine(:, :n)
    if (rank == 0) then
       call mpi_reduce(MPI_IN_PLACE, got, n, t, op, 0, comm, ierr)
       call check(all(got(:, :n) == want), 'maps, in place')
    else
       call mpi_reduce(mine, got, n, t, op, 0, comm, ierr)
    end if
    call ordered('reduce', ranks, 2, n)

    want = composed(ranks, n * rank, n)
    call mpi_reduce_scatter_block(mine, got, n, t, op, comm, ierr)
    call check(all(got(:, :n) == want), 'maps, block')
    call ordered('reduce_scatter_block', ranks, 1, n)
    do r = 0, ranks - 1
       counts(r) = mod(r + 1, 2) * n
    end do
    r = counts(rank)
    want = composed(ranks, sum(counts(:rank-1)), r)
    call mpi_reduce_scatter(mine, got, counts, t, op, comm, ierr)
    call check(all(got(:, :r) == want), 'maps, reduce_scatter')
    call ordered('reduce_scatter', ranks, 1, sum(counts))
    want = composed(rank + 1, 0, n)
    call mpi_scan(mine, got, n, t, op, comm, ierr)
    call check(all(got(:, :n) == want), 'maps, scan')
    call ordered('scan', ranks, 1, n)
    want = composed(rank, 0, n)
    call mpi_exscan(mine, got, n, t, op, comm, ierr)
    if (rank > 0) call check(all(got(:, :n) == want), 'maps, exscan')
    call ordered('exscan', ranks, 1, n)
    call mpi_op_free(op, ierr)
    call mpi_type_free(t, ierr)
  end subroutine

end module

program red_usempi
  use calls
  implicit none
  integer ierr, rank, ranks, total, comm

  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierr)
  call begin(rank, ranks)
  call everything(MPI_COMM_WORLD)
  call mpi_comm_split(MPI_COMM_WORLD, 0, -rank, comm, ierr)
  call everything(comm)
  call mpi_comm_free(comm, ierr)
  call mpi_comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm, ierr)
  call everything(comm)
  call mpi_comm_free(comm, ierr)

  call mpi_allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call mpi_finalize(ierr)
  if (total /= 0) stop 1
  if (rank == 0) print '(a)', 'PASS red_usempi'
end program
