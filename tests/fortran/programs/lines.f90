! Ranks write each line in two parts, with a flush and a barrier in between.
program lines
  use mpi_f08
  implicit none
  integer :: rank, i
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  do i = 1, 40
    write (*, '(a, i0)', advance='no') 'rank ', rank
    flush (6)
    call MPI_Barrier(MPI_COMM_WORLD)
    write (*, '(a, i0, 2a)') ' of line ', i, ' ', repeat('x', 40)
  end do
  call MPI_Finalize()
  write (*, '(a)', advance='no') 'no newline'
end program lines
