! Handles and statuses that go from Fortran to C and back, and an attribute that C has set.
program mixed
  use mpi_f08
  implicit none
  interface
    integer function c_part(comm, datatype, op, info, status, ignored) bind(C)
      import :: MPI_Status
      integer :: comm, datatype, op, info
      type(MPI_Status) :: status, ignored
    end function
  end interface
  type(MPI_Comm) :: twin
  type(MPI_Datatype) :: pair
  type(MPI_Info) :: info
  type(MPI_Status) :: status
  character(len=MPI_MAX_INFO_VAL) :: value
  logical :: flag
  integer :: rank, size, wrong, n
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
  call MPI_Type_free(pair)
  call MPI_Comm_free(twin)
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0)', 'wrong ', wrong
  call MPI_Finalize()
end program
