! One-sided communication by mpi_f08: windows on arrays and on allocated memory (c_ptr), operations, synchronization,
! attributes, error handlers.
module window_checks
  use mpi_f08
  implicit none
  integer :: failures = 0, done = 0, handled = 0
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    done = done + 1
    if (right) return
    failures = failures + 1
    print *, 'wrong: ', what
  end subroutine
  subroutine note_error(win, error_code)
    type(MPI_Win) :: win
    integer :: error_code
    if (win /= MPI_WIN_NULL .and. error_code /= MPI_SUCCESS) handled = handled + 1
  end subroutine
end module

program windows
  use mpi_f08
  use, intrinsic :: iso_c_binding
  use window_checks
  implicit none
  integer :: rank, size, left, right, error, unit, length
  integer, asynchronous :: cells(4), value(2), old(1)
  real(c_double), asynchronous :: parts(2)
  integer(MPI_ADDRESS_KIND) :: bytes, attribute
  real(c_double), pointer :: shared(:)
  type(c_ptr) :: base
  type(MPI_Win) :: win
  type(MPI_Group) :: group, pair
  type(MPI_Request) :: request
  type(MPI_Errhandler) :: handler
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  left = modulo(rank - 1, size)
  right = modulo(rank + 1, size)

  cells = -1
  bytes = 4 * 4
  call MPI_Win_create(cells, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_set_name(win, 'cells')
  call MPI_Win_get_name(win, name, length)
  call check(name == 'cells' .and. length == 5, 'name')
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, attribute, flag)
  call check(flag .and. attribute == 16, 'size')
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, attribute, flag)
  call check(flag .and. attribute == 4, 'displacement unit')
  value = [rank, 100 + rank]
  call MPI_Win_fence(0, win)
  call MPI_Put(value, 2, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  call check(all(cells == [-1, left, 100 + left, -1]), 'put')
  call MPI_Win_fence(0, win)
  call MPI_Accumulate(value, 1, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win)
  call MPI_Win_fence(0, win)
  call check(cells(2) == 2 * left, 'accumulate')
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)

  call MPI_Comm_group(MPI_COMM_WORLD, group)
  call MPI_Group_incl(group, 2, [left, right], pair)
  call MPI_Win_post(pair, 0, win)
  call MPI_Win_start(pair, 0, win)
  call MPI_Put(value, 1, MPI_INTEGER, left, 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
  call MPI_Win_complete(win)
  call MPI_Win_wait(win)
  call check(cells(4) == right, 'post and start')

  call MPI_Win_create_errhandler(note_error, handler)
  call MPI_Win_set_errhandler(win, handler)
  call MPI_Errhandler_free(handler)
  call MPI_Win_unlock(0, win, error)
  call check(error == MPI_ERR_RMA_SYNC .and. handled == 1, 'error handler')
  call MPI_Win_free(win)
  call check(win == MPI_WIN_NULL, 'free')

  bytes = 8 * 3
  call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, shared, [3])
  shared = rank
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win)
  parts = rank
  call MPI_Rput(parts, 2, MPI_DOUBLE_PRECISION, right, 1_MPI_ADDRESS_KIND, 2, MPI_DOUBLE_PRECISION, win, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Win_unlock(right, win)
  call MPI_Barrier(MPI_COMM_WORLD)
  call check(all(shared == [real(c_double) :: rank, left, left]), 'allocated memory')
  call MPI_Win_shared_query(win, rank, bytes, unit, base)
  call check(bytes == 24 .and. unit == 8 .and. c_associated(base, c_loc(shared)), 'query')
  call MPI_Win_free(win)

  cells = 0
  bytes = 16
  call MPI_Win_create(cells, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_lock_all(0, win)
  value(1) = 1
  call MPI_Fetch_and_op(value, old, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, MPI_SUM, win)
  call MPI_Win_flush(0, win)
  call check(old(1) >= 0 .and. old(1) < size, 'fetch and op')
  call MPI_Barrier(MPI_COMM_WORLD)
  value = [99, size]
  call MPI_Compare_and_swap(value(1:1), value(2:2), old, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, win)
  call MPI_Win_flush(0, win)
  call check(old(1) == size .or. old(1) == 99, 'compare and swap')
  call MPI_Win_unlock_all(win)
  call MPI_Win_free(win)
  call MPI_Group_free(group)
  call MPI_Group_free(pair)
  call MPI_Reduce(failures, done, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0,a,i0)', 'checks ', 14, ', failures ', done
  call MPI_Finalize()
end program
