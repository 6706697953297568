! Sessions, datatypes of kinds and of distributed arrays, attributes of datatypes, generalized requests,
! and external32 in mpi_f08.
module requests
  use mpi_f08
  implicit none
  integer :: queries = 0, frees = 0
contains
  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    queries = queries + 1
    status%MPI_SOURCE = int(extra_state)
    status%MPI_TAG = 5
    call MPI_Status_set_elements(status, MPI_INTEGER, 2)
    call MPI_Status_set_cancelled(status, .false.)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    if (extra_state == 77) frees = frees + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    if (complete .and. extra_state == 0) frees = -1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine twice(oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Datatype) :: oldtype
    integer :: type_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = 2 * attribute_val_in
    flag = oldtype /= MPI_DATATYPE_NULL
    ierror = MPI_SUCCESS
  end subroutine
end module

program sessions
  use mpi_f08
  use requests
  implicit none
  integer :: failures = 0, done = 0, all_failures, rank
  type(MPI_Comm) :: world
  call session()
  call kinds()
  call attributes()
  call generalized()
  call external()
  call MPI_Comm_rank(world, rank)
  call MPI_Reduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, 0, world)
  if (rank == 0) print '(a,i0,a,i0)', 'checks ', done, ', failures ', all_failures
  call MPI_Finalize()
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    done = done + 1
    if (right) return
    failures = failures + 1
    print *, 'wrong: ', what
  end subroutine

  subroutine session()
    type(MPI_Session) :: made
    type(MPI_Group) :: group
    type(MPI_Info) :: info
    integer :: count, length, size, sum
    character(len=40) :: name, value
    logical :: flag
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, made)
    call MPI_Session_get_num_psets(made, MPI_INFO_NULL, count)
    call check(count >= 2, 'process sets')
    length = 40
    call MPI_Session_get_nth_pset(made, MPI_INFO_NULL, 0, length, name)
    call check(name == 'mpi://WORLD', 'name of the first set')
    call MPI_Group_from_session_pset(made, name, group)
    call MPI_Comm_create_from_group(group, 'org.example.sessions', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, world)
    call MPI_Comm_size(world, size)
    call MPI_Allreduce(1, sum, 1, MPI_INTEGER, MPI_SUM, world)
    call check(sum == size, 'allreduce')
    call MPI_Session_get_pset_info(made, 'mpi://SELF', info)
    length = 40
    call MPI_Info_get_string(info, 'mpi_size', length, value, flag)
    call check(flag .and. value == '1', 'size of a set')
    call MPI_Info_free(info)
    call MPI_Initialized(flag)
    call check(.not. flag, 'not initialized')
    call MPI_Group_free(group)
    call MPI_Init()
    call MPI_Session_finalize(made)
    call check(made == MPI_SESSION_NULL, 'end of a session')
  end subroutine

  subroutine kinds()
    type(MPI_Datatype) :: real_type, integer_type, array_type
    integer :: size
    integer(MPI_ADDRESS_KIND) :: lb, extent
    real(selected_real_kind(10, 100)) :: value, sum
    call MPI_Type_create_f90_real(10, 100, real_type)
    call MPI_Type_size(real_type, size)
    call check(size == storage_size(value) / 8, 'size of a real kind')
    value = 0.5
    call MPI_Allreduce(value, sum, 1, real_type, MPI_MAX, world)
    call check(sum == value, 'reduction of a real kind')
    call MPI_Type_create_f90_integer(12, integer_type)
    call MPI_Type_size(integer_type, size)
    call check(size == storage_size(1_8) / 8, 'size of an integer kind')
    call MPI_Type_create_darray(4, 3, 2, [8, 6], [MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC], &
                                [MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG], [2, 2], MPI_ORDER_FORTRAN, &
                                MPI_REAL, array_type)
    call MPI_Type_size(array_type, size)
    call MPI_Type_get_extent(array_type, lb, extent)
    call check(size == 4 * 12 .and. lb == 0 .and. extent == 4 * 48, 'distributed array')
    call MPI_Type_free(array_type)
  end subroutine

  subroutine attributes()
    type(MPI_Datatype) :: type, copy
    integer :: keyval
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Type_create_keyval(twice, MPI_TYPE_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND)
    call MPI_Type_contiguous(2, MPI_INTEGER, type)
    call MPI_Type_set_attr(type, keyval, 21_MPI_ADDRESS_KIND)
    call MPI_Type_dup(type, copy)
    call MPI_Type_get_attr(copy, keyval, value, flag)
    call check(flag .and. value == 42, 'attribute of a datatype')
    call MPI_Type_free_keyval(keyval)
    call MPI_Type_free(copy)
    call MPI_Type_free(type)
  end subroutine

  subroutine generalized()
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: count
    logical :: flag
    call MPI_Grequest_start(query, release, cancel, 77_MPI_ADDRESS_KIND, request)
    call MPI_Test(request, flag, status)
    call check(.not. flag, 'not complete')
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(status%MPI_SOURCE == 77 .and. status%MPI_TAG == 5 .and. count == 2, 'status of a generalized request')
    call check(queries == 1 .and. frees == 1 .and. request == MPI_REQUEST_NULL, 'functions of a generalized request')
  end subroutine

  subroutine external()
    integer(MPI_ADDRESS_KIND) :: size, position
    integer :: values(2), back(2)
    character :: packed(8)
    values = [1, 2]
    call MPI_Pack_external_size('external32', 2, MPI_INTEGER, size)
    position = 0
    call MPI_Pack_external('external32', values, 2, MPI_INTEGER, packed, size, position)
    call check(size == 8 .and. position == 8 .and. ichar(packed(4)) == 1 .and. ichar(packed(8)) == 2, 'external32')
    position = 0
    call MPI_Unpack_external('external32', packed, size, position, back, 2, MPI_INTEGER)
    call check(all(back == values), 'read back')
  end subroutine
end program
