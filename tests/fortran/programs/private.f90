! Every variable that Fortran keeps has a value for each rank: COMMON, SAVE, module variables, initialised and not, in a
! block data, of a library written in C. Prints one line for each rank, in order.
module of_module
  implicit none
  integer :: initialised = 10, zero = 0
  integer, allocatable :: allocated_array(:)
  character(len=8) :: text = 'initial'
  real :: large(1000)
end module

block data
  integer :: a, b
  common /shared/ a, b
  data a, b /1, 2/
end block data

integer function counter(step)
  implicit none
  integer :: step
  integer, save :: total = 100
  total = total + step
  counter = total
end function

program private
  use mpi_f08
  use of_module
  implicit none
  integer :: rank, size, a, b, c, turn, unit, value
  integer, external :: counter
  character(len=40) :: line
  common /shared/ a, b
  common /blank_one/ c
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  initialised = initialised + rank
  zero = zero + rank
  allocate(allocated_array(rank + 1))
  allocated_array = rank
  write(text, '(a,i0)') 'rank ', rank
  large = rank
  a = a + rank
  b = b * rank
  c = rank
  value = counter(rank)
  ! A file of each rank, on the same unit.
  write(line, '(a,i0)') 'private_', rank
  open(newunit=unit, status='scratch')
  write(unit, *) rank
  call MPI_Barrier(MPI_COMM_WORLD)
  value = counter(rank)
  call MPI_Barrier(MPI_COMM_WORLD)
  rewind(unit)
  read(unit, *) turn
  if (turn /= rank) stop 2
  do turn = 0, size - 1
    if (turn == rank) then
      write(line, '(8(i0,1x))') initialised, zero, ubound(allocated_array), int(sum(large)), a, b, c, value
      print '(a,1x,a)', trim(text), trim(line)
      flush(6)
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  call MPI_Finalize()
end program
