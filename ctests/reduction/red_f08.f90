! Reductions, scans and barriers through "use mpi_f08": typed handles, the error argument present and absent, keyword
! arguments, MPI_IN_PLACE, types of several kinds, an operator that does not commute, sub-communicators.
! The last line is "PASS red_f08", and the exit status 0, if all checks held on all ranks.
include 'frondof.h'

module calls
  use mpi_f08
  use frondo
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none

contains

  ! The operand of a rank, and the sum of those of ranks 0 to `upto`, which is not among them.
  pure function operand(rank, n)
    integer, intent(in) :: rank, n
    integer :: operand(n), i
    operand = [(mod(rank * 31 + i * 7, 1009) - 300, i = 1, n)]
  end function

  pure function summed(upto, n)
    integer, intent(in) :: upto, n
    integer :: summed(n), r
    summed = 0
    do r = 0, upto - 1
       summed = summed + operand(r, n)
    end do
  end function

  ! Sums of n integers, with and without the error argument, by position and by keyword, in place and not.
  subroutine sums(comm, n, root)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: n, root
    integer :: rank, ranks, ierr
    integer, allocatable :: mine(:), got(:)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    mine = operand(rank, n)
    allocate(got(n))

    got = -1
    call MPI_Allreduce(mine, got, n, MPI_INTEGER, MPI_SUM, comm)
    call check(all(got == summed(ranks, n)), 'allreduce')
    got = -1
    call MPI_Allreduce(comm=comm, op=MPI_SUM, datatype=MPI_INTEGER, count=n, recvbuf=got, sendbuf=mine, ierror=ierr)
    call check(ierr == MPI_SUCCESS, 'success by keyword')
    call check(all(got == summed(ranks, n)), 'allreduce by keyword')
    got = mine
    call MPI_Allreduce(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success in place')
    call check(all(got == summed(ranks, n)), 'allreduce in place')
    call counted('allreduce', ranks, 3, n)

    got = -1
    call MPI_Reduce(mine, got, n, MPI_INTEGER, MPI_SUM, root, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, reduce')
    call check(all(got == merge(summed(ranks, n), -1, rank == root)), 'reduce')
    got = mine
    if (rank == root) then
       call MPI_Reduce(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, root, comm)
    else
       call MPI_Reduce(sendbuf=mine, recvbuf=got, count=n, datatype=MPI_INTEGER, op=MPI_SUM, root=root, comm=comm)
    end if
    call check(all(got == merge(summed(ranks, n), mine, rank == root)), 'reduce in place')
    call counted('reduce', ranks, 2, n)

    got = -1
    call MPI_Scan(mine, got, n, MPI_INTEGER, MPI_SUM, comm)
    call check(all(got == summed(rank + 1, n)), 'scan')
    got = mine
    call MPI_Scan(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, scan')
    call check(all(got == summed(rank + 1, n)), 'scan in place')
    call counted('scan', ranks, 2, n)

    ! Rank 0 gets nothing.
    got = -1
    call MPI_Exscan(mine, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, exscan')
    call check(all(got == merge(summed(rank, n), -1, rank > 0)), 'exscan')
    got = mine
    call MPI_Exscan(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, comm)
    if (rank > 0) call check(all(got == summed(rank, n)), 'exscan in place')
    call counted('exscan', ranks, 2, n)
    call check(all(mine == operand(rank, n)), 'buffer sent from')
  end subroutine

  ! Each rank gets a part of the sum: n elements, and by turns n, none and twice n.
  subroutine parts(comm, n)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: n
    integer :: rank, ranks, ierr, r, at, m
    integer, allocatable :: mine(:), got(:), want(:), counts(:)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    m = n * ranks
    mine = operand(rank, m)
    want = summed(ranks, m)
    allocate(got(m))
    got = -1
    call MPI_Reduce_scatter_block(mine, got, n, MPI_INTEGER, MPI_SUM, comm)
    call check(all(got(:n) == want(n*rank+1:n*rank+n)) .and. all(got(n+1:) == -1), 'reduce_scatter_block')
    got = mine
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, reduce_scatter_block')
    call check(all(got(:n) == want(n*rank+1:n*rank+n)), 'reduce_scatter_block in place')
    call counted('reduce_scatter_block', ranks, 2, n)

    counts = [(mod(r + 1, 3) * n, r = 0, ranks - 1)]
    at = sum(counts(:rank))
    mine = operand(rank, sum(counts))
    want = summed(ranks, sum(counts))
    m = counts(rank + 1)
    deallocate(got)
    allocate(got(sum(counts)))
    got = -1
    call MPI_Reduce_scatter(mine, got, counts, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, reduce_scatter')
    call check(all(got(:m) == want(at+1:at+m)) .and. all(got(m+1:) == -1), 'reduce_scatter')
    got = mine
    call MPI_Reduce_scatter(recvbuf=got, sendbuf=MPI_IN_PLACE, recvcounts=counts, datatype=MPI_INTEGER, op=MPI_SUM, &
         comm=comm)
    call check(all(got(:m) == want(at+1:at+m)), 'reduce_scatter in place')
    call counted('reduce_scatter', ranks, 2, sum(counts))
  end subroutine

  ! Types that only Fortran has, each with an operator. All results are exact.
  subroutine named(comm, n)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: n
    integer :: rank, ranks, r, pair(2, n), got_pair(2, n)
    double precision :: double(n), got_double(n), place(2, n), got_place(2, n)
    complex :: number(n), got_number(n)
    logical :: truth(n), got_truth(n)
    integer :: every(n, 0:63), i

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    do r = 0, ranks - 1
       every(:, r) = operand(r, n)
    end do

    double = every(:, rank) * 0.25d0
    call MPI_Allreduce(double, got_double, n, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
    call check(all(got_double == summed(ranks, n) * 0.25d0), 'double precision')
    truth = mod(every(:, rank), 8) /= 0
    call MPI_Allreduce(truth, got_truth, n, MPI_LOGICAL, MPI_LAND, comm)
    call check(all(got_truth .eqv. all(mod(every(:, :ranks-1), 8) /= 0, 2)), 'logical, and')
    call MPI_Allreduce(truth, got_truth, n, MPI_LOGICAL, MPI_LOR, comm)
    call check(all(got_truth .eqv. any(mod(every(:, :ranks-1), 8) /= 0, 2)), 'logical, or')
    number = cmplx(every(:, rank), -2 * every(:, rank))
    call MPI_Allreduce(number, got_number, n, MPI_COMPLEX, MPI_SUM, comm)
    call check(all(got_number == cmplx(summed(ranks, n), -2 * summed(ranks, n))), 'complex')
    ! The largest with its rank: of several equal ones the first.
    place(1, :) = every(:, rank) / 10 * 0.5d0
    place(2, :) = rank
    call MPI_Allreduce(place, got_place, n, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, comm)
    pair(1, :) = every(:, rank) / 10
    pair(2, :) = rank
    call MPI_Allreduce(pair, got_pair, n, MPI_2INTEGER, MPI_MINLOC, comm)
    do i = 1, n
       call check(got_place(1, i) == maxval(every(i, :ranks-1) / 10) * 0.5d0, 'largest')
       call check(nint(got_place(2, i)) == maxloc(every(i, :ranks-1) / 10, 1) - 1, 'place of the largest')
       call check(got_pair(1, i) == minval(every(i, :ranks-1) / 10), 'smallest')
       call check(got_pair(2, i) == minloc(every(i, :ranks-1) / 10, 1) - 1, 'place of the smallest')
    end do
    call counted('allreduce', ranks, 6, n)

    got_double = -1
    call MPI_Reduce(double, got_double, n, MPI_DOUBLE_PRECISION, MPI_MAX, ranks - 1, comm)
    if (rank == ranks - 1) then
       call check(all(got_double == maxval(every(:, :ranks-1), 2) * 0.25d0), 'largest double precision')
    end if
    got_truth = .false.
    call MPI_Reduce(truth, got_truth, n, MPI_LOGICAL, MPI_LXOR, 0, comm)
    if (rank == 0) call check(all(got_truth .eqv. mod(count(mod(every(:, :ranks-1), 8) /= 0, 2), 2) == 1), 'parity')
    call counted('reduce', ranks, 2, n)
    call MPI_Scan(number, got_number, n, MPI_COMPLEX, MPI_SUM, comm)
    call check(all(got_number == cmplx(summed(rank + 1, n), -2 * summed(rank + 1, n))), 'complex scan')
    call counted('scan', ranks, 1, n)
    call MPI_Exscan(double, got_double, n, MPI_DOUBLE_PRECISION, MPI_MIN, comm)
    if (rank > 0) call check(all(got_double == minval(every(:, :rank-1), 2) * 0.25d0), 'smallest so far')
    call counted('exscan', ranks, 1, n)
  end subroutine

  ! Maps x -> a x + b modulo a prime, one after the other: the order shows.
  subroutine compose(left, right, length, datatype)
    type(c_ptr), value :: left, right
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: x(:, :), y(:, :)
    integer :: bytes, i
    call MPI_Type_size(datatype, bytes)
    call check(bytes == 2 * storage_size(1) / 8, 'size in the operator')
    call c_f_pointer(left, x, [2, length])
    call c_f_pointer(right, y, [2, length])
    do i = 1, length
       y(:, i) = after(x(:, i), y(:, i))
    end do
  end subroutine

  pure function after(first, then)
    integer, intent(in) :: first(2), then(2)
    integer :: after(2)
    after = [mod(first(1) * then(1), 10007), mod(first(2) * then(1) + then(2), 10007)]
  end function

  pure function map(rank, i)
    integer, intent(in) :: rank, i
    integer :: map(2)
    map = [2 + mod(rank * 17 + i, 5000), mod(rank * 29 + 3 * i, 5000)]
  end function

  ! The maps of ranks 0 to `upto`, which is not among them, for elements `from` + 1 to `from` + n.
  pure function composed(upto, from, n)
    integer, intent(in) :: upto, from, n
    integer :: composed(2, n), r, i
    do i = 1, n
       composed(:, i) = map(0, from + i)
       do r = 1, upto - 1
          composed(:, i) = after(composed(:, i), map(r, from + i))
       end do
    end do
  end function

  subroutine own(comm, n)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: n
    integer :: rank, ranks, i, r
    integer, allocatable :: mine(:, :), got(:, :), counts(:)
    type(MPI_Op) :: op
    type(MPI_Datatype) :: t

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    call MPI_Type_contiguous(2, MPI_INTEGER, t)
    call MPI_Type_commit(t)
    call MPI_Op_create(compose, .false., op)
    allocate(mine(2, n * ranks), got(2, n * ranks), counts(ranks))
    do i = 1, n * ranks
       mine(:, i) = map(rank, i)
    end do

    call MPI_Allreduce(mine, got, n, t, op, comm)
    call check(all(got(:, :n) == composed(ranks, 0, n)), 'maps, allreduce')
    call ordered('allreduce', ranks, 1, n)
    call MPI_Reduce(mine, got, n, t, op, ranks / 2, comm)
    if (rank == ranks / 2) call check(all(got(:, :n) == composed(ranks, 0, n)), 'maps, reduce')
    ! In place at rank 0: with long vectors MPICH by itself crashes at others.
    got(:, :n) = mine(:, :n)
    if (rank == 0) then
       call MPI_Reduce(MPI_IN_PLACE, got, n, t, op, 0, comm)
       call check(all(got(:, :n) == composed(ranks, 0, n)), 'maps, reduce in place')
    else
       call MPI_Reduce(mine, got, n, t, op, 0, comm)
    end if
    call ordered('reduce', ranks, 2, n)
    call MPI_Reduce_scatter_block(mine, got, n, t, op, comm)
    call check(all(got(:, :n) == composed(ranks, n * rank, n)), 'maps, reduce_scatter_block')
    call ordered('reduce_scatter_block', ranks, 1, n)
    counts = [(mod(r, 2) * n, r = 1, ranks)]
    i = sum(counts(:rank))
    r = counts(rank + 1)
    call MPI_Reduce_scatter(mine, got, counts, t, op, comm)
    call check(all(got(:, :r) == composed(ranks, i, r)), 'maps, reduce_scatter')
    call ordered('reduce_scatter', ranks, 1, sum(counts))
    call MPI_Scan(mine, got, n, t, op, comm)
    call check(all(got(:, :n) == composed(rank + 1, 0, n)), 'maps, scan')
    call ordered('scan', ranks, 1, n)
    call MPI_Exscan(mine, got, n, t, op, comm)
    if (rank > 0) call check(all(got(:, :n) == composed(rank, 0, n)), 'maps, exscan')
    call ordered('exscan', ranks, 1, n)
    call MPI_Op_free(op)
    call MPI_Type_free(t)
  end subroutine

  subroutine barriers(comm)
    type(MPI_Comm), intent(in) :: comm
    integer :: ranks, ierr
    call MPI_Comm_size(comm, ranks)
    call MPI_Barrier(comm)
    call MPI_Barrier(comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, barrier')
    call counted('barrier', ranks, 2, 1)
  end subroutine

  subroutine everything(comm)
    type(MPI_Comm), intent(in) :: comm
    integer, parameter :: lengths(4) = [0, 1, 13, 5003]
    integer :: ranks, i
    call MPI_Comm_size(comm, ranks)
    do i = 1, 4
       ! Long vectors in place at rank 0 alone: at others MPICH by itself crashes.
       call sums(comm, lengths(i), merge(mod(i, ranks), 0, lengths(i) < 100))
       call parts(comm, lengths(i))
    end do
    call named(comm, 1)
    call named(comm, 107)
    call own(comm, 1)
    call own(comm, 207)
    call barriers(comm)
  end subroutine

end module

program red_f08
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
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm)
  call everything(comm)
  call MPI_Comm_free(comm)

  call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (total /= 0) stop 1
  if (rank == 0) print '(a)', 'PASS red_f08'
end program
