C     MPI_BCAST through mpif.h, in fixed form: named types, every root, a
C     derived type, MPI_BOTTOM, a sub-communicator. The last line is
C     "PASS bcast_mpifh", and the exit status 0, if all checks held on
C     all ranks.
      program bcast_mpifh
      implicit none
      include 'mpif.h'
      integer ierr, rank, ranks, failures, total, root

      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      call mpi_comm_size(mpi_comm_world, ranks, ierr)
      failures = 0
      call begin(rank, ranks, failures)
      do root = 0, ranks - 1
         call named(mpi_comm_world, root, failures)
         call matrow(mpi_comm_world, root, failures)
         call bottom(mpi_comm_world, root, failures)
      end do
      call reversed(failures)

      call mpi_allreduce(failures, total, 1, mpi_integer, mpi_sum,
     &                   mpi_comm_world, ierr)
      call mpi_finalize(ierr)
      if (total .ne. 0) stop 1
      if (rank .eq. 0) print '(a)', 'PASS bcast_mpifh'
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

C     Checks that the last `calls` broadcasts on comm, none of them empty,
C     were carried out by whom the runner expects.
      subroutine counted(comm, calls, failures)
      use, intrinsic :: iso_c_binding
      implicit none
      include 'mpif.h'
      integer comm, calls, failures, ranks, ierr
      interface
         integer(c_int) function frondo_moved(rondos, hosts) bind(c)
            import :: c_int
            integer(c_int), value :: rondos, hosts
         end function
      end interface
      call mpi_comm_size(comm, ranks, ierr)
      if (ranks .ge. 3) then
         failures = failures + frondo_moved(calls, 0)
      else
         failures = failures + frondo_moved(0, calls)
      end if
      end subroutine

C     One broadcast per named type.
      subroutine named(comm, root, failures)
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 20011)
      integer comm, root, failures, rank, ierr, i
      integer whole(n)
      real single(n)
      double precision double(n)
      complex pair(n)
      logical truth(n)
      character*(n) text

      call mpi_comm_rank(comm, rank, ierr)
      do i = 1, n
         whole(i) = merge(i, -1, rank .eq. root)
         single(i) = merge(i * 0.5, -1.0, rank .eq. root)
         double(i) = merge(i * 0.25d0, -1d0, rank .eq. root)
         pair(i) = merge(cmplx(i, -i), cmplx(0, 0), rank .eq. root)
         truth(i) = rank .eq. root .and. mod(i, 3) .eq. 0
         text(i:i) = char(merge(32 + mod(i, 90), 31, rank .eq. root))
      end do

      call mpi_bcast(whole, n, mpi_integer, root, comm, ierr)
      if (ierr .ne. mpi_success) failures = failures + 1
      call mpi_bcast(single, n, mpi_real, root, comm, ierr)
      call mpi_bcast(double, n, mpi_double_precision, root, comm, ierr)
      call mpi_bcast(pair, n, mpi_complex, root, comm, ierr)
      call mpi_bcast(truth, n, mpi_logical, root, comm, ierr)
      call mpi_bcast(text, n, mpi_character, root, comm, ierr)
      if (ierr .ne. mpi_success) failures = failures + 1
      call counted(comm, 6, failures)

      do i = 1, n
         if (whole(i) .ne. i) failures = failures + 1
         if (single(i) .ne. i * 0.5) failures = failures + 1
         if (double(i) .ne. i * 0.25d0) failures = failures + 1
         if (pair(i) .ne. cmplx(i, -i)) failures = failures + 1
         if (truth(i) .neqv. mod(i, 3) .eq. 0) failures = failures + 1
         if (ichar(text(i:i)) .ne. 32 + mod(i, 90)) failures=failures+1
      end do
      end subroutine

C     A row of a matrix: a vector with gaps that stay as they were.
      subroutine matrow(comm, root, failures)
      implicit none
      include 'mpif.h'
      integer rows, columns
      parameter (rows = 7, columns = 900)
      integer comm, root, failures, rank, ierr, i, j, row, want
      integer matrix(rows, columns)

      call mpi_comm_rank(comm, rank, ierr)
      do j = 1, columns
         do i = 1, rows
            matrix(i, j) = merge(1000 * j + i, -i, rank .eq. root)
         end do
      end do
      call mpi_type_vector(columns, 1, rows, mpi_integer, row, ierr)
      call mpi_type_commit(row, ierr)
      call mpi_bcast(matrix(3, 1), 1, row, root, comm, ierr)
      call counted(comm, 1, failures)
      call mpi_type_free(row, ierr)
      do j = 1, columns
         do i = 1, rows
            want = -i
            if (rank .eq. root .or. i .eq. 3) want = 1000 * j + i
            if (matrix(i, j) .ne. want) failures = failures + 1
         end do
      end do
      end subroutine

C     Two arrays at absolute addresses, from MPI_BOTTOM.
      subroutine bottom(comm, root, failures)
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 3000)
      integer comm, root, failures, rank, ierr, i, both
      integer lengths(2), types(2)
      integer(kind=mpi_address_kind) at(2)
      integer, asynchronous, save :: whole(n)
      double precision, asynchronous, save :: double(n)

      call mpi_comm_rank(comm, rank, ierr)
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
      call counted(comm, 1, failures)
      call mpi_type_free(both, ierr)
      do i = 1, n
         if (whole(i) .ne. i) failures = failures + 1
         if (double(i) .ne. i * 0.25d0) failures = failures + 1
      end do
      end subroutine

C     All ranks in reverse order, then the even and the odd ones.
      subroutine reversed(failures)
      implicit none
      include 'mpif.h'
      integer failures, rank, comm, ierr
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      call mpi_comm_split(mpi_comm_world, 0, -rank, comm, ierr)
      call named(comm, 0, failures)
      call mpi_comm_free(comm, ierr)
      call mpi_comm_split(mpi_comm_world, mod(rank, 2), 0, comm, ierr)
      call named(comm, 0, failures)
      call mpi_comm_free(comm, ierr)
      end subroutine
