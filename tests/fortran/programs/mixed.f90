! Handles and statuses that go from Fortran to C and back, and attributes that either has set.
program mixed
  use mpi_f08
  implicit none
  interface
    integer function c_part(comm, datatype, op, info, status, ignored) bind(C)
      import :: MPI_Status
      integer :: comm, datatype, op, info
      type(MPI_Status) :: status, ignored
    end function
    integer function attributes_in_c(comm, keyval, expected, address) bind(C)
      import :: MPI_ADDRESS_KIND
      integer :: comm, keyval
      integer(MPI_ADDRESS_KIND) :: expected, address
    end function
  end interface
  type(MPI_Comm) :: twin
  type(MPI_Datatype) :: pair
  type(MPI_Info) :: info
  type(MPI_Status) :: status
  character(len=MPI_MAX_INFO_VAL) :: value
  logical :: flag
  integer :: rank, size, wrong, n, key
  integer(MPI_ADDRESS_KIND) :: number, address
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Comm_dup(MPI_COMM_WORLD, twin)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  call MPI_Info_create(info)
  wrong = c_part(twin%MPI_VAL, pair%MPI_VAL, MPI_SUM%MPI_VAL, info%MPI_VAL, status, MPI_STATUS_IGNORE)
  ! C has received from the rank before and put a key into info.
  if (status%MPI_SOURCE /= mod(rank + size - 1, size) .or. status%MPI_TAG /= 3) wrong = wrong + 100
  call MPI_Get_count(status, pair, n)
  if (n /= 1) wrong = wrong + 1000
  call MPI_Info_get(info, 'from', MPI_MAX_INFO_VAL, value, flag)
  if (.not. flag .or. value /= 'C') wrong = wrong + 10000
  call MPI_Info_free(info)
  call MPI_Abi_get_fortran_info(info)
  call MPI_Info_get(info, 'mpi_logical_size', MPI_MAX_INFO_VAL, value, flag)
  if (.not. flag .or. value /= '4') wrong = wrong + 100000
  call MPI_Info_free(info)
  wrong = wrong + attributes()
  call MPI_Type_free(pair)
  call MPI_Comm_free(twin)
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0)', 'wrong ', wrong
  call MPI_Finalize()

contains

  ! C gets the address of an integer that Fortran has set, also of a copy; Fortran gets C's pointer as an integer.
  integer function attributes()
    type(MPI_Comm) :: copy
    attributes = 0
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    do n = 1, 600
      call MPI_Comm_set_attr(twin, key, 4000000000_MPI_ADDRESS_KIND + n)
    end do
    call MPI_Comm_dup(twin, copy)
    call MPI_Comm_get_attr(copy, key, number, flag)
    if (.not. flag .or. number /= 4000000600_MPI_ADDRESS_KIND) attributes = attributes + 1
    attributes = attributes + attributes_in_c(twin%MPI_VAL, key, number, address)
    call MPI_Comm_get_attr(twin, key, number, flag)
    if (.not. flag .or. number /= address) attributes = attributes + 10
    number = 4000000600_MPI_ADDRESS_KIND
    attributes = attributes + attributes_in_c(copy%MPI_VAL, key, number, address)
    call MPI_Comm_free(copy)
    call MPI_Comm_dup(twin, copy)
    call MPI_Comm_get_attr(copy, key, number, flag)
    if (.not. flag .or. number /= address) attributes = attributes + 10
    call MPI_Comm_free(copy)
    call MPI_Comm_delete_attr(twin, key)
    call MPI_Comm_free_keyval(key)
  end function
end program
