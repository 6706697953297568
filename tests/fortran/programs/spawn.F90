! Ranks that are spawned from Fortran, with arguments; a port; both with one binding.
program spawn
#ifdef USE_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
#ifdef USE_F08
  type(MPI_Comm) :: parent, inter, half, met
#else
  integer :: parent, inter, half, met
#endif
  integer :: rank, ranks, number, errors(3), ierror, failures, i, sum
  integer, parameter :: count = 3
  character(len=64) :: word
  character(len=16) :: words(3)
  character(len=MPI_MAX_PORT_NAME) :: port
  character(len=512) :: program_name
  failures = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Comm_get_parent(parent, ierror)
  if (parent /= MPI_COMM_NULL) then
    call get_command_argument(1, word)
    number = rank + 1
    if (word /= 'first word' .or. command_argument_count() /= 2) number = -1000
    if (ranks /= count) number = -1000
    call MPI_Reduce(number, sum, 1, MPI_INTEGER, MPI_SUM, 0, parent, ierror)
    call MPI_Comm_disconnect(parent, ierror)
  else
    call get_command_argument(0, program_name)
    words(1) = 'first word'
    words(2) = '2'
    words(3) = ' '
    errors = -1
    call MPI_Comm_spawn(trim(program_name), words, count, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, errors, ierror)
    do i = 1, count
      if (errors(i) /= MPI_SUCCESS) failures = failures + 1
    end do
    sum = 0
    i = MPI_PROC_NULL
    if (rank == 0) i = MPI_ROOT
    call MPI_Reduce(number, sum, 1, MPI_INTEGER, MPI_SUM, i, inter, ierror)
    if (rank == 0 .and. sum /= 6) failures = failures + 1
    call MPI_Comm_disconnect(inter, ierror)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierror)
    if (rank == 0) call MPI_Open_port(MPI_INFO_NULL, port, ierror)
    call MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)
    if (mod(rank, 2) == 0) then
      call MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, met, ierror)
    else
      call MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, met, ierror)
    end if
    call MPI_Comm_remote_size(met, i, ierror)
    if (i /= ranks / 2) failures = failures + 1
    call MPI_Comm_disconnect(met, ierror)
    if (rank == 0) then
      call MPI_Close_port(port, ierror)
      print '(a,i0)', 'failures ', failures
    end if
  end if
  call MPI_Finalize(ierror)
end program
