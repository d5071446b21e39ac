C     MPI_ALLGATHERV and MPI_ALLGATHER through mpif.h, in fixed form: named
C     types, equal, unequal and empty blocks, gaps between blocks, blocks
C     in reverse order, MPI_IN_PLACE, a derived type, MPI_BOTTOM,
C     sub-communicators. The last line is "PASS agv_mpifh", and the exit
C     status 0, if all checks held on all ranks.
      program agv_mpifh
      implicit none
      include 'mpif.h'
      integer ierr, rank, ranks, failures, total, shape

      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      call mpi_comm_size(mpi_comm_world, ranks, ierr)
      failures = 0
      call begin(rank, ranks, failures)
      do shape = 1, 6
         call whole(mpi_comm_world, shape, failures)
         call bottom(mpi_comm_world, shape, failures)
      end do
      call equal(mpi_comm_world, 0, failures)
      call equal(mpi_comm_world, 1, failures)
      call equal(mpi_comm_world, 2011, failures)
      call named(mpi_comm_world, failures)
      call rows(mpi_comm_world, failures)
      call others(failures)

      call mpi_allreduce(failures, total, 1, mpi_integer, mpi_sum,
     &                   mpi_comm_world, ierr)
      call mpi_finalize(ierr)
      if (total .ne. 0) stop 1
      if (rank .eq. 0) print '(a)', 'PASS agv_mpifh'
      end program

C     Looks for Rondo.
      subroutine begin(rank, ranks, failures)
      use, intrinsic :: iso_c_binding
      implicit none
      integer rank, ranks, failures
      interface
         integer(c_int) function frondo_start(rank, ranks) bind(c)
            import :: c_int
            integer(c_int), value :: rank, ranks
         end function
      end interface
      failures = failures + frondo_start(rank, ranks)
      end subroutine

C     Counts a failed check and says which.
      subroutine check(holds, what, failures)
      use, intrinsic :: iso_c_binding
      implicit none
      logical holds
      character*(*) what
      integer failures
      interface
         integer(c_int) function frondo_check(holds, what) bind(c)
            import :: c_int, c_char
            integer(c_int), value :: holds
            character(kind=c_char), intent(in) :: what(*)
         end function
      end interface
      failures = failures
     &         + frondo_check(merge(1, 0, holds), what // c_null_char)
      end subroutine

C     Checks that the last `calls` calls of a collective on comm, of
C     `total` elements each, were carried out by whom the runner expects.
      subroutine counted(collective, comm, calls, total, failures)
      use, intrinsic :: iso_c_binding
      implicit none
      include 'mpif.h'
      character*(*) collective
      integer comm, calls, total, failures, ranks, ierr
      interface
         integer(c_int) function frondo_counted(collective, rondos,
     &                                          hosts) bind(c)
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: collective(*)
            integer(c_int), value :: rondos, hosts
         end function
      end interface
      call mpi_comm_size(comm, ranks, ierr)
      if (ranks .ge. 3 .and. total .gt. 0) then
         failures = failures
     &            + frondo_counted(collective // c_null_char, calls, 0)
      else
         failures = failures
     &            + frondo_counted(collective // c_null_char, 0, calls)
      end if
      end subroutine

C     The blocks of all ranks, in units of n elements: 1 equal, 2 growing
C     from none, 3 only of the even ranks, 4 all of the last rank, 5 of
C     one element each, 6 none. In shapes 1 and 5 they follow one another;
C     otherwise there are gaps, and in shapes 3 and 4 the order is that of
C     falling ranks. All blocks and gaps fit into `room` elements. One rank
C     has no gap: MPICH before 4.1 ignores the displacement there.
      subroutine blocks(shape, n, ranks, counts, displs, room)
      implicit none
      integer shape, n, ranks, room, i, r, gap
      integer counts(0:ranks-1), displs(0:ranks-1)

      gap = 5
      if (shape .eq. 1 .or. shape .eq. 5 .or. ranks .eq. 1) gap = 0
      room = gap
      do i = 0, ranks - 1
         r = i
         if (shape .eq. 3 .or. shape .eq. 4) r = ranks - 1 - i
         counts(r) = 0
         if (shape .eq. 1) counts(r) = n
         if (shape .eq. 2) counts(r) = r * n
         if (shape .eq. 3 .and. mod(r, 2) .eq. 0) counts(r) = n + r
         if (shape .eq. 4 .and. r .eq. ranks - 1) counts(r) = 5 * n
         if (shape .eq. 5) counts(r) = 1
         displs(r) = room
         room = room + counts(r) + gap
      end do
      end subroutine

C     Element i of rank r's block. Up to 100 ranks and 100000 elements it
C     differs from all others, and default reals hold its half.
      integer function element(r, i)
      implicit none
      integer r, i
      element = 100000 * r + i
      end function

C     What `room` elements must be in the end: the blocks, and in the gaps
C     what was there before, which is -1.
      subroutine expected(ranks, counts, displs, room, want)
      implicit none
      integer ranks, room, r, i, element
      integer counts(0:ranks-1), displs(0:ranks-1), want(0:room-1)

      want = -1
      do r = 0, ranks - 1
         do i = 1, counts(r)
            want(displs(r) + i - 1) = element(r, i)
         end do
      end do
      end subroutine

C     Integers with a buffer of their own to send, and in place.
      subroutine whole(comm, shape, failures)
      implicit none
      include 'mpif.h'
      integer comm, shape, failures, rank, ranks, ierr, room, i, m, at
      integer element
      integer, allocatable :: counts(:), displs(:), mine(:), got(:)
      integer, allocatable :: want(:), kept(:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(counts(0:ranks-1), displs(0:ranks-1))
      call blocks(shape, 1501, ranks, counts, displs, room)
      allocate(got(0:room-1), want(0:room-1), mine(0:room-1))
      call expected(ranks, counts, displs, room, want)
      m = counts(rank)
      at = displs(rank)
      do i = 1, room
         mine(i-1) = element(rank, i)
      end do
      kept = mine

      got = -1
      call mpi_allgatherv(mine, m, mpi_integer, got, counts, displs,
     &                    mpi_integer, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, whole', failures)
      call check(all(got .eq. want), 'blocks and gaps, whole', failures)
      call check(all(mine .eq. kept), 'buffer sent from', failures)

      got = -1
      got(at:at+m-1) = want(at:at+m-1)
      call mpi_allgatherv(mpi_in_place, 0, mpi_datatype_null, got,
     &                    counts, displs, mpi_integer, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, in place', failures)
      call check(all(got .eq. want), 'blocks and gaps, in place',
     &           failures)
      call counted('allgatherv', comm, 2, sum(counts), failures)
      end subroutine

C     MPI_ALLGATHER of n double precision numbers from each rank, with a
C     buffer to send and in place.
      subroutine equal(comm, n, failures)
      implicit none
      include 'mpif.h'
      integer comm, n, failures, rank, ranks, ierr, i, r, element
      double precision, allocatable :: mine(:), got(:,:), want(:,:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(mine(n), got(n, 0:ranks), want(n, 0:ranks))
      want = -1
      do r = 0, ranks - 1
         do i = 1, n
            want(i, r) = element(r, i) * 0.25d0
         end do
      end do
      mine = want(:, rank)

      got = -1
      call mpi_allgather(mine, n, mpi_double_precision, got, n,
     &                   mpi_double_precision, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, equal', failures)
      call check(all(got .eq. want), 'blocks, equal', failures)

      got = -1
      got(:, rank) = mine
      call mpi_allgather(mpi_in_place, 0, mpi_datatype_null, got, n,
     &                   mpi_double_precision, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, equal in place',
     &           failures)
      call check(all(got .eq. want), 'blocks, equal in place', failures)
      call counted('allgather', comm, 2, n, failures)
      end subroutine

C     One call of each function per named type.
      subroutine named(comm, failures)
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 901)
      integer comm, failures, rank, ranks, ierr, room, m, i, r, k
      integer element
      integer, allocatable :: counts(:), displs(:), want(:), mine(:)
      real, allocatable :: msingle(:), single(:)
      complex, allocatable :: mpair(:), pair(:)
      logical, allocatable :: mtruth(:), truth(:)
      character*1, allocatable :: mtext(:), text(:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(counts(0:ranks-1), displs(0:ranks-1))
      do k = 1, 2
         call blocks(k, n, ranks, counts, displs, room)
         m = counts(rank)
         allocate(want(0:room-1), mine(m))
         call expected(ranks, counts, displs, room, want)
         do i = 1, m
            mine(i) = element(rank, i)
         end do
         allocate(msingle(m), mpair(m), mtruth(m), mtext(m))
         allocate(single(0:room-1), pair(0:room-1))
         allocate(truth(0:room-1), text(0:room-1))
         msingle = mine * 0.5
         mpair = cmplx(mine, -mine)
         mtruth = mod(mine, 3) .eq. 0
         mtext = char(32 + mod(mine, 89))
         single = -0.5
         pair = cmplx(-1, 1)
         truth = .false.
         text = char(31)

         if (k .eq. 1) then
            call mpi_allgather(msingle, m, mpi_real, single, m,
     &                         mpi_real, comm, ierr)
            call check(ierr .eq. mpi_success, 'success, named',
     &                 failures)
            call mpi_allgather(mpair, m, mpi_complex, pair, m,
     &                         mpi_complex, comm, ierr)
            call mpi_allgather(mtruth, m, mpi_logical, truth, m,
     &                         mpi_logical, comm, ierr)
            call mpi_allgather(mtext, m, mpi_character, text, m,
     &                         mpi_character, comm, ierr)
            call check(ierr .eq. mpi_success, 'success, named',
     &                 failures)
            call counted('allgather', comm, 4, sum(counts), failures)
         else
            call mpi_allgatherv(msingle, m, mpi_real, single, counts,
     &                          displs, mpi_real, comm, ierr)
            call check(ierr .eq. mpi_success, 'success, named',
     &                 failures)
            call mpi_allgatherv(mpair, m, mpi_complex, pair, counts,
     &                          displs, mpi_complex, comm, ierr)
            call mpi_allgatherv(mtruth, m, mpi_logical, truth, counts,
     &                          displs, mpi_logical, comm, ierr)
            call mpi_allgatherv(mtext, m, mpi_character, text, counts,
     &                          displs, mpi_character, comm, ierr)
            call check(ierr .eq. mpi_success, 'success, named',
     &                 failures)
            call counted('allgatherv', comm, 4, sum(counts), failures)
         end if

C        -1, in the gaps, gives what was there before in each type.
         call check(all(single .eq. want * 0.5), 'real', failures)
         call check(all(pair .eq. cmplx(want, -want)), 'complex',
     &              failures)
         call check(all(truth .eqv. mod(want, 3) .eq. 0), 'logical',
     &              failures)
         call check(all(ichar(text) .eq. 32 + mod(want, 89)),
     &              'character', failures)
         deallocate(want, mine, msingle, mpair, mtruth, mtext)
         deallocate(single, pair, truth, text)
      end do
      end subroutine

C     Each rank sends a contiguous row, and all receive it into a row of a
C     matrix: blocks that lie between each other's elements. The rows are
C     those of falling ranks for MPI_ALLGATHERV, and the last row stays as
C     it was.
      subroutine rows(comm, failures)
      implicit none
      include 'mpif.h'
      integer columns
      parameter (columns = 900)
      integer comm, failures, rank, ranks, ierr, r, j, row, t, bytes
      integer element, mine(columns)
      integer, allocatable :: counts(:), displs(:)
      integer, allocatable :: matrix(:,:), want(:,:)
      integer(kind=mpi_address_kind) zero, one

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(counts(0:ranks-1), displs(0:ranks-1))
      allocate(matrix(0:ranks, columns), want(0:ranks, columns))
      call mpi_type_size(mpi_integer, bytes, ierr)
      zero = 0
      one = bytes
      call mpi_type_vector(columns, 1, ranks + 1, mpi_integer, row,
     &                     ierr)
      call mpi_type_create_resized(row, zero, one, t, ierr)
      call mpi_type_commit(t, ierr)
      want = -1
      do j = 1, columns
         do r = 0, ranks - 1
            want(r, j) = element(r, j)
         end do
      end do
      mine = want(rank, :)
      do r = 0, ranks - 1
         counts(r) = 1
         displs(r) = ranks - 1 - r
      end do

      matrix = -1
      call mpi_allgatherv(mine, columns, mpi_integer, matrix, counts,
     &                    displs, t, comm, ierr)
      call counted('allgatherv', comm, 1, ranks, failures)
      call check(all(matrix(ranks-1:0:-1, :) .eq. want(:ranks-1, :)),
     &           'rows', failures)
      call check(all(matrix(ranks, :) .eq. -1), 'last row', failures)

      matrix = -1
      call mpi_allgather(mine, columns, mpi_integer, matrix, 1, t,
     &                   comm, ierr)
      call counted('allgather', comm, 1, ranks, failures)
      call check(all(matrix .eq. want), 'equal rows', failures)
      call mpi_type_free(t, ierr)
      call mpi_type_free(row, ierr)
      end subroutine

C     A type of two integers of one array and a double precision number of
C     another, at these absolute addresses. Its extent is 8 bytes, so that
C     the next one is the next column of both arrays.
      subroutine column(at, t)
      implicit none
      include 'mpif.h'
      integer t, both, ierr, lengths(2), types(2)
      integer(kind=mpi_address_kind) at(2), zero, eight

      lengths = (/ 2, 1 /)
      types = (/ mpi_integer, mpi_double_precision /)
      zero = 0
      eight = 8
      call mpi_type_create_struct(2, lengths, at, types, both, ierr)
      call mpi_type_create_resized(both, zero, eight, t, ierr)
      call mpi_type_commit(t, ierr)
      call mpi_type_free(both, ierr)
      end subroutine

C     Such columns are received from MPI_BOTTOM: sent from there too, and
C     in place.
      subroutine bottom(comm, shape, failures)
      implicit none
      include 'mpif.h'
      integer comm, shape, failures, rank, ranks, ierr, room, i, m, at
      integer element, from, into
      integer(kind=mpi_address_kind) addrs(2)
      integer, allocatable :: counts(:), displs(:), want(:)
      integer, asynchronous, allocatable :: mine(:,:), whole(:,:)
      double precision, asynchronous, allocatable :: dmine(:), double(:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(counts(0:ranks-1), displs(0:ranks-1))
      call blocks(shape, 301, ranks, counts, displs, room)
      m = counts(rank)
      at = displs(rank)
C     No array of size 0: its address would mean nothing.
      allocate(want(0:room-1), mine(2, m+1), dmine(m+1))
      allocate(whole(2, 0:room), double(0:room))
      call expected(ranks, counts, displs, room, want)
      do i = 1, m
         mine(1, i) = element(rank, i)
         mine(2, i) = -element(rank, i)
         dmine(i) = element(rank, i) * 0.25d0
      end do
      call mpi_get_address(mine, addrs(1), ierr)
      call mpi_get_address(dmine, addrs(2), ierr)
      call column(addrs, from)
      call mpi_get_address(whole, addrs(1), ierr)
      call mpi_get_address(double, addrs(2), ierr)
      call column(addrs, into)

      whole(1, :) = -1
      whole(2, :) = 1
      double = -0.25d0
      call mpi_allgatherv(mpi_bottom, m, from, mpi_bottom, counts,
     &                    displs, into, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, bottom', failures)
      call compare

      whole(1, :) = -1
      whole(2, :) = 1
      double = -0.25d0
      whole(:, at:at+m-1) = mine(:, 1:m)
      double(at:at+m-1) = dmine(1:m)
      call mpi_allgatherv(mpi_in_place, 0, mpi_datatype_null,
     &                    mpi_bottom, counts, displs, into, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, bottom in place',
     &           failures)
      call compare
      call counted('allgatherv', comm, 2, sum(counts), failures)

      if (shape .eq. 1) then
         whole(1, :) = -1
         whole(2, :) = 1
         double = -0.25d0
         call mpi_allgather(mpi_bottom, m, from, mpi_bottom, m, into,
     &                      comm, ierr)
         call check(ierr .eq. mpi_success, 'success, equal bottom',
     &              failures)
         call compare
         call counted('allgather', comm, 1, sum(counts), failures)
      end if
      call mpi_type_free(from, ierr)
      call mpi_type_free(into, ierr)

      contains

      subroutine compare
      call check(all(whole(1, 0:room-1) .eq. want .and.
     &           whole(2, 0:room-1) .eq. -want), 'whole, from bottom',
     &           failures)
      call check(all(double(0:room-1) .eq. want * 0.25d0),
     &           'double, from bottom', failures)
      end subroutine
      end subroutine

C     All ranks in reverse order, the even and the odd ones, and each rank
C     by itself.
      subroutine others(failures)
      implicit none
      include 'mpif.h'
      integer failures, rank, comm, ierr
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      call mpi_comm_split(mpi_comm_world, 0, -rank, comm, ierr)
      call whole(comm, 2, failures)
      call equal(comm, 77, failures)
      call mpi_comm_free(comm, ierr)
      call mpi_comm_split(mpi_comm_world, mod(rank, 2), 0, comm, ierr)
      call whole(comm, 3, failures)
      call equal(comm, 77, failures)
      call mpi_comm_free(comm, ierr)
      call whole(mpi_comm_self, 1, failures)
      call equal(mpi_comm_self, 77, failures)
      end subroutine
