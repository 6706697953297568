! Calls a function of dynamic processes, which a job without places for ranks refuses with a reason.
program refused
  use mpi
  implicit none
  integer :: children, ierror
  call MPI_Init(ierror)
  call MPI_Comm_spawn('child', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierror)
  call MPI_Finalize(ierror)
end program
