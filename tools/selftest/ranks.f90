! Compiled by `sorrel selftest`: the modules of Fortran are there, and ranks have their own variables.
program ranks_in_fortran
  use mpi_f08
  implicit none
  integer, save :: rank
  integer :: ranks, total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(i0,a,i0,a)', ranks, ' ranks, ', total - ranks * (ranks - 1) / 2, ' wrong values'
  call MPI_Finalize()
end program
