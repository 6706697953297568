! Functions that MPI has removed, which other MPIs' Fortran interfaces have: a ring of ranks sends types made with them.
program removed
  implicit none
  include 'mpif.h'
  ! At least 2 GB of addresses around a variable of the program differ by an INTEGER.
  common /numbers/ whole, real_one, list
  integer :: whole, list(12)
  double precision :: real_one
  integer :: error, rank, size, next, prev, base, place, made, outer, extent, lower, upper, handler, i
  integer :: status(MPI_STATUS_SIZE), received(12), failures
  logical :: is_there
  integer :: limit
  external :: handle
  integer :: handled
  common /handled/ handled

  failures = 0
  handled = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)

  call MPI_Address(whole, base, error)
  call MPI_Address(real_one, place, error)
  call MPI_Type_struct(2, (/1, 1/), (/0, place - base/), (/MPI_INTEGER, MPI_DOUBLE_PRECISION/), made, error)
  call MPI_Type_commit(made, error)
  whole = rank
  real_one = rank + 0.5d0
  call MPI_Sendrecv_replace(whole, 1, made, next, 1, prev, 1, MPI_COMM_WORLD, status, error)
  call check(whole == prev .and. real_one == prev + 0.5d0, 'type_struct')
  call check(status(MPI_SOURCE) == prev .and. status(MPI_TAG) == 1, 'status')
  call MPI_Type_lb(made, lower, error)
  call MPI_Type_ub(made, upper, error)
  call MPI_Type_extent(made, extent, error)
  call check(lower == 0 .and. upper == extent .and. extent >= place - base + 8, 'lb, ub, extent')
  call MPI_Type_free(made, error)

  ! Every other one of 12 numbers, and those at 0, 5 and 8.
  list = (/(100 * rank + i, i = 1, 12)/)
  received = -1
  call MPI_Type_hvector(6, 1, 8, MPI_INTEGER, made, error)
  call MPI_Type_commit(made, error)
  call MPI_Sendrecv(list, 1, made, next, 2, received, 6, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call check(all(received(1:6) == (/(100 * prev + i, i = 1, 12, 2)/)) .and. all(received(7:) == -1), 'type_hvector')
  call MPI_Type_free(made, error)
  call MPI_Type_hindexed(3, (/1, 1, 2/), (/0, 20, 32/), MPI_INTEGER, outer, error)
  call MPI_Type_commit(outer, error)
  call MPI_Sendrecv(list, 1, outer, next, 3, received, 4, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call check(all(received(1:4) == 100 * prev + (/1, 6, 9, 10/)), 'type_hindexed')
  call MPI_Type_free(outer, error)

  call MPI_Errhandler_create(handle, handler, error)
  call MPI_Errhandler_set(MPI_COMM_WORLD, handler, error)
  call MPI_Send(list, 1, MPI_INTEGER, size, 1, MPI_COMM_WORLD, error)
  call check(error == MPI_ERR_RANK .and. handled == 1, 'errhandler')
  call MPI_Errhandler_get(MPI_COMM_WORLD, made, error)
  call check(made == handler, 'errhandler_get')
  call MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, error)

  call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, limit, is_there, error)
  call check(is_there .and. limit >= 32767, 'attr_get')

  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a,i0)', 'failures ', failures
  call MPI_Finalize(error)
contains
  subroutine check(is_right, name)
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: name
    if (.not. is_right) then
      failures = failures + 1
      print '(i0,2a)', rank, ': wrong: ', name
    end if
  end subroutine
end program

subroutine handle(comm, code)
  implicit none
  include 'mpif.h'
  integer :: comm, code
  integer :: handled
  common /handled/ handled
  if (comm == MPI_COMM_WORLD .and. code == MPI_ERR_RANK) handled = handled + 1
end subroutine
