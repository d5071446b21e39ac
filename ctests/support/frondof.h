! What Fortran test programs share, whatever the binding: checks, who
! carried a collective out (which frondo.c knows), and blocks of data.
! As mpif.h, this can be included in fixed and in free form: no line is
! continued, and none is longer than 72 columns.
      module frondo
      use, intrinsic :: iso_c_binding, only: c_int, c_char, c_null_char
      implicit none
      private
      public :: failures, begin, check, counted, blocks, block, marked
      public :: ordered

!     Checks of this rank that failed.
      integer :: failures = 0

      interface
         integer(c_int) function frondo_start(rank, ranks) bind(c)
            import :: c_int
            integer(c_int), value :: rank, ranks
         end function
         integer(c_int) function frondo_counted(name, r, h) bind(c)
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), value :: r, h
         end function
         integer(c_int) function frondo_ordered(name, r, h) bind(c)
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), value :: r, h
         end function
         integer(c_int) function frondo_check(holds, what) bind(c)
            import :: c_int, c_char
            integer(c_int), value :: holds
            character(kind=c_char), intent(in) :: what(*)
         end function
      end interface

      contains

!     Looks for Rondo.
      subroutine begin(rank, ranks)
      integer, intent(in) :: rank, ranks
      failures = failures + frondo_start(rank, ranks)
      end subroutine

!     Counts a failed check and says which.
      subroutine check(holds, what)
      logical, intent(in) :: holds
      character(len=*), intent(in) :: what
      integer :: h
      h = merge(1, 0, holds)
      failures = failures + frondo_check(h, what // c_null_char)
      end subroutine

!     The last `calls` calls of a collective on a communicator of so
!     many ranks, of `total` elements each, were carried out by whom
!     the runner expects. Where Rondo is forced, it takes calls with
!     data; of MPI_Gatherv and MPI_Scatterv it takes those without as
!     well, because only the root can tell them apart.
      subroutine counted(collective, ranks, calls, total)
      character(len=*), intent(in) :: collective
      integer, intent(in) :: ranks, calls, total
      character(len=len(collective)+1) :: name
      logical :: data
      name = collective // c_null_char
      data = total > 0
      if (collective == 'gatherv') data = .true.
      if (collective == 'scatterv') data = .true.
      if (ranks >= 3 .and. data) then
         failures = failures + frondo_counted(name, calls, 0)
      else
         failures = failures + frondo_counted(name, 0, calls)
      end if
      end subroutine

!     The same of reductions by an operator that does not commute, for
!     which Rondo may take another algorithm than the one expected.
      subroutine ordered(collective, ranks, calls, total)
      character(len=*), intent(in) :: collective
      integer, intent(in) :: ranks, calls, total
      character(len=len(collective)+1) :: name
      name = collective // c_null_char
      if (ranks >= 3 .and. total > 0) then
         failures = failures + frondo_ordered(name, calls, 0)
      else
         failures = failures + frondo_ordered(name, 0, calls)
      end if
      end subroutine

!     The blocks of all ranks, in units of n elements: 1 equal,
!     2 growing from none, 3 only of the odd ranks, 4 all of rank 0,
!     5 of one element each, 6 none, 7 by turns a few, none, n and one.
!     In shapes 1 and 5 they follow one another; otherwise there are
!     gaps, in shapes 3 and 4 the order is that of falling ranks, and in
!     shape 7 the odd ranks come first. `want` are all blocks in their
!     places, and in the gaps -1. One rank has no gap: there,
!     MPI_Allgatherv of MPICH before 4.1 ignores the displacement.
      subroutine blocks(shape, n, ranks, counts, displs, want)
      integer, intent(in) :: shape, n, ranks
      integer, intent(out) :: counts(0:), displs(0:)
      integer, allocatable, intent(out) :: want(:)
      integer :: i, r, gap, room, from

      gap = 7
      if (shape == 1 .or. shape == 5 .or. ranks == 1) gap = 0
      room = gap
      do i = 0, ranks - 1
         r = i
         if (shape == 3 .or. shape == 4) r = ranks - 1 - i
         if (shape == 7) r = 2 * i + 1
         if (shape == 7 .and. r >= ranks) r = 2 * (i - ranks / 2)
         counts(r) = 0
         if (shape == 1) counts(r) = n
         if (shape == 2) counts(r) = r * n
         if (shape == 3 .and. mod(r, 2) == 1) counts(r) = n + r
         if (shape == 4 .and. r == 0) counts(r) = 5 * n
         if (shape == 5) counts(r) = 1
         if (shape == 7 .and. mod(r, 4) == 0) counts(r) = 3
         if (shape == 7 .and. mod(r, 4) == 2) counts(r) = n
         if (shape == 7 .and. mod(r, 4) == 3) counts(r) = 1
         displs(r) = room
         room = room + counts(r) + gap
      end do
      allocate(want(room))
      want = -1
      do r = 0, ranks - 1
         from = displs(r) + 1
         want(from:displs(r)+counts(r)) = block(r, counts(r))
      end do
      end subroutine

!     The block of a rank. Up to 50 ranks and 100000 elements all
!     numbers differ, and default reals hold their halves.
      pure function block(rank, n)
      integer, intent(in) :: rank, n
      integer :: block(n), i
      do i = 1, n
         block(i) = 100000 * rank + i
      end do
      end function

!     Numbers that belong to this root: what another root sent or got is
!     not taken for them. -1, in the gaps, stays.
      elemental function marked(number, root)
      integer, intent(in) :: number, root
      integer :: marked
      marked = number
      if (number >= 0) marked = number + 5000000 * (root + 1)
      end function

      end module
