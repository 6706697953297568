program mixed
  use mpi_f08
  implicit none
  interface
    subroutine add_up(value, comm, total) bind(C)
      integer :: value, comm, total
    end subroutine
  end interface
  integer :: rank, size, total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call add_up(rank, MPI_COMM_WORLD%MPI_VAL, total)
  if (rank == 0) print '(a,i0,a,i0,a)', 'sum ', total, ' of ', size, ' ranks'
  call MPI_Finalize()
end program
