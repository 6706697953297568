! Its calls go through tool_f08.f90: array sections, elements of an assumed-size array, ranges that are empty, and scalars.
program profiled_f08
  use mpi_f08
  implicit none
  integer :: rank, size, next, prev, i, j
  integer, asynchronous :: a(6, 5), b(6, 5), one
  type(MPI_Request) :: request
  integer :: blocking, nonblocking
  common /calls/ blocking, nonblocking
  blocking = 0
  nonblocking = 0
  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  forall (i = 1:6, j = 1:5) a(i, j) = 1000*rank + 10*i + j
  b = 0
  call MPI_Irecv(b(1:5:2, 2:4), 9, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, request)
  call MPI_Send(a(6:2:-2, ::2), 9, MPI_INTEGER, next, 1, MPI_COMM_WORLD)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(all(b(1:5:2, 2:4) == a(6:2:-2, ::2) + 1000*(prev - rank)) .and. count(b /= 0) == 9, 'sections')
  b = 0
  call MPI_Irecv(one, 1, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, request)
  call of_assumed_size(a)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(one == 1000*prev + 11, 'an assumed-size array and a scalar')
  call MPI_Irecv(b(::2, 3:2), 0, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, request)
  call MPI_Send(a(::2, 3:2), 0, MPI_INTEGER, next, 3, MPI_COMM_WORLD)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Recv(b(2::2, 1), 0, MPI_INTEGER, MPI_PROC_NULL, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call check(all(b == 0), 'nothing is written')
  ! Copies of both sections; that of the first is not written back.
  call MPI_Allreduce(a(1, :), b(2, :), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(all(b(2, :) == [(500*size*(size - 1) + size*(10 + j), j = 1, 5)]) .and. count(b /= 0) == 5, 'a reduction')
  call check(blocking == 10 .and. nonblocking == 10, 'the tool has seen the calls')
  call MPI_Finalize
  if (rank == 0) print '(a)', 'ended'

contains

  subroutine of_assumed_size(x)
    integer :: x(6, *)
    call MPI_Send(x, 1, MPI_INTEGER, next, 2, MPI_COMM_WORLD)
  end subroutine

  subroutine check(is_right, what)
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: what
    if (.not. is_right) print '(a,i0,2a)', 'rank ', rank, ' failed: ', what
  end subroutine
end program
