program profiled
  use mpi
  implicit none
  integer :: rank, size, ierror, i, other
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  do i = 1, 3
    call MPI_Send(rank, 1, MPI_INTEGER, mod(rank+1, size), 0, MPI_COMM_WORLD, ierror)
    call MPI_Recv(other, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    if (rank == 0) call MPI_Barrier(MPI_COMM_SELF, ierror)
  end do
  call MPI_Finalize(ierror)
end program
