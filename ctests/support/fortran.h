! All blocking collectives through one of MPI's Fortran bindings. A program says which (BINDING is the module, or
! HAS_MPIF_H is defined; HAS_TYPED_HANDLES), includes this, and calls `everything`. The handles of `use mpi_f08` are
! types, those of the others integers; the rest is the same.
!
! Checked are answers, memory that nothing is received into, buffers that are sent from, and by whom the calls were
! carried out. Ranks pass garbage for arguments that they are told to ignore.
#ifdef HAS_TYPED_HANDLES
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define OPERATOR type(MPI_Op)
#else
#define COMM integer
#define DATATYPE integer
#define OPERATOR integer
#endif
#ifdef HAS_MPIF_H
#define USE_BINDING
#else
#define USE_BINDING use BINDING
#endif

! What frondo.c knows: who carried out a collective; and data.
module frondo
  use, intrinsic :: iso_c_binding, only: c_int, c_char, c_null_char
  implicit none
  private
  public :: failures, begin, check, counted, ordered, blocks, block, marked, operand, summed, after, map, composed

  ! Checks of this rank that failed.
  integer :: failures = 0

  interface
     integer(c_int) function frondo_start(rank, ranks) bind(c)
       import :: c_int
       integer(c_int), value :: rank, ranks
     end function
     integer(c_int) function frondo_counted(name, rondos, hosts) bind(c)
       import :: c_int, c_char
       character(kind=c_char), intent(in) :: name(*)
       integer(c_int), value :: rondos, hosts
     end function
     integer(c_int) function frondo_ordered(name, rondos, hosts) bind(c)
       import :: c_int, c_char
       character(kind=c_char), intent(in) :: name(*)
       integer(c_int), value :: rondos, hosts
     end function
     integer(c_int) function frondo_check(holds, what) bind(c)
       import :: c_int, c_char
       integer(c_int), value :: holds
       character(kind=c_char), intent(in) :: what(*)
     end function
  end interface

contains

  ! Looks for Rondo.
  subroutine begin(rank, ranks)
    integer, intent(in) :: rank, ranks
    failures = failures + frondo_start(rank, ranks)
  end subroutine

  ! Counts a failed check and says which.
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    failures = failures + frondo_check(merge(1, 0, holds), what // c_null_char)
  end subroutine

  ! The last `calls` calls of a collective on so many ranks, of `total` elements, were carried out by whom the runner
  ! expects. Where Rondo is forced, it takes calls with data; of MPI_Gatherv and MPI_Scatterv it takes those without
  ! as well, because only the root can tell them apart.
  subroutine counted(collective, ranks, calls, total)
    character(len=*), intent(in) :: collective
    integer, intent(in) :: ranks, calls, total
    logical :: is_rondos
    is_rondos = ranks >= 3 .and. (total > 0 .or. collective == 'gatherv' .or. collective == 'scatterv')
    failures = failures + frondo_counted(collective // c_null_char, merge(calls, 0, is_rondos), &
         merge(0, calls, is_rondos))
  end subroutine

  ! The same of reductions by an operator that does not commute, for which Rondo may take another algorithm than the
  ! one expected.
  subroutine ordered(collective, ranks, calls, total)
    character(len=*), intent(in) :: collective
    integer, intent(in) :: ranks, calls, total
    logical :: is_rondos
    is_rondos = ranks >= 3 .and. total > 0
    failures = failures + frondo_ordered(collective // c_null_char, merge(calls, 0, is_rondos), &
         merge(0, calls, is_rondos))
  end subroutine

  ! The blocks of all ranks, in units of n elements: 1 equal, 2 growing from none, 3 only of the odd ranks, 4 all of
  ! rank 0, 5 of one element each, 6 none, 7 by turns a few, none, n and one. In shapes 1 and 5 they follow one another;
  ! otherwise there are gaps, in shapes 3 and 4 the order is that of falling ranks, and in shape 7 the odd ranks come
  ! first. `want` are all blocks in their places, and in the gaps -1. One rank has no gap: there, MPI_Allgatherv of
  ! MPICH before 4.1 ignores the displacement.
  subroutine blocks(shape, n, ranks, counts, displs, want)
    integer, intent(in) :: shape, n, ranks
    integer, allocatable, intent(out) :: counts(:), displs(:), want(:)
    integer :: i, r, gap, room

    allocate(counts(0:ranks-1), displs(0:ranks-1))
    gap = merge(0, 7, shape == 1 .or. shape == 5 .or. ranks == 1)
    room = gap
    do i = 0, ranks - 1
       r = i
       if (shape == 3 .or. shape == 4) r = ranks - 1 - i
       if (shape == 7) r = 2 * i + 1
       if (shape == 7 .and. r >= ranks) r = 2 * (i - ranks / 2)
       select case (shape)
       case (1)
          counts(r) = n
       case (2)
          counts(r) = r * n
       case (3)
          counts(r) = merge(n + r, 0, mod(r, 2) == 1)
       case (4)
          counts(r) = merge(5 * n, 0, r == 0)
       case (5)
          counts(r) = 1
       case (6)
          counts(r) = 0
       case (7)
          counts(r) = merge(merge(3, 0, mod(r, 4) == 0), merge(n, 1, mod(r, 4) == 2), mod(r, 4) < 2)
       end select
       displs(r) = room
       room = room + counts(r) + gap
    end do
    allocate(want(room))
    want = -1
    do r = 0, ranks - 1
       want(displs(r)+1:displs(r)+counts(r)) = block(r, counts(r))
    end do
  end subroutine

  ! The block of a rank. Up to 50 ranks and 100000 elements all numbers differ, and default reals hold their halves.
  pure function block(rank, n)
    integer, intent(in) :: rank, n
    integer :: block(n), i
    block = [(100000 * rank + i, i = 1, n)]
  end function

  ! Numbers that belong to this root: what another root sent or got is not taken for them. -1, in the gaps, stays.
  elemental function marked(number, root)
    integer, intent(in) :: number, root
    integer :: marked
    marked = merge(number + 5000000 * (root + 1), number, number >= 0)
  end function

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

  ! Maps x -> a x + b modulo a prime, one after the other: the order shows.
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

end module

module collectives
  USE_BINDING
  use frondo
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
#ifdef HAS_MPIF_H
  include 'mpif.h'
#endif
  ! Every call has an error code; that of the last one, and this rank.
  integer :: ierr, rank, ranks

contains

  subroutine start
    call mpi_init(ierr)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
    call mpi_comm_size(MPI_COMM_WORLD, ranks, ierr)
    call begin(rank, ranks)
  end subroutine

  ! On all ranks, on all in reverse order, on the even and the odd ones, and on each by itself.
  subroutine everywhere
    COMM :: comm
    integer :: world_rank
    world_rank = rank
    call everything(MPI_COMM_WORLD)
    call mpi_comm_split(MPI_COMM_WORLD, 0, -world_rank, comm, ierr)
    call everything(comm)
    call mpi_comm_free(comm, ierr)
    call mpi_comm_split(MPI_COMM_WORLD, mod(world_rank, 2), world_rank, comm, ierr)
    call everything(comm)
    call mpi_comm_free(comm, ierr)
    call everything(MPI_COMM_SELF)
  end subroutine

  ! The last line is "PASS" and the name, and the exit status 0, if all checks held on all ranks.
  subroutine finish(name)
    character(len=*), intent(in) :: name
    integer :: total
    call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
    call mpi_allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call mpi_finalize(ierr)
    if (total /= 0) stop 1
    if (rank == 0) print '(a, a)', 'PASS ', name
  end subroutine

  subroutine everything(comm)
    COMM, intent(in) :: comm
    integer :: shape, i
    integer, parameter :: lengths(4) = [0, 1, 13, 2003]

    call mpi_comm_rank(comm, rank, ierr)
    call mpi_comm_size(comm, ranks, ierr)
    call broadcasts(comm)
    do shape = 1, 7
       call all_blocks(comm, shape)
       call rooted_blocks(comm, shape)
    end do
    call rows(comm, 10)
    call rows(comm, 300)
    call named(comm)
    do i = 1, size(lengths)
       ! Long vectors in place at rank 0 alone: at others MPICH by itself crashes.
       call sums(comm, lengths(i), merge(mod(i, ranks), 0, lengths(i) < 100))
       call parts(comm, lengths(i))
       call exchanges(comm, lengths(i))
    end do
    call irregular_exchanges(comm, 5)
    call irregular_exchanges(comm, 1009)
    call own_operator(comm, 1)
    call own_operator(comm, 207)
    call mpi_barrier(comm, ierr)
    call succeeded('barrier')
    call counted('barrier', ranks, 1, 1)
  end subroutine

  subroutine succeeded(what)
    character(len=*), intent(in) :: what
    call check(ierr == MPI_SUCCESS, what // ' has MPI_SUCCESS')
  end subroutine

  ! Types of several kinds; every second row of a matrix, by a vector that is resized so that the next element starts
  ! one row further; two arrays at their addresses.
  subroutine broadcasts(comm)
    COMM, intent(in) :: comm
    integer, parameter :: n = 3001, high = 10, wide = 300
    integer :: root, i, j, matrix(high, wide), want(high, wide)
    integer, asynchronous, save :: whole(n)
    double precision, asynchronous, save :: double(n)
    real :: single(n)
    complex :: pair(n)
    logical :: truth(n)
    character(len=n) :: text
    integer(MPI_OFFSET_KIND) :: long
    integer(MPI_ADDRESS_KIND) :: at(2)
    integer :: lengths(2)
    DATATYPE :: types(2), row, t

    do root = 0, ranks - 1
       single = [(merge(i * 0.5, -1.0, rank == root), i = 1, n)]
       pair = [(merge(cmplx(i, -i), (0, 0), rank == root), i = 1, n)]
       truth = [(rank == root .and. mod(i, 3) == 0, i = 1, n)]
       text = repeat(merge('rondo', '     ', rank == root), n / 5)
       long = merge(2_MPI_OFFSET_KIND**40, 0_MPI_OFFSET_KIND, rank == root)
       call mpi_bcast(single, n, MPI_REAL, root, comm, ierr)
       call succeeded('bcast')
       call mpi_bcast(pair, n, MPI_COMPLEX, root, comm, ierr)
       call mpi_bcast(truth, n, MPI_LOGICAL, root, comm, ierr)
       call mpi_bcast(text, n, MPI_CHARACTER, root, comm, ierr)
       call mpi_bcast(long, 1, MPI_OFFSET, root, comm, ierr)
       call check(all(single == [(i * 0.5, i = 1, n)]), 'reals')
       call check(all(pair == [(cmplx(i, -i), i = 1, n)]), 'complex numbers')
       call check(all(truth .eqv. [(mod(i, 3) == 0, i = 1, n)]), 'logicals')
       call check(text == repeat('rondo', n / 5), 'a text')
       call check(long == 2_MPI_OFFSET_KIND**40, 'a long integer')

       matrix = reshape([((merge(100 * j + i, -i, rank == root), i = 1, high), j = 1, wide)], [high, wide])
       want = reshape([((merge(100 * j + i, -i, rank == root .or. mod(i, 2) == 1), i = 1, high), j = 1, wide)], &
            [high, wide])
       call mpi_type_vector(wide, 1, high, MPI_INTEGER, row, ierr)
       call resized(row, 2, t)
       call mpi_bcast(matrix, high / 2, t, root, comm, ierr)
       call check(all(matrix == want), 'every second row of a matrix')
       call mpi_type_free(t, ierr)

       whole = [(merge(i, -1, rank == root), i = 1, n)]
       double = [(merge(i * 0.25d0, -1d0, rank == root), i = 1, n)]
       call mpi_get_address(whole, at(1), ierr)
       call mpi_get_address(double, at(2), ierr)
       lengths = n
       types = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
       call mpi_type_create_struct(2, lengths, at, types, t, ierr)
       call mpi_type_commit(t, ierr)
       call mpi_bcast(MPI_BOTTOM, 1, t, root, comm, ierr)
       call check(all(whole == [(i, i = 1, n)]), 'integers from MPI_BOTTOM')
       call check(all(double == [(i * 0.25d0, i = 1, n)]), 'double precision from MPI_BOTTOM')
       call mpi_type_free(t, ierr)
    end do
    call counted('bcast', ranks, 7 * ranks, n)
  end subroutine

  ! A type as wide as so many integers in place of this one, which is freed.
  subroutine resized(old, integers, new)
    DATATYPE, intent(inout) :: old
    integer, intent(in) :: integers
    DATATYPE, intent(out) :: new
    integer(MPI_ADDRESS_KIND) :: zero, width
    zero = 0
    width = integers * storage_size(1) / 8
    call mpi_type_create_resized(old, zero, width, new, ierr)
    call mpi_type_commit(new, ierr)
    call mpi_type_free(old, ierr)
  end subroutine

  ! A type of integers at the address of this array, as wide as one.
  subroutine absolute(buffer, t)
    integer, asynchronous, intent(in) :: buffer(*)
    DATATYPE, intent(out) :: t
    DATATYPE :: h
    integer(MPI_ADDRESS_KIND) :: at(1)
    call mpi_get_address(buffer(1), at(1), ierr)
    call mpi_type_create_hindexed(1, [1], at, MPI_INTEGER, h, ierr)
    call resized(h, 1, t)
  end subroutine

  ! MPI_Allgatherv, and MPI_Allgather where blocks are equal, of integers: with a buffer of one's own, in place, and
  ! both at MPI_BOTTOM.
  subroutine all_blocks(comm, shape)
    COMM, intent(in) :: comm
    integer, intent(in) :: shape
    integer, allocatable :: counts(:), displs(:), want(:), kept(:)
    integer, asynchronous, allocatable :: mine(:), got(:)
    integer :: m, n, at
    DATATYPE :: from, into

    call blocks(shape, 607, ranks, counts, displs, want)
    m = counts(rank)
    at = displs(rank)
    n = size(want)
    ! An element more than needed, to have an address where there is no data.
    kept = [block(rank, m), -5]
    want = [want, -1]
    allocate(mine(m+1), got(n+1))
    mine = kept
    call absolute(mine, from)
    call absolute(got, into)
    got = -1
    call mpi_allgatherv(mine, m, MPI_INTEGER, got, counts, displs, MPI_INTEGER, comm, ierr)
    call succeeded('allgatherv')
    call check(all(got == want), 'allgatherv')
    call fill
    call mpi_allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, counts, displs, MPI_INTEGER, comm, ierr)
    call succeeded('allgatherv in place')
    call check(all(got == want), 'allgatherv in place')
    got = -1
    call mpi_allgatherv(MPI_BOTTOM, m, from, MPI_BOTTOM, counts, displs, into, comm, ierr)
    call check(all(got == want), 'allgatherv at MPI_BOTTOM')
    call fill
    call mpi_allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, MPI_BOTTOM, counts, displs, into, comm, ierr)
    call check(all(got == want), 'allgatherv in place at MPI_BOTTOM')
    call counted('allgatherv', ranks, 4, sum(counts))
    if (shape == 1 .or. shape == 5 .or. shape == 6) then
       if (shape == 6) m = 0
       if (shape == 6) want = -1
       got = -1
       call mpi_allgather(mine, m, MPI_INTEGER, got, m, MPI_INTEGER, comm, ierr)
       call succeeded('allgather')
       call check(all(got == want), 'allgather')
       call fill
       call mpi_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, m, MPI_INTEGER, comm, ierr)
       call check(all(got == want), 'allgather in place')
       got = -1
       call mpi_allgather(MPI_BOTTOM, m, from, MPI_BOTTOM, m, into, comm, ierr)
       call check(all(got == want), 'allgather at MPI_BOTTOM')
       call counted('allgather', ranks, 3, m)
    end if
    call check(all(mine == kept), 'buffer sent from')
    call mpi_type_free(from, ierr)
    call mpi_type_free(into, ierr)

  contains

    ! The rank's own block in its place alone.
    subroutine fill
      got = -1
      got(at+1:at+m) = kept(:m)
    end subroutine

  end subroutine

  ! MPI_Gatherv and MPI_Scatterv, and MPI_Gather and MPI_Scatter where blocks are equal, from and to every root: with a
  ! buffer for the root's own block, in place, and both at MPI_BOTTOM. A rank has an element before and one behind its
  ! block. Other ranks than the root have memory for all blocks as well, and pass it with counts below none and without
  ! a type.
  subroutine rooted_blocks(comm, shape)
    COMM, intent(in) :: comm
    integer, intent(in) :: shape
    integer, allocatable :: counts(:), displs(:), want(:), c(:), d(:), mine(:), theirs(:)
    integer, asynchronous, allocatable :: own(:), full(:)
    integer :: root, m, at, each
    logical :: is_root
    DATATYPE :: t, from, into

    call blocks(shape, 307, ranks, counts, displs, want)
    m = counts(rank)
    at = displs(rank)
    want = [want, -1]
    allocate(own(m+2), full(size(want)))
    call absolute(own(2), from)
    call absolute(full, into)
    do root = 0, ranks - 1
       is_root = rank == root
       mine = [-5, marked(block(rank, m), root), -5]
       theirs = merge(marked(want, root), -1, is_root)
       c = merge(counts, -1, is_root)
       d = merge(displs, -1, is_root)
       each = merge(m, -1, is_root)
       t = MPI_DATATYPE_NULL
       if (is_root) t = MPI_INTEGER

       own = mine
       full = -1
       call mpi_gatherv(own(2), m, MPI_INTEGER, full, c, d, t, root, comm, ierr)
       call succeeded('gatherv')
       call check(all(full == theirs), 'gatherv')
       full = -1
       if (is_root) then
          full(at+1:at+m) = mine(2:m+1)
          call mpi_gatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, full, c, d, t, root, comm, ierr)
       else
          call mpi_gatherv(own(2), m, MPI_INTEGER, full, c, d, t, root, comm, ierr)
       end if
       call succeeded('gatherv in place')
       call check(all(full == theirs), 'gatherv in place')
       full = -1
       call mpi_gatherv(MPI_BOTTOM, m, from, MPI_BOTTOM, counts, displs, into, root, comm, ierr)
       call check(all(full == theirs), 'gatherv at MPI_BOTTOM')
       call check(all(own == mine), 'buffer sent from, gatherv')

       own = -5
       full = theirs
       call mpi_scatterv(full, c, d, t, own(2), m, MPI_INTEGER, root, comm, ierr)
       call succeeded('scatterv')
       call check(all(own == mine), 'scatterv')
       own = -5
       call mpi_scatterv(MPI_BOTTOM, counts, displs, into, MPI_BOTTOM, m, from, root, comm, ierr)
       call check(all(own == mine), 'scatterv at MPI_BOTTOM')
       own = -5
       if (is_root) then
          call mpi_scatterv(full, c, d, t, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, comm, ierr)
          call check(all(own == -5), 'own block, scatterv in place')
       else
          call mpi_scatterv(full, c, d, t, own(2), m, MPI_INTEGER, root, comm, ierr)
          call check(all(own == mine), 'scatterv in place')
       end if
       call succeeded('scatterv in place')
       call check(all(full == theirs), 'buffer sent from, scatterv')
       if (shape /= 1 .and. shape /= 5) cycle

       own = mine
       full = -1
       call mpi_gather(own(2), m, MPI_INTEGER, full, each, t, root, comm, ierr)
       call succeeded('gather')
       call check(all(full == theirs), 'gather')
       full = -1
       if (is_root) then
          full(at+1:at+m) = mine(2:m+1)
          call mpi_gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, MPI_BOTTOM, m, into, root, comm, ierr)
       else
          call mpi_gather(own(2), m, MPI_INTEGER, full, each, t, root, comm, ierr)
       end if
       call check(all(full == theirs), 'gather in place at MPI_BOTTOM')
       own = -5
       full = theirs
       call mpi_scatter(full, each, t, own(2), m, MPI_INTEGER, root, comm, ierr)
       call succeeded('scatter')
       call check(all(own == mine), 'scatter')
       own = -5
       if (is_root) then
          call mpi_scatter(MPI_BOTTOM, m, into, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, comm, ierr)
          call check(all(own == -5), 'own block, scatter in place')
       else
          call mpi_scatter(full, each, t, MPI_BOTTOM, m, from, root, comm, ierr)
          call check(all(own == mine), 'scatter at MPI_BOTTOM')
       end if
       call check(all(full == theirs), 'buffer sent from, scatter')
    end do
    call counted('gatherv', ranks, 3 * ranks, sum(counts))
    call counted('scatterv', ranks, 3 * ranks, sum(counts))
    if (shape == 1 .or. shape == 5) call counted('gather', ranks, 2 * ranks, m)
    if (shape == 1 .or. shape == 5) call counted('scatter', ranks, 2 * ranks, m)
    call mpi_type_free(from, ierr)
    call mpi_type_free(into, ierr)
  end subroutine

  ! Each rank has its block as every third element of an array; together they are the rows of a matrix, so that blocks
  ! lie between each other's elements. For functions with displacements the rows are those of falling ranks. The last
  ! row is nobody's, and stays as it was.
  subroutine rows(comm, columns)
    COMM, intent(in) :: comm
    integer, intent(in) :: columns
    integer :: root, r, mine(3 * columns), own(3 * columns), at(columns)
    integer, allocatable :: counts(:), displs(:), theirs(:, :), fall(:, :), matrix(:, :)
    DATATYPE :: third, vector, row

    allocate(theirs(0:ranks, columns), fall(0:ranks, columns), matrix(0:ranks, columns))
    at = [(3 * r + 1, r = 0, columns - 1)]
    call mpi_type_create_indexed_block(columns, 1, at, MPI_INTEGER, third, ierr)
    call mpi_type_commit(third, ierr)
    call mpi_type_vector(columns, 1, ranks + 1, MPI_INTEGER, vector, ierr)
    call resized(vector, 1, row)
    counts = [(1, r = 0, ranks - 1)]
    displs = [(ranks - 1 - r, r = 0, ranks - 1)]
    theirs = -1
    do r = 0, ranks - 1
       theirs(r, :) = block(r, columns)
    end do
    fall = theirs
    fall(ranks-1:0:-1, :) = theirs(:ranks-1, :)
    mine = -5
    mine(2::3) = block(rank, columns)

    matrix = -1
    call mpi_allgatherv(mine, 1, third, matrix, counts, displs, row, comm, ierr)
    call check(all(matrix == fall), 'falling rows, allgatherv')
    matrix = -1
    call mpi_allgather(mine, 1, third, matrix, 1, row, comm, ierr)
    call check(all(matrix == theirs), 'rows, allgather')
    call counted('allgatherv', ranks, 1, columns)
    call counted('allgather', ranks, 1, columns)
    do root = 0, ranks - 1
       matrix = -1
       call mpi_gatherv(mine, 1, third, matrix, counts, displs, row, root, comm, ierr)
       call check(all(matrix == merge(fall, -1, rank == root)), 'falling rows, gatherv')
       own = -5
       call mpi_scatterv(matrix, counts, displs, row, own, 1, third, root, comm, ierr)
       call check(all(own == mine), 'falling rows, scatterv')
       matrix = -1
       call mpi_gather(mine, 1, third, matrix, 1, row, root, comm, ierr)
       call check(all(matrix == merge(theirs, -1, rank == root)), 'rows, gather')
       own = -5
       call mpi_scatter(matrix, 1, row, own, 1, third, root, comm, ierr)
       call check(all(own == mine), 'rows, scatter')
    end do
    call counted('gatherv', ranks, ranks, columns)
    call counted('scatterv', ranks, ranks, columns)
    call counted('gather', ranks, ranks, columns)
    call counted('scatter', ranks, ranks, columns)
    call mpi_type_free(third, ierr)
    call mpi_type_free(row, ierr)
  end subroutine

  ! Types that only Fortran has, named and by precision, each with an operator. All results are exact.
  subroutine named(comm)
    COMM, intent(in) :: comm
    integer, parameter :: n = 107, fine = selected_real_kind(15, 307)
    integer :: r, i, pair(2, n), got_pair(2, n), every(n, 0:63), all_of(n * ranks), root
    double precision :: double(n), got_double(n), place(2, n), got_place(2, n)
    complex :: number(n), got_number(n), all_numbers(n * ranks)
    logical :: truth(n), got_truth(n), all_truths(n * ranks)
    character :: letters(n), all_letters(n * ranks)
    complex(fine) :: fine_numbers(n * ranks), got_fine(n * ranks)
    DATATYPE :: t

    do r = 0, 63
       every(:, r) = operand(r, n)
    end do
    all_of = [every(:, :ranks-1)]
    root = ranks / 2
    double = every(:, rank) * 0.25d0
    truth = mod(every(:, rank), 8) /= 0
    number = cmplx(every(:, rank), -2 * every(:, rank))
    letters = achar(33 + modulo(every(:, rank), 89))
    call mpi_allgather(number, n, MPI_COMPLEX, all_numbers, n, MPI_COMPLEX, comm, ierr)
    call check(all(all_numbers == cmplx(all_of, -2 * all_of)), 'complex, allgather')
    call counted('allgather', ranks, 1, n)
    call mpi_gather(letters, n, MPI_CHARACTER, all_letters, n, MPI_CHARACTER, root, comm, ierr)
    if (rank == root) call check(all(all_letters == achar(33 + modulo(all_of, 89))), 'characters, gather')
    call counted('gather', ranks, 1, n)
    all_truths = mod(all_of, 8) /= 0
    call mpi_scatter(all_truths, n, MPI_LOGICAL, got_truth, n, MPI_LOGICAL, root, comm, ierr)
    call check(all(got_truth .eqv. truth), 'logicals, scatter')
    call counted('scatter', ranks, 1, n)
    call mpi_type_create_f90_complex(15, 307, t, ierr)
    fine_numbers = cmplx(every(1, rank), rank, fine)
    call mpi_alltoall(fine_numbers, n, t, got_fine, n, t, comm, ierr)
    call check(all(got_fine == [((cmplx(every(1, r), r, fine), i = 1, n), r = 0, ranks - 1)]), 'by precision, alltoall')
    call counted('alltoall', ranks, 1, n)

    call mpi_allreduce(double, got_double, n, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierr)
    call check(all(got_double == summed(ranks, n) * 0.25d0), 'double precision')
    call mpi_allreduce(truth, got_truth, n, MPI_LOGICAL, MPI_LAND, comm, ierr)
    call check(all(got_truth .eqv. all(mod(every(:, :ranks-1), 8) /= 0, 2)), 'logical, and')
    call mpi_allreduce(truth, got_truth, n, MPI_LOGICAL, MPI_LOR, comm, ierr)
    call check(all(got_truth .eqv. any(mod(every(:, :ranks-1), 8) /= 0, 2)), 'logical, or')
    call mpi_allreduce(number, got_number, n, MPI_COMPLEX, MPI_SUM, comm, ierr)
    call check(all(got_number == cmplx(summed(ranks, n), -2 * summed(ranks, n))), 'complex')
    ! The largest with its rank: of several equal ones the first.
    place(1, :) = every(:, rank) / 10 * 0.5d0
    place(2, :) = rank
    call mpi_allreduce(place, got_place, n, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, comm, ierr)
    call check(all(got_place(1, :) == maxval(every(:, :ranks-1) / 10, 2) * 0.5d0), 'largest')
    call check(all(nint(got_place(2, :)) == maxloc(every(:, :ranks-1) / 10, 2) - 1), 'place of the largest')
    pair(1, :) = every(:, rank) / 10
    pair(2, :) = rank
    call mpi_allreduce(pair, got_pair, n, MPI_2INTEGER, MPI_MINLOC, comm, ierr)
    call check(all(got_pair(1, :) == minval(every(:, :ranks-1) / 10, 2)), 'smallest')
    call check(all(got_pair(2, :) == minloc(every(:, :ranks-1) / 10, 2) - 1), 'place of the smallest')
    call counted('allreduce', ranks, 6, n)

    call mpi_reduce(double, got_double, n, MPI_DOUBLE_PRECISION, MPI_MAX, ranks - 1, comm, ierr)
    if (rank == ranks - 1) call check(all(got_double == maxval(every(:, :ranks-1), 2) * 0.25d0), 'largest, reduce')
    call mpi_reduce(truth, got_truth, n, MPI_LOGICAL, MPI_LXOR, 0, comm, ierr)
    if (rank == 0) call check(all(got_truth .eqv. mod(count(mod(every(:, :ranks-1), 8) /= 0, 2), 2) == 1), 'parity')
    call counted('reduce', ranks, 2, n)
    call mpi_scan(number, got_number, n, MPI_COMPLEX, MPI_SUM, comm, ierr)
    call check(all(got_number == cmplx(summed(rank + 1, n), -2 * summed(rank + 1, n))), 'complex scan')
    call counted('scan', ranks, 1, n)
    call mpi_exscan(double, got_double, n, MPI_DOUBLE_PRECISION, MPI_MIN, comm, ierr)
    if (rank > 0) call check(all(got_double == minval(every(:, :rank-1), 2) * 0.25d0), 'smallest so far')
    call counted('exscan', ranks, 1, n)
  end subroutine

  ! Sums of n integers, with a buffer of one's own and in place.
  subroutine sums(comm, n, root)
    COMM, intent(in) :: comm
    integer, intent(in) :: n, root
    integer :: mine(n), got(n), want(n)

    mine = operand(rank, n)
    want = summed(ranks, n)
    got = -1
    call mpi_allreduce(mine, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call succeeded('allreduce')
    call check(all(got == want), 'allreduce')
    got = mine
    call mpi_allreduce(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call succeeded('allreduce in place')
    call check(all(got == want), 'allreduce in place')
    call counted('allreduce', ranks, 2, n)

    got = -1
    call mpi_reduce(mine, got, n, MPI_INTEGER, MPI_SUM, root, comm, ierr)
    call succeeded('reduce')
    call check(all(got == merge(want, -1, rank == root)), 'reduce')
    got = mine
    if (rank == root) then
       call mpi_reduce(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, root, comm, ierr)
    else
       call mpi_reduce(mine, got, n, MPI_INTEGER, MPI_SUM, root, comm, ierr)
    end if
    call succeeded('reduce in place')
    call check(all(got == merge(want, mine, rank == root)), 'reduce in place')
    call counted('reduce', ranks, 2, n)

    want = summed(rank + 1, n)
    got = -1
    call mpi_scan(mine, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call succeeded('scan')
    call check(all(got == want), 'scan')
    got = mine
    call mpi_scan(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(all(got == want), 'scan in place')
    call counted('scan', ranks, 2, n)

    ! Rank 0 gets nothing.
    got = -1
    call mpi_exscan(mine, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call succeeded('exscan')
    call check(all(got == merge(summed(rank, n), -1, rank > 0)), 'exscan')
    got = mine
    call mpi_exscan(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    if (rank > 0) call check(all(got == summed(rank, n)), 'exscan in place')
    call counted('exscan', ranks, 2, n)
    call check(all(mine == operand(rank, n)), 'buffer sent from')
  end subroutine

  ! Each rank gets a part of the sum: n elements, and by turns n, twice n and none.
  subroutine parts(comm, n)
    COMM, intent(in) :: comm
    integer, intent(in) :: n
    integer :: r, at, m
    integer, allocatable :: mine(:), got(:), want(:), counts(:)

    mine = operand(rank, n * ranks)
    want = summed(ranks, n * ranks)
    at = n * rank
    got = 0 * mine - 1
    call mpi_reduce_scatter_block(mine, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call succeeded('reduce_scatter_block')
    call check(all(got(:n) == want(at+1:at+n)) .and. all(got(n+1:) == -1), 'reduce_scatter_block')
    got = mine
    call mpi_reduce_scatter_block(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(all(got(:n) == want(at+1:at+n)), 'reduce_scatter_block in place')
    call counted('reduce_scatter_block', ranks, 2, n)

    counts = [(mod(r + 1, 3) * n, r = 0, ranks - 1)]
    at = sum(counts(:rank))
    m = counts(rank + 1)
    mine = operand(rank, sum(counts))
    want = summed(ranks, sum(counts))
    got = 0 * mine - 1
    call mpi_reduce_scatter(mine, got, counts, MPI_INTEGER, MPI_SUM, comm, ierr)
    call succeeded('reduce_scatter')
    call check(all(got(:m) == want(at+1:at+m)) .and. all(got(m+1:) == -1), 'reduce_scatter')
    got = mine
    call mpi_reduce_scatter(MPI_IN_PLACE, got, counts, MPI_INTEGER, MPI_SUM, comm, ierr)
    call check(all(got(:m) == want(at+1:at+m)), 'reduce_scatter in place')
    call counted('reduce_scatter', ranks, 2, sum(counts))
  end subroutine

  ! The operator: right = left, then right.
#ifdef HAS_TYPED_HANDLES
  subroutine compose(left, right, length, datatype)
    type(c_ptr), value :: left, right
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: x(:, :), y(:, :)
    integer :: bytes, i
    call c_f_pointer(left, x, [2, length])
    call c_f_pointer(right, y, [2, length])
#else
  subroutine compose(x, y, length, datatype)
    integer :: length, datatype, x(2, length), y(2, length)
    integer :: bytes, i
#endif
    call mpi_type_size(datatype, bytes, ierr)
    call check(bytes == 2 * storage_size(1) / 8, 'size in the operator')
    do i = 1, length
       y(:, i) = after(x(:, i), y(:, i))
    end do
  end subroutine

  ! Reductions by an operator of the program's own that does not commute.
  subroutine own_operator(comm, n)
    COMM, intent(in) :: comm
    integer, intent(in) :: n
    integer :: i, r
    integer, allocatable :: mine(:, :), got(:, :), counts(:), want(:, :)
    OPERATOR :: op
    DATATYPE :: t

    call mpi_type_contiguous(2, MPI_INTEGER, t, ierr)
    call mpi_type_commit(t, ierr)
    call mpi_op_create(compose, .false., op, ierr)
    allocate(mine(2, n * ranks), got(2, n * ranks))
    do i = 1, n * ranks
       mine(:, i) = map(rank, i)
    end do

    want = composed(ranks, 0, n)
    call mpi_allreduce(mine, got, n, t, op, comm, ierr)
    call check(all(got(:, :n) == want), 'maps, allreduce')
    call ordered('allreduce', ranks, 1, n)
    call mpi_reduce(mine, got, n, t, op, ranks / 2, comm, ierr)
    if (rank == ranks / 2) call check(all(got(:, :n) == want), 'maps, reduce')
    ! In place at rank 0: with long vectors MPICH by itself crashes at others.
    got(:, :n) = mine(:, :n)
    if (rank == 0) then
       call mpi_reduce(MPI_IN_PLACE, got, n, t, op, 0, comm, ierr)
       call check(all(got(:, :n) == want), 'maps, reduce in place')
    else
       call mpi_reduce(mine, got, n, t, op, 0, comm, ierr)
    end if
    call ordered('reduce', ranks, 2, n)
    call mpi_reduce_scatter_block(mine, got, n, t, op, comm, ierr)
    call check(all(got(:, :n) == composed(ranks, n * rank, n)), 'maps, reduce_scatter_block')
    call ordered('reduce_scatter_block', ranks, 1, n)
    counts = [(mod(r, 2) * n, r = 1, ranks)]
    i = sum(counts(:rank))
    r = counts(rank + 1)
    call mpi_reduce_scatter(mine, got, counts, t, op, comm, ierr)
    call check(all(got(:, :r) == composed(ranks, i, r)), 'maps, reduce_scatter')
    call ordered('reduce_scatter', ranks, 1, sum(counts))
    call mpi_scan(mine, got, n, t, op, comm, ierr)
    call check(all(got(:, :n) == composed(rank + 1, 0, n)), 'maps, scan')
    call ordered('scan', ranks, 1, n)
    call mpi_exscan(mine, got, n, t, op, comm, ierr)
    if (rank > 0) call check(all(got(:, :n) == composed(rank, 0, n)), 'maps, exscan')
    call ordered('exscan', ranks, 1, n)
    call mpi_op_free(op, ierr)
    call mpi_type_free(t, ierr)
  end subroutine

  ! What one rank has for another.
  pure function words(from, to, n)
    integer, intent(in) :: from, to, n
    integer :: words(n), i
    words = [(from * 100000 + to * 10000 + i, i = 1, n)]
  end function

  subroutine exchanges(comm, n)
    COMM, intent(in) :: comm
    integer, intent(in) :: n
    integer :: r
    integer, allocatable :: own(:, :), got(:, :), want(:, :)

    allocate(own(n, 0:ranks-1), got(n, 0:ranks-1), want(n, 0:ranks-1))
    do r = 0, ranks - 1
       own(:, r) = words(rank, r, n)
       want(:, r) = words(r, rank, n)
    end do
    got = -1
    call mpi_alltoall(own, n, MPI_INTEGER, got, n, MPI_INTEGER, comm, ierr)
    call succeeded('alltoall')
    call check(all(got == want), 'alltoall')
    got = own
    call mpi_alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, n, MPI_INTEGER, comm, ierr)
    call succeeded('alltoall in place')
    call check(all(got == want), 'alltoall in place')
    call counted('alltoall', ranks, 2, n)
  end subroutine

  ! Blocks of which every third is empty, with a gap behind each; every second integer by a derived type at who
  ! receives; and by their addresses.
  subroutine irregular_exchanges(comm, n)
    COMM, intent(in) :: comm
    integer, intent(in) :: n
    integer :: r, bytes
    integer, allocatable :: counts(:), displs(:), want(:, :)
    integer, asynchronous, allocatable :: own(:, :), got(:, :)
    DATATYPE, allocatable :: types(:), others(:), from(:), into(:)
    DATATYPE :: vector

    bytes = storage_size(rank) / 8
    allocate(counts(0:ranks-1), displs(0:ranks-1), types(0:ranks-1), others(0:ranks-1))
    allocate(from(0:ranks-1), into(0:ranks-1))
    allocate(own(2*n, 0:ranks-1), got(2*n, 0:ranks-1), want(2*n, 0:ranks-1))
    own = -1
    want = -2
    do r = 0, ranks - 1
       counts(r) = merge(0, n, mod(rank + r, 3) == 0)
       displs(r) = 2 * n * r
       own(:n, r) = words(rank, r, n)
       want(:counts(r), r) = words(r, rank, counts(r))
       call absolute(own(:, r), from(r))
       call absolute(got(:, r), into(r))
    end do
    got = -2
    call mpi_alltoallv(own, counts, displs, MPI_INTEGER, got, counts, displs, MPI_INTEGER, comm, ierr)
    call succeeded('alltoallv')
    call check(all(got == want), 'alltoallv')
    do r = 0, ranks - 1
       if (counts(r) > 0) got(:n, r) = own(:n, r)
    end do
    call mpi_alltoallv(MPI_IN_PLACE, counts, displs, MPI_INTEGER, got, counts, displs, MPI_INTEGER, comm, ierr)
    call succeeded('alltoallv in place')
    call check(all(got == want), 'alltoallv in place')
    call counted('alltoallv', ranks, 2, n)

    call mpi_type_vector(n, 1, 2, MPI_INTEGER, vector, ierr)
    call mpi_type_commit(vector, ierr)
    types = MPI_INTEGER
    others = vector
    got = -2
    call mpi_alltoallw(own, counts, displs * bytes, types, got, min(counts, 1), displs * bytes, others, comm, ierr)
    call succeeded('alltoallw')
    call check(all(got(1::2, :) == want(:n, :)) .and. all(got(2::2, :) == -2), 'alltoallw of vectors')
    call mpi_type_free(vector, ierr)
    got = -2
    call mpi_alltoallw(MPI_BOTTOM, counts, 0 * displs, from, MPI_BOTTOM, counts, 0 * displs, into, comm, ierr)
    call check(all(got == want), 'alltoallw at MPI_BOTTOM')
    call counted('alltoallw', ranks, 2, n)
    do r = 0, ranks - 1
       call mpi_type_free(from(r), ierr)
       call mpi_type_free(into(r), ierr)
    end do
  end subroutine

end module
