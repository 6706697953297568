! Rank 1 waits for a message that no rank sends; the report must name the lines of this file.
program deadlock
  use mpi_f08
  implicit none
  integer :: rank, x
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  if (rank == 1) call MPI_Recv(x, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
end program
