C     MPI_GATHERV, MPI_SCATTERV, MPI_GATHER and MPI_SCATTER through
C     mpif.h, in fixed form, from and to every root: named types, equal,
C     unequal and empty blocks, gaps between blocks, blocks in other
C     orders than that of the ranks, MPI_IN_PLACE, a derived type at the
C     root, MPI_BOTTOM, sub-communicators. Arguments that a rank must
C     ignore are such that nobody can use them; memory that nothing is
C     received into stays as it was. The last line is "PASS gsv_mpifh",
C     and the exit status 0, if all checks held on all ranks.
      include 'frondof.h'

      program gsv_mpifh
      use frondo
      implicit none
      include 'mpif.h'
      integer ierr, rank, ranks, total, shape, root

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
      call equal(mpi_comm_world, 8)
      call equal(mpi_comm_world, 1009)
      do root = 0, ranks - 1
         call named(mpi_comm_world, root)
      end do
      call rows(mpi_comm_world)
      call others

      call mpi_allreduce(failures, total, 1, mpi_integer, mpi_sum,
     &                   mpi_comm_world, ierr)
      call mpi_finalize(ierr)
      if (total .ne. 0) stop 1
      if (rank .eq. 0) print '(a)', 'PASS gsv_mpifh'
      end program

C     Integers, with a buffer of its own for the root's block and in
C     place. Each rank has an element before and one behind its block.
C     Other ranks than the root have all the blocks' memory as well, and
C     pass it with counts below none and a type that was freed.
      subroutine whole(comm, shape)
      use frondo
      implicit none
      include 'mpif.h'
      integer comm, shape, rank, ranks, root, m, at, t, freed, ierr
      integer, allocatable :: counts(:), displs(:), want(:)
      integer, allocatable :: c(:), d(:)
      integer, allocatable :: mine(:), theirs(:), own(:), full(:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(counts(0:ranks-1), displs(0:ranks-1))
      call blocks(shape, 509, ranks, counts, displs, want)
      m = counts(rank)
      at = displs(rank)
      allocate(mine(0:m+1), own(0:m+1), full(size(want)))
      call mpi_type_contiguous(3, mpi_integer, t, ierr)
      freed = t
      call mpi_type_free(t, ierr)

      do root = 0, ranks - 1
         mine = -5
         mine(1:m) = marked(block(rank, m), root)
         if (rank .eq. root) then
            theirs = marked(want, root)
            c = counts
            d = displs
            t = mpi_integer
         else
            theirs = 0 * want - 1
            c = (/ -1 /)
            d = (/ -1 /)
            t = freed
         end if

         own = mine
         full = -1
         call mpi_gatherv(own(1), m, mpi_integer, full, c, d, t, root,
     &                    comm, ierr)
         call check(ierr .eq. mpi_success, 'success, gatherv')
         call check(all(full .eq. theirs), 'blocks and gaps, gatherv')
         call check(all(own .eq. mine), 'buffer sent from, gatherv')

         full = -1
         if (rank .eq. root) then
            full(at+1:at+m) = mine(1:m)
            call mpi_gatherv(mpi_in_place, -1, mpi_datatype_null, full,
     &                       c, d, t, root, comm, ierr)
         else
            call mpi_gatherv(own(1), m, mpi_integer, full, c, d, t,
     &                       root, comm, ierr)
         end if
         call check(ierr .eq. mpi_success, 'success, gatherv in place')
         call check(all(full .eq. theirs), 'blocks, gatherv in place')

         own = -5
         full = theirs
         call mpi_scatterv(full, c, d, t, own(1), m, mpi_integer, root,
     &                     comm, ierr)
         call check(ierr .eq. mpi_success, 'success, scatterv')
         call check(all(own .eq. mine), 'own block, scatterv')
         call check(all(full .eq. theirs), 'buffer sent from, scatterv')

         own = -5
         if (rank .eq. root) then
            mine = -5
            call mpi_scatterv(full, c, d, t, mpi_in_place, -1,
     &                        mpi_datatype_null, root, comm, ierr)
         else
            call mpi_scatterv(full, c, d, t, own(1), m, mpi_integer,
     &                        root, comm, ierr)
         end if
         call check(ierr .eq. mpi_success, 'success, scatterv in place')
         call check(all(own .eq. mine), 'own block, scatterv in place')
         call check(all(full .eq. theirs), 'blocks, scatterv in place')
      end do
      call counted('gatherv', ranks, 2 * ranks, sum(counts))
      call counted('scatterv', ranks, 2 * ranks, sum(counts))
      end subroutine

C     MPI_GATHER and MPI_SCATTER of n double precision numbers for each
C     rank, with a buffer of its own for the root's block and in place.
C     Behind the last block there is room for one more.
      subroutine equal(comm, n)
      use frondo
      implicit none
      include 'mpif.h'
      integer comm, n, rank, ranks, root, each, t, r, ierr
      double precision, allocatable :: mine(:), own(:)
      double precision, allocatable :: theirs(:,:), full(:,:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(mine(0:n+1), own(0:n+1))
      allocate(theirs(n, 0:ranks), full(n, 0:ranks))

      do root = 0, ranks - 1
         mine = -5
         mine(1:n) = marked(block(rank, n), root) * 0.25d0
         theirs = -1
         each = -1
         t = mpi_datatype_null
         if (rank .eq. root) then
            do r = 0, ranks - 1
               theirs(:, r) = marked(block(r, n), root) * 0.25d0
            end do
            each = n
            t = mpi_double_precision
         end if

         own = mine
         full = -1
         call mpi_gather(own(1), n, mpi_double_precision, full, each, t,
     &                   root, comm, ierr)
         call check(ierr .eq. mpi_success, 'success, gather')
         call check(all(full .eq. theirs), 'blocks, gather')
         call check(all(own .eq. mine), 'buffer sent from, gather')

         full = -1
         if (rank .eq. root) then
            full(:, rank) = mine(1:n)
            call mpi_gather(mpi_in_place, -1, mpi_datatype_null, full,
     &                      each, t, root, comm, ierr)
         else
            call mpi_gather(own(1), n, mpi_double_precision, full, each,
     &                      t, root, comm, ierr)
         end if
         call check(ierr .eq. mpi_success, 'success, gather in place')
         call check(all(full .eq. theirs), 'blocks, gather in place')

         own = -5
         full = theirs
         call mpi_scatter(full, each, t, own(1), n,
     &                    mpi_double_precision, root, comm, ierr)
         call check(ierr .eq. mpi_success, 'success, scatter')
         call check(all(own .eq. mine), 'own block, scatter')
         call check(all(full .eq. theirs), 'buffer sent from, scatter')

         own = -5
         if (rank .eq. root) then
            mine = -5
            call mpi_scatter(full, each, t, mpi_in_place, -1,
     &                       mpi_datatype_null, root, comm, ierr)
         else
            call mpi_scatter(full, each, t, own(1), n,
     &                       mpi_double_precision, root, comm, ierr)
         end if
         call check(ierr .eq. mpi_success, 'success, scatter in place')
         call check(all(own .eq. mine), 'own block, scatter in place')
         call check(all(full .eq. theirs), 'blocks, scatter in place')
      end do
      call counted('gather', ranks, 2 * ranks, n)
      call counted('scatter', ranks, 2 * ranks, n)
      end subroutine

C     Each named type is gathered, and scattered again: equal blocks by
C     the regular functions, unequal ones by the others.
      subroutine named(comm, root)
      use frondo
      implicit none
      include 'mpif.h'
      integer comm, root, rank, ranks, shape, m, ierr
      integer, allocatable :: counts(:), displs(:), want(:), mine(:)
      integer, allocatable :: theirs(:)
      real, allocatable :: msingle(:), single(:)
      complex, allocatable :: mpair(:), pair(:)
      logical, allocatable :: mtruth(:), truth(:)
      character*1, allocatable :: mtext(:), text(:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(counts(0:ranks-1), displs(0:ranks-1))
      do shape = 1, 7, 6
         call blocks(shape, 301, ranks, counts, displs, want)
         m = counts(rank)
         mine = block(rank, m)
         theirs = want
         if (rank .ne. root) theirs = -1
         msingle = mine * 0.5
         mpair = cmplx(mine, -mine)
         mtruth = mod(mine, 3) .eq. 0
         mtext = char(32 + mod(mine, 89))
         allocate(single(size(want)), pair(size(want)))
         allocate(truth(size(want)), text(size(want)))
         single = -0.5
         pair = cmplx(-1, 1)
         truth = .false.
         text = char(31)

         if (shape .eq. 1) then
            call mpi_gather(msingle, m, mpi_real, single, m, mpi_real,
     &                      root, comm, ierr)
            call mpi_gather(mpair, m, mpi_complex, pair, m, mpi_complex,
     &                      root, comm, ierr)
            call mpi_gather(mtruth, m, mpi_logical, truth, m,
     &                      mpi_logical, root, comm, ierr)
            call mpi_gather(mtext, m, mpi_character, text, m,
     &                      mpi_character, root, comm, ierr)
            call counted('gather', ranks, 4, m)
         else
            call mpi_gatherv(msingle, m, mpi_real, single, counts,
     &                       displs, mpi_real, root, comm, ierr)
            call mpi_gatherv(mpair, m, mpi_complex, pair, counts,
     &                       displs, mpi_complex, root, comm, ierr)
            call mpi_gatherv(mtruth, m, mpi_logical, truth, counts,
     &                       displs, mpi_logical, root, comm, ierr)
            call mpi_gatherv(mtext, m, mpi_character, text, counts,
     &                       displs, mpi_character, root, comm, ierr)
            call counted('gatherv', ranks, 4, sum(counts))
         end if
C        -1, in the gaps, gives what was there before in each type.
         call check(all(single .eq. theirs * 0.5), 'real')
         call check(all(pair .eq. cmplx(theirs, -theirs)), 'complex')
         call check(all(truth .eqv. mod(theirs, 3) .eq. 0), 'logical')
         call check(all(ichar(text) .eq. 32 + mod(theirs, 89)),
     &              'character')

         msingle = -7
         mpair = -7
         mtruth = .not. mtruth
         mtext = char(7)
         if (shape .eq. 1) then
            call mpi_scatter(single, m, mpi_real, msingle, m, mpi_real,
     &                       root, comm, ierr)
            call mpi_scatter(pair, m, mpi_complex, mpair, m,
     &                       mpi_complex, root, comm, ierr)
            call mpi_scatter(truth, m, mpi_logical, mtruth, m,
     &                       mpi_logical, root, comm, ierr)
            call mpi_scatter(text, m, mpi_character, mtext, m,
     &                       mpi_character, root, comm, ierr)
            call counted('scatter', ranks, 4, m)
         else
            call mpi_scatterv(single, counts, displs, mpi_real, msingle,
     &                        m, mpi_real, root, comm, ierr)
            call mpi_scatterv(pair, counts, displs, mpi_complex, mpair,
     &                        m, mpi_complex, root, comm, ierr)
            call mpi_scatterv(truth, counts, displs, mpi_logical,
     &                        mtruth, m, mpi_logical, root, comm, ierr)
            call mpi_scatterv(text, counts, displs, mpi_character,
     &                        mtext, m, mpi_character, root, comm, ierr)
            call counted('scatterv', ranks, 4, sum(counts))
         end if
         call check(all(msingle .eq. mine * 0.5), 'own real')
         call check(all(mpair .eq. cmplx(mine, -mine)), 'own complex')
         call check(all(mtruth .eqv. mod(mine, 3) .eq. 0),
     &              'own logical')
         call check(all(ichar(mtext) .eq. 32 + mod(mine, 89)),
     &              'own character')
         deallocate(single, pair, truth, text)
      end do
      end subroutine

C     Each rank's block is contiguous, and the root has it as a row of a
C     matrix: blocks that lie between each other's elements. For
C     MPI_GATHERV and MPI_SCATTERV the rows are those of falling ranks.
C     The last row is nobody's, and stays as it was.
      subroutine rows(comm)
      use frondo
      implicit none
      include 'mpif.h'
      integer columns
      parameter (columns = 300)
      integer comm, rank, ranks, root, r, row, t, bytes, ierr
      integer mine(columns), own(columns)
      integer, allocatable :: counts(:), displs(:)
      integer, allocatable :: theirs(:,:), fall(:,:), matrix(:,:)
      integer(kind=mpi_address_kind) zero, one

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(counts(0:ranks-1), displs(0:ranks-1))
      allocate(theirs(0:ranks, columns), fall(0:ranks, columns))
      allocate(matrix(0:ranks, columns))
      call mpi_type_size(mpi_integer, bytes, ierr)
      zero = 0
      one = bytes
      call mpi_type_vector(columns, 1, ranks + 1, mpi_integer, row,
     &                     ierr)
      call mpi_type_create_resized(row, zero, one, t, ierr)
      call mpi_type_commit(t, ierr)
      counts = 1
      do r = 0, ranks - 1
         displs(r) = ranks - 1 - r
      end do

      do root = 0, ranks - 1
         mine = marked(block(rank, columns), root)
         theirs = -1
         fall = -1
         do r = 0, ranks - 1
            if (rank .ne. root) exit
            theirs(r, :) = marked(block(r, columns), root)
            fall(displs(r), :) = theirs(r, :)
         end do

         matrix = -1
         call mpi_gatherv(mine, columns, mpi_integer, matrix, counts,
     &                    displs, t, root, comm, ierr)
         call check(all(matrix .eq. fall), 'falling rows, gatherv')
         own = -5
         call mpi_scatterv(matrix, counts, displs, t, own, columns,
     &                     mpi_integer, root, comm, ierr)
         call check(all(own .eq. mine), 'falling rows, scatterv')
         call check(all(matrix .eq. fall), 'falling rows as they were')

         matrix = -1
         call mpi_gather(mine, columns, mpi_integer, matrix, 1, t, root,
     &                   comm, ierr)
         call check(all(matrix .eq. theirs), 'rows, gather')
         own = -5
         call mpi_scatter(matrix, 1, t, own, columns, mpi_integer, root,
     &                    comm, ierr)
         call check(all(own .eq. mine), 'rows, scatter')
         call check(all(matrix .eq. theirs), 'rows as they were')
      end do
      call counted('gatherv', ranks, ranks, ranks)
      call counted('scatterv', ranks, ranks, ranks)
      call counted('gather', ranks, ranks, columns)
      call counted('scatter', ranks, ranks, columns)
      call mpi_type_free(t, ierr)
      call mpi_type_free(row, ierr)
      end subroutine

C     All blocks and the rank's own one are at MPI_BOTTOM, by types with
C     the address of the first element.
      subroutine bottom(comm, shape)
      use frondo
      implicit none
      include 'mpif.h'
      integer comm, shape, rank, ranks, root, m, n, at, to, from, ierr
      integer, allocatable :: counts(:), displs(:), want(:), theirs(:)
      integer, allocatable :: mine(:)
      double precision, asynchronous, allocatable :: own(:), full(:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(counts(0:ranks-1), displs(0:ranks-1))
      call blocks(shape, 103, ranks, counts, displs, want)
      m = counts(rank)
      n = size(want)
      at = displs(rank)
      mine = block(rank, m)
C     No array of size 0: its address would mean nothing.
      allocate(own(m+1), full(n+1))
      call absolute(own, from)
      call absolute(full, to)
      own(m+1) = -7
      full(n+1) = -7
      do root = 0, ranks - 1
         theirs = want
         if (rank .ne. root) theirs = -1

         own(1:m) = mine * 0.25d0
         full(1:n) = -0.25d0
         call mpi_gatherv(mpi_bottom, m, from, mpi_bottom, counts,
     &                    displs, to, root, comm, ierr)
         call check(ierr .eq. mpi_success, 'success, gatherv bottom')
         call check(all(full(1:n) .eq. theirs * 0.25d0), 'to bottom')

         own(1:m) = -5
         if (rank .eq. root) own(1:m) = mine * 0.25d0
         if (rank .eq. root) then
            call mpi_scatterv(mpi_bottom, counts, displs, to,
     &                        mpi_in_place, m, from, root, comm, ierr)
         else
            call mpi_scatterv(mpi_bottom, counts, displs, to,
     &                        mpi_bottom, m, from, root, comm, ierr)
         end if
         call check(ierr .eq. mpi_success, 'success, scatterv bottom')
         call check(all(own(1:m) .eq. mine * 0.25d0), 'from bottom')
         call check(all(full(1:n) .eq. theirs * 0.25d0),
     &              'bottom sent from')
         if (shape .ne. 1) cycle

         full(1:n) = -0.25d0
         if (rank .eq. root) then
            full(at+1:at+m) = own(1:m)
            call mpi_gather(mpi_in_place, m, from, mpi_bottom, m, to,
     &                      root, comm, ierr)
         else
            call mpi_gather(mpi_bottom, m, from, mpi_bottom, m, to,
     &                      root, comm, ierr)
         end if
         call check(all(full(1:n) .eq. theirs * 0.25d0),
     &              'in place in bottom')
         own(1:m) = -5
         call mpi_scatter(mpi_bottom, m, to, mpi_bottom, m, from, root,
     &                    comm, ierr)
         call check(all(own(1:m) .eq. mine * 0.25d0),
     &              'equal from bottom')
      end do
      call check(own(m+1) .eq. -7 .and. full(n+1) .eq. -7,
     &           'behind the blocks')
      call counted('gatherv', ranks, ranks, sum(counts))
      call counted('scatterv', ranks, ranks, sum(counts))
      if (shape .eq. 1) call counted('gather', ranks, ranks, m)
      if (shape .eq. 1) call counted('scatter', ranks, ranks, m)
      call mpi_type_free(from, ierr)
      call mpi_type_free(to, ierr)

      contains

      subroutine absolute(buffer, t)
      double precision, asynchronous :: buffer(*)
      integer t
      integer(kind=mpi_address_kind) address(1)
      call mpi_get_address(buffer, address(1), ierr)
      call mpi_type_create_hindexed(1, (/ 1 /), address,
     &                              mpi_double_precision, t, ierr)
      call mpi_type_commit(t, ierr)
      end subroutine
      end subroutine

C     All ranks in reverse order, the even and the odd ones, and each
C     rank by itself.
      subroutine others
      use frondo
      implicit none
      include 'mpif.h'
      integer rank, comm, ierr
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      call mpi_comm_split(mpi_comm_world, 0, -rank, comm, ierr)
      call whole(comm, 7)
      call equal(comm, 77)
      call mpi_comm_free(comm, ierr)
      call mpi_comm_split(mpi_comm_world, mod(rank, 2), 0, comm, ierr)
      call whole(comm, 3)
      call equal(comm, 7)
      call named(comm, 0)
      call mpi_comm_free(comm, ierr)
      call whole(mpi_comm_self, 1)
      call equal(mpi_comm_self, 77)
      end subroutine
