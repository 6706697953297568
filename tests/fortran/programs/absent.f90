! Calls a function that Sorrel does not have: linking must fail with its name.
program absent
  implicit none
  integer :: ierror
  include 'mpif.h'
  call MPI_Init(ierror)
  call MPI_COMM_SPAWN(ierror)
  call MPI_Finalize(ierror)
end program
