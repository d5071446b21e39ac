C     MPI_ALLGATHERV and MPI_ALLGATHER through mpif.h, in fixed form: named
C     types, equal, unequal and empty blocks, gaps between blocks, blocks
C     in reverse order, MPI_IN_PLACE, a derived type, MPI_BOTTOM,
C     sub-communicators. The last line is "PASS agv_mpifh", and the exit
C     status 0, if all checks held on all ranks.
      include 'frondof.h'

      program agv_mpifh
      use frondo
      implicit none
      include 'mpif.h'
      integer ierr, rank, ranks, total, shape

      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      call mpi_comm_size(mpi_comm_world, ranks, ierr)
      call begin(rank, ranks)
      do shape = 1, 7
         call whole(mpi_comm_world, shape)
         call bottom(mpi_comm_world, shape)
      end do
      call equal(mpi_comm_world, 0)
      call equal(mpi_comm_world, 1)
      call equal(mpi_comm_world, 2011)
      call named(mpi_comm_world)
      call rows(mpi_comm_world)
      call others

      call mpi_allreduce(failures, total, 1, mpi_integer, mpi_sum,
     &                   mpi_comm_world, ierr)
      call mpi_finalize(ierr)
      if (total .ne. 0) stop 1
      if (rank .eq. 0) print '(a)', 'PASS agv_mpifh'
      end program

C     Integers with a buffer of their own to send, and in place.
      subroutine whole(comm, shape)
      use frondo
      implicit none
      include 'mpif.h'
      integer comm, shape, rank, ranks, ierr, m, at
      integer, allocatable :: counts(:), displs(:), mine(:), got(:)
      integer, allocatable :: want(:), kept(:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(counts(0:ranks-1), displs(0:ranks-1))
      call blocks(shape, 1501, ranks, counts, displs, want)
      m = counts(rank)
      at = displs(rank) + 1
      allocate(got(size(want)))
      mine = block(rank, size(want))
      kept = mine

      got = -1
      call mpi_allgatherv(mine, m, mpi_integer, got, counts, displs,
     &                    mpi_integer, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, whole')
      call check(all(got .eq. want), 'blocks and gaps, whole')
      call check(all(mine .eq. kept), 'buffer sent from')

      got = -1
      got(at:at+m-1) = want(at:at+m-1)
      call mpi_allgatherv(mpi_in_place, 0, mpi_datatype_null, got,
     &                    counts, displs, mpi_integer, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, in place')
      call check(all(got .eq. want), 'blocks and gaps, in place')
      call counted('allgatherv', ranks, 2, sum(counts))
      end subroutine

C     MPI_ALLGATHER of n double precision numbers from each rank, with a
C     buffer to send and in place.
      subroutine equal(comm, n)
      use frondo
      implicit none
      include 'mpif.h'
      integer comm, n, rank, ranks, ierr, r
      double precision, allocatable :: mine(:), got(:,:), want(:,:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(mine(n), got(n, 0:ranks), want(n, 0:ranks))
      want = -1
      do r = 0, ranks - 1
         want(:, r) = block(r, n) * 0.25d0
      end do
      mine = want(:, rank)

      got = -1
      call mpi_allgather(mine, n, mpi_double_precision, got, n,
     &                   mpi_double_precision, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, equal')
      call check(all(got .eq. want), 'blocks, equal')

      got = -1
      got(:, rank) = mine
      call mpi_allgather(mpi_in_place, 0, mpi_datatype_null, got, n,
     &                   mpi_double_precision, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, equal in place')
      call check(all(got .eq. want), 'blocks, equal in place')
      call counted('allgather', ranks, 2, n)
      end subroutine

C     One call of each function per named type.
      subroutine named(comm)
      use frondo
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 901)
      integer comm, rank, ranks, ierr, m, k
      integer, allocatable :: counts(:), displs(:), want(:), mine(:)
      real, allocatable :: msingle(:), single(:)
      complex, allocatable :: mpair(:), pair(:)
      logical, allocatable :: mtruth(:), truth(:)
      character*1, allocatable :: mtext(:), text(:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(counts(0:ranks-1), displs(0:ranks-1))
      do k = 1, 2
         call blocks(k, n, ranks, counts, displs, want)
         m = counts(rank)
         mine = block(rank, m)
         allocate(msingle(m), mpair(m), mtruth(m), mtext(m))
         allocate(single(size(want)), pair(size(want)))
         allocate(truth(size(want)), text(size(want)))
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
            call check(ierr .eq. mpi_success, 'success, named')
            call mpi_allgather(mpair, m, mpi_complex, pair, m,
     &                         mpi_complex, comm, ierr)
            call mpi_allgather(mtruth, m, mpi_logical, truth, m,
     &                         mpi_logical, comm, ierr)
            call mpi_allgather(mtext, m, mpi_character, text, m,
     &                         mpi_character, comm, ierr)
            call check(ierr .eq. mpi_success, 'success, named')
            call counted('allgather', ranks, 4, sum(counts))
         else
            call mpi_allgatherv(msingle, m, mpi_real, single, counts,
     &                          displs, mpi_real, comm, ierr)
            call check(ierr .eq. mpi_success, 'success, named')
            call mpi_allgatherv(mpair, m, mpi_complex, pair, counts,
     &                          displs, mpi_complex, comm, ierr)
            call mpi_allgatherv(mtruth, m, mpi_logical, truth, counts,
     &                          displs, mpi_logical, comm, ierr)
            call mpi_allgatherv(mtext, m, mpi_character, text, counts,
     &                          displs, mpi_character, comm, ierr)
            call check(ierr .eq. mpi_success, 'success, named')
            call counted('allgatherv', ranks, 4, sum(counts))
         end if

C        -1, in the gaps, gives what was there before in each type.
         call check(all(single .eq. want * 0.5), 'real')
         call check(all(pair .eq. cmplx(want, -want)), 'complex')
         call check(all(truth .eqv. mod(want, 3) .eq. 0), 'logical')
         call check(all(ichar(text) .eq. 32 + mod(want, 89)),
     &              'character')
         deallocate(want, mine, msingle, mpair, mtruth, mtext)
         deallocate(single, pair, truth, text)
      end do
      end subroutine

C     Each rank sends a contiguous row, and all receive it into a row of a
C     matrix: blocks that lie between each other's elements. The rows are
C     those of falling ranks for MPI_ALLGATHERV, and the last row stays as
C     it was.
      subroutine rows(comm)
      use frondo
      implicit none
      include 'mpif.h'
      integer columns
      parameter (columns = 900)
      integer comm, rank, ranks, ierr, r, row, t, bytes
      integer mine(columns)
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
      do r = 0, ranks - 1
         want(r, :) = block(r, columns)
      end do
      mine = want(rank, :)
      do r = 0, ranks - 1
         counts(r) = 1
         displs(r) = ranks - 1 - r
      end do

      matrix = -1
      call mpi_allgatherv(mine, columns, mpi_integer, matrix, counts,
     &                    displs, t, comm, ierr)
      call counted('allgatherv', ranks, 1, ranks)
      call check(all(matrix(ranks-1:0:-1, :) .eq. want(:ranks-1, :)),
     &           'rows')
      call check(all(matrix(ranks, :) .eq. -1), 'last row')

      matrix = -1
      call mpi_allgather(mine, columns, mpi_integer, matrix, 1, t,
     &                   comm, ierr)
      call counted('allgather', ranks, 1, ranks)
      call check(all(matrix .eq. want), 'equal rows')
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
      subroutine bottom(comm, shape)
      use frondo
      implicit none
      include 'mpif.h'
      integer comm, shape, rank, ranks, ierr, room, m, at
      integer from, into
      integer(kind=mpi_address_kind) addrs(2)
      integer, allocatable :: counts(:), displs(:), want(:)
      integer, asynchronous, allocatable :: mine(:,:), whole(:,:)
      double precision, asynchronous, allocatable :: dmine(:), double(:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(counts(0:ranks-1), displs(0:ranks-1))
      call blocks(shape, 301, ranks, counts, displs, want)
      m = counts(rank)
      at = displs(rank)
C     No array of size 0: its address would mean nothing.
      room = size(want)
      allocate(mine(2, m+1), dmine(m+1), whole(2, 0:room))
      allocate(double(0:room))
      mine(1, 1:m) = block(rank, m)
      mine(2, 1:m) = -block(rank, m)
      dmine(1:m) = block(rank, m) * 0.25d0
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
      call check(ierr .eq. mpi_success, 'success, bottom')
      call compare

      whole(1, :) = -1
      whole(2, :) = 1
      double = -0.25d0
      whole(:, at:at+m-1) = mine(:, 1:m)
      double(at:at+m-1) = dmine(1:m)
      call mpi_allgatherv(mpi_in_place, 0, mpi_datatype_null,
     &                    mpi_bottom, counts, displs, into, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, bottom in place')
      call compare
      call counted('allgatherv', ranks, 2, sum(counts))

      if (shape .eq. 1) then
         whole(1, :) = -1
         whole(2, :) = 1
         double = -0.25d0
         call mpi_allgather(mpi_bottom, m, from, mpi_bottom, m, into,
     &                      comm, ierr)
         call check(ierr .eq. mpi_success, 'success, equal bottom')
         call compare
         call counted('allgather', ranks, 1, sum(counts))
      end if
      call mpi_type_free(from, ierr)
      call mpi_type_free(into, ierr)

      contains

      subroutine compare
      call check(all(whole(1, 0:room-1) .eq. want .and.
     &           whole(2, 0:room-1) .eq. -want), 'whole, from bottom')
      call check(all(double(0:room-1) .eq. want * 0.25d0),
     &           'double, from bottom')
      end subroutine
      end subroutine

C     All ranks in reverse order, the even and the odd ones, and each rank
C     by itself.
      subroutine others
      use frondo
      implicit none
      include 'mpif.h'
      integer rank, comm, ierr
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      call mpi_comm_split(mpi_comm_world, 0, -rank, comm, ierr)
      call whole(comm, 2)
      call equal(comm, 77)
      call mpi_comm_free(comm, ierr)
      call mpi_comm_split(mpi_comm_world, mod(rank, 2), 0, comm, ierr)
      call whole(comm, 3)
      call equal(comm, 77)
      call mpi_comm_free(comm, ierr)
      call whole(mpi_comm_self, 1)
      call equal(mpi_comm_self, 77)
      end subroutine
