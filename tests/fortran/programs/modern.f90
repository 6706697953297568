! What mpi_f08 alone has: large counts, sections of nonblocking calls, optional ierror, typed handles and callbacks.
module checks
  implicit none
  integer :: failures = 0, done = 0
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    done = done + 1
    if (right) return
    failures = failures + 1
    print *, 'wrong: ', what
  end subroutine
end module

module callbacks
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: calls = 0, large_calls = 0
contains
  subroutine largest(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    real, pointer :: a(:), b(:)
    if (datatype /= MPI_REAL) stop 4
    calls = calls + 1
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = max(a, b)
  end subroutine
  subroutine largest_of_many(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    real, pointer :: a(:), b(:)
    if (datatype /= MPI_REAL) stop 4
    large_calls = large_calls + 1
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = max(a, b)
  end subroutine
  subroutine twice(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = 2 * attribute_val_in
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
end module

program modern
  use mpi_f08
  use checks
  use callbacks
  implicit none
  integer :: rank, size, next, prev
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  call check(MPI_SUBARRAYS_SUPPORTED, 'MPI_SUBARRAYS_SUPPORTED')
  call large_counts
  call sections
  call odd_sections
  call procedures
  call nonblocking_collectives
  call statuses
  call memory
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0,a,i0)', 'checks ', done, ', failures ', failures
  call MPI_Finalize()
  if (failures > 0) stop 1
contains
  subroutine large_counts
    integer(MPI_COUNT_KIND) :: n, lb, extent
    integer :: i, m
    integer, asynchronous :: a(6), b(6)
    type(MPI_Status) :: s
    type(MPI_Request) :: r(2)
    type(MPI_Datatype) :: huge_type, pair
    a = rank
    n = 6
    call MPI_Sendrecv(a, n, MPI_INTEGER, next, 1, b, n, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, s)
    call check(all(b == prev), 'a large count')
    n = 0
    call MPI_Get_count(s, MPI_INTEGER, n)
    call MPI_Get_count(s, MPI_INTEGER, m)
    call check(n == 6 .and. m == 6, 'both counts of a status')
    n = 2
    call MPI_Irecv(b(1:6:3), n, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, r(1))
    call MPI_Isend(a(2:6:4), n, MPI_INTEGER, next, 2, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call MPI_Type_contiguous(3000000000_MPI_COUNT_KIND, MPI_BYTE, huge_type)
    call MPI_Type_get_extent(huge_type, lb, extent)
    call check(extent == 3000000000_MPI_COUNT_KIND, 'a large extent')
    call MPI_Type_size(huge_type, n)
    call check(n == 3000000000_MPI_COUNT_KIND, 'a large size')
    call MPI_Type_size(huge_type, i)
    call check(i == MPI_UNDEFINED, 'a size that INTEGER cannot hold')
    call MPI_Type_free(huge_type)
    call MPI_Type_create_struct(2_MPI_COUNT_KIND, [1_MPI_COUNT_KIND, 2_MPI_COUNT_KIND], [0_MPI_COUNT_KIND, 8_MPI_COUNT_KIND], &
                                [MPI_DOUBLE_PRECISION, MPI_INTEGER], pair)
    call MPI_Type_size(pair, i)
    call check(i == 16, 'a structure with large counts')
    call MPI_Type_free(pair)
    call MPI_Gatherv(a, int(rank, MPI_COUNT_KIND), MPI_INTEGER, b, [(int(i, MPI_COUNT_KIND), i = 0, size-1)], &
                     [(int(i*(i-1)/2, MPI_ADDRESS_KIND), i = 0, size-1)], MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (rank == 0) call check(size /= 4 .or. all(b == [1, 2, 2, 3, 3, 3]), 'gatherv with large counts')
  end subroutine

  subroutine sections
    integer :: i, j, k
    integer, asynchronous :: a(6,6,4), b(6,6,4), row(6)
    type(MPI_Request) :: r(2)
    forall (i = 1:6, j = 1:6, k = 1:4) a(i,j,k) = 1000*rank + 100*i + 10*j + k
    b = 0
    ! One stride.
    call MPI_Irecv(b(2,:,1), 6, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, r(1))
    call MPI_Isend(a(3,:,2), 6, MPI_INTEGER, next, 1, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call check(all(b(2,:,1) == a(3,:,2) + 1000*(prev-rank)) .and. count(b /= 0) == 6, 'a row')
    ! Backwards.
    b = 0
    call MPI_Irecv(row, 6, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, r(1))
    call MPI_Isend(a(6:1:-1,1,1), 6, MPI_INTEGER, next, 1, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call check(all(row == a(6:1:-1,1,1) + 1000*(prev-rank)), 'backwards')
    ! Three dimensions of several strides.
    b = 0
    call MPI_Irecv(b(1:5:2,2:4,::3), 18, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, r(1))
    call MPI_Isend(a(2:4,1:6:2,2:3), 18, MPI_INTEGER, next, 1, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call check(all(b(1:5:2,2:4,::3) == a(2:4,1:6:2,2:3) + 1000*(prev-rank)) .and. count(b /= 0) == 18, 'three dimensions')
    ! Fewer elements than the section has: to the middle of a column.
    b = 0
    call MPI_Irecv(b(1:3,1:3,1:2), 14, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, r(1))
    call MPI_Isend(a(1:3,1:3,1:2), 14, MPI_INTEGER, next, 1, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call check(count(b /= 0) == 14 .and. b(2,2,2) /= 0 .and. b(3,2,2) == 0, 'a part of a section')
    call check(all(b(1:3,1:3,1) == a(1:3,1:3,1) + 1000*(prev-rank)), 'the data of a part of a section')
    ! A persistent request, and an assumed shape.
    call persistent(b(1:6:2,1:6:2,4), a(1:6:2,1:6:2,3))
    ! Blocking.
    b = 0
    call MPI_Sendrecv(a(1:5:2,2:4,::3), 18, MPI_INTEGER, next, 1, b(2:4,1:6:2,2:3), 18, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call check(all(b(2:4,1:6:2,2:3) == a(1:5:2,2:4,::3) + 1000*(prev-rank)) .and. count(b /= 0) == 18, 'blocking')
    b = a
    call MPI_Allreduce(MPI_IN_PLACE, b(::2,::3,1), 6, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD)
    call check(all(b(::2,::3,1) == a(::2,::3,1) - 1000*rank), 'a reduction in place')
  end subroutine

  subroutine persistent(to, from)
    integer, asynchronous :: to(:,:)
    integer, asynchronous :: from(:,:)
    integer :: i
    type(MPI_Request) :: r(2)
    call MPI_Recv_init(to, 9, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, r(1))
    call MPI_Send_init(from, 9, MPI_INTEGER, next, 1, MPI_COMM_WORLD, r(2))
    do i = 1, 2
      to = 0
      call MPI_Startall(2, r)
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
      call check(all(to == from + 1000*(prev-rank)), 'a persistent request')
    end do
    call MPI_Request_free(r(1))
    call MPI_Request_free(r(2))
  end subroutine

  ! Datatypes that are not the elements' type.
  subroutine odd_sections
    complex, asynchronous :: z(8), w(8)
    integer :: i
    character(len=3), asynchronous :: words(6), got(6)
    type(MPI_Request) :: r(2)
    type(MPI_Datatype) :: two
    z = [(cmplx(rank, i), i = 1, 8)]
    w = 0
    call MPI_Irecv(w(1:7:2), 8, MPI_REAL, prev, 1, MPI_COMM_WORLD, r(1))
    call MPI_Isend(z(2:8:2), 8, MPI_REAL, next, 1, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call check(all(w(1:7:2) == z(2:8:2) - rank + prev) .and. all(w(2:8:2) == 0), 'halves of elements')
    call MPI_Type_contiguous(2, MPI_COMPLEX, two)
    call MPI_Type_commit(two)
    w = 0
    call MPI_Irecv(w(1:7:2), 2, two, prev, 1, MPI_COMM_WORLD, r(1))
    call MPI_Isend(z(2:8:2), 2, two, next, 1, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call check(all(w(1:7:2) == z(2:8:2) - rank + prev) .and. all(w(2:8:2) == 0), 'pairs of elements')
    call MPI_Type_free(two)
    words = ['abc', 'def', 'ghi', 'jkl', 'mno', 'pqr']
    got = ''
    call MPI_Irecv(got(2:6:2), 9, MPI_CHARACTER, prev, 1, MPI_COMM_WORLD, r(1))
    call MPI_Isend(words(1:5:2), 9, MPI_CHARACTER, next, 1, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call check(all(got == ['   ', 'abc', '   ', 'ghi', '   ', 'mno']), 'strings')
  end subroutine

  subroutine procedures
    type(MPI_Op) :: op
    real :: x(3), y(3)
    integer :: key
    integer(MPI_ADDRESS_KIND) :: val
    logical :: flag
    type(MPI_Comm) :: twin, other
    call MPI_Op_create(largest, .true., op)
    x = [rank, -rank, 5]
    call MPI_Allreduce(x, y, 3, MPI_REAL, op, MPI_COMM_WORLD)
    call check(all(y == [size-1, 0, 5]), 'a reduction function')
    call MPI_Reduce_local(x, y, 3, MPI_REAL, op)
    call check(calls > 0, 'a reduction function of this rank')
    call MPI_Op_free(op)
    call MPI_Op_create_c(largest_of_many, .true., op)
    call MPI_Reduce_local(x, y, 3_MPI_COUNT_KIND, MPI_REAL, op)
    call check(large_calls > 0, 'a reduction function with large counts')
    call MPI_Op_free(op)
    call check(op == MPI_OP_NULL .and. .not. op /= MPI_OP_NULL, 'operators of handles')
    call MPI_Comm_create_keyval(twice, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 21_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_WORLD, twin)
    call MPI_Comm_get_attr(twin, key, val, flag)
    call check(flag .and. val == 42, 'an attribute')
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    other = twin
    call check(all([other, twin] == twin) .and. other /= MPI_COMM_WORLD, 'handles are compared element by element')
    call MPI_Comm_free(twin)
  end subroutine

  ! The library uses buffers, a freed operation and a freed datatype until the wait.
  subroutine nonblocking_collectives
    type(MPI_Request) :: requests(3), repeated
    type(MPI_Op) :: op
    type(MPI_Comm) :: copy
    type(MPI_Datatype), dimension(size) :: types
    real, asynchronous :: x(3), y(3)
    integer, asynchronous :: one(size), all_of(size), grid(2, size), total
    integer, dimension(size) :: counts, places
    integer :: i, n
    call MPI_Op_create(largest, .true., op)
    x = [rank, -rank, 5]
    call MPI_Iallreduce(x, y, 3, MPI_REAL, op, MPI_COMM_WORLD, requests(1))
    call MPI_Op_free(op)
    counts = 1
    places = [(4 * i, i = 0, size - 1)]
    types = MPI_INTEGER
    one = [(100 * rank + i, i = 1, size)]
    call MPI_Ialltoallw(one, counts, places, types, all_of, counts, places, types, MPI_COMM_WORLD, requests(2))
    types = MPI_DATATYPE_NULL
    grid = -1
    if (rank == 0) grid(2, :) = 7
    call MPI_Ibcast(grid(2, :), size, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(3))
    if (rank == 0) grid(1, :) = 5
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
    call check(all(y == [size-1, 0, 5]), 'iallreduce with a reduction function')
    call check(all(all_of == [(100 * i + rank + 1, i = 0, size - 1)]), 'ialltoallw')
    call check(all(grid(2, :) == 7) .and. (rank /= 0 .eqv. grid(1, 1) == -1), 'ibcast of a section')
    call MPI_Allreduce_init(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, repeated)
    do i = 1, 3
      total = -1
      call MPI_Start(repeated)
      call MPI_Wait(repeated, MPI_STATUS_IGNORE)
      call check(total == size * (size - 1) / 2, 'allreduce_init')
    end do
    call MPI_Request_free(repeated)
    call MPI_Comm_idup(MPI_COMM_WORLD, copy, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Comm_size(copy, n)
    call check(n == size, 'comm_idup')
    call MPI_Comm_free(copy)
  end subroutine

  subroutine statuses
    type(MPI_Status) :: s, t
    integer :: f(MPI_STATUS_SIZE), n, other
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 77, other, 1, MPI_INTEGER, prev, 77, MPI_COMM_WORLD, s)
    call MPI_Status_f082f(s, f)
    call check(f(MPI_SOURCE) == prev .and. f(MPI_TAG) == 77, 'status_f082f')
    call MPI_Status_f2f08(f, t)
    call MPI_Get_count(t, MPI_INTEGER, n)
    call check(n == 1 .and. t%MPI_TAG == 77, 'status_f2f08')
    call MPI_Status_set_elements(t, MPI_INTEGER, 5)
    call MPI_Get_count(t, MPI_INTEGER, n)
    call check(n == 5, 'status_set_elements')
  end subroutine

  subroutine memory
    use, intrinsic :: iso_c_binding
    type(c_ptr) :: p
    real(8), pointer :: x(:)
    real(8), target :: buffer(1000)
    integer :: n
    call MPI_Alloc_mem(800_MPI_ADDRESS_KIND, MPI_INFO_NULL, p)
    call c_f_pointer(p, x, [100])
    x = rank
    call MPI_Bcast(x, 100, MPI_REAL8, 0, MPI_COMM_WORLD)
    call check(all(x == 0), 'alloc_mem')
    call MPI_Free_mem(x)
    call MPI_Buffer_attach(buffer, 8000)
    call MPI_Buffer_detach(p, n)
    call check(n == 8000 .and. c_associated(p, c_loc(buffer)), 'buffer_detach')
  end subroutine
end program
