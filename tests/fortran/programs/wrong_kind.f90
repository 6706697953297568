! The modules check arguments: this must not compile.
program wrong_kind
  use mpi
  implicit none
  integer :: ierror
  call MPI_Barrier(1.0, ierror)
end program
