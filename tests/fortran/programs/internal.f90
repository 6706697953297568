! A reduction function that uses variables of its host.
program internal
  use mpi_f08
  implicit none
  integer :: rank, size, failures
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call work(3, failures)
  if (rank == 0) print '(a,i0)', 'checks 100, failures ', failures
  call MPI_Finalize()
end program

recursive subroutine work(factor, failures)
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer, intent(in) :: factor
  integer, intent(out) :: failures
  type(MPI_Op) :: op
  integer :: i, x, total, size
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  failures = 0
  do i = 1, 100
    call MPI_Op_create(add, .true., op)
    x = 2
    call MPI_Allreduce(x, total, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
    call MPI_Op_free(op)
    if (total /= 2 * size + factor * (size - 1)) failures = failures + 1
  end do
contains
  subroutine add(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    if (datatype /= MPI_INTEGER) stop 4
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = a + b + factor
  end subroutine
end subroutine
