! MPI_Gatherv, MPI_Scatterv, MPI_Gather and MPI_Scatter through "use mpi_f08", from and to every root: typed handles,
! the error argument present and absent, keyword arguments, equal, unequal and empty blocks, gaps between blocks, blocks
! in other orders than that of the ranks, MPI_IN_PLACE, types of several kinds, array sections that are not contiguous,
! a derived type on each side, MPI_BOTTOM, sub-communicators. Arguments that a rank must ignore are such that nobody can
! use them; memory that nothing is received into stays as it was. The last line is "PASS gsv_f08", and the exit status
! 0, if all checks held on all ranks.
include 'frondof.h'

module calls
  use mpi_f08
  use frondo
  implicit none

contains

  ! Integers, with and without the error argument, by position and by keyword, with a buffer of its own for the root's
  ! block and in place. Each rank has an element before and one behind its block. Other ranks than the root have memory
  ! for all blocks as well, and pass it with counts below none and without a type.
  subroutine whole(comm, shape)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: shape
    integer :: rank, ranks, root, m, at, ierr
    integer, allocatable :: counts(:), displs(:), want(:), c(:), d(:), mine(:), theirs(:), own(:), full(:)
    type(MPI_Datatype) :: t

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(shape, 307, ranks, counts, displs, want)
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
       call MPI_Gatherv(own(2:m+1), m, MPI_INTEGER, full, c, d, t, root, comm)
       call check(all(full == theirs), 'gatherv')
       call check(all(own == mine), 'buffer sent from, gatherv')
       full = -1
       call MPI_Gatherv(comm=comm, root=root, recvtype=t, displs=d, recvcounts=c, recvbuf=full, sendtype=MPI_INTEGER, &
            sendcount=m, sendbuf=own(2:m+1), ierror=ierr)
       call check(ierr == MPI_SUCCESS, 'success, gatherv by keyword')
       call check(all(full == theirs), 'gatherv by keyword')
       full = -1
       if (rank == root) then
          full(at+1:at+m) = mine(2:m+1)
          call MPI_Gatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, full, c, d, t, root, comm, ierr)
       else
          call MPI_Gatherv(own(2:m+1), m, MPI_INTEGER, full, c, d, t, root, comm, ierr)
       end if
       call check(ierr == MPI_SUCCESS, 'success, gatherv in place')
       call check(all(full == theirs), 'gatherv in place')

       own = -5
       full = theirs
       call MPI_Scatterv(full, c, d, t, own(2:m+1), m, MPI_INTEGER, root, comm)
       call check(all(own == mine), 'scatterv')
       call check(all(full == theirs), 'buffer sent from, scatterv')
       own = -5
       call MPI_Scatterv(comm=comm, root=root, recvtype=MPI_INTEGER, recvcount=m, recvbuf=own(2:m+1), sendtype=t, &
            displs=d, sendcounts=c, sendbuf=full, ierror=ierr)
       call check(ierr == MPI_SUCCESS, 'success, scatterv by keyword')
       call check(all(own == mine), 'scatterv by keyword')
       own = -5
       if (rank == root) then
          mine = -5
          call MPI_Scatterv(full, c, d, t, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, comm, ierr)
       else
          call MPI_Scatterv(full, c, d, t, own(2:m+1), m, MPI_INTEGER, root, comm, ierr)
       end if
       call check(ierr == MPI_SUCCESS, 'success, scatterv in place')
       call check(all(own == mine), 'own block, scatterv in place')
       call check(all(full == theirs), 'buffer sent from, scatterv in place')
    end do
    call counted('gatherv', ranks, 3 * ranks, sum(counts))
    call counted('scatterv', ranks, 3 * ranks, sum(counts))
  end subroutine

  ! MPI_Gather and MPI_Scatter of n numbers for each rank. Behind the last block there is room for one more.
  subroutine equal(comm, n)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: n
    integer :: rank, ranks, root, each, ierr, r
    type(MPI_Datatype) :: t
    double precision, allocatable :: mine(:), own(:), theirs(:, :), full(:, :)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(theirs(n, 0:ranks), full(n, 0:ranks))
    do root = 0, ranks - 1
       mine = [-5d0, marked(block(rank, n), root) * 0.25d0, -5d0]
       theirs = -1
       each = -1
       t = MPI_DATATYPE_NULL
       if (rank == root) then
          do r = 0, ranks - 1
             theirs(:, r) = marked(block(r, n), root) * 0.25d0
          end do
          each = n
          t = MPI_DOUBLE_PRECISION
       end if

       own = mine
       full = -1
       call MPI_Gather(own(2:n+1), n, MPI_DOUBLE_PRECISION, full, each, t, root, comm)
       call check(all(full == theirs), 'gather')
       call check(all(own == mine), 'buffer sent from, gather')
       full = -1
       if (rank == root) then
          full(:, rank) = mine(2:n+1)
          call MPI_Gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, full, each, t, root, comm)
       else
          call MPI_Gather(comm=comm, root=root, sendbuf=own(2:n+1), sendcount=n, sendtype=MPI_DOUBLE_PRECISION, &
               recvbuf=full, recvcount=each, recvtype=t, ierror=ierr)
          call check(ierr == MPI_SUCCESS, 'success, gather by keyword')
       end if
       call check(all(full == theirs), 'gather in place')

       own = -5
       full = theirs
       call MPI_Scatter(full, each, t, own(2:n+1), n, MPI_DOUBLE_PRECISION, root, comm)
       call check(all(own == mine), 'scatter')
       call check(all(full == theirs), 'buffer sent from, scatter')
       own = -5
       if (rank == root) then
          mine = -5
          call MPI_Scatter(full, each, t, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, comm)
       else
          call MPI_Scatter(comm=comm, root=root, sendbuf=full, sendcount=each, sendtype=t, recvbuf=own(2:n+1), &
               recvcount=n, recvtype=MPI_DOUBLE_PRECISION, ierror=ierr)
          call check(ierr == MPI_SUCCESS, 'success, scatter by keyword')
       end if
       call check(all(own == mine), 'scatter in place')
       call check(all(full == theirs), 'buffer sent from, scatter in place')
    end do
    call counted('gather', ranks, 2 * ranks, n)
    call counted('scatter', ranks, 2 * ranks, n)
  end subroutine

  ! Each named type is gathered, and scattered again: equal blocks by the regular functions, unequal ones by the others.
  subroutine named(comm, root)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: root
    integer :: rank, ranks, m, shape
    integer, allocatable :: counts(:), displs(:), want(:), mine(:), theirs(:)
    integer(MPI_COUNT_KIND), allocatable :: long(:), my_long(:)
    complex, allocatable :: pair(:), my_pair(:)
    logical, allocatable :: truth(:), my_truth(:)
    character, allocatable :: text(:), my_text(:)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    do shape = 1, 7, 6
       call blocks(shape, 205, ranks, counts, displs, want)
       m = counts(rank)
       mine = block(rank, m)
       theirs = want
       if (rank /= root) theirs = -1
       allocate(long(size(want)), pair(size(want)), truth(size(want)), text(size(want)))
       allocate(my_long(m), my_pair(m), my_truth(m), my_text(m))
       long = -2_MPI_COUNT_KIND**40
       pair = (-1, 1)
       truth = .false.
       text = achar(32)
       if (shape == 1) then
          call MPI_Gather(mine * 2_MPI_COUNT_KIND**40, m, MPI_COUNT, long, m, MPI_COUNT, root, comm)
          call MPI_Gather(cmplx(mine, -mine), m, MPI_COMPLEX, pair, m, MPI_COMPLEX, root, comm)
          call MPI_Gather(mod(mine, 3) == 0, m, MPI_LOGICAL, truth, m, MPI_LOGICAL, root, comm)
          call MPI_Gather(letter(mine), m, MPI_CHARACTER, text, m, MPI_CHARACTER, root, comm)
          call counted('gather', ranks, 4, m)
       else
          call MPI_Gatherv(mine * 2_MPI_COUNT_KIND**40, m, MPI_COUNT, long, counts, displs, MPI_COUNT, root, comm)
          call MPI_Gatherv(cmplx(mine, -mine), m, MPI_COMPLEX, pair, counts, displs, MPI_COMPLEX, root, comm)
          call MPI_Gatherv(mod(mine, 3) == 0, m, MPI_LOGICAL, truth, counts, displs, MPI_LOGICAL, root, comm)
          call MPI_Gatherv(letter(mine), m, MPI_CHARACTER, text, counts, displs, MPI_CHARACTER, root, comm)
          call counted('gatherv', ranks, 4, sum(counts))
       end if
       ! -1, in the gaps, gives what was there before in each type.
       call check(all(long == theirs * 2_MPI_COUNT_KIND**40), 'counts')
       call check(all(pair == cmplx(theirs, -theirs)), 'complex numbers')
       call check(all(truth .eqv. mod(theirs, 3) == 0), 'logicals')
       call check(all(text == letter(theirs)), 'characters')

       my_long = -7
       my_pair = -7
       my_truth = mod(mine, 3) /= 0
       my_text = achar(7)
       if (shape == 1) then
          call MPI_Scatter(long, m, MPI_COUNT, my_long, m, MPI_COUNT, root, comm)
          call MPI_Scatter(pair, m, MPI_COMPLEX, my_pair, m, MPI_COMPLEX, root, comm)
          call MPI_Scatter(truth, m, MPI_LOGICAL, my_truth, m, MPI_LOGICAL, root, comm)
          call MPI_Scatter(text, m, MPI_CHARACTER, my_text, m, MPI_CHARACTER, root, comm)
          call counted('scatter', ranks, 4, m)
       else
          call MPI_Scatterv(long, counts, displs, MPI_COUNT, my_long, m, MPI_COUNT, root, comm)
          call MPI_Scatterv(pair, counts, displs, MPI_COMPLEX, my_pair, m, MPI_COMPLEX, root, comm)
          call MPI_Scatterv(truth, counts, displs, MPI_LOGICAL, my_truth, m, MPI_LOGICAL, root, comm)
          call MPI_Scatterv(text, counts, displs, MPI_CHARACTER, my_text, m, MPI_CHARACTER, root, comm)
          call counted('scatterv', ranks, 4, sum(counts))
       end if
       call check(all(my_long == mine * 2_MPI_COUNT_KIND**40), 'own counts')
       call check(all(my_pair == cmplx(mine, -mine)), 'own complex numbers')
       call check(all(my_truth .eqv. mod(mine, 3) == 0), 'own logicals')
       call check(all(my_text == letter(mine)), 'own characters')
       deallocate(long, pair, truth, text, my_long, my_pair, my_truth, my_text)
    end do

  contains

    pure function letter(numbers)
      integer, intent(in) :: numbers(:)
      character :: letter(size(numbers))
      letter = achar(33 + mod(numbers, 89))
    end function

  end subroutine

  ! A rank's own block is every second element of an array, and where the binding can do that, the root's blocks are
  ! every second element as well. Where the binding does not know sections, the compiler passes copies, which serves a
  ! blocking call as well. An empty block is no section: MPICH's binding makes one element of a type without data of it,
  ! and its MPI_Scatterv then waits for a message that the root, whose count is 0, does not send.
  subroutine sections(comm, shape)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: shape
    integer :: rank, ranks, root, m, n, step
    integer, allocatable :: counts(:), displs(:), want(:), theirs(:), mine(:), own(:), full(:)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(shape, 211, ranks, counts, displs, want)
    m = counts(rank)
    n = size(want)
    step = merge(2, 1, m > 0)
    allocate(mine(2 * m), own(2 * m), full(2 * n))
    mine = -5
    mine(2::2) = block(rank, m)
    do root = 0, ranks - 1
       theirs = want
       if (rank /= root) theirs = -1
       own = mine
       full = -1
       call MPI_Gatherv(own(step::step), m, MPI_INTEGER, full, counts, displs, MPI_INTEGER, root, comm)
       call check(all(full(:n) == theirs) .and. all(full(n+1:) == -1), 'section sent, gatherv')
       own = -5
       call MPI_Scatterv(full, counts, displs, MPI_INTEGER, own(step::step), m, MPI_INTEGER, root, comm)
       call check(all(own == mine), 'section received, scatterv')
    end do
    call counted('gatherv', ranks, ranks, sum(counts))
    call counted('scatterv', ranks, ranks, sum(counts))

    do root = 0, ranks - 1
       if (shape /= 1) exit
       theirs = want
       if (rank /= root) theirs = -1
       own = mine
       full = -1
       call MPI_Gather(own(step::step), m, MPI_INTEGER, full, m, MPI_INTEGER, root, comm)
       call check(all(full(:n) == theirs) .and. all(full(n+1:) == -1), 'section sent, gather')
       own = -5
       call MPI_Scatter(full, m, MPI_INTEGER, own(step::step), m, MPI_INTEGER, root, comm)
       call check(all(own == mine), 'section received, scatter')
    end do
    if (shape == 1) call counted('gather', ranks, ranks, m)
    if (shape == 1) call counted('scatter', ranks, ranks, m)

    if (.not. knows_sections()) return
    do root = 0, ranks - 1
       theirs = want
       if (rank /= root) theirs = -1
       own = mine
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
    integer :: got(6), sent(2)
    got = -1
    call MPI_Gatherv([1, 2], 2, MPI_INTEGER, got(1::2), [2], [1], MPI_INTEGER, 0, MPI_COMM_SELF)
    call counted('gatherv', 1, 1, 2)
    call MPI_Scatterv([1, 2, 3, 4, 5, 6], [2], [1], MPI_INTEGER, sent, 2, MPI_INTEGER, 0, MPI_COMM_SELF)
    call check(all(sent == [2, 3]), 'one rank, scatterv')
    call counted('scatterv', 1, 1, 2)
    knows_sections = all(got == [-1, -1, 1, -1, 2, -1])
    call check(knows_sections .or. all(got == [-1, 1, 2, -1, -1, -1]), 'section received by one rank')
  end function

  ! Each rank has its block as every third element of an array, and the root has it as a row of a matrix: types on both
  ! sides, by which blocks lie between each other's elements. For MPI_Gatherv and MPI_Scatterv the rows are those of
  ! falling ranks. The last row is nobody's, and stays as it was.
  subroutine derived(comm, columns)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: columns
    integer :: rank, ranks, root, r, mine(3 * columns), own(3 * columns)
    integer, allocatable :: counts(:), displs(:), theirs(:, :), fall(:, :), matrix(:, :)
    integer(MPI_ADDRESS_KIND) :: one
    type(MPI_Datatype) :: third, vector, row

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(theirs(0:ranks, columns), fall(0:ranks, columns), matrix(0:ranks, columns))
    one = storage_size(1) / 8
    call MPI_Type_create_indexed_block(columns, 1, [(3 * r + 1, r = 0, columns - 1)], MPI_INTEGER, third)
    call MPI_Type_commit(third)
    call MPI_Type_vector(columns, 1, ranks + 1, MPI_INTEGER, vector)
    call MPI_Type_create_resized(vector, 0_MPI_ADDRESS_KIND, one, row)
    call MPI_Type_commit(row)
    counts = [(1, r = 0, ranks - 1)]
    displs = [(ranks - 1 - r, r = 0, ranks - 1)]

    do root = 0, ranks - 1
       mine = -5
       mine(2::3) = marked(block(rank, columns), root)
       theirs = -1
       fall = -1
       do r = 0, ranks - 1
          if (rank /= root) exit
          theirs(r, :) = marked(block(r, columns), root)
          fall(ranks - 1 - r, :) = theirs(r, :)
       end do
       own = mine
       matrix = -1
       call MPI_Gatherv(own, 1, third, matrix, counts, displs, row, root, comm)
       call check(all(matrix == fall), 'falling rows, gatherv')
       own = -5
       call MPI_Scatterv(matrix, counts, displs, row, own, 1, third, root, comm)
       call check(all(own == mine), 'falling rows, scatterv')
       matrix = -1
       call MPI_Gather(own, 1, third, matrix, 1, row, root, comm)
       call check(all(matrix == theirs), 'rows, gather')
       own = -5
       call MPI_Scatter(matrix, 1, row, own, 1, third, root, comm)
       call check(all(own == mine), 'rows, scatter')
       call check(all(matrix == theirs), 'rows as they were')
    end do
    call counted('gatherv', ranks, ranks, ranks)
    call counted('scatterv', ranks, ranks, ranks)
    call counted('gather', ranks, ranks, columns)
    call counted('scatter', ranks, ranks, columns)
    call MPI_Type_free(third)
    call MPI_Type_free(vector)
    call MPI_Type_free(row)
  end subroutine

  ! All blocks and the rank's own one are at MPI_BOTTOM, by types with the address of the first element.
  subroutine bottom(comm, shape)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: shape
    integer, asynchronous, allocatable :: own(:), full(:)
    integer, allocatable :: counts(:), displs(:), want(:), theirs(:), mine(:)
    integer :: rank, ranks, root, m, n
    type(MPI_Datatype) :: from, to

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(shape, 103, ranks, counts, displs, want)
    m = counts(rank)
    n = size(want)
    ! An element more than needed, to have an address where there is no data.
    allocate(own(m+1), full(n+1))
    call absolute(own, from)
    call absolute(full, to)
    do root = 0, ranks - 1
       mine = [marked(block(rank, m), root), -5]
       theirs = [marked(want, root), -1]
       if (rank /= root) theirs = -1
       own = mine
       full = -1
       call MPI_Gatherv(MPI_BOTTOM, m, from, MPI_BOTTOM, counts, displs, to, root, comm)
       call check(all(full == theirs), 'into bottom')
       own = -5
       call MPI_Scatterv(MPI_BOTTOM, counts, displs, to, MPI_BOTTOM, m, from, root, comm)
       call check(all(own == mine), 'from bottom')
       own = -5
       if (rank == root) then
          mine = -5
          call MPI_Scatterv(MPI_BOTTOM, counts, displs, to, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, comm)
       else
          call MPI_Scatterv(MPI_BOTTOM, counts, displs, to, own, m, MPI_INTEGER, root, comm)
       end if
       call check(all(own == mine), 'from bottom, in place')
       call check(all(full == theirs), 'bottom sent from')
    end do
    call counted('gatherv', ranks, ranks, sum(counts))
    call counted('scatterv', ranks, 2 * ranks, sum(counts))
    call MPI_Type_free(from)
    call MPI_Type_free(to)
  end subroutine

  subroutine absolute(buffer, t)
    integer, asynchronous, intent(in) :: buffer(*)
    type(MPI_Datatype), intent(out) :: t
    integer(MPI_ADDRESS_KIND) :: at(1)
    call MPI_Get_address(buffer(1), at(1))
    call MPI_Type_create_hindexed(1, [1], at, MPI_INTEGER, t)
    call MPI_Type_commit(t)
  end subroutine

end module

program gsv_f08
  use calls
  implicit none
  integer :: rank, ranks, root, shape, total
  type(MPI_Comm) :: comm

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call begin(rank, ranks)
  do shape = 1, 7
     call whole(MPI_COMM_WORLD, shape)
     call sections(MPI_COMM_WORLD, shape)
     call bottom(MPI_COMM_WORLD, shape)
  end do
  call equal(MPI_COMM_WORLD, 0)
  call equal(MPI_COMM_WORLD, 1)
  call equal(MPI_COMM_WORLD, 8)
  call equal(MPI_COMM_WORLD, 1003)
  do root = 0, ranks - 1
     call named(MPI_COMM_WORLD, root)
  end do
  call derived(MPI_COMM_WORLD, 10)
  call derived(MPI_COMM_WORLD, 300)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm)
  call whole(comm, 7)
  call equal(comm, 77)
  call derived(comm, 20)
  call MPI_Comm_free(comm)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm)
  call sections(comm, 4)
  call equal(comm, 7)
  call named(comm, 0)
  call MPI_Comm_free(comm)
  call whole(MPI_COMM_SELF, 1)
  call equal(MPI_COMM_SELF, 77)

  call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (total /= 0) stop 1
  if (rank == 0) print '(a)', 'PASS gsv_f08'
end program
