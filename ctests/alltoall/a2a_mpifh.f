C     MPI_ALLTOALL, MPI_ALLTOALLV and MPI_ALLTOALLW through mpif.h, in
C     fixed form: named types, empty blocks, gaps, MPI_IN_PLACE, a
C     derived type, MPI_BOTTOM, sub-communicators. The last line is
C     "PASS a2a_mpifh", and the exit status 0, if all checks held on all
C     ranks.
      include 'frondof.h'

C     What one rank has for another.
      module words
      implicit none
      contains

      pure function words_of(from, to, n)
      integer, intent(in) :: from, to, n
      integer words_of(n), i
      do i = 1, n
         words_of(i) = from * 10000 + to * 100 + i
      end do
      end function

      end module

      program a2a_mpifh
      use frondo
      implicit none
      include 'mpif.h'
      integer ierr, rank, ranks, total, comm

      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      call mpi_comm_size(mpi_comm_world, ranks, ierr)
      call begin(rank, ranks)
      call everything(mpi_comm_world)
      call mpi_comm_split(mpi_comm_world, 0, -rank, comm, ierr)
      call everything(comm)
      call mpi_comm_free(comm, ierr)

      call mpi_allreduce(failures, total, 1, mpi_integer, mpi_sum,
     &                   mpi_comm_world, ierr)
      call mpi_finalize(ierr)
      if (total .ne. 0) stop 1
      if (rank .eq. 0) print '(a)', 'PASS a2a_mpifh'
      end program

      subroutine everything(comm)
      implicit none
      integer comm
      call regular(comm, 0)
      call regular(comm, 7)
      call regular(comm, 3001)
      call parts(comm, 5)
      call parts(comm, 2003)
      call bottom(comm, 3)
      call bottom(comm, 1009)
      end subroutine

C     Blocks of n integers, doubles and logicals, in place and not.
      subroutine regular(comm, n)
      use frondo
      use words
      implicit none
      include 'mpif.h'
      integer comm, n, rank, ranks, ierr, r
      integer, allocatable :: own(:,:), got(:,:), want(:,:)
      double precision, allocatable :: mine(:,:), double(:,:)
      logical, allocatable :: truth(:,:), read(:,:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(own(n,ranks), got(n,ranks), want(n,ranks))
      allocate(double(n,ranks), read(n,ranks))
      do r = 1, ranks
         own(:, r) = words_of(rank, r - 1, n)
         want(:, r) = words_of(r - 1, rank, n)
      end do
      got = -1
      call mpi_alltoall(own, n, mpi_integer, got, n, mpi_integer, comm,
     &                  ierr)
      call check(ierr .eq. mpi_success, 'success, alltoall')
      call check(all(got .eq. want), 'alltoall')
      got = own
      call mpi_alltoall(mpi_in_place, 0, mpi_datatype_null, got, n,
     &                  mpi_integer, comm, ierr)
      call check(ierr .eq. mpi_success, 'success in place')
      call check(all(got .eq. want), 'alltoall in place')
      mine = own * 0.25d0
      double = -1
      call mpi_alltoall(mine, n, mpi_double_precision, double, n,
     &                  mpi_double_precision, comm, ierr)
      call check(all(double .eq. want * 0.25d0), 'doubles')
      truth = mod(own, 3) .eq. 0
      read = .false.
      call mpi_alltoall(truth, n, mpi_logical, read, n, mpi_logical,
     &                  comm, ierr)
      call check(all(read .eqv. mod(want, 3) .eq. 0), 'logicals')
      call counted('alltoall', ranks, 4, n)
      end subroutine

C     Blocks of which every third is empty, with gaps. By MPI_ALLTOALLW
C     they are every second integer of what is received.
      subroutine parts(comm, n)
      use frondo
      use words
      implicit none
      include 'mpif.h'
      integer comm, n, rank, ranks, ierr, r, bytes, vector
      integer, allocatable :: own(:,:), got(:,:), want(:,:)
      integer, allocatable :: counts(:), displs(:), at(:), ones(:)
      integer, allocatable :: types(:), others(:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      call mpi_type_size(mpi_integer, bytes, ierr)
      allocate(own(2*n,ranks), got(2*n,ranks), want(2*n,ranks))
      allocate(counts(ranks), displs(ranks), types(ranks))
      allocate(others(ranks))
      own = -1
      want = -2
      do r = 1, ranks
         counts(r) = n
         if (mod(rank + r - 1, 3) .eq. 0) counts(r) = 0
         displs(r) = 2 * n * (r - 1)
         own(:n, r) = words_of(rank, r - 1, n)
         want(:counts(r), r) = words_of(r - 1, rank, counts(r))
      end do
      got = -2
      call mpi_alltoallv(own, counts, displs, mpi_integer, got, counts,
     &                   displs, mpi_integer, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, alltoallv')
      call check(all(got .eq. want), 'alltoallv')
      do r = 1, ranks
         if (counts(r) .gt. 0) got(:n, r) = own(:n, r)
      end do
      call mpi_alltoallv(mpi_in_place, counts, displs, mpi_integer, got,
     &                   counts, displs, mpi_integer, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, alltoallv in place')
      call check(all(got .eq. want), 'alltoallv in place')
      call counted('alltoallv', ranks, 2, n)

      call mpi_type_vector(n, 1, 2, mpi_integer, vector, ierr)
      call mpi_type_commit(vector, ierr)
      types = mpi_integer
      others = vector
      at = displs * bytes
      ones = min(counts, 1)
      got = -2
      call mpi_alltoallw(own, counts, at, types, got, ones, at, others,
     &                   comm, ierr)
      call check(ierr .eq. mpi_success, 'success, alltoallw')
      do r = 1, ranks
         call check(all(got(1::2, r) .eq. want(:n, r)), 'alltoallw')
         call check(all(got(2::2, r) .eq. -2), 'gaps')
      end do
      call counted('alltoallw', ranks, 1, n)
      call mpi_type_free(vector, ierr)
      end subroutine

C     Blocks by their addresses, in the reverse order of ranks.
      subroutine bottom(comm, n)
      use frondo
      use words
      implicit none
      include 'mpif.h'
      integer comm, n, rank, ranks, ierr, r, lengths(1)
      integer(kind=mpi_address_kind) at(1)
      integer, allocatable, asynchronous :: own(:,:), got(:,:)
      integer, allocatable :: ones(:), zeros(:), from(:), into(:)

      call mpi_comm_rank(comm, rank, ierr)
      call mpi_comm_size(comm, ranks, ierr)
      allocate(own(n,ranks), got(n,ranks), ones(ranks), zeros(ranks))
      allocate(from(ranks), into(ranks))
      lengths = n
      do r = 1, ranks
         own(:, ranks + 1 - r) = words_of(rank, r - 1, n)
         call mpi_get_address(own(1, ranks + 1 - r), at(1), ierr)
         call mpi_type_create_hindexed(1, lengths, at, mpi_integer,
     &                                 from(r), ierr)
         call mpi_type_commit(from(r), ierr)
         call mpi_get_address(got(1, ranks + 1 - r), at(1), ierr)
         call mpi_type_create_hindexed(1, lengths, at, mpi_integer,
     &                                 into(r), ierr)
         call mpi_type_commit(into(r), ierr)
      end do
      got = -1
      ones = 1
      zeros = 0
      call mpi_alltoallw(mpi_bottom, ones, zeros, from, mpi_bottom,
     &                   ones, zeros, into, comm, ierr)
      call check(ierr .eq. mpi_success, 'success, bottom')
      do r = 1, ranks
         call check(all(got(:, ranks + 1 - r) .eq.
     &                  words_of(r - 1, rank, n)), 'bottom')
         call mpi_type_free(from(r), ierr)
         call mpi_type_free(into(r), ierr)
      end do
      call counted('alltoallw', ranks, 1, n)
      end subroutine
