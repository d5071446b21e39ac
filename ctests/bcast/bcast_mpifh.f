C     MPI_BCAST through mpif.h, in fixed form: named types, every root, a
C     derived type, MPI_BOTTOM, a sub-communicator. The last line is
C     "PASS bcast_mpifh", and the exit status 0, if all checks held on
C     all ranks.
      include 'frondof.h'

      program bcast_mpifh
      use frondo
      implicit none
      include 'mpif.h'
      integer ierr, rank, ranks, total, root

      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      call mpi_comm_size(mpi_comm_world, ranks, ierr)
      call begin(rank, ranks)
      do root = 0, ranks - 1
         call named(mpi_comm_world, root)
         call matrow(mpi_comm_world, root)
         call bottom(mpi_comm_world, root)
      end do
      call reversed

      call mpi_allreduce(failures, total, 1, mpi_integer, mpi_sum,
     &                   mpi_comm_world, ierr)
      call mpi_finalize(ierr)
      if (total .ne. 0) stop 1
      if (rank .eq. 0) print '(a)', 'PASS bcast_mpifh'
      end program

C     One broadcast per named type.
      subroutine named(comm, root)
      use frondo
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 20011)
      integer comm, root, rank, ranks, ierr, i
      integer whole(n)
      real single(n)
      double precision double(n)
      complex pair(n)
      logical truth(n)
      character*(n) text

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      do i = 1, n
         whole(i) = merge(i, -1, rank .eq. root)
         single(i) = merge(i * 0.5, -1.0, rank .eq. root)
         double(i) = merge(i * 0.25d0, -1d0, rank .eq. root)
         pair(i) = merge(cmplx(i, -i), cmplx(0, 0), rank .eq. root)
         truth(i) = rank .eq. root .and. mod(i, 3) .eq. 0
         text(i:i) = char(merge(32 + mod(i, 90), 31, rank .eq. root))
      end do

      call mpi_bcast(whole, n, mpi_integer, root, comm, ierr)
      call check(ierr .eq. mpi_success, 'success of integers')
      call mpi_bcast(single, n, mpi_real, root, comm, ierr)
      call mpi_bcast(double, n, mpi_double_precision, root, comm, ierr)
      call mpi_bcast(pair, n, mpi_complex, root, comm, ierr)
      call mpi_bcast(truth, n, mpi_logical, root, comm, ierr)
      call mpi_bcast(text, n, mpi_character, root, comm, ierr)
      call check(ierr .eq. mpi_success, 'success of a text')
      call counted('bcast', ranks, 6, n)

      call check(all(whole .eq. (/ (i, i = 1, n) /)), 'integers')
      call check(all(single .eq. (/ (i * 0.5, i = 1, n) /)), 'reals')
      call check(all(double .eq. (/ (i * 0.25d0, i = 1, n) /)),
     &           'numbers of double precision')
      call check(all(pair .eq. (/ (cmplx(i, -i), i = 1, n) /)),
     &           'complex numbers')
      call check(all(truth .eqv. (/ (mod(i, 3) .eq. 0, i = 1, n) /)),
     &           'logicals')
      call check(all((/ (ichar(text(i:i)), i = 1, n) /) .eq.
     &               (/ (32 + mod(i, 90), i = 1, n) /)), 'a text')
      end subroutine

C     A row of a matrix: a vector with gaps that stay as they were.
      subroutine matrow(comm, root)
      use frondo
      implicit none
      include 'mpif.h'
      integer rows, columns
      parameter (rows = 7, columns = 900)
      integer comm, root, rank, ranks, ierr, i, j, row
      integer matrix(rows, columns), want(rows, columns)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      do j = 1, columns
         do i = 1, rows
            matrix(i, j) = merge(1000 * j + i, -i, rank .eq. root)
            want(i, j) = merge(1000 * j + i, -i,
     &                         rank .eq. root .or. i .eq. 3)
         end do
      end do
      call mpi_type_vector(columns, 1, rows, mpi_integer, row, ierr)
      call mpi_type_commit(row, ierr)
      call mpi_bcast(matrix(3, 1), 1, row, root, comm, ierr)
      call counted('bcast', ranks, 1, columns)
      call mpi_type_free(row, ierr)
      call check(all(matrix .eq. want), 'one row of a matrix')
      end subroutine

C     Two arrays at absolute addresses, from MPI_BOTTOM.
      subroutine bottom(comm, root)
      use frondo
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 3000)
      integer comm, root, rank, ranks, ierr, i, both
      integer lengths(2), types(2)
      integer(kind=mpi_address_kind) at(2)
      integer, asynchronous, save :: whole(n)
      double precision, asynchronous, save :: double(n)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      do i = 1, n
         whole(i) = merge(i, -1, rank .eq. root)
         double(i) = merge(i * 0.25d0, -1d0, rank .eq. root)
      end do
      call mpi_get_address(whole, at(1), ierr)
      call mpi_get_address(double, at(2), ierr)
      lengths = n
      types = (/ mpi_integer, mpi_double_precision /)
      call mpi_type_create_struct(2, lengths, at, types, both, ierr)
      call mpi_type_commit(both, ierr)
      call mpi_bcast(mpi_bottom, 1, both, root, comm, ierr)
      call counted('bcast', ranks, 1, 2 * n)
      call mpi_type_free(both, ierr)
      call check(all(whole .eq. (/ (i, i = 1, n) /)),
     &           'integers from MPI_BOTTOM')
      call check(all(double .eq. (/ (i * 0.25d0, i = 1, n) /)),
     &           'numbers of double precision from MPI_BOTTOM')
      end subroutine

C     All ranks in reverse order, then the even and the odd ones.
      subroutine reversed
      implicit none
      include 'mpif.h'
      integer rank, comm, ierr
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      call mpi_comm_split(mpi_comm_world, 0, -rank, comm, ierr)
      call named(comm, 0)
      call mpi_comm_free(comm, ierr)
      call mpi_comm_split(mpi_comm_world, mod(rank, 2), 0, comm, ierr)
      call named(comm, 0)
      call mpi_comm_free(comm, ierr)
      end subroutine
