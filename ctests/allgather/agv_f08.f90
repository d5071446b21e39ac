! MPI_Allgatherv and MPI_Allgather through "use mpi_f08": typed handles, the error argument present and absent, keyword
! arguments, equal, unequal and empty blocks, gaps between blocks, blocks in reverse order, MPI_IN_PLACE, types of
! several kinds, array sections that are not contiguous, a resized type, MPI_BOTTOM, sub-communicators. The last line is
! "PASS agv_f08", and the exit status 0, if all checks held on all ranks.
include 'frondof.h'

module calls
  use mpi_f08
  use frondo
  implicit none

contains

  ! Integers, with and without the error argument, by position and by keyword, and by both ways to send.
  subroutine whole(comm, shape)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: shape
    integer :: rank, ranks, ierr, m, at
    integer, allocatable :: counts(:), displs(:), want(:), mine(:), got(:)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(shape, 1103, ranks, counts, displs, want)
    m = counts(rank)
    at = displs(rank)
    mine = block(rank, m)
    allocate(got(size(want)))

    got = -1
    call MPI_Allgatherv(mine, m, MPI_INTEGER, got, counts, displs, MPI_INTEGER, comm)
    call check(all(got == want), 'blocks and gaps')
    call check(all(mine == block(rank, m)), 'buffer sent from')
    got = -1
    call MPI_Allgatherv(comm=comm, recvtype=MPI_INTEGER, displs=displs, recvcounts=counts, recvbuf=got, &
         sendtype=MPI_INTEGER, sendcount=m, sendbuf=mine, ierror=ierr)
    call check(ierr == MPI_SUCCESS, 'success by keyword')
    call check(all(got == want), 'blocks and gaps, by keyword')

    got = -1
    got(at+1:at+m) = mine
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, counts, displs, MPI_INTEGER, comm)
    call check(all(got == want), 'blocks and gaps, in place')
    got = -1
    got(at+1:at+m) = mine
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, counts, displs, MPI_INTEGER, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success in place')
    call check(all(got == want), 'blocks and gaps, in place again')
    call counted('allgatherv', ranks, 4, sum(counts))
  end subroutine

  ! MPI_Allgather of n numbers of each rank.
  subroutine equal(comm, n)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: n
    integer :: rank, ranks, ierr, r
    double precision, allocatable :: mine(:), got(:, :), want(:, :)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(got(n, 0:ranks), want(n, 0:ranks))
    want = -1
    do r = 0, ranks - 1
       want(:, r) = block(r, n) * 0.25d0
    end do
    mine = want(:, rank)

    got = -1
    call MPI_Allgather(mine, n, MPI_DOUBLE_PRECISION, got, n, MPI_DOUBLE_PRECISION, comm)
    call check(all(got == want), 'equal')
    got = -1
    call MPI_Allgather(comm=comm, sendbuf=mine, sendcount=n, sendtype=MPI_DOUBLE_PRECISION, recvbuf=got, recvcount=n, &
         recvtype=MPI_DOUBLE_PRECISION, ierror=ierr)
    call check(ierr == MPI_SUCCESS, 'success, equal by keyword')
    call check(all(got == want), 'equal, by keyword')
    got = -1
    got(:, rank) = mine
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, n, MPI_DOUBLE_PRECISION, comm, ierr)
    call check(ierr == MPI_SUCCESS, 'success, equal in place')
    call check(all(got == want), 'equal in place')
    call counted('allgather', ranks, 3, n)
  end subroutine

  subroutine named(comm)
    type(MPI_Comm), intent(in) :: comm
    integer :: rank, ranks, m, shape
    integer, allocatable :: counts(:), displs(:), want(:), mine(:)
    integer(MPI_COUNT_KIND), allocatable :: long(:)
    real, allocatable :: single(:)
    complex, allocatable :: pair(:)
    logical, allocatable :: truth(:)
    character, allocatable :: text(:)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    do shape = 1, 2
       call blocks(shape, 607, ranks, counts, displs, want)
       m = counts(rank)
       mine = block(rank, m)
       allocate(long(size(want)), single(size(want)), pair(size(want)), truth(size(want)), text(size(want)))
       long = -2_MPI_COUNT_KIND**40
       single = -0.5
       pair = (-1, 1)
       truth = .false.
       text = achar(32)
       if (shape == 1) then
          call MPI_Allgather(mine * 2_MPI_COUNT_KIND**40, m, MPI_COUNT, long, m, MPI_COUNT, comm)
          call MPI_Allgather(mine * 0.5, m, MPI_REAL, single, m, MPI_REAL, comm)
          call MPI_Allgather(cmplx(mine, -mine), m, MPI_COMPLEX, pair, m, MPI_COMPLEX, comm)
          call MPI_Allgather(mod(mine, 3) == 0, m, MPI_LOGICAL, truth, m, MPI_LOGICAL, comm)
          call MPI_Allgather(letter(mine), m, MPI_CHARACTER, text, m, MPI_CHARACTER, comm)
          call counted('allgather', ranks, 5, sum(counts))
       else
          call MPI_Allgatherv(mine * 2_MPI_COUNT_KIND**40, m, MPI_COUNT, long, counts, displs, MPI_COUNT, comm)
          call MPI_Allgatherv(mine * 0.5, m, MPI_REAL, single, counts, displs, MPI_REAL, comm)
          call MPI_Allgatherv(cmplx(mine, -mine), m, MPI_COMPLEX, pair, counts, displs, MPI_COMPLEX, comm)
          call MPI_Allgatherv(mod(mine, 3) == 0, m, MPI_LOGICAL, truth, counts, displs, MPI_LOGICAL, comm)
          call MPI_Allgatherv(letter(mine), m, MPI_CHARACTER, text, counts, displs, MPI_CHARACTER, comm)
          call counted('allgatherv', ranks, 5, sum(counts))
       end if
       ! -1, in the gaps, gives what was there before in each type.
       call check(all(long == want * 2_MPI_COUNT_KIND**40), 'counts')
       call check(all(single == want * 0.5), 'reals')
       call check(all(pair == cmplx(want, -want)), 'complex numbers')
       call check(all(truth .eqv. mod(want, 3) == 0), 'logicals')
       call check(all(text == letter(want)), 'characters')
       deallocate(long, single, pair, truth, text)
    end do

  contains

    pure function letter(numbers)
      integer, intent(in) :: numbers(:)
      character :: letter(size(numbers))
      letter = achar(33 + mod(numbers, 89))
    end function

  end subroutine

  ! Every second element is sent, and every second element received into. Where the binding does not know sections, the
  ! compiler passes copies, which serves a blocking call as well.
  subroutine sections(comm, shape)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: shape
    integer :: rank, ranks, m
    integer, allocatable :: counts(:), displs(:), want(:), mine(:), got(:)

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(shape, 809, ranks, counts, displs, want)
    m = counts(rank)
    allocate(mine(2 * m), got(2 * size(want)))
    mine = -5
    mine(2::2) = block(rank, m)

    got = -1
    call MPI_Allgatherv(mine(2::2), m, MPI_INTEGER, got, counts, displs, MPI_INTEGER, comm)
    call check(all(got(:size(want)) == want) .and. all(got(size(want)+1:) == -1), 'section sent')
    call counted('allgatherv', ranks, 1, sum(counts))
    if (shape == 1) then
       got = -1
       call MPI_Allgather(mine(2::2), m, MPI_INTEGER, got, m, MPI_INTEGER, comm)
       call check(all(got(:size(want)) == want) .and. all(got(size(want)+1:) == -1), 'equal sections sent')
       call counted('allgather', ranks, 1, sum(counts))
    end if
    if (.not. receives_sections()) return

    got = -1
    call MPI_Allgatherv(mine(2::2), m, MPI_INTEGER, got(1::2), counts, displs, MPI_INTEGER, comm)
    call check(all(got(1::2) == want) .and. all(got(2::2) == -1), 'section received')
    call counted('allgatherv', ranks, 1, sum(counts))
    if (shape == 1) then
       got = -1
       call MPI_Allgather(mine(2::2), m, MPI_INTEGER, got(1::2), m, MPI_INTEGER, comm)
       call check(all(got(1::2) == want) .and. all(got(2::2) == -1), 'equal sections received')
       call counted('allgather', ranks, 1, sum(counts))
    end if
  end subroutine

  ! Does the binding receive into sections? MPICH's claims that it knows sections, but receives this one as if it were
  ! contiguous. One rank shows it, and there every call is the MPI library's own.
  logical function receives_sections()
    integer :: got(4)
    got = -1
    call MPI_Allgatherv([1, 2], 2, MPI_INTEGER, got(1::2), [2], [0], MPI_INTEGER, MPI_COMM_SELF)
    call counted('allgatherv', 1, 1, 2)
    receives_sections = all(got == [1, -1, 2, -1])
    call check(receives_sections .or. all(got == [1, 2, -1, -1]), 'section received by one rank')
  end function

  ! Each rank owns a row of a matrix and sends every second element of it, all receive it into a row of a smaller
  ! matrix, by vectors that are resized so that the next element starts one row further. The last row stays as it was.
  subroutine derived(comm)
    type(MPI_Comm), intent(in) :: comm
    integer, parameter :: rows = 3, columns = 400
    integer :: rank, ranks, j, r, mine(rows, 2 * columns)
    integer, allocatable :: counts(:), displs(:), matrix(:, :), want(:, :)
    type(MPI_Datatype) :: from, into

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(matrix(0:ranks, columns), want(0:ranks, columns))
    want = -1
    do r = 0, ranks - 1
       want(r, :) = block(r, columns)
    end do
    mine = -5
    mine(2, 1::2) = want(rank, :)
    call row(2 * rows, from)
    call row(ranks + 1, into)
    counts = [(1, r = 0, ranks - 1)]
    displs = [(ranks - 1 - r, r = 0, ranks - 1)]

    matrix = -1
    call MPI_Allgatherv(mine(2, 1), 1, from, matrix, counts, displs, into, comm)
    call counted('allgatherv', ranks, 1, ranks)
    do j = 1, columns
       call check(all(matrix(ranks-1:0:-1, j) == want(:ranks-1, j)) .and. matrix(ranks, j) == -1, 'rows')
    end do
    matrix = -1
    call MPI_Allgather(mine(2, 1), 1, from, matrix, 1, into, comm)
    call counted('allgather', ranks, 1, ranks)
    call check(all(matrix == want), 'equal rows')
    call MPI_Type_free(from)
    call MPI_Type_free(into)

  contains

    subroutine row(stride, t)
      integer, intent(in) :: stride
      type(MPI_Datatype), intent(out) :: t
      type(MPI_Datatype) :: vector
      integer(MPI_ADDRESS_KIND) :: one
      one = storage_size(1) / 8
      call MPI_Type_vector(columns, 1, stride, MPI_INTEGER, vector)
      call MPI_Type_create_resized(vector, 0_MPI_ADDRESS_KIND, one, t)
      call MPI_Type_commit(t)
      call MPI_Type_free(vector)
    end subroutine

  end subroutine

  ! From MPI_BOTTOM, with the absolute address of the first element of an array in a type that is one element wide.
  subroutine bottom(comm, shape)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: shape
    integer, asynchronous, allocatable :: got(:), mine(:)
    integer, allocatable :: counts(:), displs(:), want(:)
    integer :: rank, ranks, m
    integer(MPI_ADDRESS_KIND) :: at(1)
    type(MPI_Datatype) :: from, into

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(counts(0:ranks-1), displs(0:ranks-1))
    call blocks(shape, 703, ranks, counts, displs, want)
    m = counts(rank)
    ! An element more than needed, to have an address where there is no data.
    allocate(mine(m+1), got(size(want)+1))
    mine = block(rank, m + 1)
    call MPI_Get_address(mine, at(1))
    call absolute(at, from)
    call MPI_Get_address(got, at(1))
    call absolute(at, into)

    got(:size(want)) = -1
    call MPI_Allgatherv(mine, m, MPI_INTEGER, MPI_BOTTOM, counts, displs, into, comm)
    call check(all(got(:size(want)) == want), 'into bottom')
    got(:size(want)) = -1
    call MPI_Allgatherv(MPI_BOTTOM, m, from, MPI_BOTTOM, counts, displs, into, comm)
    call check(all(got(:size(want)) == want), 'from bottom into bottom')
    got(:size(want)) = -1
    got(displs(rank)+1:displs(rank)+m) = mine(:m)
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, MPI_BOTTOM, counts, displs, into, comm)
    call check(all(got(:size(want)) == want), 'in place in bottom')
    call counted('allgatherv', ranks, 3, sum(counts))
    if (shape == 1) then
       got(:size(want)) = -1
       call MPI_Allgather(MPI_BOTTOM, m, from, MPI_BOTTOM, m, into, comm)
       call check(all(got(:size(want)) == want), 'equal, from bottom into bottom')
       call counted('allgather', ranks, 1, sum(counts))
    end if
    call MPI_Type_free(from)
    call MPI_Type_free(into)
  end subroutine

  subroutine absolute(at, t)
    integer(MPI_ADDRESS_KIND), intent(in) :: at(1)
    type(MPI_Datatype), intent(out) :: t
    type(MPI_Datatype) :: h
    integer(MPI_ADDRESS_KIND) :: one
    one = storage_size(1) / 8
    call MPI_Type_create_hindexed(1, [1], at, MPI_INTEGER, h)
    call MPI_Type_create_resized(h, 0_MPI_ADDRESS_KIND, one, t)
    call MPI_Type_commit(t)
    call MPI_Type_free(h)
  end subroutine

end module

program agv_f08
  use calls
  implicit none
  integer :: rank, ranks, shape, total
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
  call equal(MPI_COMM_WORLD, 2003)
  call named(MPI_COMM_WORLD)
  call derived(MPI_COMM_WORLD)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm)
  call whole(comm, 2)
  call equal(comm, 77)
  call derived(comm)
  call MPI_Comm_free(comm)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm)
  call sections(comm, 4)
  call equal(comm, 77)
  call MPI_Comm_free(comm)
  call whole(MPI_COMM_SELF, 1)
  call equal(MPI_COMM_SELF, 77)

  call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (total /= 0) stop 1
  if (rank == 0) print '(a)', 'PASS agv_f08'
end program
